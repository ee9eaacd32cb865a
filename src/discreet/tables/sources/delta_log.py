"""The log of a Delta table: which version there is, and which files hold its rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa

from discreet.errors import ExtraMissing, SourceMissing, SourceUnsupported
from discreet.tables.schema.delta_folder import is_delta_folder

T = TypeVar("T")

_MAPPING, _VECTORS = "columnMapping", "deletionVectors"
_UNDERSTOOD = frozenset(
    {_MAPPING, _VECTORS, "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck"}
)
"""Reader features by whose rules rows are read here, or which concern the log alone, as the library reads it."""
_UNTOLD = frozenset({"typeWidening", "typeWidening-preview", "vacuumProtocolCheck"})
"""Features beside which the library may not say which rows were deleted."""
_MOST_READER_VERSION = 3
_MAPPING_READER_VERSION = 2
"""The version by which column mapping is told, where features aren't listed yet."""
_PHYSICAL_NAME = b"delta.columnMapping.physicalName"
_FEATURE = re.compile(r"Kernel error: Unsupported: Feature '(\w+)' is not supported")
"""How the library says that it doesn't know a feature, from the beginning on, where no value can stand."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""What a path begins with that is an address; the folder of a partition has an equals sign before any colon."""


@dataclass(frozen=True, slots=True)
class DeltaColumn:
    """A column, as the log describes it.

    Args:
        name: of the column.
        written: its name in the files, which a renamed column keeps.
        type: of its values.
        required: whether the log says that none is NULL.
    """

    name: str
    written: str
    type: pa.DataType
    required: bool


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """A file that holds rows of a version.

    Args:
        path: of the file.
        size: in bytes, as the log has it.
        values: of the columns of partitions, by name: an array of one value each.
        kept: of each of its rows, whether it still is one; None if all are.
    """

    path: str
    size: int
    values: Mapping[str, pa.Array] = field(default_factory=dict)
    kept: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class DeltaVersion:
    """A version of a table.

    Args:
        table: the id of the table, which another in its place doesn't have.
        number: of the version.
        columns: in order, with those of partitions.
        partitions: the names of columns whose values stand in the log.
        files: in the order of their paths.
    """

    table: str
    number: int
    columns: tuple[DeltaColumn, ...] = ()
    partitions: frozenset[str] = frozenset()
    files: tuple[DeltaFile, ...] = ()


def newest_version(location: str) -> DeltaVersion:
    """The newest version of a table.

    Raises:
        ExtraMissing: deltalake isn't installed.
        SourceMissing: there is no table.
        SourceUnsupported: its log is damaged, or needs more of a reader than this one can.
    """
    folder = _folder(location)
    opened = _asked(location, lambda: _opened(folder))
    protocol, metadata = opened.protocol(), opened.metadata()
    features = frozenset(protocol.reader_features or ())
    mapping = metadata.configuration.get("delta.columnMapping.mode") or "none"
    _check_protocol(location, protocol.min_reader_version, features, mapping)
    schema = _asked(location, lambda: pa.schema(opened.schema().to_arrow()))
    actions = _asked(location, lambda: pa.table(opened.get_add_actions()))
    kept = _kept(opened, location, features)
    columns = tuple(_column(each, mapped=mapping == "name") for each in schema)
    partitions = frozenset(metadata.partition_columns)
    return DeltaVersion(
        table=metadata.id,
        number=opened.version(),
        columns=columns,
        partitions=partitions,
        files=tuple(_files(actions, partitions, kept, folder, location)),
    )


def is_newest(location: str, version: DeltaVersion) -> bool:
    """Whether a version is still the newest of the same table."""
    try:
        folder = _folder(location)
        opened = _asked(location, lambda: _opened(folder))
    except (SourceMissing, SourceUnsupported):
        return False
    return (opened.metadata().id, opened.version()) == (version.table, version.number)


def _opened(folder: str) -> Any:  # noqa: ANN401 — deltalake needn't be installed
    """What the library makes of a table."""
    import deltalake

    return deltalake.DeltaTable(folder)


def _folder(location: str) -> str:
    """The folder of a table, as the library finds it.

    Raises:
        ExtraMissing: deltalake isn't installed.
        SourceMissing: there is no such table.
        SourceUnsupported: it is on another machine; or the library would take its path for another.
    """
    try:
        import deltalake  # noqa: F401 — said before anything else: without it, nothing else can be done
    except ImportError:
        raise ExtraMissing("Delta tables need deltalake", hint="pip install 'discreet[delta]'") from None
    if not is_delta_folder(location):
        raise SourceMissing(
            f"there is no Delta table {location!r}",
            hint="name the folder in which _delta_log is; it is relative to the current folder",
        )
    folder = os.path.realpath(location)
    if unquote(folder) != folder:
        raise SourceUnsupported(
            f"deltalake takes the % in the path of {location!r} for an escaped character",
            hint="rename the folder",
        )
    return folder


