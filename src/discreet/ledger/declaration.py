"""Declarations: what a custodian allows an account and its analysts to spend, and whose presence its losses are about.

A sum of losses is a guarantee only if all of them are about the same neighbours. One ε for each row and one ε for each
person add up to no guarantee, for rows or for persons. So an account notes the unit of each private table in its
declaration; from the first loss on, a table's unit stays, also while the table isn't declared.

A share that renews does so at the beginning of a calendar month, in UTC, by the time of the ledger: the later of the
clock and the last entry. So a clock that is set back opens no month again, and each month is had once. A clock that
runs ahead opens the next month early; what is spent then is that month's, and nothing renews until it is over.

What was spent in a month stands in each debit, beside what was spent in all, so that a decision looks at one entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.accounting import Charge, Remaining, filter_for
from discreet.errors import BudgetExhausted, DiscreetError, InvalidArgument, LedgerCorrupt, Unauthenticated
from discreet.ledger.row import Kind, Row, charge_from, from_columns, to_body
from discreet.privacy import ADD_REMOVE, FAILURES, Adjacency, Budget, MonthlyShare, checked_failures

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain


_LONGEST_NAME = 255
_MONTHLY = "monthly"

Units = Mapping[str, str]
"""By the name of a private table, in lower case, its unit in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The budget of an account, the shares of its analysts, its adjacency, and the units of its tables.

    Args:
        budget: for all analysts together.
        analysts: smaller budgets of single analysts, in all or in each month. If there are any, only those may ask.
        adjacency: the relation under which all losses of the account are stated.
        units: of its private tables, by their names in lower case; none where nobody says.
        failures: how many questions may fail after they were paid for, before the custodian looks.

    Raises:
        InvalidArgument: an analyst's name can't be stored, the budget of all renews, or a number is out of range.
    """

    budget: Budget
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    adjacency: Adjacency = ADD_REMOVE
    units: Units = field(default_factory=dict)
    failures: int = FAILURES

    def __post_init__(self) -> None:
        checked_failures(self.failures)
        if isinstance(self.budget, MonthlyShare):
            raise InvalidArgument("the budget of all never renews", hint="a share of one analyst may")
        for analyst in self.analysts:
            checked_name(analyst, "the analyst's name")

    def to_text(self, weakens: Sequence[str] = ()) -> str:
        """The declaration as JSON; equal declarations have equal texts.

        Args:
            weakens: what of it weakens what was promised before, by the names by which that was allowed.

        Examples:
            >>> Declaration(budget=Budget(epsilon=3)).to_text()
            '{"budget":{"epsilon":"3"},"analysts":{},"adjacency":"add_remove","failures":10}'
        """
        shares = {name: amounts_of(self.analysts[name]) for name in sorted(self.analysts)}
        said = {"budget": amounts_of(self.budget), "analysts": shares, "adjacency": str(self.adjacency)}
        units = {name: self.units[name] for name in sorted(self.units)}
        weakened = {"weakens": list(weakens)} if weakens else {}
        return to_body(said | ({"units": units} if units else {}) | {"failures": self.failures} | weakened)

    @classmethod
    def from_content(cls, content: Mapping[str, object]) -> Declaration:
        """Read back what `to_text` wrote.

        Raises:
            LedgerCorrupt: it isn't a declaration.
        """
        match content:
            case {"budget": dict(budget), "analysts": dict(analysts), "adjacency": str(adjacency)}:
                pass
            case _:
                raise LedgerCorrupt("a declared budget in the ledger can't be read")
        try:
            return cls(
                budget=_from_dict(budget),
                analysts={name: _from_dict(share) for name, share in analysts.items()},
                adjacency=Adjacency(adjacency),
                units=units_from(content),
                failures=content.get("failures", FAILURES),  # type: ignore[arg-type]  # it is checked
            )
        except (DiscreetError, ValueError, TypeError, ZeroDivisionError):
            raise LedgerCorrupt("a declared budget in the ledger can't be read") from None

    def __str__(self) -> str:
        shares = "".join(f"; {name}: {share}" for name, share in self.analysts.items())
        units = "".join(f", {table} by {unit}" for table, unit in self.units.items())
        return f"{self.budget}{shares} ({self.adjacency.replace('_', '-')}{units}); at most {self.failures} failures"


def checked_name(name: str, what: str) -> str:
    """The name, if a ledger can store it and a reader can see all of it.

    Raises:
        InvalidArgument: it is empty or too long, starts or ends with a space, or holds characters that don't print.
    """
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= _LONGEST_NAME
        or not name.isprintable()
        or name != name.strip()
    ):
        raise InvalidArgument(f"{what} must have 1 to {_LONGEST_NAME} printable characters, with no space at its ends")
    return name


def budget_of(amounts: object, what: str) -> Budget:
    """A budget as an entry has it.

    Raises:
        LedgerCorrupt: it can't be read.
    """
    try:
        if isinstance(amounts, dict):
            return _from_dict(amounts)
    except (DiscreetError, ValueError, TypeError, ZeroDivisionError):
        pass
    raise LedgerCorrupt(f"{what} in the ledger can't be read")


def amounts_of(budget: Budget) -> dict[str, str]:
    """A budget as JSON-ready data; exact."""
    amounts = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
    renews = {"renews": _MONTHLY} if isinstance(budget, MonthlyShare) else {}
    return {name: str(amount) for name, amount in amounts.items() if amount is not None} | renews


def _from_dict(amounts: Mapping[str, str]) -> Budget:
    """A budget as it was declared; a version of discreet that knows of no renewal can't read one that renews."""
    exact = {name: Fraction(amount) for name, amount in amounts.items() if name != "renews"}
    if "renews" not in amounts:
        return Budget(**exact)
    if amounts["renews"] != _MONTHLY:
        raise InvalidArgument("a share renews monthly, or not at all")
    return MonthlyShare(**exact)


