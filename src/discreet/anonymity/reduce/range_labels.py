"""Labels of ranges of values: their ends are values that k people share, or that no one has.

With a list of everyone's numbers, a person can be found by one end of a range, if that is the person's number. So a
range ends at a value only if k people have it. Else it reaches outwards, to the end of the narrowest round interval
that holds the value and k people: of numbers that is 1, 2 or 5 with zeros, of texts all that begin alike, of times a
minute, hour, day, month, year or decade. All that an end tells of the person next to it is an interval in which k
people are. A cell stands for all values between the ends that are shown, also those that rounding added.

| column | one value | more |
|---|---|---|
| numbers | `20` | `20–29`; `-5 to 9` where the column has negative numbers |
| times | `2020-01-31` | `2020-01-31–2020-02-01`; `2020-01–2020-03`, `1990s–2003` where these are rare |
| other values, up to eight that k people each share | `Masters` | `{Bachelors, Masters}`: all values of the range |
| other values | | `{Armed-Forces … Sales}`: all between, in the order of code points |
| | | `{Ar… … Sa…}`: all from the first that begins with Ar to the last that begins with Sa; `{Ar…}` |
| a range without a lower or an upper end | | `≤39`, `≥20`, `{… Sa…}`, `{Ar… …}` |
| all values of a column that is neither numbers nor times | | `*` |
| with a ladder | its label | the label of the smallest group that holds the range: it stands for the whole group |
| with a missing value | `(missing)` | `20–29 or (missing)`, `{Masters, (missing)}` |

Proof that no end is a rare value. Ends of numbers are looked up among the rare values, and wider intervals are tried
while they are found there. Where they often are, all rounded ends of the column are written halfway between two units,
`19.5–39.5`, as class boundaries are, and every value is a whole number of units. The beginning of a text is looked up
as well, and shortened. A time's text is longer than its year, month, day, hour or minute. A range without such an
interval has no end. ∎

Different ranges have different labels, unless rounding makes them one: a value with a comma, a brace, a quotation mark
or an ellipsis in it is quoted inside braces. Where a ladder has no group for everything, a range that no group holds is
shown as the set of the highest groups that it meets.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.hierarchies.texts import MISSING, TOP, is_number, is_text, is_time, present, texts
from discreet.anonymity.reduce.axes import Axis
from discreet.anonymity.reduce.recoding import Cells, ListedCells, RangeCells
from discreet.anonymity.sharing import Sharing

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 8
"""How many values are listed; of more, the ends are shown."""
_SPECIAL = frozenset('{},"…')


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a range.

    Args:
        text: what is shown; empty if the range is open there.
        place: of the outermost value that the range then reaches.
    """

    text: str
    place: int


def shown(axis: Axis, low: Codes, high: Codes, sharing: Sharing) -> tuple[Cells, Whole]:
    """The cells of one quasi-identifier, and the cell of each range.

    Args:
        axis: the quasi-identifier.
        low: for each range, the least place.
        high: for each range, the greatest; no two ranges have both in common.
        sharing: how many people share each of its values.
    """
    if axis.ladder is not None:
        return _groups(axis, axis.ladder, low, high)
    column = axis.column
    values = present(column)
    known = texts(values).to_pylist()
    missing = _unused(known) if column.has_missing else ""
    last = len(known) - 1
    lows = np.unique(low[low <= last]).astype(np.int64)
    highs = np.unique(np.minimum(high[low <= last], last)).astype(np.int64)
    lower, upper = _ends(values, known, sharing, lows, highs)
    between = _interval if is_number(values) or is_time(values) else _set
    places: dict[str, int] = {}
    reach: list[tuple[int, int]] = []
    of_range = np.empty(len(low), dtype=np.int64)
    for number, (first, final) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if first > last:
            label, ends = missing, (first, final)
        else:
            one, other = lower[first], upper[min(final, last)]
            ends = (one.place, max(other.place, final))
            label = between(
                known, sharing.rare, (first, min(final, last)), (one, other), missing if final > last else ""
            )
        of_range[number] = places.setdefault(label, len(places))
        if of_range[number] == len(reach):
            reach.append(ends)
    widened = np.array(reach, dtype=np.int32).reshape(-1, 2)
    labels = tuple(places)
    cells = RangeCells(name=column.name, labels=labels, low=widened[:, 0], high=widened[:, 1], size=column.size)
    return cells, of_range


