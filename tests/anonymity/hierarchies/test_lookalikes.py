"""What looks like a number with a decimal comma, and what doesn't."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies.texts import has_decimal_commas, spelled_dates

NUMBERS = st.decimals(-(10**9), 10**9, places=2)


def german(number: Decimal, *, grouped: bool) -> str:
    """A number as it is written in Germany, with dots between thousands or without."""
    return (f"{number:,}" if grouped else f"{number}").translate(str.maketrans(",.", ".,"))


@given(st.lists(NUMBERS, min_size=1), st.booleans())
def test_numbers_with_commas_are_seen(numbers: list[Decimal], grouped: bool) -> None:
    """With thousands or without; those with a point aren't, nor are they once one is no number."""
    texts = [german(number, grouped=grouped) for number in numbers]
    assert has_decimal_commas(pa.array(texts))
    assert has_decimal_commas(pa.array([*texts, "7"], pa.large_string()))
    assert not has_decimal_commas(pa.array([*texts, "seven"]))
    assert not has_decimal_commas(pa.array([str(number) for number in numbers]))


@pytest.mark.parametrize(
    "values", [[], ["1", "2"], ["1,2,3"], ["1,"], [",5"], ["a,b"], ["1,5 €"], ["1.00,5"], [1.5], [True], [""]]
)
def test_other_values_are_not(values: list[object]) -> None:
    """Lists, amounts with a unit, whole numbers and what is no text."""
    assert not has_decimal_commas(pa.array(values))


def test_one_text_among_many_decides() -> None:
    """Also where it stands behind those that are looked at first."""
    assert not has_decimal_commas(pa.array(["1,5"] * 5_000 + ["x"]))
    assert spelled_dates(pa.array(["1.1.2020"] * 5_000 + ["x"])) is None
    assert spelled_dates(pa.array(["1.1.2020"] * 5_000)) is not None
