"""Tables of pandas, Polars, Arrow and Ibis, column by column as Arrow sees them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.errors import SchemaMismatch, SourceUnsupported
from discreet.tables.sources.arrow import delivered, size_of, sound
from discreet.tables.sources.cells import as_texts, texts
from discreet.tables.sources.reader import column_names, is_delivered

LIBRARIES = ("pandas", "polars", "pyarrow", "ibis")
"""The libraries whose tables in memory are read."""
MOST_BYTES_IN_MEMORY = 1 << 33
"""A table that is copied may have no more bytes than this as Arrow data; a larger one belongs in a file."""
_THREADS = 2
_SHOWN = 50
_PART = 1 << 18
"""How many rows are looked at together for an example of each category."""

_Choose: TypeAlias = Callable[[Sequence[object]], list[int]]
"""From the names of a table's columns to the places of those that are wanted."""


@dataclass(slots=True)
class FrameColumn:
    """A column as it was found.

    Args:
        name: as it is written.
        chunks: its values; not looked at where the type isn't delivered.
        kind: their type.
        untyped: whether they are texts made of cells of any type.
        spoken: whether all of these cells were texts, or nothing.
        wrong: cells that had no text.
        required: whether a schema says that none is NULL.
    """

    name: str
    chunks: list[pa.Array]
    kind: pa.DataType
    untyped: bool = False
    spoken: bool = False
    wrong: int = 0
    required: bool = False


def frame_columns(data: Any, location: str, names: Sequence[str] | None = None) -> list[FrameColumn]:  # noqa: ANN401 — whatever library it comes from
    """Some columns of a table, as Arrow sees them, or all; they may still share memory with it.

    Args:
        data: a table of one of the libraries.
        location: what to call it in an error.
        names: of columns, without spaces around them; all if left out. A lazy table is worked out for these alone.

    Raises:
        SchemaMismatch: there is no such column.
        SourceUnsupported: it is no table, its library can't work it out, or two columns have one name.
    """
    import duckdb

    library = type(data).__module__.partition(".")[0]
    if library not in LIBRARIES:
        raise _unreadable(data)
    called: list[str] = []

    def choose(written: Sequence[object]) -> list[int]:
        known = column_names([str(name) for name in written], location)
        places = range(len(known)) if names is None else [_place(known, name) for name in names]
        called.extend(known[place] for place in places)
        return list(places)

    try:
        match library:
            case "pandas":
                found = _from_pandas(data, choose)
            case "polars":
                found = _from_polars(data, choose)
            case "ibis":
                found = _from_ibis(data, choose)
            case _:
                found = _from_arrow(_arrow_table(data), choose)
    except (pa.ArrowException, duckdb.Error, TypeError, ValueError, OverflowError, AttributeError, LookupError):
        found = None  # the cause may quote a cell, so nothing of it is passed on
    if found is None:
        raise _unreadable(data)
    for name, column in zip(called, found, strict=True):
        column.name = name
    return found


def _place(known: Sequence[str], name: str) -> int:
    """The place of a column.

    Raises:
        SchemaMismatch: there is none of that name.
    """
    if name not in known:
        raise SchemaMismatch(f"the table has no column {name!r}", hint=f"it has {', '.join(known[:_SHOWN])}")
    return known.index(name)


def is_index(data: Any, name: str) -> bool:  # noqa: ANN401 — whatever library it comes from
    """Whether a pandas table has an index of that name, which isn't a column."""
    return type(data).__module__.partition(".")[0] == "pandas" and name in list(getattr(data.index, "names", ()))


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
        size += sum(map(size_of, batch.columns))
        if size > MOST_BYTES_IN_MEMORY:
            break  # refused when it is copied
    return pa.Table.from_batches(batches, reader.schema)


def _from_arrow(table: pa.Table, choose: _Choose) -> list[FrameColumn]:
    """The columns of an Arrow table, once they are sure to be sound."""
    return [
        FrameColumn(
            spec.name,
            [sound(chunk) for chunk in column.chunks] if is_delivered(delivered(spec.type)) else [],
            spec.type,
            required=not spec.nullable,
        )
        for spec, column in ((table.schema.field(place), table.column(place)) for place in choose(table.column_names))
    ]


def _from_ibis(data: Any, choose: _Choose) -> list[FrameColumn]:  # noqa: ANN401 — Ibis hands out no types of its own
    """The columns of an Ibis table. Other engines than DuckDB would have to be asked in place, not copied from.

    Whole numbers that may have more digits than Arrow's usual decimals are fetched as texts.
    """
    from ibis.common.exceptions import IbisError

    kinds, found = data.schema(), None
    chosen = [data.columns[place] for place in choose(data.columns)]
    wide = {name: into for name in chosen if (into := _wide_integer(kinds[name])) is not None}
    known = [name for name in chosen if name in wide or not (kinds[name].is_unknown() or kinds[name].is_interval())]
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
    read = {each.name: each for each in _from_arrow(found, lambda names: list(range(len(names))))}
    for name, into in wide.items():
        each = read[name]
        each.untyped, each.kind, each.chunks = into == pa.string(), into, [chunk.cast(into) for chunk in each.chunks]
    return [read.get(name) or FrameColumn(name, [], pa.opaque(pa.null(), "unknown", "ibis")) for name in chosen]


