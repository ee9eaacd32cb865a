"""The screen: what is printed for people, and a sign of life while they wait."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds after which somebody who waits is told what for."""


def console() -> Console:
    """Standard output; plain text if it isn't a terminal."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def error_console() -> Console:
    """Standard error; plain text, a message a line, if it isn't a terminal."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False, markup=False, emoji=False)


def say(text: str = "") -> None:
    """Print a line, as it is."""
    sys.stdout.write(f"{text}\n")


def say_folded(line: str, hang: int) -> None:
    """Print a line; on a terminal too narrow for it, fold it, and set what follows `hang` columns in.

    A number stays with its percent sign.
    """
    if sys.stdout.isatty():
        tied = line.replace(" %", "\u00a0%")
        line = fill(tied, console().width, subsequent_indent=" " * hang).replace("\u00a0", " ")
    say(line)


def say_sections(text: str) -> None:
    """Print a text of sections with empty lines between them; on a terminal, their titles stand out.

    A title is the line above lines that are set in.
    """
    if not sys.stdout.isatty():
        say(text)
        return
    from rich.text import Text

    screen, lines = console(), text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_title = following.startswith("  ") and line[:1].strip()
        screen.print(Text(line, style="bold" if is_title else ""), soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what takes time, once it has taken a second; nothing unless a person watches.

    Args:
        what: a few public words: never a value.
    """
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

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
    """Say on standard error how far something is, once it has taken a second; nothing unless a person watches.

    Args:
        what: a few public words.

    Yields:
        What is to be told a name, and how many rows were read.
    """
    if not sys.stderr.isatty():
        yield lambda _name, _rows: None
        return
    from time import monotonic

    status, begun = error_console().status(f"{what} …"), monotonic()

    def tell(name: str, rows: int) -> None:
        if monotonic() > begun + PATIENCE:
            status.update(f"{what} {printable(name)}: {rows:,} rows …")
            status.start()

    try:
        yield tell
    finally:
        status.stop()


def cut_list(items: Sequence[str], most: int = 8) -> str:
    """Items by commas, the first so many, with the number of those that are left out.

    Examples:
        >>> cut_list(["a", "b", "c"]), cut_list(["a", "b", "c"], 1)
        ('a, b, c', 'a and 2 more')
    """
    left = len(items) - most
    return ", ".join(items) if left <= 0 else f"{', '.join(items[:most])} and {left:,} more"


def number_of(count: int, one: str, many: str) -> str:
    """A number of things.

    Examples:
        >>> number_of(1, "row", "rows"), number_of(1500, "row", "rows")
        ('1 row', '1,500 rows')
    """
    return f"{count:,} {one if count == 1 else many}"


def printable(text: str) -> str:
    r"""The text with each character that a terminal would obey, instead of show, replaced by `�`, or by a space.

    Examples:
        >>> printable("a\x1b[2Jb\tc")
        'a�[2Jb c'
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else " " if sign.isspace() else "�" for sign in text)
