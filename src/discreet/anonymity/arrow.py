"""The columns of a table as Arrow has them: of files as `tables.sources` reads them, of frames as they lie."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.errors import SchemaMismatch, SourceUnsupported
from discreet.tables import Kind, Source
from discreet.tables.arrow_kinds import called, kind_of
from discreet.tables.proposals import codebook
from discreet.tables.sources import Field, open_source, source_at
from discreet.tables.type_inference import narrowest

if TYPE_CHECKING:
    import pyarrow as pa

_THREADS = 2
"""Columns are encoded beside the reading; more threads would only hold more of the table in memory at once."""
_WAITING = 4
"""How many batches may wait to be encoded."""
_FINE = "[.][0-9]{6}[0-9]*[1-9]"
"""A fraction of a second that microseconds don't hold."""
_MEMORY = Source(kind="memory", location="the table")
Column: TypeAlias = "pa.ChunkedArray | pa.Array"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Parts of a source other than the records read from it.

    Args:
        columns: those that hold what no kind of column is, and weren't asked for by name: their types, by name.
        values: how many couldn't be read and count as missing, by column.
        lines: of a text file, how many were left out because no whole record starts there.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0

    def words(self) -> tuple[str, ...]:
        """The same in words; nothing where everything was read.

        Examples:
            >>> Unread(columns={"photo": "binary"}, lines=2).words()
            ("the column 'photo' was left out: it holds binary", '2 malformed lines were left out')
        """
        were = "s were" if self.lines > 1 else " was"
        return (
            *(f"the column {name!r} was left out: it holds {kind}" for name, kind in self.columns.items()),
            *(f"of {name!r}, {count:,} can't be read, and count as missing" for name, count in self.values.items()),
            *([f"{self.lines:,} malformed line{were} left out"] if self.lines else ()),
        )


def columns_of(table: object, names: Sequence[str] | None) -> tuple[dict[str, Column], Unread]:
    """The columns of a table, and what else it has.

    Args:
        table: the path of a file, or how it is read; a pandas, Polars, Arrow or Ibis table; a mapping from names to
            lists.
        names: of the columns; if None, all that a kind of column is.

    Raises:
        SourceError: it can't be read as a table, or lacks a column.
    """
    if isinstance(table, str | Path):
        table = source_at(table)
    return _of_source(table, names) if isinstance(table, Source) else _of_memory(table, names)


def _of_source(source: Source, names: Sequence[str] | None) -> tuple[dict[str, Column], Unread]:
    """The columns of a file.

    Where it has no types, a column becomes numbers, dates, times or truth values if all its different texts are such,
    so that no cell can change how another column, or a part of its own, is read.
    """
    import pyarrow as pa

    with open_source(source) as opened:
        fields = {each.name: each for each in opened.fields}
        book = codebook(list(fields)) if source.is_untyped and not source.missing else None
        if book is not None and book.missing:
            return _of_source(replace(source, missing=book.missing), names)
        wanted = _wanted(fields, names, source.location)
        parts: list[list[pa.Array]] = [[] for _ in wanted]
        with ThreadPoolExecutor(_THREADS) as pool:
            waiting: deque[list[Future[pa.Array]]] = deque()
            for batch in opened.batches(wanted):
                waiting.append([pool.submit(_encoded, column) for column in batch.columns])
                while len(waiting) > _WAITING:
                    _take(waiting, parts)
            while waiting:
                _take(waiting, parts)
            if not opened.is_unchanged():
                raise SourceUnsupported(
                    f"{source.location!r} was changed while it was read", hint="read it when nothing writes to it"
                )
            kinds = [_encoded(pa.array([], fields[name].type)).type for name in wanted]
            chunked = [pa.chunked_array(chunks, kind) for chunks, kind in zip(parts, kinds, strict=True)]
            found = pool.map(lambda name, column: _typed(fields[name], column, source), wanted, chunked)
            columns = dict(zip(wanted, found, strict=True))
        left_out = _unreadable(fields.values()) if names is None else {}
        return columns, Unread(columns=left_out, values=dict(opened.unreadable), lines=opened.malformed.count)


def _take(waiting: deque[list[Future[pa.Array]]], parts: list[list[pa.Array]]) -> None:
    """Add the batch that has waited longest to the columns, once it is encoded."""
    for part, future in zip(parts, waiting.popleft(), strict=True):
        part.append(future.result())


def _encoded(chunk: pa.Array) -> pa.Array:
    """Texts by places in a list of the different ones, of which there are mostly few."""
    import pyarrow as pa

    return chunk.dictionary_encode() if pa.types.is_string(chunk.type) else chunk


