"""Rounding: numbers to whole ones where these fit, and to decimal digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import Unsupported
from discreet.exact.rounding import nearest_integer
from discreet.query.ir.expressions import Expr, Function, Type
from discreet.query.ir.functions.application import (
    Args,
    constant,
    number_type,
    of_kind,
    reals,
    span_of,
    unbounded,
)
from discreet.query.ir.functions.casts import typed
from discreet.query.ir.ranges import EXACT, within
from discreet.tables import Kind

MOST_DIGITS = 15
"""A float64 has no more decimal digits than that."""

_EXACT = (Fraction(-EXACT), Fraction(EXACT))


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
    return nearest_integer(value)


def _prepare_round(args: Args) -> Args:
    """A real, and a constant number of digits."""
    return *reals(of_kind("ROUND", args[:1], Kind.REAL, Kind.INTEGER)), args[1]


def _infer_round(args: Args) -> Type:
    """Each step never decreases, so the rounded ends hold all rounded values; `outward` forgives an engine an ulp."""
    digits = constant("the number of digits", args[1], -MOST_DIGITS, MOST_DIGITS)
    if digits == 0:
        raise Unsupported("ROUND(x, 0) isn't supported", hint="ROUND(x) rounds to whole numbers")
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
