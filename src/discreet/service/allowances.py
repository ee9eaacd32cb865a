"""Allowances: what the questions of each caller may take in a day, of a slot's time and of the ledger."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from discreet.errors import (
    DiscreetError,
    TooMuchAsked,
    Unsupported,
)
from discreet.ledger import Allowance

if TYPE_CHECKING:
    from discreet.ledger import Servers
    from discreet.service.settings import AskingLimits


from discreet.errors import TooManyValues


class Allowances:
    """Daily allowances for each subject's questions: of slots' time and of the ledger.

    Guarantee: what a question takes is told by its plan, and is taken before it is paid for; so the refusal tells
    nothing of any row. It is counted over all servers of the ledger.

    Args:
        limits: how much that is.
        servers: by which it is counted.
    """

    def __init__(self, limits: AskingLimits, servers: Servers) -> None:
        self._servers, self._limits = servers, limits
        self._slot = Allowance("slot_seconds", limits.slot_seconds)
        self._ledger = Allowance("ledger_bytes", limits.ledger_bytes)

    def check_values(self, values: int | None) -> None:
        """Refuse an answer that releases too many numbers; one whose groups are selected has as many as are.

        Raises:
            TooManyValues: it does.
        """
        check_values(values, self._limits.values)

    def take(self, subject: str, seconds: float, stored: float) -> None:
        """Take what a question needs.

        Args:
            subject: whose question it is.
            seconds: for which it may have a slot.
            stored: bytes by which the ledger grows.

        Raises:
            TooMuchAsked: the subject doesn't have that much left for the day.
            Unsupported: the question takes more than that by itself.
            LedgerUnavailable: it can't be counted.
        """
        self._take(subject, self._slot, seconds, "a slot’s time", f"{seconds:,.6g} seconds")
        try:
            self._take(subject, self._ledger, stored, "the ledger", in_bytes(stored))
        except DiscreetError:
            self._servers.take(subject, self._slot, -seconds)
            raise

    def note_stored(self, subject: str, stored: float) -> None:
        """Count what was stored of groups that were selected: as much of it as there is left."""
        self._servers.take(subject, self._ledger, min(stored, self._servers.left(subject, self._ledger)))

    def left(self, subject: str) -> dict[str, dict[str, float]]:
        """The daily allowance of a subject, and what is left of it."""
        return {
            each.name: {"a_day": each.a_day, "remaining": round(self._servers.left(subject, each), 3)}
            for each in (self._slot, self._ledger)
        }

    def _take(self, subject: str, allowance: Allowance, amount: float, what: str, said: str) -> None:
        """Take an amount from one of them."""
        if amount > allowance.a_day:
            raise Unsupported(
                f"this question takes {said} of {what}, more than your questions may take in a day",
                hint="ask for less at once",
            )
        wait = self._servers.take(subject, allowance, amount)
        if wait > 0:
            raise TooMuchAsked(
                f"this question takes {said} of {what}, more than is left of what your questions may take in a day",
                hint=f"wait {ceil(wait)} seconds, or ask for less; what was answered before is free",
                retry_after=ceil(wait),
            )


def check_values(values: int | None, most: int) -> None:
    """Refuse an answer that releases more numbers than one may.

    Raises:
        TooManyValues: it does.
    """
    if values is not None and values > most:
        raise TooManyValues(
            f"this answer would release {values:,} values, and one may release {most:,}",
            hint="group by fewer or coarser keys",
        )


def in_bytes(number: float) -> str:
    """A number of bytes, to read.

    Examples:
        >>> in_bytes(950), in_bytes(3_200), in_bytes(54_126_445)
        ('950 bytes', '3.2 kB', '54 MB')
    """
    for size, name in ((10**6, "MB"), (10**3, "kB")):
        if number >= size:
            return f"{number / size:.2g} {name}" if number < 100 * size else f"{number / size:,.0f} {name}"
    return f"{number:.0f} bytes"
