"""Intervals: over fresh noise, they hold the noise-free answer as often as they say.

Noise is drawn until it is clear whether the coverage is what is claimed, see `support.sequential`. Each claim is
rejected by chance with probability at most 5e-11, and no test has more than 8 in all its cases: false alarm below
1e-9. A coverage of 88 % instead of 95 %, or of 99 % instead of 96 %, is found out with probability above 1 − 1e-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates import Estimator, Linear, Mean, Mechanism, Noise, Spread, Total
from discreet.stats import upper_bound
from discreet.tables import Kind
from support.sequential import Claim, stands

RUNS, SOME = 6_000, 250
ALARM, MISS = Fraction(1, 2 * 10**10), Fraction(1, 10**9)
AS_OFTEN = Claim(0.95, wrong=0.88, alarm=ALARM, miss=MISS)
NOT_OFTENER = Claim(0.96, wrong=0.99, alarm=ALARM, miss=MISS)
ONE = ir.Literal(1, ir.Type(Kind.INTEGER, Fraction(1), Fraction(1), nullable=False))


def _noise(name: str, size: int, grid: int, mechanism: type[Mechanism]) -> Noise:
    """A measure with sensitivity `size` units, released at ε = 1/2 or ρ = 1/8."""
    steps = size * 2**-grid
    measure = ir.Sum(name=name, value=ONE, grid=grid, lo=0, hi=steps)
    sensitivity = Sensitivity.scalar(steps)
    if mechanism is Laplace:
        return Noise(measure=measure, mechanism=Laplace.calibrate(sensitivity, Fraction(1, 2)))
    return Noise(measure=measure, mechanism=Gaussian.for_rho(sensitivity, Fraction(1, 8)))


def _covered(estimator: Estimator, noises: dict[str, Noise], exact: dict[str, int], truth: float) -> Iterator[bool]:
    """Whether intervals hold the truth, time after time."""
    while True:
        drawn = [noise.mechanism.release([exact[name]] * SOME) for name, noise in noises.items()]
        for values in zip(*drawn, strict=True):
            found = estimator.interval(dict(zip(noises, values, strict=True)), noises, 0.95)
            assert found is not None
            yield bool(found.lo <= truth <= found.hi)


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
@pytest.mark.parametrize("rows", [5, 40, 1_000])
def test_averages_are_covered_as_often_as_said(mechanism: type[Mechanism], rows: int) -> None:
    """Also in groups so small that the noisy count may be negative; and in large ones not much more often."""
    noises = {"n": _noise("n", 1, 0, mechanism), "s": _noise("s", 50, 0, mechanism)}
    estimator = Mean(count=Linear.of("n"), total=Linear.of("s"), centre=Fraction(50), lo=Fraction(0), hi=Fraction(100))
    claims = [AS_OFTEN, NOT_OFTENER] if rows == 1_000 else [AS_OFTEN]
    assert stands(_covered(estimator, noises, {"n": rows, "s": -13 * rows}, 37.0), *claims)


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
@pytest.mark.parametrize("grid", [0, -20])
def test_sums_are_covered_as_often_as_said(mechanism: type[Mechanism], grid: int) -> None:
    """On the coarsest grid, where steps show, and on a fine one."""
    noises = {"s": _noise("s", 10, grid, mechanism)}
    estimator = Total(of=Linear.of("s"))
    assert stands(_covered(estimator, noises, {"s": 1234 * 2**-grid}, 1234.0), AS_OFTEN, NOT_OFTENER)


@pytest.mark.parametrize(
    ("least_rows", "is_root", "truth"),
    [
        (1, False, 200.0),
        (2, False, 200.0 * 500 / 499),
        (1, True, 200.0**0.5),
        (2, True, (200.0 * 500 / 499) ** 0.5),
    ],
    ids=["var_pop", "var_samp", "stddev_pop", "stddev_samp"],
)
def test_spreads_are_covered_at_least_as_often_as_said(least_rows: int, is_root: bool, truth: float) -> None:
    """The boxes are wider than need be, never too narrow."""
    noises = {"n": _noise("n", 1, 0, Laplace), "s": _noise("s", 50, 0, Laplace), "q": _noise("q", 2500, 0, Laplace)}
    estimator = Spread(
        least_rows=least_rows,
        is_root=is_root,
        count=Linear.of("n"),
        total=Linear.of("s"),
        squares=Linear.of("q"),
        centre=Fraction(50),
        lo=Fraction(0),
        hi=Fraction(100),
    )
    rows = 500
    exact = {"n": rows, "s": -10 * rows, "q": (200 + 100) * rows}
    assert stands(_covered(estimator, noises, exact, truth), AS_OFTEN)


def test_an_interval_that_forgets_the_noise_of_the_count_is_found_out() -> None:
    """The wrong twin: dividing the sum's interval by the noisy count covers too seldom.

    It covers in less than 89.6 % (200,000 runs say 89.2), so that `RUNS` of it are let through once in 1e18.
    """
    noises = {"n": _noise("n", 1, 0, Laplace), "s": _noise("s", 50, 0, Laplace)}
    rows, mean = 40, -45.0
    drawn = {
        name: noise.mechanism.release([{"n": rows, "s": round(mean * rows)}[name]] * RUNS)
        for name, noise in noises.items()
    }
    radius = noises["s"].mechanism.radius(0.95)
    hits = sum(abs(s - mean * n) <= radius for n, s in zip(drawn["n"], drawn["s"], strict=True))
    assert upper_bound(hits, RUNS, 1 - ALARM) < 0.95
