"""Sensitivity of an expression: how far it can move when the numbers in it do, by its range and by its slope.

What the textbooks compute by hand: of x it is 1, of x + x 2, of 10·x 10; x·x has none until x is clipped. What a
question over tables moves by is worked out in `rules`, from limits and units; this is for noise of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from discreet.errors import InvalidArgument, QueryError, UnboundedColumn
from discreet.exact.rational import Rationalizable, positive
from discreet.privacy import Bounds, Limits, Unit
from discreet.query import ir
from discreet.tables import Column, Kind, Source, Table

_FAR = Fraction(2**40)
"""Where columns end of which nothing is said. What holds for these ends alone isn't a bound."""

_TABLE = "numbers"


def sensitivity(expression: str, *, moves: Rationalizable = 1, **bounds: Bounds) -> Fraction:
    """How far an expression of numbers can move, if each of them moves by at most so much, within its bounds.

    The lesser of two bounds is taken: the length of the expression's range, and how much its parts can move, added up.
    It needn't be the least possible, but nothing exceeds it, whatever the numbers are.

    Args:
        expression: in SQL; its columns are real numbers that are never NULL.
        moves: how far each number can move between neighbours; above 0.
        bounds: of columns, by name; others can be any number.

    Raises:
        QueryError: it isn't an expression of numbers, or nothing bounds how far it moves.
        InvalidArgument: bounds of a column that the expression doesn't have, or moves of 0.

    Source: Dwork, McSherry, Nissim, Smith (2006), Definition 2, for what sensitivity is.

    Examples:
        >>> [int(sensitivity(text)) for text in ("x", "x + x", "10 * x")]
        [1, 2, 10]
        >>> int(sensitivity("x * x", x=Bounds(0, 10)))
        20
        >>> int(sensitivity("LEAST(GREATEST(x, 0), 100)", moves=1000))
        100
    """
    step = positive(moves, "moves")
    try:
        names = _names(expression)
        _bound(expression, names, bounds, _FAR)
    except QueryError as error:
        error.place = None  # it is one in a text that nobody wrote
        raise
    unknown = sorted(bounds.keys() - names)
    if unknown:
        raise InvalidArgument(f"the expression has no column {unknown[0]!r}", hint=f"it has {', '.join(sorted(names))}")
    near, far = (_movement(_bound(expression, names, bounds, ends), step) for ends in (_FAR, 2 * _FAR))
    if near != far:
        raise UnboundedColumn(
            f"nothing bounds how far {expression} moves", hint="clip it: LEAST(GREATEST(x, 0), 100), or give bounds"
        )
    return near


def _names(expression: str) -> frozenset[str]:
    """The columns that an expression mentions."""
    from sqlglot import exp

    from discreet.query.sql.parse import parse

    statement = parse(f"SELECT {expression} AS value FROM {_TABLE}", "duckdb")  # noqa: S608 — nothing runs it
    return frozenset(column.name for column in statement.select.find_all(exp.Column))


def _bound(expression: str, names: frozenset[str], bounds: Mapping[str, Bounds], ends: Fraction) -> ir.Expr:
    """What an expression means, if columns of which nothing is said end somewhere."""
    from discreet.query.sql import question

    columns = tuple(
        Column(name=name, kind=Kind.REAL, bounds=bounds.get(name, Bounds(-ends, ends)), nullable=False)
        for name in sorted(names) or ["none"]
    )
    source = Source(kind="memory", location=_TABLE)
    table = Table(name=_TABLE, source=source, columns=columns, unit=Unit.row(), limits=Limits(rows=1))
    asked = question(f"SELECT SUM({expression}) AS value FROM {_TABLE}", (table,))  # noqa: S608 — nothing runs it
    (aggregate,) = asked.aggregates
    if aggregate.argument is None:
        raise TypeError("a sum has an argument")
    return aggregate.argument


def _movement(expr: ir.Expr, moves: Fraction) -> Fraction:
    """How far a bounded expression can move: its range, or its slope times the move, whichever is less.

    Of a product, |ab − a′b′| = |a(b − b′) + b′(a − a′)|: the greatest of one factor times the move of the other, and
    the other way round. What has no rule here moves as far as its range allows, or not at all if its arguments don't.
    """
    if isinstance(expr, ir.Literal):
        return Fraction(0)
    span = _length(expr)
    if isinstance(expr, ir.Column):
        return min(span, moves)
    if not isinstance(expr, ir.Call):
        raise TypeError("an expression of rows has no released parts")
    each = [_movement(arg, moves) for arg in expr.args]
    match expr.function.name:
        case "add" | "subtract":
            slope = sum(each, Fraction(0))
        case "negate" | "abs" | "real":
            (slope,) = each
        case "least" | "greatest":
            slope = max(each)
        case "multiply":
            one, other = (_greatest(arg) for arg in expr.args)
            slope = one * each[1] + other * each[0]
        case "divide" if isinstance(expr.args[1], ir.Literal):
            slope = each[0] / _greatest(expr.args[1])
        case _:
            slope = span if any(each) else Fraction(0)
    return min(span, slope)


def _ends(expr: ir.Expr) -> Iterator[Fraction]:
    """The ends of an expression's range."""
    if isinstance(expr, ir.Literal):
        yield from (Fraction(expr.value),) * 2  # type: ignore[call-overload]  # a number, as its place says
        return
    if expr.type.lo is None or expr.type.hi is None:
        raise UnboundedColumn(f"nothing bounds {expr}", hint="give bounds of its columns")
    yield from (expr.type.lo, expr.type.hi)


def _length(expr: ir.Expr) -> Fraction:
    """How long an expression's range is; that of a condition is 1."""
    if expr.type.kind is Kind.BOOLEAN:
        return Fraction(1)
    lo, hi = _ends(expr)
    return hi - lo


def _greatest(expr: ir.Expr) -> Fraction:
    """The greatest absolute value."""
    return max(map(abs, _ends(expr)))
