"""Held rows: those of answers that clients haven't fetched yet, bounded over all connections."""

from __future__ import annotations

from threading import Lock

MOST_HELD = 100_000
"""How many rows may wait in the cursors of one connection, and as many in its portals."""

_MOST_IN_ALL = 2_000_000

_MOST_OF_ONE = 500_000
"""How many may wait over all connections of one analyst, so that nobody takes the room of all others."""


class HeldRows:
    """Knows how many rows wait, and for whom.

    Args:
        most: how many may wait in all.
        of_one: how many of one analyst's.

    Examples:
        >>> held = HeldRows(most=10, of_one=7)
        >>> held.has_room(1, "a", 6), held.has_room(2, "b", 6), held.has_room(1, "a", 4), held.has_room(2, "b", 6)
        (True, False, True, True)
        >>> held.has_room(3, "b", 2)
        False
    """

    def __init__(self, most: int = _MOST_IN_ALL, of_one: int = _MOST_OF_ONE) -> None:
        self._most, self._of_one = most, of_one
        self._of: dict[object, tuple[str, int]] = {}
        self._lock = Lock()

    def has_room(self, connection: object, subject: str, rows: int) -> bool:
        """Note how many rows of a connection wait now; whether they may. Nothing is noted where they may not.

        Args:
            connection: for which they wait.
            subject: whose it is.
            rows: how many.
        """
        with self._lock:
            others = [each for one, each in self._of.items() if one is not connection]
            own = sum(count for whose, count in others if whose == subject)
            if rows > 0 and (own + rows > self._of_one or sum(count for _, count in others) + rows > self._most):
                return False
            if rows:
                self._of[connection] = (subject, rows)
            else:
                self._of.pop(connection, None)
            return True
