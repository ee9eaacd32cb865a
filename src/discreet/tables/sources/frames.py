"""Tables in memory, copied so that nobody can change them while they are read."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.sources.arrays import deliver, delivered, is_delivered, slices, sound
from discreet.tables.sources.cells import as_texts, texts
from discreet.tables.sources.names import column_names
from discreet.tables.sources.opened import Field, OpenSource

MOST_BYTES_IN_MEMORY = 1 << 33
"""A table in memory is copied, so it may have no more bytes than this as Arrow data; a larger one belongs in a file."""
LIBRARIES = ("pandas", "polars", "pyarrow", "ibis")

_Chunks: TypeAlias = list[pa.Array]


@dataclass(slots=True)
class _Column:
    """A column as it was found.

    Args:
        name: as it is written.
        chunks: its values; not looked at where the type isn't delivered.
        kind: their type.
        untyped: whether they are texts made of cells of any type.
        wrong: cells that had no text.
        required: whether a schema says that none is NULL.
    """

    name: str
    chunks: _Chunks
    kind: pa.DataType
    untyped: bool = False
    wrong: int = 0
    required: bool = False


class OpenFrame(OpenSource):
    """A copy of a pandas, Polars or Arrow table, or of what an Ibis table on DuckDB yields now.

    Guarantee: the copy is valid Arrow data. Columns of Python objects are read cell by cell, as texts.

    Raises:
        SourceMissing: there is no table.
        SourceUnsupported: it isn't such a table, is too large, or its library can't work it out.
    """

    def __init__(self, location: str, data: object) -> None:
        """Copy it."""
        super().__init__(location)
        if data is None:
            raise SourceMissing(
                f"the source in memory {location!r} needs its table",
                hint="hand the table over together with its source",
            )
        columns = _columns(data)
        names = column_names([each.name for each in columns], location)
        self._fields = tuple(
            Field(
                name=name,
                type=delivered(each.kind),
                untyped=each.untyped or each.kind == pa.null(),
                required=each.required,
            )
            for name, each in zip(names, columns, strict=True)
        )
        self._wrong = Counter({name: each.wrong for name, each in zip(names, columns, strict=True) if each.wrong})
        self._copies: dict[str, tuple[pa.ChunkedArray, int]] = {}
        digest = hashlib.sha256(repr(names).encode())
        size = 0
        for name, each in zip(names, columns, strict=True):
            if is_delivered(delivered(each.kind)):
                size += sum(chunk.nbytes for chunk in each.chunks)
                if size > MOST_BYTES_IN_MEMORY:
                    raise SourceUnsupported(
                        f"the table in memory {location!r} has more than {MOST_BYTES_IN_MEMORY:,} bytes",
                        hint="write it to a Parquet file, and name that",
                    )
                self._copies[name] = _copied(each, digest)
        self._identity = digest.hexdigest()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self._fields

    @property
    def identity(self) -> str:
        """A digest of names and contents."""
        return self._identity

    def is_unchanged(self) -> bool:
        """Always: nobody else has the copy."""
        return True

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, in slices of the copy."""
        for each in chosen:
            _, wrong = self._copies[each.name]
            self.unreadable[each.name] += wrong + self._wrong[each.name]
        self.unreadable += Counter()
        table = pa.table({each.name: self._copies[each.name][0] for each in chosen})
        for batch in table.to_batches():
            yield from slices(batch)


def _copied(column: _Column, digest: Any) -> tuple[pa.ChunkedArray, int]:  # noqa: ANN401 — hashlib names no type
    """The column, written out and read back, so that no memory is shared; digested on the way."""
    into = delivered(column.kind)
    wrong = 0
    made: _Chunks = []
    for chunk in column.chunks:
        for batch in slices(pa.record_batch([chunk], ["value"])):
            array, bad = deliver(batch.column(0), into)
            wrong += bad
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, pa.schema({"value": into})) as writer:
                writer.write_batch(pa.record_batch([array], ["value"]))
            buffer = sink.getvalue()
            digest.update(buffer)
            made += pa.ipc.open_stream(buffer).read_all().column(0).chunks
    return pa.chunked_array(made, into), wrong


def _columns(data: Any) -> list[_Column]:  # noqa: ANN401 — whatever library it comes from
    """The columns of a table, as Arrow sees them; they may still share memory with it."""
    import duckdb

    library = type(data).__module__.partition(".")[0]
    if library not in LIBRARIES:
        raise _unreadable(data)
    try:
        if library == "pandas":
            return _from_pandas(data)
        if library == "polars":
            return _from_polars(data)
        return _from_ibis(data) if library == "ibis" else _from_arrow(_arrow_table(data))
    except (pa.ArrowException, duckdb.Error, TypeError, ValueError, OverflowError, AttributeError, LookupError):
        pass  # the cause may quote a cell, so nothing of it is passed on
    raise _unreadable(data)


def _unreadable(data: object) -> SourceUnsupported:
    """The error for what isn't a table, or can't be worked out."""
    return SourceUnsupported(
        f"the {type(data).__name__} can't be read as a table",
        hint="give a path, a pandas, Polars or Arrow table, or an Ibis table on DuckDB",
    )


def _arrow_table(data: Any) -> pa.Table:  # noqa: ANN401 — as above
    """An Arrow table of what PyArrow holds."""
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return _drained(data)
    if not isinstance(data, pa.Table):
        raise TypeError
    return data