# ── Units of privacy ──────────────────────────────────────────────────────────────────────────────────────────────────


def units_from(content: Mapping[str, object]) -> dict[str, str]:
    """The units in a declaration; none in one of before they were noted.

    Raises:
        LedgerCorrupt: they can't be read.
    """
    units = content.get("units", {})
    if not isinstance(units, dict) or not all(isinstance(unit, str) for unit in units.values()):
        raise LedgerCorrupt("a declared budget in the ledger can't be read")
    return units


def units_in(certificate: object, declared: Units) -> dict[str, str]:
    """The units by which an answer's tables were protected, as its certificate has them, in any of its shapes.

    It says nothing of the time zone of a period, which is taken to be the declared one.

    Examples:
        >>> units_in({"plans": [{"tables": [{"name": "Visits", "owner": {"unit": "id"}}]}]}, {})
        {'visits': 'id'}
    """
    found = {name.casefold(): unit.casefold() for name, unit in _owners(certificate)}
    zoned = {name: declared.get(name, unit) for name, unit in found.items()}
    return {name: zoned[name] if zoned[name].startswith(f"{unit}, in ") else unit for name, unit in found.items()}


def _owners(certificate: object) -> Iterator[tuple[str, str]]:
    """Each private table that an answer's plans name, with its unit."""
    match certificate:
        case {"plans": list(plans)} | {"workload": {"bundles": list(plans)}}:
            pass
        case {"plan": dict(plan)}:
            plans = [plan]
        case _:
            plans = []
    tables: Any = (table for plan in plans if isinstance(plan, dict) for table in plan.get("tables") or ())
    for table in tables:
        match table:
            case {"name": str(name), "owner": {"unit": str(unit)}}:
                yield name, unit


