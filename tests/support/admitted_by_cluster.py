"""Admission by Sail's tasks, beside one machine's."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from discreet.engine.spark.admission import admit_by_cluster
from discreet.tables import Kind, Table, owner_of
from discreet.tables.admission import Snapshot, admit
from discreet.tables.schema.spark import SparkConnect
from support.unit_parts import Shape, columns_of, owned, rows_for, write, wrong_in


def new_folder(parent: Path) -> Path:
    """An empty folder."""
    made = parent / f"snapshot-{sum(1 for _ in parent.iterdir())}"
    made.mkdir()
    return made


def by_cluster(tables: Sequence[Table], parent: Path, *, number: int | None = 4, tasks: int = 2) -> Snapshot:
    """A snapshot that Sail's tasks wrote; nothing else is in its folder."""
    folder = new_folder(parent)
    found = admit_by_cluster(tables, folder, SparkConnect(remote="local", tasks=tasks), among=tables, parts=number)
    assert found is not None
    assert {each.name for each in folder.iterdir()} == {file for held in found.tables.values() for file in held.files}
    assert all(not each.stat().st_mode & 0o077 for each in folder.iterdir())
    assert not found.damaged()
    return found


def written_for(shape: Shape, kind: Kind, folder: Path, most: int = 90) -> tuple[list[Table], Mapping[str, Any]]:
    """Tables of a shape, in their files, and their rows."""
    rng = random.Random(f"{shape.__name__} {kind}")  # noqa: S311 — rows for tests
    tables = shape(folder, kind)
    rows = {}
    for made in tables:
        rows[made.name] = [*rows_for(made, rng, most // 2), *rows_for(made, rng, most // 2), *rows_for(made, rng, most)]
        write(made, rows[made.name])
    return tables, rows


def check_alike(
    tables: Sequence[Table], rows: Mapping[str, Sequence[Any]], kind: Kind, parent: Path, *, number: int
) -> None:
    """Have a cluster and one machine admit tables: their rows lie in the same parts, and are noted and reported alike.

    Args:
        tables: as declared.
        rows: of each, by its name.
        kind: of the ids.
        parent: of the snapshots.
        number: of parts.
    """
    there, here = by_cluster(tables, parent, number=number), admit(tables, {}, new_folder(parent), parts=number)
    assert list(there.report) == [made.name for made in tables]
    for made in tables:
        held, owner = there.tables[made.name], owner_of(made, tables)
        assert owner is not None
        assert held.notes is not None
        files, others = ([pq.read_table(file) for file in each.files(made)] for each in (there, here))
        assert wrong_in(held, files, made, owned(tables, rows, made), kind) == set()
        assert len(files) == number
        assert {tuple(file.column_names) for file in files} == {
            tuple(columns_of(made, owner, repeats=held.notes.repeats))
        }
        assert [file.schema.types for file in files] == [file.schema.types for file in others]
        assert replace(held, digest="") == replace(here.tables[made.name], digest="")
        assert there.report[made.name] == here.report[made.name]
        for file, other in zip(files, others, strict=True):  # all but the order of rows of one unit
            assert Counter(map(repr, file.to_pylist())) == Counter(map(repr, other.to_pylist()))


def held_rows(snapshot: Snapshot, made: Table) -> list[str]:
    """All rows of a table with what is noted beside them, in an order of their own."""
    return sorted(repr(row) for file in snapshot.files(made) for row in pq.read_table(file).to_pylist())
