"""Owned rows: a row counts once for each owner, by however many ways its links lead there."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from discreet.privacy import Limits, Unit
from discreet.tables import Column, Kind, Link, Source, Table
from discreet.tables.admission import admit, with_unit_sizes

pytestmark = pytest.mark.usefixtures("kept_sessions")


def table_of(name: str, *columns: str, unit: Unit | None = None, **more: Any) -> Table:
    """A table of whole numbers in memory, with few rows of each unit."""
    held = tuple(Column(name=each, kind=Kind.INTEGER) for each in columns)
    source = Source(kind="memory", location=name)
    limits = Limits(rows=1)
    return Table(name=name, source=source, columns=held, unit=unit, limits=limits, most_rows_per_unit=3, **more)


def test_two_ways_to_one_owner_count_once() -> None:
    """Both patients of a visit live in one home: its three visits are within the ceiling, and are reported as three.

    The twin, a visit of patients from two homes, counts for both.
    """
    tables = [
        table_of("people", "person", "home", unit=Unit("home")),
        table_of("patients", "patient", "person", links=(Link("person", "people", "person"),)),
        table_of("visits", "patient", links=(Link("patient", "patients", "patient"),)),
    ]
    people = pa.table({"person": [1, 2, 3], "home": [9, 9, 8]})
    patients = pa.table({"patient": [5, 5, 6, 6], "person": [1, 2, 1, 3]})

    def reported(visits: list[int]) -> tuple[Any, Any]:
        data = {"people": people, "patients": patients, "visits": pa.table({"patient": visits})}
        snapshot = admit(tables, data, None)
        found = with_unit_sizes(snapshot, tables)["visits"]
        return found["beyond_most_rows_per_unit"], (found["units"]["units"], found["units"]["greatest"])

    assert reported([5, 5, 5]) == ({"units": 0, "rows": 0}, (1, 3))
    assert reported([5, 5, 5, 5]) == ({"units": 1, "rows": 1}, (1, 3))
    assert reported([6, 6, 6]) == ({"units": 0, "rows": 0}, (2, 3))
