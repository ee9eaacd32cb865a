"""Exact confidence bounds of a probability, and the search for where a tail falls to a level, which tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import comb, inf, isfinite, lgamma, log, log1p, ulp
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability

if TYPE_CHECKING:
    from flint import arb


_MOST_EXACT = 1 << 12
_MOST_TERMS = 1 << 14


def clopper_pearson(successes: int, trials: int, confidence: Rationalizable) -> tuple[float, float]:
    """A two-sided interval for a probability: it misses the truth with probability at most 1 − confidence.

    Args:
        successes: how many trials succeeded, in [0, trials].
        trials: how many there were; 1 or more.
        confidence: in (0, 1); half of 1 − confidence is spent on each side.

    Returns:
        The lower and the upper end. Each errs outwards, by 2^-40 at most relative to its distance from 0.

    Raises:
        InvalidArgument: counts that contradict each other, or a confidence outside (0, 1).

    Source: Clopper, Pearson (1934), the definition of the limits by binomial tails.

    Examples:
        >>> low, high = clopper_pearson(5, 100, 0.95)
        >>> round(low, 4), round(high, 4)
        (0.0164, 0.1128)
    """
    level = (1 + probability(confidence, "confidence")) / 2
    return lower_bound(successes, trials, level), upper_bound(successes, trials, level)


def lower_bound(successes: int, trials: int, confidence: Rationalizable) -> float:
    """A number that is below the probability with the stated confidence.

    It is the largest p found for which `successes` or more have probability at most 1 − confidence, proved in ball
    arithmetic; an unfinished search only lowers it.

    Args:
        successes: how many trials succeeded, in [0, trials].
        trials: how many there were; 1 or more.
        confidence: in (0, 1).

    Raises:
        InvalidArgument: counts that contradict each other, or a confidence outside (0, 1).

    Examples:
        >>> lower_bound(0, 10, 0.95)
        0.0
    """
    doubt = _doubt(successes, trials, confidence)
    if successes == 0:
        return 0.0
    guess = _guess(successes, trials, doubt, lower=True)
    return boundary(lambda p: excess(partial(at_least, successes, trials, p), doubt), 0.0, successes / trials, guess)


def upper_bound(successes: int, trials: int, confidence: Rationalizable) -> float:
    """A number that is above the probability with the stated confidence; `lower_bound` mirrored.

    Args:
        successes: how many trials succeeded, in [0, trials].
        trials: how many there were; 1 or more.
        confidence: in (0, 1).

    Raises:
        InvalidArgument: counts that contradict each other, or a confidence outside (0, 1).

    Examples:
        >>> round(upper_bound(0, 100, 0.95), 4)
        0.0295
    """
    doubt = _doubt(successes, trials, confidence)
    if successes == trials:
        return 1.0
    guess = _guess(successes, trials, doubt, lower=False)
    return boundary(lambda p: excess(partial(at_most, successes, trials, p), doubt), 1.0, successes / trials, guess)


def at_least(successes: int, trials: int, p: float) -> arb:
    """Pr[Bin(trials, p) ≥ successes] for successes ≥ 1, as a ball at the working precision."""
    from flint import arb

    return arb(p).beta_lower(successes, trials - successes + 1, regularized=True)


def at_most(successes: int, trials: int, p: float) -> arb:
    """Pr[Bin(trials, p) ≤ successes] for successes < trials, as a ball at the working precision."""
    from flint import arb

    return (1 - arb(p)).beta_lower(trials - successes, successes + 1, regularized=True)


def _guess(successes: int, trials: int, doubt: Fraction, *, lower: bool) -> float:
    """A guess at a bound, in floats: it only says where to look."""
    level, ways = log(doubt.numerator) - log(doubt.denominator), _log_ways(successes, trials)

    def above(p: float) -> float:
        first = ways + successes * log(p) + (trials - successes) * log1p(-p)
        odds = p / (1 - p)
        return first + log(_terms(successes, trials, odds) if lower else _terms(trials - successes, trials, 1 / odds))

    return boundary(lambda p: above(p) - level, 0.0 if lower else 1.0, successes / trials)


def _log_ways(successes: int, trials: int) -> float:
    """The logarithm of the number of ways to choose them."""
    if min(successes, trials - successes) <= _MOST_EXACT:
        return log(comb(trials, successes))
    return lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)


def _terms(successes: int, trials: int, odds: float) -> float:
    """Pr[Bin(trials, p) ≥ successes] / Pr[Bin(trials, p) = successes], from the odds p/(1 − p).

    Terms fall where p is below the share of successes. Past `_MOST_TERMS` they are left out.
    """
    term = total = 1.0
    for more in range(successes, min(trials, successes + _MOST_TERMS)):
        term *= (trials - more) * odds / (more + 1)
        total += term
        if term < total * 2.0**-60:
            break
    return total


def _doubt(successes: int, trials: int, confidence: Rationalizable) -> Fraction:
    """1 − confidence, once the counts are checked."""
    if trials < 1 or not 0 <= successes <= trials:
        raise InvalidArgument(f"there can't be {successes} successes in {trials} trials")
    return 1 - probability(confidence, "confidence")


_PRECISIONS = (128, 256, 512)  # above that Arb's incomplete beta function can take minutes
_GAP = 2.0**-40


def excess(tail: Callable[[], arb], level: Fraction) -> float:
    """How far the logarithm of a tail probability is above that of `level`: at most 0 only if that is proved.

    Args:
        tail: evaluates the probability at the working precision.
        level: above 0.

    Returns:
        The difference, rounded up; infinite where 512 bits leave a doubt.
    """
    from discreet.exact.ball import ball, fraction, precision
    from discreet.exact.rounding import to_float

    for bits in _PRECISIONS:
        with precision(bits):
            ratio = tail() / ball(level)
            if ratio <= 0:
                return -inf
            logarithm = ratio.log()
            if logarithm.is_finite() and (logarithm <= 0 or logarithm > 0):
                return to_float(fraction(logarithm.upper()), round_up=True)
    return inf


def rounded_up(tail: arb) -> float:
    """A probability as a float that isn't below it; 1 if nothing is known of it."""
    from discreet.exact.ball import fraction
    from discreet.exact.rounding import to_float

    if not tail.is_finite():
        return 1.0
    if tail * 2**1074 < 1:
        return ulp(0.0)  # the least float above 0
    return min(1.0, to_float(fraction(tail.upper()), round_up=True))


