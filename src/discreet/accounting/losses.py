"""Losses of events: the tightest guarantee that can be stated for what was done in one question."""

from __future__ import annotations

from discreet.accounting.charge import charge_of
from discreet.errors import LossNotAccepted
from discreet.privacy import ZCDP, ApproxDP, Event, Loss, PureDP


def loss_of(event: Event) -> Loss:
    """The loss of an event, in the terms in which it is tightest.

    Laplace noise and choices by the exponential mechanism are pure; selection of groups adds its δ; Gaussian noise
    makes it zCDP, together with whatever was done beside it.

    Raises:
        LossNotAccepted: the event adds no noise, so there is no loss to state; or it is of an unknown kind.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.privacy import GaussianEvent, LaplaceEvent
        >>> print(loss_of(LaplaceEvent(scale=Fraction(10), l1=1)))
        ε = 0.1
        >>> print(loss_of(GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))))
        ρ = 0.005
    """
    charge = charge_of(event)
    if charge.epsilon:
        return ApproxDP(charge.epsilon, charge.delta) if charge.delta else PureDP(charge.epsilon)
    if charge.epsilon is None and charge.rho:
        return ZCDP(charge.rho, charge.delta)
    raise LossNotAccepted("an event without noise has no loss that could be stated")
