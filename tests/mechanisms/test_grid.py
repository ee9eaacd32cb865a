"""Grids: rounding moves neighbours no farther apart than is paid for."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.functions import Grid, whole_l1, whole_l2
from discreet.privacy import Sensitivity

steps = st.integers(-12, 6).map(lambda exponent: Fraction(2) ** exponent)
reals = st.fractions(-100, 100, max_denominator=4096)


def consistent(move: list[int], sensitivity: Sensitivity) -> bool:
    """Whether a vector is within a sensitivity in all norms."""
    return (
        sum(v != 0 for v in move) <= sensitivity.l0
        and max(map(abs, move)) <= sensitivity.linf
        and sum(map(abs, move)) <= sensitivity.l1
        and sum(v * v for v in move) <= sensitivity.l2_squared
    )


@given(steps, st.lists(st.tuples(reals, reals), min_size=1, max_size=6))
def test_rounded_neighbours_stay_within_the_sensitivity(step: Fraction, pairs: list[tuple[Fraction, Fraction]]) -> None:
    """Any two vectors, on any grid: their steps differ by no more than claimed, in every norm, for ℓ1 and for ℓ2."""
    grid = Grid(step)
    l1 = sum(abs(a - b) for a, b in pairs)
    if l1 == 0:
        return
    l2 = Fraction(sqrt(sum(float(a - b) ** 2 for a, b in pairs))) * (1 + Fraction(1, 2**40))
    move = [grid.steps_of(a) - grid.steps_of(b) for a, b in pairs]
    assert consistent(move, grid.l1(Fraction(l1), len(pairs)))
    assert consistent(move, grid.l2(l2, len(pairs)))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6).filter(any))
def test_whole_neighbours_stay_within_the_sensitivity(move: list[int]) -> None:
    """Integers aren't rounded, so a move is its own; the norms are derived from ℓ1 or ℓ2 alone."""
    l1, l2_squared = sum(map(abs, move)), sum(v * v for v in move)
    assert consistent(move, whole_l1(Fraction(l1) + Fraction(1, 3), len(move)))
    root = Fraction(sqrt(l2_squared)) * (1 + Fraction(1, 2**40))
    assert consistent(move, whole_l2(root, len(move)))


@pytest.mark.parametrize(("sensitivity", "expected"), [("1", 4), ("0.9", 4), ("0.25", 1), ("0.01", 1), ("1.01", 5)])
def test_one_value_moves_by_the_ceiling_and_does(sensitivity: str, expected: int) -> None:
    """⌈Δ/g⌉ is enough for one value, and some pair of values needs it: no step is paid for in vain."""
    grid, size = Grid(Fraction(1, 4)), Fraction(sensitivity)
    assert grid.l1(size, 1).l1 == grid.l2(size, 1).l1 == expected
    starts = [Fraction(n, 1000) for n in range(-300, 300)]
    assert max(grid.steps_of(start + size) - grid.steps_of(start) for start in starts) == expected


def test_rounding_halves_to_even_would_not_do() -> None:
    """Half up keeps neighbours one apart where Python's own rounding puts two steps between them."""
    grid = Grid(Fraction(1))
    low, high = Fraction(1, 2), Fraction(3, 2)
    assert grid.steps_of(high) - grid.steps_of(low) == 1 == grid.l1(high - low, 1).l1
    assert round(high) - round(low) == 2


@given(st.fractions(Fraction(1, 10**6), 10**6), st.fractions(Fraction(1, 10**12), 10**12), st.integers(1, 10**6))
def test_a_fitting_grid_costs_next_to_nothing(sensitivity: Fraction, scale: Fraction, coordinates: int) -> None:
    """Rounding adds under 2⁻¹⁹ to the ℓ1 sensitivity, and noise stays below 2⁵² steps, unless these contradict."""
    grid = Grid.fitting(sensitivity, scale, coordinates)
    assert scale / grid.step < 2**52
    if min(sensitivity, scale) / coordinates > scale / 2**28:
        assert grid.l1(sensitivity, coordinates).l1 * grid.step <= sensitivity * (1 + Fraction(1, 2**19))


@pytest.mark.parametrize("step", [0, -1, 3, "0.1", "1/3", 6, "3/4", float("nan"), None])
def test_only_powers_of_two_make_grids(step: Any) -> None:
    """Floats hold the points of no other grid."""
    with pytest.raises(InvalidArgument):
        Grid(step)
