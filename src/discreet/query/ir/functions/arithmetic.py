"""Arithmetic: exact in 64 bits where the ranges allow it, in float64 otherwise.

There is never an overflow, and never a NaN.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import fmod, sqrt
from typing import Any

from discreet.errors import TypeMismatch, Unsupported
from discreet.query.ir import ranges
from discreet.query.ir.expressions import Call, Expr, Function, Literal, Type
from discreet.query.ir.functions.application import (
    Args,
    demand_bounds,
    number_type,
    numbers,
    reals,
    span_of,
    strict,
    taking,
)
from discreet.query.ir.functions.casts import CASTS, typed
from discreet.query.ir.ranges import EXACT, INT64, Interval, within
from discreet.tables import Kind

Number = int | float
Span = Callable[..., Interval]


def _kind(args: Args) -> Kind:
    """Whole numbers stay whole."""
    return Kind.INTEGER if all(arg.type.kind is Kind.INTEGER for arg in args) else Kind.REAL


def _operator(
    name: str, label: str, span: Span, evaluate: Callable[..., Any], compute: Callable[..., Any] | None = None
) -> Function:
    """An operator whose result is real if an argument is, or if it could leave 64 bits.

    Args:
        name: of the function.
        label: what SQL calls it.
        span: its range rule.
        evaluate: on Python numbers.
        compute: on Ibis values, where that isn't the same.
    """

    def span_over(args: Args) -> Interval:
        if name == "multiply" and args[0] == args[1]:
            return ranges.square(span_of(args[0]))
        return span(*map(span_of, args))

    def prepare(args: Args) -> Args:
        checked = numbers(label, args)
        if _kind(checked) is Kind.INTEGER and within(span(*map(_held, checked)), INT64):
            return checked
        demand_bounds(label, checked)
        return checked if _kind(checked) is Kind.REAL or within(span_over(checked), INT64) else reals(checked)

    def infer(args: Args) -> Type:
        return number_type(_kind(args), span_over(args), args)

    def compile_(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
        return (compute or evaluate)(*map(typed, values))

    return Function(name, infer, compile_, strict(evaluate), prepare)


def _held(arg: Expr) -> Interval:
    """The range of a whole number, which has at most 64 bits."""
    lo, hi = span_of(arg)
    return INT64[0] if lo is None else lo, INT64[1] if hi is None else hi


def _is_whole(arg: Expr) -> bool:
    """Whether a real holds whole numbers only."""
    if isinstance(arg, Literal):
        return isinstance(arg.value, (int, Fraction)) and Fraction(arg.value).denominator == 1
    if arg.type.kind is Kind.INTEGER:
        return True
    return isinstance(arg, Call) and arg.function == CASTS[Kind.REAL] and arg.args[0].type.kind is Kind.INTEGER


def _prepare_divide(args: Args) -> Args:
    """Two reals; a row with a large or infinite divisor is harmless, but not one with such a dividend."""
    checked = reals(numbers("/", args))
    demand_bounds("/", checked)
    return checked


def _infer_divide(args: Args) -> Type:
    """The range of the quotient; unknown, and infinite at worst, if the divisor can come close to 0."""
    span = ranges.divide(span_of(args[0]), span_of(args[1]), whole=_is_whole(args[1]))
    return number_type(Kind.REAL, span, args, nullable=_may_be_zero(args[1]))


def _may_be_zero(arg: Expr) -> bool:
    """Whether 0 is in the argument's range."""
    return ranges.least_size(span_of(arg)) == 0


def _whole_pair(label: str) -> Callable[[Args], Args]:
    """Two whole numbers, the first exact in float64."""

    def prepare(args: Args) -> Args:
        checked = numbers(label, args)
        if _kind(checked) is Kind.REAL:
            raise TypeMismatch(f"{label} divides whole numbers", hint="FLOOR(a / b) does it for real ones")
        demand_bounds(label, checked)
        if not within(span_of(checked[0]), (Fraction(-EXACT), Fraction(EXACT))) and checked[0].type.is_bounded:
            raise Unsupported(f"{label} takes numbers below 2⁵³", hint="declare tighter bounds, or use FLOOR(a / b)")
        return checked

    return prepare


