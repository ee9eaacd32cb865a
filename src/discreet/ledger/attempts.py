"""Attempts: questions that a server carries out for others, each under an idempotency key or an approval, or neither.

One attempt may make several debits: where limits or bounds are chosen privately first, each profile has its own. What
they have in common is the attempt's id. The first debit under a key, or by an approval, decides in its own transaction
that there is none by another attempt; so whatever is asked again, by however many at a time, is paid for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from discreet.errors import AskedAlready, KeyReused, NotApproved, Unauthenticated
from discreet.ledger.requests import RequestState, read_request
from discreet.ledger.row import Kind, Row, Stored, to_body, version_of

if TYPE_CHECKING:
    from discreet.ledger.shares import AccountEntries

MARGIN = timedelta(seconds=5)
"""How long after its time an attempt may still be storing its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A question that a server carries out for someone else.

    Args:
        id: random; what its debits have in common.
        plan: the digest of all of its plan.
        seconds: how long it may run: a public fact.
        key: the digest of its idempotency key, as `key_digest` has it; empty if there is none.
        approval: the id of the request by whose approval it is made; empty if it needs none.
        declarations: the digest of what is declared of the tables.
        token: the digest of the token with which it is asked; empty if there is none.
        until: when that ends, or a provider's, in UTC; None if nothing does.
    """

    id: str
    plan: str
    seconds: float
    key: str = ""
    approval: str = ""
    declarations: str = ""
    token: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The outcome of the attempt that was made under an idempotency key.

    Args:
        id: of the attempt.
        plan: the digest of its plan.
        version: of the data that it was asked of.
        stored: the answers that its debits got so far.
        failed: whether one of them got none.
        is_open: whether one of them has no outcome, so that nobody knows what came of it.
        is_over: whether it has had its time, so that nobody carries it out any more.
    """

    id: str
    plan: str
    version: int
    stored: Sequence[Stored]
    failed: bool
    is_open: bool
    is_over: bool


def key_digest(subject: str, key: str) -> str:
    """The digest by which an idempotency key is looked up: keys of several subjects never meet.

    Examples:
        >>> key_digest("ann", "1") == key_digest("bob", "1")
        False
    """
    return sha256(f"{subject}\0{key}".encode()).hexdigest()


def check_attempt(transaction: AccountEntries, attempt: Attempt, analyst: str | None, version: int) -> None:
    """Refuse a debit that its attempt may not make.

    Raises:
        Unauthenticated: the token was revoked or has ended meanwhile.
        KeyReused: another question was asked under the key.
        AskedAlready: another attempt asks, or asked, the same under it.
        NotApproved: the approval isn't one for this, or is used up.
    """
    if attempt.token and transaction.last(Kind.REVOKE, digest=attempt.token) is not None:
        raise Unauthenticated
    if attempt.until is not None and attempt.until <= datetime.fromisoformat(transaction.chain.time()):
        raise Unauthenticated
    if attempt.key and (before := transaction.first(Kind.ATTEMPT, digest=attempt.key)) is not None:
        content = before.content()
        if content.get("plan") != attempt.plan:
            raise KeyReused
        if content.get("attempt") != attempt.id:
            raise AskedAlready
    if attempt.approval:
        check_use(transaction, attempt, analyst, version)


def check_use(transaction: AccountEntries, attempt: Attempt, analyst: str | None, version: int | None = None) -> None:
    """Refuse an attempt that its approval isn't for; of one that has used it up itself, nothing more is asked.

    Raises:
        NotApproved: it isn't one for this, or is used up.
    """
    row = transaction.last(Kind.REQUEST, digest=attempt.approval)
    if row is None or row.analyst != analyst:
        raise NotApproved("you have no such request")
    use = transaction.last(Kind.USE, digest=attempt.approval)
    if use is not None:
        if use.content().get("attempt") != attempt.id:
            raise NotApproved("this approval is used up", hint="the same Idempotency-Key has its answer again")
        return
    found = read_request(transaction, row)
    if found.state is not RequestState.APPROVED:
        raise NotApproved(f"this request is {found.state}", hint="ask once it is approved, or make another")
    approval = transaction.last(Kind.APPROVAL, digest=attempt.approval)
    content = {} if approval is None else approval.content()
    if attempt.plan != found.plan or content.get("plan") != attempt.plan:
        raise NotApproved(
            "the approval is for another question, or for another cost", hint="ask exactly what you requested"
        )
    if content.get("declarations") != attempt.declarations:
        raise NotApproved("the declarations have changed since this was approved", hint="request it again")
    if approval is not None and version is not None and approval.version is not None and version > approval.version:
        raise NotApproved("the approval is for another version of the tables", hint="request it again")


def note_attempt(transaction: AccountEntries, attempt: Attempt, debit: Row) -> None:
    """Write down, with a debit, under which key and by which approval it was made."""
    same = {"account": debit.account, "number": debit.number, "analyst": debit.analyst, "version": debit.version}
    if attempt.approval and transaction.last(Kind.USE, digest=attempt.approval) is None:
        body = to_body({"attempt": attempt.id, "plan": attempt.plan, "declarations": attempt.declarations})
        transaction.chain.append(Kind.USE, body, digest=attempt.approval, **same)
    if attempt.key:
        body = to_body({"attempt": attempt.id, "plan": attempt.plan, "seconds": attempt.seconds})
        transaction.chain.append(Kind.ATTEMPT, body, digest=attempt.key, **same)


def is_over(first: Row, time: str) -> bool:
    """Whether an attempt that began with this entry has had its time."""
    end = datetime.fromisoformat(first.at) + timedelta(seconds=float(first.content().get("seconds", 0))) + MARGIN
    return end <= datetime.fromisoformat(time)


def tried_under(transaction: AccountEntries, key: str) -> Tried | None:
    """The outcome of the attempt under an idempotency key, given by its digest; None if none got as far as a debit."""
    rows = transaction.chain.every(Kind.ATTEMPT, transaction.account, digest=key)
    if not rows:
        return None
    commits, fails = ([transaction.last(kind, number=row.number) for row in rows] for kind in (Kind.COMMIT, Kind.FAIL))
    return Tried(
        id=rows[0].content().get("attempt", ""),
        plan=rows[0].content().get("plan", ""),
        version=max(version_of(row) for row in rows),
        stored=transaction.chain.stored([row for row in commits if row is not None]),
        failed=any(row is not None for row in fails),
        is_open=any(pair == (None, None) for pair in zip(commits, fails, strict=True)),
        is_over=is_over(rows[0], transaction.chain.time()),
    )
