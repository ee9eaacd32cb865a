"""A budget of failures: so many questions may fail, or may fail yet, until the custodian has looked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.errors import InvalidArgument, LedgerCorrupt, TooManyFailures
from discreet.ledger import Account, Attempt, Failures, Ledger, Reservation, State
from discreet.ledger import transaction as transactions
from discreet.ledger.row import Kind, Row, to_body
from discreet.privacy import Budget
from support.ledgers import admitted, ask, laplace, raised, rewrite, rows, run, sql

ALLOWED = 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a ledger."""
    return tmp_path / "t.ledger"


def opened(ledger: Ledger, allowed: int = ALLOWED) -> Account:
    """An account of which so many questions may fail."""
    return ledger.account("census", Budget(epsilon=100), failures=allowed)


@pytest.fixture
def account(path: Path) -> Iterator[Account]:
    """With tables to be asked about; what is done to it is whole in the end."""
    with Ledger.open(path, create=True) as ledger:
        found = opened(ledger)
        admitted(found)
        yield found
        assert ledger.verify().problems == ()


def fail(account: Account, *questions: str) -> None:
    """Questions that get no answer."""
    for question in questions:
        account.fail(ask(account, question))


def answer(account: Account, *questions: str) -> None:
    """Questions that get one."""
    for question in questions:
        account.commit(ask(account, question), certificate={}, answer={"n": 1})


def attempted(account: Account, name: str, seconds: float) -> Reservation:
    """A question that a server asks, which has so many seconds for it."""
    asking = account.during(Attempt(id=name, plan="p", seconds=seconds))
    return asking.reserve(question=name, text=name, version=1, event=laplace("1/10"), analyst="ann")


def test_nothing_new_is_asked_after_so_many_failures(account: Account) -> None:
    """Refused before it is charged; what was answered can be had, and what goes well doesn't count."""
    answer(account, "before")
    fail(account, "a", "b")
    answer(account, "between")
    account.check_failures()
    fail(account, "c")
    spent = account.spent()
    said = raised(TooManyFailures, lambda: ask(account, "d"))
    assert "3 questions to this account failed after they were paid for; 3 are allowed" in said
    assert "acknowledge_failures()" in said
    for refused in (lambda: account.check(laplace("1/10")), account.check_failures):
        with pytest.raises(TooManyFailures):
            refused()
    assert account.spent() == spent
    assert account.stored("before", 1) is not None


def test_what_has_no_outcome_counts(account: Account) -> None:
    """It may fail yet; once it was answered, others may be asked."""
    fail(account, "a")
    first, second = ask(account, "b"), ask(account, "c")
    assert account.failures() == Failures(failed=(1,), pending=(first.entry, second.entry))
    assert "1 questions to this account failed after they were paid for, and 2 have no outcome yet" in raised(
        TooManyFailures, lambda: ask(account, "d")
    )
    account.commit(second, certificate={}, answer={})
    account.fail(first)
    assert account.failures() == Failures(failed=(1, 2))
    answer(account, "d", "e")


def test_every_process_is_bound(path: Path) -> None:
    """Of eight at once that ask what fails, as many questions are paid for as may fail, and no more."""
    with Ledger.open(path, create=True) as ledger:
        admitted(opened(ledger))
    assert sum(map(int, run("race_failing", path, 8, 5, ALLOWED))) == ALLOWED
    with Ledger.open(path, create=False) as ledger:
        assert opened(ledger).failures() == Failures(failed=(1, 2, 3))
        assert ledger.verify().problems == ()


def test_the_custodian_looks_and_asking_goes_on(account: Account, path: Path) -> None:
    """By an entry of the chain; from there on failures are counted anew."""
    fail(account, "a", "b", "c")
    assert account.acknowledge_failures() == Failures(failed=(1, 2, 3))
    assert account.failures() == Failures()
    fail(account, "d", "e")
    assert account.failures() == Failures(failed=(4, 5))
    fail(account, "f")
    with pytest.raises(TooManyFailures):
        ask(account, "g")
    assert [(each.kind, each.text) for each in account.entries() if each.kind == "look"] == [
        ("look", "the custodian looked into failed questions: 1, 2, 3")
    ]
    assert Counter(row.kind for row in rows(path))["look"] == 1


def test_where_nothing_failed_there_is_nothing_to_look_at(account: Account) -> None:
    """Neither before the first question nor after answers."""
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="has failed since"):
            account.acknowledge_failures()
        answer(account, "a")


def test_a_question_whose_process_died_is_failed_for_good_by_the_look(account: Account) -> None:
    """So whatever is counted no more can't fail later: an answer that comes all the same isn't kept."""
    lost = ask(account, "a")
    assert account.acknowledge_failures() == Failures(failed=(1,))
    assert [each.state for each in account.entries() if each.kind == "question"] == [State.FAILED]
    with pytest.raises(InvalidArgument, match="already has its outcome"):
        account.commit(lost, certificate={}, answer={})


def test_what_a_server_still_asks_counts_on_after_the_look(account: Account) -> None:
    """Until its time is over; else it could fail without being counted."""
    fail(account, "a")
    running, over = attempted(account, "long", 1000), attempted(account, "short", -10)
    assert account.acknowledge_failures() == Failures(failed=(1, over.entry), pending=(running.entry,))
    assert account.failures() == Failures(pending=(running.entry,))
    account.fail(running)
    assert account.failures() == Failures(failed=(running.entry,))
    assert over.entry in {each.number for each in account.entries() if each.state is State.FAILED}


