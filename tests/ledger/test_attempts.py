"""Idempotency keys in a ledger: written with the debit, one attempt each, however many try at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest

from discreet.errors import AskedAlready, BudgetExhausted, KeyReused
from discreet.ledger import Account, Attempt, Ledger, Reservation, chain, key_digest
from discreet.ledger.attempts import MARGIN
from discreet.ledger.row import Kind
from discreet.privacy import Budget
from support.ledgers import admitted, laplace, rows

KEY = key_digest("ann", "1")


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Account]:
    """One of its own."""
    with Ledger.open(tmp_path / "t.ledger", create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        admitted(account)
        yield account
        assert ledger.verify().problems == ()


def attempt(number: int = 1, *, key: str = KEY, plan: str = "p") -> Attempt:
    """One that may take ten seconds."""
    return Attempt(id=str(number), plan=plan, seconds=10, key=key)


def ask(account: Account, made: Attempt, question: str = "q") -> Reservation:
    """Pay for a question in an attempt."""
    under, event = account.during(made), laplace("1/10")
    return under.reserve(question=question, text=question, version=1, event=event, analyst="ann")


def test_a_key_has_one_attempt(account: Account) -> None:
    """Which may make several debits; another attempt makes none, and another plan is refused as such."""
    paid = [ask(account, attempt(), "first"), ask(account, attempt(), "second")]
    with pytest.raises(AskedAlready):
        ask(account, attempt(2))
    with pytest.raises(KeyReused):
        ask(account, attempt(2, plan="other"))
    with pytest.raises(KeyReused):
        ask(account, attempt(1, plan="other"))
    assert [each.entry for each in paid] == [1, 2]
    assert ask(account, attempt(3, key=key_digest("bob", "1"))).entry == 3
    assert [entry.kind for entry in account.entries()].count("question") == 3


def test_threads_with_one_key_pay_once(account: Account, tmp_path: Path) -> None:
    """64 of them, each with an attempt of its own, over the budget if all were taken."""
    barrier = Barrier(64)

    def go(number: int) -> str:
        barrier.wait()
        try:
            return str(ask(account, attempt(number)).entry)
        except AskedAlready as error:
            return error.code

    with ThreadPoolExecutor(64) as pool:
        outcomes = sorted(pool.map(go, range(64)))
    assert outcomes == ["1", *["asked_already"] * 63]
    assert sum(row.kind == Kind.RESERVE for row in rows(tmp_path / "t.ledger")) == 1


def test_what_became_of_an_attempt_is_found_by_its_key(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers, whether it failed, and whether it is over: by its first debit's time, and by what it may take."""
    assert account.tried(KEY) is None
    first = ask(account, attempt(), "first")
    second = ask(account, attempt(), "second")
    account.commit(first, certificate={}, answer={"n": 1})
    found = account.tried(KEY)
    assert found is not None
    assert (found.id, found.plan, found.version, found.failed, found.is_over) == ("1", "p", 1, False, False)
    assert [(each.entry, each.answer) for each in found.stored] == [(1, {"n": 1})]
    for seconds, over in ((9, False), (11 + MARGIN.total_seconds(), True)):
        later = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
        monkeypatch.setattr(chain, "now", lambda later=later: later)
        found = account.tried(KEY)
        assert found is not None
        assert found.is_over is over
    account.fail(second)
    found = account.tried(KEY)
    assert found is not None
    assert found.failed
    assert account.tried(key_digest("bob", "1")) is None


def test_what_is_refused_leaves_its_key_free(account: Account) -> None:
    """Nothing of it is written."""
    large = laplace(2)
    with pytest.raises(BudgetExhausted):
        account.during(attempt()).reserve(question="q", text="q", version=1, event=large, analyst="ann")
    assert account.tried(KEY) is None
    assert ask(account, attempt(2)).entry == 1


def test_times_never_go_back(account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A clock that was set back writes the time of the entry before."""
    ask(account, attempt())
    monkeypatch.setattr(chain, "now", lambda: "2000-01-01T00:00:00.000+00:00")
    ask(account, attempt(2, key=key_digest("ann", "2")))
    times = [row.at for row in rows(tmp_path / "t.ledger")]
    assert times == sorted(times)


def test_a_question_whose_server_is_gone_is_lost_once_it_was_due(account: Account) -> None:
    """With a key or without: a server's debit says how long it had."""
    first = ask(account, attempt(), "first")
    (found,) = [each for each in account.entries() if each.number == first.entry]
    now = datetime.now(UTC)
    assert [found.became(now + timedelta(seconds=each)) for each in (0, 9, 120)] == ["pending", "pending", "lost"]
    account.commit(first, certificate={}, answer={"n": 1})
    (found,) = [each for each in account.entries() if each.number == first.entry]
    assert found.became(now + timedelta(days=1)) == "answered"
    unnamed = ask(account, attempt(2, key=""), "second")
    (found,) = [each for each in account.entries() if each.number == unnamed.entry]
    assert [found.became(now + timedelta(seconds=each)) for each in (0, 120)] == ["pending", "lost"]
    assert account.entries()[0].became(now) == ""
