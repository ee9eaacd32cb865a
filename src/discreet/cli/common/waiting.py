"""Waiting for an engine so that Ctrl-C is heard."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")

_BLINK = 0.1
"""Seconds between two looks at whether Ctrl-C was pressed, where waiting alone can't be interrupted."""


class Abandoned(KeyboardInterrupt):
    """Ctrl-C, while the work goes on in its thread: the process must end without waiting for it."""


def patiently(work: Callable[[], T]) -> T:
    """Do the work in a thread of its own, and wait for it.

    While DuckDB computes it is deaf to Ctrl-C, sometimes until it is done. Then the main thread at least must be free.

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
        except BaseException as error:  # noqa: BLE001 — nothing is caught: it is raised again by who waits
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
