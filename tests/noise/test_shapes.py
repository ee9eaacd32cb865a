"""Noise of other shapes (staircase, truncated, bounded): on tapes, in fit, and far out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet.errors import InvalidArgument
from discreet.noise import bounded_laplace, staircase, truncated_laplace
from discreet.noise.bounded_laplace import BoundedLaplace, TruncatedLaplace, draw_bounded_laplace
from discreet.noise.staircase import Staircase
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.distributions import bounds
from support.distributions import exp as ball_exp
from support.tapes import Tape, outcomes, words_of
from support.twins import enough

ALARM = Fraction(1, 10**10)
WRONG = Fraction(103, 100)
Shape = Callable[[int], Fraction | None]
"""Minus the logarithm of the weight of an integer, or None where it has none."""


def laplace_between(scale: Fraction, low: int, high: int) -> Shape:
    """|n|/scale within the bounds."""
    return lambda n: abs(n) / scale if low <= n <= high else None


def stairs(scale: Fraction, width: int, first: int) -> Shape:
    """⌊(|n| + width − first)/width⌋/scale."""
    return lambda n: ((abs(n) + width - first) // width) / scale


def brackets(decided: dict[int, Fraction], undecided: Fraction, shape: Shape, reach: int, kept: Fraction) -> bool:
    """Whether what tapes decide is at most kept·weight for each integer, and short of it by what is undecided at most.

    Args:
        decided: by value.
        undecided: what is left.
        shape: the weights, summed up to `reach`, beyond which they are next to nothing.
        reach: how far.
        kept: what all values together have; less than 1 for trials of which some are rejected.
    """
    exponents = {n: exponent for n in range(-reach, reach + 1) if (exponent := shape(n)) is not None}
    with ctx.workprec(200):
        weights = {n: ball_exp(-exponent) for n, exponent in exponents.items()}
        total = sum(weights.values(), arb(0))
    slack = Fraction(1, 2**40)
    ok = set(decided) <= set(weights)
    for n, weight in weights.items():
        low, high = bounds(lambda weight=weight: weight / total)
        found = decided.get(n, Fraction(0))
        ok &= found <= kept * high + slack and kept * low - slack <= found + undecided
    return ok


@pytest.mark.parametrize(
    ("scale", "low", "high"),
    [(Fraction(1), 0, 3), (Fraction(5, 2), -2, 3), (Fraction(1, 3), -1, 1), (Fraction(9), -4, 0)],
)
def test_bounded_laplace_has_its_pmf(scale: Fraction, low: int, high: int) -> None:
    """All tapes of 12 bits agree with e^(-|n|/scale) between the bounds, whichever side of 0 is longer."""
    law = BoundedLaplace(scale, low, high)
    decided, undecided = outcomes(lambda source: int(draw_bounded_laplace(law, 1, source)[0]), width=3, depth=4)
    assert undecided < Fraction(1, 2**8)
    assert set(decided) == set(range(low, high + 1))
    assert brackets(decided, undecided, laplace_between(scale, low, high), 6, Fraction(1))
    assert not brackets(decided, undecided, laplace_between(scale * WRONG, low, high), 6, Fraction(1))


@pytest.mark.parametrize(
    ("scale", "reach", "words"),
    [
        (Fraction(1), 2, 7),
        (Fraction(5, 2), 3, 7),
        (Fraction(3), 1, 7),
        pytest.param(Fraction(20), 2, 8, marks=pytest.mark.soak),
    ],
)
def test_truncated_laplace_trials_have_their_pmf(scale: Fraction, reach: int, words: int) -> None:
    """What one proposal gives, on all tapes of so many words of 2 bits, is in the proportions of e^(-|n|/scale)."""
    law = TruncatedLaplace(scale, reach)

    def trial(source: Any) -> int | None:
        kept = law.trials(np.int64, 1, source)
        return int(kept[0]) if len(kept) else None

    decided, undecided = outcomes(trial, width=2, depth=words)
    rejected = decided.pop(None)
    values: dict[int, Fraction] = {n: chance for n, chance in decided.items() if n is not None}
    assert undecided < Fraction(1, 8)
    assert sum(values.values()) + rejected + undecided == 1
    with ctx.workprec(200):
        q = float(ball_exp(-1 / scale))
    inner = (1 + q - 2 * q ** (reach + 1)) / (1 - q)
    kept = inner * (1 - q) / (1 + q) if reach >= scale else inner / (2 * reach + 1)
    assert kept > 1 / 2
    exact = Fraction(kept)
    assert brackets(values, undecided, laplace_between(scale, -reach, reach), reach, exact)
    assert not brackets(values, undecided, laplace_between(scale / 3, -reach, reach), reach, exact)


@pytest.mark.parametrize(
    ("scale", "width", "first", "words", "doubt"),
    [
        (Fraction(1, 2), 3, 2, 6, Fraction(2, 5)),
        (Fraction(1), 2, 1, 7, Fraction(1, 7)),
        (Fraction(2), 1, 1, 6, Fraction(1, 4)),
    ],
)
def test_staircase_has_its_pmf(scale: Fraction, width: int, first: int, words: int, doubt: Fraction) -> None:
    """What tapes of so many words of 2 bits decide agrees with the steps' weights, and not with flatter ones."""
    law = Staircase(scale, width, first)
    decided, undecided = outcomes(lambda source: int(law.draw(np.int64, 1, source)[0]), width=2, depth=words)
    assert sum(decided.values()) + undecided == 1
    assert undecided < doubt
    assert brackets(decided, undecided, stairs(scale, width, first), 200, Fraction(1))
    assert not brackets(decided, undecided, stairs(3 * scale, width, first), 600, Fraction(1))


