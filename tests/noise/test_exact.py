"""Every tape of bits to some depth: what the samplers decide has exactly the stated probabilities.

P(decided = n by depth d) ≤ pmf(n) ≤ P(decided = n by depth d) + P(undecided by depth d), all exact rationals or proved
bounds. The undecided part is what is left of the claim to be proved; it goes to 0 with the depth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from discreet.entropy import Words
from discreet.noise import gaussian, laplace
from discreet.noise.bernoulli import draw_bernoulli, draw_bernoulli_exp
from discreet.noise.floored_exponential import FlooredExponential, floored_exponential, no_shift
from discreet.noise.geometric import draw_geometric, geometric_law
from support.distributions import Pmf, bounds, exp, gaussian_pmf, geometric_pmf, laplace_pmf
from support.tapes import outcomes

Sampler = Callable[[Words], int]

SCALES = [Fraction(1, 1024), Fraction(1, 3), Fraction(1), Fraction(9, 2)]
WORDS = [*((scale, 3) for scale in SCALES), (Fraction(1), 6)]


def one_geometric(law: FlooredExponential) -> Sampler:
    """A single geometric draw."""
    return lambda source: int(draw_geometric(law, np.int64, 1, source)[0])


def one_laplace(law: FlooredExponential) -> Sampler:
    """A single discrete Laplace draw."""
    return lambda source: int(laplace.draw_laplace(law, np.int64, 1, source)[0])


def small(sigma: Fraction) -> gaussian.DiscreteGaussian:
    """A discrete Gaussian of at most seven strips over 64 units of area: tapes of a few words reach all of it."""
    return gaussian.prepared(sigma, strips=3, units=6, bits=6)


def one_gaussian(sigma: Fraction) -> Sampler:
    """A single discrete Gaussian draw."""
    law = small(sigma)
    return lambda source: int(law.draw(np.int64, 1, source)[0])


def one_trial(law: gaussian.DiscreteGaussian) -> Callable[[Words], int | None]:
    """A single point of the discrete Gaussian: its integer, or None if it isn't under the curve."""

    def trial(source: Words) -> int | None:
        noise, rejected = law.trial(np.int64, 1, source)
        return None if len(rejected) else int(noise[0])

    return trial


def trial_pmf(law: gaussian.DiscreteGaussian, sigma: Fraction) -> Pmf:
    """How often a trial should return n, if the law were of this sigma: h(n)/(span·2^units)."""
    share = Fraction(law.height) / 2 ** (law.shift + 6)
    return lambda n: bounds(lambda: arb(fmpq(share.numerator, share.denominator)) * exp(-(n**2) / (2 * sigma**2)))


def brackets(decided: dict[int, Fraction], undecided: Fraction, pmf: Pmf) -> bool:
    """Whether the decided part is at most the pmf everywhere, and short of it by at most what is undecided."""
    values = set(decided) | {-1, 0, 1}
    return all(
        decided.get(n, Fraction(0)) <= pmf(n)[1] and pmf(n)[0] <= decided.get(n, Fraction(0)) + undecided
        for n in values
    )


