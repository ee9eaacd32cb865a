"""Sheets of XLSX files, whose cells come as texts."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from discreet.errors import ExtraMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.cells import TextColumns
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.reader import Field, OpenFileSource, column_names, only

MOST_UNPACKED = 1 << 28
"""How many bytes a spreadsheet may have when unpacked: it is read as a whole, which takes several times as much
memory.
"""
_WHOLE = 2.0**53
"""Below this, every whole number is a double, and a spreadsheet shows it without a point."""


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
    return SourceUnsupported(f"{location!r} isn't an XLSX file, or is damaged", hint="save it again as .xlsx")


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
