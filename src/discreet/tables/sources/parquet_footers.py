"""Footers of Parquet files: what they say of each row group, compared with all of the file's values.

Engines believe footers: they skip parts in which no value can pass a filter. A footer that is wrong about a part would
leave rows out of some questions, and whether it is may depend on one person's value.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import SourceUnsupported
from discreet.tables.schema.column import Kind

if TYPE_CHECKING:
    import pyarrow as pa

_STORED = {
    ("BOOLEAN", "None"): Kind.BOOLEAN,
    ("INT64", "None"): Kind.INTEGER,
    ("DOUBLE", "None"): Kind.REAL,
    ("BYTE_ARRAY", "String"): Kind.TEXT,
    ("INT32", "Date"): Kind.DATE,
}
"""Kinds by physical and logical type, if the latter is no more than a name."""


@dataclass(frozen=True, slots=True)
class Said:
    """A footer's statistics of a column in one row group.

    Args:
        least: no value is less, as the file stores it; None where nothing is said. So for the others.
        most: no value is greater.
        missing: how many are NULL.
    """

    least: Any = None
    most: Any = None
    missing: int | None = None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A part of a file.

    Args:
        rows: how many it has.
        said: of its columns, by the names in the file.
    """

    rows: int
    said: Mapping[str, Said]


@dataclass(frozen=True, slots=True)
class Footer:
    """The footer of one file.

    Args:
        kinds: of the columns whose values are stored as those of snapshots are, by their names in the file.
        groups: in the file's order.
    """

    kinds: Mapping[str, Kind]
    groups: Sequence[RowGroup]


def footer_of(path: str, location: str) -> Footer:
    """The footer of a file.

    Args:
        path: of the file.
        location: what to call it in an error.

    Raises:
        SourceUnsupported: it can't be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = None
    with suppress(pa.ArrowException, OSError, ValueError, OverflowError, MemoryError), pq.ParquetFile(path) as file:
        leaves = [file.schema.column(number) for number in range(len(file.schema))]
        paths = Counter(leaf.path for leaf in leaves)  # a column "a.b" has the one of the "b" within a column "a"
        kinds = {leaf.path: kind for leaf in leaves if paths[leaf.path] == 1 and (kind := _kind(leaf)) is not None}
        groups = [_group(file.metadata.row_group(number)) for number in range(file.num_row_groups)]
        found = Footer(kinds, groups)
    if found is None:
        raise SourceUnsupported(
            f"the file {location!r} isn't Parquet, is damaged or is encrypted", hint="write it again"
        )
    return found


def wrong_groups(
    groups: Iterable[RowGroup], batches: Iterable[pa.RecordBatch], names: Mapping[str, str]
) -> tuple[Mapping[str, int], int]:
    """In how many row groups a column's values aren't what the footers say, by column; and how many rows there are.

    Args:
        groups: of all files, in order.
        batches: of all rows, in the same order; none has rows of two groups.
        names: of the columns in the footers, by their names in the batches.
    """
    wrong, rows, following = Counter[str](), 0, iter(batches)
    for group in groups:
        found = {name: Said(missing=0) for name in names}
        left = group.rows
        while left > 0 and (batch := next(following, None)) is not None:
            for name in names:
                found[name] = _together(found[name], _said(batch.column(name)))
            left -= batch.num_rows
            rows += batch.num_rows
        for name, written in names.items():
            wrong[name] += left != 0 or not _fits(found[name], group.said.get(written, Said()))
    rows += sum(batch.num_rows for batch in following)
    return wrong, rows


def _kind(leaf: Any) -> Kind | None:  # noqa: ANN401 — PyArrow has no type stubs
    """The kind of values that a column is stored as; None if snapshots store no values so."""
    if leaf.max_repetition_level or leaf.path != leaf.name:
        return None
    logical = json.loads(leaf.logical_type.to_json())
    name = logical["Type"]
    if (leaf.physical_type, name) == ("INT64", "Int"):
        return Kind.INTEGER if (logical["bitWidth"], logical["isSigned"]) == (64, True) else None
    if (leaf.physical_type, name) == ("INT64", "Timestamp"):
        is_wall_time = not logical["isAdjustedToUTC"] and logical["timeUnit"] == "microseconds"
        return Kind.TIMESTAMP if is_wall_time else None
    return _STORED.get((leaf.physical_type, name))


def _group(described: Any) -> RowGroup:  # noqa: ANN401 — as above
    """The footer's statistics of a row group."""
    chunks = [described.column(number) for number in range(described.num_columns)]
    return RowGroup(described.num_rows, {chunk.path_in_schema: _of_chunk(chunk.statistics) for chunk in chunks})


def _of_chunk(statistics: Any) -> Said:  # noqa: ANN401 — as above
    """The footer's statistics of a column in a row group."""
    if statistics is None:
        return Said()
    missing = statistics.null_count if statistics.has_null_count else None
    if not statistics.has_min_max:
        return Said(missing=missing)
    return Said(statistics.min_raw, statistics.max_raw, missing)


def _said(array: pa.Array) -> Said:
    """The statistics that a footer should have of values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = array.null_count
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, pc.unique(array.indices))
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    elif pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_string(array.type):
        array = array.cast(pa.binary())
    ends = pc.min_max(array).as_py()
    return Said(ends["min"], ends["max"], missing)


def _together(one: Said, other: Said) -> Said:
    """The statistics that a footer should have of two parts together."""
    least = [each.least for each in (one, other) if each.least is not None]
    most = [each.most for each in (one, other) if each.most is not None]
    return Said(min(least, default=None), max(most, default=None), (one.missing or 0) + (other.missing or 0))


def _fits(found: Said, said: Said) -> bool:
    """Whether what a footer says is true; ends may lie farther out, as those of long texts do."""
    if said.missing not in (None, found.missing):
        return False
    if said.least is None or found.least is None:
        return True
    return bool(said.least <= found.least and found.most <= said.most)
