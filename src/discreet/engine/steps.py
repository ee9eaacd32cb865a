"""Steps of the grid: from a row's value to the integer that is added up. Pure SQL text.

It takes two stages, so that no value is computed twice. The result is that of exact arithmetic: the value divided by
the step, rounded to the nearest integer, halves away from zero, and moved into the bounds.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf, ldexp, nextafter

from discreet.errors import InvalidArgument
from discreet.query.ir import Literal, Sum
from discreet.tables import Kind
from discreet.tables.sql_text import bigint, double

_GREATEST = 2**63 - 1
_WHOLE_GRIDS = range(-62, 63)
_REAL_GRIDS = range(-1022, 1023)


def check_steps(measure: Sum) -> None:
    """Refuse a measure that 64 bits a row can't hold. It's a matter of the plan alone, not of any row.

    Raises:
        InvalidArgument: its bounds exceed 63 bits, or its step is out of reach.
    """
    grids = _REAL_GRIDS if measure.value.type.kind is Kind.REAL else _WHOLE_GRIDS
    if not -_GREATEST <= measure.lo <= measure.hi <= _GREATEST or measure.grid not in grids:
        raise InvalidArgument(
            f"the engine adds up integers of 64 bits, and {measure.lo} to {measure.hi} steps of 2^{measure.grid} "
            "don't fit",
            hint="tighter bounds, or a coarser grid",
        )


def constant_steps(measure: Sum) -> int | None:
    """The integer that each row adds, if it is the same for all; None if it depends on the row.

    Examples:
        >>> from discreet.query.ir import Type
        >>> constant_steps(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=-1, lo=0, hi=2))
        2
    """
    if not isinstance(measure.value, Literal):
        return None
    value = measure.value.value
    if not isinstance(value, (int, Fraction)):  # NULL adds nothing
        return 0
    steps = Fraction(value) / Fraction(2) ** measure.grid
    rounded = floor(abs(steps) + Fraction(1, 2)) * (1 if steps >= 0 else -1)
    return min(max(rounded, measure.lo), measure.hi)


def first_stage(value: str, measure: Sum) -> str:
    """A row's value, read as a number; a real already in whole steps.

    A product with a power of two is exact, unless it underflows, where it rounds to 0 anyway, or overflows, where it
    is an infinity, which the bounds move.
    """
    if measure.value.type.kind is not Kind.REAL:
        return f"TRY_CAST({value} AS BIGINT)"
    return f"round(TRY_CAST({value} AS DOUBLE) * {double(ldexp(1.0, -measure.grid))})"


def second_stage(value: str, measure: Sum) -> str:
    """The integer that a row adds, a BIGINT; if all values add the same, anything that isn't NULL.

    What is usual, a value within the bounds, is asked first: the rest is then asked of the others only.

    Args:
        value: where the first stage left it; a plain name, for it is repeated.
        measure: says the step and the bounds.
    """
    if measure.lo == measure.hi:  # what counts is only whether there is a value
        return f"CASE WHEN NOT isnan({value}) THEN 1 END" if measure.value.type.kind is Kind.REAL else value
    if measure.value.type.kind is Kind.REAL:
        return _from_real(value, measure.lo, measure.hi)
    step = 2 ** abs(measure.grid)
    if measure.grid < 0:
        return _finer(value, measure.lo, measure.hi, step)
    # Rounding never decreases, so bounds on the quotient are bounds on the value.
    if step == 1:
        return _clamped(value, measure.lo, measure.hi, "BIGINT")
    wide = "BIGINT" if max(-measure.lo, measure.hi) * step + step <= _GREATEST else "HUGEINT"
    near = _clamped(value, measure.lo * step, measure.hi * step, wide)
    away = f"CASE WHEN {near} < 0 THEN -{step // 2} ELSE {step // 2} END"
    return f"CAST(({near} + {away}) // CAST({step} AS {wide}) AS BIGINT)"


def _finer(value: str, lo: int, hi: int, step: int) -> str:
    """An integer times `step`, within the bounds."""
    near = _clamped(value, lo // step, -(-hi // step), "BIGINT")  # encloses the bounds, so the product fits
    if lo % step == hi % step == 0:
        return f"{near} * {bigint(step)}"
    product = f"CAST({near} AS HUGEINT) * CAST({step} AS HUGEINT)"
    return f"CASE WHEN {value} IS NOT NULL THEN CAST(least(greatest({product}, {lo}), {hi}) AS BIGINT) END"


def _from_real(value: str, lo: int, hi: int) -> str:
    """A whole double as a BIGINT within the bounds; NULL if it isn't a number.

    Bounds beyond 2^53 may lie between two doubles. A double above the last one within lies above the bound too.
    """
    first, last = float(lo), float(hi)
    first = nextafter(first, inf) if first < lo else first
    last = nextafter(last, -inf) if last > hi else last
    return (
        f"CASE WHEN {value} BETWEEN {double(first)} AND {double(last)} THEN TRY_CAST({value} AS BIGINT) "
        f"WHEN {value} < {double(first)} THEN {bigint(lo)} WHEN NOT isnan({value}) THEN {bigint(hi)} END"
    )


def _clamped(value: str, lo: int, hi: int, sql_type: str) -> str:
    """An integer within the bounds, in a type that holds them."""
    ends = [f"CAST({end} AS {sql_type})" for end in (lo, hi)]
    inside = f"{value} BETWEEN {ends[0]} AND {ends[1]}"
    outside = f"WHEN {value} < {ends[0]} THEN {ends[0]} WHEN {value} > {ends[1]} THEN {ends[1]}"
    return f"CASE WHEN {inside} THEN {value} {outside} END"
