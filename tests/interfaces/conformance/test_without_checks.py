"""The real server without one of its checks: each lets an analyst through, and conformance finds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.errors import NotApproved
from discreet.interfaces.conformance import Finding, Verdict, conform, noise
from discreet.interfaces.http import make_app
from discreet.ledger import attempts
from discreet.ledger.row import Kind
from discreet.mechanisms import parameters
from support.attacked import QUICK, attacked, listening
from support.without import instead


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real server, with little time for each question; its address and everybody's tokens."""
    with (
        attacked(tmp_path_factory.mktemp("quick"), settings=QUICK) as (service, tokens),
        listening(make_app(service)) as url,
    ):
        yield SimpleNamespace(url=url, tokens=list(tokens.values()))


def found(quick: Any, family: str) -> Finding:
    """What a family finds of it."""
    (finding,) = conform(quick.url, quick.tokens, families=[family], spend="0.1").findings
    return finding


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
    """By how near its values lie; half of the draws are enough for that."""
    monkeypatch.setattr(noise, "DRAWS", noise.DRAWS // 2)
    assert found(quick, "noise").verdict is Verdict.HELD
    with instead(parameters.AddsNoise.release, little_noise):
        finding = found(quick, "noise")
    assert finding.verdict is Verdict.BROKEN
    assert finding.evidence == ("answers have less noise than they state: they lie too near",)
