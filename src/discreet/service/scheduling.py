"""Scheduling: whose turn it is. Callers take turns, so nobody waits longer because somebody else asks a lot."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition
from typing import Generic, TypeVar

from discreet.errors import TooManyWaiting

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """A queue in which subjects take turns: each has a queue of its own, and one of each is taken in rotation.

    Examples:
        >>> queue = FairQueue()
        >>> for number in (1, 2, 3):
        ...     queue.put("ann", f"ann's {number}")
        >>> queue.put("bob", "bob's")
        >>> [queue.take() for _ in range(4)]
        ["ann's 1", "bob's", "ann's 2", "ann's 3"]
    """

    def __init__(self) -> None:
        """Empty."""
        self._turns: OrderedDict[str, deque[_T]] = OrderedDict()
        self._changed = Condition()
        self._is_closed = False

    def put(self, subject: str, item: _T) -> None:
        """Add what a subject wants done."""
        with self._changed:
            self._turns.setdefault(subject, deque()).append(item)
            self._changed.notify()

    def __len__(self) -> int:
        """How many wait."""
        with self._changed:
            return sum(map(len, self._turns.values()))

    def wait(self) -> bool:
        """Wait until something is there, and leave it; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._turns or self._is_closed)
            return bool(self._turns)

    def take(self) -> _T | None:
        """The next one, if there is one."""
        with self._changed:
            if not self._turns:
                return None
            subject, items = self._turns.popitem(last=False)
            item = items.popleft()
            if items:
                self._turns[subject] = items  # behind the others
            return item

    def close(self) -> None:
        """Take what is there, and no more: whoever waits for something is told that nothing comes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


class FairPool(Generic[_T]):
    """A few things that many want, each for a while; those who wait take turns by subject.

    Args:
        things: that are handed out.
        most: how many calls of one subject may wait at a time.
    """

    def __init__(self, things: Sequence[_T], most: int) -> None:
        """All are free."""
        self._all = len(things)
        self._free = list(things)
        self._most = most
        self._turns: OrderedDict[str, deque[object]] = OrderedDict()
        self._changed = Condition()

    @contextmanager
    def turn(self, subject: str) -> Iterator[_T]:
        """Have one to oneself, once it is the subject's turn.

        Raises:
            TooManyWaiting: as many of the subject's calls wait as may.
        """
        taken = self._taken(subject)
        try:
            yield taken
        finally:
            with self._changed:
                self._free.append(taken)
                self._changed.notify_all()

    def close(self) -> None:
        """Hand out no more, once nobody has one or waits for one."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._free) == self._all and not self._turns)
            self._free.clear()

    def _taken(self, subject: str) -> _T:
        """One that is free no more."""
        own = object()
        with self._changed:
            waiting = self._turns.setdefault(subject, deque())
            if len(waiting) >= self._most:
                raise TooManyWaiting(
                    f"{len(waiting)} of your questions wait to be planned already",
                    hint="send the next one once one of them was planned",
                )
            waiting.append(own)
            self._changed.wait_for(lambda: self._free and self._is_next(subject, own))
            waiting.popleft()
            del self._turns[subject]
            if waiting:
                self._turns[subject] = waiting  # behind the others
            self._changed.notify_all()  # another one may be free as well
            return self._free.pop()

    def _is_next(self, subject: str, own: object) -> bool:
        """Whether it is this call's turn."""
        first, waiting = next(iter(self._turns.items()))
        return first == subject and waiting[0] is own
