"""What DuckDB knows of public tables: looked up once, and not at all of one that is too large for a wait."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from discreet.engine.duckdb import engine as duckdb_engine
from discreet.tables import Column, Kind, Source, Table
from support.engines import engine_over

PUBLIC = Table(
    name="t",
    source=Source(kind="memory", location="t"),
    columns=(Column(name="name", kind=Kind.TEXT),),
    unit=None,
    public=True,
)
NAMES = {"t": pa.table({"name": ["a", "b", "b", "c"]})}


def test_it_is_looked_up_once() -> None:
    """The same object is handed out again."""
    engine = engine_over((PUBLIC,), NAMES)
    assert engine.known(PUBLIC) is engine.known(PUBLIC)


def test_a_table_that_is_too_large_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size alone is known."""
    monkeypatch.setattr(duckdb_engine, "MOST_ROWS", 3)
    assert engine_over((PUBLIC,), NAMES).known(PUBLIC) == replace(PUBLIC, size=4)
