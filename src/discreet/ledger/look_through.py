"""Looking through a chain: whether it is still whole.

A process that shows entries to many shouldn't hash the whole ledger for each of them. So it remembers up to where the
chain was whole, and looks at what follows that. Of what it has seen before, it looks at a page more at a time, from the
beginning again and again: so what is damaged later is noticed too, after as many looks as there are pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from discreet.ledger.row import BEGINNING, GENESIS, Row

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain, Head
    from discreet.ledger.store import Store

_EVERY = 1.0
"""How many seconds pass before the next page is looked at."""


class _Place(NamedTuple):
    """The last entry of those that were looked at, or the beginning."""

    seq: int = 0
    hash: str = GENESIS


@dataclass(eq=False, repr=False)
class LookThrough:
    """The part of a chain that one process has checked.

    Args:
        store: of the ledger.
    """

    store: Store
    _newest: _Place = field(default=_Place(), init=False)
    _again: _Place = field(default=_Place(), init=False)
    _next: float = field(default=0.0, init=False)
    _is_whole: bool = field(default=True, init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def is_whole(self) -> bool:
        """Whether each entry looked at is what was written, and follows the one before; the first time it is all.

        While another thread looks, it is what was found before that.

        Raises:
            LedgerError: the ledger can't be read, or went back behind what was seen.
        """
        if not self._turn.acquire(blocking=False):
            return self._is_whole
        try:
            self._is_whole = self._goes_on() and self._was_kept()
        finally:
            self._turn.release()
        return self._is_whole

    def _goes_on(self) -> bool:
        """Whether what is new is whole, up to the head."""
        while (after := self._looked(self._newest)) != self._newest:
            if after is None:
                return False
            self._newest = after
        return True

    def _was_kept(self) -> bool:
        """Whether the next page of what was seen before is as it was, if its time has come."""
        if monotonic() < self._next:
            return True
        after = self._looked(self._again)
        if after is None:
            return False
        self._again = after if after.seq < self._newest.seq else _Place()
        self._next = monotonic() + _EVERY
        return True

    def _looked(self, place: _Place) -> _Place | None:
        """The end of the next page; the same place at the end of the chain, and None where something is damaged."""
        head, page = self.store.read(partial(head_and_page, place.seq - 1 if place.seq else BEGINNING))
        if place.seq:  # which is looked at again, so that it is noticed if it is gone
            seen = page.pop(0) if page else None
            if seen is None or not seen.is_sealed or (seen.seq, seen.hash) != place:
                return None
        for row in page:
            if not row.is_sealed or (row.seq, row.previous) != (place.seq + 1, place.hash):
                return None
            place = _Place(row.seq, row.hash)
        return place if page or place == (head.seq, head.hash) else None


def head_and_page(after: int, chain: Chain) -> tuple[Head, list[Row]]:
    """The head as it is, and the next rows after a place, in one transaction."""
    return chain.head, chain.page(after)
