"""Many processes on one budget: never over it, and never short of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import Ledger, State
from discreet.privacy import Budget
from support.ledgers import admitted, run, sql


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a version to be asked of."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1), failures=1000))
    return path


def check_race(path: Path, processes: int, questions: int, cost: str) -> None:
    """Race, and compare what was admitted with what the budget pays for, to the unit."""
    affordable = 1 // Fraction(cost)
    assert affordable < processes * questions
    assert sum(map(int, run("race", path, processes, questions, cost))) == affordable
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1), failures=1000)
        assert account.spent().epsilon == affordable * Fraction(cost)
        assert account.remaining().epsilon < Fraction(cost)
        asked = [entry for entry in account.entries() if entry.kind == "question"]
        assert [entry.number for entry in asked] == list(range(1, affordable + 1))
        assert {entry.state for entry in asked} == {State.COMMITTED}
        assert ledger.verify().problems == ()


@pytest.mark.parametrize("each", [5, pytest.param(50, marks=pytest.mark.soak)])
def test_sixty_four_processes_spend_a_budget_exactly(path: Path, each: int) -> None:
    """Of 64 × 5 questions at 1/100 of the budget, 100 are admitted; of 64 × 50 at 1/1000 of it, 1000."""
    check_race(path, 64, each, f"1/{20 * each}")


def test_a_cost_that_does_not_divide_the_budget_leaves_a_rest(path: Path) -> None:
    """Of 8 × 10 questions at 3/70 of the budget, 23 are admitted, and 1/70 is left."""
    check_race(path, 8, 10, "3/70")


def test_shares_hold_in_a_race(path: Path) -> None:
    """Two analysts with 3/5 each of a budget of 1 spend all of it together, and neither more than the share."""
    lines = [line.split() for line in run("race_shares", path, 8, 25, "1/100")]
    total = {name: sum(int(count) for who, count in lines if who == name) for name in ("ada", "bob")}
    assert sum(total.values()) == 100
    assert max(total.values()) <= 60
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1), {name: Budget(epsilon="3/5") for name in total})
        assert {name: account.spent(name).epsilon for name in total} == {
            name: Fraction(count, 100) for name, count in total.items()
        }
        assert ledger.verify().problems == ()


def test_the_same_question_in_a_race_has_one_stored_answer(path: Path) -> None:
    """Processes that ask the same at once may all pay, but find the same answer: the one that was kept first."""
    stored = set(run("race_same", path, 8))
    assert len(stored) == 1
    (first,) = sql(path, "SELECT number FROM discreet_entry WHERE kind = 'commit' ORDER BY seq LIMIT 1")[0]
    assert stored.pop().startswith(f"{first} ")


def test_of_processes_that_admit_at_once_one_wins(path: Path) -> None:
    """Of 16 that go on from version 1 at once, one admits version 2, which is its own, and the others are told so."""
    lines = [line.split(maxsplit=1) for line in run("race_admit", path, 16, 1)]
    winners = [number for number, said in lines if said == "admitted version 2"]
    assert len(winners) == 1
    assert {said for number, said in lines if number not in winners} == {"admission_conflict, version 2"}
    assert len(lines) == 16
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        found = account.admitted()
        assert found is not None
        assert (found.version, found.snapshot) == (2, f"folder {winners[0]}")
        assert [number for number, _ in lines if account.holds(found, f"contents {number}")] == winners
        assert sql(path, "SELECT count(*) FROM discreet_entry WHERE kind = 'data'") == [(2,)]
        assert ledger.verify().problems == ()


def test_a_ledger_made_by_many_processes_at_once_is_one_ledger(tmp_path: Path) -> None:
    """Of many founders one makes the ledger; and each admits its tables as a version of their own."""
    path = tmp_path / "new.ledger"
    assert sorted(map(int, run("race_create", path, 8))) == list(range(1, 9))
    assert sql(path, "SELECT count(*) FROM discreet_entry WHERE kind IN ('open', 'budget')") == [(2,)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.ledger", "new.ledger.marks"]
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify().problems == ()