def _unused(known: Sequence[str]) -> str:
    """A label for the missing value that no value has."""
    taken, name = set(known), MISSING
    while name in taken:
        name = f"({name})"
    return name


def _interval(known: Sequence[str], rare: Mask, span: tuple[int, int], ends: tuple[End, End], missing: str) -> str:
    """A range of numbers or times, perhaps with the missing value."""
    low, high = (end.text for end in ends)
    if span[0] == span[1] and not rare[span[0]]:
        text = known[span[0]]
    elif not (low and high):
        text = f"≥{low}" if low else f"≤{high}" if high else TOP
    elif low == high:  # within one month, say
        text = low
    else:
        text = f"{low}{' to ' if '-' in {low[0], known[0][0]} else '–'}{high}"
    return f"{text} or {missing}" if missing and text != TOP else text


def _set(known: Sequence[str], rare: Mask, span: tuple[int, int], ends: tuple[End, End], missing: str) -> str:
    """A range of other values, perhaps with the missing one."""
    first, last = ends[0].place, ends[1].place
    if (first, last) == (0, len(known) - 1) and (missing or len(rare) == len(known)) and len(rare) > 1:
        return TOP
    low, high = span
    if high - low + (missing != "") < _LISTED and not rare[low : high + 1].any():
        names = [*known[low : high + 1], *([missing] if missing else [])]
        # A value that looks like a set is shown as a set of itself, which nothing else looks like.
        return names[0] if len(names) == 1 and not _looks_like_a_set(names[0]) else _listed(names)
    one, other = (end.text for end in ends)
    text = f"{one}{' ' if one else ''}…{' ' if other else ''}{other}" if one != other or not one else one
    text = f"{{{text}}}"
    return f"{text} or {missing}" if missing else text


def _looks_like_a_set(value: str) -> bool:
    """Whether a value on its own would be read as another cell."""
    return value.startswith("{") or value == TOP


def _listed(names: Sequence[str]) -> str:
    """A set."""
    return f"{{{', '.join(map(_quoted, names))}}}"


def _quoted(text: str) -> str:
    """A value as it stands in a set."""
    return json.dumps(text, ensure_ascii=False) if not text or _SPECIAL & set(text) else text


def _groups(axis: Axis, ladder: Ladder, low: Codes, high: Codes) -> tuple[Cells, Whole]:
    """The smallest groups that hold the ranges of a column with a ladder, and the group of each range."""
    order = np.argsort(axis.place)  # place → code
    level = axis.levels(low, high)
    # Level by level, the groups from that of the least place to that of the greatest: one, unless nothing holds both.
    rung = np.minimum(level, ladder.height)
    ends = np.stack((level, axis.grains[rung, low], axis.grains[rung, high]), axis=1)
    distinct, place = np.unique(ends, axis=0, return_inverse=True)
    labels, covered = [], []
    for found, first, last in distinct.tolist():
        at = min(found, ladder.height)
        codes = order[(axis.grains[at] >= first) & (axis.grains[at] <= last)]
        names = [ladder.labels[at][group] for group in dict.fromkeys(ladder.maps[at][codes].tolist())]
        labels.append(names[0] if len(names) == 1 else _listed(names))
        covered.append(codes.astype(np.int32))
    return ListedCells.of(axis.column.name, labels, covered), place.reshape(-1)


def _ends(
    values: pa.Array, known: Sequence[str], sharing: Sharing, lows: Whole, highs: Whole
) -> tuple[Mapping[int, End], Mapping[int, End]]:
    """The lower and the upper ends of ranges, by the place where they begin or end."""
    lower = {place: End(text=_written(values, known[place]), place=place) for place in lows.tolist()}
    upper = {place: End(text=_written(values, known[place]), place=place) for place in highs.tolist()}
    rare = sharing.rare
    if not rare[lows].any() and not rare[highs].any():
        return lower, upper
    numbers = _scaled(known) if is_number(values) else None
    if numbers is not None:
        found = _round_numbers(numbers, sharing, lows[rare[lows]], highs[rare[highs]])
    else:
        found = _beginnings(values, known, sharing, lows, highs)
    lower.update(found[0])
    upper.update(found[1])
    return lower, upper


