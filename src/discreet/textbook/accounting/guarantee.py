"""Guarantees at every δ of events fixed in advance, and the best of all simple ways of accounting.

Calibration asks any way of accounting for a curve: for every δ an ε, for every ε a δ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from discreet.accounting.charge import charge_of
from discreet.accounting.gaussian_dp import gaussian_loss_of, gaussian_to_delta, gaussian_to_epsilon
from discreet.accounting.loss_arithmetic import root
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact.rational import Rationalizable, positive, rational
from discreet.privacy import (
    Event,
    PureDP,
)
from discreet.textbook.accounting.optimal_composition import MOST, optimal, optimal_delta
from discreet.textbook.accounting.renyi_curve import RenyiCurve, renyi_curve_of


class Guarantee(Protocol):
    """The proved loss of all releases together, as a curve: for every δ an ε, for every ε a δ; both rounded up."""

    def epsilon(self, delta: Rationalizable, /) -> Fraction | float:
        """An ε at which they are (ε, δ)-DP."""

    def delta(self, epsilon: Rationalizable, /) -> Fraction | float:
        """A δ at which they are (ε, δ)-DP."""


Accountant: TypeAlias = Callable[[Event, int], Guarantee]
"""Makes the guarantee of an event that happens a number of times. A curve of a privacy loss distribution can be one."""


@dataclass(frozen=True, slots=True)
class Best:
    """For each δ and each ε the best of four ways of counting one event that happens many times; see `best_of`.

    Args:
        renyi: the Rényi curve of all of it.
        mu: the μ of all of it; None if none is known.
        each: the pure loss of one time; None if it has none.
        times: how often it happens.
    """

    renyi: RenyiCurve
    mu: Fraction | None
    each: Fraction | None
    times: int

    def epsilon(self, delta: Rationalizable) -> Fraction:
        """The least of the ε; with δ = 0 that of pure losses.

        Raises:
            LossNotAccepted: δ is 0, and the event isn't pure.
            InvalidArgument: δ is out of range.
        """
        target = rational(delta, "delta")
        certain = None if self.each is None else self.times * self.each
        if target == 0:
            if certain is None:
                raise LossNotAccepted("without a δ only pure releases have an ε")
            return certain
        found = [self.renyi.epsilon(target)]
        found += [] if certain is None else [certain]
        found += [gaussian_to_epsilon(self.mu, target)] if self.mu else []
        found += [optimal(PureDP(self.each), self.times, target).epsilon] if self.each and self.times <= MOST else []
        return min(found)

    def delta(self, epsilon: Rationalizable) -> Fraction:
        """The least of the δ; 0 if the pure losses add up to no more than ε."""
        target = positive(epsilon, "epsilon")
        if self.each is not None and self.times * self.each <= target:
            return Fraction(0)
        found = [self.renyi.delta(target)]
        found += [gaussian_to_delta(self.mu, target)] if self.mu else []
        found += [optimal_delta(PureDP(self.each), self.times, target)] if self.each and self.times <= MOST else []
        return min(found)


def best_of(event: Event, times: int = 1) -> Best:
    """The guarantee of an event that happens many times: the best of Rényi, Gaussian, optimal and plain composition.

    Args:
        event: what happens, in parameters fixed in advance.
        times: how often; 1 or more.

    Examples:
        >>> from discreet.privacy import GaussianEvent
        >>> noise = GaussianEvent(sigma=Fraction(50), l2_squared=Fraction(1))
        >>> float(round(best_of(noise, times=1000).epsilon(1e-6), 4))
        2.9217
    """
    curve = renyi_curve_of(event, times)
    pure = charge_of(event)
    return Best(curve, _mu(event, times), None if pure.delta else pure.epsilon, times)


def _mu(event: Event, times: int) -> Fraction | None:
    """The μ of an event that happens many times, where one is proved."""
    try:
        return root(times * gaussian_loss_of(event).mu ** 2)
    except (LossNotAccepted, InvalidArgument):
        return None
