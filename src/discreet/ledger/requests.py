"""Requests: questions above what their asker may spend on one, which a custodian approves or denies.

A request, what was decided about it, and that its approval was used up are entries of the chain. Whatever an approval
is for is written in it, and looked at again in the transaction of the debit that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from discreet.errors import Forbidden, InvalidArgument, LedgerCorrupt, TooManyWaiting
from discreet.hints import Hint
from discreet.ledger.declaration import checked_name
from discreet.ledger.row import Kind, Row, to_body

if TYPE_CHECKING:
    from discreet.ledger.shares import AccountEntries
    from discreet.ledger.store import Store

MOST_OPEN = 20
"""How many requests one analyst may have open at once."""

_MOST_CHARACTERS = 1000
_MOST_DAYS = 366


class RequestState(StrEnum):
    """The state of a request."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"
    EXPIRED = "expired"
    """It was approved but not used in time, or the tables or declarations have changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question that an analyst asked to have approved.

    Args:
        id: what it is called by.
        subject: who may ask the question, once it is approved.
        question: SQL.
        terms: what is offered for it, as JSON-ready data.
        plan: the digest of its plan: that is carried out, or nothing.
        purpose: what it is asked for.
        cost: of its plan, as JSON-ready data.
        at: when the request was made, in UTC.
        state: what became of it.
        until: when the approval ends, in UTC; None if there is none.
        by: who decided; empty if nobody has.
        reason: of a denial.
        any_version: whether the approval is for any version of the tables, rather than for the one that was in force.
    """

    id: str
    subject: str
    question: str
    terms: Mapping[str, Any]
    plan: str
    purpose: str
    cost: Mapping[str, Any]
    at: datetime
    state: RequestState
    until: datetime | None = None
    by: str = ""
    reason: str = ""
    any_version: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approver:
    """A custodian who decides about a request.

    Args:
        subject: who it is.
        token: the digest of the token that was shown; empty on the machine that holds the ledger.
    """

    subject: str
    token: str = ""


