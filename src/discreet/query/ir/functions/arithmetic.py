"""Arithmetic and rounding: exact in 64 bits where the ranges allow it, in float64 otherwise.

There is never an overflow, and never a NaN. Numbers are rounded to whole ones where these fit, and to decimal digits.
"""

from __future__ import annotations

import math
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
    constant,
    demand_bounds,
    number_type,
    numbers,
    of_kind,
    reals,
    span_of,
    strict,
    taking,
    unbounded,
)
from discreet.query.ir.functions.casts import CASTS, typed
from discreet.query.ir.ranges import EXACT, INT64, Interval, within
from discreet.tables import Kind

Number = int | float
Span = Callable[..., Interval]

MOST_DIGITS = 15
"""A float64 has no more decimal digits than that."""

_EXACT = (Fraction(-EXACT), Fraction(EXACT))


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
    """The range of a whole number, which has 64 bits at the most."""
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
    """Two reals; a row whose divisor is large or infinite is harmless, but one whose dividend is isn't."""
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


def is_exact(expr: Expr) -> bool:
    """Whether the expression's values are so small that float64 holds all whole numbers among them."""
    return within(span_of(expr), _EXACT)


def half_away(value: float) -> float:
    """The nearest whole number; halves go away from zero, as in C and SQL.

    Examples:
        >>> half_away(2.5), half_away(-0.5), half_away(0.49999999999999994)
        (3.0, -1.0, 0.0)
    """
    whole = float(math.trunc(value))
    return whole + math.copysign(1.0, value) if abs(value - whole) >= 0.5 else whole  # noqa: PLR2004 — a half


def _to_digits(value: float | None, digits: int) -> float | None:
    """Scale, round, scale back: in that order, and each step in float64. Beyond 2⁵³ of them it is rounded already."""
    if value is None:
        return None
    scaled = _scaled(value, digits)
    return _scaled(half_away(scaled), -digits) if abs(scaled) <= EXACT else value


def _scaled(value: Any, digits: int) -> Any:  # noqa: ANN401 — floats, and Ibis values
    """The value times a power of ten, all of it in float64, which has no exact negative powers."""
    power = 10.0 ** abs(digits)
    return value * power if digits > 0 else value / power


def _whole(name: str, label: str, compute: Callable[[Any], Any]) -> Function:
    """A rounding of small reals to whole numbers."""

    def infer(args: Args) -> Type:
        lo, hi = span_of(args[0])
        if lo is None or hi is None or not is_exact(args[0]):
            raise unbounded(args[0], f"{label} could overflow on one of its rows")
        return number_type(Kind.INTEGER, (Fraction(compute(lo)), Fraction(compute(hi))), args)

    return Function(
        name,
        infer,
        lambda value: getattr(typed(value), name)().cast("int64"),
        lambda value: None if value is None else int(compute(value)),
        lambda args: reals(of_kind(label, args, Kind.REAL, Kind.INTEGER)),
    )


def _real(name: str, label: str, compute: Callable[[Any], int]) -> Function:
    """A rounding of reals of any size, which stay real: beyond 2⁵³ they are whole numbers already."""

    def infer(args: Args) -> Type:
        lo, hi = span_of(args[0])
        span = None if lo is None else Fraction(compute(lo)), None if hi is None else Fraction(compute(hi))
        return number_type(Kind.REAL, span, args)

    def compile_(value: Any) -> Any:  # noqa: ANN401 — Ibis values
        import ibis

        value = typed(value)
        small = ibis.cases((value.abs() <= EXACT, value))
        return getattr(small, name.removesuffix("_real"))().cast("float64").coalesce(value)

    def evaluate(value: float | None) -> float | None:
        return float(compute(value)) if value is not None and math.isfinite(value) else value

    return Function(
        name, infer, compile_, evaluate, lambda args: reals(of_kind(label, args, Kind.REAL, Kind.INTEGER)), copies=3
    )


def _round_half_away(value: Fraction | float) -> int:
    """`half_away` for rationals too."""
    if isinstance(value, float):
        return int(half_away(value))
    return math.floor(value + Fraction(1, 2)) if value >= 0 else math.ceil(value - Fraction(1, 2))


def _prepare_round(args: Args) -> Args:
    """A real, and a constant number of digits."""
    return *reals(of_kind("ROUND", args[:1], Kind.REAL, Kind.INTEGER)), args[1]


def _infer_round(args: Args) -> Type:
    """Each step never decreases, so the rounded ends hold all rounded values; `outward` forgives an engine an ulp."""
    digits = constant("the number of digits", args[1], -MOST_DIGITS, MOST_DIGITS)
    if digits == 0:
        raise Unsupported("ROUND(x, 0) isn't offered", hint="ROUND(x) rounds to whole numbers")
    lo, hi = span_of(args[0])
    slack = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    span = None if lo is None else lo - slack, None if hi is None else hi + slack
    return number_type(Kind.REAL, span, args[:1])


def _compile_round(value: Any, digits: Any) -> Any:  # noqa: ANN401 — Ibis values
    """Step by step as `_to_digits`: engines disagree about decimal digits, and so do versions of one engine."""
    import ibis

    value, digits = typed(value), digits.op().value  # a literal, as `_infer_round` demands
    scaled = _scaled(value, digits)
    small = ibis.cases((scaled.abs() <= EXACT, scaled))
    return _scaled(small.round().cast("float64"), -digits).coalesce(value)


ROUNDING = (
    _whole("floor", "FLOOR", math.floor),
    _whole("ceil", "CEIL", math.ceil),
    _whole("round", "ROUND", _round_half_away),
    _real("floor_real", "FLOOR", math.floor),
    _real("ceil_real", "CEIL", math.ceil),
    _real("round_real", "ROUND", _round_half_away),
    Function("round_digits", _infer_round, _compile_round, _to_digits, _prepare_round, copies=3),
)
