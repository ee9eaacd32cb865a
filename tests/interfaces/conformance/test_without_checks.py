"""The real server without one of its checks: each lets an analyst through, and conformance finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.errors import NotApproved
from discreet.idempotency_key import check_key
from discreet.interfaces.conformance import Finding, Verdict, answers, approvals, conform, noise, resources
from discreet.interfaces.http import make_app
from discreet.interfaces.http.console import forms
from discreet.ledger import attempts, requests, transaction
from discreet.ledger.row import Kind
from discreet.mechanisms import parameters
from discreet.results import tabular
from discreet.service import allowances, api, idempotency, jobs, questions, release_times, roles, sessions, tokens
from discreet.service.allowances import Allowances
from support.attacked import CANARY, FEW_DRAWS, QUICK, Edited, Exchange, attacked, listening, until_found
from support.protocol_twins import real_app
from support.without import instead, refusals, without

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real server, with little time for each question; its address and everybody's tokens."""
    with (
        attacked(tmp_path_factory.mktemp("quick"), settings=QUICK) as (service, texts),
        listening(make_app(service)) as url,
    ):
        yield SimpleNamespace(service=service, url=url, tokens=list(texts.values()))


def found(quick: Any, family: str, url: str = "") -> Finding:
    """What a family finds of it, or of a twin at another address."""
    (finding,) = conform(url or quick.url, quick.tokens, families=[family], spend="0.1").findings
    return finding


