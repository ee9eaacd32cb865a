"""Turns: whoever asks what another is asking waits for the answer, which is stored by then, so it isn't paid twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

_CHANGED = Condition()

if hasattr(os, "register_at_fork"):  # Windows doesn't fork
    os.register_at_fork(before=_CHANGED.acquire, after_in_parent=_CHANGED.release, after_in_child=_CHANGED.release)


class Turns:
    """Turns of the threads of a process, by name."""

    def __init__(self) -> None:
        self._taken: set[tuple[int, str]] = set()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Have the turn of this name, once no other thread has it."""
        own = (os.getpid(), name)  # a forked process has none of the threads that had turns
        with _CHANGED:
            _CHANGED.wait_for(lambda: own not in self._taken)
            self._taken.add(own)
        try:
            yield
        finally:
            with _CHANGED:
                self._taken.remove(own)
                _CHANGED.notify_all()