def _asked(location: str, work: Callable[[], T]) -> T:
    """What the library says; if it fails, that it does, without its words: they may quote a value of a partition.

    A panic of the library isn't an `Exception`.
    """
    try:
        return work()
    except Exception as error:  # noqa: BLE001 — it has errors of many types, and nothing but the library runs in here
        feature = _FEATURE.match(str(error))
        problem = _not_understood(location, feature[1]) if feature else _damaged(location)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        problem = SourceUnsupported(
            f"deltalake breaks off over the Delta table {location!r}",
            hint="if this process was forked, start it by spawn or forkserver",
        )
    raise problem


def _damaged(location: str) -> SourceUnsupported:
    """The error for a log that says nothing, or what can't be."""
    return SourceUnsupported(
        f"the log of the Delta table {location!r} can't be read",
        hint="it is damaged, was changed meanwhile, or needs what deltalake doesn't know; DeltaTable(…) shows why",
    )


def _not_understood(location: str, needed: str) -> SourceUnsupported:
    """The error for a table that needs another reader."""
    return SourceUnsupported(
        f"the Delta table {location!r} needs a reader of {needed}",
        hint="drop the feature (ALTER TABLE … DROP FEATURE …), or write the rows to a table without it",
    )


def _check_protocol(location: str, least: int, features: frozenset[str], mapping: str) -> None:
    """Refuse a table that can't be read right.

    Raises:
        SourceUnsupported: it needs a feature of its readers that isn't understood, or it doesn't say that it needs it.
    """
    unknown = sorted(features - _UNDERSTOOD)
    if unknown or least > _MOST_READER_VERSION:
        raise _not_understood(location, ", ".join(unknown) or f"version {least} of the protocol")
    if mapping != "none" and _MAPPING not in features and least != _MAPPING_READER_VERSION:
        raise _damaged(location)  # readers differ in whether names are then those in files
    if mapping not in ("none", "name"):
        raise SourceUnsupported(
            f"the Delta table {location!r} finds its columns by their number in files (column mapping {mapping!r})",
            hint="write its rows to a table whose delta.columnMapping.mode is 'name', or that has none",
        )


def _column(found: pa.Field, *, mapped: bool) -> DeltaColumn:
    """A column of the schema."""
    physical = (found.metadata or {}).get(_PHYSICAL_NAME)
    written = physical.decode() if mapped and physical else found.name
    return DeltaColumn(found.name, written, found.type, required=not found.nullable)


def vectors_unreadable(location: str) -> SourceUnsupported:
    """The error for a table of which it can't be told which rows were deleted."""
    return SourceUnsupported(
        f"which rows of the Delta table {location!r} are deleted ({_VECTORS}) can't be read",
        hint="write the remaining rows anew: REORG TABLE … APPLY (PURGE)",
    )


def _kept(
    opened: Any,  # noqa: ANN401 — deltalake needn't be installed
    location: str,
    features: frozenset[str],
) -> dict[str, pa.Array]:
    """Of files in which rows were deleted, which ones were kept; by path. A log may have such without the feature."""
    found = None
    with suppress(SourceUnsupported):
        found = _asked(location, lambda: pa.table(opened.deletion_vectors()))
    if found is None:
        beside = sorted(features & _UNTOLD)
        if beside and _VECTORS not in features:
            return {}
        if beside:
            raise _not_understood(location, f"{_VECTORS} beside {', '.join(beside)}")
        raise vectors_unreadable(location)
    paths, vectors = found.column("filepath").to_pylist(), found.column("selection_vector")
    return {unquote(path.removeprefix("file://")): vectors[place].values for place, path in enumerate(paths)}


def _files(
    actions: pa.Table, partitions: frozenset[str], kept: Mapping[str, pa.Array], folder: str, location: str
) -> Iterator[DeltaFile]:
    """The files of a version.

    Raises:
        SourceUnsupported: one lies elsewhere, is there twice, or its deleted rows can't be told.
    """
    values = actions.column("partition").combine_chunks() if partitions else None
    left, seen = dict(kept), set[str]()
    for place, (written, size) in sorted(
        enumerate(zip(actions.column("path").to_pylist(), actions.column("size_bytes").to_pylist(), strict=True)),
        key=lambda each: each[1],
    ):
        path = unquote(written)
        if Path(path).is_absolute() or _SCHEME.match(written) or ".." in Path(path).parts:
            raise SourceUnsupported(
                f"files of the Delta table {location!r} lie outside of its folder, as a shallow clone's do",
                hint="name the table that it was cloned from, or make a deep clone",
            )
        full = str(Path(folder) / path)
        if full in seen or "\0" in full:  # a path may be spelled in several ways
            raise _damaged(location)
        seen.add(full)
        own = {} if values is None else {name: values.field(name).slice(place, 1) for name in partitions}
        yield DeltaFile(full, size, own, left.pop(full, None))
    if left:
        raise vectors_unreadable(location)
