"""A table, and a question of each shape: what engines do differently for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.privacy import Limits, Unit
from discreet.query.ir import DistinctValues, Histogram, Units
from discreet.tables import Source, Table
from discreet.tables.admission import Snapshot, admit, parts
from support.questions import KINDS, SCHEMA, column, count, declared, exact, key, total

TABLE = Table(
    name="t",
    source=Source(kind="memory", location="t"),
    columns=tuple(declared(name) for name in KINDS),
    unit=Unit("id"),
    limits=Limits(groups=3, rows_per_group=2),
)
ROWS = pa.Table.from_pylist(
    [
        {"id": row % 97, "who": f"p{row % 11}", "g": f"g{row % 7}", "h": row % 5, "x": row, "y": row / 8}
        for row in range(900)
    ],
    schema=SCHEMA,
)
QUESTIONS = {
    "one group": exact(TABLE, [count(), total("s", column("x"), lo=-5, hi=400), Units(name="u")]),
    "public groups": exact(
        TABLE, [count(), total("s", column("y"), grid=-3, lo=0, hi=500)], keys=[key("g", ["g1", "g2", "no"])]
    ),
    "private groups": exact(TABLE, [count(), Units(name="u")], keys=[key("who"), key("h")]),
    "different values": exact(TABLE, [DistinctValues(name="d", value=column("who")), count()], keys=[key("g")]),
    "values in one group": exact(TABLE, [DistinctValues(name="d", value=column("x"))], limits=Limits(rows=4)),
    "a histogram": exact(
        TABLE, [Histogram(name="b", value=column("h"), values=tuple(range(4)), size=4, grid=-5)], keys=[key("g")]
    ),
}


def admitted_in_parts(folder: Path, number: int) -> Snapshot:
    """The table, admitted into so many files by unit.

    Args:
        folder: where they are.
        number: of files.
    """
    parquet.write_table(ROWS, folder / "source.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "number_of_parts", lambda _: number)
        snapshot = admit([replace(TABLE, source=Source.of(folder / "source.parquet"))], {}, folder)
    assert len(snapshot.tables["t"].files) == number
    return snapshot
