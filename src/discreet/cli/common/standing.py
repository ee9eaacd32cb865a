"""Where accounts stand: what may be spent, was spent, and is left, of an account that is here or behind a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from discreet.accounting import Charge, Remaining
    from discreet.gateway import Protected
    from discreet.interfaces.client import Left, Remote, RemoteAccount
    from discreet.ledger import Standing as OwnStanding
    from discreet.privacy import Budget
    from discreet.results import Cost


@dataclass(frozen=True, slots=True)
class Standing:
    """Where somebody stands.

    Args:
        who: an analyst, or everyone.
        budget: what they may spend, in words; empty if a server doesn't say.
        spent: what they have spent, in words.
        remaining: what their next question may cost, in words.
        data: all of it, for programs.
        renews: what was spent of a share that renews, and when it does, in words; empty if none does.
    """

    who: str
    budget: str
    spent: str
    remaining: str
    data: Mapping[str, Any]
    renews: str = ""

    @classmethod
    def of(cls, who: str, budget: Budget, spent: Charge, remaining: Remaining) -> Standing:
        """Where somebody stands in an account that is here."""
        data: dict[str, dict[str, Any]] = {
            "budget": allowance(budget),
            "spent": amounts(spent),
            "remaining": dict(remaining.to_dict()),
        }
        return cls(who, str(budget), in_words(spent, budget), str(remaining), data)

    @classmethod
    def of_analyst(cls, who: str, share: Budget, own: OwnStanding) -> Standing:
        """Where an analyst stands in an account that is here."""
        found = cls.of(who, share, own.spent, own.remaining)
        if own.renews is None:
            return found
        return replace(
            found,
            data={**found.data, "this_month": amounts(own.this_month), "renews": own.renews.isoformat()},
            renews=_renewing(in_words(own.this_month, share), own.renews),
        )

    def words(self) -> str:
        """For people."""
        budget = f"\n  budget     {self.budget}" if self.budget else ""
        month = f"\n  this month {self.renews}" if self.renews else ""
        return f"{self.who}{budget}\n  spent      {self.spent}{month}\n  remaining  {self.remaining}"


def _renewing(spent: str, renews: datetime) -> str:
    """What was spent in a month, and when the next begins."""
    return f"{spent}; it renews on {renews:%Y-%m-%d}, in UTC"


def here(tables: Protected | Remote) -> Protected | None:
    """The tables, if they are here and not behind a server; nothing is loaded to find out."""
    return cast("Protected", tables) if hasattr(tables, "admissions") else None


def of_everyone(tables: Protected | Remote) -> Standing:
    """Where all stand together; behind a server, what is left is what its caller may spend of it."""
    if (protected := here(tables)) is not None:
        return Standing.of("everyone", protected.dataset.budget, protected.spent, protected.remaining)
    account = cast("Remote", tables).budget
    return _of_all(account, account.own_remaining or account.remaining)


def of_each(tables: Protected | Remote) -> tuple[Standing, list[Standing]]:
    """Where all stand together, and where each analyst does; behind a server, its caller alone."""
    if (protected := here(tables)) is not None:
        return of_everyone(tables), [
            Standing.of_analyst(name, share, protected.standing(name))
            for name, share in protected.dataset.analysts.items()
        ]
    account, own = cast("Remote", tables).budget, list[Standing]()
    if account.own_spent is not None:
        remaining = account.own_remaining
        data: dict[str, Any] = {
            "budget": dict.fromkeys(("epsilon", "rho", "delta")),
            "spent": account.own_spent.to_json(),
            "remaining": dict.fromkeys(("epsilon", "rho", "delta")) if remaining is None else remaining.to_dict(),
        }
        left = "nothing: no share" if remaining is None else str(remaining)
        month, renews = account.own_this_month, account.own_renews
        said = ""
        if month is not None and renews is not None:
            data |= {"this_month": month.to_json(), "renews": renews.isoformat()}
            said = _renewing(account.in_words(month), renews)
        own.append(Standing("you", "", account.in_words(account.own_spent), left, data, said))
    return _of_all(account, account.remaining), own


def _of_all(account: RemoteAccount, remaining: Left) -> Standing:
    """Where all stand together, as a server says."""
    budget = account.budget
    data: dict[str, dict[str, Any]] = {
        "budget": {name: amount for name, amount in budget.to_json().items() if name != "exact"},
        "spent": account.spent.to_json(),
        "remaining": remaining.to_dict(),
    }
    return Standing("everyone", account.words, account.in_words(account.spent), str(remaining), data)


def amounts(charge: Charge | Cost) -> dict[str, object]:
    """A charge as JSON-ready data: decimal numbers for reading, and exact ones for proof; null is infinite.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> amounts(Charge(epsilon=Fraction(1, 3), rho=None, delta=Fraction(0)))["exact"]
        {'epsilon': '1/3', 'rho': None, 'delta': '0'}
    """
    from discreet.results import Cost

    return Cost(epsilon=charge.epsilon, rho=charge.rho, delta=charge.delta).to_json()


def allowance(budget: Budget) -> dict[str, object]:
    """A budget as JSON-ready data: what it doesn't count is null.

    Examples:
        >>> from discreet.privacy import Budget
        >>> allowance(Budget(epsilon=3, delta="1e-6"))
        {'epsilon': 3.0, 'rho': None, 'delta': 1e-06}
    """
    given = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta}
    return {name: None if amount is None else float(amount) for name, amount in given.items()}


def in_words(charge: Charge, budget: Budget) -> str:
    """A charge in those amounts that the budget counts.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> from discreet.privacy import Budget
        >>> in_words(Charge(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(0)), Budget(epsilon=3))
        'ε = 0.5'
    """
    from discreet.ledger.row import in_words as words

    return words(charge, budget)