def _of_memory(table: object, names: Sequence[str] | None) -> tuple[dict[str, Column], Unread]:
    """The columns of a table in memory, in its own memory where it has them as Arrow does."""
    import pyarrow as pa

    from discreet.tables.sources.in_memory import shared_columns

    if isinstance(table, Mapping):
        table = _made(table)
    shared = {each.field.name: each for each in shared_columns(table, names)}
    fields = {name: each.field for name, each in shared.items()}
    is_lent = isinstance(table, pa.Table | pa.RecordBatch)
    columns = {}
    for name in _wanted(fields, names, _MEMORY.location):
        values = shared[name].values
        if values is None:
            raise SchemaMismatch(
                f"the column {name!r} holds {called(fields[name].type)}, which can't be read",
                hint="convert it to texts or numbers, or leave it out",
            )
        columns[name] = _typed(fields[name], _owned(values) if is_lent else values, _MEMORY)
    left_out = _unreadable(fields.values()) if names is None else {}
    return columns, Unread(
        columns=left_out, values={name: each.unreadable for name, each in shared.items() if each.unreadable}
    )


def _made(lists: Mapping[Any, Any]) -> pa.Table:
    """An Arrow table of lists by name.

    Raises:
        SourceUnsupported: they don't fit into one. Arrow's own message would quote a value.
    """
    import pyarrow as pa

    try:
        return pa.table(dict(lists))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise SourceUnsupported(
            "the table can't be read: a column mixes kinds of values, or columns differ in length",
            hint="make each column texts, or numbers, or dates",
        ) from None


def _wanted(fields: Mapping[str, Field], names: Sequence[str] | None, location: str) -> list[str]:
    """The columns to read: those that are asked for, or all that can be read.

    Raises:
        SchemaMismatch: one that is asked for isn't there.
        SourceUnsupported: none can be read.
    """
    if names is None:
        wanted = [name for name, each in fields.items() if kind_of(each.type) is not None]
        if not wanted:
            raise SourceUnsupported(f"no column of {location!r} can be read", hint="convert them to texts or numbers")
        return wanted
    for name in names:
        if name not in fields:
            raise SchemaMismatch(
                f"{location!r} has no column {name!r}", hint=f"it has {len(fields)}; is the name spelt alike?"
            )
    return list(dict.fromkeys(names))


def _unreadable(fields: Iterable[Field]) -> dict[str, str]:
    """The columns that hold what no kind of column is."""
    return {each.name: called(each.type) for each in fields if kind_of(each.type) is None}


def _owned(column: Column) -> Column:
    """The column with codes of categories that nobody else can write to.

    pandas and NumPy lend Arrow their own memory, also in a table that was made of it beforehand. All else is copied as
    it is encoded; codes are looked at later, and must be what they were.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([_copied(chunk) for chunk in column.chunks], column.type)


def _copied(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same, with places of its own."""
    import pyarrow as pa

    places = array.indices
    held = places.buffers()[1]
    kind = np.dtype(places.type.to_pandas_dtype())
    own = np.frombuffer(held, kind, len(places), places.offset * kind.itemsize).copy() if held else np.zeros(0, kind)
    missing = np.asarray(places.is_null()) if places.null_count else None
    return pa.DictionaryArray.from_arrays(
        pa.array(own, places.type, mask=missing), array.dictionary, ordered=array.type.ordered, safe=False
    )


def _typed(field: Field, column: Column, source: Source) -> Column:
    """The column, its texts read as the kind that all of them are if they may mean anything.

    Only the different texts are looked at, never the rows.
    """
    import pyarrow as pa

    if not field.untyped or pa.types.is_null(column.type):
        return column
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no rows
        return column
    texts = whole.dictionary
    kind, values = narrowest(texts, source)
    if kind in (None, Kind.TEXT) or not _kept_apart(kind, texts, values, source):
        return encoded
    return pa.DictionaryArray.from_arrays(whole.indices, _in_seconds(values))


def _kept_apart(kind: Kind, texts: pa.Array, values: pa.Array, source: Source) -> bool:
    """Whether texts that say different numbers, or times, are still different once they are read.

    Doubles hold 15 digits, and not always more; times end with microseconds. Rows would look alike that don't.
    """
    import pyarrow.compute as pc

    if kind is Kind.TIMESTAMP:
        return not pc.any(pc.match_substring_regex(texts, _FINE)).as_py()
    if kind is not Kind.REAL:
        return True
    said = texts.filter(values.is_valid())
    few = pc.count_distinct(pc.add(values, 0.0)).as_py()  # −0 + 0 is 0, as it is to `Decimal`
    if few == len(said):
        return True
    return bool(few == len({Decimal(text.replace(source.decimal, ".")) for text in said.to_pylist()}))


def _in_seconds(values: pa.Array) -> pa.Array:
    """Values, times among them without fractions of a second if none has any: as they are written, then."""
    import pyarrow as pa

    if not pa.types.is_timestamp(values.type):
        return values
    try:
        return values.cast(pa.timestamp("s", values.type.tz))
    except pa.ArrowInvalid:
        return values