SAMPLERS: dict[str, tuple[Callable[[Fraction, int], Any], Callable[[Fraction], Shape]]] = {
    "staircase": (lambda scale, size: staircase(scale, 5, 2, size=size), lambda scale: stairs(scale, 5, 2)),
    "tall": (lambda scale, size: staircase(scale / 6, 5, 5, size=size), lambda scale: stairs(scale / 6, 5, 5)),
    "truncated": (lambda s, size: truncated_laplace(s, 7, size=size), lambda s: laplace_between(s, -7, 7)),
    "flat": (lambda s, size: truncated_laplace(s, 2, size=size), lambda s: laplace_between(s, -2, 2)),
}


def pooled(shape: Shape) -> dict[int, float]:
    """The probability of each integer; all beyond 30 is put together."""
    weights: dict[int, float] = {}
    for n in range(-2000, 2001):
        if (exponent := shape(n)) is not None:
            place = max(-30, min(30, n))
            weights[place] = weights.get(place, 0.0) + exp(-float(exponent))
    total = sum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def fits(draws: Any, shape: Shape) -> bool:
    """Likelihood ratio, false alarm 1e-10, of draws against weights."""
    chances = pooled(shape)
    seen = Counter(np.clip(draws, -30, 30).tolist())
    assert set(seen) <= set(chances)
    statistic = likelihood_ratio(np.array([seen[n] for n in chances]), np.array([*chances.values()]))
    return statistic <= likelihood_ratio_critical(len(chances), ALARM)


@pytest.mark.parametrize("name", SAMPLERS)
def test_shapes_fit_and_a_wrong_scale_does_not(name: str) -> None:
    """Fresh draws fit; those of a scale 3 % off either way don't, but for 1e-10."""
    sampler, shape = SAMPLERS[name]
    scale, most = Fraction(3), 0
    chances = np.array([*pooled(shape(scale)).values()])
    for wrong in (scale * WRONG, scale / WRONG):
        draws = enough(chances, np.array([*pooled(shape(wrong)).values()]), ALARM)
        assert not fits(sampler(wrong, draws), shape(scale))
        most = max(most, draws)
    assert fits(sampler(scale, most), shape(scale))


