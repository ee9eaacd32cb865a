"""Compositions of many events: the sum of all losses by FFT, tilted so that the part that matters comes out precisely.

With K(θ) = ln E[e^(θL); L finite] of the sum L of all losses, and T the law of L tilted by e^(θL)/e^K,

    δ(ε) = Pr[L = ∞] + e^(K − θε)·Σ_{l > ε} e^(−θ(l−ε))·(1 − e^(ε−l))·T(l).

T is a convolution of tilted laws, each a probability law, and a discrete Fourier transform computes it with an error
that is small against 1. The factor before the sum is about δ(ε) where θ is chosen such that K′(θ) = ε: so the error is
small against δ(ε), however small that is. The mass that is left out lies outside a window of T, where by Chernoff's
bound T has at most 2e^(−44).

*The error of the FFT*, for transforms of N = 2^a, 3·2^a or 5·2^a points in float64, u = 2⁻⁵³. Each output is a sum of
all inputs x_j, each times the product of the factors on its way through at most log₂N butterflies. A rounded complex
sum, product or factor is the exact one times 1 + d with |d| ≤ 3u, and there are no more than five on each level: so
relative to Σ|x_j|, which is 1 for each law, an output is off by at most 16·log₂N·u. Each product adds 3u or less. No
factor exceeds 1, but for these errors; so n laws, transformed and multiplied, are off by at most n·(16·log₂N + 8)·u.
The inverse transform adds N of these up, its own error likewise, and divides by N: each point of T is off by at most (n
+ 1)·(16·log₂N + 8)·u. This is added at every point. (NumPy's transform is `pocketfft`, with twiddle factors within a
unit in the last place. It is far more precise than this bound; a test measures it.)

Source: Koskela, Jälkö, Honkela (2020), the algorithm of the Fourier accountant; Alghamdi et al. (2022), "The
saddle-point accountant", its definition of the tilted law; Higham (2002), "Accuracy and stability of numerical
algorithms", Theorem 24.2, on the FFT's error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, log, log1p, log2, pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.textbook.accounting.pld.laws import Bins, Floats, Rounding

_U = 2.0**-53
_OUTSIDE = 44.0
"""−ln of the tilted mass that may lie outside the window, on either side."""

_SPREADS = 1.0, 3.0, 9.0
"""Chernoff's bound on it is taken this many inverse standard deviations from the tilt, the least for heavy tails."""

_MASSES = 2.0**-36
"""How far off, relatively, a law's masses may be before they are composed: quadrature, sums, exponentials, the tilt."""

_STEEPEST = 2.0**13
"""The most that θl may be for a loss l of a single law, so that e^(θl) keeps a precision of `_MASSES`."""

_SLIGHT = 4.0
"""The most that θl may be for a loss l of one law under a slight tilt: a rare loss far out mustn't take all of T."""

_MOST_POINTS = 2**23
"""How many points a tilted law's window may have."""

_TINY = 1e-100
"""Masses below this don't matter beside the error of the transform."""

Spectrum: TypeAlias = NDArray[np.complex128]
"""A real law's Fourier transform, at frequencies from 0 up."""


