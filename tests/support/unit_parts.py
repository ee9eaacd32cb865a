"""Tables whose rows have units, brute force over which unit each row has, and a judge of the parts that they lie in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.privacy import Unit
from discreet.tables import Column, Kind, Link, Source, Table
from discreet.tables.admission import HeldTable
from discreet.tables.schema.dataset import owner_of

ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
IDS: Mapping[Kind, Callable[[int], Any]] = {
    Kind.INTEGER: lambda number: number - 3,
    Kind.TEXT: lambda number: "éß"[number % 2] * (number // 2) + "x",
    Kind.DATE: lambda number: date(1999, 12, 28) + timedelta(days=number),
}

Unit_ = tuple[Any, ...]


def table(folder: Path, name: str, columns: Mapping[str, Kind], **more: Any) -> Table:
    """A table in a file of that name."""
    held = tuple(Column(name=each, kind=kind) for each, kind in columns.items())
    return Table(name=name, source=Source.of(folder / f"{name}.parquet"), columns=held, **{"unit": None, **more})


def write(made: Table, rows: Sequence[Sequence[Any]]) -> None:
    """The file of a table."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(made.columns)
    arrays = [pa.array(values, ARROW[each.kind]) for values, each in zip(columns, made.columns, strict=True)]
    names = [column.name for column in made.columns]
    pq.write_table(pa.table(arrays, names=names), made.source.location, row_group_size=20)


Shape = Callable[[Path, Kind], list[Table]]


def alone(folder: Path, kind: Kind) -> list[Table]:
    """Visits that say whose they are."""
    return [table(folder, "visits", {"n": Kind.INTEGER, "pid": kind}, unit=Unit("pid"))]


def days(folder: Path, kind: Kind) -> list[Table]:
    """A unit is a person in one month."""
    columns = {"at": Kind.TIMESTAMP, "n": Kind.INTEGER, "pid": kind}
    return [table(folder, "visits", columns, unit=Unit("pid", per="month", at="at"))]


def linked(folder: Path, kind: Kind) -> list[Table]:
    """Households of people who are patients, with several numbers, who visit; and another table of the households."""
    return [
        table(folder, "visits", {"patient": kind, "n": Kind.INTEGER}, links=(Link("patient", "patients", "patient"),)),
        table(folder, "patients", {"person": kind, "patient": kind}, links=(Link("person", "people", "person"),)),
        table(folder, "people", {"person": kind, "home": kind}, unit=Unit("home")),
        table(folder, "rents", {"n": Kind.INTEGER, "home": kind}, unit=Unit("home")),
    ]


def linked_days(folder: Path, kind: Kind) -> list[Table]:
    """Stays are units, by their day; what happened in them is linked."""
    stays = {"stay": kind, "at": Kind.TIMESTAMP, "pid": kind}
    return [
        table(folder, "stays", stays, unit=Unit("pid", per="day", at="at")),
        table(folder, "acts", {"n": Kind.INTEGER, "stay": kind}, links=(Link("stay", "stays", "stay"),)),
    ]


SHAPES: Sequence[Shape] = [alone, days, linked, linked_days]


def rows_for(made: Table, rng: random.Random, most: int) -> list[tuple[Any, ...]]:
    """Some rows: few ids, so that many are equal; some are NULL, or lead nowhere."""

    def value(column: Column) -> Any:
        if rng.random() < 0.1:
            return None
        if column.kind is Kind.TIMESTAMP:
            return datetime(2024, 1 + rng.randrange(2), 1 + rng.randrange(2), rng.randrange(3))
        few = 3 if column.name == "n" else 7
        return IDS[column.kind](int(few * rng.random() * rng.random()))

    return [tuple(map(value, made.columns)) for _ in range(rng.randrange(most + 1))]


