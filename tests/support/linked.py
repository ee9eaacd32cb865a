"""Linked tables at random: what is declared of them, what lies in them, and which states of them are neighbours.

Two states are neighbours if they differ in the rows of one unit, over all private tables, and in nothing else. A row
that belongs to several units is taken away with the last of them only: the others have it still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

import pyarrow as pa

from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Bounds, Budget, Keys, Limits, Unit
from discreet.tables import Column, Dataset, Kind, Link, Source, Table
from support.relations import owners
from support.shop import COLUMNS, MOST, VALUES, Rows, arrow

Data = Mapping[str, Rows]

UNITS: Mapping[str, Mapping[str, Unit | None]] = {
    "customer": {"customers": Unit("id"), "orders": None, "items": None},
    "two": {"customers": Unit("id"), "orders": None},
    "household": {"customers": Unit("household"), "orders": None, "items": None},
    "own": {"customers": Unit("id"), "orders": Unit("customer"), "items": None},
    "month": {"orders": Unit("customer", per="month", at="day"), "items": None},
    "alone": {"orders": Unit("customer")},
    "row": {"items": Unit.row()},
}
"""Schemas of one to three linked tables, by whose presence they hide: the unit each declares, or None for a link."""

_LINKS = {"orders": Link.of("customer", "customers.id"), "items": Link.of("order", "orders.id")}
_ENTITIES = {
    ("customers", "id"): "customer",
    ("orders", "customer"): "customer",
    ("customers", "household"): "household",
    ("orders", "id"): "order",
    ("items", "order"): "order",
}
_NAMED = {
    "customer": {"customer", "order"},
    "two": {"customer"},
    "household": {"customer", "household", "order"},
    "own": {"customer", "order"},
    "month": {"order"},
    "alone": {"customer"},
    "row": set[str](),
}
"""Which entities can be told apart in each schema, so that rows may be joined on them."""


def entities(whose: str) -> dict[tuple[str, str], str]:
    """By table and column, what rows may be joined on: columns of one entity."""
    return {
        (table, column): entity
        for (table, column), entity in _ENTITIES.items()
        if entity in _NAMED[whose] and table in UNITS[whose]
    }


def dataset(random: Random, whose: str) -> Dataset:
    """Declarations: limits of either shape, bounds, keys, and whether NULL is said to occur."""
    tables = tuple(
        Table(
            name=name,
            source=Source(kind="memory", location=name),
            columns=_columns(random, name),
            unit=unit,
            limits=Limits(rows=1) if whose == "row" else limits(random),
            links=(_LINKS[name],) if unit is None else (),
        )
        for name, unit in UNITS[whose].items()
    )
    parts = Table(
        name="parts",
        source=Source(kind="memory", location="parts"),
        columns=_columns(random, "parts"),
        unit=None,
        public=True,
        unique=("id",) if whose == "row" or random.random() < 0.5 else (),
    )
    return Dataset(
        name="shop",
        tables=(*tables, parts),
        budget=Budget(epsilon=1),
        ledger="none",
        adjacency=random.choice([ADD_REMOVE, SUBSTITUTION]),
    )


def limits(random: Random) -> Limits:
    """Limits of any shape, so small that many units exceed them."""
    if random.random() < 0.5:
        return Limits(rows=random.randint(1, 4), groups=random.choice([None, 1, 2, 3]))
    return Limits(groups=random.randint(1, 3), rows_per_group=random.randint(1, 3))


def _columns(random: Random, table: str) -> tuple[Column, ...]:
    """The columns of a table; numbers mostly have bounds, and texts have keys as often as not."""
    return tuple(_column(random, name, kind) for name, kind in COLUMNS[table].items())


def _column(random: Random, name: str, kind: Kind) -> Column:
    """One column."""
    plain = Column(name=name, kind=kind, nullable=random.random() < 0.8)
    is_id = name in {"id", "household", "customer", "order", "part"}
    if random.random() < (0.8 if is_id else 0.15):
        return plain
    if kind is Kind.TEXT:
        return replace(plain, keys=random.choice([None, Keys(["a", "b"]), Keys(["b", None]), Keys(["é"])]))
    if kind is Kind.DATE:
        return replace(plain, bounds=Bounds(date(2024, 2, 1), date(2024, 3, 1)))
    if is_id:
        return replace(plain, bounds=Bounds(1, 3))
    ends = [Bounds(-2, 10), Bounds(0, 1), Bounds(2, 3)] + ([Bounds("-1/2", 8)] if kind is Kind.REAL else [])
    return plain if kind is Kind.BOOLEAN else replace(plain, bounds=random.choice(ends))


def data(random: Random, of: Dataset) -> dict[str, Rows]:
    """Rows of all tables, with few different ids: some units have many rows, some links lead nowhere or to several."""
    found = {
        table.name: [
            {name: random.choice(VALUES[name]) for name in COLUMNS[table.name]}
            for _ in range(random.randint(0, MOST[table.name]))
        ]
        for table in of.tables
    }
    if any(table.unique for table in of.tables):
        once = {row["id"]: row for row in found["parts"] if row["id"] is not None}
        found["parts"] = list(once.values())
    return found


def tables(of: Data) -> dict[str, pa.Table]:
    """Rows as Arrow tables."""
    return {name: arrow(name, rows) for name, rows in of.items()}


def units(of: Dataset, rows: Data) -> set[Hashable]:
    """All units that have rows."""
    return set[Hashable]().union(*(whose for _, _, whose in _owned(of, rows)))


def neighbours(random: Random, of: Dataset, rows: Data) -> Iterator[Data]:
    """States that differ from these rows in one unit.

    Each unit is taken away in turn. Under substitution another is also put in its place; one that is only taken away
    had its place taken by a unit without rows.
    """
    for unit in sorted(units(of, rows), key=repr):
        without = _without(of, rows, unit)
        yield without
        if of.adjacency is SUBSTITUTION:
            yield _with_another(random, of, without, whole=rows, unit=unit)


def _without(of: Dataset, rows: Data, unit: Hashable) -> dict[str, Rows]:
    """The rows but those that are this unit's alone."""
    gone = {(table, place) for table, place, whose in _owned(of, rows) if whose == {unit}}
    return {
        table: [row for place, row in enumerate(held) if (table, place) not in gone] for table, held in rows.items()
    }


