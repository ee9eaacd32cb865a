"""The account, here or behind a server: `discreet budget`, where it stands; `history`, its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from discreet.cli.app import reported
from discreet.cli.common import options
from discreet.cli.common.screen import ENDLESS, Sheet, cut, refuse_binary_to_screen, say, show_json, width
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.accounting import Charge, Remaining
    from discreet.gateway import Protected
    from discreet.interfaces.client import Left, Remote, RemoteAccount, RemoteEntry
    from discreet.ledger import Entry
    from discreet.ledger import Standing as OwnStanding
    from discreet.privacy import Budget
    from discreet.results import Cost

Line: TypeAlias = "Entry | RemoteEntry"
"""An entry of an account that is here, or behind a server."""

_TEXT, _OTHERS = 32, 48
"""How much of a question is shown in a table at the least, and what the other columns take."""


@reported
@options.somewhere
def budget(
    *, format_: options.Formatted = options.Format.TABLE, raw: options.Raw = False, where: options.Where
) -> None:
    """Show the budget, what was spent of it, and what is left: of all together, and of each analyst.

    And how many questions failed since the custodian last looked at such. Of a server: of all together, and of whoever
    holds the token.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        everyone, analysts = of_each(tables)
    match format_:
        case options.Format.TABLE:
            say("\n\n".join(one.words() for one in (everyone, *analysts)))
        case options.Format.JSON:
            show_json({**everyone.data, "analysts": {one.who: one.data for one in analysts}})
        case options.Format.CSV | options.Format.ARROW:
            _flat([everyone, *analysts]).show(format_, raw=raw)


def _flat(standings: list[Standing]) -> Sheet:
    """One row for each, one column for each amount."""
    parts = [(part, name) for part in ("budget", "spent", "remaining") for name in ("epsilon", "rho", "delta")]
    rows = [[one.who, *(one.data[part][name] for part, name in parts), one.data.get("renews")] for one in standings]
    return Sheet(("who", *(f"{part}_{name}" for part, name in parts), "renews"), rows)


