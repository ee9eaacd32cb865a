"""Numbers and texts in TOML: written as people write them, and read back as exactly what they were."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ConfigError
from discreet.privacy import Bounds, Budget, Keys, Unit
from discreet.tables import Column, Dataset, Kind, Source, Table, dumps
from discreet.tables.schema.toml import MOST_DIGITS, comment, key, parse, quoted
from discreet.tables.schema.toml_values import number

numbers: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(2**70), 2**70),
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=6),
)


@given(numbers)
def test_numbers_are_written_exactly(value: Any) -> None:
    """A number is written as what TOML reads back as the same rational."""
    exact = Bounds(value, value).lo
    assert isinstance(exact, Fraction)
    read: Any = parse(f"x = {number(exact)}".encode())["x"]
    assert Fraction(read) == exact


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("0", "0"),
        ("110", "110"),
        ("1900", "1900"),
        ("99999", "99_999"),
        ("-1000000", "-1_000_000"),
        ("0.1", "0.1"),
        ("-0.5", "-0.5"),
        ("123.456", "123.456"),
        ("0.00012", "0.00012"),
        ("1e-6", "1e-6"),
        ("-2.5e-7", "-2.5e-7"),
        ("1e308", "1e308"),
        ("9223372036854775808", "9.223372036854775808e18"),
        ("1/3", '"1/3"'),
        ("-22/7", '"-22/7"'),
    ],
)
def test_numbers_are_written_as_people_write_them(value: str, written: str) -> None:
    """Whole numbers whole, decimals short, very small and large ones with an exponent, the rest as a ratio."""
    assert number(Fraction(value)) == written


def test_a_number_too_long_to_read_back_is_not_written() -> None:
    """What the reader refuses, the writer refuses too."""
    assert number(Fraction(10**MOST_DIGITS - 1))
    for value in (Fraction(10**MOST_DIGITS), Fraction(1, 10**MOST_DIGITS), Fraction(-(10**MOST_DIGITS))):
        with pytest.raises(ConfigError, match="400 digits"):
            number(value)
    table = Table(
        name="t",
        source=Source.of("t.parquet"),
        columns=(Column(name="x", kind=Kind.INTEGER, keys=Keys([10**MOST_DIGITS])),),
        unit=Unit.row(),
    )
    with pytest.raises(ConfigError, match="400 digits"):
        dumps(Dataset(name="t", tables=(table,), budget=Budget(1), ledger="l"))


@given(st.text())
def test_texts_and_keys_are_read_back(text: str) -> None:
    """Any text is one line of what prints, and reads back as itself, as a value and as a key."""
    line = f"{key(text)} = {quoted(text)}"
    assert line.isprintable()
    assert parse(line.encode()) == {text: text}


@given(st.text(st.characters()))
def test_a_comment_is_one_line_whatever_it_says(words: str) -> None:
    """Nothing in a comment is read; half of a surrogate pair is shown as such."""
    assert comment(words).isprintable()
    assert parse(f"{comment(words)}\nx = 1".encode()) == {"x": 1}
