"""The door: how each value of a source is let in as a value of its column's kind, whatever it was.

It has two steps, so that no value is computed twice: `read` casts, `kept` enforces what is declared.

Guarantee: no value that DuckDB can read makes an expression of this file raise. What can't be read as the declared kind
is NULL; what lies outside declared bounds is moved to the nearer end. Ids and periods are the exception: moving them
would make one unit of several people, so what lies outside is NULL there, and the row is left out.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import cast

from discreet.engine.kinds import sql_type_of
from discreet.engine.text import bigint, double, moment, name, nearest
from discreet.privacy import Bounds
from discreet.tables import Column, Kind

_SMALL = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_CALENDAR = {
    Kind.DATE: ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    Kind.TIMESTAMP: ("TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
}
_LEAST, _GREATEST = -(2**63), 2**63 - 1

LONGEST_TEXT = 1_000
"""Characters of a text that are let in. Without a limit, one person's cell could be so long that a question which joins
texts runs out of memory because of it: an exact answer to whether that person is there."""

TEXT_CELLS = "text of a CSV file"
"""Stands for the type of a column whose cells are text that may mean something else."""


def always_there(sql_type: str) -> bool:
    """Whether the door never turns a value of this type into NULL, as it does a NaN, or an integer out of range.

    Examples:
        >>> always_there("INTEGER"), always_there("DOUBLE")
        (True, False)
    """
    return sql_type in _SMALL or sql_type in {"BOOLEAN", "VARCHAR"}


def read(column: Column, spelled: str, sql_type: str) -> str:
    """The values of a column as its kind; wider than it, where bounds are still to move them.

    Args:
        column: as declared.
        spelled: the column's name as the source spells it.
        sql_type: the source's type, or `TEXT_CELLS`.
    """
    value = name(spelled)
    if column.kind is Kind.INTEGER:
        if sql_type == TEXT_CELLS:
            return _whole_from_text(value)
        return _whole(value, sql_type)
    if sql_type == "TIMESTAMP WITH TIME ZONE":  # read in UTC; a cast would read it in the session's zone
        value = f"TRY(make_timestamp(epoch_us({value})))"
    return f"TRY_CAST({value} AS {sql_type_of(column.kind)})"


def kept(column: Column, value: str) -> str:
    """What was read, within the column's bounds and its kind's range.

    Args:
        column: as declared.
        value: where `read` left the value; a plain name, for it is repeated.
    """
    if column.kind is Kind.REAL and column.bounds is None:
        return f"CASE WHEN NOT isnan({value}) THEN {value} END"
    if column.bounds is not None:
        return _narrow(column.kind, _clamped(column.kind, value, *_ends(column.kind, column.bounds)))
    if column.kind.is_time:
        return _within(value, *_CALENDAR[column.kind])
    if column.kind is Kind.TEXT:
        # Longer than all keys, it is none of them; one sign more is enough to tell, and joins may write it out often.
        listed = None if column.keys is None else max((len(str(key).encode()) for key in column.keys), default=0) + 1
        longest = LONGEST_TEXT if listed is None else listed
        return f"CASE WHEN strlen({value}) > {longest} THEN left({value}, {longest}) ELSE {value} END"
    return _narrow(column.kind, value)


def faithful(column: Column, spelled: str, sql_type: str) -> str:
    """Whether reading a value as the column's kind loses nothing of it, so that no two ids are read as one.

    Equal numbers are one id however they're written: 7, 07 and 7.0. But 7.4 isn't 7, nor a day a day and an hour.
    """
    value = name(spelled)
    if sql_type == TEXT_CELLS:
        return {
            Kind.INTEGER: f"regexp_full_match({value}, '[+-]?[0-9]+([.]0*)?')",
            Kind.DATE: f"TRY_CAST({value} AS TIMESTAMP_NS) = TRY_CAST(TRY_CAST({value} AS DATE) AS TIMESTAMP_NS)",
            Kind.TIMESTAMP: f"TRY_CAST({value} AS TIMESTAMP_NS) = TRY_CAST({value} AS TIMESTAMP)",
        }.get(column.kind, "true")
    return f"TRY_CAST({value} AS TIMESTAMP) = {value}" if sql_type == "TIMESTAMP_NS" else "true"


def identified(column: Column, value: str) -> str:
    """What was read of a column that tells units apart; NULL if it lies outside the column's bounds.

    Args:
        column: as declared.
        value: where `read` left the value.
    """
    if column.kind is Kind.TEXT:  # cut, two long ids might be one
        return f"CASE WHEN strlen({value}) <= {LONGEST_TEXT} THEN {value} END"
    unbounded = kept(Column(name=column.name, kind=column.kind), value)
    return unbounded if column.bounds is None else _within(unbounded, *_ends(column.kind, column.bounds))


def _whole(value: str, sql_type: str) -> str:
    """An integer, as BIGINT if it always fits, else as HUGEINT, so that bounds can still move it."""
    if sql_type in _SMALL:
        return f"CAST({value} AS BIGINT)"
    if sql_type == "UHUGEINT":  # capped beyond all bounds, so that the cast can't fail; least() overlooks NULLs
        capped = f"least({value}, CAST(18446744073709551616 AS UHUGEINT))"
        return f"CASE WHEN {value} IS NOT NULL THEN CAST({capped} AS HUGEINT) END"
    return f"TRY_CAST({value} AS HUGEINT)"


def _whole_from_text(value: str) -> str:
    """An integer from a cell; a number beyond 64 bits, or an infinity, is as far out as HUGEINT goes."""
    real, far = f"TRY_CAST({value} AS DOUBLE)", "CAST(18446744073709551616 AS HUGEINT)"
    beyond = f"CASE WHEN isnan({real}) THEN NULL WHEN {real} > 0 THEN {far} WHEN {real} < 0 THEN -{far} END"
    return f"coalesce(CAST(TRY_CAST({value} AS BIGINT) AS HUGEINT), {beyond})"


def _narrow(kind: Kind, value: str) -> str:
    """An integer back in 64 bits, NULL if it doesn't fit; anything else as it is."""
    return f"TRY_CAST({value} AS BIGINT)" if kind is Kind.INTEGER else value


def _clamped(kind: Kind, value: str, lo: str, hi: str) -> str:
    """The value, or the nearer end.

    NULL stays NULL, which least() and greatest() don't promise, and NaN, for DuckDB the greatest number, becomes it.
    What is usual is asked first: the rest is then asked of the others only.
    """
    above = f"{value} > {hi} AND NOT isnan({value})" if kind is Kind.REAL else f"{value} > {hi}"
    inside = f"{value} BETWEEN {lo} AND {hi}"
    return f"CASE WHEN {inside} THEN {value} WHEN {value} < {lo} THEN {lo} WHEN {above} THEN {hi} END"


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
