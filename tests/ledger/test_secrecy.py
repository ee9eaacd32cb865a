"""What a ledger must not tell: what the data are, and how long a question took."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from discreet.errors import DiscreetError, LedgerUnavailable
from discreet.ledger import Ledger
from discreet.privacy import Budget
from support.ledgers import ask, raised, sql

CANARY = "5ca1ab1e" * 8
"""A fingerprint, as a hash of private data would be."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger that has seen the canary."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        version = account.version(CANARY)
        account.commit(ask(account, "question"), certificate={"version": version}, answer={"n": 1})
    return path


def test_a_fingerprint_is_nowhere_in_the_file(path: Path) -> None:
    """Neither as text, nor as bytes, nor by a hash that needs no secret."""
    from hashlib import sha256

    content = path.read_bytes()
    assert len(content) > 1000
    hidden = [CANARY, f"census\0{CANARY}"]
    traces = [trace for text in hidden for trace in (text.encode(), sha256(text.encode()).hexdigest().encode())]
    traces += [bytes.fromhex(CANARY), sha256(CANARY.encode()).digest(), CANARY[:16].encode()]
    assert [trace for trace in traces if trace in content] == []


def test_marks_of_equal_data_differ_between_ledgers_and_accounts(tmp_path: Path) -> None:
    """Who holds two ledgers, or one with two accounts, can't see that both are about the same data."""
    for name in ("one", "two"):
        with Ledger.open(tmp_path / name, create=True) as ledger:
            for account in ("census", "copy"):
                ledger.account(account, Budget(epsilon=1)).version(CANARY)
    marks = [
        mark
        for name in ("one", "two")
        for (mark,) in sql(tmp_path / name, "SELECT digest FROM discreet_entry WHERE kind = 'data'")
    ]
    assert len(set(marks)) == 4


def test_errors_do_not_show_what_was_to_be_written(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the database complains, neither fingerprint nor answer gets into error, traceback or log."""
    caplog.set_level(logging.DEBUG)
    with Ledger.open(path, create=False) as writable:
        paid = ask(writable.account("census", Budget(epsilon=1)), "another")
    with Ledger.open(f"sqlite:///{path}?mode=ro", create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for action in (
            lambda: account.version(f"new {CANARY}"),
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
        account.version("other data")
        ask(account, "question")
    texts = []
    for place in (path, other):
        with Ledger.open(place, create=False) as ledger:
            account = ledger.account("census", Budget(epsilon=1))
            texts.append(raised(DiscreetError, lambda account=account: ask(account, "dear", 5)))  # type: ignore[misc]  # mypy can't infer a lambda with a default
    assert len(set(texts)) == 1
