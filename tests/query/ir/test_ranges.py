"""Ranges: every interval rule holds each result, exact or rounded to float64."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.query.ir import ranges
from discreet.query.ir.ranges import Interval

fractions = st.fractions(-50, 50, max_denominator=12)
floats = st.floats(-1e100, 1e100)


@st.composite
def held(draw: st.DrawFn) -> tuple[Interval, Fraction]:
    """An interval, and a number in it."""
    lo, value, hi = sorted(draw(st.tuples(fractions, fractions, fractions)))
    return (lo, hi), value


def span(lo: int | None, hi: int | None) -> Interval:
    """An interval with whole ends."""
    return None if lo is None else Fraction(lo), None if hi is None else Fraction(hi)


def holds(interval: Interval, value: Fraction) -> bool:
    """Whether the value lies in the interval."""
    lo, hi = interval
    return (lo is None or lo <= value) and (hi is None or value <= hi)


RULES: tuple[tuple[Callable[..., Interval], Callable[..., Fraction]], ...] = (
    (ranges.add, operator.add),
    (ranges.subtract, operator.sub),
    (ranges.multiply, operator.mul),
)


@pytest.mark.parametrize(("rule", "compute"), RULES)
@given(left=held(), right=held())
def test_a_rule_of_two_holds_every_result(
    rule: Callable[..., Interval],
    compute: Callable[..., Fraction],
    left: tuple[Interval, Fraction],
    right: tuple[Interval, Fraction],
) -> None:
    """The result of values from two intervals lies in the rule's interval."""
    assert holds(rule(left[0], right[0]), compute(left[1], right[1]))


@given(held())
def test_a_rule_of_one_holds_every_result(argument: tuple[Interval, Fraction]) -> None:
    """So does the result of one value."""
    interval, value = argument
    assert holds(ranges.negate(interval), -value)
    assert holds(ranges.square(interval), value * value)
    assert holds(ranges.absolute(interval), abs(value))


@given(held(), held(), st.booleans())
def test_a_quotient_lies_in_its_interval(
    left: tuple[Interval, Fraction], right: tuple[Interval, Fraction], whole: bool
) -> None:
    """The quotient does, whatever the divisor, and for whole divisors too."""
    interval, divisor = right
    if whole:
        lo, hi = (Fraction(round(end)) for end in interval if end is not None)
        interval, divisor = (min(lo, hi), max(lo, hi)), Fraction(round(divisor))
        divisor = min(max(divisor, min(lo, hi)), max(lo, hi))
    if divisor:
        assert holds(ranges.divide(left[0], interval, whole=whole), left[1] / divisor)


def test_a_real_divisor_near_zero_bounds_nothing() -> None:
    """1 / y is unbounded for y in [0, 1], and for y in [−1, 1]."""
    one = span(1, 1)
    assert ranges.divide(one, span(0, 1), whole=False) == ranges.UNKNOWN
    assert ranges.divide(one, span(-1, 1), whole=False) == ranges.UNKNOWN
    assert ranges.divide(one, span(0, 0), whole=True) == span(0, 0)


@given(floats, floats, st.sampled_from([operator.add, operator.sub, operator.mul]))
def test_outward_rounding_holds_what_float64_computes(
    left: float, right: float, compute: Callable[[float, float], float]
) -> None:
    """The float64 result of an operation lies in the exact result's interval, rounded outward."""
    exact = compute(Fraction(left), Fraction(right))  # type: ignore[arg-type]  # exact arithmetic
    interval = ranges.outward((Fraction(exact), Fraction(exact)))
    assert holds(interval, Fraction(compute(left, right)))


@given(st.fractions(-(10**6), 10**6))
def test_outward_rounding_is_tight(value: Fraction) -> None:
    """The ends are float64 numbers, and no others lie between them and the value."""
    lo, hi = ranges.outward((value, value))
    assert lo is not None
    assert hi is not None
    assert lo <= value <= hi
    assert Fraction(float(lo)) == lo
    assert hi in (lo, Fraction(nextafter(float(lo), float("inf"))))


def test_ends_beyond_the_limit_are_unknown() -> None:
    """What a product of two could overflow from is not a known end."""
    assert ranges.outward(span(0, 2**500)) == span(0, 2**500)
    assert ranges.outward(span(0, 2**500 + 1)) == span(0, None)


def test_unknown_ends_stay_unknown() -> None:
    """An unknown end of an argument is an unknown end of what depends on it."""
    half = span(0, None)
    assert ranges.add(half, half) == half
    assert ranges.negate(half) == span(None, 0)
    assert ranges.multiply(half, half) == ranges.UNKNOWN
    assert ranges.square(span(None, -2)) == span(4, None)
    assert ranges.absolute(span(None, 3)) == half
    assert ranges.hull(half, span(-1, 1)) == span(-1, None)
    assert not ranges.within(half, ranges.INT64)
