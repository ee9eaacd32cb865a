"""Aggregates over the rows of one unit, as Ibis values: exact, and within the range of the result.

An aggregate takes three steps: compute what is looked at, aggregate it over a group or a window, and finish the result
from the aggregates. So nothing is computed twice. Nothing here can raise: sums are of integers, and 128 bits hold those
of all rows there can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, ldexp
from typing import Any

from discreet.engine.expression_compiler import real, rounded, whole
from discreet.engine.interface import GREATEST, LEAST
from discreet.exact.rounding import nearest, nearest_integer
from discreet.query.ir import Summary, Type
from discreet.tables import Kind

_WIDE = "decimal(38, 0)"
"""The type in which Ibis writes what 128 bits hold."""

_AGGREGATES = {
    Summary.COUNT: "count",
    Summary.COUNT_DISTINCT: "nunique",
    Summary.MEDIAN: "median",
    Summary.MIN: "min",
    Summary.MAX: "max",
    Summary.ANY: "any",
    Summary.ALL: "all",
}
"""Ibis's names for them."""

_MOST_STEPS = 2**62


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How a summary is computed.

    Args:
        parts: aggregates, as Ibis values.
        finish: from the parts, once they are columns, to the result.
    """

    parts: tuple[Any, ...]
    finish: Callable[..., Any]


def aggregation(summary: Summary, value: Any, of: Type, result: Type, grid: int) -> Aggregation:  # noqa: ANN401 — an Ibis value
    """How a summary of a value is computed.

    Args:
        summary: which one.
        value: of each row, fit to be a column.
        of: its type.
        result: the summary's type, whose range the result is moved into.
        grid: for SUM and AVG of real numbers: the exponent of the step.
    """
    if summary in {Summary.SUM, Summary.AVG}:
        return _added(summary, value, of, result, grid)

    def finish(found: Any) -> Any:  # noqa: ANN401 — Ibis values
        """The result of the one aggregate."""
        if summary is Summary.MEDIAN:
            return _clamped(_number(found.cast("float64")), result)
        return within_range(found, of, result) if summary in {Summary.MIN, Summary.MAX} else found

    return Aggregation((getattr(value, _AGGREGATES[summary])(),), finish)


def _added(summary: Summary, value: Any, of: Type, result: Type, grid: int) -> Aggregation:  # noqa: ANN401 — an Ibis value
    """A sum or a mean of integers; real numbers become integers of steps first."""
    step = real(1.0)
    if of.kind is Kind.REAL:
        value, step = _steps(value, of, grid), real(ldexp(1.0, grid))
    if summary is Summary.AVG:
        return Aggregation(
            (value.sum(), value.count()),
            lambda total, count: _clamped(total.cast("float64") / count.cast("float64") * step, result),
        )
    if of.kind is Kind.REAL:
        return Aggregation((value.sum(),), lambda total: _clamped(total.cast("float64") * step, result))
    return Aggregation((value.sum(),), lambda total: _clamped(total.cast(_WIDE), result).try_cast("int64"))


def within_range(value: Any, of: Type, result: Type) -> Any:  # noqa: ANN401 — Ibis values
    """A value of one row that becomes the result; moved within the result's range, if that isn't the value's."""
    return value if (of.lo, of.hi) == (result.lo, result.hi) else _clamped(value, result)


def _clamped(value: Any, result: Type) -> Any:  # noqa: ANN401 — Ibis values
    """A number within the range of its type, so that a plan's conclusions from it are true; NULL stays NULL."""
    import ibis

    cases = []
    if result.kind.is_number and result.lo is not None:
        lo = _end(result, ceil, result.lo)
        cases.append((value < lo, lo))
    if result.kind.is_number and result.hi is not None:
        hi = _end(result, floor, result.hi)
        cases.append((value > hi, hi))
    return ibis.cases(*cases, else_=value) if cases else value


def _end(result: Type, towards: Callable[[Fraction], int], end: Fraction) -> Any:  # noqa: ANN401 — an Ibis scalar
    """An end of a range as a constant of the type: the nearest double, or a whole number inside."""
    if result.kind is Kind.REAL:
        return real(nearest(end))
    return whole(min(max(towards(end), LEAST), GREATEST))


def _steps(value: Any, of: Type, grid: int) -> Any:  # noqa: ANN401 — Ibis values
    """A real in steps of the grid, as an integer: the nearest one, within the range of the value's type.

    A product with a power of two is exact, unless it underflows, where it rounds to 0 anyway, or overflows, where it
    is an infinity, which the range moves.
    """
    import ibis

    steps = rounded()(value * real(ldexp(1.0, -grid)))
    lo, hi = (real(float(end)) for end in (_in_steps(of.lo, grid, -_MOST_STEPS), _in_steps(of.hi, grid, _MOST_STEPS)))
    return ibis.cases((steps < lo, lo), (steps > hi, hi), else_=steps).try_cast("int64")


def _in_steps(end: Fraction | None, grid: int, far: int) -> int:
    """An end of a range in steps; `far`, if there is none, and never further."""
    if end is None:
        return far
    return min(max(nearest_integer(end / Fraction(2) ** grid), -_MOST_STEPS), _MOST_STEPS)


def _number(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The value; NULL in place of what isn't a number, as is the middle between two infinities."""
    import ibis

    return ibis.cases((~value.isnan(), value))
