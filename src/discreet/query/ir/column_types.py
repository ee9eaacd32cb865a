"""Types of columns: which values questions meet in a column, by what is declared of it."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import ceil, floor

from discreet.privacy import KeyValue
from discreet.query.ir.domains import MOST_VALUES
from discreet.query.ir.expressions import Type
from discreet.query.ir.ordinals import ordinal
from discreet.query.ir.ranges import INT64, UNKNOWN, Interval, outward
from discreet.tables import Column as TableColumn
from discreet.tables import Kind


def column_type(column: TableColumn) -> Type:
    """The type of a column's values as questions meet them: clamped to its bounds, NULL unless among its keys.

    For a public table it lists what the column holds, if that is known and short and neither keys nor bounds list it
    already.

    Ends are rounded away from the middle, to whole numbers or float64, so that the range holds whichever of the two
    neighbours the scan moves a value to.

    Examples:
        >>> from discreet.privacy import Bounds
        >>> column_type(TableColumn(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110))).hi
        Fraction(110, 1)
    """
    if column.keys is not None:
        listed = tuple(key for key in column.keys if key is not None)
        hidden = None not in column.keys.values
        return Type(column.kind, *_span(listed), nullable=True, values=listed, hidden=hidden)
    lo, hi = _bounds(column)
    is_long = column.kind not in {Kind.INTEGER, Kind.DATE} or lo is None or hi is None or hi - lo >= MOST_VALUES
    if column.values is not None and is_long and len(column.values) <= MOST_VALUES:
        held = tuple(value for value in column.values if value is not None)
        lo, hi = _span(held) if column.bounds is None else (lo, hi)
        return Type(column.kind, lo, hi, nullable=len(held) < len(column.values), values=held)
    truths = (False, True) if column.kind is Kind.BOOLEAN else None
    return Type(column.kind, lo, hi, nullable=column.nullable, values=truths)


def _span(values: tuple[KeyValue, ...]) -> Interval:
    """The least and greatest of a list of keys that have an order on a line."""
    ends = [ordinal(value) for value in values if isinstance(value, date)]
    ends += [Fraction(value) for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return (min(ends), max(ends)) if ends else UNKNOWN


def _bounds(column: TableColumn) -> Interval:
    """The declared bounds, outward; of integers, no further than 64 bits."""
    if column.bounds is None:
        return UNKNOWN
    lo, hi = (ordinal(end) if isinstance(end, date) else Fraction(end) for end in (column.bounds.lo, column.bounds.hi))
    if column.kind is Kind.REAL:
        return outward((lo, hi))
    least, most = INT64
    if column.kind is Kind.INTEGER and least is not None and most is not None:
        return min(max(Fraction(floor(lo)), least), most), max(min(Fraction(ceil(hi)), most), least)
    return lo, hi
