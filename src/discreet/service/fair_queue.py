"""A queue in which callers have equal shares of a slot's time: nobody waits longer because another asks a lot."""

from __future__ import annotations

from operator import itemgetter
from threading import Condition
from typing import Generic, TypeVar

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """A queue in which subjects have equal shares of the time that what they want takes.

    What is put in has a tag: the time that its subject had taken before, and its own. The least tag is next. Who wasn't
    waiting begins where the queue is, so nobody saves up time by asking nothing. So a question waits for the one that
    runs, and of each other subject for no more time than its own takes, however much of it there is.

    Items of one name are handed out one at a time: the next of them waits until the one before is `done`, and others go
    before it.

    Source: Golestani (1994), "A self-clocked fair queueing scheme for broadband applications", section 3.

    Examples:
        >>> queue = FairQueue()
        >>> for number in (1, 2, 3):
        ...     queue.put("ann", f"ann's {number}", seconds=60)
        >>> queue.take()
        "ann's 1"
        >>> for number in (1, 2):
        ...     queue.put("bob", f"bob's {number}", seconds=20)
        >>> [queue.take() for _ in range(4)]
        ["bob's 1", "bob's 2", "ann's 2", "ann's 3"]
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, str, _T]] = []
        self._out: set[str] = set()
        self._taken: dict[str, float] = {}
        self._now, self._number = 0.0, 0
        self._changed = Condition()
        self._is_closed = False

    def put(self, subject: str, item: _T, *, seconds: float, name: str = "") -> None:
        """Add what a subject wants done.

        Args:
            subject: whose it is.
            item: the work to do.
            seconds: for how long it takes its turn.
            name: of which one is handed out at a time; empty if that doesn't matter.
        """
        with self._changed:
            tag = max(self._now, self._taken.get(subject, 0.0)) + seconds
            self._taken[subject] = tag
            self._number += 1  # of equal tags, the first to come is next
            self._waiting.append((tag, self._number, name, item))
            self._changed.notify()

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting)

    def wait(self) -> bool:
        """Wait until something may be taken, and leave it; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._next() is not None or (self._is_closed and not self._waiting))
            return bool(self._waiting)

    def take(self) -> _T | None:
        """The next one, if one may be taken."""
        with self._changed:
            found = self._next()
            if found is None:
                return None
            self._waiting.remove(found)
            tag, _, name, item = found
            self._now = max(self._now, tag)  # what waited for its name comes late
            self._taken = {subject: tag for subject, tag in self._taken.items() if tag > self._now}
            if name:
                self._out.add(name)
            return item

    def done(self, name: str) -> None:
        """Let the next one of this name be taken."""
        with self._changed:
            self._out.discard(name)
            self._changed.notify_all()

    def empty(self) -> list[_T]:
        """All that waits, whatever is out."""
        with self._changed:
            found = [item for *_, item in self._waiting]
            self._waiting.clear()
            self._changed.notify_all()
            return found

    def _next(self) -> tuple[float, int, str, _T] | None:
        """The least tag of which no other of the same name is out."""
        free = (each for each in self._waiting if each[2] not in self._out)
        return min(free, key=itemgetter(0, 1), default=None)

    def close(self) -> None:
        """Hand out what is there, and no more; those who wait hear that nothing comes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
