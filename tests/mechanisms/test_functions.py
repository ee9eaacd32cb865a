"""`laplace` and `gaussian` on numbers and vectors: types, grids, intervals, and how releases read.

Grids: rounding moves neighbours no farther apart than is paid for.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import isfinite, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian, Laplace, Release, gaussian, laplace
from discreet.mechanisms.functions import Grid, whole_l1, whole_l2
from discreet.privacy import ZCDP, ApproxDP, PureDP, Sensitivity

RELEASE: list[Callable[[Any], Release]] = [
    lambda value: laplace(value, sensitivity=1, epsilon=1),
    lambda value: gaussian(value, sensitivity=1, epsilon=1, delta=1e-6),
    lambda value: gaussian(value, sensitivity=1, rho="0.1"),
]


def made(*steps: int, scale: Fraction = Fraction(10), grid: Fraction = Fraction(1), whole: bool = True) -> Release:
    """A release with known noisy values."""
    return Release(
        steps=steps,
        grid=grid,
        whole=whole,
        rounded=not whole,
        is_vector=len(steps) > 1,
        mechanism=Laplace(scale, Sensitivity.scalar(1)),
        loss=PureDP("0.1"),
    )


@pytest.mark.parametrize("release", RELEASE)
@pytest.mark.parametrize("value", [17, -3, 10**40, np.int64(5), np.uint8(200)])
def test_an_integer_stays_an_integer(release: Callable[[Any], Release], value: Any) -> None:
    """With a whole sensitivity there is no grid but the integers."""
    released = release(value)
    assert type(released.value) is int
    assert released.grid == 1
    low, high = released.interval()
    assert type(low) is type(high) is int


@pytest.mark.parametrize("release", RELEASE)
@pytest.mark.parametrize(
    "value", [17.0, -0.001, 1e300, 5e-324, Decimal("0.1"), Fraction(1, 3), np.float32(1.5), np.float64(2)]
)
def test_a_real_number_is_put_on_a_fine_grid(release: Callable[[Any], Release], value: Any) -> None:
    """The answer is a float, and a whole number of power-of-two steps that don't depend on the value."""
    released = release(value)
    assert type(released.value) is float
    assert released.grid == release(0.0).grid < Fraction(1, 2**18)


@pytest.mark.parametrize("release", RELEASE)
@pytest.mark.parametrize("values", [[1, 2, 3], (4, 5), np.arange(4), pd.Series([7, 8]), [9]])
def test_a_vector_stays_a_vector(release: Callable[[Any], Release], values: Any) -> None:
    """Lists, tuples, arrays and series give lists of as many values, with an interval for each."""
    released = release(values)
    assert isinstance(released.value, list)
    assert len(released.value) == len(released.interval()) == len(values)


@pytest.mark.parametrize("release", RELEASE)
def test_one_real_makes_a_vector_real(release: Callable[[Any], Release]) -> None:
    """Kinds aren't mixed in an answer."""
    values = release([1, 2.5]).value
    assert isinstance(values, list)
    assert {type(value) for value in values} == {float}


SECRET = 987654321.125


@pytest.mark.parametrize("release", RELEASE)
@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        Decimal("NaN"),
        [SECRET, float("nan")],
        np.array([SECRET, np.inf]),
        [[SECRET, 2.0], [3.0, 4.0]],
        np.array([[SECRET]]),
        str(SECRET),
        [str(SECRET)],
        None,
        True,
        [True],
        [],
        {"a": SECRET},
        SECRET + 1j,
    ],
)
def test_what_is_no_number_is_refused_without_being_quoted(release: Callable[[Any], Release], value: Any) -> None:
    """NaN, infinities, tables, texts and nothing: a typed error whose text holds no value."""
    with pytest.raises(InvalidArgument) as refused:
        release(value)
    assert "987654321" not in str(refused.value)


