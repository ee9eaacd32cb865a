"""Questions on disk, and the tables they are asked of: a column of every kind, a unit of every kind."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

from discreet.dataset import Column, Kind, Source, Table
from discreet.privacy import Bounds, Keys, Limits, Unit

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

TABLES = (PEOPLE, VISITS, DAYS)