def owned(tables: Sequence[Table], rows: Mapping[str, Sequence[Any]], made: Table) -> list[tuple[Any, list[Unit_]]]:
    """Each row that is admitted with its units: by following links row by row."""
    owner = owner_of(made, tables)
    assert owner is not None
    kept = {name: kept_of(tables, rows[name], each) for name, each in ((each.name, each) for each in tables)}

    def at(within: Table, row: Any, column: str | None) -> Any:
        return row[[each.name for each in within.columns].index(str(column))]

    def units(row: Any) -> list[Unit_]:
        here = [row]
        within = made
        for hop in owner.hops:
            links = {at(within, each, hop.column) for each in here} - {None}
            within = hop.table
            here = [each for each in kept[within.name] if at(within, each, hop.to) in links]
        found = set()
        for each in here:
            time = [] if owner.unit.at is None else [at(within, each, owner.unit.at)]
            begins = [
                when.replace(hour=0, day=when.day if owner.unit.per == "day" else 1)
                for when in time
            ]  # fmt: skip
            found.add((at(within, each, owner.unit.column), *begins))
        return sorted(found, key=repr)

    return [(row, units(row)) for row in kept[made.name]]


def kept_of(tables: Sequence[Table], rows: Sequence[Any], made: Table) -> list[Any]:
    """The rows that say whose they are: of a linked table, by which link."""
    owner = owner_of(made, tables)
    assert owner is not None
    needed = [owner.hops[0].column] if owner.hops else [owner.unit.column, owner.unit.at]
    places = [number for number, each in enumerate(made.columns) if each.name in needed]
    return [row for row in rows if all(row[place] is not None for place in places)]


_HASHES = duckdb.connect()


def hashes(units: Sequence[Unit_], kind: Kind) -> dict[Any, int]:
    """DuckDB's hash of ids of a kind."""
    ids = list({unit[0] for unit in units})
    given = pa.table({"id": pa.array(ids, ARROW[kind])})
    return dict(_HASHES.from_arrow(given).project("id, hash(id)").fetchall())


def wrong_in(held: HeldTable, files: Sequence[pa.Table], made: Table, expected: Sequence[Any], kind: Kind) -> set[str]:
    """What isn't so of the parts of a table; nothing of those of a right one.

    Args:
        held: the table.
        files: of its parts, as they were read.
        made: its declaration.
        expected: each row with its units.
        kind: of ids.
    """
    assert held.notes is not None
    wrong: set[str] = set()
    by_hash = hashes([unit for _, units in expected for unit in units], kind)
    of_unit = Counter(unit for _, units in expected for unit in units)
    units_of = dict(expected)
    part_of: dict[Unit_, int] = {}
    pairs: Counter[Any] = Counter()
    once: Counter[Any] = Counter()

    def check(holds: bool, what: str) -> None:
        wrong.update(() if holds else (what,))

    for number, file in enumerate(files):
        codes: dict[int, Unit_] = {}
        before = (-1, 0)
        for row in file.to_pylist():
            values = tuple(row[f"c{place}"] for place in range(len(made.columns)))
            once[values] += not row.get("again", False)
            if row["code"] is None:
                check(number == 0 and row["size"] is None and row["u0"] is None, "nobody's")
                pairs[values, None] += 1
                before = (10**9, 10**9)
                continue
            unit = tuple(row[each] for each in ("u0", "u1") if each in row) or units_of[values][0]
            pairs[values, unit] += 1
            check(part_of.setdefault(unit, number) == number, "a unit in two parts")
            check(by_hash.get(unit[0], -1) % len(files) == number, "another part than its id's")
            check(codes.setdefault(row["code"], unit) == unit, "a code of two units")
            check(row["size"] == of_unit[unit], "size")
            check((row["code"], row["size"]) >= before and row["size"] >= before[1], "order")
            before = (row["code"], row["size"])
        check(sorted(codes) == list(range(len(codes))), "codes that aren't dense")
        check(len(set(codes.values())) == len(codes), "two codes of a unit")
        ranks = [(of_unit[codes[code]], by_hash.get(codes[code][0], -1), *codes[code]) for code in sorted(codes)]
        check(ranks == sorted(ranks), "order of codes")
    check(pairs == Counter((row, unit) for row, units in expected for unit in units or [None]), "rows")
    check(+once == Counter(row for row, _ in expected), "again")
    check(held.rows == len(expected), "number of rows")
    check(held.notes.repeats == any(len(units) > 1 for _, units in expected), "repeats")
    return wrong


def columns_of(made: Table, owner: Any, *, repeats: bool) -> list[str]:
    """What the columns of a table's files are called."""
    unit = ["u0"] if owner.unit.at is None else ["u0", "u1"]
    own = [f"c{number}" for number in range(len(made.columns))]
    return [*own, *(unit if owner.hops else []), "code", "size", *(["again"] if repeats else [])]
