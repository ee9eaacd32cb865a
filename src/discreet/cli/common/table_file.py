"""A table's file, and the options that say how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.common.unfolding import unfolded_as
from discreet.cli.show.screen import error_console
from discreet.printable import printable
from discreet.tables import formats

if TYPE_CHECKING:
    from discreet.tables import Source

File: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help=f"The table: {formats.listed()}; or the URL of Parquet objects.")
]
TableName: TypeAlias = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="The table of a database or the sheet of a spreadsheet."),
]
NullTexts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="How a missing value is written. May be repeated."),
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(metavar="SIGN", help="The sign between cells of a CSV file. Detected if left out.")
]
Encoding: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="The encoding of a text file: utf-16, latin-1, cp1252, ….")
]
DecimalMark: TypeAlias = Annotated[
    str, typer.Option(metavar="SIGN", help="The decimal mark of numbers in text: . or ,")
]
Dates: TypeAlias = Annotated[str, typer.Option(metavar="ORDER", help="The order of dates in text: ymd, dmy or mdy.")]
SkipMalformed: TypeAlias = Annotated[
    bool, typer.Option("--skip-malformed", help="Leave out malformed records of text files instead of refusing.")
]
HeaderLine: TypeAlias = Annotated[
    int, typer.Option("--header-line", metavar="NUMBER", min=1, help="The line or row that names the columns.")
]
FooterLines: TypeAlias = Annotated[
    int,
    typer.Option("--footer-lines", metavar="COUNT", min=0, help="How many lines at the end aren't rows of the table."),
]
Quote: TypeAlias = Annotated[
    str,
    typer.Option("--quote", metavar="SIGN", help="The sign around quoted cells of a CSV file; '' if none is quoted."),
]
Escape: TypeAlias = Annotated[
    str | None,
    typer.Option("--escape", metavar="SIGN", help="The sign before a quotation mark within a cell of a CSV file."),
]
Comment: TypeAlias = Annotated[
    str | None,
    typer.Option("--comment", metavar="SIGN", help="The sign that begins lines of a CSV file that aren't rows."),
]
TrailingDelimiter: TypeAlias = Annotated[
    bool, typer.Option("--trailing-delimiter", help="Each line of a CSV file ends with a delimiter.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The options that say how a file is written, and what was given for each.

    Args:
        table: inside of a database or spreadsheet.
        null: texts that stand for a missing value.
        delimiter: between the cells of a CSV file.
        encoding: of a text file.
        decimal: the decimal mark of numbers in text.
        dates: the order of dates that are texts.
        skip_malformed: whether malformed records are left out.
        header_line: which line or row names the columns.
        footer_lines: how many lines or rows at the end aren't read.
        quote: the sign around quoted cells.
        escape: the sign before a quotation mark within a cell.
        comment: the sign with which lines begin that aren't rows.
        trailing_delimiter: whether each line ends with a delimiter.
    """

    table: TableName = None
    null: NullTexts = None
    delimiter: Delimiter = None
    encoding: Encoding = "utf-8"
    decimal: DecimalMark = "."
    dates: Dates = "ymd"
    skip_malformed: SkipMalformed = False
    header_line: HeaderLine = 1
    footer_lines: FooterLines = 0
    quote: Quote = '"'
    escape: Escape = None
    comment: Comment = None
    trailing_delimiter: TrailingDelimiter = False

    def source(self, file: str) -> Source:
        """The file, as a source that is written this way.

        Raises:
            SourceUnsupported: its ending isn't known.
            InvalidArgument: an option means nothing for such a file, or is wrong.
        """
        from discreet.tables.sources import source_at

        said = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("table", "null")}
        return replace(source_at(file, self.table), missing=tuple(self.null or ()), **said)

    def source_beside(self, file: str, other: str) -> Source:
        """Another file that is read beside it, taken to be written alike if it is of the same kind.

        Raises:
            SourceError: one of them has an ending that isn't known.
            InvalidArgument: an option is wrong.
        """
        from discreet.tables.sources import source_at

        first, second = replace(self, table=None).source(file), source_at(other)
        return replace(first, location=other) if first.kind == second.kind else second

    def __str__(self) -> str:
        """The options that were given, each followed by a blank, to be pasted into a shell.

        Examples:
            >>> str(Written(null=["?", "n/a"], decimal=","))
            "--null '?' --null n/a --decimal , "
        """
        words = []
        for each in fields(self):
            said = getattr(self, each.name)
            if said == each.default:
                continue
            option = f"--{each.name.replace('_', '-')} "
            texts = said if isinstance(said, list) else [said]
            words += [option if text is True else f"{option}{quote(str(text))} " for text in texts]
        return "".join(words)


with_written = unfolded_as("how", Written)
"""Gives a command the options that say how its file is written, in place of its parameter `how`."""


def name_of(file: str) -> str:
    """The name of a file, or of what a URL leads to.

    Examples:
        >>> name_of("data/census.csv"), name_of("s3://clinic/census.parquet?region=eu-west-1")
        ('census.csv', 'census.parquet')
    """
    return Path(file.partition("?")[0] if "://" in file else file).name


def say_unread(words: Sequence[str]) -> None:
    """Say on standard error what in a file isn't read."""
    for line in words:
        error_console().print(printable(line))
