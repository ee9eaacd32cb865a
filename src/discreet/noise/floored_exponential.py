"""The one computation under geometric and Laplace noise: ⌊shift + scale·E⌋ for a standard exponential E.

The floor is taken of a float whose error is bounded below. If the bound reaches over an integer, the float can't
tell, and the draw is settled in ball arithmetic with more random bits (`settle_floor`). So the floats decide how
fast a draw is, never what it is.

**What is assumed of floats.** They are IEEE 754 doubles that round to nearest, and NumPy's `log` and `log1p` err by
at most 64 units in the last place, 2^-46 relative (NumPy keeps its vector loops under 4 and a good libm under 1;
a test measures it). Write ε = 2^-53, so that each +, −, ×, ÷ and conversion errs by a factor 1 ± ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.noise.sampling import LazyUniform, settle_floor

if TYPE_CHECKING:
    from flint import arb


Shift = Callable[[], "arb"]
"""A shift in [0, 1), evaluated in ball arithmetic at the working precision."""

ONE_WORD = 1 << 24  # up to this scale one word of randomness resolves the floor nearly always
_TAIL = 2.0**-39
_DIGIT = 2.0**-44


class Law(Protocol):
    """A monotone function of a uniform number U, once in floats with a bound on their error, once in balls."""

    def estimate(self, cells: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], Any]:
        """The value at some point of each cell, and a bound on how far that is from any value of the cell."""

    def ball(self, u: arb) -> arb:
        """The value at `u`."""


@dataclass(frozen=True, slots=True)
class Tail:
    """T = shift − scale·log U, which is shift + scale·E.

    **Bound.** Let k ≥ 1 be U's cell, U ∈ [k, k+1) / 2^b with b ≤ 63, and t the float computed. fl(k) = k(1 ± ε), and
    scaling by 2^-b is exact. So log of it is off log U by at most log((k+1)/k) + 1.01ε ≤ 1/k + 1.01ε; `log` adds
    2^-46 of its value, which is under 44 (63·log 2 = 43.7). Together 1/k + 2^-40.5. Times scale, with 2ε·44·scale for
    rounding scale and the product, 2ε for rounding shift and ε(44·scale + 1) for the sum, the error of t is at most
    scale/k + (scale + 1)·2^-40.4. The margin scale/k + (scale + 1)·2^-39 leaves 2^-39.7·(scale + 1) for the rounding
    of the margin itself and of t ± margin, which is below 2^-45·(scale + 1). At k = 0 the margin is infinite.
    """

    scale: Fraction
    shift: Shift
    scale_float: float
    shift_float: float

    def estimate(self, cells: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], Any]:
        """The value in floats, and the margin of the bound above."""
        k = cells.astype(np.float64)
        margin = self.scale_float / k
        margin += (self.scale_float + 1) * _TAIL
        k *= 2.0**-bits
        value = np.log(k, out=k)
        value *= -self.scale_float
        value += self.shift_float
        return value, margin

    def ball(self, u: arb) -> arb:
        """The value at `u` in balls."""
        from discreet.exact.ball import ball

        return self.shift() - ball(self.scale) * u.log()


@dataclass(frozen=True, slots=True)
class Digit:
    """T = shift − scale·log(1 − pU) with p = 1 − e^(-span/scale): as `Tail`, given that scale·E < span.

    **Bound.** Let span ≤ scale and U ∈ [k, k+1) / 2^b. The float of pU is off by p(2^-b + 3.1ε), and the derivative of
    log(1 − y) there is at most 1/(1−p) = e^(span/scale). Since scale·p·e^(span/scale) = scale·(e^(span/scale) − 1) ≤
    1.72·span, this shifts T by at most span·(1.72·2^-b + 5.4ε). `log1p` adds 2^-46 = 128ε of a value of at most span,
    and the product and the sum add 4ε·(span + 1). The margin span·(2^(1-b) + 2^-44) + 2^-44 allows 512ε for 138ε.
    """

    scale: Fraction
    shift: Shift
    span: int
    scale_float: float
    shift_float: float
    chance_float: float

    def estimate(self, cells: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], Any]:
        """The value in floats, and the margin of the bound above."""
        value = cells.astype(np.float64)
        value *= -self.chance_float * 2.0**-bits
        np.log1p(value, out=value)
        value *= -self.scale_float
        value += self.shift_float
        return value, self.span * (2.0 ** (1 - bits) + _DIGIT) + _DIGIT

    def ball(self, u: arb) -> arb:
        """The value at `u` in balls."""
        from discreet.exact.ball import ball

        chance = 1 - (-ball(Fraction(self.span) / self.scale)).exp()
        return self.shift() - ball(self.scale) * (1 - chance * u).log()


@dataclass(frozen=True, slots=True)
class FlooredExponential:
    """⌊shift + scale·E⌋, exactly, for any rational scale.

    A large scale doesn't fit one word: the fraction of scale·E would be lost in rounding. There E is split. With
    an integer span, ⌊scale·E / span⌋ and scale·E mod span are independent, because E has no memory. The first is
    ⌊(scale/span)·E′⌋; the second is scale·E″ given that this is below span. As span is an integer,
    ⌊shift + scale·E⌋ = span·⌊(scale/span)·E′⌋ + ⌊shift + scale·E″⌋, and each floor is of a size that floats resolve.
    """

    high: Tail
    low: Digit | None

    def draw(self, cells: NDArray[np.int64], bits: int, source: Words, dtype: type) -> NDArray[Any]:
        """One value for each cell of a uniform number.

        Args:
            cells: uniform in [0, 2^bits), independent.
            bits: at most 63.
            source: gives further words: one for each cell if the scale is large, and what doubtful draws need.
            dtype: np.int64, for scales up to 2^52, or object for Python integers of any size.

        Raises:
            OverflowError: a value doesn't fit int64. It is never wrapped or cut off.
        """
        floors, doubtful = _floors(self.high, cells, bits)
        values: NDArray[Any] = floors.astype(dtype, copy=False)
        digits = None
        if self.low is not None:
            digits = source.words(len(cells))
            lows, more = _floors(self.low, digits, source.width)
            values = values * self.low.span + lows
            doubtful |= more
        for i in np.flatnonzero(doubtful):
            exact = settle_floor(self.high.ball, LazyUniform(cells[i], bits, source))
            if self.low is not None and digits is not None:
                low = settle_floor(self.low.ball, LazyUniform(digits[i], source.width, source))
                exact = exact * self.low.span + low
            values[i] = exact
        return values


def floored_exponential(scale: Fraction, shift: Shift, *, span: int | None = None) -> FlooredExponential:
    """Prepare the sampler of ⌊shift + scale·E⌋.

    Args:
        scale: above 0.
        shift: in [0, 1), as a ball.
        span: where a large scale is split, at most scale; chosen if None, and 1 means not split.
    """
    from discreet.exact.ball import ball, enclose

    if span is None:
        span = 1 if scale <= ONE_WORD else 1 << (int(scale).bit_length() // 2)
    shift_float = float(enclose(shift, bits=64)[0])
    if span == 1:
        return FlooredExponential(Tail(scale, shift, float(scale), shift_float), None)
    ratio = scale / span
    chance = enclose(lambda: 1 - (-1 / ball(ratio)).exp(), bits=64)[0]
    high = Tail(ratio, no_shift, float(ratio), 0.0)
    return FlooredExponential(high, Digit(scale, shift, span, float(scale), shift_float, float(chance)))


def no_shift() -> arb:
    """Zero, as a ball."""
    from discreet.exact.ball import ball

    return ball(0)


def _floors(law: Law, cells: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The floor of the law in each cell, and the cells where it is in doubt, whose floors mean nothing."""
    with np.errstate(all="ignore"):  # cell 0 gives infinities: it is in doubt, as it should be
        value, margin = law.estimate(cells, bits)
        low = np.floor(value - margin)
        value += margin
        high = np.floor(value, out=value)
        return low.astype(np.int64), ~(low == high)  # so written, NaN is in doubt as well
