"""Ctrl-C while an engine works that doesn't hear it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import Event, Thread, current_thread, main_thread
from typing import Generic, NoReturn, TypeVar

from discreet.errors import DiscreetError


class Abandoned(KeyboardInterrupt):
    """Ctrl-C while the work goes on in its thread. The process must end without waiting for it.

    Attributes:
        hint: how to get the result after all; empty if there is no way.
    """

    hint = ""


T = TypeVar("T")

_BLINK = 0.1
"""Seconds between two checks for Ctrl-C, on systems where an endless wait can't be interrupted."""


class Errand(Generic[T]):
    """Work in a thread of its own, which begins at once; whoever waits for it can be interrupted.

    DuckDB often doesn't hear Ctrl-C until it is done. So the main thread must be free to.

    Args:
        work: what takes its time.

    Examples:
        >>> Errand(lambda: 6 * 7).wait()
        42
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._done = Event()

        def run() -> None:
            try:
                self._results.append(work())
            except BaseException as error:  # noqa: BLE001 — nothing is swallowed: the waiting thread raises it again
                self._errors.append(error)
            finally:
                self._done.set()

        Thread(target=run, daemon=True).start()

    @property
    def is_done(self) -> bool:
        """Whether it is, or has failed."""
        return self._done.is_set()

    def wait(self) -> T:
        """Wait for its result, once or again; its errors are raised here.

        Raises:
            Abandoned: Ctrl-C was pressed; the work is still going on.
        """
        try:
            while not self._done.wait(_BLINK):
                pass
        except KeyboardInterrupt:
            raise Abandoned from None
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def patiently(work: Callable[[], T]) -> T:
    """Do the work as an errand, and wait for it; raises as that does."""
    return Errand(work).wait()


@contextmanager
def heard() -> Iterator[None]:
    """Let Ctrl-C end the work within, though an engine turns it into an error of its own.

    When DuckDB is interrupted it fails as on any error, and what it says is withheld. So this notes that Ctrl-C was
    pressed, and takes the error that follows for what it is.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and the work stopped on it.

    Examples:
        >>> with heard():
        ...     pass
    """
    pressed = Event()

    def press(*_: object) -> NoReturn:
        pressed.set()
        raise KeyboardInterrupt

    if current_thread() is not main_thread() or getsignal(SIGINT) is not default_int_handler:
        yield  # nobody's Ctrl-C to hear
        return
    signal(SIGINT, press)
    try:
        yield
    except DiscreetError:
        if pressed.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal(SIGINT, default_int_handler)