@pytest.mark.parametrize("family", ["approvals", "noise", "bombs", "size", "sessions", "formulas"])
def test_the_server_holds(quick: Any, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is, and no reply has a marked value."""
    monkeypatch.setattr(noise, "DRAWS", FEW_DRAWS)
    families = [family, "canaries"]
    report = conform(quick.url, quick.tokens, families=families, spend="0.1", canaries=[CANARY])
    assert [(each.family, each.verdict, each.evidence) for each in report.findings] == [
        (name, Verdict.HELD, ()) for name in families
    ]


# ── Two that were made by hand ───────────────────────────────────────────────────────────────────────────────────────


def any_approval(transaction: Any, attempt: Any, *_: Any) -> None:
    """Anybody's approval, for any question, again and again."""
    if transaction.last(Kind.APPROVAL, digest=attempt.approval) is None:
        raise NotApproved("you have no such request")


def little_noise(self: Any, values: Sequence[int]) -> list[int]:
    """A hundredth of the noise."""
    noise = self._noise(len(values)).tolist()
    return [int(value) + int(error) // 100 for value, error in zip(values, noise, strict=True)]


@pytest.fixture
def approvals_in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fifty requests of which some are too many, and those of earlier runs, which are tried again.

    Neither has a part in how these twins are found; both are tried where the server holds, and where each check is left
    out on a new one.
    """
    for part in ("_of_before", "_too_many"):
        monkeypatch.setattr(approvals, part, passes)


@pytest.mark.usefixtures("approvals_in_short")
def test_an_approval_that_is_for_everything_is_found(quick: Any) -> None:
    """By the questions of others that it is used for."""
    words = [f"a question was asked by an approval {each}" for each in ("of another question", "of another offer")]
    with instead(attempts.check_use, any_approval), until_found(*words):
        finding = found(quick, "approvals")
    assert finding.verdict is Verdict.BROKEN
    assert {*words} <= {*finding.evidence}


def test_noise_that_is_a_hundredth_of_what_it_is_said_to_be_is_found(
    quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how near its values lie."""
    monkeypatch.setattr(noise, "DRAWS", FEW_DRAWS)
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
        ("size", allowances.check_values, passes, "one answer may have 249500 values"),
        ("size", Allowances.take, passes, "takes nothing of a day's slot_seconds"),
        ("sessions", sessions.Sessions.end, passes, "goes on after its end"),
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
    with instead(function, other), until_found(words):
        finding = found(quick, family)
    assert finding.verdict is Verdict.BROKEN
    assert any(words in each for each in finding.evidence), finding.evidence


def test_bombs_that_are_planned_are_found(quick: Any) -> None:
    """By what their plans say that one person moves."""
    (number,) = (n for n, text in enumerate(refusals(release_times.ReleaseTimes.step)) if "_too_much" in text)
    words = "a plan doesn't bound how long one person makes distinct long texts"
    with without(release_times.ReleaseTimes.step, number), until_found(words):
        finding = found(quick, "bombs")
    assert finding.verdict is Verdict.BROKEN
    assert words in finding.evidence


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


# ── Every check of what an analyst may, left out once ────────────────────────────────────────────────────────────────

GUARDS: dict[Callable[..., Any], list[str]] = {
    attempts.check_use: ["approvals"],
    attempts.check_attempt: ["idempotency keys"],
    requests.Requests.open: ["size", "approvals"],
    requests.Requests.approve: ["approvals"],
    requests.Requests.deny: ["approvals"],
    requests._undecided: ["approvals"],
    tokens._check: ["approvals"],
    roles.check_allowed: ["roles"],
    tokens.recognise: ["tokens"],
    tokens.recognise_digest: ["tokens"],
    questions.Questions.ask: ["plan swaps", "approvals"],
    questions.Questions._take: ["idempotency keys"],
    questions.Questions._planned: ["size"],
    idempotency.Keys.claim: ["idempotency keys"],
    check_key: ["idempotency keys"],
    api.request_of: ["assumed names"],
    jobs._check_plan: ["plan swaps"],
    jobs.described: ["size"],
    allowances.check_values: ["size"],
    release_times.ReleaseTimes.step: ["bombs", "size"],
    release_times.check_memory: ["bombs"],
    transaction._admitted: ["races"],
    forms.check_form: ["forged forms"],
    forms.check_same_origin: ["forged forms"],
    sessions.Sessions.resume: ["sessions"],
}
"""By which families each is found."""

UNSEEN = {
    "check_use 4": "where declarations have changed since, the request has expired, which is refused before",
    "check_use 5": "likewise where there is another version",
    "check_attempt 0": "a token is looked at when a question comes; this is for one that is revoked meanwhile",
    "check_attempt 1": "likewise for one that ends meanwhile",
    "check_attempt 2": "the server that took the key says so before; this is for another one on the same ledger",
    "check_attempt 3": "likewise",
    "Requests.open 1": "what came as JSON can be written as JSON",
    "Requests.approve 2": "it takes declarations that change meanwhile",
    "Requests.approve 3": "it takes an account without tables, and such a server doesn't start",
    "Requests.deny 0": "custodians alone write reasons",
    "Requests.deny 1": "what was denied or used stays so, whatever is written after it",
    "_undecided 0": "where there is no request, there is nothing to be decided, and the next line fails",
    "_undecided 2": "the custodian's token is looked at before; this is for one that is revoked meanwhile",
    "recognise 0": "what isn't of the form of a token isn't found among them",
    "Questions.ask 0": "what is stored of an earlier version is given within a ceiling alone",
    "Questions.ask 1": "nobody who asks can stop a server",
    "Questions.ask 2": "nobody who asks can damage a ledger",
    "Questions._take 0": "the server that took the key says so before; this is for after a restart",
    "check_key 0": "a key of another form is a key like others; it only takes room",
    "request_of 0": "the API takes no analyst beside a question",
    "_check_plan 0": "it takes a configuration that changes between plan and answer",
    "check_memory 0": "how much memory a slot has isn't said to strangers",
    "_admitted 0": "where a budget holds no δ, what takes one is beyond it, which is refused after",
    "Sessions.resume 0": "where there is no session the next line fails; it takes eight hours for one to end by itself",
    "Sessions.resume 1": "it takes somebody whom a provider vouches for",
}
"""What no family finds: each with the reason why it lets no analyst through, or what it would take."""

CHECKS = [(guard, number) for guard in GUARDS for number in range(len(refusals(guard)))]


def name_of(check: tuple[Callable[..., Any], int]) -> str:
    """What a check is called."""
    return f"{check[0].__qualname__} {check[1]}"


def verdict_without(server: Any, check: tuple[Callable[..., Any], int]) -> set[Verdict]:
    """What families say of a server without it."""
    with without(*check), until_found(""):
        report = conform(server.url, server.tokens, families=GUARDS[check[0]], spend="0.5")
    return {each.verdict for each in report.findings}


@pytest.mark.usefixtures("approvals_in_short")
@pytest.mark.parametrize("check", [(attempts.check_use, 0), (attempts.check_use, 1), (tokens._check, 0)], ids=name_of)
def test_a_server_without_a_check_is_found(quick: Any, check: tuple[Callable[..., Any], int]) -> None:
    """Three of them; the others take minutes."""
    assert Verdict.BROKEN in verdict_without(quick, check)


@pytest.mark.soak
@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_every_check_that_is_left_out_is_found(
    tmp_path: Path, check: tuple[Callable[..., Any], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a new server each; what isn't found is listed, and nothing is that is."""
    monkeypatch.setattr(answers, "CONNECTIONS", 12)
    with attacked(tmp_path, settings=QUICK) as (service, texts), listening(make_app(service)) as url:
        found = verdict_without(SimpleNamespace(url=url, tokens=list(texts.values())), check)
    assert (Verdict.BROKEN in found) is (name_of(check) not in UNSEEN)


def test_what_is_not_found_is_there() -> None:
    """The list names no check that is gone."""
    assert set(map(name_of, CHECKS)) >= set(UNSEEN)
