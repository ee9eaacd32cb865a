"""Proposing a hierarchy for a column, from its name and its values."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal
from math import floor, inf, log10
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.anonymity.columns import Coded, Reals
from discreet.anonymity.hierarchies.dates import Calendar
from discreet.anonymity.hierarchies.intervals import Intervals
from discreet.anonymity.hierarchies.ladder import Hierarchy
from discreet.anonymity.hierarchies.masks import Flat, Masking
from discreet.anonymity.hierarchies.texts import (
    is_number,
    is_text,
    is_time,
    numbers,
    present,
    spelled_dates,
    texts,
    times,
)
from discreet.anonymity.sharing import Sharing
from discreet.errors import InvalidArgument
from discreet.tables import Kind
from discreet.tables.proposals import joined, knowledge, without_owner

if TYPE_CHECKING:
    import pyarrow as pa

ColumnKind = Literal["number", "date", "digits", "category"]
"""Kinds of columns: numbers to be cut into intervals, dates, texts to be masked, or categories."""

_FEW = 20
"""How many categories can be looked over by a person, who may do better than any rule."""
_INTERVALS = 20
"""The most intervals at level 1."""
_TAIL = 0.01
"""The share of rows at either end whose numbers may be clipped: a few outliers must not stretch all intervals."""
_FANOUT = 2
_ALIGNED = 8
"""The intervals begin and end at multiples of this many widths, so that the first levels have round ends."""
_PAIRS = Decimal(2)
"""Intervals of one whole number each would be level 0 again."""
_TWO = 2
"""Two numbers have nothing between them."""
_ZIP = 5
"""Digits of a US ZIP code."""
_CODE = 16
"""The longest text that is taken for a code."""
_ZIP_NAMES = "zip zipcode zip5 postalcode postcode"
_ISO = r"^\d{4}-\d{2}-\d{2}$"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedHierarchy:
    """A hierarchy and why it was chosen.

    Args:
        column: for which.
        hierarchy: fits the column's values.
        reason: in words, without any value of a row.
    """

    column: str
    hierarchy: Hierarchy
    reason: str

    def __str__(self) -> str:
        return f"{self.column}: {type(self.hierarchy).__name__}, because {self.reason}"


def propose_hierarchy(
    column: Coded, *, kind: ColumnKind | None = None, name: str | None = None, sharing: Sharing | None = None
) -> ProposedHierarchy:
    """A hierarchy to start from, for any column.

    Numbers are cut into intervals of a round width; dates, also texts such as 9/7/1967, go by the calendar; digit
    strings such as ZIP codes and other codes are masked from the right; and categories are shown or not: what belongs
    together a rule can't know, so a `Taxonomy` or a file will do better. A missing value stays apart from the others up
    to the last level.

    The choice depends on the data. The ends of intervals are round numbers around all but the outermost 1 % of rows at
    either side, so that a few outliers don't stretch them.

    Args:
        column: any, also one without rows.
        kind: what to take it for, where the guess would be wrong.
        name: to guess by, if the column's own says nothing.
        sharing: how many people share each value. If an interval would end at one that too few have, all intervals of
            the column end halfway between two whole numbers, `[19.5, 29.5)`, or a little before round numbers.

    Raises:
        InvalidArgument: there is no such kind.
        SchemaMismatch: the values aren't of that kind.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = read({"age": [17, 38, 52, 90] * 50, "zip": ["12345", "12399", "20001", "20002"] * 50})
        >>> print(propose_hierarchy(people.column("zip")).reason)
        its values are digits, all of the same length
        >>> for labels in propose_hierarchy(people.column("age")).hierarchy.ladder(people.column("age")).labels[1:]:
        ...     print(*labels)
        15–19 35–39 50–54 90–94
        10–19 30–39 50–59 90–99
        0–19 20–39 40–59 80–99
        0–39 40–79 80–119
        0–79 80–119
        *
    """
    values = present(column)
    found = kind or _guess(values, name or column.name)
    match found:
        case "number":
            hierarchy, reason = _of_numbers(column, sharing)
        case "date":
            hierarchy, reason = _of_dates(column)
        case "digits":
            hierarchy, reason = _of_codes(column, name or column.name)
        case "category":
            hierarchy, reason = Flat(), _why_flat(column)
        case _:
            raise InvalidArgument(f"{found!r} is no kind of column", hint="number, date, digits or category")
    return ProposedHierarchy(column=column.name, hierarchy=hierarchy, reason=reason)


def _guess(values: pa.Array, name: str) -> ColumnKind:
    """The kind that a column is taken for."""
    if len(values) <= 1:
        return "category"
    if is_time(values):
        return "date"
    if spelled_dates(values) is not None:
        return "date"
    if is_number(values):
        return _guess_number(values, name)
    return "digits" if _are_codes(values) else "category"


def _guess_number(values: pa.Array, name: str) -> ColumnKind:
    """Numbers are cut into intervals, unless they are codes by what their name is known for."""
    if _is_zip(name):
        return "digits"
    fact = knowledge(name, Kind.INTEGER) or knowledge(name, Kind.TEXT)
    coded = fact is not None and fact.codings and len(values) <= _FEW
    return "category" if coded or len(values) == _TWO else "number"


def _is_zip(name: str) -> bool:
    """Whether a column's name says that it holds ZIP codes."""
    return joined(without_owner(name) or name) in _ZIP_NAMES.split()


def _are_codes(values: pa.Array) -> bool:
    """Whether texts are dates in ISO form, digits of one length, or many short ones that have digits in them."""
    import pyarrow.compute as pc

    if not is_text(values):
        return False
    if _all(values, _ISO) or (_all(values, r"^\d{2,}$") and _one_length(values)):
        return True
    return len(values) > _FEW and _all(values, r"\d") and int(pc.max(pc.utf8_length(values)).as_py()) <= _CODE


