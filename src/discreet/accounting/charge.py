"""Charges: the cost of an event in each way of counting, and the tightest loss that can be stated for one question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.loss_arithmetic import rounded_up
from discreet.accounting.zcdp import bounded_range_to_zcdp, laplace_to_zcdp, pure_to_zcdp
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact.rounding import shown
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    Loss,
    PureDP,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """Amounts of loss in each currency, or limits on them; None is infinite.

    The same questions are counted twice, in plain ε and in zCDP's ρ, because which of the two is tighter depends on
    questions that haven't been asked yet.

    Args:
        epsilon: sum of pure losses, 0 or more; None if some event has no finite ε.
        rho: sum of zero-concentrated losses, 0 or more; None if some event has no finite ρ.
        delta: sum of the probabilities of rare events in which neither loss need hold, 0 or more.

    Raises:
        InvalidArgument: an amount is negative: it would be a refund.

    Examples:
        >>> half = Charge(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(0))
        >>> (half + half).epsilon
        Fraction(1, 1)
        >>> print(half)
        ε = 0.5, ρ = 0.125
    """

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction

    def __post_init__(self) -> None:
        """Refuse refunds."""
        if self.delta < 0 or any(amount is not None and amount < 0 for amount in (self.epsilon, self.rho)):
            raise InvalidArgument("a charge can't be negative")

    def __str__(self) -> str:
        """The amounts in symbols: those that are finite, and not 0."""
        amounts = {"ε": (self.epsilon, 6), "ρ": (self.rho, 6), "δ": (self.delta, 3)}
        found = [f"{symbol} = {shown(amount, digits)}" for symbol, (amount, digits) in amounts.items() if amount]
        return ", ".join(found) or ("nothing" if self == self.zero() else "no finite ε")

    def __repr__(self) -> str:
        """The same, in short: the exact amounts are its attributes."""
        return f"Charge({self})"

    @classmethod
    def zero(cls) -> Charge:
        """Nothing spent."""
        return cls(epsilon=Fraction(0), rho=Fraction(0), delta=Fraction(0))

    def __add__(self, other: Charge) -> Charge:
        """Both charges, as after both questions; never below the exact sum."""
        return Charge(
            epsilon=_sum(self.epsilon, other.epsilon),
            rho=_sum(self.rho, other.rho),
            delta=rounded_up(self.delta + other.delta),
        )

    def within(self, limit: Charge) -> bool:
        """Whether no amount exceeds that of `limit`; an exact comparison."""
        return _at_most(self.epsilon, limit.epsilon) and _at_most(self.rho, limit.rho) and self.delta <= limit.delta

    def to_dict(self) -> dict[str, str | None]:
        """The charge as JSON-ready data; rationals as `"p/q"`, None for an infinite amount."""
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "rho": None if self.rho is None else str(self.rho),
            "delta": str(self.delta),
        }


def charge_of(event: Event) -> Charge:
    """The charge of an event, in each way of counting.

    Guarantee: but for a rare event of probability δ (the same for both readings), the release is ε-DP and ρ-zCDP
    about neighbours under the adjacency the event's sensitivities refer to. That one rare event serves both readings
    is what lets a filter switch between them without paying δ twice; see `discreet.accounting.filters`.

    - Laplace: ε = ℓ1 / scale. A coordinate that moves by v is r(v)-zCDP, with r as in `laplace_to_zcdp`; coordinates
      have independent noise, so their ρ add up. As r(v)/v doesn't fall in v, the sum is greatest when as few
      coordinates as possible move, each by ℓ∞: ρ = (ℓ1/ℓ∞) · r(ℓ∞).
    - Gaussian: ρ = ℓ2² / 2σ², in any number of dimensions, discrete or continuous; no finite ε.
    - Selection: δ only.
    - Exponential: a selection whose options can move against each other by a, times the rate, is a-DP and r(a)-zCDP,
      with r as in `bounded_range_to_zcdp`. Selections are independent, or each follows from the ones before it, so both
      add up. As r(a)/a doesn't fall in a, with Σa ≤ ε and each a at most e the sum is at most ρ = (ε/e)·r(e).
    - Pure: as it says; approximate: an (ε, δ)-DP release is ε-DP but for an event of probability δ on either side.
    - Sampled: as if nothing had been sampled, which can't cost less (a mixture of laws that are within ε, or ρ, of each
      other two by two is within as much). Accounts can't check that a sample stayed secret.
    - Composed: sums.

    Raises:
        LossNotAccepted: the event is of a kind that isn't known here; to guess would be to undercount.

    Source: Dwork, McSherry, Nissim, Smith (2006), Proposition 1, whose proof holds for the discrete distribution word
    for word; McSherry, Talwar (2007), Theorem 6; Canonne, Kamath, Steinke (2020), Theorem 14; Bun, Steinke (2016),
    Proposition 1.6 and Lemma 8.2.

    Examples:
        >>> charge_of(GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))).rho
        Fraction(1, 200)
    """
    return _charge(event, laplace_to_zcdp, bounded_range_to_zcdp)


def first_charge_of(event: Event) -> Charge:
    """The charge that the first ledgers counted for an event, if it was more: by bounds that hold for any pure release.

    The digests under which answers are stored contain it. So a tighter charge doesn't make another question of it, and
    a paid answer is found again.

    Raises:
        LossNotAccepted: as for `charge_of`.
    """
    return _charge(
        event,
        lambda scale, step: pure_to_zcdp(step / scale),
        lambda epsilon: min(epsilon**2 / 8, epsilon),
    )


def _charge(  # noqa: PLR0911 — one case for each kind of event
    event: Event, laplace: Callable[[Fraction, int], Fraction], choice: Callable[[Fraction], Fraction]
) -> Charge:
    """The charge of an event, by the ρ of Laplace noise (of its scale and the shift) and of a choice (of its range)."""
    match event:
        case LaplaceEvent(scale=scale, l1=l1, linf=linf):
            step = l1 if linf is None else linf
            return Charge(epsilon=l1 / scale, rho=Fraction(l1, step) * laplace(scale, step), delta=Fraction(0))
        case GaussianEvent(sigma=sigma, l2_squared=l2_squared):
            return Charge(epsilon=None, rho=l2_squared / (2 * sigma**2), delta=Fraction(0))
        case SelectionEvent(delta=delta):
            return Charge(epsilon=Fraction(0), rho=Fraction(0), delta=delta)
        case ExponentialEvent(epsilon=epsilon, each=each):
            share = Fraction(1) if each is None else epsilon / each
            return Charge(epsilon=epsilon, rho=share * choice(each or epsilon), delta=Fraction(0))
        case PureEvent(epsilon=epsilon):
            return Charge(epsilon=epsilon, rho=pure_to_zcdp(epsilon), delta=Fraction(0))
        case ApproxEvent(epsilon=epsilon, delta=delta):
            return Charge(epsilon=epsilon, rho=pure_to_zcdp(epsilon), delta=delta)
        case SampledEvent(event=part):
            return _charge(part, laplace, choice)
        case ComposedEvent(events=events):
            return sum((_charge(each, laplace, choice) for each in events), start=Charge.zero())
    raise LossNotAccepted(f"an event of type {type(event).__name__} can't be accounted for")


def _sum(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """The sum of two amounts; infinite if either is."""
    return None if left is None or right is None else rounded_up(left + right)


def _at_most(amount: Fraction | None, limit: Fraction | None) -> bool:
    """Whether an amount is within a limit; None is infinite in both."""
    return limit is None or (amount is not None and amount <= limit)


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
