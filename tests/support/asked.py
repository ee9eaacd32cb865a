"""Questions on disk, and the tables they are asked of: a column of every kind, a unit of every kind."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.tables import Column, Kind, Link, Source, Table

FOLDER = Path(__file__).parents[1] / "fixtures" / "sql"


def pairs(path: Path) -> list[tuple[str, str]]:
    """Statement and expectation, by turns; each ends in a semicolon at a line's end. `-- ` begins a comment line."""
    text = re.sub(r"^-- .*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    parts = [part.strip() for part in re.split(r";\n", text) if part.strip()]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _column(name: str, kind: Kind, bounds: Bounds | None = None, keys: Keys | None = None) -> Column:
    """A column."""
    return Column(name=name, kind=kind, bounds=bounds, keys=keys)


PEOPLE = Table(
    name="people",
    source=Source(kind="csv", location="people.csv"),
    unit=Unit.row(),
    columns=(
        _column("age", Kind.INTEGER, Bounds(0, 110)),
        _column("hours-per-week", Kind.INTEGER, Bounds(0, 100)),
        _column("income", Kind.REAL, Bounds(0, "250000.5")),
        _column("share", Kind.REAL, Bounds(0, 1)),
        _column("wealth", Kind.REAL),
        _column("code", Kind.INTEGER),
        _column("large", Kind.INTEGER, Bounds(-(2**62), 2**62)),
        _column("sex", Kind.TEXT, keys=Keys(["Female", "Male"])),
        _column("level", Kind.INTEGER, keys=Keys([1, 2, 3, None])),
        _column("education", Kind.TEXT),
        _column("married", Kind.BOOLEAN),
        _column("born", Kind.DATE, Bounds(date(1990, 1, 1), date(1999, 12, 31))),
        _column("joined", Kind.DATE),
        _column("seen", Kind.TIMESTAMP, Bounds(datetime(2023, 1, 1), datetime(2024, 12, 31, 23, 59, 59))),
        _column("left_at", Kind.TIMESTAMP),
    ),
)

_VISIT = (
    _column("person_id", Kind.INTEGER),
    _column("region", Kind.TEXT, keys=Keys(["north", "south"])),
    _column("amount", Kind.REAL, Bounds(0, 100)),
    _column("day", Kind.DATE, Bounds(date(2024, 1, 1), date(2024, 12, 31))),
)

VISITS = Table(
    name="visits",
    source=Source(kind="csv", location="visits.csv"),
    unit=Unit("person_id"),
    limits=Limits(groups=2, rows_per_group=5),
    columns=_VISIT,
)

DAYS = Table(
    name="days",
    source=Source(kind="csv", location="days.csv"),
    unit=Unit("person_id", per="day", at="day"),
    limits=Limits(rows=5),
    columns=_VISIT,
)

CUSTOMERS = Table(
    name="customers",
    source=Source(kind="parquet", location="customers.parquet"),
    unit=Unit("id"),
    limits=Limits(rows=1),
    columns=(
        _column("id", Kind.INTEGER),
        _column("country", Kind.TEXT, keys=Keys(["DE", "FR", "IT"])),
        _column("born", Kind.DATE, Bounds(date(1930, 1, 1), date(2010, 12, 31))),
        _column("credit", Kind.REAL, Bounds(0, 1000)),
    ),
)

ORDERS = Table(
    name="orders",
    source=Source(kind="parquet", location="orders.parquet"),
    unit=None,
    links=(Link("customer_id", "customers", "id"),),
    limits=Limits(rows=20),
    columns=(
        Column(name="id", kind=Kind.INTEGER, nullable=False),
        _column("customer_id", Kind.INTEGER),
        _column("shop_id", Kind.INTEGER, Bounds(1, 50)),
        _column("placed", Kind.DATE, Bounds(date(2024, 1, 1), date(2024, 12, 31))),
        _column("total", Kind.REAL, Bounds(0, 500)),
        _column("paid", Kind.BOOLEAN),
    ),
)

ITEMS = Table(
    name="items",
    source=Source(kind="parquet", location="items.parquet"),
    unit=None,
    links=(Link("order_id", "orders", "id"),),
    limits=Limits(rows=60),
    columns=(
        _column("order_id", Kind.INTEGER),
        _column("product", Kind.TEXT),
        _column("quantity", Kind.INTEGER, Bounds(0, 10)),
        _column("price", Kind.REAL, Bounds(0, 200)),
    ),
)

SHOPS = Table(
    name="shops",
    source=Source(kind="csv", location="shops.csv"),
    unit=None,
    public=True,
    unique=("id",),
    columns=(
        _column("id", Kind.INTEGER, Bounds(1, 50)),
        _column("city", Kind.TEXT, keys=Keys(["Bonn", "Lyon", "Pisa"])),
        _column("size", Kind.INTEGER, Bounds(1, 9)),
    ),
)

LEVELS = Table(
    name="levels",
    source=Source(kind="csv", location="levels.csv"),
    unit=None,
    public=True,
    columns=(_column("level", Kind.INTEGER, Bounds(1, 3)), _column("label", Kind.TEXT, keys=Keys(["low", "high"]))),
)

TABLES = (PEOPLE, VISITS, DAYS, CUSTOMERS, ORDERS, ITEMS, SHOPS, LEVELS)