def _wide_integer(kind: Any) -> pa.DataType | None:  # noqa: ANN401 — as above
    """The type as which whole numbers of possibly more than 38 digits are read; None for other Ibis types."""
    named = str(getattr(kind, "raw_type", ""))
    if "BIGNUM" in named or "VARINT" in named:
        return pa.string()
    is_huge = "UINT128" in named or "UHUGEINT" in named or (kind.is_decimal() and kind.scale == 0)
    return pa.decimal256(76, 0) if is_huge else None


def _from_pandas(data: Any, choose: _Choose) -> list[FrameColumn]:  # noqa: ANN401 — pandas needn't be installed
    """The columns of a pandas table; its index is dropped."""
    places = choose(list(data.columns))
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(lambda place: _series(str(data.columns[place]), data.iloc[:, place]), places))


def _series(name: str, column: Any) -> FrameColumn:  # noqa: ANN401 — as above
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
                return FrameColumn(name, [], pa.opaque(pa.null(), str(dtype), "pandas"))
        else:
            return FrameColumn(name, made.chunks if isinstance(made, pa.ChunkedArray) else [made], made.type)
    return _objects(name, column)


def _objects(name: str, values: Any) -> FrameColumn:  # noqa: ANN401 — anything iterable
    """A column of Python objects, each read by itself: what one is never changes how another is read."""
    cells, wrong = as_texts(values)
    made, mended = texts(cells)
    spoken = all(isinstance(each, str) or text is None for each, text in zip(values, cells, strict=True))
    return FrameColumn(name, [made], pa.string(), untyped=True, spoken=spoken, wrong=wrong + mended)


def _from_polars(data: Any, choose: _Choose) -> list[FrameColumn]:  # noqa: ANN401 — Polars needn't be installed
    """The columns of a Polars table, lazy or not.

    Raises:
        SourceUnsupported: a lazy one can't be worked out. Polars' own message may quote a value.
    """
    import polars as pl

    if isinstance(data, pl.Series):
        data = data.to_frame()
    try:
        names = data.collect_schema().names()
        data = data.select([names[place] for place in choose(names)])
        data = data.collect() if isinstance(data, pl.LazyFrame) else data
    except pl.exceptions.PolarsError:
        data = None
    if data is None:
        raise SourceUnsupported("the Polars query fails", hint="collect() shows why")
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(_polars_series, data.get_columns()))


def _polars_series(column: Any) -> FrameColumn:  # noqa: ANN401 — Polars needn't be installed
    """A column of a Polars table. Whole numbers of 128 bits are decimals, as Arrow has none: of 38 digits at most."""
    import polars as pl

    wrong = 0
    if str(column.dtype) in ("Int128", "UInt128"):
        missing = column.null_count()
        column = column.cast(pl.Decimal(38, 0), strict=False)
        wrong = column.null_count() - missing
    if isinstance(column.dtype, pl.Categorical | pl.Enum) and len(column):
        return _polars_categories(column)
    try:
        made = column.to_frame().to_arrow(compat_level=pl.CompatLevel.oldest()).column(0)
        is_known = is_delivered(delivered(made.type))
    except (pa.ArrowException, pl.exceptions.PolarsError):
        return FrameColumn(column.name, [], pa.opaque(pa.null(), str(column.dtype), "polars"))
    return FrameColumn(column.name, made.chunks if is_known else [], made.type, wrong=wrong)


def _polars_categories(column: Any) -> FrameColumn:  # noqa: ANN401 — as above
    """A column of categories, chunk by chunk as it is held: to have Polars convert them costs four times more."""
    import polars as pl

    oldest = pl.CompatLevel.oldest()
    places = column.to_physical().to_frame().to_arrow(compat_level=oldest).column(0)
    values = column.gather(_examples(places)).cast(pl.String).to_arrow(compat_level=oldest)
    chunks = [pa.DictionaryArray.from_arrays(chunk, values, safe=False) for chunk in places.chunks]
    return FrameColumn(column.name, chunks, chunks[0].type)


def _examples(codes: pa.ChunkedArray) -> NDArray[np.int64]:
    """A row for each code up to the greatest; the first row for a code that no row has.

    Rows are looked at in parts, until each code from the least to the greatest is found: the first part has nearly
    always all of them. Polars numbers the categories of all columns together, so those below the least are others'.
    """
    least, greatest = pc.min_max(codes).as_py().values()
    if greatest is None:
        return np.zeros(0, dtype=np.int64)
    example = np.full(greatest + 1, -1, dtype=np.int64)
    for start in range(0, len(codes), _PART):
        part = codes.slice(start, _PART)
        example[np.asarray(part.drop_null())] = np.flatnonzero(part.is_valid()) + start
        if (example[least:] >= 0).all():
            break
    return np.maximum(example, 0)
