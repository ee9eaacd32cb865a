"""Several tables, wherever they lay: one session, one snapshot; and declarations that are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from discreet.engine import Engine
from discreet.errors import InvalidArgument, QuestionFailed, SchemaMismatch
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
from discreet.tables.admission import Snapshot, admit
from support.engines import engine_on, engine_over
from support.questions import EQUAL, by_group, call, count, total

pytestmark = pytest.mark.usefixtures("kept_sessions")

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


def engine(tables: dict[str, Table]) -> Engine:
    """An engine over the tables, admitted into memory."""
    return engine_over(list(tables.values()), held(tables))


@pytest.mark.parametrize("into", ["files", "memory"])
@pytest.mark.parametrize("where", PLACES)
def test_tables_are_joined_wherever_they_lie(where: str, into: str, tmp_path: Path) -> None:
    """Files, tables of one database, tables in memory, and all of these together; admitted into files and memory."""
    tables = declare(tmp_path, where)
    folder = tmp_path / "snapshot" if into == "files" else None
    if folder is not None:
        folder.mkdir()
    snapshot = admit(list(tables.values()), held(tables), folder)
    in_files = {name for name, table in tables.items() if snapshot.files(table)}
    assert in_files == (tables.keys() - held(tables).keys() if folder is not None else set())
    opened = engine_on(snapshot)
    for table in tables.values():
        opened.check(table)
    assert by_group(opened, question(tables)) == WANTED


def test_items_belong_to_whom_their_links_lead(tmp_path: Path) -> None:
    """Without any join in the question: the item of order 13 counts for both owners, that of order 99 for nobody."""
    tables = declare(tmp_path)
    asked = exact(scan(tables, "items"))
    assert asked.tables == (tables["items"], tables["orders"])
    units = replace(asked, measures=(count(), Units(name="u")))
    assert by_group(engine(tables), units) == {(): {"n": 6, "u": 4}}


def test_a_household_is_found_along_two_links(tmp_path: Path) -> None:
    """Customers who aren't units themselves: the rows of whole regions are limited together."""
    tables = declare(tmp_path)
    tables["customers"] = replace(tables["customers"], unit=Unit("region"), limits=Limits(rows=1))
    asked = replace(exact(scan(tables, "items")), measures=(count(), Units(name="u")))
    assert asked.tables == (tables["items"], tables["orders"], tables["customers"])
    assert by_group(engine(tables), asked) == {(): {"n": 5, "u": 2}}
    assert by_group(engine(tables), replace(asked, limits=Limits(rows=1))) == {(): {"n": 2, "u": 2}}


def test_two_tables_of_one_source(tmp_path: Path) -> None:
    """They are two tables, each admitted as it is declared."""
    tables = declare(tmp_path)
    tables["twin"] = twin = replace(tables["parts"], name="twin")
    both = Union(
        (
            Project(scan(tables, "parts", "id"), "a", (("id", Reference("parts", "id", WHOLE)),)),
            Project(Scan(twin, ("id",), None, "twin"), "b", (("id", Reference("twin", "id", WHOLE)),)),
        ),
        "c",
        (("id", WHOLE),),
    )
    joined = Join(scan(tables, "items", "part"), both, JoinKind.INNER, on("items", "part", "c", "id"))
    assert by_group(engine(tables), replace(exact(joined), limits=Limits(rows=6))) == {(): {"n": 12}}


def test_a_database_under_two_names(tmp_path: Path) -> None:
    """DuckDB would refuse to attach one file twice."""
    tables = declare(tmp_path, "one database")
    (tmp_path / "link.duckdb").symlink_to(tmp_path / "all.duckdb")
    tables["parts"] = replace(tables["parts"], source=Source.of(tmp_path / "link.duckdb", table="parts"))
    assert by_group(engine(tables), question(tables)) == WANTED


REPEATED = [
    (pa.table({"id": [1, 2, 2], "kind": ["a", "b", "b"]}), ("id",), None),
    (pa.table({"id": [1, 7, 8], "kind": ["a", "b", "b"]}), ("id",), Bounds(0, 7)),
    (pa.table({"id": [1, 2, 3], "kind": ["a", "x", "a"]}), ("id", "kind"), None),
]


@pytest.mark.parametrize(("rows", "unique", "bounds"), REPEATED)
def test_what_is_declared_as_unique_is_checked(rows: pa.Table, unique: tuple[str, ...], bounds: Bounds | None) -> None:
    """Within bounds, as questions see values; NULL may occur often, and each version of the tables is looked at."""
    columns = (Column(name="id", kind=Kind.INTEGER, bounds=bounds), Column(name="kind", kind=Kind.TEXT))
    source = Source(kind="memory", location="parts")
    table = Table(name="parts", source=source, columns=columns, unit=None, public=True, unique=unique)
    fine = engine_over([table], {"parts": pa.table({"id": [1, 2, None, None], "kind": ["a", "b", None, None]})})
    fine.check(table)
    fine.check(table)
    repeated = engine_over([table], {"parts": rows})
    with pytest.raises(SchemaMismatch, match="unique"):
        repeated.check(table)
    unlisted = replace(table, columns=(columns[0], Column(name="kind", kind=Kind.TEXT, keys=Keys(["x"]))))
    repeated.check(replace(unlisted, unique=("kind",)))


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
    """It is a matter of the plan alone, so it may be told; the tables need not even be there."""
    for what, asked in refused(declare(tmp_path)).items():
        with pytest.raises(QuestionFailed if what == "fine" else InvalidArgument):
            engine_on(Snapshot(tables={})).run(asked)


def test_what_a_public_table_holds_is_known_as_questions_see_it() -> None:
    """Values within bounds, among keys, in order and NULL last; of what is too much, no list; of people, nothing."""
    columns = (
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 20)),
        Column(name="kind", kind=Kind.TEXT, keys=Keys(["b", "a"])),
        Column(name="share", kind=Kind.REAL),
        Column(name="name", kind=Kind.TEXT),
    )
    public = Table(
        name="t", source=Source(kind="memory", location="t"), columns=columns, unit=None, public=True, unique=("name",)
    )
    rows = {"age": [50, None, -3, 50], "kind": ["a", "c", "b", "a"], "share": [0.5, 1.5, None, 0.5]}
    names = ["é", "B", "a", "é"]
    engine = engine_over((public,), {"t": pa.table({**rows, "name": names})})
    found = engine.known(public)
    assert found == engine.known(public)
    assert [column.values for column in found.columns] == [(0, 20, None), ("a", "b", None), None, ("B", "a", "é")]
    assert [column.repeats for column in found.columns] == [2, 2, 2, 2]
    assert found.rows == ((0, "b", None, "a"), (20, "a", 0.5, "é"), (None, None, 1.5, "B"))
    many = pa.table({**{name: [each[0]] * 10_001 for name, each in rows.items()}, "name": map(str, range(10_001))})
    most = engine_over((public,), {"t": many}).known(public)
    assert (most.rows, most.size, found.size) == (None, 10_001, 4)
    assert [len(column.values or ()) for column in most.columns] == [1, 1, 0, 10_001]
    assert [column.repeats for column in most.columns] == [10_001, 10_001, 10_001, 1]
    private = replace(public, public=False, unit=Unit.row(), unique=())
    with pytest.raises(TypeError, match="private"):
        engine.known(private)
