"""Jobs: what tasks of a cluster do, on some parts of it or with the payloads of one bucket."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from discreet.machine import own_share, usable_cores, usable_memory

Kept = TypeVar("Kept")
"""A payload as it is kept until all of its bucket are there."""


class Job(ABC, Generic[Kept]):
    """What tasks do. It is pickled, and read where discreet is of the same version.

    Guarantee: what a task gives depends on the job and on the parts or payloads alone, so that one which died may be
    done again, anywhere.
    """

    __slots__ = ()

    @abstractmethod
    def compute(self, parts: Sequence[int]) -> Iterable[tuple[int, bytes]]:
        """Payloads of some parts, each with the number of its bucket."""

    @abstractmethod
    @contextmanager
    def gathering(self) -> Iterator[Callable[[bytes], Kept]]:
        """How payloads that come are kept until a bucket is merged; all of it is gone when the context is left."""

    @abstractmethod
    def merge(self, bucket: int, payloads: Sequence[Kept]) -> Iterable[bytes]:
        """The payloads of one bucket, made fewer. There may be none."""


class InMemory(Job[bytes]):
    """A job whose payloads are small enough to be kept in memory."""

    __slots__ = ()

    @contextmanager
    def gathering(self) -> Iterator[Callable[[bytes], bytes]]:
        """As they are."""
        yield lambda payload: payload


def memory_of_task() -> int:
    """A task's bytes: the machine's are shared out among as many tasks as it has cores."""
    own = own_share()
    return (own.memory or usable_memory()) // (own.threads or len(usable_cores()))
