"""Delta tables, written by hand: also such as deltalake itself doesn't write."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from pyarrow import parquet

from discreet.tables import Source, Table

Action = dict[str, Any]
"""A line of a log."""

_NAMES = {
    "int8": "byte", "int16": "short", "int32": "integer", "int64": "long", "float": "float", "double": "double",
    "bool": "boolean", "date32[day]": "date", "null": "void", "binary": "binary",
}  # fmt: skip


def called(kind: pa.DataType) -> Any:
    """A type of Arrow, as a log names it."""
    if pa.types.is_dictionary(kind):
        return called(kind.value_type)
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_list(kind):
        return {"type": "array", "elementType": called(kind.value_type), "containsNull": True}
    return _NAMES.get(str(kind), "string")


def protocol(*features: str, least: int = 3) -> Action:
    """The features that readers need."""
    if least < 3:
        return {"protocol": {"minReaderVersion": least, "minWriterVersion": 5}}
    listed = {"readerFeatures": list(features), "writerFeatures": list(features)}
    return {"protocol": {"minReaderVersion": least, "minWriterVersion": 7, **listed}}


def column(name: str, kind: pa.DataType, *, nullable: bool = True, physical: str = "", number: int = 1) -> Action:
    """A column of a schema; if it is called otherwise in the files, with that name."""
    mapping = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical} if physical else {}
    return {"name": name, "type": called(kind), "nullable": nullable, "metadata": mapping}


def metadata(columns: Sequence[Action], partitions: Sequence[str] = (), **configuration: str) -> Action:
    """The schema; options of the table have `_` for points in their names."""
    return {
        "metaData": {
            "id": "5f1c0a8e-0000-4000-8000-000000000000",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": list(columns)}),
            "partitionColumns": list(partitions),
            "configuration": {name.replace("_", "."): said for name, said in configuration.items()},
            "createdTime": 0,
        }
    }


def data(
    folder: Path,
    name: str,
    table: pa.Table,
    values: Mapping[str, str | None] | None = None,
    deleted: Sequence[int] = (),
    **how: Any,
) -> Action:
    """A file of these rows, and the line that adds it.

    Args:
        folder: of the table.
        name: of the file.
        table: its rows.
        values: of the columns of partitions.
        deleted: the places of rows that are deleted.
        how: it is written.
    """
    folder.mkdir(exist_ok=True)
    parquet.write_table(table, folder / name, **how)
    vector = {"deletionVector": _vector(deleted)} if deleted else {}
    return {
        "add": {
            "path": name,
            "partitionValues": dict(values or {}),
            "size": (folder / name).stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
            "stats": json.dumps({"numRecords": table.num_rows}),
            **vector,
        }
    }


def commit(folder: Path, *actions: Action, version: int = 0) -> Path:
    """A version of the table in this folder."""
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)), encoding="utf-8")
    return folder


def as_delta(made: Table, row_group_size: int = 20) -> Table:
    """A table of Parquet as one of Delta with the same rows, in two files.

    Others in these are deleted, and all of a third file. A fourth has none.
    """
    rows = parquet.read_table(made.source.location)
    folder, half = Path(made.source.location).with_suffix(""), rows.num_rows // 2
    files, wrong = [], rows.take(pa.array(range(rows.num_rows), pa.int64())[::-1])
    for number, (some, others) in enumerate(
        ((rows[:half], wrong[:half]), (rows[half:], wrong[half:]), (rows[:0], rows), (rows[:0], rows[:0]))
    ):
        order = sorted(range(some.num_rows + others.num_rows), key=lambda place: (place * 7919 + number) % 1_009)
        deleted = [place for place, each in enumerate(order) if each >= some.num_rows]
        mixed = pa.concat_tables([some, others]).take(pa.array(order, pa.int64()))
        files.append(data(folder, f"{number}.parquet", mixed, deleted=deleted, row_group_size=row_group_size))
    columns = [column(each.name, each.type) for each in rows.schema]
    commit(folder, protocol("deletionVectors", "timestampNtz"), metadata(columns), *files)
    return replace(made, source=Source(kind="delta", location=str(folder)))


def judged(folder: Path) -> pa.Table:
    """The rows, as DataFusion reads them."""
    return pa.table(QueryBuilder().register("t", DeltaTable(folder)).execute("SELECT * FROM t"))


_BITMAPS, _BITMAP = 1681511377, 12346
"""The signs of several bitmaps in one, and of one that has no runs."""


def _vector(rows: Sequence[int]) -> Action:
    """A deletion vector within the log: the places as a Roaring bitmap."""
    lows = b"".join(struct.pack("<H", row) for row in sorted(rows))
    bitmap = struct.pack("<IIHHI", _BITMAP, 1, 0, len(rows) - 1, 16) + lows
    raw = struct.pack("<IQI", _BITMAPS, 1, 0) + bitmap
    padded = raw + bytes(-len(raw) % 4)
    return {
        "storageType": "i",
        "pathOrInlineDv": _z85(padded),
        "sizeInBytes": len(raw),
        "cardinality": len(rows),
    }


_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def _z85(raw: bytes) -> str:
    """Bytes as ZeroMQ's text, which is the standard library's with other signs."""
    return base64.b85encode(raw).decode().translate(str.maketrans(_B85, _Z85))
