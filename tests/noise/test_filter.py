"""The float filter: what floats claim to know is true, they know nearly everything, and NumPy keeps what is assumed."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from discreet.entropy import Keystream
from discreet.noise import discrete_gaussian, discrete_laplace, laplace
from discreet.noise.floored_exponential import FlooredExponential, Law, _floors, floored_exponential, no_shift
from discreet.noise.sampling import LazyUniform, settle_floor
from support.tapes import Tape

BITS = 63
SCALES = [
    Fraction(1, 1024),
    Fraction(1, 3),
    Fraction(1),
    Fraction(10),
    Fraction(1000),
    Fraction(2**20),
    Fraction(2**24),
    Fraction(2**24 + 1),
    Fraction(2**40),
    Fraction(10**15, 3),
    Fraction(2**60),
]


def laws(scale: Fraction) -> list[Law]:
    """Every law that is filtered at this scale: high and low digits, shifted or not."""
    samplers: list[FlooredExponential] = [
        floored_exponential(scale, no_shift),
        floored_exponential(scale, partial(laplace.centre, scale)),
    ]
    return [law for sampler in samplers for law in (sampler.high, sampler.low) if law is not None]


def spread_words(count: int) -> NDArray[np.int64]:
    """Words of every length, so that small ones, which make the tail, are as frequent as large ones."""
    words = Keystream().words(count)
    return words >> (np.arange(count) % (BITS - 1))


def near_a_step(law: Law, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cells close to where the law's floor changes, found by bisection with the balls."""
    found = []
    for word in words:
        low, high = 0, int(word)
        floor = settle_floor(law.ball, LazyUniform(high, BITS, Keystream()))
        while high - low > 1:
            middle = (low + high) // 2
            same = settle_floor(law.ball, LazyUniform(middle, BITS, Keystream())) == floor
            low, high = (low, middle) if same else (middle, high)
        found += [cell for gap in (0, 1, 2**8, 2**16, 2**24, 2**32) for cell in (low - gap, high + gap)]
    return np.array([cell for cell in found if 0 <= cell < 2**BITS], dtype=np.int64)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_what_floats_decide_is_so(scale: Fraction) -> None:
    """Where the filter sees no doubt, balls find the same floor at both ends of the cell.

    For 63-bit words of all lengths, and for words next to a step.
    """
    for law in laws(scale):
        cells = np.concatenate([spread_words(600), near_a_step(law, Keystream().words(5))])
        floors, doubtful = _floors(law, cells, BITS)
        assert not doubtful.all()
        for cell, floor in zip(cells[~doubtful], floors[~doubtful], strict=True):
            assert settle_floor(law.ball, LazyUniform(int(cell), BITS, Tape([], width=BITS))) == floor


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_doubt_is_rare(scale: Fraction) -> None:
    """At most 1 in 50 draws is in doubt, at any scale.

    The expected rate is at most 2^-8, so 60,000 draws exceed 1 in 50 with probability below 1e-13 (Hoeffding).
    """
    for law in laws(scale):
        _, doubtful = _floors(law, Keystream().words(60_000), BITS)
        assert doubtful.mean() < 0.02


def test_the_lowest_cell_is_always_in_doubt() -> None:
    """Cell 0 holds numbers of unlimited E, so no float may decide it, at any scale, nor warn about it."""
    for scale in SCALES:
        high = floored_exponential(scale, no_shift).high
        assert _floors(high, np.zeros(3, dtype=np.int64), BITS)[1].all()


def error_in_ulps(computed: NDArray[np.float64], arguments: NDArray[np.float64], exact: Any) -> float:
    """The largest error of a NumPy function, in units of the last place of the true value."""
    worst = 0.0
    with ctx.workprec(200):
        for value, argument in zip(computed.tolist(), arguments.tolist(), strict=True):
            truth = exact(arb(argument))
            ulp = np.spacing(abs(float(truth)))
            worst = max(worst, abs(float((arb(value) - truth) / arb(ulp))))
    return worst


@pytest.mark.parametrize("length", [1, 3, 20_001])
def test_numpy_is_as_accurate_as_assumed(length: int) -> None:
    """`log`, `log1p` and `exp` err by at most 4 units in the last place, where 64 are assumed.

    In the vector loops and in their remainders, over every range the samplers use.
    """
    uniform = spread_words(length).astype(np.float64) * 2.0**-BITS
    flat = Keystream().words(length).astype(np.float64) * 2.0**-BITS
    uniform, flat = np.maximum(uniform, 2.0**-BITS), np.maximum(flat, 2.0**-BITS)
    for arguments in (uniform, flat, 1 - flat / 2**20):
        assert error_in_ulps(np.log(arguments), arguments, lambda x: x.log()) <= 4
    for arguments in (-flat * 0.6, -flat * 2.0**-12, -flat * 2.0**-30):
        assert error_in_ulps(np.log1p(arguments), arguments, lambda x: (1 + x).log()) <= 4
    for arguments in (-flat, -flat * 100, -flat * 700):
        assert error_in_ulps(np.exp(arguments), arguments, lambda x: x.exp()) <= 4


def test_an_inaccurate_function_is_noticed() -> None:
    """The measure sees an error of 10 units in the last place."""
    arguments = np.array([0.3, 0.7])
    wrong = np.log(arguments) * (1 + 10 * 2.0**-52)
    assert error_in_ulps(wrong, arguments, lambda x: x.log()) > 4


def test_strict_floating_point_errors_do_no_harm() -> None:
    """A program that makes NumPy raise on every floating-point event still gets noise."""
    with np.errstate(all="raise"):
        assert discrete_laplace(Fraction(1, 1024), size=10_000).any() == np.False_
        assert discrete_gaussian(Fraction(1, 3), size=50_000).any() == np.True_
        assert discrete_gaussian(2**40, size=50_000).any() == np.True_