def _drained(reader: pa.RecordBatchReader) -> pa.Table:
    """The rows that are left in a reader."""
    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > MOST_BYTES_IN_MEMORY:
            break  # refused when it is copied
    return pa.Table.from_batches(batches, reader.schema)


def _from_arrow(table: pa.Table) -> list[_Column]:
    """The columns of an Arrow table, once they are sure to be sound."""
    return [
        _Column(
            spec.name,
            [sound(chunk) for chunk in column.chunks] if is_delivered(delivered(spec.type)) else [],
            spec.type,
            required=not spec.nullable,
        )
        for spec, column in zip(table.schema, table.columns, strict=True)
    ]


def _from_ibis(data: Any) -> list[_Column]:  # noqa: ANN401 — Ibis hands out no types of its own
    """The columns of an Ibis table. Other engines than DuckDB would have to be asked in place, not copied from.

    Whole numbers that may have more digits than Arrow's usual decimals are fetched as texts.
    """
    from ibis.common.exceptions import IbisError

    kinds, found = data.schema(), None
    wide = {name: into for name, kind in kinds.items() if (into := _wide(kind)) is not None}
    known = [name for name, kind in kinds.items() if name in wide or not (kind.is_unknown() or kind.is_interval())]
    try:
        backend = data.get_backend()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Ibis calls what DuckDB has given another name since
            rows = data.select([data[name].cast("string").name(name) if name in wide else name for name in known])
            found = rows.to_pyarrow() if backend.name == "duckdb" else None
    except IbisError:
        pass
    if found is None:
        raise TypeError
    read = {each.name: each for each in _from_arrow(found)}
    for name, into in wide.items():
        each = read[name]
        each.untyped, each.kind, each.chunks = into == pa.string(), into, [chunk.cast(into) for chunk in each.chunks]
    return [read.get(name) or _Column(name, [], pa.opaque(pa.null(), "unknown", "ibis")) for name in kinds]


def _wide(kind: Any) -> pa.DataType | None:  # noqa: ANN401 — as above
    """What whole numbers of an Ibis type are read as, if there may be more than 38 digits; None for other types."""
    named = str(getattr(kind, "raw_type", ""))
    if "BIGNUM" in named or "VARINT" in named:
        return pa.string()
    is_huge = "UINT128" in named or "UHUGEINT" in named or (kind.is_decimal() and kind.scale == 0)
    return pa.decimal256(76, 0) if is_huge else None


def _from_pandas(data: Any) -> list[_Column]:  # noqa: ANN401 — pandas needn't be installed
    """The columns of a pandas table; its index is dropped."""
    return [_series(str(name), data.iloc[:, place]) for place, name in enumerate(data.columns)]


def _series(name: str, column: Any) -> _Column:  # noqa: ANN401 — as above
    """A column of a pandas table."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        inner = _series(name, pd.Series(dtype.categories))
        if len(inner.chunks) != 1:
            return inner
        codes = np.array(column.cat.codes, dtype=np.int32)
        places = pa.array(codes, mask=codes < 0)
        inner.chunks = [pa.DictionaryArray.from_arrays(places, inner.chunks[0])]
        inner.kind = inner.chunks[0].type
        return inner
    if dtype != np.dtype(object):
        try:
            made = pa.array(column, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            if not pd.api.types.is_string_dtype(dtype):
                return _Column(name, [], pa.opaque(pa.null(), str(dtype), "pandas"))
        else:
            return _Column(name, made.chunks if isinstance(made, pa.ChunkedArray) else [made], made.type)
    return _objects(name, column)


def _objects(name: str, values: Any) -> _Column:  # noqa: ANN401 — anything iterable
    """A column of Python objects, each read by itself: what one is never changes how another is read."""
    cells, wrong = as_texts(values)
    made, mended = texts(cells)
    return _Column(name, [made], pa.string(), untyped=True, wrong=wrong + mended)


def _from_polars(data: Any) -> list[_Column]:  # noqa: ANN401 — Polars needn't be installed
    """The columns of a Polars table, lazy or not.

    Raises:
        SourceUnsupported: a lazy one can't be worked out. Polars' own message may quote a value.
    """
    import polars as pl

    if isinstance(data, pl.Series):
        data = data.to_frame()
    try:
        data = data.collect() if isinstance(data, pl.LazyFrame) else data
    except pl.exceptions.PolarsError:
        data = None
    if data is None:
        raise SourceUnsupported("the Polars query fails", hint="collect() says why")
    return [_polars_series(column) for column in data.get_columns()]


def _polars_series(column: Any) -> _Column:  # noqa: ANN401 — Polars needn't be installed
    """A column of a Polars table. Whole numbers of 128 bits are texts, as Arrow has none."""
    import polars as pl

    untyped = str(column.dtype) in ("Int128", "UInt128")
    if untyped:
        column = column.cast(pl.String)
    try:
        made = column.to_frame().to_arrow(compat_level=pl.CompatLevel.oldest()).column(0)
        is_known = is_delivered(delivered(made.type))
    except (pa.ArrowException, pl.exceptions.PolarsError):
        return _Column(column.name, [], pa.opaque(pa.null(), str(column.dtype), "polars"))
    return _Column(column.name, made.chunks if is_known else [], made.type, untyped)
