"""A sign of life on standard error while a command takes its time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic

from discreet.cli.show.screen import error_console
from discreet.printable import printable

PATIENCE = 1.0
"""Seconds after which the screen says what it is waiting for."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what is being done, once it has taken a second; only on a terminal.

    Args:
        what: a few public words: never a value.
    """
    if not sys.stderr.isatty():
        yield
        return
    status = error_console().status(f"{what} …")
    timer = Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def counting(what: str) -> Iterator[Callable[[str, int], None]]:
    """Say on standard error how far the work is, once it has taken a second; only on a terminal.

    Args:
        what: a few public words.

    Yields:
        A function to call with a name and the number of rows read so far.
    """
    if not sys.stderr.isatty():
        yield lambda _name, _rows: None
        return
    status, begun = error_console().status(f"{what} …"), monotonic()

    def tell(name: str, rows: int) -> None:
        if monotonic() > begun + PATIENCE:
            status.update(f"{what} {printable(name)}: {rows:,} rows …")
            status.start()

    try:
        yield tell
    finally:
        status.stop()