def _written(values: pa.Array, text: str) -> str:
    """A value as an end: texts as they stand in a set."""
    return text if is_number(values) or is_time(values) else _quoted(text)


_SAFE = 1 << 60
_FEW = 0.2
"""The share of a column's rounded ends that may be rare values, so that wider intervals are looked for. Where there are
more, numbers lie so close together that most round numbers are someone's."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Scaled:
    """Numbers as whole numbers of units of 10^−decimals, ascending."""

    wholes: Whole
    decimals: int

    def text(self, whole: int, *, less: bool = False) -> str:
        """A number of units as it is written; half a unit less, if that is asked for."""
        exact = Decimal(whole) - Decimal(less) / 2
        written = f"{exact.scaleb(-self.decimals):f}"
        return written.rstrip("0").removesuffix(".") if "." in written else written


def _scaled(known: Sequence[str]) -> _Scaled | None:
    """Numbers without their points; None if one isn't finite."""
    exact = [Decimal(text) for text in known]
    if not all(number.is_finite() for number in exact):
        return None
    decimals = max(0, *(-int(number.as_tuple().exponent) for number in exact))
    wholes = [int(number.scaleb(decimals)) for number in exact]
    small = max(map(abs, wholes), default=0) < _SAFE >> 6
    return _Scaled(wholes=np.array(wholes, dtype=np.int64 if small else object), decimals=decimals)


def _round_numbers(
    numbers: _Scaled, sharing: Sharing, lows: Whole, highs: Whole
) -> tuple[dict[int, End], dict[int, End]]:
    """Rounded ends of ranges of numbers, by place: the lower ones and the upper ones."""
    below = _round_ends(numbers, sharing, lows, upper=False)
    above = _round_ends(numbers, sharing, highs, upper=True)
    # One way for all of a column: half a unit at some ends only would say that these are someone's values.
    half = below.taken + above.taken > _FEW * (len(lows) + len(highs))
    return below.ends(numbers, half=half), above.ends(numbers, half=half)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rounded:
    """Ends on one side, rounded.

    Args:
        places: of the values that were rounded.
        narrowest: of each, the end of the narrowest round interval in which k people are; None if there is none.
        free: of each, the end of the narrowest such interval that doesn't end at a rare value; None if there is none.
        upper: whether these are upper ends.
    """

    places: list[int]
    narrowest: list[int | None]
    free: list[int | None]
    upper: bool

    @property
    def taken(self) -> int:
        """How many of the narrowest intervals end at a rare value."""
        return sum(one != other for one, other in zip(self.narrowest, self.free, strict=True))

    def ends(self, numbers: _Scaled, *, half: bool) -> dict[int, End]:
        """The ends by place; `half`: between two units."""
        chosen = zip(self.places, self.narrowest if half else self.free, strict=True)
        return {place: self._end(numbers, at, half=half) for place, at in chosen}

    def _end(self, numbers: _Scaled, at: int | None, *, half: bool) -> End:
        """The label of an interval's end. The next interval begins at an upper one."""
        wholes = numbers.wholes
        if at is None:
            return End(text="", place=len(wholes) - 1 if self.upper else 0)
        if half:
            at_or_after = int(np.searchsorted(wholes, at))
            return End(text=numbers.text(at, less=True), place=at_or_after - 1 if self.upper else at_or_after)
        last = at - 1 if self.upper and not numbers.decimals else at
        if self.upper:
            return End(text=numbers.text(last), place=int(np.searchsorted(wholes, last, side="right")) - 1)
        return End(text=numbers.text(at), place=int(np.searchsorted(wholes, at)))


