"""Sensitivity of an expression: how far it can move when the numbers in it do, by its range and by its slope.

What the textbooks compute by hand: of x it is 1, of x + x 2, of 10·x 10; x·x has none until x is clipped. What a
question over tables moves by is worked out in `sensitivities`, from limits and units; this is for your own noise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument, QueryError, UnboundedColumn, Unsupported
from discreet.exact.rational import Rationalizable, positive
from discreet.privacy import Bounds, Limits, Unit
from discreet.query import ir
from discreet.query.ir import magnitude
from discreet.tables import Column, Kind, Source, Table

_SOME = Bounds(-(2**40), 2**40)
"""Bounds of columns that are given none, until the expression is read. No result rests on them."""

_TABLE = "numbers"


@taking_known
def sensitivity(expression: str, *, moves: Rationalizable = 1, **bounds: Bounds) -> Fraction:
    """How far an expression of numbers can move, if each of them moves by at most its own amount, within its bounds.

    The lesser of two bounds is taken: the length of the expression's range, and how much its parts can move, added up.
    It needn't be the least possible, but nothing exceeds it, whatever the numbers are. That is of real numbers: what
    floats round off when the expression is computed comes on top.

    Args:
        expression: in SQL; its columns are real numbers that are never NULL.
        moves: how far each number can move between neighbours; above 0.
        bounds: of columns, by name; others can be any number.

    Raises:
        QueryError: it isn't an expression of numbers, it may be NULL, or nothing bounds how far it moves.
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
        expr = _loosened(_bound(expression, names, bounds), names - bounds.keys(), {})
    except QueryError as error:
        error.place = None  # it is one in a text that nobody wrote
        raise
    unknown = sorted(bounds.keys() - names)
    if unknown:
        raise InvalidArgument(f"the expression has no column {unknown[0]!r}", hint=f"it has {', '.join(sorted(names))}")
    if expr.type.nullable:
        raise Unsupported(f"{expression} may be NULL, which is no distance from any number", hint="COALESCE(…, 0)")
    found = _movement(expr, step)
    if found is None:
        raise UnboundedColumn(
            f"nothing bounds how far {expression} moves", hint="clip it: LEAST(GREATEST(x, 0), 100), or give bounds"
        )
    return found


def _names(expression: str) -> frozenset[str]:
    """The columns that an expression mentions."""
    from sqlglot import exp

    from discreet.query.sql import parse

    statement = parse(f"SELECT {expression} AS value FROM {_TABLE}", "duckdb")  # noqa: S608 — nothing runs it
    return frozenset(column.name for column in statement.select.find_all(exp.Column))


def _bound(expression: str, names: frozenset[str], bounds: Mapping[str, Bounds]) -> ir.Expr:
    """Read an expression, with bounds for columns that are given none: none is read without."""
    from discreet.query.sql import question

    columns = tuple(
        Column(name=name, kind=Kind.REAL, bounds=bounds.get(name, _SOME), nullable=False)
        for name in sorted(names) or ["none"]
    )
    source = Source(kind="memory", location=_TABLE)
    table = Table(name=_TABLE, source=source, columns=columns, unit=Unit.row(), limits=Limits(rows=1))
    asked = question(f"SELECT SUM({expression}) AS value FROM {_TABLE}", (table,))  # noqa: S608 — nothing runs it
    (aggregate,) = asked.aggregates
    if aggregate.argument is None:
        raise TypeError("a sum has an argument")
    return aggregate.argument


def _loosened(expr: ir.Expr, loose: Collection[str], done: dict[int, tuple[ir.Expr, ir.Expr]]) -> ir.Expr:
    """The expression with no ends for columns that are given none, and the ranges that follow.

    Args:
        expr: of a row.
        loose: the names of these columns.
        done: what was loosened before, by identity, with what it was made of: shared parts stay shared.
    """
    if isinstance(expr, ir.Column):
        return replace(expr, type=replace(expr.type, lo=None, hi=None)) if expr.name in loose else expr
    if not isinstance(expr, ir.Call):
        return expr
    if id(expr) not in done:
        args = tuple(_loosened(arg, loose, done) for arg in expr.args)
        done[id(expr)] = expr, replace(expr, args=args, type=expr.function.infer(args))
    return done[id(expr)][1]


def _movement(expr: ir.Expr, moves: Fraction) -> Fraction | None:
    """How far an expression can move: its range, or its slope times the move, whichever is less; None without an end.

    Of a product, |ab − a′b′| = |a(b − b′) + b′(a − a′)|: the greatest of one factor times the move of the other, and
    the other way round. What has no rule here moves as far as its range allows. So does the least of numbers of which
    one may be NULL, because it may change from one to another without any of them moving.
    """
    if not any(True for _ in ir.columns_in(expr)):
        return Fraction(0)
    span = _length(expr)
    if isinstance(expr, ir.Column):
        return moves if span is None else min(span, moves)
    if not isinstance(expr, ir.Call):
        raise TypeError("an expression of rows has no released parts")
    slope = _slope(expr, [_movement(arg, moves) for arg in expr.args])
    return min((each for each in (span, slope) if each is not None), default=None)


def _slope(expr: ir.Call, each: Sequence[Fraction | None]) -> Fraction | None:
    """How far a function can move, given how far each of its arguments can; None if that isn't known."""
    known = [one for one in each if one is not None]
    all_known = len(known) == len(each)
    match expr.function.name:
        case "add" | "subtract":
            return sum(known, Fraction(0)) if all_known else None
        case "negate" | "abs" | "real":
            return each[0]
        case "least" | "greatest" if not any(arg.type.nullable for arg in expr.args):
            return max(known) if all_known else None
        case "multiply":
            one, other = (_greatest(arg) for arg in expr.args)
            parts = [_times(one, each[1]), _times(other, each[0])]
            return None if None in parts else sum((part for part in parts if part is not None), Fraction(0))
        case "divide" if isinstance(expr.args[1], ir.Literal):
            divisor = _greatest(expr.args[1])
            return None if each[0] is None or not divisor else each[0] / divisor
        case _:  # nothing bounds how far it moves
            return None


def _times(size: Fraction | None, move: Fraction | None) -> Fraction | None:
    """A size times a move; None if either has no end, but nothing if there is no move."""
    if move == 0:
        return Fraction(0)
    return None if size is None or move is None else size * move


def _ends(expr: ir.Expr) -> tuple[Fraction | None, Fraction | None]:
    """The ends of an expression's range."""
    if isinstance(expr, ir.Literal) and isinstance(expr.value, int | Fraction):
        return (Fraction(expr.value),) * 2
    return expr.type.lo, expr.type.hi


def _length(expr: ir.Expr) -> Fraction | None:
    """How long an expression's range is; that of a condition is 1, and None that of one without an end."""
    if expr.type.kind is Kind.BOOLEAN:
        return Fraction(1)
    lo, hi = _ends(expr)
    return None if lo is None or hi is None else hi - lo


def _greatest(expr: ir.Expr) -> Fraction | None:
    """The greatest absolute value; None if there is none."""
    return magnitude(_ends(expr))
