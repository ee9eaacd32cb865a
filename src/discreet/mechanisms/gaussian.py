"""Gaussian noise for integer vectors: the additive noise of concentrated and approximate differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import AddsUnboundedNoise, as_float, checked_scale, checked_sensitivity
from discreet.privacy import ZCDP, GaussianEvent, Sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BITS = 32
"""Binary digits of a σ that is found by a root; rounding it up costs at most 2⁻³¹ of accuracy."""


@dataclass(frozen=True, slots=True)
class Gaussian(AddsUnboundedNoise):
    """Adds discrete Gaussian noise, Pr[n] ∝ exp(−n²/2σ²), to each integer of a vector.

    Guarantee: (ℓ2²/2σ²)-zCDP, exactly, in any number of dimensions; and (ε, δ)-DP for any ε with δ = `delta_at(ε)`.

    Args:
        sigma: of the noise, in steps of the grid; from 2⁻¹⁰ to 2⁶⁰.
        sensitivity: of the vector, in steps of the grid; above 0.

    Raises:
        InvalidArgument: σ is out of range, or the sensitivity is 0.

    Source: Canonne, Kamath, Steinke (2020), Theorem 14.

    Examples:
        >>> count = Gaussian.for_rho(Sensitivity.scalar(1), rho="0.005")
        >>> count.sigma, print(count.loss), count.radius(0.95)
        ρ = 0.005
        (Fraction(10, 1), None, 20)
    """

    sigma: Fraction
    sensitivity: Sensitivity

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "sigma", checked_scale(positive(self.sigma, "sigma"), "sigma"))
        checked_sensitivity(self.sensitivity)

    @classmethod
    def for_rho(cls, sensitivity: Sensitivity, rho: Rationalizable) -> Self:
        """The least noise that is ρ-zCDP: σ² = ℓ2²/2ρ, with σ rounded up to 32 binary digits.

        Args:
            sensitivity: in steps of the grid.
            rho: above 0.

        Raises:
            InvalidArgument: σ would be out of range, or the sensitivity is 0.
        """
        return cls(_root_above(checked_sensitivity(sensitivity).l2_squared / (2 * positive(rho, "rho"))), sensitivity)

    @classmethod
    def for_epsilon_delta(cls, sensitivity: Sensitivity, epsilon: Rationalizable, delta: Rationalizable) -> Self:
        """The least noise that is proved to be (ε, δ)-DP, σ rounded up to a step of 2⁻²⁰ or less of itself.

        It is Balle and Wang's analytic calibration, done with the discrete distribution's own δ(ε) if a unit can move
        one coordinate only. If it can move several, with a proved upper bound on it that exceeds the continuous
        Gaussian's δ(ε) a little (for five counts at ε = 1, δ = 10⁻⁶ that makes σ 0.4 % larger) and is never worse than
        going through zCDP. An ε above 2¹⁰ gets the noise of 2¹⁰, and no σ is below 2⁻¹⁰.

        Args:
            sensitivity: in steps of the grid.
            epsilon: above 0.
            delta: in (0, 1).

        Raises:
            InvalidArgument: σ would be out of range, or the sensitivity is 0.

        Source: Balle, Wang (2018), Theorem 8; Canonne, Kamath, Steinke (2020), Theorem 7; for several coordinates see
        `discreet.mechanisms.tails`.

        Examples:
            >>> round(float(Gaussian.for_epsilon_delta(Sensitivity.scalar(1), epsilon=1, delta=1e-6).sigma), 4)
            4.2308
        """
        from discreet.mechanisms.gaussian_calibration import least_sigma

        sigma = least_sigma(checked_sensitivity(sensitivity), positive(epsilon, "epsilon"), probability(delta, "delta"))
        return cls(sigma, sensitivity)

    @classmethod
    def classical(cls, sensitivity: Sensitivity, epsilon: Rationalizable, delta: Rationalizable) -> Self:
        """The textbook's noise, σ = √(2·ln(1.25/δ))·ℓ2/ε, for comparison: `for_epsilon_delta` needs less.

        The textbook proves it for ε < 1 and continuous noise. At ε = 1 it follows by continuity; above, it fails, so it
        is refused. For discrete noise δ(ε) ≤ δ is checked as in `for_epsilon_delta`, and should the formula's σ not
        pass, the one that passes is used.

        Args:
            sensitivity: in steps of the grid.
            epsilon: above 0, at most 1.
            delta: in (0, 1).

        Raises:
            InvalidArgument: ε exceeds 1, σ would be out of range, or the sensitivity is 0.

        Source: Dwork, Roth (2014), Theorem A.1.

        Examples:
            >>> round(float(Gaussian.classical(Sensitivity.scalar(1), epsilon=1, delta=1e-6).sigma), 4)
            5.2988
        """
        from discreet.exact import log

        exact_epsilon, exact_delta = positive(epsilon, "epsilon"), probability(delta, "delta")
        if exact_epsilon > 1:
            raise InvalidArgument(
                f"the classical formula isn't private for epsilon above 1, and it is {epsilon}",
                hint="Gaussian.for_epsilon_delta is, and adds less noise",
            )
        factor = 2 * log(Fraction(5, 4) / exact_delta, round_up=True)
        textbook = cls(
            _root_above(factor * checked_sensitivity(sensitivity).l2_squared / exact_epsilon**2), sensitivity
        )
        if textbook.delta_at(exact_epsilon) <= exact_delta:
            return textbook
        return cls.for_epsilon_delta(sensitivity, exact_epsilon, exact_delta)

    @property
    def event(self) -> GaussianEvent:
        """The event that accounting counts for a release."""
        return GaussianEvent(sigma=self.sigma, l2_squared=self.sensitivity.l2_squared)

    @property
    def loss(self) -> ZCDP:
        """The proved bound on what a release gives away."""
        return ZCDP(self.sensitivity.l2_squared / (2 * self.sigma**2))

    def delta_at(self, epsilon: Rationalizable) -> Fraction:
        """A δ with which a release is (ε, δ)-DP: the least if a unit can move one coordinate only, rounded up.

        Args:
            epsilon: above 0.

        Examples:
            >>> f"{float(Gaussian(Fraction(10), Sensitivity.scalar(1)).delta_at(epsilon=0.5)):.3g}"
            '6.93e-09'
        """
        from discreet.mechanisms.gaussian_calibration import delta_bound

        return delta_bound(self.sensitivity, self.sigma, positive(epsilon, "epsilon"))

    def _noise(self, size: int) -> NDArray[Any]:
        """Fresh noise, one draw for each coordinate."""
        from discreet.noise import discrete_gaussian

        return discrete_gaussian(self.sigma, size=size)

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one coordinate, for pictures, audits and tests; the nearest float or one next to it.

        Examples:
            >>> Gaussian(Fraction(1), Sensitivity.scalar(1)).mass(0)
            0.3989422782668617
        """
        from discreet.mechanisms.gaussian_calibration import working_bits
        from discreet.mechanisms.tails import gaussian_pmf

        return as_float(lambda: gaussian_pmf(self.sigma, n), bits=working_bits(self.sigma))

    def cutoff(self, chance: Fraction) -> int:
        """The least k with Pr[noise ≥ k] ≤ chance, for one coordinate; above it if that can't be decided.

        Args:
            chance: above 0, at most 1/2; so k is at least 1.
        """
        return _gaussian_cutoff(self.sigma, chance)