def _round_ends(numbers: _Scaled, sharing: Sharing, places: Whole, *, upper: bool) -> _Rounded:
    """Look for round intervals, ever wider ones."""
    wholes, passed, rare = numbers.wholes, sharing.passed(), sharing.rare
    at, left = wholes[places], np.arange(len(places))
    narrowest, free = np.full((2, len(places)), None, dtype=object)
    for width in _widths(10 * max(1, *(abs(int(end)) for end in (wholes[0], wholes[-1])))):
        begin = at[left] // width * width
        held = passed[np.searchsorted(wholes, begin + width)] - passed[np.searchsorted(wholes, begin)]
        crowded = held >= sharing.k
        edge, some = (begin + width * upper)[crowded], left[crowded]
        shown = edge - 1 if upper and not numbers.decimals else edge
        place = np.minimum(np.searchsorted(wholes, shown), len(wholes) - 1)
        fine = (wholes[place] != shown) | ~rare[place]
        for one, end in zip(some.tolist(), edge.tolist(), strict=True):
            narrowest[one] = end if narrowest[one] is None else narrowest[one]
        free[some[fine]] = edge[fine]
        left = np.setdiff1d(left, some[fine])
        if not len(left):
            break
    return _Rounded(places=places.tolist(), narrowest=narrowest.tolist(), free=free.tolist(), upper=upper)


def _widths(furthest: int) -> Iterator[int]:
    """2, 5, 10, 20, 50, … as far as it makes sense: one unit is the value itself."""
    width = 1
    while width <= furthest:
        yield from (2 * width, 5 * width, 10 * width)
        width *= 10


_AFTER = "\U0010ffff"
_CLOCK = {16: "", 13: "h", 10: "", 7: "", 4: "", 3: "0s"}
"""The lengths at which a time's text says its minute, hour, day, month, year and decade, and what is written after."""


def _beginnings(
    values: pa.Array, known: Sequence[str], sharing: Sharing, lows: Whole, highs: Whole
) -> tuple[dict[int, End], dict[int, End]]:
    """Ends of ranges of texts and times, by place: the lower ones and the upper ones."""
    ordered = (is_text(values) or is_time(values)) and all(one < other for one, other in pairwise(known))
    blocks = _Blocks(
        known=known, sharing=sharing, passed=sharing.passed().tolist(), clock=is_time(values), some=ordered
    )
    lower: dict[int, End] = {}
    upper: dict[int, End] = {}
    for places, step, found in ((lows, -1, lower), (highs, 1, upper)):
        for place in places.tolist():
            passed, at = [], place
            while at not in found:
                passed.append(at)
                end = blocks.end(at, upper=step > 0) if 0 <= at < len(known) else _open(known, upper=step > 0)
                if end is not None:
                    found[at] = end
                    break
                at += step
            found.update(dict.fromkeys(passed, found[at]))
    return lower, upper


def _open(known: Sequence[str], *, upper: bool) -> End:
    """No end: all values up to the last, or from the first on."""
    return End(text="", place=len(known) - 1 if upper else 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Blocks:
    """Values that begin alike, in a list of texts in order.

    Args:
        known: the texts.
        sharing: how many people share each.
        passed: how many people there are before each text.
        clock: whether the texts are times.
        some: whether texts that begin alike follow each other, and mean a range.
    """

    known: Sequence[str]
    sharing: Sharing
    passed: Sequence[int]
    clock: bool
    some: bool

    def end(self, place: int, *, upper: bool) -> End | None:
        """The value itself if k people share it, else what begins like it; None if k people share neither."""
        text = self.known[place]
        if self.sharing.units[place] >= self.sharing.k:
            return End(text=text if self.clock else _quoted(text), place=place)
        if not self.some:
            return None
        if self.clock:
            lengths = [length for length in _CLOCK if length < len(text)]
        else:  # a space before an ellipsis stands for the lack of an end
            lengths = [length for length in range(len(text) - 1, 0, -1) if not text[length - 1].isspace()]
        # Fewer letters, more people: the longest beginning that enough of them share.
        start = bisect_left(lengths, self.sharing.k, key=lambda length: self._held(text[:length]))
        for length in lengths[start:]:
            first, after = self._block(text[:length])
            if self.known[first] != text[:length] or not self.sharing.rare[first]:
                written = text[:length] + _CLOCK[length] if self.clock else f"{_quoted(text[:length])}…"
                return End(text=written, place=after - 1 if upper else first)
        return None

    def _block(self, beginning: str) -> tuple[int, int]:
        """The first place whose text begins so, and the place after the last."""
        return bisect_left(self.known, beginning), bisect_left(self.known, beginning + _AFTER)

    def _held(self, beginning: str) -> int:
        """How many people have a text that begins so."""
        first, after = self._block(beginning)
        return self.passed[after] - self.passed[first]