@dataclass(frozen=True, slots=True)
class Tilted:
    """The composition, tilted by θ, in its window: δ(ε) near the ε it was tilted to, from above and from below.

    Args:
        theta: the tilt, 0 or above.
        exponent: K(θ).
        losses: the points of the window, in order.
        chances: T at these points, as computed.
        error: a bound on the error of each of them.
        outside: how much of T may lie outside the window, or in it where it doesn't belong.
    """

    theta: float
    exponent: float
    losses: Floats
    chances: Floats
    error: float
    outside: float

    def above(self, epsilon: float) -> float:
        """An upper bound on E[(1 − e^(ε−L))₊; L finite], but for the roundings that `Composition.growth` covers."""
        rest, weights = self._weights(epsilon)
        return self._untilted(epsilon, float((weights * (rest + self.error)).sum()) + self.outside)

    def below(self, epsilon: float) -> float:
        """A lower bound on the same."""
        rest, weights = self._weights(epsilon)
        return self._untilted(
            epsilon, max(float((weights * np.maximum(rest - self.error, 0)).sum()) - self.outside, 0.0)
        )

    def _weights(self, epsilon: float) -> tuple[Floats, Floats]:
        """T above ε, and what each of its points counts."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        past = self.losses[first:] - epsilon
        return self.chances[first:], np.exp(-self.theta * past) * -np.expm1(-past)

    def _untilted(self, epsilon: float, value: float) -> float:
        """Times e^(K − θε)."""
        return exp(min(self.exponent - self.theta * epsilon, 700.0)) * value


class Composition:
    """The sum of the losses of independent pairs on one grid.

    Args:
        parts: the pairs and how often each occurs, 1 or more; all with the same step.
        rounding: of losses to the grid.

    Attributes:
        count: how many pairs there are, each as often as it occurs.
        step: of the grid.
        infinity: the probability that a loss is infinite, rounded up.
        cut: the probability, under either law, of all that was left out.
        most: the greatest finite loss.
    """

    def __init__(self, parts: Sequence[tuple[Bins, int]], rounding: Rounding = Rounding.CONNECT) -> None:
        """Lay all masses out in one array, so that all laws are tilted at once."""
        laws = [_trimmed(bins.low, bins.masses(rounding)) for bins, _ in parts]
        self._powers = [times for _, times in parts]
        self.step = parts[0][0].step
        self.count = sum(self._powers)
        finite = sum(times * log1p(-min(bins.infinity, 1 - _U)) for bins, times in parts)
        self.infinity = -expm1(finite) * (1 + 8 * _U * self.count)
        self.cut = sum(times * bins.cut for bins, times in parts)
        self._lengths = np.array([len(masses) for _, masses in laws])
        self._starts = np.concatenate(([0], np.cumsum(self._lengths)[:-1]))
        self._losses = self.step * np.concatenate([low + np.arange(len(masses)) for low, masses in laws])
        with np.errstate(divide="ignore"):
            self._logs = np.log(np.concatenate([masses for _, masses in laws]))
        self._times = np.array(self._powers, dtype=np.float64)
        self._least = sum(low * times for (low, _), times in zip(laws, self._powers, strict=True))
        steps = sum((len(masses) - 1) * times for (_, masses), times in zip(laws, self._powers, strict=True))
        self._greatest = self._least + steps
        self.most = self.step * self._greatest

    @property
    def growth(self) -> float:
        """How much ln δ may be off because the laws' masses, and their products, are rounded."""
        return self.count * _MASSES

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """K(θ), K′(θ) and K″(θ): the logarithm of E[e^(θL)], and mean and variance under the tilt."""
        exponents, chances = self._tilts(theta)
        means = np.add.reduceat(chances * self._losses, self._starts)
        squares = np.add.reduceat(chances * (self._losses - np.repeat(means, self._lengths)) ** 2, self._starts)
        return float(self._times @ exponents), float(self._times @ means), float(self._times @ squares)

    def tilt_for(self, *, epsilon: float | None = None, surprise: float = 0.0) -> float:
        """A θ ≥ 0 that suits an ε or a δ = e^(−surprise).

        For ε, K′(θ) = ε; where ε isn't above K′(0), a slight tilt. For δ, e^(K − θK′)/(θ(1 + θ)·√(2πK″)) ≈ δ, the
        saddle-point approximation. By Newton's method on logarithms, with guards; any θ gives valid bounds, and at this
        one they are tight. It is rounded to a power of ⁸√2, so that questions about nearby ε share their transforms.
        """
        greatest = max(float(np.abs(self._losses).max()), self.step)
        ceiling = _STEEPEST / greatest
        _, start, variance = self.cumulants(0.0)
        target = surprise if epsilon is None else min(epsilon, 0.9 * self.most + 0.1 * start) - start
        if variance == 0 or surprise < 0:
            return 0.0
        if epsilon is not None and target <= sqrt(variance) / 8:
            return float(min(2.0 ** round(-log2(2 * sqrt(variance))), _SLIGHT / greatest))
        theta = sqrt(2 * surprise / variance) if epsilon is None else target / variance
        low, high = 0.0, ceiling
        for _ in range(60):
            theta = theta if low < theta < high else (low + high) / 2
            exponent, mean, variance = self.cumulants(theta)
            value, slope = mean - start, variance
            if epsilon is None:
                factor = max(theta * (1 + theta) * sqrt(2 * pi * variance), 1.0)
                value, slope = theta * mean - exponent + log(factor), theta * variance
            narrow = (
                variance < self.step**2
            )  # a single point has all the mass, and more of a tilt would lose the others
            if abs(value - target) <= target / 16 and not narrow:
                break
            low, high = (low, theta) if value > target or narrow else (theta, high)
            theta -= log(value / target) * value / slope if value > 0 and slope > 0 and not narrow else theta
        theta = min(max(theta, low, 1e-9 * ceiling), ceiling)
        return float(min(2.0 ** (round(8 * log2(theta)) / 8), ceiling))

    def tilted(self, theta: float) -> Tilted:
        """The composition's law under a tilt of θ ≥ 0, or of less where that would need too many points; by FFT."""
        exponent, mean, variance = self.cumulants(theta)
        low, high = self._window(theta, exponent, mean, sqrt(variance))
        if high - low > _MOST_POINTS and theta > 0:
            return self.tilted(theta / 2)  # a heavy tail; less of a tilt is valid too
        size = _good_size(high - low + 1)
        chances = np.roll(self._product(theta, size), (self._least - low) % size)
        return Tilted(
            theta=theta,
            exponent=exponent,
            losses=self.step * np.arange(low, low + size, dtype=np.float64),
            chances=chances,
            error=(self.count + 1) * (16 * log2(size) + 8) * _U,
            outside=2 * exp(-_OUTSIDE),
        )

    def _tilts(self, theta: float) -> tuple[Floats, Floats]:
        """Each law's K(θ), and all tilted laws in one array; each adds up to 1."""
        weights = self._logs + theta * self._losses
        peaks = np.maximum.reduceat(weights, self._starts)
        with np.errstate(under="ignore"):
            chances = np.exp(weights - np.repeat(peaks, self._lengths))
        sums = np.add.reduceat(chances, self._starts)
        chances /= np.repeat(sums, self._lengths)
        return peaks + np.log(sums), chances

    def _window(self, theta: float, exponent: float, mean: float, deviation: float) -> tuple[int, int]:
        """The first and last point of a window outside of which, on either side, T has at most e^(−44).

        By Chernoff's bound, T(L ≥ a) ≤ e^(K(θ+s) − K(θ) − sa) for all s > 0, and likewise below.
        """
        low, high = self._least, self._greatest
        for spread in _SPREADS if deviation > 0 else ():
            s = spread / deviation
            above = (self.cumulants(theta + s)[0] - exponent + _OUTSIDE) / s
            below = (self.cumulants(theta - s)[0] - exponent + _OUTSIDE) / s
            low, high = max(low, floor(-below / self.step)), min(high, ceil(above / self.step))
        middle = min(max(round(mean / self.step), self._least), self._greatest)
        return min(low, middle), max(high, middle)

    def _product(self, theta: float, size: int) -> Floats:
        """The cyclic convolution of all tilted laws, with as many points as `size`; the first is the least loss."""
        _, chances = self._tilts(theta)
        laws = np.split(chances, self._starts[1:])
        spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
        for law, power in zip(laws, self._powers, strict=True):
            spectrum *= _power(np.fft.rfft(_folded(law, size)), power)
        return np.fft.irfft(spectrum, size)


