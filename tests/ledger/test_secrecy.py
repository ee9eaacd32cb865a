"""What a ledger must not tell: what the data are, and how long a question took."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from discreet.errors import AdmissionConflict, DiscreetError, LedgerUnavailable
from discreet.ledger import Ledger
from discreet.ledger.row import Kind
from discreet.privacy import Budget
from support.ledgers import ask, raised, rows, sql

CANARY = "5ca1ab1e" * 8
"""A digest of what tables hold, as it would be made from private data."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger into which the canary was admitted."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        version = account.admit(CANARY, snapshot="first", after=0).version
        account.commit(ask(account, "question"), certificate={"version": version}, answer={"n": 1})
    return path


def test_what_tables_hold_is_nowhere_in_the_file(path: Path) -> None:
    """Neither as text, nor as bytes, nor by a hash that needs no secret."""
    from hashlib import sha256

    content = path.read_bytes()
    assert len(content) > 1000
    hidden = [CANARY, f"census\0{CANARY}", f"1\0{CANARY}", f"census\0001\0{CANARY}"]
    traces = [trace for text in hidden for trace in (text.encode(), sha256(text.encode()).hexdigest().encode())]
    traces += [bytes.fromhex(CANARY), sha256(CANARY.encode()).digest(), CANARY[:16].encode()]
    assert [trace for trace in traces if trace in content] == []


def test_marks_of_equal_data_differ(tmp_path: Path) -> None:
    """Who holds two ledgers, or one with two accounts or versions, can't see that they are about the same data."""
    for name in ("one", "two"):
        with Ledger.open(tmp_path / name, create=True) as ledger:
            for account in ("census", "copy"):
                for after in range(2):
                    ledger.account(account, Budget(epsilon=1)).admit(CANARY, after=after)
    marks = [
        mark
        for name in ("one", "two")
        for (mark,) in sql(tmp_path / name, "SELECT digest FROM discreet_entry WHERE kind = 'data'")
    ]
    assert len(marks) == len(set(marks)) == 8
    assert {len(mark) for mark in marks} == {64}


def test_a_ledger_tells_how_often_tables_were_admitted_and_nothing_of_them(tmp_path: Path) -> None:
    """Whether tables stayed as they were, changed, or changed back: all entries are the same but for their marks."""
    told = []
    for name, contents in {"same": "xxx", "changed": "xyz", "back": "xyx"}.items():
        path = tmp_path / name
        with Ledger.open(path, create=True) as ledger:
            account = ledger.account("census", Budget(epsilon=1))
            for after, data in enumerate(contents):
                account.admit(data, snapshot=f"folder {after}", after=after)
                ask(account, "question")
        found = rows(path)
        marks = {row.digest for row in found if row.kind == Kind.DATA}
        assert len(marks) == 3
        columns = [row.columns() for row in found if row.kind != Kind.OPEN]
        hidden = {"at", "previous", "hash"}
        told.append(
            [
                {name: value for name, value in row.items() if name not in hidden and value not in marks}
                for row in columns
            ]
        )
    assert told[0] == told[1] == told[2]
    assert [row["version"] for row in told[0] if row["kind"] == Kind.DATA] == [1, 2, 3]


def test_what_tables_hold_is_in_no_description(path: Path) -> None:
    """Neither objects, nor the history, nor a refused admission show the digest that they were given."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        found = account.admitted()
        assert found is not None
        assert account.holds(found, CANARY)
        shown = [repr(found), str(found), repr(account), repr(account.entries()), repr(ledger.verify())]
        with pytest.raises(AdmissionConflict) as caught:
            account.admit(f"new {CANARY}", after=0)
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
        assert [text for text in shown if CANARY in text] == []


def test_errors_do_not_show_what_was_to_be_written(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the database complains, neither digest nor answer gets into error, traceback or log."""
    caplog.set_level(logging.DEBUG)
    with Ledger.open(path, create=False) as writable:
        paid = ask(writable.account("census", Budget(epsilon=1)), "another")
    with Ledger.open(f"sqlite:///{path}?mode=ro", create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for action in (
            lambda: account.admit(f"new {CANARY}", after=1),
            lambda: account.commit(paid, certificate={}, answer={"n": CANARY}),
        ):
            with pytest.raises(LedgerUnavailable) as caught:
                action()
            assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert CANARY not in caplog.text


def test_numbers_do_not_tell_when_a_question_was_done(path: Path) -> None:
    """Whether an outcome comes before or after another question, that question's number is the same."""
    numbers = []
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for early in (True, False):
            first = ask(account, "slow")
            if early:
                account.fail(first)
            second = ask(account, "probe")
            if not early:
                account.fail(first)
            numbers.append(second.entry - first.entry)
    assert numbers == [1, 1]


def test_a_refusal_depends_on_public_facts_only(path: Path, tmp_path: Path) -> None:
    """The same questions of other data are charged and refused in the same words."""
    other = tmp_path / "other.ledger"
    with Ledger.open(other, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        account.admit("other data", snapshot="first", after=0)
        ask(account, "question")
    texts = []
    for place in (path, other):
        with Ledger.open(place, create=False) as ledger:
            account = ledger.account("census", Budget(epsilon=1))
            texts.append(raised(DiscreetError, lambda account=account: ask(account, "dear", 5)))  # type: ignore[misc]  # mypy can't infer a lambda with a default
    assert len(set(texts)) == 1
