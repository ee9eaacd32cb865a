"""Columns of an answer: values, how far the noise may have carried each, and how both are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor, inf, log10
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

Ends: TypeAlias = tuple[End, End] | None
"""An interval; None where there is none."""


_DIGITS = 38
"""Of sums of decimals, in SQL and in Arrow."""

_DECIMAL = re.compile(r"decimal\(38,(\d\d?)\)")


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of an answer.

    Args:
        name: of the column.
        kind: of its values, as in `dp.Kind`: "integer", "real", "text", "boolean", "date" or "timestamp"; or
            "decimal(38,2)" of decimals with two digits behind the point.
        values: one for each row; None is NULL, and a list has several.
        deviation: the standard deviation of the noise in each value, where it is the same in all of them, and known.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = field(repr=False)
    deviation: float | None = None


class Intervals(Protocol):
    """Where an answer's intervals come from: the noise that was added, or the JSON that it was read from."""

    def __call__(self, name: str, confidence: Fraction) -> Sequence[Ends]:
        """The interval of each value of a column.

        Raises:
            InvalidArgument: they aren't known at this confidence.
        """
        ...


def arrow_table(columns: Sequence[AnswerColumn]) -> pa.Table:
    """Columns as an Arrow table; needs PyArrow."""
    import pyarrow as pa

    arrays = [pa.array(one.values, type=arrow_type(one.kind, one.values)) for one in columns]
    return pa.table({one.name: array for one, array in zip(columns, arrays, strict=True)})


def arrow_type(kind: str, values: Sequence[object]) -> pa.DataType | None:
    """The type of a column in Arrow; None leaves it to Arrow, which sees lists and numbers. Needs PyArrow.

    Of decimals that are too great for it, which no declared bounds allow, Arrow says so. Where all is NULL, or there
    are no rows, the kind alone tells.
    """
    if places_of(kind) is None and any(value is not None for value in values):
        return _wide(values)
    return arrow_kind(kind)


def arrow_kind(kind: str) -> pa.DataType | None:
    """The type in Arrow of values of a kind; None if there is no such kind. Needs PyArrow."""
    import pyarrow as pa

    if (places := places_of(kind)) is not None:
        return pa.decimal128(_DIGITS, places)
    types = {
        "integer": pa.int64(),
        "real": pa.float64(),
        "text": pa.string(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
    }
    return types.get(kind)


def decimal_kind(places: int) -> str:
    """The kind of decimals with so many digits behind the point."""
    return f"decimal({_DIGITS},{places})"


def places_of(kind: str) -> int | None:
    """How many digits values of a kind have behind the point; None if they aren't decimals."""
    found = _DECIMAL.fullmatch(kind)
    return None if found is None else int(found[1])


def decimal_of(value: float | str, places: int) -> Decimal:
    """A number as the nearest decimal with so many digits behind the point.

    Examples:
        >>> decimal_of(1234.5, 2), decimal_of(0.125, 2)
        (Decimal('1234.50'), Decimal('0.12'))
    """
    return Decimal(f"{round(Fraction(value) * 10**places)}E-{places}")


def text_table(columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]]) -> str:
    """Columns as text, each noisy value with its interval."""
    cells = [map(cell_text, column.values, intervals[column.name]) for column in columns]
    return _table([column.name for column in columns], list(zip(*cells, strict=True)))


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def cell_text(value: object, found: Ends) -> str:
    """One value to the digits that its error leaves: `17432 ± 30`, or with its ends where the interval is lopsided.

    Examples:
        >>> cell_text(38.58164, (38.34, 38.82)), cell_text(3.0, (2.5, 4.5)), cell_text(None, None)
        ('38.58 ± 0.24', '3.0 (2.5 to 4.5)', 'NULL')
    """
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return ", ".join("NULL" if each is None else str(each) for each in value)
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool):
        return str(value) if found is None else f"{value} ({found[0]} to {found[1]})"
    if found is None or isinstance(found[0], date) or isinstance(found[1], date):
        return _number(value)
    below, above = float(value) - found[0], found[1] - float(value)
    error = max(below, above)
    places = max(0, 1 - floor(log10(error))) if 0 < error < inf and not isinstance(value, int) else 0
    shown = f"{value:.{places}f}" if isinstance(value, float) else str(value)
    if abs(below - above) <= error / 20:
        return f"{shown} ± {error:.{places}f}"
    return f"{shown} ({found[0]:.{places}f} to {found[1]:.{places}f})"


def _number(value: float | Decimal) -> str:
    """A number, whole, as a decimal or to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["─" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
