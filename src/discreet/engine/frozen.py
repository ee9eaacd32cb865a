"""Tables in memory, copied so that nobody can change them under a question."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from typing import Any

from discreet.errors import SourceMissing, SourceUnsupported


@dataclass(frozen=True, slots=True, repr=False)
class Frozen:
    """A private Arrow table that shares no memory with the one it was made of.

    Args:
        table: the copy, a `pyarrow.Table`.
        fingerprint: a digest of its schema and buffers. Private: it is a function of the rows alone.
    """

    table: Any
    fingerprint: str


def freeze(data: object) -> Frozen:
    """Copy a pandas, Polars or Arrow table, or what an Ibis table on DuckDB yields now.

    Guarantee: the copy is valid Arrow data throughout (text is UTF-8, offsets lie inside their buffers), so no row
    can make the engine fail on it. What is wrong with a table is said without quoting it.

    Raises:
        SourceMissing: there is no table.
        SourceUnsupported: it isn't such a table, or Arrow can't hold it.
    """
    if data is None:
        raise SourceMissing("a source in memory needs its table", hint="hand the table over together with its source")
    import duckdb
    import pyarrow as pa

    try:
        frozen = _copy(_to_arrow(data).replace_schema_metadata(None))
    except (pa.ArrowException, duckdb.Error, TypeError, ValueError, OverflowError, AttributeError):
        frozen = None  # the cause may quote a cell, so nothing of it is passed on
    if frozen is None:
        raise SourceUnsupported(
            f"the {type(data).__name__} can't be read as a table",
            hint="each column needs one type, and text must be valid UTF-8",
        )
    return frozen


def _to_arrow(data: Any) -> Any:  # noqa: ANN401 — whatever library it comes from
    """The table as Arrow sees it; it may still share memory with the original."""
    import pyarrow as pa

    library = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if library == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    if library == "polars":
        return (data.collect() if hasattr(data, "collect") else data).to_arrow()
    if library == "ibis":
        return _from_ibis(data)
    if isinstance(data, pa.Table):
        return data
    raise TypeError


def _from_ibis(data: Any) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """The rows of an Ibis table. Other engines than DuckDB would have to be asked in place, not copied from."""
    from ibis.common.exceptions import IbisError

    try:
        backend = data.get_backend()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Ibis calls what DuckDB has given another name since
            rows = data.to_pyarrow() if backend.name == "duckdb" else None
    except IbisError:
        rows = None
    if rows is None:
        raise TypeError
    return rows


def _copy(table: Any) -> Frozen:  # noqa: ANN401 — a pyarrow.Table, which has no type stubs
    """The table, written out and read back: contiguous, checked, and digested on the way."""
    import pyarrow as pa

    names = [name.casefold() for name in table.column_names]
    if len(set(names)) < len(names):
        raise ValueError
    table.validate(full=True)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    buffer = sink.getvalue()
    return Frozen(pa.ipc.open_stream(buffer).read_all(), hashlib.sha256(buffer).hexdigest())
