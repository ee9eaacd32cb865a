"""Laplace or Gaussian noise: the kind that errs less, where an offer leaves both open.

An offer of ε alone is for Laplace noise and one of ρ for Gaussian noise. With ε and δ both
kinds can keep what is offered, and which one errs less depends on the question: Laplace noise grows with ℓ1 and with
the number of columns, Gaussian noise with ℓ2 and with the root of that number. So both plans are made, and the one is
taken of which the worst relative error is less; if they are equal, Laplace. Only public facts are looked at: the
question, what is declared, and the budgets, but not what was spent of them.

*What Gaussian noise may use.* Where groups are selected, half of δ is for that, and half of it is c below; else all of
δ is c. A release that is (ε, c)-DP but for an event of probability δ/2 is (ε, δ)-DP. A plan is fixed before it is
answered, so it may be proved by either of two bounds:

- every ρ-zCDP release is (ε, c)-DP, for the ρ of `rho_for`;
- so is every μ-GDP release, for the μ of `mu_for`. This one allows some 15 % more, as long as all is Gaussian noise:
  μ² is 2ρ then, but for what the discreteness adds, which is in `gaussian_loss_of`. It isn't used where a profile is
  asked first: the noise that is added then follows from an answer, and only its ρ is known.

No account that the question is asked of holds more than the ρ of its own budget, so an offer is cut at that.

*What it is charged.* The release has a ρ and no finite ε. So an account with a budget in (ε, δ) counts it in zCDP, and
can't be counted by plain sums from then on. To keep plain sums, offer ε alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.accounting import Charge, filter_for, gaussian_loss_of, mu_for, rho_for
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import (
    ApproxDP,
    Budget,
    ComposedEvent,
    Event,
    SelectionEvent,
)
from discreet.query.planner.draft import Draft
from discreet.query.planner.request import Request
from discreet.tables import Dataset

_DIGITS = Context(prec=5, rounding=ROUND_FLOOR)
"""A ρ that is made of an offer has five decimal digits, so that costs can be read."""

_ROOM = Fraction(9995, 10_000)
"""How much of what the second bound allows is tried: what discreteness adds grows a little with ρ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseChoice:
    """The noise that an offer of ε and δ got, and why.

    Args:
        offer: ε, δ and the other terms, as they were said.
        rho: what Gaussian noise was given of ρ; None if Laplace noise was taken.
        ratio: the worst error with Gaussian noise, divided by that with Laplace noise.
    """

    offer: Request
    rho: Fraction | None
    ratio: float

    @property
    def proved(self) -> ApproxDP | None:
        """The guarantee that Gaussian noise was calibrated to and is proved to keep; None for Laplace noise."""
        if self.rho is None or self.offer.epsilon is None or self.offer.delta is None:
            return None
        return ApproxDP(self.offer.epsilon, self.offer.delta)

    def __str__(self) -> str:
        if self.rho is None:
            return f"Laplace: at this ε and δ the worst error of Gaussian noise would be {self.ratio:.3g} times as much"
        return (
            f"Gaussian: at this ε and δ its worst error is {self.ratio:.3g} times that of Laplace noise; the account "
            f"is charged ρ = {float(self.rho):.4g}, and no finite ε"
        )


class Planned(Protocol):
    """A plan, or a workload."""

    @property
    def request(self) -> Request:
        """The offer that it was planned for."""

    @property
    def event(self) -> Event:
        """The event that will be charged."""

    @property
    def drafts(self) -> Sequence[Draft]:
        """The drafts that the rules filled in."""

    @property
    def error(self) -> float:
        """How far it errs, relatively: at its worst, or on average over the groups of several levels."""

    @property
    def is_free(self) -> bool:
        """Whether public facts alone answer it, so that there is no noise to choose."""


_Planned = TypeVar("_Planned", bound=Planned)


def choose_noise(
    laplace: _Planned, again: Callable[[Request], _Planned], dataset: Dataset
) -> tuple[_Planned, NoiseChoice | None]:
    """Take the plan whose noise errs less for an offer of ε and δ; None beside it if there is no choice.

    Args:
        laplace: as it is planned for what was offered.
        again: plans the same for another request.
        dataset: with the budgets.
    """
    if laplace.is_free:
        return laplace, None
    try:
        gaussian = _gaussian(laplace, again, dataset)
    except InvalidArgument:  # no Gaussian noise is so large, or so small
        gaussian = None
    if gaussian is None:
        return laplace, None
    plain, other = laplace.error, gaussian.error
    if other < plain:
        return gaussian, NoiseChoice(offer=laplace.request, rho=gaussian.request.rho, ratio=other / plain)
    return laplace, NoiseChoice(offer=laplace.request, rho=None, ratio=other / plain if plain else 1.0)


def _gaussian(laplace: _Planned, again: Callable[[Request], _Planned], dataset: Dataset) -> _Planned | None:
    """The same with the least Gaussian noise that keeps ε and δ; None where that isn't asked for, or can't be paid.

    Accuracies that are asked for have no choice: they are reached at the least ε.
    """
    offer = laplace.request
    budgets = _budgets(offer, dataset)
    if offer.epsilon is None or offer.delta is None or offer.within or not budgets:
        return None
    if any(budget.is_pure or offer.epsilon > (budget.epsilon or offer.epsilon) for budget in budgets):
        return None  # it would be refused, or pay for more than Laplace noise can be had for
    selects = any(draft.has_private_keys for draft in laplace.drafts)
    converted = offer.delta / 2 if selects else offer.delta
    left = [filter_for(budget).remaining(Charge.zero()) for budget in budgets]
    if selects and any(each.delta < converted for each in left):
        return None
    most = min(each.rho for each in left)

    def at(rho: Fraction) -> _Planned:
        short = Fraction(_DIGITS.divide(Decimal(rho.numerator), Decimal(rho.denominator)))
        return again(replace(offer, epsilon=None, rho=short, delta=converted if selects else None))

    concentrated = at(min(rho_for(offer.epsilon, converted), most))
    rho, mu = concentrated.request.rho, mu_for(offer.epsilon, converted)
    squared = _mu_squared(concentrated.event)
    if offer.takes_profile or offer.unknown_bounds or rho is None or squared is None or mu**2 * _ROOM <= squared:
        return concentrated
    found = at(min(rho * mu**2 / squared * _ROOM, most))
    tight = _mu_squared(found.event)
    return found if tight is not None and tight <= mu**2 else concentrated


def _budgets(offer: Request, dataset: Dataset) -> list[Budget]:
    """The budgets that an answer is paid from; none if the analyst has no share."""
    if not dataset.analysts:
        return [dataset.budget]
    share = None if offer.analyst is None else dataset.analysts.get(offer.analyst)
    return [] if share is None else [dataset.budget, share]


def _mu_squared(event: Event) -> Fraction | None:
    """The μ² of an event, but for its selections; None if no μ of it is proved."""
    try:
        return gaussian_loss_of(ComposedEvent(tuple(_unselected(event)))).mu ** 2
    except (InvalidArgument, LossNotAccepted):
        return None


def _unselected(event: Event) -> Iterator[Event]:
    """The parts of an event that aren't selections of groups, whose δ is counted apart."""
    if isinstance(event, ComposedEvent):
        for part in event.events:
            yield from _unselected(part)
    elif not isinstance(event, SelectionEvent):
        yield event
