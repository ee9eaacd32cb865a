"""Domains: the public values of grouping expressions."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import Bounds, KeyValue, Unit
from discreet.query.ir.domains import MOST_VALUES
from discreet.query.sql import question
from discreet.tables import Column, Kind, Source, Table
from support.asked import TABLES


def groups(expr: str) -> tuple[tuple[KeyValue, ...] | None, bool]:
    """The public values of a grouping expression, and whether NULL is a group."""
    ((_, key),) = question(f"SELECT COUNT(*) FROM people GROUP BY {expr}", TABLES).keys
    return key.type.values, key.type.nullable and not key.type.hidden


@pytest.mark.parametrize(
    ("expr", "values", "null"),
    [
        ("sex", ("Female", "Male"), False),
        ("level", (1, 2, 3), True),
        ("married", (False, True), True),
        ("UPPER(sex)", ("FEMALE", "MALE"), False),
        ("COALESCE(sex, 'unknown')", ("Female", "Male", "unknown"), False),
        ("sex IS NULL", (False, True), False),
        ("level * 2", (2, 4, 6), True),
        ("COALESCE(level, 0)", (0, 1, 2, 3), False),
        ("LEFT(sex, 1)", ("F", "M"), False),
        ("sex || '!'", ("Female!", "Male!"), False),
        ("age // 50", (0, 1, 2), True),
        ("CAST(FLOOR(age / 50) AS INTEGER)", (0, 1, 2), True),
        ("age - age % 50", (0, 50, 100), True),
        ("CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END", ("young", "adult", "old"), False),
        ("CASE WHEN income < 5 THEN 'poor' ELSE 'rich' END", ("poor", "rich"), False),
        ("CASE WHEN wealth < 5 THEN 1 WHEN education LIKE 'B%' THEN 2 END", (1, 2), True),
        ("age > 40", (False, True), True),
        ("age > 40 OR TRUE", (True,), False),
        ("income > 40 AND married", (False, True), True),
        ("YEAR(born)", tuple(range(1990, 2000)), True),
        ("QUARTER(joined)", (1, 2, 3, 4), True),
        ("DAYOFWEEK(seen)", tuple(range(7)), True),
        ("DATE_TRUNC('year', seen)", (date(2023, 1, 1), date(2024, 1, 1)), True),
        ("YEAR(DATE_TRUNC('year', seen))", (2023, 2024), True),
        ("SIGN(age - 50)", (-1, 0, 1), True),
        ("CAST(ROUND(share) AS INTEGER)", (0, 1), True),
        ("CAST(level AS VARCHAR)", ("1", "2", "3"), True),
        ("NULLIF(level, 2)", (1, 3), True),
    ],
)
def test_values(expr: str, values: tuple[KeyValue, ...], null: bool) -> None:
    """The list is exact: each value that can occur, once, in order."""
    assert groups(expr) == (values, null)


@pytest.mark.parametrize(
    "expr",
    [
        "education",
        "code",
        "joined",
        "YEAR(joined)",
        "CAST(income AS INTEGER)",
        "LEFT(education, 1)",
        "DATE_TRUNC('month', joined)",
    ],
)
def test_no_values(expr: str) -> None:
    """What isn't declared, or is too much, isn't public."""
    assert groups(expr)[0] is None


def test_dates_within_bounds_are_listed() -> None:
    """Every day within the bounds is a group; weeks begin on Mondays."""
    first = date(1990, 1, 1)
    days, _ = groups("born")
    assert days == tuple(first + timedelta(days=n) for n in range(3652))
    weeks, _ = groups("DATE_TRUNC('week', born)")
    assert weeks is not None
    assert weeks[0] == first
    assert all((day - first).days % 7 == 0 for day in weeks if isinstance(day, date))


@pytest.mark.parametrize(("last", "is_listed"), [(MOST_VALUES - 1, True), (MOST_VALUES, False)])
def test_a_list_has_an_end(last: int, is_listed: bool) -> None:
    """One value more than the most, and it isn't a list of keys."""
    column = Column(name="x", kind=Kind.INTEGER, bounds=Bounds(0, last))
    table = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=(column,), unit=Unit.row())
    ((_, key),) = question("SELECT COUNT(*) FROM t GROUP BY x", [table]).keys
    assert (key.type.values is not None) == is_listed


def test_letters_that_engines_disagree_on_are_not_listed() -> None:
    """Upper case beyond ASCII differs between engines, so no list is worked out through it."""
    ((_, key),) = question("SELECT COUNT(*) FROM people GROUP BY UPPER(sex || 'ß')", TABLES).keys
    assert key.type.values is None


@given(st.integers(1, 30), st.integers(-40, 40), st.integers(1, 9))
def test_the_list_is_what_python_gives(divisor: int, offset: int, factor: int) -> None:
    """For arithmetic of one column, the list is the expression's value for each value of the column."""
    values, _ = groups(f"(age + {offset}) % {divisor} * {factor}")

    def remainder(value: int) -> int:
        return (abs(value) % divisor) * (1 if value >= 0 else -1)

    assert values == tuple(sorted({remainder(age + offset) * factor for age in range(111)}))
