"""A queue in which callers have equal shares of a slot's time: nobody waits longer because another asks a lot."""

from __future__ import annotations

from heapq import heappop, heappush
from threading import Condition
from typing import Generic, TypeVar

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """A queue in which subjects have equal shares of the time that what they want takes.

    What is put in has a tag: the time that its subject had taken before, and its own. The least tag is next. Who wasn't
    waiting begins where the queue is, so nobody saves up time by asking nothing. So a question waits for the one that
    runs, and of each other subject for no more time than its own takes, however much of it there is.

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
        self._waiting: list[tuple[float, int, _T]] = []
        self._taken: dict[str, float] = {}
        self._now, self._number = 0.0, 0
        self._changed = Condition()
        self._is_closed = False

    def put(self, subject: str, item: _T, *, seconds: float) -> None:
        """Add what a subject wants done.

        Args:
            subject: whose it is.
            item: the work to do.
            seconds: for how long it takes its turn.
        """
        with self._changed:
            tag = max(self._now, self._taken.get(subject, 0.0)) + seconds
            self._taken[subject] = tag
            self._number += 1  # of equal tags, the first to come is next
            heappush(self._waiting, (tag, self._number, item))
            self._changed.notify()

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting)

    def wait(self) -> bool:
        """Wait until something is there, and leave it; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return bool(self._waiting)

    def take(self) -> _T | None:
        """The next one, if there is one."""
        with self._changed:
            if not self._waiting:
                return None
            self._now, _, item = heappop(self._waiting)
            self._taken = {subject: tag for subject, tag in self._taken.items() if tag > self._now}
            return item

    def close(self) -> None:
        """Hand out what is there, and no more; those who wait hear that nothing comes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
