"""The real server without one of its checks: each lets an analyst through, and conformance finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.errors import NotApproved
from discreet.interfaces.conformance import Finding, Verdict, conform, noise, resources
from discreet.interfaces.http import make_app
from discreet.ledger import attempts
from discreet.ledger.row import Kind
from discreet.mechanisms import parameters
from discreet.results import tabular
from discreet.service import settings, sign_in
from discreet.service.scheduling import Allowances
from support.attacked import QUICK, Edited, Exchange, attacked, listening
from support.protocol_twins import real_app
from support.without import instead, refusals, without


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real server, with little time for each question; its address and everybody's tokens."""
    with (
        attacked(tmp_path_factory.mktemp("quick"), settings=QUICK) as (service, tokens),
        listening(make_app(service)) as url,
    ):
        yield SimpleNamespace(service=service, url=url, tokens=list(tokens.values()))


def found(quick: Any, family: str, url: str = "") -> Finding:
    """What a family finds of it, or of a twin at another address."""
    (finding,) = conform(url or quick.url, quick.tokens, families=[family], spend="0.1").findings
    return finding


@pytest.mark.parametrize("family", ["approvals", "noise", "bombs", "size", "sessions", "formulas"])
def test_the_server_holds(quick: Any, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is. Half of the draws are enough for what is tried of noise here."""
    monkeypatch.setattr(noise, "DRAWS", noise.DRAWS // 2)
    finding = found(quick, family)
    assert (finding.verdict, finding.evidence) == (Verdict.HELD, ())


# ── Two that were made by hand ───────────────────────────────────────────────────────────────────────────────────────


def any_approval(transaction: Any, attempt: Any, *_: Any) -> None:
    """Anybody's approval, for any question, again and again."""
    if transaction.last(Kind.APPROVAL, digest=attempt.approval) is None:
        raise NotApproved("there is no such request of yours")


def little_noise(self: Any, values: Sequence[int]) -> list[int]:
    """A twentieth of the noise."""
    noise = self._noise(len(values)).tolist()
    return [int(value) + int(error) // 20 for value, error in zip(values, noise, strict=True)]


def test_an_approval_that_is_for_everything_is_found(quick: Any) -> None:
    """By the questions of others that it is used for."""
    with instead(attempts.check_use, any_approval):
        finding = found(quick, "approvals")
    assert finding.verdict is Verdict.BROKEN
    assert {f"a question was asked by an approval {each}" for each in ("of another question", "of another offer")} <= {
        *finding.evidence
    }


def test_noise_that_is_a_twentieth_of_what_it_is_said_to_be_is_found(
    quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how near its values lie."""
    monkeypatch.setattr(noise, "DRAWS", noise.DRAWS // 2)
    with instead(parameters.AddsNoise.release, little_noise):
        finding = found(quick, "noise")
    assert finding.verdict is Verdict.BROKEN
    assert finding.evidence == ("answers have less noise than they state: they lie too near",)


# ── Others ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def passes(*_: Any) -> None:
    """Refuses nothing, and does nothing."""


def as_typed(text: str) -> str:
    """A text as it is."""
    return text


@pytest.mark.parametrize(
    "broken",
    [
        ("size", settings.check_values, passes, "one answer may have 249500 values"),
        ("size", Allowances.take, passes, "takes nothing of a day's slot_seconds"),
        ("sessions", sign_in.Sessions.end, passes, "goes on after its end"),
        ("formulas", tabular.no_formula, as_typed, "that spreadsheets carry out"),
    ],
    ids=lambda broken: f"{broken[0]}: {broken[1].__name__}",
)
def test_a_server_that_goes_on_is_found(
    quick: Any, broken: tuple[str, Callable[..., Any], Callable[..., Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by its family, for what is wrong with it; nothing of an allowance grows back meanwhile."""
    family, function, other, words = broken
    monkeypatch.setattr(resources, "monotonic", lambda: 0.0)
    with instead(function, other):
        finding = found(quick, family)
    assert finding.verdict is Verdict.BROKEN
    assert any(words in each for each in finding.evidence), finding.evidence


def test_bombs_that_are_planned_are_found(quick: Any) -> None:
    """By what their plans say that one person moves."""
    (number,) = (n for n, text in enumerate(refusals(settings.ReleaseTimes.step)) if "_too_much" in text)
    with without(settings.ReleaseTimes.step, number):
        finding = found(quick, "bombs")
    assert finding.verdict is Verdict.BROKEN
    assert "a plan doesn't bound how long one person makes long patterns" in finding.evidence


def test_questions_that_fail_for_one_person_are_found(quick: Any) -> None:
    """A server that promises what it doesn't keep: by which of them fail, as often as takes to be sure."""

    def fails(exchange: Exchange) -> None:
        if exchange.call == "POST /v1/answers":
            is_one = '"id" = 1 ' in exchange.asked["question"]
            exchange.answer(*((500, {"code": "question_failed"}) if is_one else (200, {"id": "x", "rows": [{"n": 1}]})))

    app = real_app(quick)
    with listening(Edited(app, fails)) as url:
        finding = found(quick, "bombs", url)
    assert finding.verdict is Verdict.BROKEN
    assert finding.evidence == ("whether windows over long texts fail depends on whom they are about",)


def test_questions_that_fail_now_and_then_are_not(quick: Any) -> None:
    """Whom they are about has no part in it."""
    asked = count()

    def fails(exchange: Exchange) -> None:
        if exchange.call == "POST /v1/answers":
            is_late = next(asked) in {0, 3}
            exchange.answer(
                *((500, {"code": "question_failed"}) if is_late else (200, {"id": "x", "rows": [{"n": 1}]}))
            )

    with listening(Edited(real_app(quick), fails)) as url:
        assert found(quick, "bombs", url).verdict is Verdict.HELD
