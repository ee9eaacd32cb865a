"""Dates go by the calendar, and weeks aren't mixed with months."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Calendar, Ladder
from discreet.anonymity.hierarchies.propose import propose_hierarchy
from discreet.anonymity.records import read
from discreet.errors import InvalidArgument, SchemaMismatch
from support.ladders import check, column

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat()[:10],
    "week": lambda day: f"{day.isocalendar().year:04d}-W{day.isocalendar().week:02d}",
    "month": lambda day: day.isoformat()[:7],
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}
DATES = st.dates(date(1600, 1, 1), date(2400, 12, 31))
TIMES = st.datetimes(datetime(1700, 1, 1), datetime(2200, 12, 31))
CHAINS = st.one_of(
    st.just(["week"]),
    st.just(["day", "week"]),
    st.lists(st.sampled_from(["day", "month", "quarter", "year", "decade"]), min_size=1, unique=True).map(
        lambda units: [unit for unit in UNITS if unit in units]
    ),
)


@given(st.one_of(st.lists(st.one_of(DATES, st.none()), min_size=1), st.lists(TIMES, min_size=1)), CHAINS)
def test_units_are_those_of_the_calendar(values: list[Any], units: list[str]) -> None:
    """Against Python's, for dates and timestamps, in any chain that is allowed."""
    dates = column(values)
    timed = any(isinstance(value, datetime) for value in values)
    levels = [
        lambda day, at=UNITS[unit]: "(missing)" if day is None else at(day)
        for unit in units
        if timed or unit != "day" or dates.size == 0
    ]
    if all(value is None for value in values):
        levels = [lambda _: "(missing)" for unit in units if unit != "day"]
    check(Calendar(units=units), dates, [*levels, lambda _: "*"])


@st.composite
def dotted(draw: st.DrawFn) -> dict[str, date]:
    """Texts with dots, with zeros before a digit or without, by what day they are."""
    found = {}
    for day in draw(st.lists(DATES, min_size=1, max_size=8)):
        for zeros in draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=2)):
            parts = [f"{part:0{1 + zero}d}" for part, zero in zip((day.day, day.month), zeros, strict=True)]
            found[".".join([*parts, str(day.year)])] = day
    return found


@given(dotted(), st.booleans(), CHAINS)
def test_texts_with_dots_are_read_with_the_day_first(texts: dict[str, date], missing: bool, units: list[str]) -> None:
    """Against Python's dates; a level of days is there only where two texts mean one."""
    cells = column([*texts, *([None] if missing else [])])
    twice = len(set(texts.values())) < len(texts)
    levels = [
        lambda text, at=UNITS[unit]: "(missing)" if text is None else at(texts[text])
        for unit in units
        if unit != "day" or twice
    ]
    check(Calendar(units=units), cells, [*levels, lambda _: "*"])


@pytest.mark.parametrize(
    "values",
    [["30.02.1984"], ["29.02.1983"], ["12.31.1984"], ["00.01.1984"], ["1.1.84"], ["01.01.1984", "unknown"], [1.11984]],
)
def test_what_is_no_date_is_refused(values: list[Any]) -> None:
    """One such text is enough, and none is quoted."""
    with pytest.raises(SchemaMismatch, match="'x' holds no dates") as error:
        Calendar().ladder(column(values))
    assert not any(str(value) in str(error.value) for value in values)


def test_dates_in_two_orders_go_by_years_until_the_order_is_said() -> None:
    """Nothing in 1/2/1984 says what is the month; 9/17/1984 does, for all of the column."""
    both = column(["1/2/1984", "2/1/1984", "3/3/1991"])
    with pytest.raises(SchemaMismatch, match="whether the day or the month stands first"):
        Calendar().ladder(both)
    assert Calendar(units=("year",)).ladder(both).labels[1:] == (("1984", "1991"), ("*",))
    for calendar, months in (
        (Calendar(units=("month",), order="dmy"), ("1984-02", "1984-01", "1991-03")),
        (Calendar(units=("month",), order="mdy"), ("1984-01", "1984-02", "1991-03")),
    ):
        assert calendar.ladder(both).labels[1] == months
    proposed = propose_hierarchy(both)
    assert proposed.hierarchy == Calendar(units=("year", "decade"))
    assert "--dates" in proposed.reason
    settled = column(["1/2/1984", "9/17/1984"])
    assert Calendar(units=("month",)).ladder(settled).labels[1] == ("1984-01", "1984-09")
    assert propose_hierarchy(settled).hierarchy == Calendar()
    with pytest.raises(InvalidArgument, match="no order of dates"):
        Calendar(order="ydm")  # type: ignore[arg-type]  # that is the test


def test_a_column_without_values_has_a_calendar_of_any_kind() -> None:
    """There is nothing in it to read."""
    for values in ([], [None]):
        assert Calendar().ladder(column(values)).height == Calendar().ladder(column(values)).height


@pytest.mark.parametrize("unit", ["month", "quarter", "year", "decade"])
def test_a_week_is_below_nothing(unit: str) -> None:
    """It is refused, and rightly: one week lies in two of each longer unit, which no ladder would take."""
    with pytest.raises(InvalidArgument, match=f"two {unit}s"):
        Calendar(units=["week", unit])
    days = column([date(2019, 12, 31), date(2020, 1, 1)])
    weeks = Calendar(units=["week"]).ladder(days)
    longer = Calendar(units=[unit]).ladder(days)
    assert (weeks.groups(1), longer.groups(1)) == (1, 2)
    with pytest.raises(InvalidArgument, match="coarsening"):
        Ladder(
            name="x",
            maps=(weeks.maps[0], weeks.maps[1], longer.maps[1]),
            labels=(weeks.labels[0], weeks.labels[1], longer.labels[1]),
        )


def test_time_zones_are_read_in_their_zone() -> None:
    """Noon in one place is another day elsewhere; what counts is the day the table shows."""
    times = pa.array([datetime(2020, 1, 1, 2)], pa.timestamp("us", "America/New_York"))
    assert Calendar(units=["day", "year"]).ladder(read({"x": times}).column("x")).labels[1:3] == (
        ("2019-12-31",),
        ("2019",),
    )


@pytest.mark.parametrize("units", [[], ["month", "day"], ["month", "month"], ["fortnight"]])
def test_wrong_units_are_refused(units: list[str]) -> None:
    """None, backwards, twice, unknown."""
    with pytest.raises(InvalidArgument):
        Calendar(units=units)


def test_only_dates_have_a_calendar() -> None:
    """A number of days isn't one, nor are few digits that may be a day by chance, and a version."""
    for values in ([18_262], [20_200_101], ["20200101"], ["1.2.3"]):
        with pytest.raises(SchemaMismatch, match="'x' holds no dates"):
            Calendar().ladder(column(values))