def boundary(above: Callable[[float], float], inside: float, outside: float, guess: float | None = None) -> float:
    """A point where `above` is at most 0, as near as 2^-40 (relative) to where it ceases to be.

    Interpolates between the ends, and halves every third time: some twenty evaluations, or two with a good guess. What
    is returned is a point at which `above` was seen to be at most 0, so a poor search or guess costs tightness or time,
    never truth.

    Args:
        above: `excess` at a point; crosses 0 once between the two ends.
        inside: where it is at most 0. Relied on, and not asked.
        outside: where it is above 0, or needn't be at most 0.
        guess: where it may cross 0, found by floats.

    Examples:
        >>> round(boundary(lambda x: x * x - 2, 0.0, 2.0), 6)
        1.414214
    """
    seen = {inside: -inf, outside: inf}
    for point in () if guess is None else _around(guess):
        if min(inside, outside) < point < max(inside, outside):
            seen[point] = above(point)
            inside, outside = (point, outside) if seen[point] <= 0 else (inside, point)
        if isfinite(seen[inside]) and isfinite(seen[outside]):
            break
    for turn in range(200):
        width = outside - inside
        if abs(width) <= _GAP * max(abs(inside), abs(outside)):
            break
        low, high = seen[inside], seen[outside]
        point = inside + width / 2
        if turn % 3 and isfinite(low) and isfinite(high):
            step = width * low / (low - high)
            nudge = _GAP / 4 * max(abs(inside), abs(outside)) * (1 if width > 0 else -1)
            # to cross the root, so that both ends close in
            point = inside + step + (nudge if turn % 3 == 1 else -nudge)
        if not min(inside, outside) < point < max(inside, outside):
            point = inside + width / 2
        if point in seen:
            break
        seen[point] = above(point)
        if seen[point] <= 0:
            inside = point
        else:
            outside = point
    return inside


def _around(guess: float) -> Iterator[float]:
    """Points on both sides of a guess: near enough to be all that is needed, and ever farther if it is a poor one."""
    for reach in (_GAP / 3, 2.0**-36, 2.0**-30, 2.0**-20, 2.0**-10):
        yield guess * (1 - reach)
        yield guess * (1 + reach)
