"""Idempotency keys: a question that is asked again under its key is the same question, and is paid for once.

Each server knows the keys of the questions that it took; the ledger knows those of all that were paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

from discreet.errors import (
    AskedAlready,
    AskedInPart,
    DiscreetError,
    EngineUnavailable,
    KeyReused,
    LedgerError,
    QuestionFailed,
)
from discreet.idempotency_key import check_key
from discreet.ledger import key_digest
from discreet.service.api import Reply
from discreet.service.tickets import Ticket

if TYPE_CHECKING:
    from discreet.ledger import Tried
    from discreet.service.planners import Planner


_SETTLED = {AskedAlready.code, QuestionFailed.code}


def checked_key(subject: str, key: str | None) -> str:
    """The digest by which a subject's key is known; empty if there is none.

    Raises:
        InvalidArgument: it isn't one.
    """
    if key is None:
        return ""
    check_key(key)
    return key_digest(subject, key)


class Keys:
    """The keys of the questions that this server took."""

    def __init__(self) -> None:
        self._tickets: dict[str, Ticket] = {}
        self._lock = Lock()

    def claim(self, ticket: Ticket) -> Ticket:
        """The ticket that has this one's key: itself, if none had it before.

        Raises:
            KeyReused: it was used for another plan.
        """
        key = ticket.attempt.key
        if not key:
            return ticket
        with self._lock:
            first = self._tickets.setdefault(key, ticket)
        if first.plan.digest != ticket.plan.digest:
            raise KeyReused
        return first

    def release(self, ticket: Ticket) -> None:
        """Forget a ticket's key."""
        with self._lock:
            if self._tickets.get(ticket.attempt.key) is ticket:
                del self._tickets[ticket.attempt.key]

    def settle(self, ticket: Ticket, reply: Reply, tried: Callable[[str], object]) -> None:
        """Forget the key of a ticket that was refused, so that it may be asked again; unless a part of it was paid for.

        Args:
            ticket: that is done.
            reply: to it.
            tried: what the ledger knows of a key.
        """
        key = ticket.attempt.key
        if not key or reply.error is None or reply.error.code in _SETTLED:
            return
        with suppress(LedgerError):  # then a retry finds out
            if tried(key) is not None:
                return
        self.release(ticket)

    @contextmanager
    def taking(self, ticket: Ticket) -> Iterator[None]:
        """While a ticket is being taken; where that fails, those who came with the same key hear why, and it is free.

        Raises:
            DiscreetError: whatever was raised.
        """
        try:
            yield
        except BaseException as error:
            self.release(ticket)
            said = error if isinstance(error, DiscreetError) else EngineUnavailable("this question can't be asked now")
            ticket.finish(Reply.of(said))
            raise


def again(planner: Planner, ticket: Ticket, tried: Tried) -> Reply:
    """The reply to a question that was paid for before under the same key; it is never carried out again."""
    found = None if tried.failed else planner.look_up(ticket.job("retry"))
    return Reply.of(_unanswered(tried)) if found is None else found


def _unanswered(tried: Tried) -> DiscreetError:
    """Why there is no answer under a key: as much as follows from debits and outcomes, which are public by then."""
    if not tried.failed and not tried.is_over:
        return AskedAlready()
    if tried.failed or tried.is_open:
        return QuestionFailed()
    return AskedInPart(
        "under this Idempotency-Key the measurements before this question were paid for, but not the question itself",
        hint="ask it under a new key at the same offer: what was paid for is stored, and free",
    )