class Requests:
    """The requests of one account; `Account.requests` has them.

    Args:
        store: of the ledger.
        transaction: the account within a transaction.
    """

    def __init__(self, store: Store, transaction: Callable[..., AccountEntries]) -> None:
        """Keep the parts; nothing is read yet."""
        self._store = store
        self._transaction = transaction

    def open(self, request: str, subject: str, token: str, content: Mapping[str, Any]) -> ApprovalRequest:
        """Make a request. It is on the disk when this returns.

        Args:
            request: its id: 128 random bits, in hexadecimal.
            subject: who asks for approval.
            token: the digest of the token that was shown; with it the request ends.
            content: `question`, `terms`, `plan`, `purpose` and `cost`, as JSON-ready data.

        Raises:
            InvalidArgument: the purpose is empty, too long or can't be printed, or the terms aren't JSON.
            TooManyWaiting: too many of the subject's requests are open.
            LedgerError: the ledger can't be written.
        """
        purpose = content["purpose"]
        if not 0 < len(purpose) <= _MOST_CHARACTERS or not purpose.isprintable() or not purpose.strip():
            raise InvalidArgument(
                f"a purpose has 1 to {_MOST_CHARACTERS} printable characters", hint="say what the answer is for"
            )
        try:
            body = to_body({**content, "token": token})
        except (TypeError, ValueError, RecursionError):
            raise InvalidArgument("the terms of a request must be JSON-ready") from None
        checked_name(subject, "the subject's name")

        def append(transaction: AccountEntries) -> ApprovalRequest:
            own = _all(transaction, analyst=subject)
            if sum(each.state is RequestState.OPEN for each in own) >= MOST_OPEN:
                raise TooManyWaiting(
                    f"{MOST_OPEN} of your requests are already open", hint="wait until one of them has been decided"
                )
            row = transaction.chain.append(
                Kind.REQUEST, body, account=transaction.account, analyst=subject, digest=request
            )
            return read_request(transaction, row)

        return self._store.write(lambda chain: append(self._transaction(chain)))

    def all(self, subject: str | None = None) -> Sequence[ApprovalRequest]:
        """All requests, or those of one analyst, in the order in which they were made.

        Raises:
            LedgerError: the ledger can't be read.
        """
        equal = {} if subject is None else {"analyst": subject}
        return self._store.read(lambda chain: _all(self._transaction(chain), **equal))

    def find(self, request: str) -> ApprovalRequest | None:
        """The request of this id; None if there is none.

        Raises:
            LedgerError: the ledger can't be read.
        """

        def look(transaction: AccountEntries) -> ApprovalRequest | None:
            row = transaction.last(Kind.REQUEST, digest=request)
            return None if row is None else read_request(transaction, row)

        return self._store.read(lambda chain: look(self._transaction(chain)))

    def approve(  # noqa: PLR0913 — what an approval is for, each by name
        self, request: str, by: Approver, *, plan: str, declarations: str, days: int, any_version: bool
    ) -> ApprovalRequest:
        """Let the question of a request be asked, once, by who made it.

        Args:
            request: its id.
            by: who approves it: never who made it.
            plan: the digest of the question's plan, as it is made now.
            declarations: the digest of what is declared of the tables now.
            days: for how many days it holds, from 1 to 366; never longer than the token with which it was made.
            any_version: whether it holds for any version of the tables, rather than for the one in force alone.

        Raises:
            InvalidArgument: there is no such request, it was decided, its plan would be another now, or days are out
                of range.
            Forbidden: it is the custodian's own.
            LedgerError: the ledger can't be written.
        """
        if not 1 <= days <= _MOST_DAYS:
            raise InvalidArgument(f"an approval is valid for 1 to {_MOST_DAYS} days, not {days}")

        def append(transaction: AccountEntries) -> ApprovalRequest:
            row, found = _undecided(transaction, request, by)
            if found.state is not RequestState.OPEN:
                raise InvalidArgument(f"this request is {found.state}", hint="its analyst can make another")
            if found.plan != plan:
                raise InvalidArgument(
                    "the declarations have changed since this was requested", hint="its analyst can make another"
                )
            until = datetime.fromisoformat(transaction.chain.time()) + timedelta(days=days)
            until = min(until, _end_of_token(transaction, row, until))
            body = {
                "by": by.subject,
                "token": by.token,
                "plan": plan,
                "declarations": declarations,
                "until": until.isoformat(timespec="milliseconds"),
            }
            newest = transaction.last(Kind.DATA)
            if newest is None:
                raise InvalidArgument("no tables have been admitted yet", hint="admit them first")
            version = None if any_version else newest.version
            same = {"account": row.account, "analyst": row.analyst, "digest": request, "version": version}
            transaction.chain.append(Kind.APPROVAL, to_body(body), **same)
            return read_request(transaction, row)

        return self._store.write(lambda chain: append(self._transaction(chain)))

    def deny(self, request: str, by: Approver, reason: str) -> ApprovalRequest:
        """Deny a request, or take back an approval that wasn't used.

        Args:
            request: its id.
            by: who denies it.
            reason: for who made it: at most 1,000 printable characters.

        Raises:
            InvalidArgument: there is no such request, it was denied or used, or the reason can't be printed.
            Forbidden: it is the custodian's own.
            LedgerError: the ledger can't be written.
        """
        if len(reason) > _MOST_CHARACTERS or not reason.isprintable():
            raise InvalidArgument(f"a reason has at most {_MOST_CHARACTERS} printable characters")

        def append(transaction: AccountEntries) -> ApprovalRequest:
            row, found = _undecided(transaction, request, by)
            if found.state in {RequestState.DENIED, RequestState.USED}:
                raise InvalidArgument(f"this request is {found.state}", hint="it can no longer be denied")
            body = to_body({"by": by.subject, "token": by.token, "reason": reason})
            same = {"account": row.account, "analyst": row.analyst, "digest": request}
            transaction.chain.append(Kind.DENIAL, body, **same)
            return read_request(transaction, row)

        return self._store.write(lambda chain: append(self._transaction(chain)))


