"""Sources: where a table lies, and how to read it.

A source is a name, not a handle: with it alone nothing can be read.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from discreet.arguments import check_one_of, taking_known
from discreet.errors import InvalidArgument, SourceUnsupported
from discreet.hints import Hint
from discreet.tables.formats import ENDINGS, FORMATS
from discreet.tables.schema.database_url import DatabaseUrl, is_database_url
from discreet.tables.schema.delta_folder import is_delta_folder
from discreet.tables.schema.object_url import ObjectUrl, is_object_url, last_name, refuse_elsewhere

SourceKind: TypeAlias = str
"""How a source is read: one of `FORMATS`, or `memory`."""
DateOrder = Literal["ymd", "dmy", "mdy"]
DecimalMark = Literal[".", ","]

_WHY_NOT: Mapping[str, str] = {
    "table": "only a database has tables with names, and a spreadsheet sheets",
    "missing": "a text can mean NULL only if cells are texts",
    "decimal": "a number has a decimal mark only if cells are texts",
    "dates": "a date has an order only if cells are texts",
    "encoding": "only a text file has an encoding",
    "skip_malformed": "only a text file can have malformed records",
    "header_line": "only in a CSV file or a sheet does a line name the columns",
    "footer_lines": "only a CSV file or a sheet has lines below its rows",
    "delimiter": "only a CSV file has a delimiter",
    "quote": "only a CSV file has quoted cells",
    "escape": "only a CSV file has quoted cells",
    "comment": "only a CSV file has lines that are comments",
    "trailing_delimiter": "only a CSV file has delimiters",
    "multiline": "only a CSV file has cells of several lines",
    "in_place": "only for Parquet files can everything be checked that questions rely on; leave it out to make a copy",
}
"""Why an option means nothing for the formats that don't take it."""


