"""The screen: what is printed for people, and a sign of life while they wait, so that Ctrl-C is heard."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from signal import SIGINT, default_int_handler, getsignal, signal
from textwrap import fill
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, NoReturn, TypeVar

from discreet.errors import DiscreetError
from discreet.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


PATIENCE = 1.0
"""Seconds after which somebody who waits is told what for."""


ENDLESS = 100_000
"""Columns of a line that goes to a file or to another program, which have no width."""


_LINES = 25


def width() -> int | None:
    """How many columns a line has: as COLUMNS or the terminal says; None where lines go to a file or a program."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def console() -> Console:
    """Standard output; plain text, a line for each, if it isn't a terminal."""
    from rich.console import Console

    # Without a height, Rich takes 80 columns for the width of a plain terminal, whatever is said.
    return Console(width=width() or ENDLESS, height=_LINES, highlight=False, markup=False, emoji=False)


def error_console() -> Console:
    """Standard error; plain text, a message a line, if it isn't a terminal."""
    from rich.console import Console

    watched = sys.stderr.isatty()
    columns = get_terminal_size().columns if watched else None
    return Console(
        stderr=True,
        width=columns,
        height=_LINES if watched else None,
        soft_wrap=not watched,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show(found: RenderableType) -> None:
    """Print what Rich lays out, without the spaces that it ends lines with where nobody sees them."""
    screen = console()
    if screen.is_terminal:
        screen.print(found)
        return
    with screen.capture() as captured:
        screen.print(found)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def say(text: str = "", hang: int | None = None) -> None:
    """Print lines, folded where there are fewer columns. A number stays with its percent sign.

    Args:
        text: one line or several.
        hang: columns that the rest of a folded line is set in; None: as far as the text behind its title, if it has
            one, else a little further than the line.
    """
    limit = width()
    for line in text.split("\n"):
        sys.stdout.write(f"{line if limit is None else folded(line, limit, hang)}\n")


def folded(line: str, limit: int, hang: int | None = None) -> str:
    r"""A line in as many columns as there are.

    Examples:
        >>> print(folded("cost       none: the same answer again", 24))
        cost       none: the
                   same answer
                   again
    """
    if len(line) <= limit:
        return line
    lead = len(line) - len(line.lstrip())
    titled = re.match(r"\s*\S+(?: \S+)*?\s{2,}", line)
    wanted = hang if hang is not None else titled.end() if titled else lead + 2
    wanted = wanted if wanted <= limit // 2 else min(lead + 2, limit // 2)
    tied = line.replace(" %", "\u00a0%")
    return fill(tied, limit, subsequent_indent=" " * wanted, break_on_hyphens=False).replace("\u00a0", " ")


def say_command(command: str, indent: int = 4) -> None:
    r"""Print a command that can be pasted into a shell, also where it takes several lines.

    A line ends in a backslash; within a question, where a line break is a space, in nothing.
    """
    limit, lines, line, quote, is_question = width() or ENDLESS, list[str](), " " * indent, "", False
    for word in command.split(" "):
        fits = len(line) + len(word) + 3 <= limit
        if not fits and line.strip() and (not quote or is_question):
            lines.append(line.rstrip() if quote else f"{line.rstrip()} \\")
            line = " " * (indent + 2)
        line += f"{word} "
        for sign in word:
            if sign == quote:
                quote = ""
            elif not quote and sign in "'\"":
                quote, is_question = sign, word[1:].upper() == "SELECT"
    say_whole("\n".join([*lines, line.rstrip()]))


def say_whole(text: str) -> None:
    """Print lines as they are: those that are pasted, or read by a program."""
    sys.stdout.write(f"{text}\n")


MOST_LINES = 30
"""Of a section or a list; what is beyond is counted, unless all is asked for."""


def cut_sections(text: str, *, whole: bool) -> str:
    r"""A text whose sections have no more lines than anybody reads, with the number of those that are left out.

    Examples:
        >>> cut_sections("title\n" + "  line\n" * 40 + "\nend", whole=False).splitlines()[-3:]
        ['  and 11 more: --all', '', 'end']
    """
    sections = [section.strip("\n").split("\n") for section in text.split("\n\n")]
    return "\n\n".join("\n".join(lines if whole else _first(lines)) for lines in sections)


def _first(lines: list[str]) -> list[str]:
    """Lines as many as anybody reads, and how many there are besides."""
    left = len(lines) - MOST_LINES
    return lines if left <= 1 else [*lines[:MOST_LINES], f"  and {left:,} more: --all"]


def say_sections(text: str) -> None:
    """Print a text of sections with empty lines between them; on a terminal, their titles stand out.

    A title is the line above lines that are set in.
    """
    if not sys.stdout.isatty():
        say(text)
        return
    from rich.text import Text

    screen, lines, limit = console(), text.split("\n"), width() or ENDLESS
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_title = following.startswith("  ") and line[:1].strip()
        screen.print(Text(folded(line, limit), style="bold" if is_title else ""), soft_wrap=True)


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


def cut_list(items: Sequence[str], most: int = 8, by: str = ", ") -> str:
    """Items by commas, the first so many, with the number of those that are left out.

    Examples:
        >>> cut_list(["a", "b", "c"]), cut_list(["a", "b", "c"], 1)
        ('a, b, c', 'a and 2 more')
    """
    left = len(items) - most
    return by.join(items) if left <= 0 else f"{by.join(items[:most])} and {left:,} more"


def number_of(count: int, one: str, many: str) -> str:
    """A number of things.

    Examples:
        >>> number_of(1, "row", "rows"), number_of(1500, "row", "rows")
        ('1 row', '1,500 rows')
    """
    return f"{count:,} {one if count == 1 else many}"


def limits_to_read(limits: object) -> str:
    """Limits in words, of one group or row in the singular.

    Examples:
        >>> limits_to_read("1 groups × 1 rows"), limits_to_read("11 rows in 8 groups")
        ('1 group × 1 row', '11 rows in 8 groups')
    """
    return re.sub(r"\b1 (group|row)s\b", r"1 \1", str(limits))


T = TypeVar("T")

_BLINK = 0.1
"""Seconds between two looks at whether Ctrl-C was pressed, where waiting alone can't be interrupted."""


class Abandoned(KeyboardInterrupt):
    """Ctrl-C, while the work goes on in its thread: the process must end without waiting for it.

    Attributes:
        hint: how what was begun is had after all; empty where nobody knows.
    """

    hint = ""


@contextmanager
def heard() -> Iterator[None]:
    """Let Ctrl-C end the work within, though an engine turns it into an error of its own.

    DuckDB, interrupted, fails like on any other error, and what it says is withheld. So it is noted here that Ctrl-C
    was pressed, and the error that follows is taken for what it is.

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
