"""Clipping: values beyond some bounds are moved to them, so that outliers stop giving people away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.anonymity.columns import Coded, Codes
from discreet.anonymity.hierarchies.texts import is_number, is_time, present
from discreet.anonymity.records import Records
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa

Bound = int | float | Decimal | date | datetime

_DIGITS_OF_128_BITS, _MOST_DIGITS = 38, 76
"""How many digits of a decimal number Arrow holds in 128 bits, and at all."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clipped:
    """A table with one column clipped.

    Args:
        records: the table.
        column: which was clipped.
        lo: its least value now, at the lowest.
        hi: its greatest value now, at the highest.
        raised: how many rows were moved up to `lo`.
        lowered: how many rows were moved down to `hi`.
    """

    records: Records
    column: str
    lo: Bound
    hi: Bound
    raised: int
    lowered: int

    @property
    def moved(self) -> int:
        """How many rows were moved."""
        return self.raised + self.lowered

    def __str__(self) -> str:
        rows = self.records.rows
        share = self.moved / rows if rows else 0.0
        return (
            f"{self.column} clipped to {self.lo} … {self.hi}: {self.moved:,} of {rows:,} rows moved ({share:.2%}), "
            f"{self.raised:,} up and {self.lowered:,} down"
        )


def clip(records: Records, column: str, lo: Bound, hi: Bound) -> Clipped:
    """Move the values of a column that are beyond the bounds to the nearer bound; missing values stay missing.

    Bounds should come from knowledge of what the column means. Those read off the data tell about its outliers.

    Args:
        records: the table; it stays as it is.
        column: a name; its values are numbers, dates or timestamps.
        lo: a value of the column's kind; a timestamp has a time zone if the column's have one, and a decimal number no
            more digits after the point than the column's. Digits before it don't matter: the column gets room for them.
        hi: another, not below `lo`.

    Raises:
        SchemaMismatch: the table has no such column, or it holds neither numbers nor times.
        InvalidArgument: the bounds aren't of the column's kind, or `lo` is above `hi`.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = read({"age": [7, 34, 35, 81, None]})
        >>> clipped = clip(people, "age", 10, 60)
        >>> clipped.records.column("age").labels()
        (10, 34, 35, 60, None)
        >>> print(clipped)
        age clipped to 10 … 60: 2 of 5 rows moved (40.00%), 1 up and 1 down
    """
    old = records.column(column)
    if not (is_number(present(old)) or is_time(present(old))):
        raise SchemaMismatch(f"column {column!r} holds neither numbers nor dates, so it can't be clipped")
    stored = old.values
    roomy = stored.cast(_with_room(stored.type, lo, hi))
    values = roomy[: len(present(old))]
    low, high = _bound(values, column, lo), _bound(values, column, hi)
    if high.as_py() < low.as_py():
        raise InvalidArgument(f"lo must not be above hi: {lo} and {hi}")
    new, places = _moved(roomy, low, high)
    counts = old.counts()
    below, above = _beyond(values, low, high)
    clipped = Coded(name=column, codes=places[old.codes], values=new, has_missing=old.has_missing)
    return Clipped(
        records=replace(records, columns={**records.columns, column: clipped}),
        column=column,
        lo=lo,
        hi=hi,
        raised=int(counts[:below].sum()),
        lowered=int(counts[len(values) - above : len(values)].sum()),
    )


def _with_room(kind: pa.DataType, *bounds: Bound) -> pa.DataType:
    """The type of a column that is to hold some bounds as well.

    A decimal type's digits before the point come from the values that happen to be in the column: for 0.5 alone there
    are none. So room is made for more; but not after the point, where digits say how exact a column is.
    """
    import pyarrow as pa

    if not pa.types.is_decimal(kind):
        return kind
    exact = [Decimal(bound) for bound in bounds if isinstance(bound, int | Decimal)]
    digits = max([kind.precision, *(kind.scale + bound.adjusted() + 1 for bound in exact if bound.is_finite())])
    if digits > _MOST_DIGITS:  # of a bound that can't be held, as is said when it is tried
        return kind
    wide = digits > _DIGITS_OF_128_BITS or pa.types.is_decimal256(kind)
    return pa.decimal256(digits, kind.scale) if wide else pa.decimal128(digits, kind.scale)


def _bound(values: pa.Array, column: str, bound: Bound) -> pa.Scalar:
    """A bound as the column has its values.

    Raises:
        InvalidArgument: it can't be one of them.
    """
    import pyarrow as pa

    try:
        zero = bound + 0.0 if isinstance(bound, float) else bound  # −0 becomes 0: equal, they must not be told apart
        scalar = pa.scalar(zero, values.type) if _fits(values, bound) else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        scalar = None
    if scalar is None or scalar.as_py() != scalar.as_py() or not _same(scalar.as_py(), bound):
        raise InvalidArgument(f"{bound!r} can't be a value of column {column!r}, which holds {values.type}")
    return scalar


def _fits(values: pa.Array, bound: Bound) -> bool:
    """Whether a bound is of the column's kind. Arrow would take a time without a zone for one in UTC."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return isinstance(bound, datetime) and (bound.tzinfo is None) == (values.type.tz is None)
    if is_time(values):
        return isinstance(bound, date) and not isinstance(bound, datetime)
    return not isinstance(bound, date | bool)


def _same(held: object, bound: Bound) -> bool:
    """Whether a bound means the same in the column's type; a float may have been rounded to it."""
    return held == bound or isinstance(held, float | Decimal) or isinstance(bound, datetime)


def _beyond(values: pa.Array, low: pa.Scalar, high: pa.Scalar) -> tuple[int, int]:
    """How many of the values are below the one bound, and how many above the other."""
    import pyarrow.compute as pc

    below, above = pc.sum(pc.less(values, low)).as_py() or 0, pc.sum(pc.greater(values, high)).as_py() or 0
    return cast("tuple[int, int]", (below, above))


def _moved(values: pa.Array, low: pa.Scalar, high: pa.Scalar) -> tuple[pa.Array, Codes]:
    """The new values, and of each old one its place among them."""
    import pyarrow.compute as pc

    raised = pc.if_else(pc.less(values, low), low, values)  # what is missing stays missing
    moved = pc.if_else(pc.greater(raised, high), high, raised)
    encoded = pc.dictionary_encode(moved, null_encoding="encode")  # in order, as the values were
    return encoded.dictionary, np.asarray(encoded.indices).astype(np.int32)