def _with_another(random: Random, of: Dataset, rest: Data, *, whole: Data, unit: Hashable) -> dict[str, Rows]:
    """The rest with the rows of a new unit, which may have the same id: those that are nobody else's."""
    drawn = data(random, of)
    taken = units(of, whole) - {unit}
    if next(table for table in of.private).unit == Unit.row():
        return {**rest, "items": [*rest["items"], *drawn["items"][:1]]}
    new = [each for each in sorted(units(of, drawn), key=repr) if each not in taken]
    if not new:
        return dict(rest)
    chosen = random.choice(new)
    packet = {(table, place) for table, place, whose in _owned(of, drawn) if chosen in whose}
    while True:
        merged = {
            table: [*rest[table], *(row for place, row in enumerate(drawn[table]) if (table, place) in packet)]
            for table in rest
        }
        places = {
            (table, len(rest[table]) + number): (table, place)
            for table in rest
            for number, place in enumerate(sorted(place for held, place in packet if held == table))
        }
        others = {
            places[table, place]
            for table, place, whose in _owned(of, merged)
            if whose - {chosen}
            if (table, place) in places
        }
        if not others:
            return merged
        packet -= others


def others_are_as_before(of: Dataset, one: Data, other: Data) -> bool:
    """Whether at most one unit's rows differ; at most two, where one takes another's place."""
    ours, theirs = _by_unit(of, one), _by_unit(of, other)
    changed = (ours - theirs) + (theirs - ours)
    return len({unit for unit, *_ in changed}) <= (1 if of.adjacency is ADD_REMOVE else 2)


def _by_unit(of: Dataset, rows: Data) -> Counter[tuple[Hashable, str, str]]:
    """Which unit has which row, and how often; where each row is a unit, it is what it holds."""
    return Counter(
        (repr(rows[table][place]) if unit == (table, place) else unit, table, repr(rows[table][place]))
        for table, place, whose in _owned(of, rows)
        for unit in whose
    )


def _owned(of: Dataset, rows: Data) -> Iterator[tuple[str, int, set[Any]]]:
    """Each private row with whose it is."""
    for table in of.private:
        owner = of.owner(table)
        assert owner is not None
        for place, row in enumerate(rows[table.name]):
            whose = {(table.name, place)} if owner.unit.is_row else owners(table, owner, row, rows)
            yield table.name, place, whose
