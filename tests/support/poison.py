"""Poison: columns of every kind whose rows hold the worst that a table lets in, and a DuckDB to run expressions on.

A pool's values are SQL texts, because some have no counterpart in Python (the year 20000, minus infinity).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import ibis

from discreet.privacy import Bounds, Keys, Unit
from discreet.query import ir
from discreet.query.ir import column_type
from discreet.tables import Column, Kind, Table
from discreet.tables.schema.source import Source

TYPES = {
    Kind.BOOLEAN: ("BOOLEAN", "boolean"),
    Kind.INTEGER: ("BIGINT", "int64"),
    Kind.REAL: ("DOUBLE", "float64"),
    Kind.TEXT: ("VARCHAR", "string"),
    Kind.DATE: ("DATE", "date"),
    Kind.TIMESTAMP: ("TIMESTAMP", "timestamp(6)"),
}


@dataclass(frozen=True)
class Pool:
    """A column with its worst values, as SQL texts; NULL is always among them."""

    column: Column
    values: tuple[str, ...]

    @property
    def expr(self) -> ir.Column:
        """The column as questions see it."""
        return ir.Column("poison", self.column.name, column_type(self.column))


def _integer(name: str, bounds: Bounds | None, *values: int) -> Pool:
    """A column of whole numbers."""
    return Pool(Column(name=name, kind=Kind.INTEGER, bounds=bounds), (*(f"'{value}'" for value in values), "NULL"))


def _real(name: str, bounds: Bounds | None, *values: str) -> Pool:
    """A column of real numbers."""
    return Pool(Column(name=name, kind=Kind.REAL, bounds=bounds), (*(f"'{value}'" for value in values), "NULL"))


def _other(name: str, kind: Kind, declared: Bounds | Keys | None, *values: str) -> Pool:
    """A column of texts, dates, timestamps or truths."""
    texts = (*("'" + value.replace("'", "''") + "'" for value in values), "NULL")
    bounds = declared if isinstance(declared, Bounds) else None
    return Pool(
        Column(name=name, kind=kind, bounds=bounds, keys=declared if isinstance(declared, Keys) else None), texts
    )


_LEAST, _MOST = -(2**63), 2**63 - 1
_TEXTS = (
    "", " ", "a", "A", "abc", "ß", "İ", "é", "e\u0301x", "👩\u200d👧", "\u00a0a\u00a0", "\t a\n", "12", "-5", " 7 ",
    "1e400", "1e3", "12.5", "0x1F", "nan", "-nan", "inf", "9223372036854775808", "-9223372036854775809",
    "2020-02-29", "2021-02-29", "2020-13-01", "infinity", "-infinity", "20000-01-01", "0000-01-01",
    "2020-02-29 23:59:60", "2020-02-29 12:30:00", "true", "T", "no", "%_\\", "'", "a%b", "x" * 10_000,
)  # fmt: skip
_HUGE = ("-1e150", "-1e16", "-1", "0", "1e-300", "4503599627370497.5", "1e16", "1e150")
_RATIOS = (
    "-100.5", "-2.5", "-0.5", "-0.0", "0.0", "5e-324", "0.1", "0.5", "0.49999999999999994", "1.5", "2.5", "2.675",
    "1.005", "999.995", "1000.25",
)  # fmt: skip
_REALS = (
    "-inf", "-1.7976931348623157e308", "-1", "-0.0", "0", "5e-324", "0.5", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "1.7976931348623157e308", "inf",
)  # fmt: skip
_DAYS = ("1999-12-28", "2000-01-01", "2000-01-03", "2000-02-29", "2000-12-31", "2001-01-01", "2001-03-02")
_ANY_DAYS = (
    "5877642-06-25 (BC)", "0001-12-31 (BC)", "0001-01-01", "0001-01-02", "1970-01-01", "2021-01-03", "9999-12-30",
    "9999-12-31", "10000-01-01", "5881580-07-10", "infinity", "-infinity",
)  # fmt: skip
_MOMENTS = ("2019-12-30", "2020-01-01 00:00:00.000001", "2020-02-29 23:59:59.999999", "2020-03-01 12:30:59.5")
_ANY_MOMENTS = (
    "290309-12-22 (BC) 00:00:00", "0001-01-01", "0001-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999",
    "9999-12-31 23:59:59.999998", "9999-12-31 23:59:59.999999", "10000-01-01",
    "294247-01-10 04:00:54.775806", "infinity", "-infinity",
)  # fmt: skip

POOLS = (
    _integer("small", Bounds(-1000, 1000), -1000, -10, -7, -1, 0, 1, 3, 10, 1000),
    _integer("wide", Bounds(-(2**62), 2**62), -(2**62), -(2**53) - 1, -1, 0, 1, 2**53 + 1, 2**62),
    _integer("full", Bounds(_LEAST, _MOST), _LEAST, _LEAST + 1, -1, 0, 1, _MOST),
    _integer("free", None, _LEAST, _LEAST + 1, -1, 0, 1, 7, 2**53 + 1, _MOST),
    _real("ratio", Bounds("-100.5", "1000.25"), *_RATIOS),
    _real("share", Bounds("0.1", "0.3"), "0.1", "0.2", "0.30000000000000004", "0.3"),
    _real("huge", Bounds("-1e150", "1e150"), *_HUGE),
    _real("loose", None, *_REALS),
    _other("word", Kind.TEXT, None, *_TEXTS),
    _other("sex", Kind.TEXT, Keys(["Female", "Male"]), "Female", "Male"),
    _other("flag", Kind.BOOLEAN, None, "true", "false"),
    _other("day", Kind.DATE, Bounds(date(1999, 12, 28), date(2001, 3, 2)), *_DAYS),
    _other("anyday", Kind.DATE, None, *_ANY_DAYS),
    _other("moment", Kind.TIMESTAMP, Bounds(datetime(2019, 12, 30), datetime(2020, 3, 1, 23, 59, 59)), *_MOMENTS),
    _other("anymoment", Kind.TIMESTAMP, None, *_ANY_MOMENTS),
)

TABLE = Table(
    name="poison",
    source=Source(kind="memory", location="poison"),
    columns=tuple(pool.column for pool in POOLS),
    unit=Unit.row(),
)


def constant(literal: ir.Literal) -> Any:
    """A literal as a plain engine would hand it over: typed by Ibis, which DuckDB needn't heed."""
    value = float(literal.value) if isinstance(literal.value, Fraction) else literal.value
    return ibis.literal(value, TYPES[literal.type.kind][1])


