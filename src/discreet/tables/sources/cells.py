"""Untyped cells: what each is as text, columns of such texts, and the sheets of XLSX files, which are made of them."""

from __future__ import annotations

import struct
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import ExtraMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import MOST_BYTES, MOST_ROWS
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.reader import Field, OpenFileSource, column_names, only

_MOST_BITS = 4_000
"""A whole number of more bits than this isn't written out; Python refuses it from some 14,000 on."""


class Unreadable(Exception):
    """The value has no text that means it. It stays inside this room."""


def text_of(value: Any) -> str | None:  # noqa: ANN401 — a cell of a spreadsheet, database or frame
    """A cell as text; None where nothing is in it, which NaN says of frames.

    Raises:
        Unreadable: it is a list, bytes, a time of day or anything else that no column holds.

    Examples:
        >>> [text_of(cell) for cell in (7, 0.5, True, "a", date(2024, 2, 29), float("nan"))]
        ['7', '0.5', 'true', 'a', '2024-02-29', None]
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if isinstance(value, Integral):
        if int(value).bit_length() > _MOST_BITS:
            raise Unreadable
        return str(int(value))
    if isinstance(value, Real) and not isinstance(value, Fraction):
        number = float(value)
        return None if number != number else repr(number)  # noqa: PLR0124 — only NaN differs from itself
    return _other(value)


def _other(value: Any) -> str | None:  # noqa: ANN401 — as above
    """What is neither text nor number."""
    kind = type(value).__name__
    if kind in ("NaTType", "NAType"):  # pandas' signs for nothing
        return None
    if kind == "bool_" or kind == "bool":  # noqa: PLR1714 — NumPy's, by its two names
        return text_of(bool(value))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    raise Unreadable


class Mended(str):
    """A text in which wrong bytes were replaced by U+FFFD."""

    __slots__ = ()


class TextColumns:
    """Record batches of texts, filled row by row.

    Args:
        columns: of the batches.
        missing: texts that stand for NULL.
        unreadable: where texts with characters that UTF-8 lacks, and cells without a text, are counted.
        bare: whether texts come without the spaces around them, and the empty one stands for NULL, too.
    """

    def __init__(
        self, columns: Sequence[Field], missing: Sequence[str], unreadable: Counter[str], *, bare: bool = False
    ) -> None:
        self._names = [each.name for each in columns]
        self._bare = bare
        self._nulls = pa.array(["", *(each.strip(" ") for each in missing)] if bare else list(missing), pa.string())
        self._unreadable = unreadable
        self._rows: list[Sequence[Any]] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether a batch should be taken now."""
        return len(self._rows) >= MOST_ROWS or self._size >= MOST_BYTES

    @property
    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return not self._rows

    def add(self, row: Sequence[Any], size: int | None = None) -> None:
        """Add a row of cells; those that have no text will be NULL, and counted.

        Args:
            row: its cells.
            size: about how many bytes they have, if that is known.
        """
        self._rows.append(row)
        self._size += sum(len(each) for each in row if isinstance(each, str)) if size is None else size

    def take(self) -> pa.RecordBatch:
        """The rows so far as a batch; none are left."""
        columns = [
            self._column(name, cells) for name, cells in zip(self._names, zip(*self._rows, strict=True), strict=True)
        ]
        self._rows = []
        self._size = 0
        return pa.RecordBatch.from_arrays(columns, self._names)

    def _column(self, name: str, cells: Sequence[Any]) -> pa.Array:
        """The cells of a column. Mostly all are texts or nothing, which is seen at once."""
        wrong = 0
        if not set(map(type, cells)) <= {str, type(None)}:
            cells, wrong = as_texts(cells)
        made, mended = texts(cells)
        if wrong + mended:
            self._unreadable[name] += wrong + mended
        made = pc.ascii_trim(made, characters=" ") if self._bare else made
        return pc.if_else(pc.is_in(made, self._nulls), pa.scalar(None, pa.string()), made) if len(self._nulls) else made


def as_texts(cells: Iterable[Any]) -> tuple[list[str | None], int]:
    """Cells as texts, each read by itself; and how many have none, or were mended.

    Examples:
        >>> as_texts([7, "7", b"7"])
        (['7', '7', None], 1)
    """
    found: list[str | None] = []
    wrong = 0
    for value in cells:
        try:
            text = text_of(value)
        except Unreadable:
            text, wrong = None, wrong + 1
        wrong += isinstance(text, Mended)
        found.append(text)
    return found, wrong


def texts(cells: Sequence[str | None]) -> tuple[pa.Array, int]:
    r"""Texts as an array, and how many had characters that UTF-8 lacks: halves of a surrogate pair, here U+FFFD.

    Examples:
        >>> texts(["a", "\ud800", None])[0].to_pylist()
        ['a', '\ufffd', None]
    """
    try:
        return pa.array(cells, pa.string()), 0
    except UnicodeEncodeError:
        pass
    kept: list[str | None] = []
    wrong = 0
    for each in cells:
        mended = None if each is None else _without_surrogates(each)
        wrong += mended != each
        kept.append(mended)
    return pa.array(kept, pa.string()), wrong