@reported
@options.somewhere
def history(  # noqa: PLR0913 — what may be said, each by name
    entry: Annotated[
        int | None, typer.Argument(metavar="ENTRY", min=1, help="Only the entry of this number, as it was asked.")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Show each question as it was asked, all of it.")] = False,
    last: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Only the last so many.")] = None,
    format_: options.Formatted = options.Format.TABLE,
    raw: options.Raw = False,
    where: options.Where,
) -> None:
    """Show what was asked, when, by whom, what it cost, and what became of it.

    A question without an answer (`lost` or `failed`) stays paid. A table on a terminal cuts long questions. A
    server shows analysts their own ones.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        entries: Sequence[Line] = tables.history()
    shown = _numbered(entries, entry) if entry is not None else entries[-last:] if last else entries
    if format_ is not options.Format.TABLE:
        _whole(shown).show(format_, raw=raw)
    elif full or entry is not None:
        say("\n\n".join(map(_as_asked, shown)))
    else:
        _brief(shown).show(format_)


@reported
def failures(
    *,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="Note that you have looked at them, so that asking goes on.")
    ] = False,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the questions that failed after they were paid for, since you last looked at such.

    A failure can tell a fact about rows without noise. So nothing new is asked once as many have failed as are declared
    (`failures`, 10), until you have looked: who asked them, how alike they are, whether times or memory are too short.
    `--acknowledge` is an entry of the ledger. A question that this machine still runs without a server gets no answer
    then.
    """
    refuse_binary_to_screen(format_)
    with options.opened(config) as tables:
        found = tables.acknowledge_failures() if acknowledge else tables.failures
        numbers = {*found.failed, *found.pending}
        shown = [entry for entry in tables.history() if entry.number in numbers]
        words = found.words(tables.dataset.failures)
    if format_ is options.Format.TABLE:
        if shown:
            _brief(shown).show(format_)
        say(f"{words}; {'looked at, by an entry of the ledger' if acknowledge else 'nobody has looked at them yet'}")
    else:
        _whole(shown).show(format_)


def _numbered(entries: Sequence[Line], number: int) -> Sequence[Line]:
    """The entry of a number.

    Raises:
        InvalidArgument: there is none.
    """
    found = [each for each in entries if each.number == number]
    if not found:
        numbers = [each.number for each in entries if each.number is not None]
        there = f"there are {numbers[0]} to {numbers[-1]}" if numbers else "nothing was asked yet"
        raise InvalidArgument(f"there is no entry {number}", hint=there)
    return found


def _as_asked(entry: Line) -> str:
    """An entry in words, with its question as it was typed."""
    said = [
        "" if entry.number is None else f"entry {entry.number}",
        f"{entry.at:%Y-%m-%d %H:%M} UTC",
        entry.analyst or "",
        "" if entry.cost is None else price(entry.cost),
        _became(entry),
    ]
    lines = [f"  {printable(line)}" for line in entry.text.splitlines()]
    return "\n".join([printable(", ".join(filter(None, said))), *lines])


def _brief(entries: Sequence[Line]) -> Sheet:
    """Questions on one line, cut to what fits a screen, if it is one; who asked only where somebody said so."""
    wide = width()
    rows = [
        {
            "entry": "" if entry.number is None else str(entry.number),
            "when (UTC)": f"{entry.at:%Y-%m-%d %H:%M}",
            "analyst": entry.analyst or "",
            "what": cut(entry.text, ENDLESS if wide is None else max(_TEXT, wide - _OTHERS)),
            "cost": "" if entry.cost is None else price(entry.cost),
            "state": _became(entry),
        }
        for entry in entries
    ]
    anonymous = not any(row["analyst"] for row in rows)
    names = [
        name
        for name in ("entry", "when (UTC)", "analyst", "what", "cost", "state")
        if name != "analyst" or not anonymous
    ]
    return Sheet(tuple(names), [[row[name] for name in names] for row in rows])


def _became(entry: Line) -> str:
    """What became of a question, or what else an entry is."""
    return printable(entry.became(datetime.now(UTC))) or entry.kind


def _whole(entries: Sequence[Line]) -> Sheet:
    """All of it, with exact amounts."""
    names = ("entry", "at", "kind", "analyst", "text", "epsilon", "rho", "delta", "state")
    rows = []
    for entry in entries:
        amount = [None if entry.cost is None else getattr(entry.cost, name) for name in ("epsilon", "rho", "delta")]
        exact = [None if one is None else str(one) for one in amount]
        state = None if entry.state is None else str(entry.state)
        rows.append([entry.number, entry.at.isoformat(), entry.kind, entry.analyst, entry.text, *exact, state])
    return Sheet(names, rows)


# ── Where an account stands ───────────────────────────────────────────────────────────────────────────────────────────


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
        failures: how many questions failed, in words; empty where that is nobody's own.
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
        failures = f"\n  failures   {self.failures}" if self.failures else ""
        return f"{self.who}{budget}\n  spent      {self.spent}{month}\n  remaining  {self.remaining}{failures}"


def _renewing(spent: str, renews: datetime) -> str:
    """What was spent in a month, and when the next begins."""
    return f"{spent}; it renews on {renews:%Y-%m-%d}, in UTC"


def here(tables: Protected | Remote) -> Protected | None:
    """The tables, if they are here and not behind a server; nothing is loaded to find out."""
    return cast("Protected", tables) if hasattr(tables, "admissions") else None


def of_everyone(tables: Protected | Remote) -> Standing:
    """Where all stand together; behind a server, what is left is what its caller may spend of it."""
    if (protected := here(tables)) is not None:
        found = Standing.of("everyone", protected.dataset.budget, protected.spent, protected.remaining)
        failures, allowed = protected.failures, protected.dataset.failures
        data = {"allowed": allowed, "failed": len(failures.failed), "pending": len(failures.pending)}
        return replace(found, data={**found.data, "failures": data}, failures=failures.words(allowed))
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


def price(charge: Charge | Cost) -> str:
    """What one question cost, in the amount it was asked at: ε, or ρ where it has no finite ε; and δ if any.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.accounting import Charge
        >>> price(Charge(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**9)))
        'ρ = 0.005, δ = 1e-09'
    """
    name, amount = ("ρ", charge.rho) if charge.epsilon is None else ("ε", charge.epsilon)
    shown = f"{name} = {float(amount):.4g}" if amount is not None else f"{name} = ∞"
    return f"{shown}, δ = {float(charge.delta):.3g}" if charge.delta else shown