def _prepare_remainder(args: Args) -> Args:
    """Two numbers of one kind; whole ones above −2⁶³, whose remainder by −1 overflows."""
    checked = numbers("%", args)
    demand_bounds("%", checked)
    return (
        checked if _kind(checked) is Kind.REAL or within(ranges.negate(span_of(checked[0])), INT64) else reals(checked)
    )


def _infer_quotient(args: Args) -> Type:
    """The range of the quotient, cut off towards zero."""
    lo, hi = ranges.divide(span_of(args[0]), span_of(args[1]), whole=True)
    span = None if lo is None else Fraction(int(lo)), None if hi is None else Fraction(int(hi))
    return number_type(Kind.INTEGER, span, args, nullable=_may_be_zero(args[1]))


def _infer_remainder(args: Args) -> Type:
    """The remainder has the sign of the dividend and is smaller than the divisor in size."""
    dividend, divisor = span_of(args[0]), span_of(args[1])
    most, limit = ranges.magnitude(dividend), ranges.magnitude(divisor)
    if limit is not None and _kind(args) is Kind.INTEGER:
        limit = max(limit - 1, Fraction(0))
    sizes = [size for size in (most, limit) if size is not None]
    size = min(sizes) if sizes else None
    lo = Fraction(0) if dividend[0] is not None and dividend[0] >= 0 else None if size is None else -size
    hi = Fraction(0) if dividend[1] is not None and dividend[1] <= 0 else size
    return number_type(_kind(args), (lo, hi), args, nullable=_may_be_zero(args[1]))


def _infer_sqrt(args: Args) -> Type:
    """The root never decreases, and float64 rounds it to nearest."""
    lo, hi = (None if end is None else Fraction(sqrt(end) if end > 0 else 0) for end in span_of(args[0]))
    negative = args[0].type.lo is None or args[0].type.lo < 0
    return number_type(Kind.REAL, (lo or Fraction(0), hi), args, nullable=negative)


def _compile_divide(left: Any, right: Any) -> Any:  # noqa: ANN401 — Ibis values
    """NULL where the divisor is 0."""
    return typed(left) / typed(right).nullif(0)


def _compile_quotient(left: Any, right: Any) -> Any:  # noqa: ANN401 — Ibis values
    """Take the remainder off, so that what is divided in float64 has a whole result: exact below 2⁵³."""
    left, right = typed(left), typed(right).nullif(0)
    return ((left - left % right) / right).cast("int64")


def _compile_remainder(left: Any, right: Any) -> Any:  # noqa: ANN401 — Ibis values
    """NULL where the divisor is 0."""
    return typed(left) % typed(right).nullif(0)


def _compile_sqrt(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """NULL for negative numbers: the argument is guarded, not the branch, so evaluation order can't matter."""
    import ibis

    value = typed(value)
    return ibis.cases((value >= 0, value)).sqrt()


def _quotient(left: int, right: int) -> int | None:
    """Integer division, cut off towards zero."""
    if right == 0:
        return None
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _remainder(left: Number, right: Number) -> Number | None:
    """The remainder, with the sign of the dividend."""
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return fmod(left, right)
    return left - right * (_quotient(left, right) or 0)


ARITHMETIC = (
    _operator("negate", "-", ranges.negate, operator.neg),
    _operator("add", "+", ranges.add, operator.add),
    _operator("subtract", "-", ranges.subtract, operator.sub),
    _operator("multiply", "*", ranges.multiply, operator.mul),
    Function(
        "divide",
        _infer_divide,
        _compile_divide,
        strict(lambda left, right: left / right if right else None),
        _prepare_divide,
    ),
    Function("quotient", _infer_quotient, _compile_quotient, strict(_quotient), _whole_pair("//"), copies=2),
    Function("remainder", _infer_remainder, _compile_remainder, strict(_remainder), _prepare_remainder),
    _operator("abs", "ABS", ranges.absolute, abs, lambda value: value.abs()),
    Function(
        "sqrt",
        _infer_sqrt,
        _compile_sqrt,
        strict(lambda value: sqrt(value) if value >= 0 else None),
        lambda args: reals(taking("SQRT", Kind.INTEGER, Kind.REAL)(args)),
        copies=2,
    ),
)