@pytest.mark.parametrize("sensitivity", [0, -1, float("nan"), float("inf"), None, "one", "1e40"])
def test_a_sensitivity_is_a_positive_number(sensitivity: Any) -> None:
    """Nothing to hide, or more than noise can hide."""
    with pytest.raises(InvalidArgument):
        laplace(1, sensitivity, epsilon=1)
    with pytest.raises(InvalidArgument):
        gaussian(1, sensitivity, rho=1)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1},
        {"delta": 1e-6},
        {"epsilon": 1, "delta": 1e-6, "rho": 1},
        {"rho": 1, "delta": 1e-6},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 0, "delta": 1e-6},
        {"rho": 0},
        {"epsilon": 1, "delta": 1e-6, "method": "best"},
        {"epsilon": 2, "delta": 1e-6, "method": "classical"},
        {"rho": 1, "grid": 3},
    ],
)
def test_a_guarantee_is_stated_in_one_way(arguments: dict[str, Any]) -> None:
    """ε and δ, or ρ; by a method that exists and holds."""
    with pytest.raises(InvalidArgument):
        gaussian(1.5, sensitivity=1, **arguments)


def test_losses_are_those_asked_for() -> None:
    """ε is exact; (ε, δ) is as stated; ρ is at most as stated."""
    assert laplace(1, 1, "0.1").loss == PureDP("0.1")
    assert laplace([1.5, 2], 1, "0.1").loss == PureDP("0.1")
    assert gaussian(1, 1, 1, 1e-6).loss == ApproxDP(1, 1e-6)
    assert gaussian([1.5, 2], 1, 1, 1e-6, method="classical").loss == ApproxDP(1, 1e-6)
    assert gaussian(1, 1, rho="0.005").loss == ZCDP("0.005")


@pytest.mark.parametrize("values", [[5], [5, 6, 7], [0.5], [0.5, 1.5, 2.5]])
@pytest.mark.parametrize("grid", [None, "1/1024", 1, 8])
@pytest.mark.parametrize("sensitivity", [1, 3, "0.7", 250])
def test_the_noise_pays_for_the_sensitivity_and_for_rounding(values: Any, grid: Any, sensitivity: Any) -> None:
    """On any grid the noise, in the values' own units, is at least that of the textbook."""
    whole = isinstance(values[0], int) and grid == 1
    paid = Fraction(sensitivity) // 1 if whole else Fraction(sensitivity)
    if paid == 0:
        return
    pure = laplace(values, sensitivity, epsilon="0.5", grid=grid)
    assert isinstance(pure.mechanism, Laplace)
    assert pure.mechanism.scale * pure.grid >= paid / Fraction(1, 2)
    concentrated = gaussian(values, sensitivity, rho="0.5", grid=grid)
    assert isinstance(concentrated.mechanism, Gaussian)
    assert (concentrated.mechanism.sigma * concentrated.grid) ** 2 >= (1 if whole and len(values) > 1 else paid**2)


@given(st.integers(-(10**30), 10**30), st.sampled_from([1, "0.5", 1e-9, 1e9]))
def test_every_output_lies_on_the_grid(value: int, sensitivity: Any) -> None:
    """Low-order bits are those of the grid, whatever the value: none of them tells neighbours apart."""
    for exact in (Fraction(value, 7), Fraction(value + 1, 7)):
        released = laplace(exact, sensitivity, epsilon=1)
        assert all(type(step) is int for step in released.steps)
        assert released.grid == laplace(0.0, sensitivity, epsilon=1).grid


def test_a_grid_can_be_fixed() -> None:
    """A coarse grid is allowed: whole numbers come in multiples of it, and rounding widens the interval."""
    released = laplace(1003, sensitivity=1, epsilon=1, grid=8)
    assert isinstance(released.value, int)
    assert released.value % 8 == 0
    match released.interval("0.5"):
        case (int(low), int(high)):
            assert high - low >= 8
        case other:
            pytest.fail(f"no interval of whole numbers: {other}")
    halves = laplace(1003, sensitivity=1, epsilon=1, grid="0.5").value
    assert isinstance(halves, float)
    assert halves % 0.5 == 0


