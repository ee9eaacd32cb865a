"""Literals: read exactly, refused when they can't be computed with, never slow."""

from __future__ import annotations

import time
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import QueryError, TypeMismatch, Unsupported
from discreet.query.ir import day_of, literal, moment, null, numeral, ordinal, python_value
from discreet.query.ir.functions.application import from_python
from discreet.tables import Kind


@given(st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_of_64_bits_are_integers(value: int) -> None:
    """Each is its own range."""
    found = literal(value)
    assert found.type.kind is Kind.INTEGER
    assert found.type.lo == found.type.hi == value
    assert python_value(found) == value


@given(st.floats(-1e100, 1e100))
def test_reals_have_the_float_they_are_computed_with_as_range(value: float) -> None:
    """A real constant's range is the float64 number nearest to it."""
    found = numeral(f"{abs(value)!r}")
    if found.type.kind is Kind.REAL:
        assert found.type.lo == found.type.hi == Fraction(abs(value))
        assert python_value(found) == abs(value)


def test_larger_whole_numbers_are_real() -> None:
    """What 64 bits don't hold is computed in float64."""
    assert literal(2**63).type.kind is Kind.REAL
    assert literal(-(2**63)).type.kind is Kind.INTEGER
    assert numeral("9223372036854775808").type.kind is Kind.REAL


@pytest.mark.parametrize(
    "text", ["1e400", "1e99999", "9" * 400, "1" * 401, "0." + "0" * 500, "1e", "x", "1__0", "1e999999999", "٣"]
)
def test_numbers_that_cannot_be_computed_with_are_refused_at_once(text: str) -> None:
    """Huge exponents and long digits are a typed refusal, not hours of arithmetic; waiting isn't counted."""
    start = time.process_time()
    with pytest.raises(QueryError):
        numeral(text)
    assert time.process_time() - start < 1


def test_numbers_below_the_least_float_are_zero() -> None:
    """As they are to every engine."""
    start = time.process_time()
    assert numeral("1e-99999").value == 0
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("0001-01-01", date(1, 1, 1)),
        ("2024-02-29 10:30", datetime(2024, 2, 29, 10, 30)),
        ("2024-02-29T10:30:59.123456", datetime(2024, 2, 29, 10, 30, 59, 123456)),
        ("2024-02-29 10:30:59.5", datetime(2024, 2, 29, 10, 30, 59, 500000)),
        (" 2024-02-29 ", date(2024, 2, 29)),
        ("2023-02-29", None),
        ("20240229", None),
        ("2024-W01-1", None),
        ("2024-02-29 25:00", None),
        ("2024-02-29 10:30+02:00", None),
        ("0000-01-01", None),
        ("٢٠٢٤-01-01", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_are_read_in_one_form_only(text: str, expected: date | None) -> None:
    """ISO 8601 with dashes and colons, without a zone."""
    found = moment(text, Kind.DATE)
    assert (None if found is None else found.value) == expected


def test_a_date_is_a_midnight_where_a_timestamp_is_wanted() -> None:
    """And nothing else changes."""
    found = moment("2024-02-29", Kind.TIMESTAMP)
    assert found is not None
    assert found.value == datetime(2024, 2, 29)
    assert found.type.kind is Kind.TIMESTAMP


@given(st.dates())
def test_days_count_from_1970(day: date) -> None:
    """`day_of` undoes `ordinal`."""
    assert day_of(int(ordinal(day))) == day
    assert ordinal(datetime(day.year, day.month, day.day)) == ordinal(day) * 86_400_000_000


def test_what_is_no_literal() -> None:
    """Other Python values are refused; results that literals don't hold are None."""
    with pytest.raises(TypeMismatch):
        literal(b"bytes")
    with pytest.raises(Unsupported):
        literal(Fraction(2) ** 501)
    assert from_python(float("inf"), Kind.REAL) is None
    assert from_python(2**63, Kind.INTEGER) is None
    assert from_python(None, Kind.TEXT) == null(Kind.TEXT)
    assert null(Kind.DATE).type.values == ()