@pytest.mark.parametrize(("scale", "width"), WORDS, ids=str)
def test_geometric_has_its_pmf(scale: Fraction, width: int) -> None:
    """Geometric: all tapes of 24 bits, in words of 3 or of 6, agree with (1 − q)·qⁿ to 15 bits or more."""
    decided, undecided = outcomes(one_geometric(geometric_law(scale)), width=width, depth=24 // width)
    assert undecided < Fraction(1, 2**15)
    assert sum(decided.values()) + undecided == 1
    assert brackets(decided, undecided, geometric_pmf(scale))
    if scale >= Fraction(1, 3):
        assert not brackets(decided, undecided, geometric_pmf(scale * Fraction(103, 100)))


@pytest.mark.parametrize(("scale", "width"), WORDS, ids=str)
def test_laplace_has_its_pmf(scale: Fraction, width: int) -> None:
    """Discrete Laplace: all tapes of 24 bits agree with (1 − q)/(1 + q)·q^|n| to 15 bits or more."""
    decided, undecided = outcomes(one_laplace(laplace.laplace_law(scale)), width=width, depth=24 // width)
    assert undecided < Fraction(1, 2**15)
    assert sum(decided.values()) + undecided == 1
    assert brackets(decided, undecided, laplace_pmf(scale))
    if scale >= Fraction(1, 3):
        assert not brackets(decided, undecided, laplace_pmf(scale * Fraction(103, 100)))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_is_exactly_symmetric(scale: Fraction) -> None:
    """Values n and −n are decided by tapes of exactly the same total probability."""
    decided, _ = outcomes(one_laplace(laplace.laplace_law(scale)), width=4, depth=5)
    assert all(decided[n] == decided[-n] for n in decided)


@pytest.mark.parametrize(
    ("scale", "span"),
    [(Fraction(7, 2), 3), (Fraction(4), 4), pytest.param(Fraction(3), 2, marks=pytest.mark.soak)],
    ids=str,
)
def test_split_draws_have_the_same_pmf(scale: Fraction, span: int) -> None:
    """The two-digit method of large scales, made to split small ones, has the pmf of the unsplit method."""
    one = floored_exponential(scale, no_shift, span=span)
    decided, undecided = outcomes(one_geometric(one), width=3, depth=5)
    assert undecided < Fraction(1, 2**6)
    assert brackets(decided, undecided, geometric_pmf(scale))
    assert not brackets(decided, undecided, geometric_pmf(scale * Fraction(103, 100)))
    two = floored_exponential(scale, partial(laplace.centre, scale), span=span)
    decided, undecided = outcomes(one_laplace(two), width=3, depth=5)
    assert undecided < Fraction(1, 2**5)
    assert brackets(decided, undecided, laplace_pmf(scale))
    assert not brackets(decided, undecided, laplace_pmf(scale * Fraction(103, 100)))


SIGMAS = [Fraction(1, 1024), Fraction(1, 3), Fraction(1), Fraction(5, 2)]


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_gaussian_trials_have_their_pmf(sigma: Fraction) -> None:
    """One point of the discrete Gaussian gives n with probability h(n)/(span·2^units), those in the tails included."""
    law = small(sigma)
    decided, undecided = outcomes(one_trial(law), width=3, depth=6)
    assert undecided < Fraction(1, 2**8)
    rejected = decided.pop(None)
    values: dict[int, Fraction] = {n: chance for n, chance in decided.items() if n is not None}
    assert sum(values.values()) + rejected + undecided == 1
    assert brackets(values, undecided, trial_pmf(law, sigma))
    if sigma >= Fraction(1, 3):
        assert not brackets(values, undecided, trial_pmf(law, sigma * Fraction(110, 100)))


@pytest.mark.parametrize("sigma", SIGMAS[1:], ids=str)
def test_a_gaussian_that_is_slightly_wrong_is_found_out(sigma: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three wrong twins: a table off by one number, a stair off by one unit, and floats that decide what they can't.

    Tapes are as long as it takes; what is right fits at all depths, if it does at the depth of the test above.
    """
    law = small(sigma)

    def fits(twin: gaussian.DiscreteGaussian, *, depth: int) -> bool:
        decided, undecided = outcomes(one_trial(twin), width=3, depth=depth)
        values: dict[int, Fraction] = {n: chance for n, chance in decided.items() if n is not None}
        return brackets(values, undecided, trial_pmf(law, sigma))

    last = law.table.last.copy()
    last[0] += 1
    assert not fits(replace(law, table=replace(law.table, last=last)), depth=4)
    stair = law.stair.copy()
    stair[len(stair) // 2] += 1
    assert not fits(replace(law, stair=stair), depth=6)
    monkeypatch.setattr(gaussian, "settle_below", lambda height, _: bool(height() > 0.5))
    assert not fits(law, depth=5)


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(5, 2)], ids=str)
def test_gaussian_has_its_pmf(sigma: Fraction) -> None:
    """Discrete Gaussian with its repeated points: all tapes of 4 words of 3 bits; fewer undecided than with 3."""
    decided, undecided = outcomes(one_gaussian(sigma), width=3, depth=4)
    assert undecided < outcomes(one_gaussian(sigma), width=3, depth=3)[1] < 1
    assert undecided < Fraction(1, 2)
    assert brackets(decided, undecided, gaussian_pmf(sigma))


@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(10)], ids=str)
@pytest.mark.parametrize("width", [1, 7])
def test_bernoulli_exp_has_its_probability(x: Fraction, width: int) -> None:
    """Bernoulli(e^(-x)): of all tapes of 35 bits one remains undecided, and the others agree with e^(-x)."""
    decided, undecided = outcomes(
        lambda source: int(draw_bernoulli_exp(x, 1, source)[0]), width=width, depth=35 // width
    )
    low, high = bounds(lambda: exp(-x))
    assert undecided == Fraction(1, 2**35)
    assert decided[1] <= high
    assert low <= decided[1] + undecided
    assert not decided[1] <= bounds(lambda: exp(-x * Fraction(103, 100)))[1] <= decided[1] + undecided


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(3, 8), Fraction(999, 1000), Fraction(1)], ids=str)
def test_bernoulli_has_its_probability(p: Fraction) -> None:
    """Bernoulli(p): equality where p is dyadic, else a single tape is left undecided."""
    decided, undecided = outcomes(lambda source: int(draw_bernoulli(p, 1, source)[0]), width=3, depth=6)
    if math.log2(p.denominator).is_integer():
        assert undecided == 0
        assert decided.get(1, Fraction(0)) == p
    else:
        assert undecided == Fraction(1, 2**18)
        assert decided[1] < p < decided[1] + undecided


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2)], ids=str)
def test_the_doubtful_path_decides_the_same(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """With infinite margins every draw is settled in balls, and each tape still decides exactly what it did."""
    split = floored_exponential(scale * 8, partial(laplace.centre, scale * 8), span=2)
    samplers: list[tuple[Callable[[Words], Any], int, int]] = [
        (one_geometric(geometric_law(scale)), 4, 3),
        (one_laplace(laplace.laplace_law(scale)), 4, 3),
        (one_laplace(split), 4, 3),
        (one_trial(small(scale)), 3, 4),
    ]
    floats = [outcomes(sampler, width=width, depth=depth) for sampler, width, depth in samplers]
    monkeypatch.setattr("discreet.noise.floored_exponential._TAIL", math.inf)
    monkeypatch.setattr("discreet.noise.floored_exponential._DIGIT", math.inf)
    monkeypatch.setattr(gaussian, "_SLACK", math.inf)
    assert [outcomes(sampler, width=width, depth=depth) for sampler, width, depth in samplers] == floats
