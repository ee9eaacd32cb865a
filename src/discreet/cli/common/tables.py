"""Options of the commands about re-identification: what a table's columns are, and how its file is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.cli.common.options import unfolded
from discreet.cli.common.screen import error_console
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.gateway import AdmissionReport
    from discreet.tables import Source

FORMATS = "CSV, JSON lines, Parquet, Arrow, XLSX, or a database of DuckDB or SQLite"
File: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help=f"The table: {FORMATS}.")]
Names: TypeAlias = list[str] | None

QuasiIdentifying: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--quasi-identifying",
        "-q",
        metavar="COLUMNS",
        help="What an attacker may know, by commas. Guessed if left out.",
    ),
]
Sensitive: TypeAlias = Annotated[
    Names, typer.Option("--sensitive", "-s", metavar="COLUMNS", help="What others must not learn, by commas.")
]
Identifying: TypeAlias = Annotated[
    Names, typer.Option("--identifying", "-i", metavar="COLUMNS", help="What names people by itself, by commas.")
]
UnitOption: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--unit",
        "-u",
        metavar="COLUMNS",
        help="What says whose a row is, a person's or a household's number, by commas. Their rows are counted as one.",
    ),
]
RowsArePeople: TypeAlias = Annotated[
    bool,
    typer.Option("--rows-are-people", help="Every row is somebody else's, though a column that identifies repeats."),
]
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
HeaderLine: TypeAlias = Annotated[
    int, typer.Option("--header-line", metavar="NUMBER", min=1, help="Which line or row names the columns.")
]
FooterLines: TypeAlias = Annotated[
    int, typer.Option("--footer-lines", metavar="COUNT", min=0, help="So many lines or rows at the end aren't rows.")
]
Quote: TypeAlias = Annotated[
    str, typer.Option("--quote", metavar="SIGN", help="Around quoted cells of a CSV file; '' if none is quoted.")
]
Escape: TypeAlias = Annotated[
    str | None, typer.Option("--escape", metavar="SIGN", help="Before a quotation mark within a cell of a CSV file.")
]
Comment: TypeAlias = Annotated[
    str | None, typer.Option("--comment", metavar="SIGN", help="With which lines of a CSV file begin that aren't rows.")
]
TrailingDelimiter: TypeAlias = Annotated[
    bool, typer.Option("--trailing-delimiter", help="Each line of a CSV file ends with a delimiter.")
]


class MissingChoice(StrEnum):
    """What a missing value is taken to be."""

    OWN_VALUE = "own-value"
    """Like itself and nothing else: the cautious reading."""
    WILDCARD = "wildcard"
    """Anything."""
    REFUSE = "refuse"
    """An error."""

    @property
    def policy(self) -> str:
        """As the library calls it."""
        return self.value.replace("-", " ")


MissingOption: TypeAlias = Annotated[
    MissingChoice, typer.Option("--missing", help="What a missing value is taken to be.")
]


def names(given: Sequence[str] | None) -> list[str] | None:
    """Names that were given by commas, once or more often; a name with a comma in it stands in quotation marks.

    Raises:
        InvalidArgument: what was given can't be taken apart.

    Examples:
        >>> names(["age, sex", "zip"]), names(['"last, first"']), names(None)
        (['age', 'sex', 'zip'], ['last, first'], None)
    """
    if given is None:
        return None
    from csv import Error, reader

    try:
        lines = [line for text in given for line in reader([text], skipinitialspace=True)]
    except Error:
        raise InvalidArgument("names of columns are written on one line, with commas between them") from None
    return [name.strip() for line in lines for name in line if name.strip()]


def unit_of(named: Sequence[str] | None, *, rows_are_people: bool) -> tuple[str, ...] | None:
    """The columns that say whose a row is; none of them where each row is somebody else's; None if nothing is said.

    Raises:
        InvalidArgument: both are said; or a unit is, but no column of it.

    Examples:
        >>> unit_of(["patient_id"], rows_are_people=False), unit_of(None, rows_are_people=True)
        (('patient_id',), ())
    """
    found = names(named)
    if found is not None and rows_are_people:
        raise InvalidArgument("rows have units, or are people: not both", hint="leave out --unit or --rows-are-people")
    if found == []:  # an empty variable of a shell, say, which must not be taken for --rows-are-people
        raise InvalidArgument("--unit names no column", hint="name one, or say --rows-are-people")
    return () if rows_are_people else None if found is None else tuple(found)


def check(said: Mapping[str, Sequence[str] | None], table: Sequence[str]) -> None:
    """Refuse columns that a table lacks, and columns that are named twice.

    Args:
        said: by option, the columns that it names.
        table: the columns that there are.

    Raises:
        SchemaMismatch: the table lacks one.
        InvalidArgument: one is named twice, by one option or by two.

    Examples:
        >>> check({"--sensitive": ["income"], "--keep": None}, ["age", "income"])
    """
    named_by: dict[str, str] = {}
    for option, name in ((option, name) for option, named in said.items() for name in named or ()):
        if name not in table:
            from discreet.query.sql import meant

            raise SchemaMismatch(f"the table has no column {name!r} ({option})", hint=meant(name, table))
        if name in named_by:
            both = f"by {named_by[name]} and by {option}" if option != named_by[name] else f"by {option}"
            raise InvalidArgument(
                f"the column {name!r} is named twice, {both}", hint="name it once: each column is of one kind"
            )
        named_by[name] = option


def written(chosen: Sequence[str]) -> str:
    """Names as `names` reads them.

    Examples:
        >>> written(["age", "last, first"])
        'age,"last, first"'
    """
    from csv import writer
    from io import StringIO

    text = StringIO()
    writer(text, lineterminator="").writerow(chosen)
    return text.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a file is written: an option for each field, and what it says.

    Args:
        table: inside of a database or spreadsheet.
        null: texts that stand for a missing value.
        delimiter: between the cells of a CSV file.
        encoding: of a text file.
        decimal: the mark in numbers that are texts.
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

    def source(self, file: Path) -> Source:
        """The file, so written.

        Raises:
            SourceUnsupported: its ending isn't known.
            InvalidArgument: an option means nothing for such a file, or is wrong.
        """
        from discreet.tables.sources import source_at

        said = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("table", "null")}
        return replace(source_at(file, self.table), missing=tuple(self.null or ()), **said)

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


with_written = unfolded("how", Written)
"""Gives a command the options that say how its file is written, in the place of its parameter `how`."""


def say_incomplete(done: AdmissionReport | None) -> None:
    """Say on standard error of which tables not everything could be read, where a command has admitted some by itself.

    Args:
        done: what the admission did; None if there was none.
    """
    say_unread(
        [
            f"{name}: not everything could be read; `discreet admit --check --report` says what"
            for name, found in (done.tables if done is not None else {}).items()
            if is_incomplete(found)
        ]
    )


def is_incomplete(found: Mapping[str, Any]) -> bool:
    """Whether something of a table was left out, or is NULL because it couldn't be read."""
    beyond = found["beyond_most_rows_per_unit"]["units"]
    return bool(found["left_out"] or found["malformed"] or found["unreadable"] or beyond)


def say_unread(words: Sequence[str]) -> None:
    """Say on standard error what of a file isn't read."""
    for line in words:
        error_console().print(printable(line))