def _root_above(square: Fraction) -> Fraction:
    """√square, rounded up to about 32 binary digits; exact if that many hold it."""
    magnitude = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    step = Fraction(2) ** (magnitude - _BITS)
    return (isqrt(-(-square // step**2) - 1) + 1) * step


@lru_cache(maxsize=1024)
def _gaussian_cutoff(sigma: Fraction, chance: Fraction) -> int:
    """`Gaussian.cutoff`, by Newton's method on the logarithm of the tail, which is concave; then checked by steps."""
    from statistics import NormalDist

    from discreet.exact.ball import ball, fraction, precision
    from discreet.mechanisms.gaussian_calibration import working_bits
    from discreet.mechanisms.tails import gaussian_pmf, gaussian_tail

    with precision(working_bits(sigma)):
        k = max(round(sigma * Fraction(NormalDist().inv_cdf(1 - max(float(chance), 1e-15)))), 1)
        for _ in range(64):
            tail = gaussian_tail(sigma, k)
            slope = (gaussian_pmf(sigma, k) / tail).max(ball(k / sigma**2))
            step = round(fraction((tail / ball(chance)).log() / slope))
            k = max(k + step, 1)
            if abs(step) <= 1:
                break
        while not gaussian_tail(sigma, k) <= ball(chance):
            k += 1
        while k > 1 and gaussian_tail(sigma, k - 1) <= ball(chance):
            k -= 1
    return k