def test_bounded_draws_fit() -> None:
    """20,000 draws between unequal bounds fit; the steps of the law itself are tested to 60 bits below.

    Of a scale a fourth larger 32,000 draws are 167 nats away, critical are 51: they fit with probability below 1e-13.
    """
    shape = laplace_between(Fraction(4), -3, 8)
    assert fits(bounded_laplace(4, -3, 8, size=20_000), shape)
    assert not fits(bounded_laplace(5, -3, 8, size=32_000), shape)


@pytest.mark.parametrize(
    ("scale", "low", "high", "n"),
    [
        (Fraction(10), -30, 5, -7),
        (Fraction(10), -30, 5, 3),
        (Fraction(10**15, 3), -5, 2**60, 10**15),
        (Fraction(2**60), -(2**59), 2**61, 1),
        (Fraction(2**60), -1, 1, 0),
        (Fraction(1, 1024), -3, 3, 0),
    ],
)
def test_bounded_steps(scale: Fraction, low: int, high: int, n: int) -> None:
    """The draw changes from n − 1 to n exactly where U is the share of the weights below n, to 315 bits or more."""
    bits = 63 * (60 if scale < 1 else 5)

    def q(exponent: int) -> Any:
        return arb(fmpq(-exponent * scale.denominator, scale.numerator)).exp()

    with ctx.workprec(bits + 400):
        total = 1 + q(1) - q(1 - low) - q(1 + high)
        below = (q(1 - n) - q(1 - low)) if n <= 0 else 1 + q(1) - q(1 - low) - q(n)
        cell = int((below / total * arb(2) ** bits).floor().unique_fmpz())
    law = BoundedLaplace(scale, low, high)
    drawn = [
        int(draw_bounded_laplace(law, 1, Tape([*words_of(cell + by, bits=bits, width=63), *[12345] * 5], width=63))[0])
        for by in (-1, 1)
    ]
    assert drawn == [n - 1, n]


def test_types_follow_the_scale_alone() -> None:
    """Single draws are Python integers, arrays int64 where that holds them, whatever is drawn."""
    for draw in (staircase(1, 5, 2), truncated_laplace(1, 5), bounded_laplace(1, -1, 5)):
        assert type(draw) is int
    assert staircase(1, 2**40, 7, size=3).dtype == truncated_laplace(2**52, 10**9, size=3).dtype == np.int64
    for draws in (staircase(2**40, 2**60, 2**30, size=50), truncated_laplace(2**60, 10**30, size=50)):
        assert draws.dtype == object
        assert {type(draw) for draw in draws} == {int}
    assert truncated_laplace(5, 0, size=3).tolist() == [0, 0, 0]
    assert bounded_laplace(5, 0, 0) == 0


def test_a_step_beyond_int64_is_never_wrapped() -> None:
    """Where step times width would exceed int64, the draw raises."""
    law = Staircase(Fraction(2**12), 2**40, 1)
    words = [0, *[1] * 4000]
    with pytest.raises(OverflowError):
        law.draw(np.int64, 1, Tape([0, *[0] * 40, 1, *words], width=63))


@pytest.mark.parametrize(
    "call",
    [
        lambda: staircase(0, 5, 2),
        lambda: staircase(1, 0, 0),
        lambda: staircase(1, 5, 0),
        lambda: staircase(1, 5, 6),
        lambda: staircase(1, 5.0, 2),  # type: ignore[call-overload]  # on purpose
        lambda: staircase(1, 2**60 + 1, 2),
        lambda: truncated_laplace(0, 3),
        lambda: truncated_laplace(1, -1),
        lambda: truncated_laplace(1, 2.5),  # type: ignore[call-overload]  # on purpose
        lambda: bounded_laplace(2**61, -1, 1),
        lambda: bounded_laplace(1, 1, 2),
        lambda: bounded_laplace(1, -2, -1),
        lambda: bounded_laplace(1, None, 1),  # type: ignore[call-overload]  # on purpose
    ],
)
def test_other_shapes_are_refused(call: Callable[[], Any]) -> None:
    """Parameters out of range, by a typed error."""
    with pytest.raises(InvalidArgument):
        call()
