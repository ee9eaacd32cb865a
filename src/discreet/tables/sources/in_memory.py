"""Tables in memory: shared with readers who use them at once, or copied so that nobody changes them meanwhile."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.sources.arrow import deliver, delivered, size_of, slices
from discreet.tables.sources.frames import MOST_BYTES_IN_MEMORY, FrameColumn, frame_columns
from discreet.tables.sources.reader import Field, OpenSource, is_delivered


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A column of a table in memory, in that table's own memory where that is possible.

    Args:
        field: what it holds. A column of Python objects is untyped, unless all of them are texts.
        values: of a type that is read as the field's, or as categories of it; None if no kind of column holds such.
        unreadable: values that became NULL.
    """

    field: Field
    values: pa.ChunkedArray | None
    unreadable: int = 0


def shared_columns(data: object, names: Sequence[str] | None = None) -> list[Shared]:
    """The columns of a table in memory, without a copy where its library has them as Arrow does.

    A lazy table is worked out for these columns alone. They have to be used before the table can be changed.

    Args:
        data: a pandas, Polars or Arrow table, or an Ibis table on DuckDB.
        names: of columns, without spaces around them; all if left out.

    Raises:
        SchemaMismatch: there is no such column.
        SourceUnsupported: it isn't such a table, its library can't work it out, or two columns have one name.

    Examples:
        >>> [column] = shared_columns(pa.table({"age": [34], "sex": ["F"]}), ["sex"])
        >>> column.field.name, column.values.to_pylist()
        ('sex', ['F'])
    """
    return [_shared(each) for each in frame_columns(data, "the table", names)]


def _shared(column: FrameColumn) -> Shared:
    """The column as it is handed out."""
    kind, chunks, wrong = delivered(column.kind), column.chunks, column.wrong
    untyped = (column.untyped and not column.spoken) or column.kind == pa.null()
    field = Field(name=column.name, type=kind, untyped=untyped, required=column.required)
    if not is_delivered(kind):
        return Shared(field=field, values=None)
    if isinstance(column.kind, pa.BaseExtensionType) or pa.types.is_run_end_encoded(column.kind):
        made = [deliver(chunk, kind) for chunk in chunks]
        chunks, wrong = [array for array, _ in made], sum(bad for _, bad in made)
        return Shared(field=field, values=pa.chunked_array(chunks, kind), unreadable=wrong)
    return Shared(field=field, values=pa.chunked_array(chunks, column.kind), unreadable=wrong)


class OpenFrame(OpenSource):
    """A copy of a pandas, Polars or Arrow table, or of what an Ibis table on DuckDB yields now.

    Guarantee: the copy is valid Arrow data. Columns of Python objects are read cell by cell, as texts.

    Raises:
        SourceMissing: there is no table.
        SourceUnsupported: it isn't such a table, is too large, or its library can't work it out.
    """

    def __init__(self, location: str, data: object) -> None:
        super().__init__(location)
        if data is None:
            raise SourceMissing(
                f"the source in memory {location!r} needs its table",
                hint="hand the table over together with its source",
            )
        columns = frame_columns(data, location)
        self._fields = tuple(
            Field(
                name=each.name,
                type=delivered(each.kind),
                untyped=each.untyped or each.kind == pa.null(),
                required=each.required,
            )
            for each in columns
        )
        self._wrong = Counter({each.name: each.wrong for each in columns if each.wrong})
        self._copies: dict[str, tuple[pa.ChunkedArray, int]] = {}
        digest = hashlib.sha256(repr(tuple(each.name for each in columns)).encode())
        size = 0
        for each in columns:
            if is_delivered(delivered(each.kind)):
                size += sum(map(size_of, each.chunks))
                if size > MOST_BYTES_IN_MEMORY:
                    raise SourceUnsupported(
                        f"the table in memory {location!r} has more than {MOST_BYTES_IN_MEMORY:,} bytes",
                        hint="write it to a Parquet file and name that",
                    )
                self._copies[each.name] = _copied(each, digest)
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


def _copied(column: FrameColumn, digest: Any) -> tuple[pa.ChunkedArray, int]:  # noqa: ANN401 — hashlib names no type
    """The column, written out and read back, so that no memory is shared; digested on the way."""
    into = delivered(column.kind)
    wrong = 0
    made: list[pa.Array] = []
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
