"""Columns of an answer: values with their intervals, as text, and as Arrow holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa


End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

Ends: TypeAlias = tuple[End, End] | None
"""An interval; None where there is none."""


_DIGITS = 38
"""Digits of sums of decimals, in SQL and in Arrow."""

_NEARLY_ALL = 0.95
"""An interval that covers at least this part of what is declared says nothing."""

_LOPSIDED = 1 / 20
"""If the distances of the ends from a value differ by more than this part of the greater one, they aren't shown as
±.
"""

_FAR = 10
"""One end that is so many times as far away as the other has digits that suit the other."""

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
        declared: between which numbers each value lies, by what is declared; infinite where nothing says so. Of counts
            it begins at 0, whatever the noise makes of them. None where values aren't numbers, or nothing is declared.
        withheld: the rows whose values a custodian withholds, because they are of too few units; they are NULL.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = field(repr=False)
    deviation: float | None = None
    declared: tuple[float, float] | None = None
    withheld: tuple[int, ...] = ()

    def is_informative(self, value: object, found: Ends) -> bool:
        """Whether a value and its interval say more than what is declared says without them.

        Examples:
            >>> cost = AnswerColumn("cost", "real", (2552.0, 20000.0), declared=(0, 20_000))
            >>> cost.is_informative(2552.0, (883, 3873)), cost.is_informative(20000.0, (0, 20_000))
            (True, False)
        """
        if self.declared is None:
            return True
        least, most = self.declared
        if value is None or found is None:
            return value is not None and isfinite(least)
        if most == least or not isfinite(most - least) or any(isinstance(end, date) for end in found):
            return True
        width: float = min(found[1], most) - max(found[0], least)
        return width < _NEARLY_ALL * (most - least)


class Intervals(Protocol):
    """The source of an answer's intervals: the noise that was added, or the JSON that it was read from."""

    def __call__(self, name: str, confidence: Fraction) -> Sequence[Ends]:
        """The interval of each value of a column.

        Raises:
            InvalidArgument: they aren't known at this confidence.
        """
        ...


def arrow_table(columns: Sequence[AnswerColumn]) -> pa.Table:
    """Columns as an Arrow table; needs PyArrow."""
    import pyarrow as pa

    arrays = {}
    for one in columns:
        are_real = one.kind == "real"  # whole ends of intervals stand beside infinite ones
        values = [float(value) if are_real and type(value) is int else value for value in one.values]
        arrays[one.name] = pa.array(values, type=arrow_type(one.kind, values))
    return pa.table(arrays)


def with_ends(columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]]) -> list[AnswerColumn]:
    """Columns with the ends of their intervals beside each noisy one, as `n_low` and `n_high`.

    Where there is a column of that name, the end's name gets an underscore more.

    Examples:
        >>> [each.name for each in with_ends([AnswerColumn("n", "integer", (4,))], {"n": [(1, 7)]})]
        ['n', 'n_low', 'n_high']
    """
    taken = {column.name for column in columns}
    found = []
    for column in columns:
        found.append(column)
        ends = intervals[column.name]
        for place, end in enumerate(("low", "high") if any(ends) else ()):
            free = f"{column.name}_{end}"
            while free in taken:
                free += "_"
            values = tuple(None if each is None else each[place] for each in ends)
            kind = "real" if any(isinstance(value, float) for value in values) else column.kind
            found.append(AnswerColumn(free, kind, values))
    return found


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
    """The kind of decimals with this many digits behind the point."""
    return f"decimal({_DIGITS},{places})"


def places_of(kind: str) -> int | None:
    """How many digits values of a kind have behind the point; None if they aren't decimals."""
    found = _DECIMAL.fullmatch(kind)
    return None if found is None else int(found[1])


def decimal_of(value: float | str, places: int) -> Decimal:
    """A number as the nearest decimal with this many digits behind the point.

    Examples:
        >>> decimal_of(1234.5, 2), decimal_of(0.125, 2)
        (Decimal('1234.50'), Decimal('0.12'))
    """
    return Decimal(f"{round(Fraction(value) * 10**places)}E-{places}")


def text_table(columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]]) -> str:
    """Columns as text, each noisy value with its interval."""
    cells = [cell_texts(column, intervals[column.name]) for column in columns]
    return _table([column.name for column in columns], list(zip(*cells, strict=True)))