def test_an_attempt_is_given_up(account: Account) -> None:
    """What it paid for and has no outcome has failed; what is of others, or was answered, stays as it is."""
    own, others, done = attempted(account, "own", 9), attempted(account, "other", 9), attempted(account, "own", 9)
    account.commit(done, certificate={}, answer={})
    assert account.give_up("own") == 1
    assert account.failures() == Failures(failed=(own.entry,), pending=(others.entry,))
    assert account.give_up("own") == 0
    states = {each.number: each.state for each in account.entries() if each.number}
    assert states == {own.entry: State.FAILED, others.entry: State.RESERVED, done.entry: State.COMMITTED}


@pytest.mark.parametrize("number", [0, 1001, True, "10", 2.5])
def test_how_many_may_fail_is_in_range(path: Path, number: object) -> None:
    """A whole number from 1 to 1,000."""
    with Ledger.open(path, create=True) as ledger, pytest.raises(InvalidArgument, match="1 to 1,000"):
        opened(ledger, number)  # type: ignore[arg-type]  # that is what is tried


def test_a_ledger_of_before_counts_all_that_failed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a version of discreet that noted nothing: lost questions too, until the custodian looks."""
    with Ledger.open(path, create=True) as ledger, monkeypatch.context() as before:
        before.setattr(transactions.Failures, "check", lambda *_: None)
        account = opened(ledger)
        fail(account, "a", "b")
        answer(account, "c")
        ask(account, "lost")
    rewrite(path, lambda entries: entries.__setitem__(slice(None), [_without_failures(row) for row in entries]))
    with Ledger.open(path, create=False) as ledger:
        account = opened(ledger)
        assert account.failures() == Failures(failed=(1, 2), pending=(4,))
        with pytest.raises(TooManyFailures):
            ask(account, "d")
        assert account.acknowledge_failures() == Failures(failed=(1, 2, 4))
        answer(account, "d")
        assert ledger.verify().problems == ()


def _without_failures(row: Row) -> Row:
    """An entry as it was written before failures were noted."""
    content = row.content()
    content.pop("failures", None)
    return replace(row, body=to_body(content))


def _changed(kind: Kind, nth: int, **said: object) -> object:
    """What changes the content of the nth entry of a kind, and chains all anew."""

    def change(entries: list[Row]) -> None:
        place = [number for number, row in enumerate(entries) if row.kind == kind][nth]
        content = {**entries[place].content(), **said}
        entries[place] = replace(entries[place], body=to_body(content))

    return change


FORGED = {
    "fewer had failed": (Kind.RESERVE, 2, {"failures": {"failed": [1], "pending": []}}, "other questions had failed"),
    "others were pending": (
        Kind.RESERVE,
        2,
        {"failures": {"failed": [1, 2], "pending": [9]}},
        "other questions had failed",
    ),
    "it says nothing": (Kind.RESERVE, 2, {"failures": None}, "doesn't say what had failed"),
    "it can't be read": (Kind.RESERVE, 2, {"failures": [3]}, "can't be read"),
    "a look at fewer": (Kind.LOOK, 0, {"failed": [1]}, "failures other than those that happened"),
    "fewer are allowed": (Kind.BUDGET, 0, {"failures": 2}, "as many questions might have failed"),
}


@pytest.mark.parametrize("how", FORGED)
def test_verification_counts_failures_anew(path: Path, how: str) -> None:
    """Whoever forges what had failed, or admits one question too many, is found out."""
    with Ledger.open(path, create=True) as ledger:
        account = opened(ledger)
        fail(account, "a", "b", "c")
        account.acknowledge_failures()
        answer(account, "d")
    kind, nth, said, problem = FORGED[how]
    rewrite(path, _changed(kind, nth, **said))  # type: ignore[arg-type]  # it changes a list
    with Ledger.open(path, create=False) as ledger:
        assert any(problem in each.message for each in ledger.verify().problems)


def test_a_failure_that_is_damaged_is_not_overlooked(path: Path) -> None:
    """Of what stands behind the last debit, all is looked at before the next."""
    with Ledger.open(path, create=True) as ledger:
        fail(opened(ledger), "a", "b", "c")
    sql(path, "UPDATE discreet_entry SET kind = 'commit' WHERE kind = 'fail' AND number = 3")
    with Ledger.open(path, create=False) as ledger, pytest.raises(LedgerCorrupt):
        ask(opened(ledger), "d")


def test_a_debit_says_in_which_attempt_it_was_made(account: Account, path: Path) -> None:
    """By that it is given up; and for how long it may run."""
    attempted(account, "own", 9)
    (body,) = [json.loads(row.body) for row in rows(path) if row.kind == "reserve"]
    assert (body["attempt"], body["seconds"], body["failures"]) == ("own", 9, {"failed": [], "pending": []})


def test_whatever_is_asked_no_more_fail_than_may(account: Account) -> None:
    """Asked as often as one likes, with as many open at a time as one likes."""
    taken = []
    for number in range(20):
        with suppress(TooManyFailures):
            taken.append(ask(account, f"q{number}"))
        if number % 5 == 4 and taken:
            account.fail(taken.pop())
    for each in taken:
        account.fail(each)
    found = account.failures()
    assert (len(found.failed), found.pending) == (ALLOWED, ())
