"""Discrete Gaussian noise, which makes many counts private under concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact.rational import Rationalizable
from discreet.noise.alias_table import AliasTable, alias_table
from discreet.noise.geometric import draw_geometric, geometric_law
from discreet.noise.sampling import LazyUniform, Size, checked_scale, fill, integers, settle_below, whole_numbers

if TYPE_CHECKING:
    from flint import arb

_REACH = 10  # sigmas that the strips cover on either side at most; it is half of that at least
_STRIPS = 11  # 2^11 of them: with fewer, more draws have to look at the curve
_UNITS = 30  # 2^30 of area: so few leave room in a word for the place in a strip, and put few draws in doubt
_BITS = 63
_SPARE = 6  # one point in 2^6 more than draws are asked for nearly always replaces those above the curve
_SLACK = 2.0**-40


@overload
def discrete_gaussian(sigma: Rationalizable, size: None = None) -> int: ...
@overload
def discrete_gaussian(sigma: Rationalizable, size: int | tuple[int, ...]) -> NDArray[Any]: ...
def discrete_gaussian(sigma: Rationalizable, size: Size = None) -> int | NDArray[Any]:
    """Draw from Pr[n] ∝ e^(-n²/(2·sigma²)), for every integer n.

    Guarantee: exactly that distribution, given uniform bits; see `DiscreteGaussian`. Most draws are one look-up in a
    table of whole numbers. The others, below 1 in 100, are compared with the curve, and where floats can't tell,
    settled with more random bits in ball arithmetic.

    Args:
        sigma: a rational in [2^-10, 2^60], best an int or a Fraction; it isn't rounded. The standard deviation of
            the continuous Gaussian of the same form; the discrete one's is at most that.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None. Otherwise an int64 array, or, for sigmas above 2^52, an array of Python ints.

    Raises:
        InvalidArgument: sigma or the size is not a number, or is out of range.
        OverflowError: a draw for an array doesn't fit int64, with a chance below e^(-2047) whatever the data.

    Source: Canonne, Kamath, Steinke (2020), Definition 1, for the distribution; Marsaglia, Tsang (2000), section 2, for
    accepting most draws without looking at the curve.

    Examples:
        >>> discrete_gaussian(Fraction(1, 3), size=4).shape
        (4,)
    """
    number = checked_scale(sigma, "sigma")
    law, dtype = prepared(number), integers(number, size)
    noise: int | NDArray[Any] = fill(size, dtype, partial(law.draw, dtype))
    return noise


@dataclass(frozen=True, slots=True, eq=False)
class DiscreteGaussian:
    """The sampler for one sigma: points are drawn under a stair over the curve, and those under the curve are kept.

    Write h(n) = height·e^(-n²/(2·sigma²)). The integers are cut into strips of `span` each, numbered from 1, and what
    is to their left and to their right: tails. Over all of them lie 2^units units of area, and a trial draws one.

    - A strip's *lower box* ends nowhere above h, and its *upper box*, which stands on it, nowhere below h. A point in a
      box of m units is an integer of the strip, all alike, and a height y that is uniform over the m units. Under the
      curve means y < h(n); in lower boxes nobody needs to look.
    - In a tail of m units that starts s away from 0, the integer is s + a with probability (1 − q)·q^a, where q is
      e^(-s/sigma²), and y is uniform in [0, m). Under the curve means y < h(s)·e^(-a²/(2·sigma²))/(span·(1 − q)), which
      is at most m. Since (s + a)² = s² + 2sa + a², that is h(s + a)/span units' worth of points for each a.
    - The other units are nobody's, and never under the curve.

    So one trial returns each integer n with probability h(n)/(span·2^units): exactly, wherever the boxes end and
    whatever `height` is. Repeated until a point is under the curve, it returns n with probability ∝ h(n). Floats choose
    the boxes, with a margin that keeps lower ones under the curve and upper ones over it. That they fit is checked in
    whole numbers. All lower boxes are in one table, where index 0 stands for the units outside of them.

    **Bound on the curve in floats.** Floats and `exp` are taken to err as in `floored_exponential.py`. In a strip,
    r = |n|/sigma is at most 10, and its float is off by a factor 1 ± 3.1ε. So x = r²/2 ≤ 50 is off by at most 7.3ε·x ≤
    365ε, e^(-x) with the 2^-46 = 128ε of `exp` by a factor 1 ± 494ε, and h by 1 ± 496ε; the margin 2^-40 allows 8192ε.
    Where a tail starts x may exceed 50; then the tail is far below 1, which is added to each end of the stair. Floats
    tell a height in [level, level + 1) from h unless h, give or take its margin, lies in there as well.

    Whether a draw looked at the curve says a little about it: upper boxes are largest where the curve is steep.
    """

    sigma: Fraction
    shift: int
    """span = 2^shift."""
    height: float
    bits: int
    """Bits of the number that picks a strip. If it has that many below those of its unit, the last pick the integer."""
    table: AliasTable
    stair: NDArray[np.int64]
    """Where it ends over the left tail, each strip, and the right tail, in units."""
    ends: NDArray[np.int64]
    """Where their units outside of lower boxes end, all of these laid end to end; what is beyond is nobody's."""

    def draw(self, dtype: type, count: int, source: Words) -> NDArray[Any]:
        """`count` independent draws from a source of words."""
        out: NDArray[Any] = np.empty(count, dtype=dtype)
        done = 0
        while done < count:
            left = count - done
            noise, rejected = self.trial(dtype, left + (left >> _SPARE), source)
            kept = np.delete(noise, rejected)[:left]
            out[done : done + len(kept)] = kept
            done += len(kept)
        return out

    def trial(self, dtype: type, count: int, source: Words) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The integers of `count` points, and which of them aren't under the curve."""
        numbers = whole_numbers(self.bits, count, source)
        strips = self.table.pick(numbers)
        outside = np.flatnonzero(strips == 0)
        ranks = self.table.ranks(numbers[outside])
        strips[outside] = owners = np.searchsorted(self.ends, ranks, side="right")
        if self.shift <= self.table.fraction:
            numbers &= (1 << self.shift) - 1
        else:
            numbers = whole_numbers(self.shift, count, source)
        noise: NDArray[Any] = strips.astype(dtype, copy=False)
        noise <<= self.shift
        noise += numbers
        noise -= self._reach
        if not len(outside):
            return noise, outside
        noise[outside], kept = self._compared(noise[outside], owners, ranks, source)
        return noise, outside[~kept]

    def _compared(
        self, noise: NDArray[Any], owners: NDArray[np.intp], ranks: NDArray[np.int64], source: Words
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Points outside of lower boxes: their integers, those of tails drawn now, and which are under the curve."""
        right = len(self.ends) - 1
        levels = ranks + (self.stair - self.ends).take(owners, mode="clip")  # y lies in [level, level + 1)
        curve = self.height * _curve(noise.astype(np.float64), self.sigma)
        margin = _SLACK * (curve + 1)
        above = curve - levels
        kept = (above - margin > 1) & (owners <= right)
        tails = (owners == 0) | (owners == right)
        for i in np.flatnonzero(tails | (above + margin >= 0) & ~kept & (owners <= right)):
            level = int(levels[i])
            share = partial(self.curve, int(noise[i]), level)
            if tails[i]:
                start = self._reach if owners[i] else self._reach - (1 << self.shift) + 1
                beyond = draw_geometric(geometric_law(self.sigma**2 / start), object, 1, source)[0]
                noise[i] = start + beyond if owners[i] else -start - beyond
                share = partial(self.tail_curve, start, beyond, level)
            kept[i] = settle_below(share, LazyUniform(0, 0, source))
        return noise, kept

    @property
    def _reach(self) -> int:
        """Where the right tail starts."""
        return len(self.ends) // 2 << self.shift

    def curve(self, n: int, level: int = 0) -> arb:
        """h(n) above a level, at the working precision."""
        from discreet.exact.ball import ball

        return ball(Fraction(self.height)) * ball(-(n**2) / (2 * self.sigma**2)).exp() - level

    def tail_curve(self, start: int, beyond: int, level: int = 0) -> arb:
        """h(s)·e^(-a²/(2·sigma²))/(span·(1 − q)) above a level, at the working precision."""
        from discreet.exact.ball import ball

        chance = 1 - ball(-start / self.sigma**2).exp()
        return self.curve(start) * ball(-(beyond**2) / (2 * self.sigma**2)).exp() / (chance * (1 << self.shift)) - level


@lru_cache(maxsize=64)
def prepared(sigma: Fraction, *, strips: int = _STRIPS, units: int = _UNITS, bits: int = _BITS) -> DiscreteGaussian:
    """The sampler for `sigma`.

    Args:
        sigma: above 0.
        strips: there are 2^strips − 1 at most, or a smaller such number that is enough.
        units: 2^units of area in all.
        bits: of the number that picks a strip; at least as many as units, at most 63.

    Raises:
        ArithmeticError: the stair doesn't fit in so few units.
    """
    digits = ceil(_REACH * sigma).bit_length()
    count, shift = 1 << min(strips, digits), max(digits - strips, 0)
    first = (np.arange(1, count) - count // 2) * 2.0**shift
    last = first + (2.0**shift - 1)
    starts = np.array([1 - first[0], 1 + last[-1]])
    tails = _curve(starts, sigma) * (1 + float(sigma**2) / starts) / 2.0**shift  # 1/(1 − e^(-x)) ≤ 1 + 1/x
    stair = np.concatenate((tails[:1], _curve(np.minimum(abs(first), abs(last)), sigma), tails[1:]))
    height = (1 - 2.0**-30) * (2**units - len(stair)) / float(stair.sum())
    upper = (height * (1 + _SLACK) * stair).astype(np.int64) + 1
    lower = np.zeros_like(upper)
    lower[1:-1] = height * (1 - _SLACK) * _curve(np.maximum(abs(first), abs(last)), sigma)
    ends, outside = np.cumsum(upper - lower), 2**units - int(lower.sum())
    if ends[-1] > outside:
        raise ArithmeticError(f"2^{units} units of area are too few for {count - 1} strips")
    weights = lower[:-1].copy()
    weights[0] = outside
    return DiscreteGaussian(sigma, shift, height, bits, alias_table(weights, bits), upper, ends)


def _curve(n: NDArray[np.float64], sigma: Fraction) -> NDArray[np.float64]:
    """h(n)/height in floats."""
    with np.errstate(under="ignore"):  # far out it is below the range of floats, and 0 is near enough
        return np.exp(-0.5 * (n * float(1 / sigma)) ** 2)
