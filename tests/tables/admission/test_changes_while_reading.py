"""Changes while a source is read: one version is admitted, whole, or nothing is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from discreet.errors import (
    SourceUnsupported,
)
from discreet.privacy import Bounds, Limits, Unit
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import admit

COLUMNS = (
    Column(name="person", kind=Kind.TEXT),
    Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 45)),
)


def people(source: Source) -> Table:
    """The table of people."""
    limits = Limits(groups=1, rows_per_group=1)
    return Table(name="people", source=source, columns=COLUMNS, unit=Unit("person"), limits=limits)


def rows_of(value: int, count: int) -> pa.Table:
    """Rows that all hold one value, so that a mix of versions can be told."""
    return pa.table({"person": [str(number) for number in range(count)], "age": [value] * count})


def write(path: Path, value: int, count: int = 200_000) -> None:
    """A file of that version, in several batches."""
    if path.suffix == ".parquet":
        pq.write_table(rows_of(value, count), path, row_group_size=count // 4)
    elif path.suffix == ".csv":
        csv.write_csv(rows_of(value, count), path)
    else:
        path.unlink(missing_ok=True)
        with duckdb.connect(path) as connection:
            connection.register("rows", rows_of(value, count))
            connection.execute("CREATE TABLE people AS FROM rows")


def admitted_while(path: Path, meanwhile: Callable[[], object]) -> set[Any]:
    """The ages that are admitted, where something happens after the first rows."""
    table = people(Source.of(path))
    seen: list[int] = []

    def progress(_table: str, rows: int) -> None:
        """Let it happen, once."""
        if not seen:
            meanwhile()
        seen.append(rows)

    (held,) = admit([table], {}, None, progress=progress).tables.values()
    assert seen[-1] == 200_000
    return set(held.whole()["age"].to_pylist())


def test_a_replaced_file_is_read_to_its_end(tmp_path: Path) -> None:
    """A text file renamed over ours while it is read: the version that was opened is admitted, all of it."""
    path, other = tmp_path / "t.csv", tmp_path / "new.csv"
    write(path, 1)
    write(other, 2)
    assert admitted_while(path, lambda: other.replace(path)) == {1}
    assert admitted_while(path, lambda: None) == {2}


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".duckdb"])
def test_a_file_that_is_changed_while_it_is_read_is_refused(suffix: str, tmp_path: Path) -> None:
    """Rewritten in place, or touched; or replaced by another, where it is found by its name."""
    path, other = tmp_path / f"t{suffix}", tmp_path / f"new{suffix}"
    write(path, 1)
    write(other, 2)

    def touch() -> None:
        """Set another time of change."""
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))

    with pytest.raises(SourceUnsupported, match=r"changed|damaged"):
        admitted_while(path, touch)
    write(path, 1)
    with pytest.raises(SourceUnsupported, match=r"changed|damaged"):
        admitted_while(path, lambda: path.write_bytes(other.read_bytes()))
    write(path, 1)
    if suffix != ".csv":
        with pytest.raises(SourceUnsupported, match="changed"):
            admitted_while(path, lambda: other.replace(path))


def test_a_file_that_is_changed_while_others_are_read_is_refused(tmp_path: Path) -> None:
    """Tables of one version are of one time: what was read first is looked at again after the last."""
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    for path in (first, second):
        write(path, 1, count=4)
    tables = [replace(people(Source.of(path)), name=path.stem) for path in (first, second)]

    def progress(table: str, _rows: int) -> None:
        """Write to the first, once the second is read."""
        if table == "second":
            write(first, 2, count=4)

    with pytest.raises(SourceUnsupported, match=r"first\.parquet' was changed"):
        admit(tables, {}, None, progress=progress)
    assert set(admit(tables, {}, None).tables) == {"first", "second"}


def test_a_database_cannot_be_written_while_it_is_read(tmp_path: Path) -> None:
    """And what was written before is read, although it still lies in the database's log."""
    path = tmp_path / "t.duckdb"
    write(path, 1)
    with duckdb.connect(path, config={"checkpoint_threshold": "1GB"}) as connection:
        connection.execute("UPDATE people SET age = 2")

    def write_to_it() -> None:
        """What another process would try."""
        with pytest.raises(duckdb.Error):
            duckdb.connect(path)

    assert admitted_while(path, write_to_it) == {2}