def test_integers_with_a_fractional_sensitivity_are_read_as_reals() -> None:
    """A mean that happens to be whole must not get another grid than one that isn't."""
    assert laplace(3, sensitivity="0.25", epsilon=1).grid == laplace(3.25, sensitivity="0.25", epsilon=1).grid


def test_releases_of_the_same_value_differ() -> None:
    """No seed, no memory: forty values with wide noise are all different, but with probability below 10⁻¹²."""
    released = laplace([0] * 40, sensitivity=1, epsilon="1e-15").steps
    assert len(set(released)) == 40


@pytest.mark.parametrize(
    ("release", "text"),
    [
        (made(17432), "17432 ± 30 (95 %)"),
        (made(-5, 17), "[-5, 17] ± 30 (95 %)"),
        (made(*range(9)), "[0, 1, 2, 3, 4, 5, … (9 values)] ± 30 (95 %)"),
        (made(-1234567, scale=Fraction(2**20), grid=Fraction(1, 2**20), whole=False), "-1.2 ± 3.0 (95 %)"),
        (made(1, scale=Fraction(2**20), grid=Fraction(2) ** -40, whole=False), "0.0000000 ± 0.0000029 (95 %)"),
        (made(123, scale=Fraction(50), grid=Fraction(2), whole=False), "246 ± 301 (95 %)"),
        (made(3, scale=Fraction(2**20), grid=Fraction(2**80), whole=False), "3.62678e+24 ± 3.79754e+30 (95 %)"),
        (made(1, scale=Fraction(2), grid=Fraction(2) ** -80, whole=False), "8.27181e-25 ± 5.37667e-24 (95 %)"),
        (made(-1, scale=Fraction(2**20), grid=Fraction(1, 2**20), whole=False), "0.0 ± 3.0 (95 %)"),
    ],
)
def test_releases_read_well(release: Release, text: str) -> None:
    """As many digits as mean something, the radius rounded up."""
    assert str(release) == text
    assert repr(release) == f"<Release {text}, ε = 0.1>"


def test_a_release_cannot_be_changed() -> None:
    """What was published stays published; lists handed out are copies."""
    release = made(1, 2)
    with pytest.raises(AttributeError):
        release.steps = (3, 4)  # type: ignore[misc]  # that it's read-only is what is tested
    values = release.value
    assert isinstance(values, list)
    values.append(5)
    assert release.value == [1, 2]


@given(st.integers(-(2**80), 2**80), st.integers(-90, 90), st.integers(1, 99))
def test_intervals_of_reals_are_rounded_outwards(step: int, exponent: int, percent: int) -> None:
    """What floats can't hold is widened: the exact ends lie within, and so does half a step of rounding."""
    release = made(step, scale=Fraction(5), grid=Fraction(2) ** exponent, whole=False)
    confidence = Fraction(percent, 100)
    radius = release.grid * (release.mechanism.radius(confidence) + Fraction(1, 2))
    low, high = release.interval(confidence)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert Fraction(low) <= step * release.grid - radius
    assert Fraction(high) >= step * release.grid + radius


def test_numbers_beyond_floats_are_the_last_float() -> None:
    """Noise near the end of the range neither raises nor gives infinity."""
    released = laplace(1.7976931348623157e308, sensitivity=1e300, epsilon=1)
    assert isinstance(released.value, float)
    assert isfinite(released.value)
    assert str(released).endswith("(95 %)")


@pytest.mark.parametrize("confidence", [0, 1, -1, 1.5, float("nan"), "most"])
def test_confidence_is_a_probability(confidence: Any) -> None:
    """Strictly between 0 and 1."""
    with pytest.raises(InvalidArgument):
        made(1).interval(confidence)


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
