"""Odometers: how much a conversation has given away so far; true at every moment, with no limit set at the start.

*Theorem.* Fix λ₀, λ₁, … > 0 and δ₀, δ₁, … > 0 with Σδⱼ ≤ δ before the first question. Let the n-th release be ρₙ-zCDP
given the answers before it, ρₙ chosen after them, and let L be the privacy loss ln(Pr[M(x) = y] / Pr[M(x′) = y]) of the
transcript y so far. Then with probability at least 1 − δ over the answers on x, at all times at once,

    L ≤ minⱼ (1 + λⱼ)·Σρ + ln(1/δⱼ)/λⱼ.

*Proof.* Given the past, E[e^(λL′)] ≤ e^(λ(λ+1)ρₙ) for the loss L′ of the n-th release, by the definition of zCDP at
order 1 + λ. So e^(λL − λ(λ+1)Σρ) is a supermartingale that starts at 1, and with probability at least 1 − δⱼ never
reaches 1/δⱼ (Ville's inequality). Take logarithms, and the sum over j. ∎

Pure releases also have L ≤ Σε with certainty, so the lesser of both bounds is shown. The grid: level j serves sums near
ρⱼ = 4^j times a first one, with λⱼ = √(ln(1/δⱼ)/ρⱼ), the best for ρⱼ, and δⱼ = δ/((j+1)(j+2)), which add up to δ.
Between two levels the bound is at most 7 % above what the best λ would give at the same δⱼ.

Its use: if a program stops, by whatever rule, at a moment when the odometer shows at most ε, everything it released is
(ε, δ)-DP. That is as with a filter, only that the program may look and go on instead.

Source: Rogers, Roth, Ullman, Vadhan (2016), "Privacy odometers and filters", its definition of a privacy odometer;
Whitehouse, Ramdas, Rogers, Wu (2023), "Fully-adaptive composition in differential privacy", its theorem on odometers
from time-uniform inequalities. The theorem above has its own proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.loss_arithmetic import rounded_up
from discreet.accounting.zcdp import gaussian_to_zcdp, pure_to_zcdp
from discreet.errors import LossNotAccepted
from discreet.exact import log, sqrt
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ZCDP, GaussianDP, PureDP

_LEVELS = 24
"""From the first ρ, 2⁻²⁰, to 2²⁶: below, plain sums are as good; above, nothing is private."""

_FIRST = Fraction(1, 2**20)
_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Odometer:
    """Shows an ε that holds for everything released so far, whenever it is read; build it with `start`.

    Guarantee: see the theorem above. Losses may be chosen after the answers before them. It never changes; `record`
    returns the next one.

    Args:
        delta: the probability with which it may show too little, ever; in (0, 1). Set at the start.
        epsilon: sum of pure losses so far; None once one wasn't pure.
        rho: sum of zCDP losses so far, pure and Gaussian ones included.

    Examples:
        >>> odometer = Odometer.start(delta=1e-6)
        >>> for _ in range(3):
        ...     odometer = odometer.record(PureDP("0.1"))
        >>> float(odometer.bound)
        0.3
        >>> for _ in range(97):
        ...     odometer = odometer.record(PureDP("0.1"))
        >>> float(round(odometer.bound, 2))
        6.95
    """

    delta: Fraction
    epsilon: Fraction | None = Fraction(0)
    rho: Fraction = Fraction(0)

    @classmethod
    def start(cls, delta: Rationalizable) -> Odometer:
        """An odometer that shows 0.

        Args:
            delta: in (0, 1).
        """
        return cls(probability(delta, "delta"))

    def record(self, loss: PureDP | ZCDP | GaussianDP) -> Odometer:
        """The odometer after a release of this loss; to be kept before the data is touched.

        Raises:
            LossNotAccepted: the loss isn't of a kind that implies zCDP, or has a δ of its own.
        """
        match loss:
            case PureDP(epsilon=epsilon):
                more = None if self.epsilon is None else rounded_up(self.epsilon + epsilon)
                return replace(self, epsilon=more, rho=rounded_up(self.rho + pure_to_zcdp(epsilon)))
            case GaussianDP(mu=mu):
                return replace(self, epsilon=None, rho=rounded_up(self.rho + gaussian_to_zcdp(mu)))
            case ZCDP(rho=rho, delta=delta) if not delta:
                return replace(self, epsilon=None, rho=rounded_up(self.rho + rho))
        raise LossNotAccepted(f"an odometer counts PureDP, GaussianDP, and ZCDP without a δ, not {loss}")

    @property
    def bound(self) -> Fraction:
        """The ε that holds now; rounded up."""
        if not self.rho:
            return Fraction(0)
        found = _running(self.delta, self.rho)
        return found if self.epsilon is None else min(found, self.epsilon)


@lru_cache(maxsize=1024)
def _running(delta: Fraction, rho: Fraction) -> Fraction:
    """The least of all lines."""
    return shorten(min((1 + rate) * rho + offset for rate, offset in lines(delta)), bits=53, round_up=True)


@lru_cache(maxsize=64)
def lines(delta: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """For each level, λⱼ and ln(1/δⱼ)/λⱼ, the latter rounded up; any λ is sound.

    Examples:
        >>> len(lines(Fraction(1, 10**6)))
        24
    """
    found = []
    for level in range(_LEVELS):
        surprise = log((level + 1) * (level + 2) / delta, round_up=True)
        rate = shorten(sqrt(surprise / (_FIRST * _FACTOR**level), round_up=True), bits=20, round_up=True)
        found.append((rate, shorten(surprise / rate, bits=64, round_up=True)))
    return tuple(found)