def together(account: str, before: Units, declared: Units) -> Units:
    """The units of an account that has losses, under another declaration.

    Tables may come and go. One that is declared again has the unit that it had; and an account of which no table is
    left goes on only with a unit that it knows, as where its one table has another name.

    Args:
        account: its name.
        before: the units of its losses so far.
        declared: those of the tables that are declared now; none where nobody says.

    Raises:
        InvalidArgument: losses by different units would be added up.
    """
    for table, unit in declared.items():
        if before.get(table, unit) != unit:
            raise InvalidArgument(
                f"account {account!r} has losses by the unit {before[table]!r} of table {table!r}, to which losses by "
                f"the unit {unit!r} can't be added",
                hint=f"set the unit back to {before[table]!r}, or begin an account of another name, or in another "
                "ledger; for the same people its budget comes on top of this one's",
            )
    known = {table: unit for table, unit in before.items() if table not in declared}
    if known and declared and len(known) == len(before) and not set(before.values()) & set(declared.values()):
        raise InvalidArgument(
            f"account {account!r} belongs to {_listed(before)}, and not to {_listed(declared)}",
            hint="give these tables an account of another name, or in another ledger",
        )
    return {**known, **declared}


def _listed(units: Units) -> str:
    """Tables with their units, in words."""
    return ", ".join(f"table {table!r} by the unit {unit!r}" for table, unit in units.items())


# ── Shares, in all or in each month ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AccountEntries:
    """The entries of one account, within one transaction.

    Whoever writes holds the ledger's lock, so what was read stays true until it is acted on. Each look-up finds one
    entry by an index: running totals stand in the reservations, so a decision takes as long in a ledger of a million
    questions as in a new one.

    Args:
        chain: within the transaction.
        account: its name.
    """

    chain: Chain
    account: str

    def last(self, kind: Kind, **equal: object) -> Row | None:
        """The account's last entry of a kind with these values in its columns."""
        return self.chain.last(kind, account=self.account, **equal)

    def first(self, kind: Kind, **equal: object) -> Row | None:
        """The account's first entry of a kind with these values in its columns."""
        return self.chain.first(kind, account=self.account, **equal)