def _all(values: pa.Array, pattern: str) -> bool:
    """Whether every text has the pattern."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _one_length(values: pa.Array) -> bool:
    """Whether all texts are of the same length."""
    import pyarrow.compute as pc

    return len(pc.unique(pc.utf8_length(values))) == 1


def _of_codes(column: Coded, name: str) -> tuple[Hierarchy, str]:
    """A mask for codes, without levels that would tell as much as the one below them."""
    values = present(column)
    if is_number(values):
        mask, reason = Masking(pad="0", width=_ZIP if _is_zip(name) else None), "its numbers are codes"
    elif _all(values, _ISO):
        mask, reason = Masking(masked=(3, 6, 7)), "its values are texts that look like dates"
    elif _all(values, r"^\d+$") and _one_length(values):
        mask, reason = Masking(), "its values are digits, all of the same length"
    else:
        mask, reason = Masking(), "its values are short codes, and codes that begin alike often mean alike"
    ladder = mask.ladder(column)
    steps = mask.masked or range(1, ladder.height)
    groups = [ladder.groups(level) - column.has_missing for level in range(ladder.height)]
    useful = [step for step, low, high in zip(steps, groups, groups[1:], strict=False) if 1 < high < low]
    if not useful:
        return Flat(), f"{reason}; masking a part of them brings none together"
    return replace(mask, masked=tuple(useful)), reason


def _why_flat(column: Coded) -> str:
    """Why there is nothing between a value and `*`."""
    if column.size <= 1:
        return "it has fewer than two values"
    if column.size - column.has_missing <= _FEW:
        return "it has few categories; a taxonomy of them would lose less"
    return "it has many categories and nothing in them says which belong together; a taxonomy or a file would lose less"


def _of_dates(column: Coded) -> tuple[Hierarchy, str]:
    """The calendar, for dates however they are spelled.

    Raises:
        SchemaMismatch: the values are neither.
    """
    held = present(column)
    found = None if is_time(held) else spelled_dates(held)
    if found is None:
        times(column, "propose for another kind")
        return Calendar(), "its values are dates"
    if not found.settled:
        either = "its values are dates, with the day or the month first: nothing in them tells, so say it with --dates"
        return Calendar(units=("year", "decade")), either
    order = {"dmy": "the day first", "mdy": "the month first", "ymd": "the year first"}[found.order]
    dots = " with dots" if is_text(held) and _all(held, "[.]") else ""
    return Calendar(), f"its values are texts that are dates{dots}, {order}"


def _of_numbers(column: Coded, sharing: Sharing | None) -> tuple[Hierarchy, str]:
    """Intervals of a round width.

    Raises:
        SchemaMismatch: the values aren't numbers.
    """
    import pyarrow as pa

    values = numbers(column, "propose for another kind").cast(pa.float64(), safe=False)
    held: Reals = values.to_numpy(zero_copy_only=False)
    inner = _inner(held, column)
    span = float(inner[-1]) - float(inner[0]) if len(inner) else 0.0
    if not 0 < span / _INTERVALS < inf:
        return Flat(), "it has barely more than one number"
    width = _round_width(span / _INTERVALS)
    whole = bool((held == np.floor(held)).all())
    if whole:
        width = max(width, _PAIRS)
    step = width * _ALIGNED
    low, high = (step * int(Decimal(float(end)) // step) for end in (inner[0], inner[-1]))
    low -= step * (Decimal(float(inner[0])) < low)  # Decimal divides towards zero
    high += step * (Decimal(float(inner[-1])) >= high)
    reason = f"it holds numbers; at level 1 the intervals are {float(width):g} wide"
    if sharing is not None:
        rare = {
            Decimal(text) for text, few in zip(texts(present(column)).to_pylist(), sharing.rare, strict=False) if few
        }
        back = _away_from(rare, (low, high, width), whole=whole)
        low, high = low - back, high - back
    return Intervals.equal(low, high, width=width, fanout=_FANOUT), reason


def _away_from(rare: AbstractSet[Decimal], grid: tuple[Decimal, Decimal, Decimal], *, whole: bool) -> Decimal:
    """How far back a grid must be moved for no interval on it to end at a rare value: not at all if none does.

    Args:
        rare: values that too few people share.
        grid: where the first interval begins, where the last one ends, and how wide they are.
        whole: whether all values are whole numbers: half a unit then changes no interval, and no one has it as a value.
    """
    low, high, width = grid
    ends = [low + width * place for place in range(int((high - low) / width) + 1)]
    if whole:
        return Decimal(0) if rare.isdisjoint([*ends, *(end - 1 for end in ends)]) else Decimal("0.5")
    back, part = Decimal(0), width / 20
    while not rare.isdisjoint([end - back for end in ends]):
        back, part = part, part / 2
    return back


def _round_width(width: float) -> Decimal:
    """The least 1 or 5 with zeros that isn't below this width: twice and four times that are round numbers too."""
    power = Decimal(10) ** floor(log10(width))
    return next(power * digit for digit in (1, 5, 10, 50) if float(power * digit) >= width)


def _inner(held: Reals, column: Coded) -> Reals:
    """The different numbers without those of the outermost rows, ascending."""
    counts = column.counts()[: len(held)]
    below = np.cumsum(counts)
    above = below[-1] - below + counts if len(counts) else below
    tail = _TAIL * (below[-1] if len(below) else 0)
    return held[(below > tail) & (above > tail)]
