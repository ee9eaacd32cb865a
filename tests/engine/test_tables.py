"""Several tables, wherever they lie: one session, one snapshot, one fingerprint; and declarations that are checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from discreet.engine import open_engine
from discreet.engine.duckdb import DuckDB
from discreet.engine.session import Session
from discreet.errors import InvalidArgument, QuestionFailed, SchemaMismatch, SourceMissing, SourceUnsupported
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import (
    DistinctValues,
    Exact,
    Histogram,
    Join,
    JoinKind,
    Key,
    PerUnit,
    Project,
    Relation,
    Scan,
    Type,
    Union,
    Units,
)
from discreet.tables import Column, Hop, Kind, Link, Owner, Source, Table, owner_of
from support.questions import EQUAL, by_group, call, count, total

WHOLE, TEXT = Type(Kind.INTEGER), Type(Kind.TEXT)
ROWS = {
    "customers": pa.table({"id": [1, 2, 3], "region": ["n", "s", "n"]}),
    "orders": pa.table({"number": [10, 11, 12, 13, 13], "customer": [1, 1, 2, 3, 9]}),
    "items": pa.table({"order_number": [10, 10, 11, 12, 13, 99], "part": [1, 2, 1, 1, 3, 1]}),
    "parts": pa.table({"id": [1, 2, 3], "kind": ["a", "b", "b"]}),
}
KINDS = {pa.int64(): Kind.INTEGER, pa.string(): Kind.TEXT}
WANTED = {("n", "a"): {"n": 2}, ("n", "b"): {"n": 2}, ("s", "a"): {"n": 1}}
"""Of the order 13 there are two, so its item counts for both owners, but one of them is no customer."""

Place = Callable[[Path, str], Source]


def _file(suffix: str, write: Callable[[pa.Table, Path], object]) -> Place:
    """A file for each table."""

    def place(folder: Path, name: str) -> Source:
        """Write the table."""
        path = folder / f"{name}.{suffix}"
        write(ROWS[name], path)
        return Source.of(path)

    return place


def _database(folder: Path, name: str) -> Source:
    """One database for all tables."""
    path = folder / "all.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("rows", ROWS[name])
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM rows")
    return Source.of(path, table=name)


def _memory(_folder: Path, name: str) -> Source:
    """Tables in memory."""
    return Source(kind="memory", location=name)


PARQUET, CSV = _file("parquet", pq.write_table), _file("csv", csv.write_csv)
PLACES: dict[str, dict[str, Place]] = {
    "files": dict.fromkeys(ROWS, PARQUET),
    "CSV": dict.fromkeys(ROWS, CSV),
    "one database": dict.fromkeys(ROWS, _database),
    "memory": dict.fromkeys(ROWS, _memory),
    "everywhere": {"customers": _memory, "orders": CSV, "items": PARQUET, "parts": _database},
}


def declare(folder: Path, where: str = "files") -> dict[str, Table]:
    """The tables, wherever they lie."""
    links = {"orders": Link("customer", "customers", "id"), "items": Link("order_number", "orders", "number")}
    return {
        name: Table(
            name=name,
            source=place(folder, name),
            columns=tuple(Column(name=field.name, kind=KINDS[field.type]) for field in ROWS[name].schema),
            unit=Unit("id") if name == "customers" else None,
            limits=Limits(rows=1) if name == "parts" else Limits(rows=5),
            links=(links[name],) if name in links else (),
            public=name == "parts",
            unique=("id",) if name == "parts" else (),
        )
        for name, place in PLACES[where].items()
    }


def held(tables: dict[str, Table]) -> dict[str, pa.Table]:
    """What lies in memory."""
    return {name: ROWS[name] for name, table in tables.items() if table.source.kind == "memory"}


def scan(tables: dict[str, Table], name: str, *columns: str) -> Scan:
    """A table, whose owners are found along its links."""
    return Scan(tables[name], columns, owner_of(tables[name], list(tables.values())), name)


def on(one: str, column: str, other: str, target: str) -> Any:
    """Where two columns are equal."""
    return call(EQUAL, Reference(one, column, WHOLE), Reference(other, target, WHOLE))


def exact(source: Relation, *keys: Key) -> Exact:
    """A count by group."""
    return Exact(source=source, keys=keys, measures=(count(),), limits=Limits(rows=5), salt="")


def question(tables: dict[str, Table]) -> Exact:
    """How many items there are by region and kind: all four tables joined."""
    owned = Join(
        scan(tables, "items", "order_number", "part"),
        scan(tables, "orders", "number", "customer"),
        JoinKind.INNER,
        on("items", "order_number", "orders", "number"),
    )
    placed = Join(
        owned, scan(tables, "customers", "id", "region"), JoinKind.INNER, on("orders", "customer", "customers", "id")
    )
    joined = Join(placed, scan(tables, "parts", "id", "kind"), JoinKind.INNER, on("items", "part", "parts", "id"))
    keys = (Reference("customers", "region", TEXT), Reference("parts", "kind", TEXT))
    return exact(joined, *(Key(name=key.name, expr=key, values=None) for key in keys))


@pytest.mark.parametrize("where", PLACES)
def test_tables_are_joined_wherever_they_lie(where: str, tmp_path: Path) -> None:
    """Files, tables of one database, tables in memory, and all of these together."""
    tables = declare(tmp_path, where)
    asked = question(tables)
    engine = open_engine([table.source for table in tables.values()], held(tables))
    for table in tables.values():
        engine.check(table)
    assert by_group(engine, asked) == WANTED  # type: ignore[arg-type]  # the embedded engine
    assert engine.run(asked).fingerprint == engine.fingerprint(list(tables.values()))


def test_items_belong_to_whom_their_links_lead(tmp_path: Path) -> None:
    """Without any join in the question: the item of order 13 counts for both owners, that of order 99 for nobody."""
    tables = declare(tmp_path)
    asked = exact(scan(tables, "items"))
    assert asked.tables == (tables["items"], tables["orders"])
    units = replace(asked, measures=(count(), Units(name="u")))
    assert by_group(DuckDB(), units) == {(): {"n": 6, "u": 4}}


def test_a_household_is_found_along_two_links(tmp_path: Path) -> None:
    """Customers who aren't units themselves: the rows of whole regions are limited together."""
    tables = declare(tmp_path)
    tables["customers"] = replace(tables["customers"], unit=Unit("region"), limits=Limits(rows=1))
    asked = replace(exact(scan(tables, "items")), measures=(count(), Units(name="u")))
    assert asked.tables == (tables["items"], tables["orders"], tables["customers"])
    assert by_group(DuckDB(), asked) == {(): {"n": 5, "u": 2}}
    assert by_group(DuckDB(), replace(asked, limits=Limits(rows=1))) == {(): {"n": 2, "u": 2}}


