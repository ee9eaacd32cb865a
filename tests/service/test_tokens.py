"""Tokens: shown once, known by their digest, and refused alike for whatever reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from discreet.errors import BudgetExhausted, InvalidArgument, Unauthenticated
from discreet.ledger import Ledger, Tokens, chain, transaction
from discreet.privacy import Budget
from discreet.service import ALL, Ask, Caller, Role, questions, tokens
from discreet.service.tokens import issue, recognise, usual_share
from support.served import COUNT, FAILED, Served, outcome, served_in_threads


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Tokens]:
    """The tokens of an account."""
    with Ledger.open(tmp_path / "t.ledger", create=True) as ledger:
        yield ledger.account("census", Budget(epsilon=1)).tokens


def test_a_token_is_recognised(known: Tokens) -> None:
    """As what it was issued for; another one is another one."""
    issued = issue(known, "ann", Role.ANALYST, days=2, most_epsilon="1/2")
    caller = recognise(known, issued.text)
    assert caller == issued.caller
    assert (caller.subject, caller.role, caller.most_epsilon) == ("ann", Role.ANALYST, Fraction(1, 2))
    assert timedelta(days=2, seconds=-60) < caller.expires - datetime.now(UTC) <= timedelta(days=2)
    assert issue(known, "ann", Role.ANALYST, days=2).text != issued.text


def test_the_token_is_kept_nowhere(known: Tokens, tmp_path: Path) -> None:
    """The ledger's file has its digest, and not the token; nor has its description."""
    issued = issue(known, "ann", Role.ANALYST, days=2)
    stored = (tmp_path / "t.ledger").read_bytes()
    assert sha256(issued.text.encode()).hexdigest().encode() in stored
    assert issued.text.encode() not in stored
    assert issued.text.removeprefix("dsc_").encode() not in stored
    assert issued.text not in repr(issued)
    assert len(issued.text) == len("dsc_") + 43


class _Later(datetime):
    """A clock that is three days fast, or slow."""

    days = 3

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """The wrong time."""
        return datetime.now(tz) + timedelta(days=cls.days)


