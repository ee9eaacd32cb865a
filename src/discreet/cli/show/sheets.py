"""Sheets: named columns of values, as a table on the screen, JSON, CSV or Arrow."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from discreet.cli.show.formats import Format
from discreet.cli.show.screen import ENDLESS, console, say, say_whole, show
from discreet.errors import InvalidArgument
from discreet.printable import printable


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
                right = [all(is_number(row[place]) for row in self.rows) for place in range(len(self.names))]
                rows = [[empty if value is None else value for value in row] for row in self.rows]
                show_table(self.names, rows, right=right)
            case Format.JSON:
                show_json(self.records())
            case Format.CSV:
                from discreet.results import to_csv

                sys.stdout.write(to_csv(self.names, self.rows, raw=raw))
            case Format.ARROW:
                from discreet.results import to_arrow_stream

                sys.stdout.buffer.write(to_arrow_stream(self.names, self.rows, self.kinds))


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
        show_records(names, rows)
        return
    show(table)


def show_records(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print each row as a block, one value a line."""
    width = max(map(len, names))
    for row in rows:
        for name, value in zip(names, row, strict=True):
            say(f"{printable(name):<{width}}  {cell(value)}")
        say()


def show_markdown(names: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[bool]) -> None:
    r"""Print a table in Markdown, to be pasted.

    Examples:
        >>> show_markdown(["k", "n"], [["a|b", 1]], right=[False, True])
        | k | n |
        | :-- | --: |
        | a\|b | 1 |
    """
    marks = ["--:" if is_right else ":--" for is_right in right]
    for row in (names, marks, *rows):
        cells = (cell(value).replace("|", "\\|") for value in row)
        say_whole(f"| {' | '.join(cells)} |")


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


def is_number(value: object) -> bool:
    """Whether a value is set to the right; NULL may stand among numbers."""
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