def test_a_fingerprint_is_of_all_tables_and_of_which_is_which(tmp_path: Path) -> None:
    """The order they are named in is no matter; that two change places is."""
    tables = declare(tmp_path)
    engine, everything = DuckDB(), list(tables.values())
    first = engine.fingerprint(everything)
    assert engine.fingerprint(everything[::-1]) == first
    assert engine.fingerprint(everything[1:]) != first
    swapped = [replace(one, source=other.source) for one, other in zip(everything, everything[::-1], strict=True)]
    assert engine.fingerprint(swapped) != first
    for table in everything:
        path = Path(table.source.location)
        content = path.read_bytes()
        path.write_bytes(content + b"\0")
        assert engine.fingerprint(everything) != first
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("where", "changed"),
    [*(("files", name) for name in ROWS), *(("everywhere", name) for name in ROWS if name != "customers")],
)
def test_no_table_may_change_while_another_is_read(
    where: str, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file rewritten in place during a question, whichever it is: no answer."""
    tables = declare(tmp_path, where)
    source = tables[changed].source
    execute, seen = Session.execute, [0]

    def meanwhile(self: Session, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Touch the file late."""
        seen[0] += 1
        if seen[0] == 20:
            path = Path(source.location)
            os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        return execute(self, sql, parameters)

    monkeypatch.setattr(Session, "execute", meanwhile)
    with pytest.raises(QuestionFailed):
        DuckDB(held(tables)).run(question(tables))
    assert seen[0] > 20


def test_equal_sources_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables declared on one file, and one database under two names."""
    tables = declare(tmp_path)
    twin = replace(tables["parts"], name="twin")
    both = Union(
        (
            Project(scan(tables, "parts", "id"), "a", (("id", Reference("parts", "id", WHOLE)),)),
            Project(Scan(twin, ("id",), None, "twin"), "b", (("id", Reference("twin", "id", WHOLE)),)),
        ),
        "c",
        (("id", WHOLE),),
    )
    joined = Join(scan(tables, "items", "part"), both, JoinKind.INNER, on("items", "part", "c", "id"))
    opened: list[str] = []
    execute = Session.execute
    monkeypatch.setattr(
        Session, "execute", lambda self, sql, args=(): (opened.append(sql), execute(self, sql, args))[1]
    )
    assert by_group(DuckDB(), replace(exact(joined), limits=Limits(rows=6))) == {(): {"n": 12}}
    assert sum("read_parquet(" in sql and "raw" in sql for sql in opened) == 3


def test_a_database_under_two_names_is_attached_once(tmp_path: Path) -> None:
    """DuckDB would refuse to attach one file twice."""
    tables = declare(tmp_path, "one database")
    (tmp_path / "link.duckdb").symlink_to(tmp_path / "all.duckdb")
    tables["parts"] = replace(tables["parts"], source=Source.of(tmp_path / "link.duckdb", table="parts"))
    assert by_group(DuckDB(), question(tables)) == WANTED


REPEATED = [
    (pa.table({"id": [1, 2, 2], "kind": ["a", "b", "b"]}), ("id",), None),
    (pa.table({"id": [1, 7, 8], "kind": ["a", "b", "b"]}), ("id",), Bounds(0, 7)),
    (pa.table({"id": [1, 2, 3], "kind": ["a", "x", "a"]}), ("id", "kind"), None),
]


@pytest.mark.parametrize(("rows", "unique", "bounds"), REPEATED)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_what_is_declared_as_unique_is_checked(
    rows: pa.Table, unique: tuple[str, ...], bounds: Bounds | None, suffix: str, tmp_path: Path
) -> None:
    """As the door lets values in; NULL may occur often, and each version of the data is looked at."""
    path = tmp_path / f"parts.{suffix}"
    write = pq.write_table if suffix == "parquet" else csv.write_csv
    columns = (Column(name="id", kind=Kind.INTEGER, bounds=bounds), Column(name="kind", kind=Kind.TEXT))
    table = Table(name="parts", source=Source.of(path), columns=columns, unit=None, public=True, unique=unique)
    engine = DuckDB()
    write(pa.table({"id": [1, 2, None, None], "kind": ["a", "b", None, None]}), path)
    engine.check(table)
    engine.check(table)
    write(rows, path)
    with pytest.raises(SchemaMismatch, match="unique"):
        engine.check(table)
    unlisted = replace(table, columns=(columns[0], Column(name="kind", kind=Kind.TEXT, keys=Keys(["x"]))))
    engine.check(replace(unlisted, unique=("kind",)))


def test_sources_without_their_tables_are_missing() -> None:
    """Before anything is read; and an engine reads all of them, or none."""
    memory = Source(kind="memory", location="t")
    with pytest.raises(SourceMissing):
        open_engine([memory], {"u": ROWS["parts"]})
    other = Source(kind="memory", location="u")
    object.__setattr__(other, "kind", "oracle")
    with pytest.raises(SourceUnsupported, match="different engines"):
        open_engine([memory, other], {"t": ROWS["parts"]})


def refused(tables: dict[str, Table]) -> dict[str, Exact]:
    """Questions that no planner makes."""
    items, orders = scan(tables, "items", "part"), scan(tables, "orders", "number")
    customers, parts = scan(tables, "customers", "id"), scan(tables, "parts", "id")
    row = {"unit": Unit.row(), "links": (), "limits": Limits(rows=1)}
    apart = {name: Scan(replace(tables[name], **row), (), Owner(Unit.row()), name) for name in ("items", "orders")}
    doubled = Union((Project(apart["items"], "a", ()), Project(apart["items"], "b", ())), "c", ())
    texts = replace(tables["orders"], columns=(Column(name="number", kind=Kind.TEXT), tables["orders"].columns[1]))
    led_astray = Scan(tables["items"], (), Owner(Unit("customer"), (Hop("order_number", texts, "number"),)), "items")
    by_region = Scan(replace(tables["customers"], unit=Unit("region")), (), Owner(Unit("region")), "customers")
    values = exact(items)
    real = Reference("items", "part", Type(Kind.REAL))
    return {
        "public rows kept because of private ones": exact(Join(parts, items, JoinKind.LEFT, None)),
        "public rows left out because of private ones": exact(Join(parts, items, JoinKind.ANTI, None)),
        "rows that are units, joined": exact(Join(apart["items"], apart["orders"], JoinKind.INNER, None)),
        "rows that are units, grouped": exact(PerUnit(apart["items"], "p", (), ())),
        "rows that are units, twice": exact(doubled),
        "a link to values of another kind": exact(led_astray),
        "units of two kinds": exact(Join(orders, by_region, JoinKind.INNER, None)),
        "different reals": replace(values, measures=(DistinctValues(name="d", value=real),)),
        "bins of reals": replace(values, measures=(Histogram(name="h", value=real, values=None, size=2, grid=0),)),
        "steps above 1": replace(values, measures=(Histogram(name="h", value=real, values=("a",), size=1, grid=1),)),
        "sums beyond 64 bits": replace(values, measures=(total("s", real, lo=0, hi=2**63),)),
        "fine": exact(Join(items, customers, JoinKind.INNER, None)),
    }


def test_what_would_be_wrong_is_refused_before_data_is_touched(tmp_path: Path) -> None:
    """It is a matter of the plan alone, so it may be told; the files need not even exist."""
    tables = declare(tmp_path)
    for name in tables:
        (tmp_path / f"{name}.parquet").unlink()
    for what, asked in refused(tables).items():
        with pytest.raises(QuestionFailed if what == "fine" else InvalidArgument):
            DuckDB().run(asked)