@taking_known
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The place of a table, and how to read it. Neither is ever guessed from rows.

    Args:
        kind: how to read it. `memory` tables exist in one process only and can't be named in a file.
        location: a path; for Parquet a folder or a pattern such as `visits/*.parquet`, too, or an object's URL, such
            as `s3://clinic/visits/`; for `delta` the table's folder; for `postgres` the database's URL, without a
            password; for `memory`, any label.
        table: the table inside a database, or the sheet of a spreadsheet; None if it holds only one.
        missing: texts that stand for NULL, where cells are texts; in CSV files and spreadsheets the empty one does too.
        delimiter: what stands between the cells of a CSV file, one ASCII character; None for the one of `,` `;` tab `|`
            that the header has most, and for tab where the name ends in `.tsv`.
        encoding: of a text file; any text encoding that Python knows by name.
        decimal: the mark between whole and broken part of numbers that are written as texts.
        dates: the order of year, month and day in dates that are written as texts.
        multiline: whether a quoted cell of a CSV file may hold line ends. If not, one line is one record, and no
            record can take others with it.
        skip_malformed: whether malformed records of a text file are left out, and counted, where they would be refused.
        header_line: the line of a CSV file, or the row of a sheet, that names the columns; none above it is read.
        footer_lines: how many lines or rows at the end aren't read: totals, sources, dates of printing.
        quote: the sign around quoted cells of a CSV file; "" where such signs mean nothing.
        escape: the sign that makes a `quote` or itself part of a cell; None where a doubled `quote` does.
        comment: the sign with which lines of a CSV file begin that aren't read.
        trailing_delimiter: whether each line of a CSV file ends with a delimiter; the header may do without.
        in_place: whether questions read the Parquet files where they lie, which nobody changes, instead of a copy.

    Raises:
        InvalidArgument: an unknown kind or word, no location, or what another kind of source has.

    Examples:
        >>> Source(kind="csv", location="visits.csv", delimiter=";", decimal=",", dates="dmy").encoding
        'utf-8'
    """

    kind: SourceKind
    location: str
    table: str | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: DecimalMark = "."
    dates: DateOrder = "ymd"
    multiline: bool = True
    skip_malformed: bool = False
    header_line: int = 1
    footer_lines: int = 0
    quote: str = '"'
    escape: str | None = None
    comment: str | None = None
    trailing_delimiter: bool = False
    in_place: bool = False

    def __post_init__(self) -> None:
        """Refuse what would be silently ignored."""
        check_one_of("kind of source", self.kind, [*FORMATS, "memory"])
        if not self.location:
            raise InvalidArgument("a source needs a location")
        self._check_place()
        for name, default in defaults().items():
            if getattr(self, name) != default and name not in self._options:
                raise InvalidArgument(f"{name} means nothing for a source of kind {self.kind!r}: {_WHY_NOT[name]}")
        check_one_of("decimal mark", self.decimal, get_args(DecimalMark))
        check_one_of("order of dates", self.dates, get_args(DateOrder))
        if self.delimiter is not None and (self.delimiter == '"' or not _is_sign(self.delimiter)):
            raise InvalidArgument(
                "a delimiter is one ASCII character: no letter, digit, space, quotation mark, line end or NUL",
                hint=Hint.of("{delimiter}", delimiter=";"),
            )
        if self.delimiter == self.decimal == ",":
            raise InvalidArgument(
                "a comma can't be both delimiter and decimal mark", hint=Hint.of("{delimiter}", delimiter=";")
            )
        self._check_signs()
        for name, least, most in (("header_line", 1, MOST_LINES_ABOVE), ("footer_lines", 0, MOST_FOOTER_LINES)):
            number = getattr(self, name)
            if type(number) is not int or not least <= number <= most:
                raise InvalidArgument(f"{name} is a whole number from {least} to {most:,}")
        if not _is_text_encoding(self.encoding):
            raise InvalidArgument(
                f"there is no text encoding {self.encoding[:50]!r}", hint=Hint.of("{encoding}", encoding="latin-1")
            )

    def _check_place(self) -> None:
        """Refuse what nothing here reads where it is; and a secret in a URL, whoever may read it there."""
        if self.kind == "postgres":
            DatabaseUrl.read(self.location)
        if self.kind in {"postgres", "memory"}:
            return
        refuse_elsewhere(self.location)
        if not is_object_url(self.location):
            return
        ObjectUrl.read(self.location)
        if self.kind != "parquet":
            raise SourceUnsupported(
                f"of an object store only Parquet is read, and not {FORMATS[self.kind].called}",
                hint="copy the object here, and name the file; or write it as Parquet",
            )
        if self.in_place:
            raise InvalidArgument(
                "in_place means nothing for an object store: nothing there stays open while a question runs, so that "
                "another object could take its place unseen; leave it out to make a copy"
            )

    def _check_signs(self) -> None:
        """Refuse signs of a CSV file that can't be distinguished from each other, or from the contents of cells."""
        signs = {"quote": self.quote or None, "escape": self.escape, "comment": self.comment}
        for name, sign in signs.items():
            if sign is not None and not _is_sign(sign):
                raise InvalidArgument(
                    f"{name} is one ASCII character: no letter, digit, space, line end or NUL",
                    hint=Hint.of(f"{{{name}}}", **{name: _USUAL_SIGNS[name]}),
                )
        there = [sign for sign in (self.delimiter, *signs.values()) if sign is not None]
        if len(set(there)) < len(there):
            raise InvalidArgument("delimiter, quote, escape and comment are different signs")
        if self.escape is not None and not self.quote:
            raise InvalidArgument("if no cell is quoted, nothing needs an escape", hint="leave escape out")

    @classmethod
    def of(cls, path: str | Path, *, within: str | Path = "", **declared: Any) -> Self:  # noqa: ANN401 — the arguments of the class, checked there
        """The file at `path`, of the kind that its name's ending says; a Delta table; or what a URL leads to.

        Args:
            path: of the file, or the URL. It isn't looked at but for being a Delta table's folder, whatever it is
                called. A `.db` is taken for a DuckDB file, which may turn out to be one of SQLite when it is opened.
            within: the folder that a relative path starts in; the current one, if it is left out.
            declared: what else is declared of it, as the class takes it.

        Raises:
            SourceUnsupported: the ending isn't one of those known.
            InvalidArgument: what is declared doesn't fit the kind.

        Examples:
            >>> Source.of("census.csv").kind
            'csv'
        """
        if is_database_url(str(path)):
            return cls(kind="postgres", location=str(path), **declared)
        refuse_elsewhere(str(path))
        is_object = is_object_url(str(path))
        if not is_object and is_delta_folder(Path(within, path)):
            return cls(kind="delta", location=str(path), **declared)
        name = last_name(str(path)).casefold()
        for ending, kind in ENDINGS.items():
            if name.endswith(ending):
                return cls(kind=kind, location=str(path), **declared)
        if is_object:
            return cls(kind="parquet", location=str(path), **declared)
        raise SourceUnsupported(
            f"the name {Path(path).name!r} doesn't say what kind of file it is",
            hint=f"known endings are {' '.join(ENDINGS)}; a Delta table's folder has _delta_log in it",
        )

    @property
    def stem(self) -> str:
        """The file's name without its ending, or the database's name; for `memory`, the label.

        Examples:
            >>> Source.of("data/adult.csv.gz").stem, Source.of("postgresql://localhost/clinic").stem
            ('adult', 'clinic')
        """
        if self.kind == "postgres":
            return DatabaseUrl.read(self.location).database or self.kind
        name = self.location if self.kind == "memory" else last_name(self.location) or self.kind
        ending = max((ending for ending in ENDINGS if name.casefold().endswith(ending)), key=len, default="")
        return name[: len(name) - len(ending)] or name

    @property
    def is_untyped(self) -> bool:
        """Whether its cells are texts, or have each a type of its own, so that words may be declared for NULL.

        Examples:
            >>> Source.of("visits.jsonl").is_untyped, Source.of("visits.parquet").is_untyped
            (True, False)
        """
        return "missing" in self._options

    @property
    def _options(self) -> Collection[str]:
        return FORMATS[self.kind].options if self.kind in FORMATS else ()

    def declared(self) -> Mapping[str, Any]:
        """The options for reading it that aren't at their defaults.

        Examples:
            >>> Source.of("visits.csv", dates="dmy").declared()
            {'dates': 'dmy'}
        """
        return {name: getattr(self, name) for name, default in defaults().items() if getattr(self, name) != default}


def defaults() -> dict[str, object]:
    """The options for reading a source, with their defaults."""
    return {each.name: each.default for each in fields(Source) if each.name not in ("kind", "location")}


_USUAL_SIGNS = {"quote": "'", "escape": "\\", "comment": "#"}
MOST_LINES_ABOVE, MOST_FOOTER_LINES = 10_000, 100
"""How far down a header may be, and how many lines below the rows may be left out."""


def _is_sign(sign: str) -> bool:
    """Whether a text can separate or quote cells, escape signs or begin comments."""
    return len(sign) == 1 and sign.isascii() and not sign.isalnum() and sign not in " \r\n\0"


def _is_text_encoding(name: str) -> bool:
    """Whether Python can write a header in it, and read it back piece by piece."""
    sample = 'a,"b"\n'
    try:
        return getincrementaldecoder(name)().decode(sample.encode(name), final=True) == sample
    except (LookupError, ValueError):  # a name with a NUL is a ValueError
        return False
