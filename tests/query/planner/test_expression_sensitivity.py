"""Sensitivity of an expression: the textbook's values; never less than what brute force finds; and what has none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, QueryError, UnboundedColumn, Unsupported
from discreet.privacy import Bounds
from discreet.query.planner import sensitivity

TEN = Bounds(0, 10)


@pytest.mark.parametrize(
    ("expression", "bounds", "wanted"),
    [
        ("x", {}, 1),
        ("x + x", {}, 2),
        ("10 * x", {}, 10),
        ("-x / 4", {}, Fraction(1, 4)),
        ("ABS(x - 3)", {}, 1),
        ("x - y", {}, 2),
        ("7", {}, 0),
        ("x * x", {"x": TEN}, 20),
        ("LEAST(GREATEST(x, 0), 10)", {}, 1),
        ("CASE WHEN x > 3 THEN 5 ELSE 0 END", {}, 5),
        ("x * y", {"x": Bounds(0, 1), "y": Bounds(-2, 3)}, 4),
        ("x", {"x": Bounds(0, "1/2")}, Fraction(1, 2)),
    ],
)
def test_what_textbooks_compute_by_hand(expression: str, bounds: dict[str, Bounds], wanted: Fraction) -> None:
    """By slope where that is less, and by range where the range is."""
    assert sensitivity(expression, **bounds) == wanted


def test_larger_moves_move_further_up_to_the_range() -> None:
    """A bounded expression never moves by more than it is long."""
    clipped = "LEAST(GREATEST(x, 0), 100)"
    assert [int(sensitivity(clipped, moves=moves)) for moves in (1, 30, 1000)] == [1, 30, 100]


@pytest.mark.parametrize("expression", ["x * x", "x * y", "1 / x", "FLOOR(x)", "SQRT(x)", "x * LEAST(x, 1)"])
def test_what_nothing_bounds_is_refused(expression: str) -> None:
    """However large the numbers are, it could move further."""
    with pytest.raises(QueryError):
        sensitivity(expression)


def test_bounds_make_it_finite() -> None:
    """The same with bounds."""
    with pytest.raises(UnboundedColumn, match="clip it"):
        sensitivity("x * y", x=TEN)
    assert sensitivity("x * y", x=TEN, y=TEN) == 20


@pytest.mark.parametrize(
    ("expression", "there", "wanted"),
    [
        ("LEAST(GREATEST(x - 1e15, 0), 5)", 10**15, 1),
        ("LEAST(GREATEST(x, 1e20), 2e20)", 10**20, 1),
        ("LEAST(GREATEST(x / 1e-6, 1e60), 1e70)", 10**54, 10**6),
        ("LEAST(GREATEST(x * x, 0), 100)", 0, 100),
        ("COALESCE(CASE WHEN x > 0 THEN 5 END, 3)", 0, 2),
        ("GREATEST(CASE WHEN x > 0 THEN 5 END, 3)", 0, 2),
    ],
)
def test_nothing_moves_further_however_far_out(expression: str, there: int, wanted: int) -> None:
    """Numbers of which nothing is said may lie anywhere, also where no range that was tried would reach."""
    assert sensitivity(expression) == wanted
    assert sensitivity(expression, x=Bounds(there - 10**6, there + 10**6)) == wanted


@pytest.mark.parametrize("expression", ["CASE WHEN x > 0 THEN 5 END", "NULLIF(x, 0)", "x + CASE WHEN x > 0 THEN 5 END"])
def test_what_may_be_null_is_refused(expression: str) -> None:
    """How far 5 is from NULL, nothing says."""
    with pytest.raises(Unsupported, match="COALESCE"):
        sensitivity(expression, x=TEN)


@pytest.mark.parametrize("expression", ["", "x,", "COUNT(*)", "'a'", "x) FROM numbers; SELECT (x", "x FROM"])
def test_what_is_no_expression_is_refused(expression: str) -> None:
    """With a typed error, which names no place in a text that nobody wrote."""
    with pytest.raises(QueryError) as caught:
        sensitivity(expression)
    assert caught.value.place is None


def test_numbers_out_of_range_are_refused() -> None:
    """No moves, and bounds of nobody."""
    with pytest.raises(InvalidArgument):
        sensitivity("x", moves=0)
    with pytest.raises(InvalidArgument, match="no column 'y'"):
        sensitivity("x", y=TEN)


LEAVES = st.sampled_from(["x", "y", "2", "0.5", "-3"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda one: f"ABS({one})"),
        inner.map(lambda one: f"(- {one})"),  # "--" begins a comment
        st.tuples(inner, inner).map(lambda pair: f"LEAST({pair[0]}, {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"GREATEST({pair[0]}, {pair[1]})"),
        inner.map(lambda one: f"({one} / 4)"),
    ),
    max_leaves=6,
)
WORDS: dict[str, Any] = {"ABS": abs, "LEAST": min, "GREATEST": max, "__builtins__": {}}
POINTS = st.fractions(-4, 4, max_denominator=8)


def value(expression: str, **numbers: Fraction) -> Fraction:
    """What Python makes of it, in floats that are exact here."""
    return Fraction(eval(expression, WORDS, {name: float(each) for name, each in numbers.items()}))  # noqa: S307 — a test's own text


@given(EXPRESSIONS, POINTS, POINTS, st.fractions(-1, 1, max_denominator=8), st.fractions(-1, 1, max_denominator=8))
def test_nothing_moves_further(expression: str, x: Fraction, y: Fraction, by: Fraction, beside: Fraction) -> None:
    """Whatever the expression, and from wherever to wherever within the bounds."""
    assume(abs(x + by) <= 4)
    assume(abs(y + beside) <= 4)
    bounds = {name: Bounds(-4, 4) for name in "xy" if name in expression}
    moved = abs(value(expression, x=x + by, y=y + beside) - value(expression, x=x, y=y))
    assert moved <= sensitivity(expression, **bounds) + Fraction(
        1, 2**30
    )  # eighths, multiplied, are rounded now and then


def test_a_slope_that_is_too_small_would_be_seen() -> None:
    """The wrong twin: a product that moves as far as one factor would break the bound above."""
    assert abs(value("x * y", x=Fraction(4), y=Fraction(4)) - value("x * y", x=Fraction(3), y=Fraction(3))) > 4
    assert sensitivity("x * y", x=Bounds(-4, 4), y=Bounds(-4, 4)) == 8
