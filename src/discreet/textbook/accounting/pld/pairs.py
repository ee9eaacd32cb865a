"""From an event to the pairs that dominate it, the Gaussian pair among them.

Pairs of the parts of a composition multiply. That holds for adaptive choices too, but which events there are must be
fixed in advance; accounts that analysts draw on as they like need the filters of `discreet.accounting.filters`.

*Gaussian noise* on any vector is μ-GDP, as `discreet.accounting.gaussian_dp` proves: N(μ, 1) against N(0, 1) dominates.
The squares of several μ add up to that of a single pair. For discrete noise on one count with a small σ the noise's own
law is taken instead.

*Sampled events.* Let (P, Q) dominate an event on datasets with and without a unit. If the unit goes in with probability
r, the pair (rP + (1−r)Q, Q) dominates, and its flip for neighbours in the other order. Proof. Given who else was drawn,
the laws are rM(x) + (1−r)M(x′) and M(x′), and a mixture over the others is no easier to tell apart than the worst of
them, as D is jointly convex. Where e^ε ≥ 1 − r, their D(ε) is r·D(ε₁) with e^ε₁ = (e^ε − 1 + r)/r; likewise for P and
Q. Where e^ε is less, D is 1 − e^ε for all pairs. The other order follows from D′(−ε) = 1 − e^(−ε) + e^(−ε)·D(ε). ∎

Of k units out of n, without replacement, where one unit takes another's place, r = k/n: for ε ≥ 0 the bound r·D(ε₁)
holds too, because the laws with either unit and with a third in its place are, two by two, those of neighbours. It
holds for both orders, so `Bins.symmetric` makes the pair.

Source: Zhu, Dong, Wang (2022), "Optimal accounting of differential privacy via characteristic function", its
theorems on composition and sampling of dominating pairs; Dong, Roth, Su (2022), Corollary 3.3, for several μ; Balle,
Barthe, Gaboardi (2018), Theorem 2 (advanced joint convexity) and what follows from it for both ways of sampling.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt

from discreet.accounting.gaussian_dp import gaussian_loss_of
from discreet.errors import LossNotAccepted
from discreet.exact import to_float
from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)
from discreet.textbook.accounting.pld.gaussian_pair import Gaussian
from discreet.textbook.accounting.pld.laws import (
    Atoms,
    Counted,
    Law,
    Symmetric,
    atoms,
    bounded_range,
    laplace,
    response,
    selection,
    small_gaussian,
)

_SMALL = 32
"""Below this σ, noise on one count is taken as it is; from it on as a Gaussian pair, whose μ is greater by 1/24σ²."""

_NEXT_MOVE = 2
"""The least ℓ2² with which more than one count can move, or one by more than 1."""

_ROUNDED = 1 + 2.0**-40
"""More than a sum of squares and its root can be off by."""

_MOST_SQUARES, _LEAST_MU = 2.0**32, 2.0**-100
"""No curve is made for a sum of μ² above the first, and any μ below the second counts as it."""

_GREATEST_MU = 25.0
"""No curve is made for a sample with less noise than this: it protects nobody, and its numbers would overflow."""

_GREATEST_REACH = 600.0
"""The same for its losses together."""

_LEAST_RATE = Fraction(1, 2**100)
"""Samples at lower rates are counted as if at this one: a sample of a sample gives away no more."""

_MOST_JOINED = 256
"""The greatest number of laws of one sample that are joined; each costs some milliseconds and a little precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs that dominate an event, composed.

    Args:
        laws: of the losses, and how often each occurs.
        mu: above 0 for one more pair, N(μ, 1) against N(0, 1), which alone has a closed form; 0 for none.
    """

    laws: tuple[tuple[Law, int], ...]
    mu: float


def pairs_of(event: Event, times: int = 1) -> Pairs:
    """The dominating pairs of an event that happens `times` times, each with randomness of its own.

    Raises:
        LossNotAccepted: the event is of a kind that isn't known here, or has too little noise; or there are samples of
            two kinds, which are about different neighbours.
    """
    leaves = _leaves(event, times)
    if len({leaf.size is None for leaf in leaves if isinstance(leaf, SampledEvent)}) > 1:
        raise LossNotAccepted("Poisson samples and samples without replacement assume different neighbours")
    laws, mu = _parts(leaves)
    return Pairs(laws=tuple(laws), mu=mu)


def _parts(leaves: Counter[Event]) -> tuple[Counted, float]:
    """The laws of events, and the single Gaussian pair that Gaussian noise amounts to, as in `Pairs`."""
    laws: Counted = []
    squares = 0.0
    for leaf, count in leaves.items():
        if isinstance(leaf, GaussianEvent) and not _exact(leaf):
            if not leaf.continuous and leaf.sigma < 1:
                raise LossNotAccepted("discrete Gaussian noise of sigma below 1 has a curve on one count only")
            squares += count * max(to_float(gaussian_loss_of(leaf).mu, round_up=True), _LEAST_MU) ** 2
        else:
            laws.extend((law, n * count) for law, n in _laws(leaf))
    if squares > _MOST_SQUARES:
        raise LossNotAccepted("Gaussian noise of so small a sigma protects nobody, so it has no curve")
    return laws, sqrt(squares) * _ROUNDED


def _laws(leaf: Event) -> Counted:  # noqa: PLR0911 — one case for each kind of event
    """The laws of a single event other than smoothed Gaussian noise."""
    match leaf:
        case LaplaceEvent():
            return laplace(leaf)
        case GaussianEvent():
            return small_gaussian(leaf)
        case SelectionEvent(delta=delta):
            return selection(delta)
        case ExponentialEvent():
            return bounded_range(leaf)
        case PureEvent(epsilon=epsilon):
            return response(epsilon)
        case ApproxEvent(epsilon=epsilon, delta=delta):
            return response(epsilon, delta)
        case SampledEvent():
            law = _sampled(leaf)
            return [(law if leaf.size is None else Symmetric(law), 1)]
        case _:
            raise LossNotAccepted(f"an event of type {type(leaf).__name__} has no curve")


def _sampled(leaf: SampledEvent) -> Law:
    """The pair of a unit that was drawn against one that isn't there; a sample of a sample is a smaller sample."""
    exact, inner = leaf.rate, leaf.event
    while isinstance(inner, SampledEvent) and (inner.size is None) == (leaf.size is None):
        exact, inner = exact * inner.rate, inner.event
    rate = to_float(max(exact, _LEAST_RATE), round_up=True)
    leaves = _leaves(inner, 1)
    if any(isinstance(each, SampledEvent) for each in leaves):
        raise LossNotAccepted("a sample of several samples has no curve")
    laws, mu = _parts(leaves)
    if mu > _GREATEST_MU:
        raise LossNotAccepted("a sample with so little noise protects nobody, so it has no curve")
    if not laws:
        return Gaussian(mu=mu, rate=rate)
    if sum(n for _, n in laws) > _MOST_JOINED:
        raise LossNotAccepted(f"a sample with more than {_MOST_JOINED} events has no curve")
    joined = [atoms(law) for law, n in laws for _ in range(n)] + ([atoms(Gaussian(mu=mu))] if mu else [])
    whole = reduce(Atoms.joined, joined)
    if whole.reach > _GREATEST_REACH:
        raise LossNotAccepted("a sample with events of so great a loss has no curve")
    return whole.sampled(rate) if rate < 1 else whole


def _exact(leaf: GaussianEvent) -> bool:
    """Whether the event's own law is taken: one count that moves by 1, and discrete noise of few values."""
    return not leaf.continuous and leaf.l2_squared < _NEXT_MOVE and leaf.sigma < _SMALL


def _leaves(event: Event, times: int) -> Counter[Event]:
    """The events that others are composed of, and how often each occurs.

    Events are compared by identity first, because a thousand steps are often one event a thousand times.
    """
    if not isinstance(event, ComposedEvent):
        return Counter({event: times})
    parts = {id(part): part for part in event.events}
    found: Counter[Event] = Counter()
    for key, count in Counter(map(id, event.events)).items():
        found.update(_leaves(parts[key], count * times))
    return found
