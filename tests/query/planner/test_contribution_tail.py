"""Limits chosen by tails that noise hides: near the best, whatever the shape, and never above what a unit can have.

Counts without noise are read as if they had some, so that nothing here is left to chance.
"""

from __future__ import annotations

from math import exp, floor, inf, log
from statistics import NormalDist

import numpy as np
import pytest

from discreet.query.planner.contribution_tail import FIRSTS, STEPS, Expected, expected_units, least_error, surplus

CEILING = 10_000
UNITS = 8_000
PLACES = tuple((place + 0.5) / UNITS for place in range(UNITS))
NORMAL = tuple(map(NormalDist().inv_cdf, PLACES))
REGISTERS = {
    **{f"lognormal {sigma}": tuple(round(5 * exp(sigma * z)) for z in NORMAL) for sigma in (1.0, 1.5, 2.0)},
    **{f"Pareto {alpha}": tuple(floor((1 - q) ** (-1 / alpha)) for q in PLACES) for alpha in (1.2, 1.5, 2.5)},
    "geometric": tuple(floor(log(1 - q) / log(1 - 1 / 20)) + 1 for q in PLACES),
    "Zipf": tuple(round(2_000 * (51 / (rank + 51)) ** 0.6) for rank in range(UNITS)),
    "constant": (7,) * UNITS,
}


def sizes_of(name: str) -> np.ndarray:
    """How many rows each unit of a register has."""
    return np.clip(np.array(REGISTERS[name]), 1, CEILING)


def counts_of(sizes: np.ndarray) -> list[int]:
    """How many units are in each class."""
    return [int(count) for count in np.bincount(np.searchsorted(STEPS, sizes), minlength=len(STEPS))]


def error(sizes: np.ndarray, limit: int, price: float) -> float:
    """How far a count of rows is off on average."""
    bias, scale = float(np.maximum(sizes - limit, 0).sum()), price * limit
    return bias + scale * exp(-bias / scale)


def seen_alone(counts: list[int], scale: float) -> Expected:
    """The wrong twin: classes below eight scales are taken to be empty."""
    return [
        ((first + last) / 2, count if count > 8 * scale else 0)
        for first, last, count in zip(FIRSTS, STEPS, counts, strict=True)
    ]


@pytest.mark.parametrize("name", REGISTERS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_a_limit_errs_little_more_than_the_best(name: str, epsilon: float) -> None:
    """Of a profile for a tenth, and the count for the rest, though the last units that matter are far below noise."""
    sizes, scale, price = sizes_of(name), 10 / epsilon, 1 / (0.9 * epsilon)
    best = min(error(sizes, limit, 1 / epsilon) for limit in range(1, int(sizes.max()) + 1))
    limit = least_error(expected_units(counts_of(sizes), scale, CEILING), price, 1, CEILING)
    assert limit <= CEILING
    assert error(sizes, limit, price) <= (4.5 if name == "Zipf" else 2.5) * best


def test_forgetting_what_does_not_show_errs_far_more() -> None:
    """The twin that looks at nothing but classes that show, on what has a heavy tail."""
    for name in ("lognormal 1.5", "Pareto 1.5"):
        sizes = sizes_of(name)
        best = min(error(sizes, limit, 1.0) for limit in range(1, int(sizes.max()) + 1))
        limit = least_error(seen_alone(counts_of(sizes), 10.0), 1 / 0.9, 1, CEILING)
        assert error(sizes, limit, 1 / 0.9) > 5 * best


@pytest.mark.parametrize("most", [None, 1, 2, 5, 100, 10_000, 10**9])
def test_every_unit_that_shows_is_expected_within_what_it_may_have(most: int | None) -> None:
    """In classes that show, as many as were counted; none above the most; and no limit is."""
    ceiling = inf if most is None else most
    counts = [900, 800, 0, 700, *[0] * (len(STEPS) - 4)]
    expected = expected_units(counts, 10.0, most)
    shown = [count for first, count in zip(FIRSTS, counts, strict=True) if first <= ceiling]
    assert all(size < ceiling + 1 for size, _ in expected)
    assert sum(units for size, units in expected if size < 6) == pytest.approx(sum(shown), rel=0.02)
    assert surplus(expected, ceiling) == 0
    assert 1 <= least_error(expected, 1.0, 1, most) <= ceiling


def test_nobody_at_all_is_no_reason_to_fail() -> None:
    """Noise of nothing gives some limit."""
    for counts in ([0] * len(STEPS), [-30] * len(STEPS), [-1, 4] * (len(STEPS) // 2) + [0] * (len(STEPS) % 2)):
        assert least_error(expected_units(counts, 10.0, None), 1.0, 4, None) >= 1
