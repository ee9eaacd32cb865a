"""The door: what is declared of a column is enforced as its rows are read.

Snapshots hold values of the columns' kinds. Here they come within declared bounds: what lies outside is moved to the
nearer end. Ids and periods are the exception: moving them would make one unit of several people, so what lies outside
is NULL there, and the row is left out. What a question computes is brought into its kind's range likewise.

Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import cast

from discreet.privacy import Bounds
from discreet.tables import Column, Kind
from discreet.tables.admission.column_casts import CALENDAR, LONGEST_TEXT
from discreet.tables.sql_text import bigint, double, moment, nearest

_LEAST, _GREATEST = -(2**63), 2**63 - 1


def bounded(column: Column, value: str) -> str:
    """The values of an admitted column, within its bounds.

    Args:
        column: as declared.
        value: the column in SQL; a plain name, for it is repeated.
    """
    if column.bounds is not None:
        return _clamped(value, *_ends(column.kind, column.bounds))
    if column.kind is Kind.TEXT and column.keys is not None:
        # Longer than all keys, it is none of them; one sign more is enough to tell, and joins may write it out often.
        longest = max((len(str(key).encode()) for key in column.keys), default=0) + 1
        return f"CASE WHEN strlen({value}) > {longest} THEN left({value}, {longest}) ELSE {value} END"
    return value


def identified(column: Column, value: str) -> str:
    """The values of an admitted column that tells units apart; NULL where they lie outside its bounds."""
    return value if column.bounds is None else _within(value, *_ends(column.kind, column.bounds))


def kept(kind: Kind, value: str) -> str:
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


def _clamped(value: str, lo: str, hi: str) -> str:
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
