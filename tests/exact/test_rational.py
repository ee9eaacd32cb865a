"""Reading numbers: exactly what was meant, or a typed refusal, and never for long."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable, positive, probability, rational


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.5"), Fraction(1, 2)),
        (10**50, Fraction(10**50)),
        (1e-300, Fraction(1, 10**300)),
        ("1e-5", Fraction(1, 100_000)),
        (-0.0, Fraction(0)),
    ],
)
def test_numbers_are_read_as_they_are_written(value: Rationalizable, meant: Fraction) -> None:
    """A float stands for its shortest decimal."""
    assert rational(value, "epsilon") == meant


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        Decimal("1e99999999"),
        "1e99999999",
        "1e-0099999999",
        "9" * 2_000,
        pytest.param(10**5_000, id="a long integer"),
        "1/0",
        "one",
        "١",
        "１",
        "",
        True,
        None,
        1 + 2j,
        [1],
    ],
)
def test_what_is_no_number_is_refused_at_once(value: object) -> None:
    """Neither a hundred million digits nor a signalling NaN gets further than a typed error."""
    with pytest.raises(InvalidArgument, match="epsilon"):
        rational(value, "epsilon")  # type: ignore[arg-type]  # the point


def test_a_long_fraction_is_refused_in_few_words() -> None:
    """A fraction too long to be written out is out of range by a typed error all the same."""
    with pytest.raises(InvalidArgument, match="many digits"):
        positive(Fraction(-1, 10**5_000), "epsilon")
    with pytest.raises(InvalidArgument, match="many digits"):
        probability(1 + Fraction(1, 10**5_000), "confidence")


def test_a_decimal_comma_is_told() -> None:
    """What is written with one elsewhere has a point here."""
    with pytest.raises(InvalidArgument) as caught:
        rational("0,5", "epsilon")
    assert caught.value.hint == "a point stands before the fraction, as in 0.5"
