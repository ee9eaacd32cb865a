"""Attempts: questions that a server carries out for somebody, each under an idempotency key or an approval, or neither.

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

from discreet.errors import AskedAlready, KeyReused, Unauthenticated
from discreet.ledger.requests import check_use
from discreet.ledger.row import Kind, Row, to_body
from discreet.ledger.tokens import share_of

if TYPE_CHECKING:
    from discreet.ledger.account import Stored
    from discreet.ledger.transaction import AccountTransaction
    from discreet.privacy import Budget

MARGIN = timedelta(seconds=5)
"""For so long after its time an attempt may still be storing its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A question that is carried out for somebody.

    Args:
        id: random; what its debits have in common.
        plan: the digest of all of its plan.
        seconds: how long it may run: a public fact.
        key: the digest of its idempotency key, as `key_digest` has it; empty if there is none.
        approval: the id of the request by whose approval it is made; empty if it needs none.
        declarations: the digest of what is declared of the tables.
        token: the digest of the token with which it is asked; empty if there is none.
    """

    id: str
    plan: str
    seconds: float
    key: str = ""
    approval: str = ""
    declarations: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of the attempt that was made under an idempotency key.

    Args:
        id: of the attempt.
        plan: the digest of its plan.
        version: of the data that it was asked of.
        stored: the answers that its debits got so far.
        failed: whether one of them got none.
        is_over: whether it has had its time, so that nobody carries it out any more.
    """

    id: str
    plan: str
    version: int
    stored: Sequence[Stored]
    failed: bool
    is_over: bool


def key_digest(subject: str, key: str) -> str:
    """What an idempotency key is looked up by: keys of several subjects never meet.

    Examples:
        >>> key_digest("ann", "1") == key_digest("bob", "1")
        False
    """
    return sha256(f"{subject}\0{key}".encode()).hexdigest()


def check_attempt(transaction: AccountTransaction, attempt: Attempt, analyst: str | None, version: int) -> None:
    """Refuse a debit that its attempt may not make.

    Raises:
        Unauthenticated: the token was revoked meanwhile.
        KeyReused: another question was asked under the key.
        AskedAlready: another attempt asks, or asked, the same under it.
        NotApproved: the approval isn't one for this, or is used up.
    """
    if attempt.token and transaction.last(Kind.REVOKE, digest=attempt.token) is not None:
        raise Unauthenticated
    if attempt.key and (before := transaction.first(Kind.KEY, digest=attempt.key)) is not None:
        content = before.content()
        if content.get("plan") != attempt.plan:
            raise KeyReused
        if content.get("attempt") != attempt.id:
            raise AskedAlready
    if attempt.approval:
        check_use(transaction, attempt, analyst, version)


def share_of_token(transaction: AccountTransaction, token: str) -> Budget | None:
    """What the holder of a token may spend in all; None where the token doesn't say.

    Raises:
        Unauthenticated: there is no such token.
    """
    if not token:
        return None
    row = transaction.last(Kind.TOKEN, digest=token)
    if row is None:
        raise Unauthenticated
    return share_of(row)


def note_attempt(transaction: AccountTransaction, attempt: Attempt, debit: Row) -> None:
    """Write down, with a debit, under which key and by which approval it was made."""
    same = {"account": debit.account, "number": debit.number, "analyst": debit.analyst, "version": debit.version}
    if attempt.approval and transaction.last(Kind.USE, digest=attempt.approval) is None:
        body = to_body({"attempt": attempt.id, "plan": attempt.plan, "declarations": attempt.declarations})
        transaction.chain.append(Kind.USE, body, digest=attempt.approval, **same)
    if attempt.key:
        body = to_body({"attempt": attempt.id, "plan": attempt.plan, "seconds": attempt.seconds})
        transaction.chain.append(Kind.KEY, body, digest=attempt.key, **same)


def is_over(first: Row, time: str) -> bool:
    """Whether an attempt that began with this entry has had its time."""
    end = datetime.fromisoformat(first.at) + timedelta(seconds=float(first.content().get("seconds", 0))) + MARGIN
    return end <= datetime.fromisoformat(time)
