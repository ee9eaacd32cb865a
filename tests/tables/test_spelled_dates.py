"""Dates are read however they are spelled, and the order of day and month by what a column shows."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest

from discreet.tables.spelled_dates import days_of

DAYS = [date(1899, 12, 31) + timedelta(days=37 * step) for step in range(1_200)]
GERMAN = ("Jan", "Feb", "März", "April", "Mai", "Juni", "Juli", "Aug", "Sept", "Okt", "Nov", "Dezember")
SPELLED = {
    "m/d/yyyy": lambda day: f"{day.month}/{day.day}/{day.year}",
    "d/m/yyyy": lambda day: f"{day.day}/{day.month}/{day.year}",
    "dd-mm-yyyy": lambda day: f"{day:%d-%m-%Y}",
    "d.m.yyyy": lambda day: f"{day.day}.{day.month}.{day.year}",
    "d. m. yyyy": lambda day: f"{day.day}. {day.month}. {day.year}",
    "yyyy/m/d": lambda day: f"{day.year}/{day.month}/{day.day}",
    "yyyymmdd": lambda day: f"{day:%Y%m%d}",
    "iso": lambda day: f"{day:%Y-%m-%d}",
    "with a time": lambda day: f"{day:%m/%d/%Y} 11:59 PM",
    "day month": lambda day: f"{day.day} {day:%B} {day.year}",
    "d-Mon-yyyy": lambda day: f"{day:%d-%b-%Y}",
    "month day": lambda day: f"{day:%b} {day.day}, {day.year}",
    "weekday": lambda day: f"{day:%A, %B} {day.day}, {day.year}",
    "ordinal": lambda day: f"{day:%B} {day.day}th {day.year}",
    "Chinese and Japanese": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "Korean": lambda day: f"{day.year}년 {day.month}월 {day.day}일",
    "German": lambda day: f"{day.day}. {GERMAN[day.month - 1]} {day.year}",
}  # fmt: skip


@pytest.mark.parametrize("form", SPELLED)
def test_every_spelling_gives_the_day(form: str) -> None:
    """The days come back, and it is settled in which order they stand."""
    found = days_of(pa.array([SPELLED[form](day) for day in DAYS]))
    assert found is not None
    assert found.days.to_pylist() == DAYS
    assert found.settled


def test_what_can_be_read_in_two_ways_is_not_settled() -> None:
    """No day after the 12th: either order fits, and only the year is sure. Dots always have the day first."""
    both = [f"{first}/{second}/1967" for first in range(1, 13) for second in range(1, 13)]
    found = days_of(pa.array(both))
    assert found is not None
    assert not found.settled
    dotted = days_of(pa.array([text.replace("/", ".") for text in both]))
    assert dotted is not None
    assert dotted.settled
    settled = days_of(pa.array([*both, "7/13/1967"]))
    assert settled is not None
    assert (settled.order, settled.settled) == ("mdy", True)


@pytest.mark.parametrize(
    "texts",
    [
        ["30.02.1984"],
        ["31/12/1999", "12/31/1999"],
        ["9/7/1967", "unknown"],
        ["1/2/3"],
        ["12345678"],
        ["13 Brumaire 1799"],
        ["€€ 1 March 1799"],
        ["1.2.2020", None],
        [],
    ],
)  # fmt: skip
def test_other_texts_are_no_dates(texts: list[str]) -> None:
    """No day of the calendar, two orders at once, or something else among them."""
    found = days_of(pa.array(texts, pa.string()))
    assert found is None


def test_few_digits_are_no_dates() -> None:
    """Three numbers of eight digits may be dates by chance; four that all are, hardly."""
    texts = ["19670907", "20010131", "19990228", "18991231"]
    assert days_of(pa.array(texts[:3])) is None
    assert days_of(pa.array(texts)) is not None


def test_a_share_may_be_something_else() -> None:
    """Then years of two digits are dates, too: that they are dates is all that is said of them."""
    texts = [*(f"{day}/7/67" for day in range(1, 10)), "unknown"]
    assert days_of(pa.array(texts)) is None
    found = days_of(pa.array(texts), most=0.2)
    assert found is not None
    assert found.days.null_count == 1
    oracle = [f"{day:02d}-SEP-67" for day in range(1, 30)]
    assert days_of(pa.array(oracle)) is None
    found = days_of(pa.array(oracle), most=0.2)
    assert found is not None
    assert found.days.null_count == 0
