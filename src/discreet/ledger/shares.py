"""Shares of analysts, in all or in each month: what each has spent, and what it leaves.

A share that renews does so at the beginning of a calendar month, in UTC, by the time of the ledger: the later of the
clock and the last entry. So a clock that is set back opens no month again, and each month is had once. A clock that
runs ahead opens the next month early; what is spent then is that month's, and nothing renews until it is over.

What was spent in a month stands in each debit, beside what was spent in all, so that a decision looks at one entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.accounting import Charge, Remaining, filter_for
from discreet.errors import BudgetExhausted, LedgerCorrupt, Unauthenticated
from discreet.ledger.charges import charge_from, from_columns
from discreet.ledger.declaration import Declaration, budget_of
from discreet.ledger.row import Kind, Row
from discreet.privacy import Budget, MonthlyShare

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain


@dataclass(frozen=True, slots=True)
class AccountEntries:
    """The entries of one account, within one transaction.

    A writer holds the ledger's lock, so what was read stays true until it is acted on. Each look-up finds one
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
        """The most that a next question may cost by it."""
        return filter_for(self.share).remaining(self.spent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The standing of one analyst in an account.

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
    """How many times a cost can be paid. Meanwhile, others may spend what is left.

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
    """The start of the month after that of a time.

    Examples:
        >>> renewal("2023-12-31T00:00:00.000+00:00").isoformat()
        '2024-01-01T00:00:00+00:00'
    """
    year, month = map(int, month_of(at).split("-"))
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def spent_in_month(entries: AccountEntries, analyst: str, last: Row | None) -> Charge:
    """An analyst's spending in the current month by the ledger's clock.

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
    """The spending of its analyst in its month that a debit records, itself included; None if it records none."""
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
    """The share of a token's holder, in all or for each month, by its entry; None if that names none.

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
        who = "a question that names no analyst" if analyst is None else f"analyst {analyst!r}"
        raise BudgetExhausted(f"{who} has no share of this budget", hint="ask the custodian for a share")
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
    """The least of what these leave for a question."""
    return reduce(
        lambda one, other: Remaining(
            epsilon=min(one.epsilon, other.epsilon), rho=min(one.rho, other.rho), delta=min(one.delta, other.delta)
        ),
        remaining,
    )