def test_what_holds_no_more_is_refused_in_the_same_words(known: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown, cut, revoked, expired; and made in what the clock takes for the future, which was then set back."""
    good, gone = (issue(known, "ann", Role.ANALYST, days=2) for _ in range(2))
    known.revoke(tokens.digest_of(gone.text))
    refused = []
    for text in (gone.text, "dsc_" + "A" * 43, good.text[:-1], good.text + "A", "", "\udcff", good.text.upper()):
        with pytest.raises(Unauthenticated) as caught:
            recognise(known, text)
        refused.append(caught.value.to_dict())
    for days in (3, -3):
        monkeypatch.setattr(_Later, "days", days)
        with monkeypatch.context() as patch:
            patch.setattr(tokens, "datetime", _Later)
            with pytest.raises(Unauthenticated) as caught:
                recognise(known, good.text)
            refused.append(caught.value.to_dict())
    assert all(each == refused[0] for each in refused)
    assert recognise(known, good.text) == good.caller


@pytest.mark.parametrize(
    ("role", "days", "ceiling"),
    [
        (Role.ANALYST, 0, None),
        (Role.ANALYST, 3661, None),
        (Role.ANALYST, 1, 0),
        (Role.ANALYST, 1, "nan"),
        (Role.CUSTODIAN, 1, 1),
    ],
)
def test_what_is_out_of_range_is_refused(known: Tokens, role: Role, days: int, ceiling: Any) -> None:
    """And nothing is written."""
    with pytest.raises(InvalidArgument):
        issue(known, "ann", role, days=days, most_epsilon=ceiling)
    assert known.all() == []


def test_what_something_else_wrote_is_no_token(known: Tokens) -> None:
    """A grant that doesn't say what it allows allows nothing."""
    known.grant(tokens.digest_of("dsc_" + "A" * 43), "ann", {"role": "king", "expires": "2999-01-01T00:00:00+00:00"})
    with pytest.raises(InvalidArgument):
        recognise(known, "dsc_" + "A" * 43)


# ── What waits while its token ends ──────────────────────────────────────────────────────────────────────────────────


_NUMBERS = count(1)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with one slot."""
    with served_in_threads(tmp_path_factory.mktemp("waiting")) as found:
        yield found


@contextmanager
def _slots_taken(running: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody has a slot until this ends."""
    go, slot = Event(), running.service._servers.slot

    @contextmanager
    def later(number: int) -> Iterator[None]:
        go.wait()
        with slot(number):
            yield

    monkeypatch.setattr(running.service._servers, "slot", later)
    try:
        yield
    finally:
        go.set()


def _of_a_provider(caller: Caller) -> Caller:
    """Somebody for whom a provider vouches as long as their token would hold."""
    return replace(caller, digest="")


def _revoked(running: Served, caller: Caller, _: pytest.MonkeyPatch) -> None:
    running.service.revoke(running.callers["custodian"], caller.token)


def _ended(_: Served, __: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tokens, chain):
        monkeypatch.setattr(module, "datetime", _Later)


ENDS: dict[str, tuple[Callable[[Caller], Caller], Callable[[Served, Caller, pytest.MonkeyPatch], None]]] = {
    "it is revoked": (lambda caller: caller, _revoked),
    "it ends": (lambda caller: caller, _ended),
    "a provider's ends": (_of_a_provider, _ended),
}


@pytest.mark.parametrize("way", ENDS)
@pytest.mark.parametrize("looks", ["both", "the slot", "the ledger"])
def test_a_token_that_ends_while_its_question_waits_pays_nothing(
    running: Served, monkeypatch: pytest.MonkeyPatch, way: str, looks: str
) -> None:
    """The slot looks again, and so does the ledger in the debit's own transaction; the key of the question is free."""
    shown, end = ENDS[way]
    issued = [running.service.issue(running.callers["custodian"], "carol", Role.ANALYST, days=d) for d in (1, 30)]
    before, question = running.states(), f"{COUNT} WHERE id < {next(_NUMBERS)}"
    with monkeypatch.context() as patch:  # a later clock must write nothing: by its time, all tokens would have ended
        _without(patch, looks)
        with _slots_taken(running, patch):
            ticket = running.service.ask(
                shown(issued[0].caller), Ask(question, {"epsilon": "1/10"}, key=f"{way} {looks}")
            )
            end(running, issued[0].caller, patch)
        assert outcome(ticket)["error"]["code"] == Unauthenticated.code
    assert running.states() == before
    again = running.service.ask(issued[1].caller, Ask(question, {"epsilon": "1/10"}, key=f"{way} {looks}"))
    assert _was_asked(outcome(again))


def test_where_nobody_looks_again_it_pays(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin."""
    _without(monkeypatch, "nobody")
    issued = running.service.issue(running.callers["custodian"], "dave", Role.ANALYST, days=1)
    with _slots_taken(running, monkeypatch):
        ticket = running.service.ask(issued.caller, Ask(f"{COUNT} WHERE id > 900", {"epsilon": "1/10"}))
        _revoked(running, issued.caller, monkeypatch)
    assert _was_asked(outcome(ticket))


def _was_asked(found: Any) -> bool:
    """Whether a question was carried out; a busy machine may have failed it."""
    return "answer" in found or found == FAILED


def _without(monkeypatch: pytest.MonkeyPatch, looks: str) -> None:
    """Leave out whoever doesn't look."""
    if looks in {"the ledger", "nobody"}:
        monkeypatch.setattr(questions, "check_holds", lambda *_: None)
    if looks in {"the slot", "nobody"}:
        monkeypatch.setattr(transaction, "check_attempt", lambda *_: None)


def test_nobody_ends_the_budget_for_everybody_unless_somebody_says_so(tmp_path: Path) -> None:
    """An analyst's share is a tenth of the budget where none is named, at each door; `all` is all of it."""
    assert usual_share(Budget(rho=1, delta="1e-6"), {}) == Budget(rho="1/10", delta="1e-7")
    assert usual_share(Budget(epsilon=1), {"ann": Budget(epsilon=1)}) is None
    with served_in_threads(tmp_path) as running:
        service, custodian = running.service, running.callers["custodian"]
        usual = service.issue(custodian, "cleo", Role.ANALYST, days=1)
        assert usual.caller.share == str(Budget(epsilon=1))
        caller = service.caller(usual.text)
        refused = service.ask(caller, Ask(COUNT, {"epsilon": "11/10"}))
        assert outcome(refused)["error"]["code"] == BudgetExhausted.code
        assert service.plan(caller, COUNT, {"epsilon": "1/10"}).affordable["remaining_like_this"] == 10
        for said, share in ((ALL, ""), (Budget(epsilon=2), str(Budget(epsilon=2)))):
            assert service.issue(custodian, "cleo", Role.ANALYST, days=1, share=said).caller.share == share
        assert service.issue(custodian, "max", Role.AUDITOR, days=1).caller.share == ""
