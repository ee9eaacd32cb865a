"""Values of two tables are the same if they mean the same, and tables that can't be compared say so."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.columns import Coded
from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.matching import places_of
from discreet.anonymity.models import KMap
from discreet.anonymity.records import read
from discreet.anonymity.reduce.mondrian import mondrian
from discreet.errors import SchemaMismatch

TWICE = 1_603_585_800  # seconds: 02:30 in Berlin on the night in which that hour comes twice


def column(values: Any) -> Coded:
    """A column of these."""
    return read(pa.table({"x": values})).column("x")


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5))), st.lists(st.one_of(st.none(), st.integers(-5, 5))))
def test_numbers_match_by_size(here: list[int | None], there: list[int | None]) -> None:
    """Whole numbers, floats and decimals."""
    mine = column(pa.array(here, pa.int32()))
    for kind in (pa.int64(), pa.uint8(), pa.float32(), pa.float64()):
        values = [value for value in there if value is None or value >= 0 or kind != pa.uint8()]
        other = column(pa.array(values, kind))
        labels = mine.labels()
        expected = [labels.index(value) if value in labels else -1 for value in other.labels()]
        assert places_of(mine, other).tolist() == expected
    if here:
        assert places_of(mine, column([None if each is None else Decimal(each) for each in here])).min() >= 0


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Lima"])
def test_instants_match_whatever_their_unit_and_zone(unit: str, zone: str) -> None:
    """Also those that Python takes for one, in the hour that comes twice: two people, not one and nobody."""
    instants = pa.array([TWICE, TWICE + 3600], pa.timestamp("s", "Europe/Berlin"))
    clock = [datetime.fromtimestamp(each, ZoneInfo("Europe/Berlin")) for each in (TWICE, TWICE + 3600)]
    assert clock[0] == clock[1]  # the trap; Arrow's own times fall into it only where pytz isn't installed
    assert places_of(column(instants), column(instants.cast(pa.timestamp(unit, zone)))).tolist() == [0, 1]
    table = read(pa.table({"x": instants}))
    assert frequencies_of(table, ["x"], population=table).population.tolist() == [1, 1]  # type: ignore[union-attr] — given


def test_nanoseconds_match() -> None:
    """Python's times would cut them off."""
    times = pa.array([1, 2], pa.timestamp("ns"))
    assert places_of(column(times), column(times)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ([2139], ["02139"]),
        ([0, 1], [True, False]),
        ([date(2020, 1, 1)], [datetime(2020, 1, 1)]),
        (pa.array([0], pa.timestamp("s")), pa.array([0], pa.timestamp("s", "UTC"))),
        ([date(2020, 1, 1)], ["2020-01-01"]),
    ],
)
def test_kinds_that_never_match_are_refused(here: Any, there: Any) -> None:
    """A population in which nobody is found would seem to be without people."""
    table, crowd = read(pa.table({"x": here})), read(pa.table({"x": there}))
    for one, other in ((table, crowd), (crowd, table)):
        with pytest.raises(SchemaMismatch, match="'x' holds"):
            frequencies_of(one, ["x"], population=other)
        with pytest.raises(SchemaMismatch, match="'x' holds"):
            mondrian(one, ["x"], [KMap(1)], population=other)


def test_columns_without_values_match_anything() -> None:
    """They hold no kind; a missing value matches a missing one."""
    assert places_of(column([None, 5]), column(pa.nulls(2))).tolist() == [1]
    assert places_of(column(pa.nulls(2)), column(["a", None])).tolist() == [-1, 0]
    assert places_of(column(pa.array([], pa.int64())), column(["a"])).tolist() == [-1]
