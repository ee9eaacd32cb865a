"""Units: a table's unit can't change once its account has losses; tables of others have an account of their own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, NotAdmitted
from discreet.gateway import Protected
from support.project import ROOT

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n FROM people"
PEOPLE = pa.table({"id": [1, 2, 3], "house": [1, 1, 2], "age": [30, 40, 50]})
DUMP = ROOT / "tests" / "fixtures" / "ledgers" / "answers_in_two_shapes.sql"


def protected(folder: Path, unit: str, data: object = PEOPLE, **others: Any) -> Protected:
    """The people, by a unit."""
    declared = dp.table(
        data,
        name="people",
        unit=dp.Unit.row() if unit == "row" else unit,
        limits=dp.Limits(rows=1 if unit == "row" else 5),
        columns=others.pop("columns", {"age": dp.Bounds(0, 110)}),
    )
    return dp.protect([declared], name="people", budget=dp.Budget(epsilon=9), ledger=folder / "people.ledger", **others)


def test_losses_by_two_units_are_not_added_up(tmp_path: Path) -> None:
    """Neither is the table opened by another unit, nor are questions refused by the one of before."""
    with protected(tmp_path, "row") as rows:
        rows.ask(COUNT, epsilon=1)
        with pytest.raises(InvalidArgument, match="losses by the unit 'row' of table 'people'") as refused:
            protected(tmp_path, "id")
        assert "another name" in str(refused.value.hint)
        assert rows.ask(COUNT, epsilon=1).reused
        assert rows.spent.epsilon == 1
        assert rows.verify().holds


def test_other_declarations_may_change(tmp_path: Path) -> None:
    """Bounds, shares and the case of names say nothing of whose presence is hidden."""
    with protected(tmp_path, "ID") as account:
        account.ask(COUNT, epsilon=1)
    with protected(tmp_path, "id", columns={"age": dp.Bounds(0, 120)}, analysts={"ann": 1}) as account:
        account.ask("SELECT SUM(age) AS s FROM people", epsilon=1, analyst="ann")
        assert account.spent.epsilon == 2


def test_a_unit_that_changes_before_the_first_question_takes_an_admission(tmp_path: Path) -> None:
    """If a column tells units apart that didn't: as ids, its values are cast without loss, or not at all."""
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    for unit in ("house", "row", "id"):
        with protected(tmp_path, unit, path) as account:
            if unit == "id":
                with pytest.raises(NotAdmitted, match="declared differently"):
                    account.ask(COUNT, epsilon=1)
            account.refresh()
    with protected(tmp_path, "id", path) as account:
        account.ask(COUNT, epsilon=1)


def test_a_period_has_its_time_zone(tmp_path: Path) -> None:
    """A day in Paris isn't one in New York."""
    data = pa.table({"id": [1, 2], "at": pa.array([0, 10**12], pa.timestamp("us", "UTC"))})

    def days(zone: str) -> Protected:
        return dp.protect(
            data,
            name="days",
            unit=dp.Unit("id", per="day", at="at"),
            limits=dp.Limits(rows=1),
            time_zone=zone,
            budget=9,
            ledger=tmp_path / "days.ledger",
        )

    with days("Europe/Paris") as account:
        account.ask("SELECT COUNT(*) AS n FROM days", epsilon=1)
    with pytest.raises(InvalidArgument, match="in america/new_york'"):
        days("America/New_York")


def test_a_link_to_the_id_is_the_unit_itself(tmp_path: Path) -> None:
    """So it may be said in either way; tables with units of their own stay possible beside it."""

    def clinic(**visits: Any) -> Protected:
        tables = [
            dp.table(PEOPLE, name="people", unit="id", limits=dp.Limits(rows=1)),
            dp.table(pa.table({"person": [1, 1], "place": [1, 2]}), name="visits", limits=dp.Limits(rows=5), **visits),
            dp.table(pa.table({"x": [1, 2]}), name="shops", unit=dp.Unit.row()),
        ]
        return dp.protect(tables, name="clinic", budget=9, ledger=tmp_path / "clinic.ledger")

    with clinic(links={"person": "people.id"}) as account:
        account.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        account.ask("SELECT COUNT(*) AS n FROM shops", epsilon=1)
    with clinic(unit="person") as account:
        assert account.spent.epsilon == 2
    with pytest.raises(InvalidArgument, match="unit 'person' of table 'visits'"):
        clinic(unit="place")


@pytest.mark.parametrize("first", ["a file", "memory"])
def test_a_table_of_others_is_told_to_have_an_account_of_its_own(tmp_path: Path, first: str) -> None:
    """As where two examples are tried in one folder; and not that a snapshot is missing."""
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    one, other = path, pa.table({"years": [1, 2]})
    if first == "memory":
        one, other = other, one
    with protected(tmp_path, "row", one, columns=None) as account:
        account.ask(COUNT, epsilon=1)
    with protected(tmp_path, "row", other, columns=None) as account:
        with pytest.raises(NotAdmitted, match="version 1") as refused:
            account.ask(COUNT, epsilon=1)
        assert "another name, or in another ledger" in str(refused.value.hint)
        account.refresh()
        account.ask(COUNT, epsilon=1)


@pytest.mark.parametrize("unit", ["row", "age"])
def test_an_old_ledger_has_the_unit_of_its_newest_answer(tmp_path: Path, unit: str) -> None:
    """Its declaration says nothing of one; its certificates do."""
    ledger = tmp_path / "t.ledger"
    with closing(sqlite3.connect(ledger)) as database:
        database.executescript(DUMP.read_text(encoding="utf-8"))
    ledger.chmod(0o600)
    table = pa.table({"age": [34], "sex": ["f"], "town": ["a"]})

    def opened() -> Protected:
        whose = dp.Unit.row() if unit == "row" else dp.Unit(unit)
        return dp.protect(table, name="t", unit=whose, limits=dp.Limits(rows=1), budget=100, ledger=ledger)

    if unit == "age":
        with pytest.raises(InvalidArgument, match="losses by the unit 'row' of table 't'"):
            opened()
        return
    with opened() as account:
        assert account.verify().problems == ()
        assert [each.text for each in account.history() if each.kind == "budget"][-1].endswith(
            "(add-remove, t by row); at most 10 failures"
        )