def compiled(expr: ir.Expr, table: Any) -> Any:
    """The expression in Ibis."""
    if isinstance(expr, ir.Column):
        return table[expr.name]
    if isinstance(expr, ir.Literal):
        return constant(expr)
    assert isinstance(expr, ir.Call)
    return expr.function.compile(*(compiled(arg, table) for arg in expr.args))


class Poisoned:
    """A DuckDB with one table per set of columns: the product of their pools."""

    def __init__(self) -> None:
        """Start without tables."""
        self._engine = duckdb.connect()
        self._made: dict[tuple[str, ...], str] = {}

    def run(self, names: tuple[str, ...], exprs: list[ir.Expr], most_rows: int = 5000) -> list[tuple[Any, ...]]:
        """The columns' values, then the expressions', row by row."""
        name = self._table(names, most_rows)
        pools = {pool.column.name: pool for pool in POOLS}
        schema = {column: TYPES[pools[column].column.kind][1] for column in names}
        table = ibis.table(schema, name=name)
        wanted = {f"r{n}": compiled(expr, table) for n, expr in enumerate(exprs)}
        sql = ibis.to_sql(table.select(*names, **wanted), dialect="duckdb")
        found: list[tuple[Any, ...]] = self._engine.execute(str(sql)).fetchall()
        return found

    def _table(self, names: tuple[str, ...], most_rows: int) -> str:
        """The product of the columns' pools; a part of it, spread evenly, where it is too large."""
        if names not in self._made:
            pools = {pool.column.name: pool for pool in POOLS}
            lists = ", ".join(
                "(SELECT unnest([{}])::{} AS {})".format(
                    ", ".join(f"{value}::{TYPES[pools[name].column.kind][0]}" for value in pools[name].values),
                    TYPES[pools[name].column.kind][0],
                    name,
                )
                for name in names
            ) or "(SELECT 1)"  # fmt: skip
            made = self._made[names] = f"t{len(self._made)}"
            self._engine.execute(f"CREATE TABLE {made}_all AS SELECT * FROM {lists}")
            self._engine.execute(
                f"CREATE TABLE {made} AS SELECT * FROM {made}_all QUALIFY "
                f"row_number() OVER () % greatest(1, count(*) OVER () // {most_rows}) = 0"
            )
        return self._made[names]
