"""Plans in words: what a reader is told to do about a plan that isn't what they need."""

from __future__ import annotations

from datetime import date

import pytest

from discreet.privacy import Bounds, Budget, Keys, Unit
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table

PEOPLE = Table(
    name="people",
    source=Source(kind="memory", location="people"),
    columns=(
        Column(name="born", kind=Kind.DATE, bounds=Bounds(date(1900, 1, 1), date(2026, 12, 31))),
        Column(name="grade", kind=Kind.INTEGER, bounds=Bounds(1, 12)),
        Column(name="code", kind=Kind.INTEGER, keys=Keys(range(0, 900, 9))),
        Column(name="city", kind=Kind.TEXT),
    ),
    unit=Unit.row(),
)
DATASET = Dataset(name="people", tables=(PEOPLE,), budget=Budget(epsilon=3), ledger="people.ledger")


def planned(key: str) -> Plan:
    """A count of each group of a key."""
    text = f"SELECT {key} AS k, COUNT(*) AS n FROM people GROUP BY k"
    return make_plan(question(text, DATASET.tables), Request.read({"epsilon": 1}), DATASET)


def test_many_groups_of_a_number_come_with_a_way_to_have_fewer() -> None:
    """The way is a question that is planned, in a tenth of the groups."""
    words = planned("YEAR(born)").explain()
    way = words.partition("GROUP BY FLOOR")[2].partition(", for example")[0]
    assert "128 public groups" in words
    assert "14 public groups" in planned(f"FLOOR{way}").explain()


@pytest.mark.parametrize("key", ["grade", "code"])
def test_few_groups_and_codes_have_no_such_way(key: str) -> None:
    """Twelve are few, and codes of which a hundred are listed aren't a range."""
    assert "Larger groups" not in planned(key).explain()


def test_the_words_name_the_number_of_units_from_which_a_private_group_is_answered() -> None:
    """It is the threshold itself, which counts of units, in steps of one, must reach."""
    text = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
    plan = make_plan(question(text, DATASET.tables), Request.read({"epsilon": 1, "delta": "1e-6"}), DATASET)
    threshold = plan.levels[0].draft.threshold
    assert threshold is not None
    assert f"at least {threshold.value} are answered" in plan.explain()
