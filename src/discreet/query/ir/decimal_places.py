"""Decimal places: how many digits an expression's values have after the point, by SQL's rules for decimals.

Values are still computed as real numbers: the places decide how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from discreet.errors import unforeseen
from discreet.query.ir.expressions import (
    Call,
    Column,
    Expr,
    Function,
    Literal,
    Margin,
    Released,
    is_null,
)
from discreet.query.ir.relations import (
    Distinct,
    Join,
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Summarized,
    Summary,
    Union,
    Where,
    Window,
    Windowed,
    sources,
)
from discreet.tables import Kind

Places: TypeAlias = Mapping[tuple[str, str], int | None]
"""The digits of columns after the point, by alias and name; None where nothing tells."""

_MOST = 18
"""Of constants."""

_KEEPS = {"real", "add", "subtract", "negate", "abs", "coalesce", "greatest", "least", "if"}

_BETWEEN = {Summary.AVG, Summary.MEDIAN}
"""Summaries with values between those of the rows."""

_NOTHING: Mapping[str, int | None] = MappingProxyType({})


def places_of(expr: Expr, columns: Places, released: Mapping[str, int | None] = _NOTHING) -> int | None:
    """How many digits an expression's values have after the point; None if nothing tells.

    Args:
        expr: of a row, or of released values.
        columns: the digits of columns.
        released: the digits of released values, by name.

    Examples:
        >>> from discreet.query.ir.expressions import Type
        >>> from discreet.query.ir.literals import numeral
        >>> from discreet.query.ir.functions import call
        >>> price = Column("sales", "price", Type(Kind.REAL, Fraction(0), Fraction(10)))
        >>> places_of(call("multiply", price, numeral("0.5")), {("sales", "price"): 2})
        3
    """
    match expr:
        case Released(name=name):
            return released.get(name)
        case Column(table=table, name=name) if (table, name) in columns:
            return columns[table, name]
        case Literal(value=int() | Fraction() as value):
            return next((places for places in range(_MOST + 1) if (value * 10**places).denominator == 1), None)
        case Call(function=Function(name=name), args=args) if name in _KEEPS:
            return _most((*args[1::2], args[-1]) if name == "if" else args, columns, released)
        case Call(function=Function(name="multiply"), args=args):
            found = [places_of(arg, columns, released) for arg in args]
            return None if None in found else sum(places for places in found if places is not None)
        case Column() | Literal() | Call() | Margin():
            return 0 if expr.type.kind is Kind.INTEGER else None
        case _:
            raise unforeseen(expr)


def places_in(relation: Relation) -> Places:
    """The digits of all columns in a relation: declared decimals, and columns computed from them."""
    found: dict[tuple[str, str], int | None] = {}
    seen: set[int] = set()

    def add(part: Relation) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        for below in sources(part):
            add(below)
        match part:
            case Scan(table=table, alias=alias):
                known = {each.name: 0 if each.kind is Kind.INTEGER else each.places for each in table.columns}
            case Project(alias=alias, columns=columns):
                known = {name: places_of(expr, found) for name, expr in columns}
            case Union(alias=alias, columns=typed, parts=parts):
                rows = zip(*(part.columns for part in parts), strict=True)
                same = [_most((expr for _, expr in each), found, _NOTHING) for each in rows]
                known = {name: places for (name, _), places in zip(typed, same, strict=True)}
            case PerUnit(alias=alias, keys=keys, columns=summarized):
                known = {name: places_of(expr, found) for name, expr in keys}
                known |= {each.name: _of(each, each.summary, found) for each in summarized}
            case Window(alias=alias, columns=windowed):
                known = {each.name: _of(each, each.function, found) for each in windowed}
            case Where() | Join() | Distinct():
                return
            case _:
                raise unforeseen(part)
        found.update({(alias, name): places for name, places in known.items()})

    add(relation)
    return found


def _of(column: Summarized | Windowed, function: Summary | Ranking, columns: Places) -> int | None:
    """The digits of what is computed of a unit's rows: those of its argument, or of a whole number."""
    if column.type.kind is Kind.INTEGER:
        return 0
    return None if column.argument is None or function in _BETWEEN else places_of(column.argument, columns)


def _most(args: Iterable[Expr], columns: Places, released: Mapping[str, int | None]) -> int | None:
    """The most digits that one of some values has, NULL apart; None if nothing tells of one of them."""
    found = [places_of(arg, columns, released) for arg in args if not is_null(arg)]
    return None if None in found else max((places for places in found if places is not None), default=None)
