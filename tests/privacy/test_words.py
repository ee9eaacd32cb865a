"""Units, neighbours, limits, bounds and keys: what they accept, what they refuse, and how they read."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency, Bounds, Keys, Limits, Unit


def test_a_row_is_a_unit_without_a_column() -> None:
    """`Unit.row()` has no id, and says so."""
    assert Unit.row().is_row
    assert Unit.row() == Unit(None)
    assert str(Unit.row()) == "row"


def test_a_unit_may_be_an_id_during_a_period() -> None:
    """A person-day is a column, a period and the time that tells which one."""
    unit = Unit("person", per="day", at="visited")
    assert not unit.is_row
    assert str(unit) == "person per day of visited"


@pytest.mark.parametrize(
    "arguments",
    [
        {"column": ""},
        {"column": "person", "per": "day"},
        {"column": "person", "at": "visited"},
        {"column": None, "per": "day", "at": "visited"},
        {"column": "person", "per": "fortnight", "at": "visited"},
    ],
)
def test_a_half_stated_unit_is_refused(arguments: dict[str, Any]) -> None:
    """What would leave open who is protected is no unit."""
    with pytest.raises(InvalidArgument):
        Unit(**arguments)


def test_adjacency_reads_from_its_name() -> None:
    """Configurations and certificates name the relation; unknown names are refused."""
    assert Adjacency("add_remove") is ADD_REMOVE
    assert Adjacency("substitution") is SUBSTITUTION
    with pytest.raises(ValueError, match="bounded"):
        Adjacency("bounded")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"groups": 5, "rows_per_group": 10}, "5 groups × 10 rows"),
        ({"rows": 50}, "50 rows"),
        ({"rows": 50, "groups": 8}, "50 rows in 8 groups"),
        ({"rows": 2**31}, None),
    ],
)
def test_limits_come_in_three_shapes(arguments: dict[str, int], text: str | None) -> None:
    """Groups with rows in each, rows in all, or rows in all with groups."""
    limits = Limits(**arguments)
    assert text is None or str(limits) == text


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"groups": 5},
        {"rows_per_group": 5},
        {"rows_per_group": 5, "rows": 5},
        {"groups": 5, "rows_per_group": 5, "rows": 5},
        {"rows": 0},
        {"rows": -1},
        {"rows": 2**31 + 1},
        {"rows": 1.0},
        {"rows": True},
        {"groups": 0, "rows_per_group": 1},
    ],
)
def test_other_limits_are_refused(arguments: dict[str, Any]) -> None:
    """No shape, half a shape, rows in all and in each group, or what isn't a whole number from 1 on."""
    with pytest.raises(InvalidArgument):
        Limits(**arguments)


def test_bounds_are_exact() -> None:
    """A float is the decimal number that was typed."""
    bounds = Bounds(0.1, Decimal("2.5"))
    assert (bounds.lo, bounds.hi) == (Fraction(1, 10), Fraction(5, 2))
    assert not bounds.is_time


def test_bounds_may_be_times() -> None:
    """Dates and timestamps have bounds too."""
    assert Bounds(date(2020, 1, 1), date(2021, 1, 1)).is_time
    assert Bounds(datetime(2020, 1, 1), datetime(2020, 1, 1)).is_time


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        (1, 0),
        (float("nan"), 1),
        (0, float("inf")),
        ("zero", 1),
        (True, 1),
        (0, None),
        (0, date(2020, 1, 1)),
        (date(2020, 1, 1), datetime(2020, 1, 2)),
        (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)),
        (date(2021, 1, 1), date(2020, 1, 1)),
    ],
)
def test_other_bounds_are_refused(lo: Any, hi: Any) -> None:
    """Ends that aren't finite, of two kinds, with a time zone, or in the wrong order."""
    with pytest.raises(InvalidArgument):
        Bounds(lo, hi)


@pytest.mark.parametrize("values", [["a", "b"], [1, 2, None], [True, False], [date(2020, 1, 1)], [None]])
def test_keys_keep_their_order(values: list[Any]) -> None:
    """Answers come in the order in which keys are listed."""
    assert list(Keys(values)) == values
    assert len(Keys(values)) == len(values)


@pytest.mark.parametrize(
    "values",
    ["ab", [], ["a", "a"], [None, None], [1, "a"], [1, True], [1.5], [datetime(2020, 1, 1)]],
)
def test_other_keys_are_refused(values: Any) -> None:
    """One string, none, repeated ones, two kinds, or kinds that make no groups."""
    with pytest.raises(InvalidArgument):
        Keys(values)


def test_many_keys_are_shown_by_the_first_few() -> None:
    """A long list isn't printed in full."""
    assert str(Keys(range(100))) == "0, 1, 2, 3, … (100 keys)"


@given(st.lists(st.one_of(st.none(), st.text()), min_size=1, unique=True))
def test_keys_of_any_text_are_kept(values: list[str | None]) -> None:
    """Whatever the strings hold, they're neither changed nor reordered."""
    assert list(Keys(values)) == values


def test_null_among_keys_reads_as_null() -> None:
    """As everywhere, and not as Python calls it."""
    assert str(Keys(["a", None])) == "'a', NULL"
