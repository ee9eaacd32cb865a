"""CSV files, as strangers write them: what isn't a table is refused, and says where."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.anonymity.records.kinds import typed
from discreet.anonymity.records.naming import refuse_twins
from discreet.errors import InvalidArgument, SchemaMismatch, SourceUnsupported
from discreet.tables.proposals.codebooks import codebook

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 10_000
LONGEST_CELL = 1 << 20
"""Characters. A quotation mark that is never closed would make one cell of the rest of the file."""

_DELIMITERS = (",", ";", "\t", "|")
_OTHERS = {
    b"\x1f\x8b": ("compressed", "unpack it first"),
    b"\xfd7zX": ("compressed", "unpack it first"),
    b"PK\x03\x04": ("a zip archive, or a spreadsheet", "unpack it, or save its sheet as CSV in UTF-8"),
    b"PAR1": ("Parquet", "call it FILE.parquet"),
}
"""How binary files begin, what they are, and what to do."""
_HEADER = 1 << 24
"""The header is looked for in this many bytes."""
_BLOCK = 1 << 24
"""Bytes that Arrow parses at a time; no row may be longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """How a CSV file is written.

    Args:
        delimiter: one character; None to find out.
        null_texts: what stands for a missing value; None for nothing, and what a codebook says.
    """

    delimiter: str | None = None
    null_texts: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the delimiter.

        Raises:
            InvalidArgument: it isn't a single character that could be one.
        """
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise InvalidArgument("a delimiter is one character, and no quotation mark or line end")


def read_csv(path: Path, columns: Sequence[str] | None, options: CsvOptions) -> pa.Table:
    """A CSV file as an Arrow table of dictionary-encoded columns.

    Every cell is read as text, without spaces around it; a column becomes numbers, dates or truth values if all its
    different texts are such, so that no cell can change how another column, or a part of its own, is read. An empty
    line is a missing value if there is one column, and nothing if there are more.

    Raises:
        SourceUnsupported: it has no header, NUL bytes, too many columns, two of one name, rows of different lengths, a
            cell without end, or isn't UTF-8. No message quotes a cell.
        SchemaMismatch: it lacks a wanted column.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    header, delimiter = _header(path, options.delimiter)
    for name in columns or ():
        if name not in header:
            raise SchemaMismatch(f"the file has no column {name!r}", hint=f"it has {', '.join(header[:50])}")
    wanted = list(header if columns is None else columns)
    texts = pa.dictionary(pa.int32(), pa.string())
    try:
        table = arrow.read_csv(
            path,
            read_options=arrow.ReadOptions(column_names=header, skip_rows_after_names=1, block_size=_BLOCK),
            parse_options=arrow.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(header) > 1,  # else it is a row whose one value is missing, which may be unique
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, texts), include_columns=wanted, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise _refused(path, header, delimiter, str(error)) from None
    except OSError as error:
        raise SourceUnsupported(f"the file {str(path)!r} can't be read: {error.strerror}") from None
    book = codebook(header)
    nulls = options.null_texts if options.null_texts is not None else ("", *(book.missing if book else ()))
    return pa.table({name: typed(_checked(name, table[name]), nulls) for name in wanted})


def _header(path: Path, delimiter: str | None) -> tuple[list[str], str]:
    """The names of the columns, and what stands between them.

    Raises:
        SourceUnsupported: there is no header, or it can't be one.
    """
    try:
        _no_nul(path)
        with path.open("rb") as file:
            start = file.read(_HEADER)
    except OSError as error:
        raise SourceUnsupported(f"the file {str(path)!r} can't be read: {error.strerror}") from None
    line = _first_record(start)
    if not line.strip():
        raise SourceUnsupported(f"the file {str(path)!r} has no header")
    many = 1 + max(line.count(each) for each in ([delimiter] if delimiter else _DELIMITERS))
    if many > MOST_COLUMNS:  # before they are taken apart
        raise SourceUnsupported(f"the file {str(path)!r} has {many:,} columns; {MOST_COLUMNS:,} are allowed")
    found = delimiter or max(_DELIMITERS, key=lambda each: len(_split(line, each)))
    names = [name.strip() or f"column {place}" for place, name in enumerate(_split(line, found), start=1)]
    refuse_twins(names)
    if len(names) == 1 and delimiter is not None:
        other = next((each for each in _DELIMITERS if len(_split(line, each)) > 1), None)
        if other is not None:
            raise SourceUnsupported(f"no {delimiter!r} stands in the header", hint=f"delimiter {other!r} seems right")
    return names, found


