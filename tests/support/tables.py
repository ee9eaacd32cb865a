"""Tables that several test files ask."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import discreet as dp
from discreet.census import EDUCATION, synthetic


def synthetic_census(folder: Path) -> dp.Protected:
    """A thousand people of the synthetic census, declared as the documentation says; the ledger lies in `folder`."""
    return dp.protect(
        synthetic(1_000),
        name="census",
        unit=dp.Unit.row(),
        columns={
            "sex": dp.Keys(["Female", "Male"]),
            "education": dp.Keys(EDUCATION),
            "age": dp.Bounds(0, 125),
            "income": dp.Bounds(0, 500_000),
            "hours": dp.Bounds(0, 168),
        },
        budget=dp.Budget(epsilon=10, delta=1e-6),
        ledger=folder / "docs.ledger",
    )


VISITS: dict[str, dp.Bounds | dp.Keys | None] = {
    "region": dp.Keys(["north", "south", None]),
    "sex": dp.Keys(["Female", "Male"]),
    "day": dp.Keys([1, 2, 3, None]),
    "age": dp.Bounds(0, 110),
    "income": dp.Bounds(0, 1000),
    "city": None,
}
"""What is declared of the visits: every row is in a group of region and day, and not every row in one of sex."""


def write_arrow(table: pa.Table, path: Path, compression: str | None = "lz4") -> None:
    """An Arrow file, as Feather is; PyArrow's own writer of that name warns, in some versions."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table)


def visits() -> pa.Table:
    """Some hundred visits of forty people, some with one and some with many; NULLs and values that aren't listed."""
    rows = range(160)
    return pa.table(
        {
            "person_id": [row * row % 41 for row in rows],
            "region": [["north", "south", "east", None][row * 7 % 11 % 4] for row in rows],
            "sex": [["Female", "Male", None][row * 5 % 7 % 3] for row in rows],
            "day": [[1, 2, 3, 9, None][row * 3 % 13 % 5] for row in rows],
            "age": [None if row % 17 == 0 else row * 29 % 120 for row in rows],
            "income": [float(row * 37 % 1100) for row in rows],
            "city": [["Bern", "Basel", "Chur"][row * row % 41 % 3] for row in rows],
        }
    )
