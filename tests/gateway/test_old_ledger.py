"""A ledger of before there was one charge path: its answers are found, reused, derived from and verified."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.results import verify_certificate

pytestmark = pytest.mark.usefixtures("kept_sessions")

DUMP = Path(__file__).parents[1] / "fixtures" / "ledgers" / "answers_in_two_shapes.sql"
"""One question, a workload, a ROLLUP made consistent, and a question with ρ and bounds: in the shapes of 0.1.0."""

TABLE = pa.table(
    {
        "age": [34, 71, 52, 18, 40, 66],
        "sex": ["f", "m", "f", "m", "f", "f"],
        "town": ["a", "b", "a", "a", "b", "b"],
    }
)

ONE = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM t GROUP BY sex"
TOGETHER = [
    "SELECT town, COUNT(*) AS n FROM t GROUP BY town",
    "SELECT town, SUM(age) AS s FROM t GROUP BY town",
    "SELECT COUNT(*) AS n FROM t WHERE age >= 40",
]
ROLLUP = """SELECT town, sex, COUNT(*) AS n FROM t WHERE town IS NOT NULL AND sex IS NOT NULL
GROUP BY ROLLUP (town, sex)"""
BOUNDED = "SELECT COUNT(*) AS n, SUM(age) AS s FROM t"


@pytest.fixture
def old(tmp_path: Path) -> Iterator[dp.Protected]:
    """The table behind the account of that ledger."""
    ledger = tmp_path / "t.ledger"
    with closing(sqlite3.connect(ledger)) as database:
        database.executescript(DUMP.read_text(encoding="utf-8"))
    ledger.chmod(0o600)
    with dp.protect(
        TABLE,
        name="t",
        unit=dp.Unit.row(),
        columns={"age": dp.Bounds(0, 110), "sex": dp.Keys(["f", "m"]), "town": dp.Keys(["a", "b"])},
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=ledger,
    ) as protected:
        yield protected


def test_answers_of_before_are_found_again(old: dp.Protected) -> None:
    """Under the same digests, in either shape, for nothing; and the ledger verifies."""
    spent = old.spent
    one = old.ask(ONE, epsilon=2, weights={"n": 2}, confidence=0.9)
    assert (one["n"], one.entry, one.reused) == ([7, 2], 1, True)
    assert one.certificate["entry"] == 1
    several = old.ask(TOGETHER, epsilon=3)
    assert [(each.entry, each.reused) for each in several] == [(2, True)] * 3
    assert several[0]["n"] == [3, 3]
    rollup = old.ask(ROLLUP, within=50, epsilon=4, consistent=True)
    assert (rollup.entry, rollup.reused) == (3, True)
    bounded = old.ask(BOUNDED, rho="1/2", bounds={"age": dp.Bounds(0, 90)})
    assert (bounded.entry, bounded.reused) == (4, True)
    assert old.spent == spent
    assert old.verify().problems == ()


def test_answers_of_before_are_signed_when_they_are_given_again(old: dp.Protected) -> None:
    """By the key that the ledger was given since; it is said when."""
    key = old.signing.public
    assert key is not None
    given = [
        old.ask(ONE, epsilon=2, weights={"n": 2}, confidence=0.9),
        *old.ask(TOGETHER, epsilon=3),
        old.ask(ROLLUP, within=50, epsilon=4, consistent=True),
        old.ask("SELECT COUNT(*) AS n FROM t WHERE sex = 'm'", epsilon="0.1"),
    ]
    begun = old.signing.head()["at"]
    for answer in given:
        found = answer.to_json()
        assert verify_certificate(found, key).problems == ()
        assert found["signature"]["at"] >= begun
    assert len({answer.to_json()["signature"]["question"] for answer in given}) == len(given)


def test_others_follow_from_answers_of_before(old: dp.Protected) -> None:
    """From one question, from a workload, and from one with ρ: their plans are made again from what is stored."""
    spent = old.spent
    one = old.ask("SELECT COUNT(*) AS n FROM t WHERE sex = 'm'", epsilon="0.1")
    assert (one["n"], one.origin) == ([2], (1,))
    assert old.ask("SELECT SUM(age) AS s FROM t WHERE town = 'b'", epsilon="0.1").origin == (2,)
    bounded = old.ask("SELECT SUM(age) AS s FROM t", rho="1/10", bounds={"age": dp.Bounds(0, 90)})
    assert bounded.origin == (4,)
    assert old.spent == spent


def test_answers_of_before_are_read_by_their_version(old: dp.Protected) -> None:
    """Those of one question and of a workload, after the tables were admitted again."""
    old.refresh()
    spent = old.spent
    assert old.ask(ONE, epsilon=2, weights={"n": 2}, confidence=0.9, version=1)["n"] == [7, 2]
    assert [each.entry for each in old.ask(TOGETHER, epsilon=3, version=1)] == [2, 2, 2]
    assert old.spent == spent
    assert not old.ask(ONE, epsilon=2, weights={"n": 2}, confidence=0.9).reused
