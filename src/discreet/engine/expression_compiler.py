"""From a question's expressions to Ibis, and the rows they are about. Pure: it sees no row.

Ibis writes them in the language of each engine. An engine has to bring one function itself: TRY, as DuckDB has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from discreet.engine.interface import GREATEST, LEAST
from discreet.exact.rounding import nearest
from discreet.query.ir import Call, Column, Expr, Literal, Name, name_of
from discreet.tables import Kind
from discreet.tables.schema.column import LONGEST_TEXT

IBIS_TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp(6)",
}

Columns: TypeAlias = Mapping[Name, Any]
"""The Ibis values of the columns at hand."""

_CALENDAR = {
    Kind.DATE: (date(1, 1, 1), date(9999, 12, 31)),
    Kind.TIMESTAMP: (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)),  # noqa: DTZ001 — no zone, as all
}


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation as an Ibis table.

    Args:
        table: has the columns below and no others; one constant, if there are none.
        unit: the columns that say whose a row is.
        names: the other columns, by what the question calls them.
        unchecked: those whose declared keys aren't enforced, likewise; they go no further than filters and joins.
    """

    table: Any
    unit: tuple[str, ...]
    names: Mapping[Name, str]
    unchecked: Mapping[Name, str] = field(default_factory=dict)

    @property
    def columns(self) -> Columns:
        """The columns as Ibis values."""
        return {name: self.table[column] for name, column in self.names.items()}

    @property
    def units(self) -> dict[str, Any]:
        """The unit's columns as Ibis values."""
        return {column: self.table[column] for column in self.unit}

    def computed(self, columns: Mapping[str, Expr], *, beside: bool = False) -> Any:  # noqa: ANN401 — an Ibis table
        """The table with other columns next to the unit's, computed row by row.

        Args:
            columns: what they are called, and computed from.
            beside: whether to keep the present columns as well.
        """
        here = self.columns
        kept = {column: self.table[column] for column in self.names.values()} if beside else {}
        return selected(self.table, self.units | kept | {name: as_column(expr, here) for name, expr in columns.items()})


class Names:
    """The columns of one question: each keeps its number, so that equal relations become equal tables."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str, bool], int] = {}

    def of(self, alias: str, names: Iterable[str], *, checked: bool = True) -> dict[Name, str]:
        """The names of one relation's columns.

        Args:
            alias: of the relation.
            names: of its columns.
            checked: whether their declared keys are enforced; both forms of a column may be there.
        """
        found = {}
        for name in names:
            key = (alias, name.casefold(), checked)
            found[key[:2]] = f"x{self._numbers.setdefault(key, len(self._numbers))}"
        return found


def selected(table: Any, columns: Mapping[str, Any]) -> Any:  # noqa: ANN401 — Ibis tables and values
    """The table with these columns and no others; with a constant, if there are none, for a table has at least one."""
    import ibis

    return table.select(**(columns or {"one": ibis.literal(1)}))


def guarded(expr: Expr, columns: Columns) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """The Ibis value of an expression on rows, NULL where it would raise.

    Each call is wrapped in DuckDB's TRY. Functions are total already; this is a second wall, behind which a row that
    would make one raise counts as NULL.
    """
    value = _compile(expr, columns)
    return _try(str(value.type()))(value) if isinstance(expr, Call) else value


def as_column(expr: Expr, columns: Columns) -> Any:  # noqa: ANN401 — an Ibis value
    """The value of an expression as one of its kind, as an admitted column has it.

    So it is of one type in all parts of a union, a text is no longer than any other, there is no NaN, no year that
    Python doesn't know, and only one zero: of two that are equal, it would be left to chance which one represents both.
    """
    value = guarded(expr, columns)
    if isinstance(expr, Column):
        return value
    kind = expr.type.kind
    value = value.try_cast(IBIS_TYPES[kind])
    if kind is Kind.REAL:
        return one_zero(value)
    if kind in _CALENDAR:
        import ibis

        first, last = (_moment(end, kind) for end in _CALENDAR[kind])
        return ibis.cases((value.between(first, last), value))
    return value.left(LONGEST_TEXT) if kind is Kind.TEXT else value


def one_zero(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """A real without a sign on its zero; NULL in place of NaN. Admitted reals are so already."""
    import ibis

    return ibis.cases((value == 0, real(0)), (~value.isnan(), value))


def real(number: float) -> Any:  # noqa: ANN401 — an Ibis scalar
    """A DOUBLE of exactly this value; it goes through text, which DuckDB reads without rounding."""
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")


def whole(number: int) -> Any:  # noqa: ANN401 — an Ibis scalar
    """A BIGINT, whose cast Ibis can't leave out, since it starts from text."""
    import ibis

    return ibis.literal(str(number)).cast("int64")


def _compile(expr: Expr, columns: Columns) -> Any:  # noqa: ANN401 — Ibis values
    """The Ibis value of an expression on rows."""
    if isinstance(expr, Column):
        return columns[name_of(expr)]
    if isinstance(expr, Literal):
        return _constant(expr)
    if isinstance(expr, Call):
        return expr.function.compile(*(_compile(arg, columns) for arg in expr.args))
    raise TypeError("a released number has no rows")


def _constant(literal: Literal) -> Any:  # noqa: ANN401 — an Ibis scalar
    """A constant of exactly the value meant."""
    import ibis

    kind, value = literal.type.kind, literal.value
    if value is None:
        return ibis.null(IBIS_TYPES[kind])
    if isinstance(value, bool) or kind is Kind.TEXT:
        return ibis.literal(value)
    if isinstance(value, (int, Fraction)) and (kind is Kind.REAL or not LEAST <= value <= GREATEST):
        return real(nearest(Fraction(value)))
    if isinstance(value, date):
        return _moment(value, kind)
    return ibis.literal(value, type=IBIS_TYPES[kind])


def _moment(time: date, kind: Kind) -> Any:  # noqa: ANN401 — an Ibis scalar
    """A constant DATE or TIMESTAMP."""
    import ibis

    text = time.isoformat(sep=" ") if isinstance(time, datetime) else time.isoformat()
    return ibis.literal(text).cast(IBIS_TYPES[kind])


@cache
def _try(dtype: str) -> Any:  # noqa: ANN401 — an Ibis function
    """DuckDB's TRY, for values of one type: NULL where its argument would raise."""
    return _builtin("try", dtype)


@cache
def rounded() -> Any:  # noqa: ANN401 — an Ibis function
    """Rounding reals to whole ones, halves away from zero; Ibis's own makes integers, whether they fit or not."""
    return _builtin("round", "float64")


def _builtin(name: str, dtype: str) -> Any:  # noqa: ANN401 — an Ibis function
    """A function that the engine has, from values of one type to the same type."""
    import ibis

    def built_in(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 — Ibis takes the types from the signature
        """Nothing: the engine has it."""

    kind = ibis.dtype(dtype)
    return ibis.udf.scalar.builtin(built_in, name=name, signature=((kind,), kind))