def _without_surrogates(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair."""
    return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)


# ── Spreadsheets ─────────────────────────────────────────────────────────────────────────────────────────────────────

MOST_UNPACKED = 1 << 28
"""Bytes that a spreadsheet may have when unpacked: it is read as a whole, and takes several times that in memory."""
_WHOLE = 2.0**53
"""Below this every whole number is a double, and a spreadsheet shows it without a point."""


class OpenXlsx(OpenFileSource):
    """A sheet of an XLSX file; its first row with anything in it names the columns, unless another is said to.

    Numbers, dates and truth values come as texts; formulas as what they came to when the file was saved. Errors such as
    `#N/A`, and times of day, are unreadable.

    Raises:
        ExtraMissing: python-calamine isn't installed.
        SourceMissing: there is no such file, no such sheet in it, or several and none is named.
        SourceUnsupported: it isn't XLSX, is damaged, or is too large.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source.location)
        self._source = source
        try:
            rows = iter(_rows(self._file, source))
            head = next(rows, [])
            self._rows = list(rows)
        except BaseException:
            self.close()
            raise
        names = column_names(["" if cell is None else str(_cell(cell)) for cell in head], source.location)
        self._places = {name: place for place, name in enumerate(names)}
        self._fields = tuple(Field(name=name, type=pa.string(), untyped=True) for name in names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns that the first row names."""
        return self._fields

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows; empty ones are none, unless there is one column, of which they are a missing value."""
        cells = TextColumns(chosen, self._source.missing, self.unreadable, bare=True)
        places = [self._places[each.name] for each in chosen]
        for row in self._rows:
            if len(row) > 1 and not any(cell not in ("", None) for cell in row):
                continue
            cells.add([_cell(row[place]) for place in places])
            if cells.is_full:
                yield cells.take()
        if not cells.is_empty:
            yield cells.take()


def sheets(path: str) -> list[str]:
    """The names of a spreadsheet's sheets.

    Raises:
        ExtraMissing: python-calamine isn't installed.
        SourceMissing: there is no such file.
        SourceUnsupported: it isn't XLSX, is damaged, or is too large.
    """
    with OpenFile(path) as file:
        return _named(_workbook(file, path), path)


def _cell(cell: Any) -> Any:  # noqa: ANN401 — a cell holds anything
    """A cell; all numbers of a spreadsheet are doubles, and whole ones mean whole numbers."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _WHOLE:
        return int(cell)
    return cell


def _workbook(file: OpenFile, location: str) -> Any:  # noqa: ANN401 — python-calamine needn't be installed
    """The open workbook."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise ExtraMissing("spreadsheets need python-calamine", hint="pip install 'discreet[xlsx]'") from None
    size, book = 0, None
    try:
        with zipfile.ZipFile(file.path) as packed:
            size = sum(each.file_size for each in packed.infolist())
        if size <= MOST_UNPACKED:
            with open(file.path, "rb") as raw:  # noqa: PTH123 — the link of a descriptor
                book = calamine.load_workbook(raw)
    except BaseException as error:  # noqa: BLE001 — what isn't meant is raised again
        _raise_unless_damage(error, calamine.CalamineError)
        book = None  # the cause may quote a cell, so nothing of it is passed on
    if size > MOST_UNPACKED:
        raise SourceUnsupported(
            f"the spreadsheet {location!r} has {size:,} bytes when unpacked; {MOST_UNPACKED:,} are allowed",
            hint="save the sheet as CSV in UTF-8",
        )
    if book is None:
        raise _damaged(location)
    return book


def _raise_unless_damage(error: BaseException, own: type[Exception]) -> None:
    """Pass on what isn't about the file. A damaged one may even make the library panic, which is no `Exception`."""
    about = (own, zipfile.BadZipFile, struct.error, NotImplementedError, OSError, ValueError, EOFError)
    if not isinstance(error, about) and type(error).__name__ != "PanicException":
        raise error


def _damaged(location: str) -> SourceUnsupported:
    """The error for what is no spreadsheet."""
    return SourceUnsupported(f"{location!r} isn't an XLSX file, or is damaged", hint="save it anew as .xlsx")


def _named(book: Any, location: str) -> list[str]:  # noqa: ANN401 — python-calamine has no name for it until imported
    """The names of the sheets."""
    names = list(book.sheet_names)
    if not names:
        raise _damaged(location)
    return names


def _rows(file: OpenFile, source: Source) -> Iterator[list[Any]]:
    """The rows of the sheet that is meant, from the one that names the columns: the first with anything, or as said."""
    book = _workbook(file, source.location)
    names = _named(book, source.location)
    matching = [name for name in names if source.table is None or name.casefold() == source.table.casefold()]
    sheet = only(matching, source, "spreadsheet", "sheet", names)
    import python_calamine as calamine

    rows: list[list[Any]] | None = None
    try:
        rows = list(book.get_sheet_by_name(sheet).iter_rows())
    except BaseException as error:  # noqa: BLE001 — what isn't meant is raised again
        _raise_unless_damage(error, calamine.CalamineError)
    if rows is None:
        raise _damaged(source.location)
    rows = rows[source.header_line - 1 : len(rows) - source.footer_lines]
    started = source.header_line > 1
    for row in rows:
        started = started or any(cell != "" for cell in row)
        if started:
            yield row
