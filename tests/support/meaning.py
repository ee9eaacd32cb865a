"""What an expression means: its value on fixed rows, as a question is read, and as foreign judges have it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import ibis

from discreet.privacy import Bounds, Unit
from discreet.query.sql import question
from discreet.tables import Column, Kind, Source, Table
from support.poison import TYPES, compiled

MOMENTS = Table(
    name="moments",
    source=Source(kind="memory", location="moments"),
    unit=Unit.row(),
    columns=(
        Column(name="d", kind=Kind.DATE),
        Column(name="ts", kind=Kind.TIMESTAMP),
        Column(name="n", kind=Kind.INTEGER, bounds=Bounds(-7, 3_000_000_000)),
        Column(name="r", kind=Kind.REAL, bounds=Bounds("-2.5", 16_777_217)),
        Column(name="s", kind=Kind.TEXT),
        Column(name="k", kind=Kind.TEXT),
        Column(name="b", kind=Kind.BOOLEAN),
    ),
)

ROWS: tuple[tuple[Any, ...], ...] = (
    (date(2020, 2, 29), datetime(2020, 2, 29, 23, 59, 58), -7, 2.5, "Ab", None, True),
    (date(2020, 6, 1), datetime(2020, 6, 1, 10, 30), 300, -2.5, "12", "x", False),
    (date(2020, 6, 2), datetime(2020, 6, 2), 40_000, 0.1, "", "", None),
    (date(2021, 12, 31), datetime(2021, 12, 31, 0, 0, 1), 3_000_000_000, 16777217.0, " 7 ", "Äb", True),
    (None, None, None, None, None, None, None),
)
"""Moments with a time of day, and midnights; whole numbers of every width; reals that a float32 can't hold; NULLs."""


def _literal(value: Any, kind: str) -> str:
    """A value as SQL writes it."""
    return f"CAST({'NULL' if value is None else repr(str(value))} AS {kind})"


VALUES = ", ".join(
    "("
    + ", ".join(
        _literal(value, TYPES[column.kind][0].replace("DOUBLE", "DOUBLE PRECISION"))
        for column, value in zip(MOMENTS.columns, row, strict=True)
    )
    + f", {place})"
    for place, row in enumerate(ROWS)
)
NAMES = ", ".join([column.name for column in MOMENTS.columns] + ["place"])
CREATE = f"CREATE TEMP TABLE moments AS SELECT * FROM (VALUES {VALUES}) AS v({NAMES})"
"""The same rows, in DuckDB and in PostgreSQL."""


class Meanings:
    """Values of expressions on the rows, computed by DuckDB from what a question was read as."""

    def __init__(self) -> None:
        self.engine = duckdb.connect()
        self.engine.execute(CREATE)
        self._rows = ibis.table({column.name: TYPES[column.kind][1] for column in MOMENTS.columns}, name="moments")

    def read(self, expression: str, dialect: str) -> list[Any]:
        """The value of an expression of this dialect on each row.

        Raises:
            QueryError: it is refused.
        """
        asked = question(f"SELECT {expression} AS v FROM moments WHERE 1 = 0", (MOMENTS,), dialect)
        rows = ibis.table({**self._rows.schema(), "place": "int64"}, name="moments")
        found = rows.select("place", v=compiled(asked.outputs[0].expr, rows)).order_by("place").select("v")
        return [normal(value) for (value,) in self.engine.execute(str(ibis.to_sql(found, dialect="duckdb"))).fetchall()]

    def plain(self, expression: str) -> list[Any]:
        """The same in DuckDB's own SQL."""
        return in_order(self.engine.execute(f"SELECT {expression} FROM moments ORDER BY place").fetchall())


def in_order(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The only column of rows."""
    return [normal(row[0]) for row in rows]


def normal(value: Any) -> Any:
    """A value in a form that all judges share: a number as a float, a midnight as a date."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        return value.date()
    return float(value) if isinstance(value, (int, float, Decimal)) else value
