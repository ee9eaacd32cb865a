"""Discrete Gaussian noise, which makes many counts private under concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.exact.rational import Rationalizable
from discreet.noise.bernoulli import exp_chance
from discreet.noise.floored_exponential import FlooredExponential
from discreet.noise.laplace import draw_laplace, laplace_law
from discreet.noise.sampling import LazyUniform, Size, checked_scale, fill, integers, settle_below

_SLACK = 2.0**-44


@overload
def discrete_gaussian(sigma: Rationalizable, size: None = None) -> int: ...
@overload
def discrete_gaussian(sigma: Rationalizable, size: int | tuple[int, ...]) -> NDArray[Any]: ...
def discrete_gaussian(sigma: Rationalizable, size: Size = None) -> int | NDArray[Any]:
    """Draw from Pr[n] ∝ e^(-n²/(2·sigma²)), for every integer n.

    Guarantee: exactly that distribution, given uniform bits. A discrete Laplace Y of scale sigma is accepted with
    probability exp(-(|Y|/sigma − 1)²/2). Accepted values have probability ∝ exp(-|n|/sigma − n²/(2·sigma²) +
    |n|/sigma − 1/2), where the terms in |n| cancel. More than half of the proposals are accepted, and how many it
    took says nothing about the value that came out.

    Args:
        sigma: a rational in [2^-10, 2^60], best an int or a Fraction; it isn't rounded. The standard deviation of
            the continuous Gaussian of the same form; the discrete one's is at most that.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None. Otherwise an int64 array, or, for sigmas above 2^52, an array of Python ints.

    Raises:
        InvalidArgument: sigma or the size is not a number, or is out of range.
        OverflowError: a proposal for an array doesn't fit int64, with a chance below e^(-2047) whatever the data.

    Source: Canonne, Kamath, Steinke (2020), Definition 1; Algorithm 3 with t = sigma, which need not be an integer
    here because Laplace noise of any rational scale is at hand.

    Examples:
        >>> discrete_gaussian(Fraction(1, 3), size=4).shape
        (4,)
    """
    number = checked_scale(sigma, "sigma")
    law, dtype = prepared(number), integers(number, size)
    noise: int | NDArray[Any] = fill(size, dtype, partial(law.draw, dtype))
    return noise


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """The sampler for one sigma.

    **Bound on the acceptance in floats.** Floats and `exp` are taken to err as in `floored_exponential.py`. Write
    r = |Y|/sigma, z = r − 1, x = z²/2. r is off by a factor 1 ± 3.1ε, so z is off by at most 3.1ε(|z| + 1) + ε|z|, and
    x by at most 8.4ε·max(z², 1). For |z| ≥ 1 that is 16.8ε·x, and x·e^(-x) ≤ 1/e, so e^(-x) is off by at most 6.3ε; for
    |z| < 1 by at most 8.4ε. `exp` adds 2^-46 and the uniform number 2^-b + ε. The margin 2^-b + 2^-44 holds that with
    room for its own rounding.
    """

    sigma: Fraction
    proposal: FlooredExponential

    def draw(self, dtype: type, count: int, source: Words) -> NDArray[Any]:
        """`count` independent draws from a source of words."""
        out: NDArray[Any] = np.empty(count, dtype=dtype)
        done = 0
        while done < count:
            left = count - done
            proposed = draw_laplace(self.proposal, dtype, left + left // 2, source)
            kept = proposed[self.accept(proposed, source)][:left]
            out[done : done + len(kept)] = kept
            done += len(kept)
        return out

    def accept(self, proposed: NDArray[Any], source: Words) -> NDArray[np.bool_]:
        """Which proposals are kept, each decided by a uniform number of its own."""
        cells, bits = source.words(len(proposed)), source.width
        uniform = cells.astype(np.float64)
        uniform *= 2.0**-bits
        chance = np.abs(proposed.astype(np.float64))
        chance *= float(1 / self.sigma)
        chance -= 1
        chance *= chance
        chance *= -0.5
        with np.errstate(under="ignore"):  # far out the chance is below the range of floats, and 0 is near enough
            np.exp(chance, out=chance)
        chance -= uniform
        margin = 2.0**-bits + _SLACK
        accepted = chance > margin
        for i in np.flatnonzero(~(np.abs(chance, out=chance) > margin)):
            exponent = (abs(int(proposed[i])) / self.sigma - 1) ** 2 / 2
            accepted[i] = settle_below(partial(exp_chance, exponent), LazyUniform(cells[i], bits, source))
        return accepted


@lru_cache(maxsize=256)
def prepared(sigma: Fraction) -> DiscreteGaussian:
    """The sampler for `sigma`."""
    return DiscreteGaussian(sigma, laplace_law(sigma))
