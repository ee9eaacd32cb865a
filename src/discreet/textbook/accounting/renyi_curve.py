"""Rényi curves: how far neighbours' outcomes can diverge at every order, and so an ε for every δ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log1p, sqrt
from typing import TYPE_CHECKING

from discreet.accounting.charge import charge_of
from discreet.accounting.loss_arithmetic import LEAST_EPSILON, log_of, minimise
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact import to_float
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import (
    ADD_REMOVE,
    SUBSTITUTION,
    Adjacency,
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    RenyiDP,
    SampledEvent,
    SelectionEvent,
)
from discreet.textbook.accounting.renyi_dp import renyi_to_delta, renyi_to_epsilon

if TYPE_CHECKING:
    from discreet.textbook.accounting.renyi_divergences import Plain, Sampling


_ORDER_BITS = 20
"""Orders are searched for in numbers of this many binary digits. A finer search gains nothing and takes longer."""


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """D_α of everything that happened, for every α > 1; build it with `renyi_curve_of`.

    Guarantee: but for rare events of probability `rare`, D_α(M(x) ‖ M(x′)) ≤ `divergence(α)` for all neighbours, at
    every order at once. `epsilon` and `delta` pick the order that serves best. That is right for what was fixed before
    the first answer was seen, and wrong for a conversation: an order picked afterwards depends on the answers.

    Args:
        parts: what happened, and how often.
        rare: the probability of the events for which no divergence holds.
        adjacency: which neighbours the samples speak of; None if nothing was sampled.

    Examples:
        >>> from discreet.privacy import GaussianEvent
        >>> curve = renyi_curve_of(GaussianEvent(sigma=Fraction(50), l2_squared=Fraction(1)), times=1000)
        >>> float(round(curve.epsilon(1e-6), 2))
        3.13
    """

    parts: tuple[tuple[Plain | Sampling, int], ...]
    rare: Fraction = Fraction(0)
    adjacency: Adjacency | None = None

    def log_moment(self, alpha: Fraction) -> Fraction:
        """(α − 1)·D_α, rounded up: log-moments of what happens one after the other add up (Mironov 2017, Prop. 1)."""
        from discreet.textbook.accounting.renyi_divergences import Sampling, log_moment

        found = Fraction(0)
        for part, times in self.parts:
            found += times * (part.log_moment(alpha) if isinstance(part, Sampling) else log_moment(part, alpha))
        return found

    def divergence(self, alpha: Rationalizable) -> Fraction:
        """D_α, rounded up.

        Args:
            alpha: above 1.
        """
        order = RenyiDP(alpha, 1).alpha
        return self.log_moment(order) / (order - 1)

    def at(self, alpha: Rationalizable) -> RenyiDP:
        """The loss at one order.

        Raises:
            LossNotAccepted: there are rare events, which no divergence holds for; or nothing happened.
        """
        if self.rare or not self.parts:
            raise LossNotAccepted("a Rényi divergence can't be stated for rare events with a δ, or for no event")
        return RenyiDP(alpha, self.divergence(alpha))

    def epsilon(self, delta: Rationalizable) -> Fraction:
        """The least ε found at which all of it is (ε, δ)-DP; rounded up, and never 0.

        Args:
            delta: above the probability of rare events, below 1.

        Raises:
            InvalidArgument: δ is out of range.
        """
        left = probability(delta, "delta") - self.rare
        if left <= 0:
            raise InvalidArgument(f"delta must be above {float(self.rare):.3g}, that of the rare events, not {delta}")
        surprise, start = -log_of(left), self._quadratic()
        if not self.parts:
            return LEAST_EPSILON

        def epsilon(h: float) -> float:
            return self._steer(h) + (surprise - log1p(h)) / h - log1p(1 / h)

        order = _order(minimise(epsilon, around=sqrt(max(surprise, 1e-3) / start)))
        return renyi_to_epsilon(RenyiDP(order, self.divergence(order)), left)

    def delta(self, epsilon: Rationalizable) -> Fraction:
        """The least δ found at which all of it is (ε, δ)-DP; rounded up, and 1 if there is none.

        Args:
            epsilon: above 0.
        """
        allowed = positive(epsilon, "epsilon")
        if not self.parts:
            return self.rare
        target, start = to_float(allowed, round_up=False), self._quadratic()

        def log_delta(h: float) -> float:
            return h * (self._steer(h) - target - log1p(1 / h)) - log1p(h)

        order = _order(minimise(log_delta, around=max((target - start) / (2 * start), 1e-3)))
        return min(renyi_to_delta(RenyiDP(order, self.divergence(order)), allowed) + self.rare, Fraction(1))

    def _quadratic(self) -> float:
        """Roughly the ρ of the zCDP that this is near small orders; neither 0 nor infinite."""
        return min(max(to_float(self.log_moment(Fraction(2)), round_up=True) / 2, 1e-300), 1e300)

    def _steer(self, h: float) -> float:
        """The divergence of order 1 + h in floats."""
        order = _order(Fraction(h))
        return to_float(self.divergence(order), round_up=True) if h < inf else inf


def renyi_curve_of(event: Event, times: int = 1) -> RenyiCurve:
    """The Rényi curve of an event, or of one that happens many times.

    Args:
        event: what happens; all of it, in parameters fixed in advance.
        times: how often; 1 or more.

    Raises:
        LossNotAccepted: samples of both sorts are mixed, which speak of different neighbours.
        InvalidArgument: `times` isn't 1 or more.

    Examples:
        >>> from discreet.privacy import GaussianEvent, SampledEvent
        >>> step = SampledEvent(event=GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1)), rate=Fraction(1, 100))
        >>> float(round(renyi_curve_of(step, times=10_000).epsilon(1e-6), 1))
        7.4
    """
    if times < 1:
        raise InvalidArgument("times must be at least 1")
    curve = _curve(event)
    return RenyiCurve(tuple((part, n * times) for part, n in curve.parts), curve.rare * times, curve.adjacency)


def _curve(event: Event) -> RenyiCurve:
    """The curve of one event."""
    match event:
        case GaussianEvent() | LaplaceEvent() | ExponentialEvent() | PureEvent():
            return RenyiCurve(((event, 1),))
        case SelectionEvent(delta=delta):
            return RenyiCurve((), delta)
        case ApproxEvent(epsilon=epsilon, delta=delta):
            return RenyiCurve(((PureEvent(epsilon=epsilon), 1),), delta)
        case SampledEvent():
            return _sampled(event)
        case ComposedEvent(events=events):
            return _composed(events)
    raise LossNotAccepted(f"an event of type {type(event).__name__} can't be accounted for")


def _composed(events: tuple[Event, ...]) -> RenyiCurve:
    """All of the events: their parts, counted; equal objects are looked at once."""
    alike = Counter({id(event): 0 for event in events})
    alike.update(id(event) for event in events)
    by_id = {id(event): event for event in events}
    parts: Counter[Plain | Sampling] = Counter()
    rare, adjacency = Fraction(0), None
    for key, times in alike.items():
        curve = _curve(by_id[key])
        parts.update({part: n * times for part, n in curve.parts})
        rare += times * curve.rare
        adjacency = _agreed(adjacency, curve.adjacency)
    return RenyiCurve(tuple(parts.items()), rare, adjacency)


def _sampled(event: SampledEvent) -> RenyiCurve:
    """The curve of a sampled event.

    A rare event of probability δ needs the unit to be in a Poisson sample, so it has q·δ. *Proof.* Let the outcome on
    a sample be (1−δ)Q + δJ without the unit, N for short, and (1−δ)P + δK with it. Then (1−q)N + q((1−δ)P + δK) and
    N = (1−q)N + q((1−δ)Q + δJ) have junk of weight qδ, and for the rest a pair that is a mixture of (J, J) and
    ((1−q)Q + qP, Q), so diverges no more than the latter. ∎ Of samples without replacement that isn't known, so if
    there are rare events, or samples within samples, it counts as if nothing had been sampled, which costs no less.
    """
    from discreet.textbook.accounting.renyi_divergences import Sampling, is_symmetric

    whole = _curve(event.event)
    replaced = event.size is not None
    adjacency = _agreed(whole.adjacency, SUBSTITUTION if replaced else ADD_REMOVE)
    if not whole.parts:
        return RenyiCurve((), whole.rare if replaced else whole.rare * event.rate, adjacency)
    if (replaced and whole.rare) or whole.adjacency is not None:
        return RenyiCurve(whole.parts, whole.rare, adjacency)
    only = whole.parts[0][0] if len(whole.parts) == 1 and whole.parts[0][1] == 1 else None
    part = Sampling(
        whole=RenyiCurve(whole.parts),
        epsilon=charge_of(event.event).epsilon,
        symmetric=is_symmetric(only),
        rho=only.l2_squared / (2 * only.sigma**2) if isinstance(only, GaussianEvent) else None,
        rate=event.rate,
        replaced=replaced,
    )
    return RenyiCurve(((part, 1),), whole.rare * event.rate, adjacency)


def _agreed(one: Adjacency | None, other: Adjacency | None) -> Adjacency | None:
    """The relation that two parts share."""
    if one is not None and other is not None and one is not other:
        raise LossNotAccepted(
            "Poisson samples speak of neighbours with and without a unit, samples without replacement of one unit in "
            "the place of another: no relation covers both"
        )
    return one or other


def _order(excess: Fraction) -> Fraction:
    """The order α = 1 + h for a good h, in few digits."""
    return 1 + shorten(excess, bits=_ORDER_BITS, round_up=True)
