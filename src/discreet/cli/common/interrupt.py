"""Ctrl-C while an engine works that doesn't hear it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import Event, Thread, current_thread, main_thread
from typing import NoReturn, TypeVar

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


def patiently(work: Callable[[], T]) -> T:
    """Do the work in a thread of its own, and wait for it.

    DuckDB often doesn't hear Ctrl-C until it is done. So the main thread must be free to.

    Args:
        work: what takes its time. Its errors are raised here.

    Raises:
        Abandoned: Ctrl-C was pressed; the work is still going on.

    Examples:
        >>> patiently(lambda: 6 * 7)
        42
    """
    results: list[T] = []
    errors: list[BaseException] = []
    done = Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 — nothing is swallowed: the waiting thread raises it again
            errors.append(error)
        finally:
            done.set()

    Thread(target=run, daemon=True).start()
    try:
        while not done.wait(_BLINK):
            pass
    except KeyboardInterrupt:
        raise Abandoned from None
    if errors:
        raise errors[0]
    return results[0]


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