def _trimmed(low: int, masses: Floats) -> tuple[int, Floats]:
    """Masses without empty points at the ends, and where they begin."""
    some = np.flatnonzero(masses)
    if not len(some):
        return low, masses[:1]
    return low + int(some[0]), masses[some[0] : some[-1] + 1]


def _folded(law: Floats, size: int) -> Floats:
    """The law on a circle of `size` points."""
    rounds = -(-len(law) // size)
    folded = np.zeros(rounds * size)
    folded[: len(law)] = law
    return folded.reshape(rounds, size).sum(axis=0) if rounds > 1 else folded


def _power(spectrum: Spectrum, power: int) -> Spectrum:
    """A power, by repeated squaring: about as many roundings as factors, and each is small against the product.

    Tiny masses are set to 0, which changes nothing and avoids the processor's slow path for the tiniest numbers.
    """
    result = spectrum if power & 1 else np.ones_like(spectrum)
    while power := power >> 1:
        spectrum = spectrum * spectrum
        spectrum[np.abs(spectrum.real) + np.abs(spectrum.imag) < _TINY] = 0
        if power & 1:
            result = result * spectrum
    return result


def _good_size(least: int) -> int:
    """The next number of the form 2^a, 3·2^a or 5·2^a: FFTs of these are made of small butterflies."""
    return min(factor << max(ceil(log2(least / factor)), 4) for factor in (1, 3, 5))
