"""The standing of an account: the budget, what was spent of it, and what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, show_json

if TYPE_CHECKING:
    from discreet.accounting import Charge, Remaining
    from discreet.gateway import Protected
    from discreet.interfaces.client import Left, Remote, RemoteAccount
    from discreet.ledger import Standing as OwnStanding
    from discreet.privacy import Budget
    from discreet.results import Cost


@dataclass(frozen=True, slots=True)
class Standing:
    """The amounts that an analyst, or everyone together, may spend and has spent.

    Args:
        who: an analyst's name, or "everyone".
        budget: what they may spend, in words; empty if a server doesn't say.
        spent: what they have spent, in words.
        remaining: what their next question may cost, in words.
        data: all of it, for programs.
        renews: what was spent of a share that renews and when it does, in words; empty if the share doesn't.
        failures: how many questions failed, in words; empty for analysts, who have no such limit of their own.
    """

    who: str
    budget: str
    spent: str
    remaining: str
    data: Mapping[str, Any]
    renews: str = ""
    failures: str = ""

    @classmethod
    def of(cls, who: str, budget: Budget, spent: Charge, remaining: Remaining) -> Standing:
        """From an account on this machine."""
        from discreet.ledger.charges import in_words

        data: dict[str, dict[str, Any]] = {
            "budget": allowance(budget),
            "spent": amounts(spent),
            "remaining": dict(remaining.to_dict()),
        }
        return cls(who, str(budget), in_words(spent, budget), str(remaining), data)

    @classmethod
    def of_analyst(cls, who: str, share: Budget, own: OwnStanding) -> Standing:
        """From an account on this machine, for an analyst's share."""
        from discreet.ledger.charges import in_words

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
        failures = f"\n  failures   {self.failures}" if self.failures else ""
        return f"{self.who}{budget}\n  spent      {self.spent}{month}\n  remaining  {self.remaining}{failures}"


def _renewing(spent: str, renews: datetime) -> str:
    """The spending of this month, and when the next begins."""
    return f"{spent}; it renews on {renews:%Y-%m-%d}, in UTC"


def here(tables: Protected | Remote) -> Protected | None:
    """The tables, if they are on this machine and not behind a server; it loads no module to find out."""
    return cast("Protected", tables) if hasattr(tables, "admissions") else None


def of_everyone(tables: Protected | Remote) -> Standing:
    """Everyone's standing. From a server, `remaining` is what its caller may still spend."""
    if (protected := here(tables)) is not None:
        found = Standing.of("everyone", protected.dataset.budget, protected.spent, protected.remaining)
        failures, allowed = protected.failures, protected.dataset.failures
        data = {"allowed": allowed, "failed": len(failures.failed), "pending": len(failures.pending)}
        return replace(found, data={**found.data, "failures": data}, failures=failures.words(allowed))
    account = cast("Remote", tables).budget
    return _of_all(account, account.own_remaining or account.remaining)


def of_each(tables: Protected | Remote) -> tuple[Standing, list[Standing]]:
    """Everyone's standing, and each analyst's; from a server, its caller's."""
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


def show_standing(everyone: Standing, analysts: Sequence[Standing], as_format: Format, *, raw: bool = False) -> None:
    """Write the standing of everyone and of each analyst to standard output."""
    match as_format:
        case Format.TABLE:
            say("\n\n".join(one.words() for one in (everyone, *analysts)))
        case Format.JSON:
            show_json({**everyone.data, "analysts": {one.who: one.data for one in analysts}})
        case Format.CSV | Format.ARROW:
            _flat([everyone, *analysts]).show(as_format, raw=raw)


def _flat(standings: list[Standing]) -> Sheet:
    """A row for each account holder, a column for each amount."""
    parts = [(part, name) for part in ("budget", "spent", "remaining") for name in ("epsilon", "rho", "delta")]
    rows = [[one.who, *(one.data[part][name] for part, name in parts), one.data.get("renews")] for one in standings]
    return Sheet(("who", *(f"{part}_{name}" for part, name in parts), "renews"), rows)


def _of_all(account: RemoteAccount, remaining: Left) -> Standing:
    """Everyone's standing, as a server says."""
    budget = account.budget
    data: dict[str, dict[str, Any]] = {
        "budget": {name: amount for name, amount in budget.to_json().items() if name != "exact"},
        "spent": account.spent.to_json(),
        "remaining": remaining.to_dict(),
    }
    return Standing("everyone", account.words, account.in_words(account.spent), str(remaining), data)


def amounts(charge: Charge | Cost) -> dict[str, object]:
    """A charge as JSON-ready data: decimals to read, exact fractions for proofs; null means infinite.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> amounts(Charge(epsilon=Fraction(1, 3), rho=None, delta=Fraction(0)))["exact"]
        {'epsilon': '1/3', 'rho': None, 'delta': '0'}
    """
    from discreet.results import Cost

    return Cost(epsilon=charge.epsilon, rho=charge.rho, delta=charge.delta).to_json()


def allowance(budget: Budget) -> dict[str, object]:
    """A budget as JSON-ready data; null for an amount that it doesn't count.

    Examples:
        >>> from discreet.privacy import Budget
        >>> allowance(Budget(epsilon=3, delta="1e-6"))
        {'epsilon': 3.0, 'rho': None, 'delta': 1e-06}
    """
    given = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta}
    return {name: None if amount is None else float(amount) for name, amount in given.items()}
