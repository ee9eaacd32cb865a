"""Held rows: those of answers that clients haven't fetched yet, bounded over all connections."""

from __future__ import annotations

from threading import Lock

MOST_HELD = 100_000
"""How many rows may wait in the cursors of one connection, and as many in its portals."""

_MOST_IN_ALL = 2_000_000


class HeldRows:
    """Knows how many rows wait, and for whom.

    Args:
        most: how many may wait in all.

    Examples:
        >>> held = HeldRows(most=10)
        >>> held.has_room("a", 6), held.has_room("b", 6), held.has_room("a", 4), held.has_room("b", 6)
        (True, False, True, True)
    """

    def __init__(self, most: int = _MOST_IN_ALL) -> None:
        self._most = most
        self._of: dict[object, int] = {}
        self._lock = Lock()

    def has_room(self, whose: object, rows: int) -> bool:
        """Note how many rows wait for someone now; whether they may. Nothing is noted where they may not."""
        with self._lock:
            others = sum(self._of.values()) - self._of.get(whose, 0)
            if rows > 0 and others + rows > self._most:
                return False
            if rows:
                self._of[whose] = rows
            else:
                self._of.pop(whose, None)
            return True
