"""Columns of an answer: values, how far the noise may have carried each, and how both are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

Ends: TypeAlias = tuple[End, End] | None
"""An interval; None where there is none."""


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of an answer.

    Args:
        name: of the column.
        kind: of its values, as in `dp.Kind`: "integer", "real", "text", "boolean", "date" or "timestamp".
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

    return pa.table({one.name: pa.array(one.values, type=_wide(one.values)) for one in columns})


def text_table(columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]]) -> str:
    """Columns as text, each noisy value with its interval."""
    cells = [map(_cell, column.values, intervals[column.name]) for column in columns]
    return _table([column.name for column in columns], list(zip(*cells, strict=True)))


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def _cell(value: object, found: Ends) -> str:
    """One value: `17432 ± 30`, or with its ends where the interval is lopsided."""
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return ", ".join("NULL" if each is None else str(each) for each in value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return str(value) if found is None else f"{value} [{found[0]}, {found[1]}]"
    if found is None or isinstance(found[0], date) or isinstance(found[1], date):
        return _number(value)
    below, above = value - found[0], found[1] - value
    if abs(below - above) <= max(abs(below), abs(above)) / 20:
        return f"{_number(value)} ± {_number(max(below, above))}"
    return f"{_number(value)} [{_number(found[0])}, {_number(found[1])}]"


def _number(value: float) -> str:
    """A number, whole or to six digits."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["─" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
