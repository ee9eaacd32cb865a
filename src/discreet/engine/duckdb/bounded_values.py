"""Values within declared bounds, in SQL.

Values outside are moved to the nearer end; an id outside is NULL, because moving it would make one unit of several.
Guarantee: no value of a column's kind makes an expression of this file raise.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import cast

from discreet.duckdb.sql_text import bigint, double, moment
from discreet.engine.interface import GREATEST, LEAST
from discreet.exact.rounding import nearest
from discreet.privacy import Bounds
from discreet.tables import Column, Kind


def bounded(column: Column, value: str) -> str:
    """The values of an admitted column, within its bounds.

    Args:
        column: as declared.
        value: the column in SQL; a plain name, for it is repeated.
    """
    if column.bounds is not None:
        return moved(value, *_written(column.kind, column.bounds))
    if column.kind is Kind.TEXT and column.keys is not None:
        # Longer than all keys, it is none of them; one sign more is enough to tell, and joins may write it out often.
        longest = max((len(str(key).encode()) for key in column.keys), default=0) + 1
        return f"CASE WHEN strlen({value}) > {longest} THEN left({value}, {longest}) ELSE {value} END"
    return value


def identified(column: Column, value: str) -> str:
    """The values of an admitted column that tells units apart; NULL where they lie outside its bounds."""
    return value if column.bounds is None else within(value, *_written(column.kind, column.bounds))


def moved(value: str, lo: str, hi: str) -> str:
    """The value, or the nearer end. NULL stays NULL, which least() and greatest() don't promise.

    The usual case is tested first, so that only the others pay for the rest.
    """
    inside = f"{value} BETWEEN {lo} AND {hi}"
    return f"CASE WHEN {inside} THEN {value} WHEN {value} < {lo} THEN {lo} WHEN {value} > {hi} THEN {hi} END"


def within(value: str, lo: str, hi: str) -> str:
    """The value if it lies between the ends, else NULL."""
    return f"CASE WHEN {value} BETWEEN {lo} AND {hi} THEN {value} END"


def numeric_ends(kind: Kind, bounds: Bounds) -> tuple[float, float]:
    """The ends to which numbers are moved: for integers the whole numbers within, for reals the nearest doubles."""
    lo, hi = cast("Fraction", bounds.lo), cast("Fraction", bounds.hi)
    if kind is Kind.REAL:
        return nearest(lo), nearest(hi)
    return min(max(ceil(lo), LEAST), GREATEST), max(min(floor(hi), GREATEST), LEAST)


def _written(kind: Kind, bounds: Bounds) -> tuple[str, str]:
    """The bounds as constants."""
    if kind.is_time:
        return moment(bounds.lo), moment(bounds.hi)  # type: ignore[arg-type]  # a column's bounds are of its kind
    lo, hi = numeric_ends(kind, bounds)
    return (double(lo), double(hi)) if kind is Kind.REAL else (bigint(int(lo)), bigint(int(hi)))
