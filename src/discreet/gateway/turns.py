"""Turns: whoever asks what another is asking waits for the answer, which is stored by then, so it isn't paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """Turns of threads, by name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._changed = Condition()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Have the turn of this name, once no other thread has it."""
        with self._changed:
            self._changed.wait_for(lambda: name not in self._taken)
            self._taken.add(name)
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(name)
                self._changed.notify_all()