def _no_nul(path: Path) -> None:
    """No byte is zero.

    Raises:
        SourceUnsupported: one is: the file is binary, or UTF-16.
    """
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        while block := file.read(_BLOCK):
            if b"\0" in block:
                for sign, (what, hint) in _OTHERS.items():
                    if start.startswith(sign):
                        raise SourceUnsupported(f"the file {str(path)!r} is {what}", hint=hint)
                raise SourceUnsupported(
                    f"the file {str(path)!r} has NUL bytes", hint="if it is text, save it in the encoding UTF-8"
                )


def _first_record(start: bytes) -> str:
    """The first line, or more of them where a quoted name holds a line end.

    Raises:
        SourceUnsupported: it isn't UTF-8.
    """
    quoted = False
    end = len(start)
    for place, byte in enumerate(start):
        if byte == ord('"'):
            quoted = not quoted
        elif byte in b"\r\n" and not quoted:
            end = place
            break
    try:
        return start[:end].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceUnsupported("the header isn't UTF-8", hint="save the file in the encoding UTF-8") from None


def _split(line: str, delimiter: str) -> list[str]:
    """The header's names, taken apart.

    Raises:
        SourceUnsupported: a name is too long to be one.
    """
    try:
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [])
    except csv.Error:
        raise SourceUnsupported("the header can't be read: a name in it is too long") from None


def _refused(path: Path, header: Sequence[str], delimiter: str, reason: str) -> SourceUnsupported:
    """Why Arrow couldn't read the file, in words that quote no cell of it."""
    name = str(path)
    if "UTF8" in reason.upper().replace("-", ""):
        return SourceUnsupported(f"the file {name!r} isn't UTF-8", hint="save it in the encoding UTF-8")
    if "straddl" in reason:
        return SourceUnsupported(
            f"a row of the file {name!r} has more than {_BLOCK:,} bytes", hint="is a quotation mark never closed?"
        )
    for line, cells in _lengths(path, delimiter):
        if cells != len(header):
            here = "1 cell" if cells == 1 else f"{cells:,} cells"
            return SourceUnsupported(
                f"line {line:,} of the file {name!r} has {here}, the header {len(header):,}",
                hint=f"is {delimiter!r} the delimiter, and is every cell quoted that holds it?",
            )
    return SourceUnsupported(f"the file {name!r} can't be read as CSV")


def _lengths(path: Path, delimiter: str) -> list[tuple[int, int]]:
    """Of the first row that has another number of cells than the header: where it ends, and its number of cells."""
    expected = None
    try:
        with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
            rows = csv.reader(file, delimiter=delimiter)
            for row in rows:
                if row and expected is not None and len(row) != expected:
                    return [(rows.line_num, len(row))]
                expected = expected or len(row)
    except csv.Error:
        pass
    return []


def _checked(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column in one piece.

    Raises:
        SourceUnsupported: a cell is too long to be a value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not column.num_chunks:
        return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], pa.string()))
    whole = column.unify_dictionaries().combine_chunks()
    longest = pc.max(pc.binary_length(whole.dictionary)).as_py() or 0
    if longest > LONGEST_CELL:
        raise SourceUnsupported(
            f"a cell of the column {name!r} has {longest:,} bytes; {LONGEST_CELL:,} are allowed",
            hint="is a quotation mark never closed?",
        )
    return whole