class Binding(NamedTuple):
    """A share that binds an analyst, and what of it was spent.

    Args:
        share: in all, or in each month.
        spent: as much of what the analyst spent as counts towards it.
        whose: it is, in words.
    """

    share: Budget
    spent: Charge
    whose: str

    @property
    def remaining(self) -> Remaining:
        """What a next question may cost by it."""
        return filter_for(self.share).remaining(self.spent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one analyst stands in an account.

    Args:
        spent: what their questions have cost in all.
        this_month: and in this calendar month, in UTC.
        remaining: what their next question may cost: the least of what the budget and their shares have left.
        renews: when a share of theirs does, in UTC; None if none does.
    """

    spent: Charge
    this_month: Charge
    remaining: Remaining
    renews: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Affordable:
    """How often a cost can be paid. Others may spend what is left meanwhile.

    Args:
        times: how often, now; None if it costs nothing.
        after: what a next question may cost once it is paid; None if it costs nothing, or can't be paid.
    """

    times: int | None
    after: Remaining | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data, as a plan tells it."""
        after = None if self.after is None else self.after.to_dict()
        return {"remaining_like_this": self.times, "remaining_after": after}


def in_utc(at: str) -> str:
    """A time, as it is written in UTC; of two, the later one is the greater text.

    Raises:
        LedgerCorrupt: it is no time.
    """
    try:
        return datetime.fromisoformat(at).astimezone(UTC).isoformat(timespec="milliseconds")
    except (TypeError, ValueError, OverflowError):
        raise LedgerCorrupt("a time in the ledger can't be read") from None


def month_of(at: str) -> str:
    """The calendar month of a time, in UTC.

    Examples:
        >>> month_of("2024-02-29T23:59:59.999+00:00"), month_of("2024-02-29T23:59:59.999-01:00")
        ('2024-02', '2024-03')
    """
    return in_utc(at)[:7]


def renewal(at: str) -> datetime:
    """When the month after that of a time begins.

    Examples:
        >>> renewal("2023-12-31T00:00:00.000+00:00").isoformat()
        '2024-01-01T00:00:00+00:00'
    """
    year, month = map(int, month_of(at).split("-"))
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def spent_in_month(entries: AccountEntries, analyst: str, last: Row | None) -> Charge:
    """What an analyst has spent in the month of the ledger's time.

    Args:
        entries: of the account.
        analyst: who.
        last: their last debit.
    """
    month = month_of(entries.chain.time())
    if last is None or month_of(last.at) != month:
        return Charge.zero()
    if (recorded := recorded_in_month(last)) is not None:
        return recorded
    # A version of discreet that knew of no months wrote it: add up those of this month, from the last that did.
    spent = Charge.zero()
    for row in entries.chain.every(Kind.RESERVE, entries.account, analyst=analyst):
        if month_of(row.at) != month:
            spent = Charge.zero()
        elif (recorded := recorded_in_month(row)) is not None:
            spent = recorded
        else:
            spent += from_columns(row)
    return spent


def recorded_in_month(debit: Row) -> Charge | None:
    """What a debit says that its analyst has spent in its month, itself included; None if it doesn't."""
    amounts = debit.content().get("month")
    return None if amounts is None else charge_from(amounts, debit)


def bindings(
    entries: AccountEntries, declaration: Declaration, analyst: str | None, token: str = ""
) -> Sequence[Binding]:
    """The shares that bind an analyst: that of their token, and that which is declared.

    Args:
        entries: of the account.
        declaration: in force.
        analyst: who asks; None where nobody is named.
        token: the digest of the token with which they ask; empty without one.

    Raises:
        BudgetExhausted: analysts have shares, and this one has none.
        Unauthenticated: there is no such token.
    """
    declared, by_token = _declared(declaration, analyst), _of_token(entries, token)
    if analyst is None or (declared is None and by_token is None):
        return ()
    last = entries.last(Kind.RESERVE, analyst=analyst)
    spent = from_columns(last, "share_")
    found = []
    for share, whose in ((by_token, "what your token may spend"), (declared, f"the share of analyst {analyst!r}")):
        if share is not None:
            renews = isinstance(share, MonthlyShare)
            found.append(Binding(share, spent_in_month(entries, analyst, last) if renews else spent, whose))
    return found


def share_of(row: Row) -> Budget | None:
    """What the holder of a token may spend, in all or in each month, as its entry says; None if it doesn't.

    Raises:
        LedgerCorrupt: it can't be read.
    """
    share = row.content().get("share")
    return None if share is None else budget_of(share, "a token's share")


def _declared(declaration: Declaration, analyst: str | None) -> Budget | None:
    """An analyst's share as it is declared; None where analysts have none.

    Raises:
        BudgetExhausted: analysts have shares, and this one has none.
    """
    if not declaration.analysts:
        return None
    if analyst is None or analyst not in declaration.analysts:
        who = "a question without an analyst" if analyst is None else f"analyst {analyst!r}"
        raise BudgetExhausted(f"{who} has no share of this budget", hint="the custodian lists who may ask")
    return declaration.analysts[analyst]


def _of_token(entries: AccountEntries, token: str) -> Budget | None:
    """The share of a token's holder; None where the token doesn't say.

    Raises:
        Unauthenticated: there is no such token.
    """
    if not token:
        return None
    row = entries.last(Kind.TOKEN, digest=token)
    if row is None:
        raise Unauthenticated
    return share_of(row)


def least_of(remaining: Sequence[Remaining]) -> Remaining:
    """What all of these leave for a question."""
    return reduce(
        lambda one, other: Remaining(
            epsilon=min(one.epsilon, other.epsilon), rho=min(one.rho, other.rho), delta=min(one.delta, other.delta)
        ),
        remaining,
    )
