"""Killed between any two steps: never an answer without its debit, and the ledger goes on."""

from __future__ import annotations

import os
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import Ledger, State
from discreet.privacy import Budget
from support.ledgers import admitted, ask, killed, sql, start

POINTS = [
    # where the process is killed, then what it did before: run the question, show the answer; then what the ledger has
    ("before appending the debit", [], None),
    ("after appending the debit", [], None),
    ("before syncing the debit", [], None),
    ("after syncing the debit", [], State.RESERVED),
    ("paid", [], State.RESERVED),
    ("run", ["run"], State.RESERVED),
    ("before appending the outcome", ["run"], State.RESERVED),
    ("after appending the outcome", ["run"], State.RESERVED),
    ("before syncing the outcome", ["run"], State.RESERVED),
    ("after syncing the outcome", ["run"], State.COMMITTED),
    ("kept", ["run"], State.COMMITTED),
    ("answered", ["run", "answer 42"], State.COMMITTED),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with data."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1)))
    return path


@pytest.mark.parametrize(("point", "done", "state"), POINTS, ids=[point for point, _, _ in POINTS])
def test_killed_at_a_step(path: Path, point: str, done: list[str], state: State | None) -> None:
    """What ran was paid for on the disk, what was answered is kept there, and the next process goes on."""
    assert killed("crash", path, point) == done
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        states = [entry.state for entry in account.entries() if entry.kind == "question"]
        assert states == ([] if state is None else [state])
        assert account.spent().epsilon == Fraction(len(states), 10)
        stored = account.stored("question", 1)
        assert (stored is not None) == (state is State.COMMITTED)
        assert stored is None or stored.answer == {"n": 42}
        assert ledger.verify().problems == ()
        account.commit(ask(account, "next"), certificate={}, answer={"n": 1})
        assert ledger.verify().problems == ()


@pytest.mark.parametrize(
    ("point", "said", "version"),
    [
        ("before appending the version", [], 1),
        ("after appending the version", [], 1),
        ("before syncing the version", [], 1),
        ("after syncing the version", [], 2),
        ("admitted", ["version 2"], 2),
    ],
)
def test_killed_while_tables_are_admitted(path: Path, point: str, said: list[str], version: int) -> None:
    """The old version is in force, or the new one, as a whole; whoever admits next goes on from there."""
    assert killed("crash_admitting", path, point) == said
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        found = account.admitted()
        assert found is not None
        assert (found.version, found.snapshot) == ((1, "") if version == 1 else (2, "new"))
        assert account.versions() == version
        assert [account.holds(found, data) for data in ("the data", "other data")] == [version == 1, version == 2]
        assert ledger.verify().problems == ()
        assert account.admit("next data", after=version).version == version + 1
        assert ask(account, "next").version == version + 1
        assert ledger.verify().problems == ()


@pytest.mark.parametrize(
    ("point", "made"),
    [
        ("before syncing the draft", False),
        ("after syncing the draft", False),
        ("before linking the draft", False),
        ("after linking the draft", True),
        ("before syncing the folder", True),
        ("after syncing the folder", True),
        ("made", True),
    ],
)
def test_killed_while_it_is_made(tmp_path: Path, point: str, *, made: bool) -> None:
    """A founder killed at any step leaves a whole ledger or none, and what it leaves is in nobody's way."""
    path = tmp_path / "new.ledger"
    killed("make", path, point)
    assert path.exists() == made
    with Ledger.open(path, create=not made) as ledger:
        assert admitted(ledger.account("census", Budget(epsilon=1))) == 1
        assert ledger.verify().problems == ()


def test_killed_at_any_time(path: Path) -> None:
    """Killed at a dozen moments in a loop of questions: each answer shown is kept, each debit seen is there.

    Each loop is let to show its first answer, however long that takes, before its moment begins.
    """
    paid: set[int] = set()
    answered: set[int] = set()
    for moment in range(12):
        with start("loop", path) as process:
            lines = [process.stdout.readline() for _ in ("paid", "answer")]
            time.sleep(moment * 0.0137)
            os.kill(process.pid, signal.SIGKILL)
            lines += process.wait().stdout.splitlines(keepends=True)
        whole = [line.split() for line in lines if line.endswith("\n")]
        paid |= {int(entry) for what, entry in whole if what == "paid"}
        answered |= {int(entry) for what, entry in whole if what == "answer"}
    assert len(answered) >= 12
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        questions = {entry.number: entry.state for entry in account.entries() if entry.kind == "question"}
        assert paid <= set(questions)
        assert {questions[number] for number in answered} == {State.COMMITTED}
        assert account.spent().epsilon == Fraction(len(questions), 10)
        assert ledger.verify().problems == ()


def test_an_answer_shown_before_it_is_kept_is_caught(path: Path) -> None:
    """A wrong twin, which loses its debit after the answer, fails the checks above."""
    assert killed("crash", path, "answered") == ["run", "answer 42"]
    sql(path, "DELETE FROM discreet_entry WHERE kind IN ('reserve', 'commit')")
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify().problems != ()
        assert ledger.account("census", Budget(epsilon=1)).stored("question", 1) is None
