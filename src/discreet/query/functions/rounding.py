"""Rounding: to whole numbers where they fit, and to decimal digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.functions.arguments import Args, constant, number_type, of_kind, reals, span_of, unbounded
from discreet.query.functions.physical import typed
from discreet.query.ranges import EXACT, within
from discreet.tables import Kind

MOST_DIGITS = 15
"""A float64 has no more decimal digits than that."""

_FAR = 1e308
"""A float64 beyond it may overflow when it is scaled back, of which engines make different things: it is left alone."""
_EXACT = (Fraction(-EXACT), Fraction(EXACT))


def is_exact(expr: ir.Expr) -> bool:
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
    """Scale, round, scale back: in that order, and each step in float64, as engines do it."""
    if value is None or not abs(value) <= _FAR:
        return value
    power = 10.0 ** abs(digits)
    if digits < 0:
        return half_away(value / power) * power
    scaled = value * power
    return half_away(scaled) / power if math.isfinite(scaled) else value


def _whole(name: str, label: str, compute: Callable[[Any], Any]) -> ir.Function:
    """A rounding of small reals to whole numbers."""

    def infer(args: Args) -> ir.Type:
        lo, hi = span_of(args[0])
        if lo is None or hi is None or not is_exact(args[0]):
            raise unbounded(args[0], f"{label} could overflow on one of its rows")
        return number_type(Kind.INTEGER, (Fraction(compute(lo)), Fraction(compute(hi))), args)

    return ir.Function(
        name,
        infer,
        lambda value: getattr(typed(value), name)().cast("int64"),
        lambda value: None if value is None else int(compute(value)),
        lambda args: reals(of_kind(label, args, Kind.REAL, Kind.INTEGER)),
    )


def _real(name: str, label: str, compute: Callable[[Any], int]) -> ir.Function:
    """A rounding of reals of any size, which stay real: beyond 2⁵³ they are whole numbers already."""

    def infer(args: Args) -> ir.Type:
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

    return ir.Function(
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


def _infer_round(args: Args) -> ir.Type:
    """Each step never decreases, so the rounded ends hold all rounded values; `outward` forgives an engine an ulp."""
    digits = constant("the number of digits", args[1], -MOST_DIGITS, MOST_DIGITS)
    if digits == 0:
        raise Unsupported("no digits are ROUND's default: leave the 0 out")
    lo, hi = span_of(args[0])
    slack = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    span = None if lo is None else lo - slack, None if hi is None else hi + slack
    return number_type(Kind.REAL, span, args[:1])


def _compile_round(value: Any, digits: Any) -> Any:  # noqa: ANN401 — Ibis values
    """Never with no digits, which Ibis would cast to an integer."""
    import ibis

    value = typed(value)
    return ibis.cases((value.abs() <= _FAR, value.round(digits)), else_=value)


ROUNDING = (
    _whole("floor", "FLOOR", math.floor),
    _whole("ceil", "CEIL", math.ceil),
    _whole("round", "ROUND", _round_half_away),
    _real("floor_real", "FLOOR", math.floor),
    _real("ceil_real", "CEIL", math.ceil),
    _real("round_real", "ROUND", _round_half_away),
    ir.Function("round_digits", _infer_round, _compile_round, _to_digits, _prepare_round, copies=3),
)
