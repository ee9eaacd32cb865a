"""Payloads: what tasks found, as bytes that a cluster carries and never looks into.

Each is a table in Arrow's stream format, which says in its metadata what it is of. Integers that are added up are
decimals of 38 digits in it, which hold 126 bits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.adding_up import Found
from discreet.engine.duckdb.aggregation import Shape, of_values
from discreet.engine.duckdb.clauses import listed, numbered

if TYPE_CHECKING:
    import pyarrow as pa

_PLACE = b"discreet"


def packed(connection: Connection, shape: Shape, found: Found, buckets: int) -> Iterator[tuple[int, bytes]]:
    """What was found, as payloads with the numbers of their buckets.

    A group is in one bucket with all of its bins; a value of a group in one, whichever part has it.

    Args:
        connection: that knows what was found.
        shape: of the question.
        found: one relation of each.
        buckets: how many there are; 0 for one.
    """
    keys = numbered("k", shape.keys)
    for place, relation in enumerate((found.groups, *found.values, *found.histograms)):
        told_apart = [*keys, "value"] if 0 < place <= len(found.values) else keys
        bucket = f"hash({listed(told_apart)}) % {buckets}" if buckets and told_apart else "0"
        rows = connection.arrow(f"SELECT *, CAST({bucket} AS INTEGER) AS bucket FROM {relation} ORDER BY bucket")
        for number, own in _by_bucket(rows):
            yield number, _written(own, place)


def _by_bucket(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each bucket, which lie together."""
    import numpy as np

    numbers, starts = np.unique(rows["bucket"].to_numpy(), return_index=True)
    ends = [*starts, rows.num_rows][1:]
    for number, start, end in zip(numbers, starts, ends, strict=True):
        yield int(number), rows.slice(start, end - start)


def unpacked(connection: Connection, shape: Shape, payloads: Sequence[bytes]) -> Found:
    """What payloads hold, as one relation of each, readable by a connection.

    Args:
        connection: that is to read it.
        shape: of the question.
        payloads: of any number of tasks.
    """
    import pyarrow as pa

    tables: dict[int, list[pa.Table]] = {}
    for payload in payloads:
        with pa.ipc.open_stream(payload) as stream:
            tables.setdefault(int(stream.schema.metadata[_PLACE]), []).append(stream.read_all())
    for place, same in tables.items():
        connection.register(f"found{place}", pa.concat_tables(same))
    values, histograms = (len(list(of_values(shape, what))) for what in ("distinct", "histogram"))
    relations = [
        f"found{place}" if place in tables else _nothing(shape, tables, is_of_values=0 < place <= values)
        for place in range(1 + values + histograms)
    ]
    return Found.of(relations, values)


def _nothing(shape: Shape, tables: Collection[int], *, is_of_values: bool) -> str:
    """A relation of which no payload has a row; of whichever kinds its columns are elsewhere."""
    keys = numbered("k", shape.keys)
    others = (
        ["NULL AS value"]
        if is_of_values
        else ["NULL AS bin", "0 AS count", *(f"0 AS {each}" for each in numbered("m", len(shape.measures)))]
    )
    if not tables:
        return f"(SELECT {listed((f'NULL AS {key}' for key in keys), others)} WHERE false)"
    return f"(SELECT {listed(keys, others)} FROM found{min(tables)} WHERE false)"


def _written(rows: pa.Table, place: int) -> bytes:
    """A table without the column of buckets, in Arrow's stream format."""
    import pyarrow as pa

    named = rows.drop_columns(["bucket"]).replace_schema_metadata({_PLACE: str(place)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, named.schema) as writer:
        writer.write_table(named)
    written: bytes = sink.getvalue().to_pybytes()
    return written
