"""Steps: the integer that a row adds to a measure, in SQL.

Integers of steps are added up, as in exact arithmetic: the value divided by the step, rounded to the nearest integer,
halves away from zero, and moved within the measure's bounds. A computed value is brought into its kind's range first,
as a scan does with a stored one.

Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, ldexp, nextafter

from discreet.duckdb.sql_text import CALENDAR, bigint, double
from discreet.engine.duckdb.bounded_values import moved, within
from discreet.engine.interface import GREATEST
from discreet.exact.rounding import nearest_integer
from discreet.query.ir import Literal, Sum
from discreet.tables import Kind
from discreet.tables.schema.column import LONGEST_TEXT


def in_range(kind: Kind, value: str) -> str:
    """A computed value within the range of its kind: no NaN, no year that Python doesn't know.

    Args:
        kind: of the value.
        value: in SQL.
    """
    if kind is Kind.REAL:
        return f"CASE WHEN NOT isnan({value}) THEN {value} END"
    if kind in CALENDAR:
        return within(value, *CALENDAR[kind])
    if kind is Kind.TEXT:
        return f"CASE WHEN strlen({value}) > {LONGEST_TEXT} THEN left({value}, {LONGEST_TEXT}) ELSE {value} END"
    return f"TRY_CAST({value} AS BIGINT)" if kind is Kind.INTEGER else value


def as_number(value: str, measure: Sum) -> str:
    """A row's value, read as a number; a real already in whole steps.

    A product with a power of two is exact, unless it underflows, where it rounds to 0 anyway, or overflows, where it
    is an infinity, which the bounds move.
    """
    if measure.value.type.kind is not Kind.REAL:
        return f"TRY_CAST({value} AS BIGINT)"
    return f"round(TRY_CAST({value} AS DOUBLE) * {double(ldexp(1.0, -measure.grid))})"


def constant_steps(measure: Sum) -> int | None:
    """The integer that a row adds if it has a value, where it is the same for all; None if it depends on the row.

    Examples:
        >>> from discreet.query.ir import Literal, Sum, Type
        >>> constant_steps(Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=-1, lo=0, hi=2))
        2
    """
    if measure.is_rest:
        return None
    lo, hi = measure.value.type.lo, measure.value.type.hi
    value = measure.value.value if isinstance(measure.value, Literal) else lo if lo == hi else None
    if isinstance(value, (int, Fraction)):
        return min(max(nearest_integer(value / Fraction(2) ** measure.grid), measure.lo), measure.hi)
    if isinstance(measure.value, Literal):  # NULL adds nothing
        return 0
    return measure.lo if measure.lo == measure.hi else None


def clamped_steps(value: str, measure: Sum, scanned: tuple[float, float] | None = None) -> str:
    """The integer that a row adds, a BIGINT; if all values add the same, anything that isn't NULL.

    The usual case, a value within the bounds, is tested first, so that only the others pay for the rest.

    Args:
        value: as `as_number` left it; a plain name, for it is repeated.
        measure: says the step and the bounds.
        scanned: the ends between which the scan has moved what `as_number` read. Where the measure's bounds enclose
            them, nothing is left to test, which spares sums over many rows a fifth of their time.
    """
    if constant_steps(measure) is not None:  # what counts is only whether there is a value
        return f"CASE WHEN NOT isnan({value}) THEN 1 END" if measure.value.type.kind is Kind.REAL else value
    is_within = scanned is not None and all(_is_within(end, measure) for end in scanned)
    if measure.value.type.kind is Kind.REAL:
        return f"TRY_CAST({value} AS BIGINT)" if is_within else _from_real(value, measure.lo, measure.hi)
    step = 2 ** abs(measure.grid)
    if measure.grid < 0:
        return f"{value} * {bigint(step)}" if is_within else _finer(value, measure.lo, measure.hi, step)
    # Rounding never decreases, so bounds on the quotient are bounds on the value.
    if step == 1:
        return value if is_within else _clamped_integer(value, measure.lo, measure.hi, "BIGINT")
    wide = "BIGINT" if max(-measure.lo, measure.hi) * step + step <= GREATEST else "HUGEINT"
    near = _clamped_integer(value, measure.lo * step, measure.hi * step, wide)
    away = f"CASE WHEN {near} < 0 THEN -{step // 2} ELSE {step // 2} END"
    return f"CAST(({near} + {away}) // CAST({step} AS {wide}) AS BIGINT)"


def _is_within(end: float, measure: Sum) -> bool:
    """Whether the bounds of a measure enclose the steps of an end; then they do so for all that lies before it."""
    return isfinite(end) and measure.lo <= nearest_integer(Fraction(end) / Fraction(2) ** measure.grid) <= measure.hi


def _finer(value: str, lo: int, hi: int, step: int) -> str:
    """An integer times `step`, within the bounds."""
    near = _clamped_integer(value, lo // step, -(-hi // step), "BIGINT")  # encloses the bounds, so the product fits
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


def _clamped_integer(value: str, lo: int, hi: int, sql_type: str) -> str:
    """An integer within the bounds, in a type that holds them."""
    return moved(value, f"CAST({lo} AS {sql_type})", f"CAST({hi} AS {sql_type})")
