"""Idempotency keys: a question that is asked again under its key is the same question, and is paid for once.

Each server knows the keys of the questions that it took; the ledger knows those of all that were paid for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from discreet.errors import (
    AskedAlready,
    DiscreetError,
    EngineUnavailable,
    InvalidArgument,
    KeyReused,
    LedgerError,
    QuestionFailed,
)
from discreet.ledger import key_digest
from discreet.service.tickets import Ticket

_KEY = re.compile("[!-~](?:[ -~]{0,198}[!-~])?", re.ASCII)
_SETTLED = {AskedAlready.code, QuestionFailed.code}


def checked_key(subject: str, key: str | None) -> str:
    """What a subject's key is known by; empty if there is none.

    Raises:
        InvalidArgument: it isn't one.
    """
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise InvalidArgument(
            "an Idempotency-Key has 1 to 200 printable ASCII characters, with no space at its ends",
            hint="a random UUID, for each question another",
        )
    return key_digest(subject, key)


class Keys:
    """The keys of the questions that this server took."""

    def __init__(self) -> None:
        """None yet."""
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
        if first.digest != ticket.digest:
            raise KeyReused
        return first

    def release(self, ticket: Ticket) -> None:
        """Forget a ticket's key."""
        with self._lock:
            if self._tickets.get(ticket.attempt.key) is ticket:
                del self._tickets[ticket.attempt.key]

    def settle(self, ticket: Ticket, outcome: Mapping[str, Any], tried: Callable[[str], object]) -> None:
        """Forget the key of a ticket that was refused, so that it may be asked again; unless a part of it was paid for.

        Args:
            ticket: that is done.
            outcome: of it.
            tried: what the ledger knows of a key.
        """
        key = ticket.attempt.key
        if not key or "error" not in outcome or outcome["error"]["code"] in _SETTLED:
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
            said = error if isinstance(error, DiscreetError) else EngineUnavailable("this can't be asked now")
            ticket.finish({"error": said.to_dict()})
            raise


def is_elsewhere(ticket: Ticket) -> bool:
    """Whether a question is being asked under its key by another server, or was before this one was started."""
    outcome = ticket.outcome or {}
    return "error" in outcome and outcome["error"]["code"] == AskedAlready.code