def _all(transaction: AccountEntries, **equal: str) -> list[ApprovalRequest]:
    """Requests, in their order."""
    made = transaction.chain.every(Kind.REQUEST, transaction.account, **equal)
    return [read_request(transaction, row) for row in made]


def _undecided(transaction: AccountEntries, request: str, by: Approver) -> tuple[Row, ApprovalRequest]:
    """A request that this custodian may decide.

    Raises:
        InvalidArgument: there is none.
        Forbidden: it is the custodian's own, or their token was revoked meanwhile.
    """
    row = transaction.last(Kind.REQUEST, digest=request)
    if row is None:
        hint = Hint("requests.all() lists them", cli="`discreet request list` shows their ids")
        raise InvalidArgument("there is no such request", hint=hint)
    if same_person(by.subject, row.analyst):
        raise Forbidden("nobody may decide about their own request", hint="ask another custodian")
    if by.token and transaction.last(Kind.REVOKE, digest=by.token) is not None:
        raise Forbidden("this token was revoked")
    return row, read_request(transaction, row)


def same_person(one: object, other: object) -> bool:
    """Whether two subjects may be the same one: the case of letters, and how they are composed, aren't looked at.

    Examples:
        >>> same_person("Ann", "ann"), same_person("ann", "bob")
        (True, False)
    """
    first, second = (normalize("NFKC", str(each)).casefold() for each in (one, other))
    return first == second


def _end_of_token(transaction: AccountEntries, row: Row, otherwise: datetime) -> datetime:
    """The expiry of the token with which a request was made."""
    token = row.content().get("token")
    made = transaction.last(Kind.TOKEN, digest=token) if token else None
    expires = None if made is None else made.content().get("expires")
    return otherwise if expires is None else datetime.fromisoformat(expires)


def read_request(transaction: AccountEntries, row: Row) -> ApprovalRequest:
    """A request, with what became of it.

    Raises:
        LedgerCorrupt: it isn't what was written.
    """
    approval, denial, use = (
        transaction.last(kind, digest=row.digest) for kind in (Kind.APPROVAL, Kind.DENIAL, Kind.USE)
    )
    decided = denial or approval
    said = {} if decided is None else decided.content()
    try:
        content = row.content()
        until = None if approval is None else datetime.fromisoformat(approval.content()["until"])
        return ApprovalRequest(
            id=row.digest or "",
            subject=row.analyst or "",
            question=content["question"],
            terms=content["terms"],
            plan=content["plan"],
            purpose=content["purpose"],
            cost=content["cost"],
            at=datetime.fromisoformat(row.at),
            state=_state(transaction, row, approval, denial, use),
            until=until,
            by=said.get("by", ""),
            reason=said.get("reason", ""),
            any_version=approval is not None and approval.version is None,
        )
    except (LookupError, TypeError, ValueError):
        raise LedgerCorrupt(f"the request in entry {row.seq} can't be read") from None


def _state(
    transaction: AccountEntries, row: Row, approval: Row | None, denial: Row | None, use: Row | None
) -> RequestState:
    """The state of a request."""
    if use is not None:
        return RequestState.USED
    if denial is not None:
        return RequestState.DENIED
    time = datetime.fromisoformat(transaction.chain.time())
    if _end_of_token(transaction, row, time + timedelta(days=1)) <= time:
        return RequestState.EXPIRED
    token = row.content().get("token")
    if token and transaction.last(Kind.REVOKE, digest=token) is not None:
        return RequestState.EXPIRED
    return RequestState.OPEN if approval is None else _state_of(transaction, approval, time)


def _state_of(transaction: AccountEntries, approval: Row, time: datetime) -> RequestState:
    """Whether an approval that wasn't used holds still: it is in time, and nothing was declared or admitted since."""
    budget, data = transaction.last(Kind.BUDGET), transaction.last(Kind.DATA)
    holds = (
        time < datetime.fromisoformat(approval.content()["until"])
        and (budget is None or budget.seq < approval.seq)
        and (approval.version is None or (data is not None and data.version == approval.version))
    )
    return RequestState.APPROVED if holds else RequestState.EXPIRED
