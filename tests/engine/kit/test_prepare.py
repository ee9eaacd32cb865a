"""Preparing: a question on tables without rows, which opens no snapshot and refuses nothing that could be run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import InvalidArgument
from discreet.privacy import Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type
from discreet.tables import Column, Hop, Kind, Link, Owner, Source, Table
from discreet.tables.admission import Snapshot
from support.engines import engine_on, engine_over

NOTHING = Snapshot(tables={})


def question(table: Table, key: str, owner: Owner) -> Exact:
    """A count by a column."""
    kind = next(column.kind for column in table.columns if column.name == key)
    return Exact(
        source=Scan(table=table, columns=(key,), owner=owner, alias=table.name),
        keys=(Key(name=key, expr=Reference(table.name, key, Type(kind)), values=None),),
        measures=(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),),
        limits=Limits(rows=1),
        salt="",
    )


def people(source: Source, kind: Kind = Kind.TEXT) -> Table:
    """A table of an id and a column of some kind."""
    columns = (Column(name="id", kind=Kind.INTEGER), Column(name="g", kind=kind))
    return Table(name="t", source=source, columns=columns, unit=Unit("id"), limits=Limits(rows=1))


@pytest.mark.usefixtures("kept_sessions")
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("source", ["t.csv", "t.parquet", "t.duckdb", "memory"])
def test_no_table_is_opened(source: str, kind: Kind, tmp_path: Path) -> None:
    """There needn't be one; whatever the declared kinds are."""
    lies = Source(kind="memory", location="t") if source == "memory" else Source.of(tmp_path / source)
    table = people(lies, kind)
    engine_on(NOTHING).prepare(question(table, "g", Owner(table.unit)))
    assert not list(tmp_path.iterdir())


def test_one_source_with_columns_of_several_kinds(tmp_path: Path) -> None:
    """A column that is NULL throughout may be declared as anything, and as two things in two tables of one source."""
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"id": [1, 2], "g": pa.nulls(2)}), path)
    days, flags = people(Source.of(path), Kind.DATE), replace(people(Source.of(path), Kind.BOOLEAN), name="u")
    linked = replace(flags, unit=None, links=(Link("id", "t", "id"),))
    asked = question(linked, "g", Owner(Unit("id"), (Hop("id", days, "id"),)))
    engine = engine_over([days, linked])
    engine.prepare(asked)
    assert [*engine.run(asked).measures["n"]] == [2]


def test_a_plan_beyond_the_engine_is_refused() -> None:
    """As it is when it is run."""
    table = people(Source(kind="memory", location="t"))
    asked = question(table, "g", Owner(table.unit))
    beyond = replace(asked, measures=(replace(asked.measures[0], hi=2**80),))
    with pytest.raises(InvalidArgument):
        engine_on(NOTHING).prepare(beyond)
