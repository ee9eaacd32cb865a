"""Options that say how a file of rows is written, for the commands about re-identification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.common.screen import error_console, printable

if TYPE_CHECKING:
    from discreet.tables import Source

TableName: TypeAlias = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="The table of a database, or the sheet of a spreadsheet."),
]
NullTexts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="What is written for a missing value. May be repeated."),
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Between the cells of a CSV file. Found out if left out.")
]
Encoding: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="Of a text file: utf-16, latin-1, cp1252, ….")]
DecimalMark: TypeAlias = Annotated[str, typer.Option(metavar="SIGN", help="In numbers that are texts: . or ,")]
Dates: TypeAlias = Annotated[str, typer.Option(metavar="ORDER", help="Of dates that are texts: ymd, dmy or mdy.")]
SkipMalformed: TypeAlias = Annotated[
    bool, typer.Option("--skip-malformed", help="Leave malformed records of text files out, instead of refusing.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a file is written, as the options say it.

    Args:
        table: inside of a database or spreadsheet.
        missing: texts that stand for a missing value.
        delimiter: between the cells of a CSV file.
        encoding: of a text file.
        decimal: the mark in numbers that are texts.
        dates: the order of dates that are texts.
        skip_malformed: whether malformed records are left out.
    """

    table: str | None = None
    missing: Sequence[str] | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    dates: str = "ymd"
    skip_malformed: bool = False

    def source(self, file: Path) -> Source:
        """The file, so written.

        Raises:
            SourceUnsupported: its ending isn't known.
            InvalidArgument: an option means nothing for such a file, or is wrong.
        """
        from discreet.tables.sources import source_at

        said = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "table"}
        return replace(source_at(file, self.table), **{**said, "missing": tuple(self.missing or ())})

    def source_beside(self, file: Path, other: Path) -> Source:
        """Another file that is read beside it: written alike if it is of the same kind.

        Raises:
            SourceError: one of them has an ending that isn't known.
            InvalidArgument: an option is wrong.
        """
        from discreet.tables.sources import source_at

        first, second = replace(self, table=None).source(file), source_at(other)
        return replace(first, location=str(other)) if first.kind == second.kind else second

    def __str__(self) -> str:
        """The options, to be pasted into a shell, each with a blank behind it.

        Examples:
            >>> str(Written(missing=["?", "n/a"], decimal=","))
            "--null '?' --null n/a --decimal , "
        """
        given = [("table", self.table), *(("null", text) for text in self.missing or ())]
        given += [(name, getattr(self, name)) for name in ("delimiter", "encoding", "decimal", "dates")]
        usual = {("encoding", "utf-8"), ("decimal", "."), ("dates", "ymd")}
        words = [
            f"--{name} {quote(value)} " for name, value in given if value is not None and (name, value) not in usual
        ]
        return "".join([*words, "--skip-malformed " if self.skip_malformed else ""])


def say_unread(words: Sequence[str]) -> None:
    """Say on standard error what of a file isn't read."""
    for line in words:
        error_console().print(printable(line))
