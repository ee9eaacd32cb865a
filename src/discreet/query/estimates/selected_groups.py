"""Selected groups: intervals that hold of those groups that are shown.

A group whose key is private is shown only if its noisy number of units reaches a threshold τ. Of a group that is shown,
noise in that number is therefore larger than noise is in general: if 10 units reach a threshold of 15, it is 5 at the
least. An interval that holds for 95 % of draws may hold for no draw that shows the group. Those here hold for at least
the stated share of the draws that show it, however large the group is.

*A number of units.* Let m be the exact number, Y the noisy one, and S(k) = Pr[noise ≥ k]. Where the group is shown,
Pr[Y ≥ y] is S(y − m)/S(τ − m). It increases in m, since the noise is log-concave; so the m for which it is at least α
hold the exact one but for a share of α (`least`). Being shown makes no Y too small, so upper ends stay as they are.

*Any other statistic in which the number of units is used.* Let l be the limit above for α/50, and s = S(τ − l). Where
the exact m is at least l, which is so but for α/50, the group is shown with a probability of at least s; so what fails
with a probability of at most 49/50·α·s over all draws fails for at most 49/50·α of those that show the group. As
intervals grow with their confidence, that of the usual kind for 1 − 49/50·α·s is wide enough (`confidence`).

What doesn't use the number of units has noise that selection knows nothing of.

Source: Lee, Sun, Sun, Taylor (2016), Section 5, for intervals given what was selected, by the truncated law.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, fsum, log, log1p, pi, sqrt

from discreet.mechanisms import Gaussian, Threshold
from discreet.query.estimates.noise import Mechanism

_FOR_UNITS = 1 / 50
"""Which part of the error is spent on the number of units, where the interval is of something else."""

_SMALLEST = 2.0**-50
"""Intervals of a greater confidence than 1 − 2⁻⁵⁰ aren't given."""

_FAR = 30.0
"""Beyond so many standard deviations a normal tail is bounded by Mills' ratio instead of computed."""

_WIDE = 16.0
"""Gaussian noise of a σ above is so wide that one step more or less doesn't matter."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A group that was selected by its noisy number of units.

    Args:
        threshold: that it reached, with the noise of the number.
        noisy: the noisy number of units, in steps.
    """

    threshold: Threshold
    noisy: int

    def least(self, outside: float) -> int:
        """The least number of units, in steps, for which so many would be seen in at least this share of draws.

        The search takes the share to be larger than it is where it isn't computed exactly, so the limit is too low
        rather than too high.

        Args:
            outside: the share, over the draws that show the group; in (0, 1).

        Examples:
            >>> from fractions import Fraction
            >>> from discreet.mechanisms import Laplace
            >>> from discreet.privacy import Sensitivity
            >>> noise = Laplace.calibrate(Sensitivity.scalar(1), epsilon=1)
            >>> by_a_millionth = Threshold(noise, l0=1, linf=1, delta=Fraction(1, 10**6))
            >>> Selected(by_a_millionth, 17).least(0.025), Selected(by_a_millionth, 40).least(0.025)
            (1, 37)
        """
        low, high = 1, max(self.noisy, 1)
        while low < high:
            middle = (low + high) // 2
            if self._share(middle) >= outside:
                high = middle
            else:
                low = middle + 1
        return high

    def confidence(self, confidence: float) -> float | None:
        """Over all draws, the confidence of an interval that has the stated one over those that show the group.

        Args:
            confidence: over the draws that show the group; in (0, 1).

        Returns:
            The confidence to use; None if none that can be had is enough.
        """
        outside = 1 - confidence
        shown = exp(_log_tail(self.threshold.noise, self.threshold.value - self.least(outside * _FOR_UNITS))[0])
        used = outside * (1 - _FOR_UNITS) * shown
        return None if used < _SMALLEST else 1 - used

    def _share(self, units: int) -> float:
        """Of the draws that would show a group of so many units, the share in which as many are seen, or more."""
        seen, shown = (_log_tail(self.threshold.noise, end - units) for end in (self.noisy, self.threshold.value))
        return exp(min(seen[1] - shown[0], 0.0))


def _log_tail(noise: Mechanism, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least]."""
    if least < 1:  # by symmetry, 1 − Pr[noise ≥ 1 − least], which is at least 1/2
        below, above = _log_tail(noise, 1 - least)
        return log1p(-exp(above)), log1p(-exp(below))
    if isinstance(noise, Gaussian):
        return _log_gaussian_tail(float(noise.sigma), least)
    rate = 1 / float(noise.scale)
    exact = -rate * least - log1p(exp(-rate))
    return exact, exact


def _log_gaussian_tail(sigma: float, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least], for `least` above 0.

    Narrow noise is summed. Else, as the density falls there, Σ e^(−n²/2σ²) over n ≥ least lies between the integrals
    from `least` and from `least` − 1, and over all n it is √(2π)σ, by Poisson's formula, but for less than 10⁻⁶⁰ of it.
    """
    if sigma > _WIDE:
        return _log_normal_tail(least / sigma)[0], min(_log_normal_tail((least - 1) / sigma)[1], log(0.5))
    reach = range(int(_FAR * sigma) + 2)
    beyond = fsum(exp(-(2 * least * n + n * n) / (2 * sigma**2)) for n in reach)
    whole = 2 * fsum(exp(-n * n / (2 * sigma**2)) for n in reach) - 1
    exact = log(beyond) - least**2 / (2 * sigma**2) - log(whole)
    return exact, exact


def _log_normal_tail(distance: float) -> tuple[float, float]:
    """Bounds on the logarithm of the normal law's upper tail, for a distance from 0 on."""
    if distance < _FAR:
        exact = log(erfc(distance / sqrt(2)) / 2)
        return exact, exact
    above = -(distance**2) / 2 - log(distance * sqrt(2 * pi))
    return above - log1p(distance**-2), above