def cell_texts(column: AnswerColumn, intervals: Sequence[Ends]) -> list[str]:
    """The values of a column as people read them: in one notation, and not known where nothing is.

    A count below 0 is told by the end of its interval, since no count is; where one interval is lopsided, all are told
    by their ends.

    Examples:
        >>> cost = AnswerColumn("cost", "real", (2552.0, 20000.0), declared=(0, 20_000))
        >>> cell_texts(cost, [(883, 3873), (0, 20_000)])
        ['2552 (883 to 3873)', 'not known (0 to 20000)']
        >>> cell_texts(AnswerColumn("n", "integer", (40, -1305), declared=(0, inf)), [(37, 43), (-2788, 178)])
        ['40 ± 3', 'fewer than 179']
        >>> cell_texts(AnswerColumn("n", "integer", (40, None), withheld=(1,)), [(37, 43), None])
        ['40 ± 3', 'withheld']
    """
    pairs = list(zip(column.values, intervals, strict=True))
    words = [
        "withheld" if row in column.withheld else _special(column, value, ends)
        for row, (value, ends) in enumerate(pairs)
    ]
    by_ends = any(one is None and _is_lopsided(value, ends) for (value, ends), one in zip(pairs, words, strict=True))
    return [
        cell_text(value, ends, by_ends=by_ends) if one is None else one
        for (value, ends), one in zip(pairs, words, strict=True)
    ]


def _special(column: AnswerColumn, value: object, found: Ends) -> str | None:
    """The text in place of a value that says nothing by itself; None if the value does."""
    if column.declared is None or value is None:
        return None
    if not column.is_informative(value, found):
        least, most = column.declared
        return f"not known ({_end(least)} to {_end(most)})" if isfinite(most - least) else "not known"
    is_count = column.kind == "integer" and column.declared == (0, inf)
    if is_count and isinstance(value, int) and value < 0 and found is not None and isfinite(found[1]):
        return f"fewer than {max(floor(found[1]), 0) + 1}"
    return None


def _end(number: float) -> str:
    """An end of what is declared: a whole number with all its digits."""
    return f"{number:.0f}" if number == floor(number) else f"{number:.6g}"


def _is_lopsided(value: object, found: Ends) -> bool:
    """Whether an interval reaches clearly further on one side of its value than on the other."""
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool) or found is None:
        return False
    if isinstance(found[0], date) or isinstance(found[1], date):
        return False
    below, above = float(value) - found[0], found[1] - float(value)
    if inf in {below, above}:
        return bool(below != above)
    rounded = 1 if isinstance(value, int) else 0  # ends of whole numbers are put on the outside
    return not abs(below - above) <= max(max(below, above) * _LOPSIDED, rounded)


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def cell_text(value: object, found: Ends, *, by_ends: bool = False) -> str:
    """One value to the digits that its error leaves: `17432 ± 30`, or with its ends where the interval is lopsided.

    Args:
        value: of an answer.
        found: its interval.
        by_ends: whether to tell the ends anyway, because another value of its column needs them.

    Examples:
        >>> cell_text(38.58164, (38.34, 38.82)), cell_text(3.0, (2.5, 4.5)), cell_text(None, None)
        ('38.58 ± 0.24', '3.0 (2.5 to 4.5)', 'NULL')
        >>> cell_text(38, (35, inf)), cell_text(38.58164, (38.34, inf))
        ('38 (at least 35)', '38.58 (at least 38.34)')
        >>> cell_text(2.43, (2.26, 18.1))
        '2.43 (2.26 to 18.10)'
    """
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return ", ".join("NULL" if each is None else str(each) for each in value)
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool):
        return str(value) if found is None else f"{value} ({found[0]} to {found[1]})"
    if found is None or isinstance(found[0], date) or isinstance(found[1], date):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    below, above = float(value) - found[0], found[1] - float(value)
    known = sorted(each for each in (below, above) if 0 < each < inf)
    error = (known[0] if known[-1] > _FAR * known[0] else known[-1]) if known else 0.0
    places = max(0, 1 - floor(log10(error))) if error > 0 and not isinstance(value, int) else 0
    shown = f"{value:.{places}f}" if isinstance(value, float) else str(value)
    if not by_ends and not _is_lopsided(value, found):
        return f"{shown} ± {error:.{places}f}"
    low, high = (f"{end:.{places}f}" for end in found)
    ends = f"at least {low}" if above == inf else f"at most {high}" if below == inf else f"{low} to {high}"
    return f"{shown} ({ends})"


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["─" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
