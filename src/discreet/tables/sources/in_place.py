"""Parquet files in place, which questions read where they lie: that they are what was admitted, and say what is so.

Which files they are is noted, and seen that they still are those that were admitted. A file's identity is its device,
its inode, its size, the times of its last change and its footer. Whoever writes to it moves the time of change
(`ctime`), which no program can set back: also where size and time of modification stay as they were, and whichever of
its names was used. Another file in its place has another inode.

Through a mapping, only the first write to a page that is on the disk moves it. So all of a file is put on the disk
before its identity is taken. A tmpfs has no such moment, and doesn't notice writes through a mapping.

Engines believe footers: they skip parts in which no value can pass a filter. A footer that is wrong about a part would
leave rows out of some questions, and whether it is may depend on one person's value. So what a footer says is compared
with all of the file's values.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import SnapshotChanged, SourceMissing, SourceUnsupported
from discreet.tables.schema.column import Kind
from discreet.tables.sources.files import OpenFile, parts_of

if TYPE_CHECKING:
    import pyarrow as pa

MOST_FILES = 100
"""Of one table: all are open while a question runs."""

_FINE, _COARSE = 50_000_000, 2_500_000_000
"""Nanoseconds after which a clock has moved on: one that ticks at each of a kernel's interrupts, and one of FAT."""
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """A file that was admitted where it lies.

    Args:
        path: of the file, absolute.
        identity: which file it was, in one text.
    """

    path: str
    identity: str


def places_of(location: str) -> tuple[Place, ...]:
    """The files of a Parquet source, as they are from now on: any later change of one changes its identity.

    A clock may tick slower than a writer writes. So where a file was changed just now, its identity is taken a moment
    later: a change after that has another time.

    Raises:
        SourceMissing: there are none.
        SourceUnsupported: one can't be opened, or was changed at a time that is still to come; there are too many; or
            the system has no names for open files, so that another could take the place of one that is being read.
    """
    parts = parts_of(location)
    if len(parts) > MOST_FILES:
        raise SourceUnsupported(
            f"{location!r} has {len(parts):,} files, and a table in place has at most {MOST_FILES}",
            hint="write fewer and larger ones, or admit it as a copy: leave in_place out",
        )
    return tuple(_place(str(Path(part.path).absolute())) for part in parts)


@contextmanager
def held_open(places: Sequence[Place]) -> Iterator[tuple[Place, ...]]:
    """The same files, open, under names that lead to nothing else; each is what it was, before and afterwards.

    Raises:
        SnapshotChanged: one isn't, or isn't there.
    """
    with ExitStack() as files:
        opened = [files.enter_context(_opened(place.path)) for place in places]
        _check(opened, places)
        yield tuple(Place(file.path, place.identity) for file, place in zip(opened, places, strict=True))
        _check(opened, places)


def check_places(places: Sequence[Place]) -> None:
    """Refuse files that aren't what they were.

    Raises:
        SnapshotChanged: one isn't, or isn't there.
    """
    for place in places:
        with _opened(place.path) as file:
            _check([file], [place])


def _place(path: str) -> Place:
    """A file, once the clock has left the moment of its last change."""
    with OpenFile(path) as file:
        if file.path == path:
            raise SourceUnsupported(
                f"{path!r} can't be read in place on this system: an open file has no name of its own here",
                hint="admit it as a copy: leave in_place out",
            )
        file.write_out()
        changed = file.changed_at()
        wait = changed + (_FINE if changed % _SECOND else _COARSE) - time.time_ns()
        if wait > _COARSE:
            raise SourceUnsupported(
                f"{path!r} was changed at a time that is still to come", hint="set the clock, or write the file anew"
            )
        time.sleep(max(0, wait) / _SECOND)
        return Place(path, file.identity())


def _opened(path: str) -> OpenFile:
    """A file of before."""
    try:
        return OpenFile(path)
    except (SourceMissing, SourceUnsupported):
        pass
    raise SnapshotChanged


def _check(files: Sequence[OpenFile], places: Sequence[Place]) -> None:
    """Refuse open files that aren't what they were."""
    if any(file.identity() != place.identity for file, place in zip(files, places, strict=True)):
        raise SnapshotChanged


# ── What footers say ─────────────────────────────────────────────────────────────────────────────────────────────────

_STORED = {
    ("BOOLEAN", "None"): Kind.BOOLEAN,
    ("INT64", "None"): Kind.INTEGER,
    ("DOUBLE", "None"): Kind.REAL,
    ("BYTE_ARRAY", "String"): Kind.TEXT,
    ("INT32", "Date"): Kind.DATE,
}
"""Kinds by physical and logical type, where the latter says no more than its name."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a footer says of a column in one row group.

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
            f"the file {location!r} isn't Parquet, is damaged or is encrypted", hint="write it anew"
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
    """What is said of a row group."""
    chunks = [described.column(number) for number in range(described.num_columns)]
    return RowGroup(described.num_rows, {chunk.path_in_schema: _of_chunk(chunk.statistics) for chunk in chunks})


def _of_chunk(statistics: Any) -> Said:  # noqa: ANN401 — as above
    """What is said of a column in a row group."""
    if statistics is None:
        return Said()
    missing = statistics.null_count if statistics.has_null_count else None
    if not statistics.has_min_max:
        return Said(missing=missing)
    return Said(statistics.min_raw, statistics.max_raw, missing)


def _said(array: pa.Array) -> Said:
    """What a footer should say of values."""
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
    """What a footer should say of two parts."""
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
