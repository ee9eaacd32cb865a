"""A small shop, as schemas of linked tables: customers ← orders ← items, private, and parts, public; and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa

from discreet.engine import Engine
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.tables import Column, Kind, Link, Owner, Source, Table, owner_of
from discreet.tables.schema.column import LONGEST_TEXT
from support.engines import engine_as_if_admitted

Rows = list[dict[str, Any]]

COLUMNS: Mapping[str, Mapping[str, Kind]] = {
    "customers": {
        "id": Kind.INTEGER,
        "household": Kind.INTEGER,
        "region": Kind.TEXT,
        "age": Kind.INTEGER,
        "vip": Kind.BOOLEAN,
    },
    "orders": {
        "id": Kind.INTEGER,
        "customer": Kind.INTEGER,
        "status": Kind.TEXT,
        "amount": Kind.REAL,
        "day": Kind.DATE,
    },
    "items": {"order": Kind.INTEGER, "part": Kind.INTEGER, "qty": Kind.INTEGER, "price": Kind.REAL},
    "parts": {"id": Kind.INTEGER, "kind": Kind.TEXT, "weight": Kind.REAL},
}
_ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.REAL: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
}
DAYS = [date(2024, 1, 31), date(2024, 2, 1), date(2024, 2, 29), date(1, 1, 1)]
_IDS = [1, 1, 1, 2, 2, 3, 4, None]
_WHOLE = [None, 0, 1, -1, 2, 7, 40, 2**63 - 1, -(2**63)]
_REAL = [None, 0.0, 0.1, 0.3, 0.5, -2.5, 7.25, 1e-300, 1e300, -1e300]
_TEXT = [None, "", "a", "b", "B", "é", "a" * LONGEST_TEXT]
VALUES: Mapping[str, Sequence[Any]] = {
    "id": _IDS,
    "household": _IDS,
    "customer": _IDS,
    "order": _IDS,
    "part": _IDS,
    "region": _TEXT,
    "status": _TEXT,
    "kind": _TEXT,
    "age": _WHOLE,
    "qty": _WHOLE,
    "amount": _REAL,
    "price": _REAL,
    "weight": _REAL,
    "vip": [None, True, False],
    "day": [None, *DAYS],
}
"""What an admitted cell may hold. Few different ids, so that links lead somewhere, and sometimes to several rows."""


@dataclass(frozen=True)
class Shop:
    """A schema, and whose presence it hides.

    Args:
        tables: by name.
        owners: how the units of their rows are found.
    """

    tables: Mapping[str, Table]
    owners: Mapping[str, Owner | None]

    @property
    def private(self) -> list[str]:
        """The tables that are protected."""
        return [name for name, owner in self.owners.items() if owner is not None]


def shop(whose: str, limits: Limits, declared: Mapping[str, Column] | None = None) -> Shop:
    """A shop in which a unit is a customer, a household, a customer during a month, or an item.

    Args:
        whose: `customer`, `household`, `month` or `item`.
        limits: of all private tables.
        declared: columns with bounds or keys, by `table.column`.
    """
    units: dict[str, dict[str, Unit | None]] = {
        "customer": {"customers": Unit("id"), "orders": None, "items": None},
        "household": {"customers": Unit("household"), "orders": None, "items": None},
        "month": {"orders": Unit("customer", per="month", at="day"), "items": None},
        "item": {"items": Unit.row()},
    }
    links = {"orders": Link.of("customer", "customers.id"), "items": Link.of("order", "orders.id")}
    tables = []
    for name, unit in units[whose].items():
        tables.append(
            Table(
                name=name,
                source=Source(kind="memory", location=name),
                columns=_columns(name, declared or {}),
                unit=unit,
                limits=limits,
                links=(links[name],) if unit is None else (),
            )
        )
    source = Source(kind="memory", location="parts")
    tables.append(Table(name="parts", source=source, columns=_columns("parts", declared or {}), unit=None, public=True))
    return Shop({table.name: table for table in tables}, {table.name: owner_of(table, tables) for table in tables})


def _columns(table: str, declared: Mapping[str, Column]) -> tuple[Column, ...]:
    """The columns of a table."""
    return tuple(declared.get(f"{table}.{name}", Column(name=name, kind=kind)) for name, kind in COLUMNS[table].items())


def engine(data: Mapping[str, Rows], **settings: Any) -> Engine:
    """An engine on these rows."""
    tables = [table for table in shop("customer", Limits(rows=1)).tables.values() if table.name in data]
    return engine_as_if_admitted(tables, {name: arrow(name, rows) for name, rows in data.items()}, **settings)


def arrow(table: str, rows: Rows) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, _ARROW[kind]) for name, kind in COLUMNS[table].items()]))


MOST = {"customers": 4, "orders": 6, "items": 6, "parts": 3}
"""How many rows a table has at most; brute force goes through all pairs of them."""


@st.composite
def data(draw: st.DrawFn) -> dict[str, Rows]:
    """Rows of all tables: few ones, that shrink well, or as many as there may be, with nothing regular about them."""
    if draw(st.booleans()):
        cells = {table: {name: st.sampled_from(VALUES[name]) for name in columns} for table, columns in COLUMNS.items()}
        return {
            table: draw(st.lists(st.fixed_dictionaries(cells[table]), max_size=most)) for table, most in MOST.items()
        }
    choose = draw(st.randoms(use_true_random=True)).choice
    return {
        table: [{name: choose(VALUES[name]) for name in COLUMNS[table]} for _ in range(most)]
        for table, most in MOST.items()
    }


_SMALL = Bounds(-2, 10)
DECLARED = st.fixed_dictionaries(
    {
        "customers.age": st.sampled_from([Column(name="age", kind=Kind.INTEGER), _SMALL]),
        "items.qty": st.sampled_from([Column(name="qty", kind=Kind.INTEGER), _SMALL]),
        "orders.amount": st.sampled_from([Column(name="amount", kind=Kind.REAL), Bounds("-1/2", 8)]),
        "customers.region": st.sampled_from(
            [Column(name="region", kind=Kind.TEXT), Keys(["a", "b"]), Keys(["a", None])]
        ),
        "orders.status": st.sampled_from([Column(name="status", kind=Kind.TEXT), Keys(["b", "a", "é"])]),
        "parts.kind": st.sampled_from([Column(name="kind", kind=Kind.TEXT), Keys(["a", "b"])]),
        "customers.id": st.sampled_from([Column(name="id", kind=Kind.INTEGER), Bounds(1, 3)]),
        "orders.id": st.sampled_from([Column(name="id", kind=Kind.INTEGER), Keys([1, 2])]),
        "orders.customer": st.sampled_from([Column(name="customer", kind=Kind.INTEGER), Bounds(1, 3)]),
    }
).map(lambda each: {place: _declared(place, declaration) for place, declaration in each.items()})


def _declared(place: str, declaration: Any) -> Column:
    """A column with bounds or keys."""
    if isinstance(declaration, Column):
        return declaration
    table, _, name = place.partition(".")
    kind = COLUMNS[table][name]
    if isinstance(declaration, Keys):
        return Column(name=name, kind=kind, keys=declaration)
    return Column(name=name, kind=kind, bounds=declaration)


@st.composite
def shops(draw: st.DrawFn, whose: Sequence[str] = ("customer", "household", "month")) -> Shop:
    """Any shop."""
    limits = draw(
        st.builds(Limits, rows=st.integers(1, 5))
        | st.builds(Limits, groups=st.integers(1, 3), rows_per_group=st.integers(1, 3))
        | st.builds(Limits, rows=st.integers(1, 5), groups=st.integers(1, 3))
    )
    chosen = draw(st.sampled_from(whose))
    return shop(chosen, Limits(rows=1) if chosen == "item" else limits, draw(DECLARED))
