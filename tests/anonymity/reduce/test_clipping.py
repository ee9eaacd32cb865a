"""Clipping moves what is beyond the bounds, says how much, and nothing else."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Digits
from discreet.anonymity.records import read
from discreet.anonymity.reduce.clipping import clip
from discreet.errors import InvalidArgument, SchemaMismatch

DAYS = st.dates(date(2000, 1, 1), date(2000, 2, 28))
CASES = st.one_of(
    *(
        st.tuples(st.lists(st.one_of(st.none(), values), max_size=12), values, values)
        for values in (
            st.integers(-9, 9),
            st.floats(-9, 9),
            st.decimals(-9, 9, places=1),
            DAYS,
            DAYS.map(lambda day: datetime(day.year, day.month, day.day, 12)),
        )
    )
)


@given(CASES)
def test_it_is_the_median_with_the_bounds(case: tuple[list[Any], Any, Any]) -> None:
    """Row by row against Python, for every kind; missing stays missing, counts are those of the rows that moved."""
    values, one, other = case
    lo, hi = sorted([one, other])
    if not any(value is not None for value in values):
        return  # a column of no kind, which is refused: see below
    clipped = clip(read({"x": values, "y": list(range(len(values)))}), "x", lo, hi)
    wanted = [None if value is None else min(max(value, lo), hi) for value in values]
    rows = clipped.records.to_arrow()
    assert rows.column("x").to_pylist() == wanted
    assert rows.column("y").to_pylist() == list(range(len(values)))
    assert clipped.raised == sum(value is not None and value < lo for value in values)
    assert clipped.lowered == sum(value is not None and value > hi for value in values)
    assert clipped.moved == clipped.raised + clipped.lowered
    column = clipped.records.column("x")
    present = [value for value in column.labels() if value is not None]
    assert present == sorted(set(present))
    assert column.has_missing == (None in values)
    assert np.bincount(column.codes, minlength=column.size).all()


def test_the_textbooks_ages() -> None:
    """Ages to 10..60, then by tens: an outlier stops being alone."""
    ages = read({"age": [7, 12, 34, 35, 61, 97]})
    before = Digits(levels=1).ladder(ages.column("age")).sizes(1)
    clipped = clip(ages, "age", 10, 60)
    after = Digits(levels=1).ladder(clipped.records.column("age")).maps[1][clipped.records.column("age").codes]
    assert before.min() == 1
    assert np.bincount(after).min() == 2
    assert str(clipped) == "age clipped to 10 … 60: 3 of 6 rows moved (50.00%), 1 up and 2 down"
    assert ages.column("age").labels() == (7, 12, 34, 35, 61, 97)


@pytest.mark.parametrize(
    ("values", "lo", "hi", "wanted"),
    [
        (["0.5", "0.0"], Decimal("1.0"), Decimal(12), ["1.0", "1.0"]),
        (["0.5", "0.0"], -100, Decimal("0.2"), ["0.2", "0.0"]),
        (["7.25"], Decimal("1E+3"), 10**40, ["1000"]),
        (["9" * 38, "-7"], -(10**60), 10**60, ["9" * 38, "-7"]),
        (["1." + "0" * 37], Decimal("-Infinity"), Decimal(1), None),
        (["0.5"], 0, 10**76, None),
        (["0.5"], 0, Decimal("NaN"), None),
        (["0.5"], 0, Decimal("0.25"), None),
    ],
)
def test_decimal_numbers_get_room_for_the_bounds(values: list[str], lo: Any, hi: Any, wanted: list[str] | None) -> None:
    """Before the point, whatever the values happen to fill; after it, a column is as exact as it is."""
    column = read({"x": [*map(Decimal, values), None]})
    if wanted is None:
        with pytest.raises(InvalidArgument):
            clip(column, "x", lo, hi)
    else:
        assert clip(column, "x", lo, hi).records.to_arrow().column("x").to_pylist() == [*map(Decimal, wanted), None]


def test_no_rows_and_nothing_to_do() -> None:
    """All of the values within the bounds, and a table that lost its rows."""
    within = clip(read({"x": [1, 2]}), "x", 0, 9)
    assert (within.moved, within.records.column("x").labels()) == (0, (1, 2))
    empty = clip(read({"x": [1, 2]}).take(np.zeros(0, np.int64)), "x", 0, 9)
    assert (empty.moved, empty.records.rows) == (0, 0)
    assert str(empty).endswith("0 of 0 rows moved (0.00%), 0 up and 0 down")


@pytest.mark.parametrize(
    ("values", "lo", "hi", "error"),
    [
        ([1, 2], 2, 1, InvalidArgument),
        ([1, 2], 1.5, 2, InvalidArgument),
        ([1, 2], 0, 2**70, InvalidArgument),
        ([1, 2], True, 2, InvalidArgument),
        ([1, 2], "0", 2, InvalidArgument),
        ([1, 2], date(2020, 1, 1), date(2020, 1, 1), InvalidArgument),
        ([1.0, 2.5], float("nan"), 2, InvalidArgument),
        ([Decimal("1.5")], Decimal("1.55"), Decimal(2), InvalidArgument),
        ([date(2020, 1, 1)], 0, 1, InvalidArgument),
        (["a"], "a", "b", SchemaMismatch),
        ([True], 0, 1, SchemaMismatch),
        ([None], 0, 1, SchemaMismatch),
    ],
)
def test_wrong_bounds_and_columns_are_refused(values: list[Any], lo: Any, hi: Any, error: type[Exception]) -> None:
    """Crossed, of another kind, not to be had in the column's type; columns of texts."""
    with pytest.raises(error):
        clip(read({"x": values}), "x", lo, hi)


def test_a_column_that_is_not_there() -> None:
    """It is named."""
    with pytest.raises(SchemaMismatch, match="no column 'y'"):
        clip(read({"x": [1]}), "y", 0, 1)


def test_times_in_a_zone_are_clipped_by_times_in_a_zone() -> None:
    """And by no others: which instant a time without a zone is can't be told. Nor is a time a day."""
    hours = [datetime(2020, 6, 1, hour, tzinfo=UTC) for hour in (0, 6, 12, 18)]
    zoned = read({"t": [*hours, None]})
    east = timezone(timedelta(hours=2))
    found = clip(zoned, "t", datetime(2020, 6, 1, 8, tzinfo=east), hours[2])
    assert found.records.column("t").labels() == (*hours[1:3], None)
    assert (found.raised, found.lowered) == (1, 1)
    with pytest.raises(InvalidArgument):
        clip(zoned, "t", datetime(2020, 6, 1), hours[2])
    with pytest.raises(InvalidArgument):
        clip(read({"t": [datetime(2020, 6, 1)]}), "t", hours[0], hours[2])
    with pytest.raises(InvalidArgument):
        clip(read({"t": [date(2020, 6, 1)]}), "t", datetime(2020, 5, 1, 12), datetime(2020, 7, 1))
