"""The screen: text, tables and named columns of values on standard output, and a sign of life while somebody waits."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from shutil import get_terminal_size
from textwrap import fill
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING

from discreet.cli.common.options import Format
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

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


# ── Tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Sheet:
    """Named columns of values.

    Args:
        names: of the columns.
        rows: as many values each as there are names: text, numbers, booleans, dates or None.
        kinds: of an answer's columns, by name.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def records(self) -> list[dict[str, object]]:
        """Row by row, each value by its column's name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def show(self, as_format: Format, empty: str = "NULL", *, raw: bool = False) -> None:
        """Write the sheet to standard output: as a table, a JSON list of objects, CSV, or an Arrow stream.

        Args:
            as_format: which of them.
            empty: what a table has where there is no value.
            raw: leave texts in CSV as they are, also those that a spreadsheet takes for formulas.
        """
        match as_format:
            case Format.TABLE:
                rows = [[empty if value is None else value for value in row] for row in self.rows]
                show_table(self.names, rows, right=self._to_the_right())
            case Format.JSON:
                show_json(self.records())
            case Format.CSV:
                from discreet.results import to_csv

                sys.stdout.write(to_csv(self.names, self.rows, raw=raw))
            case Format.ARROW:
                from discreet.results import to_arrow_stream

                sys.stdout.buffer.write(to_arrow_stream(self.names, self.rows, self.kinds))

    def _to_the_right(self) -> list[bool]:
        """Which columns hold numbers."""
        return [all(is_number(row[place]) for row in self.rows) for place in range(len(self.names))]


def show_json(data: object) -> None:
    """Write one JSON value to standard output."""
    from discreet.results import plain

    sys.stdout.write(json.dumps(plain(data), ensure_ascii=False, allow_nan=False) + "\n")


def show_table(names: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[bool] | None = None) -> None:
    """Print a table; one value a line where the screen is too narrow for it. Numbers are never cut.

    Args:
        names: of the columns.
        rows: their values.
        right: which columns are set to the right; None: those of numbers.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    to_the_right = right or [all(is_number(row[place]) for row in rows) for place in range(len(names))]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    for name, is_right in zip(names, to_the_right, strict=True):
        table.add_column(Text(printable(name)), justify="right" if is_right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    needed = screen.measure(table, options=screen.options.update(max_width=ENDLESS)).maximum
    if needed > screen.width:
        _show_records(names, rows)
        return
    show(table)


def _show_records(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print each row as a block, one value a line."""
    width = max(len(name) for name in names)
    for row in rows:
        for name, value in zip(names, row, strict=True):
            say(f"{printable(name):<{width}}  {cell(value)}")
        say()


def cell(value: object) -> str:
    r"""A value on the screen: NULL by name, real numbers to six digits, nothing that a terminal would obey.

    Examples:
        >>> cell(2 / 3), cell(None), cell("a\nb"), cell(["c", 1])
        ('0.666667', 'NULL', 'a b', 'c, 1')
    """
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    return printable(str(value).replace("\n", " "))


def cut(text: str, width: int) -> str:
    r"""A text on one line, or as much of it as fits.

    Examples:
        >>> cut("SELECT COUNT(*) AS n\n  FROM census", 16)
        'SELECT COUNT(*)…'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def is_number(value: object) -> bool:
    """Whether a value belongs to the right; NULL may stand among numbers."""
    return value is None or (isinstance(value, (int, float, Decimal)) and not isinstance(value, bool))


def refuse_binary_to_screen(as_format: Format) -> None:
    """Refuse to write an Arrow stream to a terminal, before anything is spent on it.

    Raises:
        InvalidArgument: the format is Arrow and standard output is a terminal.
    """
    if as_format is Format.ARROW and sys.stdout.isatty():
        raise InvalidArgument(
            "an Arrow stream is binary, and standard output is a terminal", hint="add `> answer.arrow`"
        )


# ── Waiting ───────────────────────────────────────────────────────────────────────────────────────────────────────────

PATIENCE = 1.0
"""Seconds after which somebody who waits is told what for."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what takes time, once it has taken a second; nothing unless a person watches.

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
    """Say on standard error how far something is, once it has taken a second; nothing unless a person watches.

    Args:
        what: a few public words.

    Yields:
        What is to be told a name, and how many rows were read.
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


class Abandoned(KeyboardInterrupt):
    """Ctrl-C, while the work goes on in its thread: the process must end without waiting for it.

    Attributes:
        hint: how what was begun is had after all; empty where nobody knows.
    """

    hint = ""
