"""Clamping: a row's value is moved within its bounds when it is scanned, and onto the grid before it is added up.

Snapshots hold values of the columns' kinds. The scan brings them within declared bounds: what lies outside is moved to
the nearer end. Ids and periods are the exception: moving them would make one unit of several people, so what lies
outside is NULL there, and the row is left out. What a question computes is brought into its kind's range likewise.

What is added up is an integer of steps, as exact arithmetic has it: the value divided by the step, rounded to the
nearest integer, halves away from zero, and moved within the measure's bounds. It takes two stages, so that no value is
computed twice.

Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, ldexp, nextafter
from typing import cast

from discreet.privacy import Bounds
from discreet.query.ir import Literal, Sum
from discreet.tables import Column, Kind
from discreet.tables.admission.column_casts import CALENDAR, LONGEST_TEXT, nearest
from discreet.tables.session import bigint, double, moment

_LEAST, _GREATEST = -(2**63), 2**63 - 1


def bounded(column: Column, value: str) -> str:
    """The values of an admitted column, within its bounds.

    Args:
        column: as declared.
        value: the column in SQL; a plain name, for it is repeated.
    """
    if column.bounds is not None:
        return _moved(value, *_ends(column.kind, column.bounds))
    if column.kind is Kind.TEXT and column.keys is not None:
        # Longer than all keys, it is none of them; one sign more is enough to tell, and joins may write it out often.
        longest = max((len(str(key).encode()) for key in column.keys), default=0) + 1
        return f"CASE WHEN strlen({value}) > {longest} THEN left({value}, {longest}) ELSE {value} END"
    return value


def identified(column: Column, value: str) -> str:
    """The values of an admitted column that tells units apart; NULL where they lie outside its bounds."""
    return value if column.bounds is None else _within(value, *_ends(column.kind, column.bounds))


def in_range(kind: Kind, value: str) -> str:
    """What a question has computed, within the range of its kind: no NaN, no year that Python doesn't know.

    Args:
        kind: of the value.
        value: in SQL.
    """
    if kind is Kind.REAL:
        return f"CASE WHEN NOT isnan({value}) THEN {value} END"
    if kind in CALENDAR:
        return _within(value, *CALENDAR[kind])
    if kind is Kind.TEXT:
        return f"CASE WHEN strlen({value}) > {LONGEST_TEXT} THEN left({value}, {LONGEST_TEXT}) ELSE {value} END"
    return f"TRY_CAST({value} AS BIGINT)" if kind is Kind.INTEGER else value


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


def as_number(value: str, measure: Sum) -> str:
    """A row's value, read as a number; a real already in whole steps.

    A product with a power of two is exact, unless it underflows, where it rounds to 0 anyway, or overflows, where it
    is an infinity, which the bounds move.
    """
    if measure.value.type.kind is not Kind.REAL:
        return f"TRY_CAST({value} AS BIGINT)"
    return f"round(TRY_CAST({value} AS DOUBLE) * {double(ldexp(1.0, -measure.grid))})"


def clamped_steps(value: str, measure: Sum) -> str:
    """The integer that a row adds, a BIGINT; if all values add the same, anything that isn't NULL.

    What is usual, a value within the bounds, is asked first: the rest is then asked of the others only.

    Args:
        value: as `as_number` left it; a plain name, for it is repeated.
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
        return _clamped_integer(value, measure.lo, measure.hi, "BIGINT")
    wide = "BIGINT" if max(-measure.lo, measure.hi) * step + step <= _GREATEST else "HUGEINT"
    near = _clamped_integer(value, measure.lo * step, measure.hi * step, wide)
    away = f"CASE WHEN {near} < 0 THEN -{step // 2} ELSE {step // 2} END"
    return f"CAST(({near} + {away}) // CAST({step} AS {wide}) AS BIGINT)"


def _moved(value: str, lo: str, hi: str) -> str:
    """The value, or the nearer end. NULL stays NULL, which least() and greatest() don't promise.

    What is usual is asked first: the rest is then asked of the others only.
    """
    inside = f"{value} BETWEEN {lo} AND {hi}"
    return f"CASE WHEN {inside} THEN {value} WHEN {value} < {lo} THEN {lo} WHEN {value} > {hi} THEN {hi} END"


def _within(value: str, lo: str, hi: str) -> str:
    """The value if it lies between the ends, else NULL."""
    return f"CASE WHEN {value} BETWEEN {lo} AND {hi} THEN {value} END"


def _ends(kind: Kind, bounds: Bounds) -> tuple[str, str]:
    """The bounds as constants: for integers the whole numbers within, for reals the nearest doubles."""
    if kind.is_time:
        return moment(bounds.lo), moment(bounds.hi)  # type: ignore[arg-type]  # a column's bounds are of its kind
    lo, hi = cast("Fraction", bounds.lo), cast("Fraction", bounds.hi)
    if kind is Kind.REAL:
        return double(nearest(lo)), double(nearest(hi))
    return bigint(min(max(ceil(lo), _LEAST), _GREATEST)), bigint(max(min(floor(hi), _GREATEST), _LEAST))


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
    return _moved(value, f"CAST({lo} AS {sql_type})", f"CAST({hi} AS {sql_type})")
