"""How two columns are compared when errors are expected: the same, near, or something else; and columns as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Protocol

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Value, Whole
from discreet.attacks.targets.compatible import number, plain
from discreet.attacks.targets.sql_conditions import Between
from discreet.errors import InvalidArgument

_SECONDS = 86_400.0  # in a day


def numbers(column: Coded) -> Reals:
    """Each value as a number: dates and timestamps as days, texts if they are written like one; else NaN.

    Examples:
        >>> from discreet.anonymity import read
        >>> numbers(read({"age": ["25", "old", None]}).column("age")).tolist()
        [25.0, nan, nan]
    """
    if not is_time(column):
        found = [number(label) for label in column.labels()]
        return np.array([np.nan if each is None else each for each in found], dtype=np.float64)
    import pyarrow as pa

    seconds = column.values.cast(pa.timestamp("s"), safe=False).cast(pa.int64()).to_pylist()
    return np.array([np.nan if each is None else each / _SECONDS for each in seconds], dtype=np.float64)


def is_time(column: Coded) -> bool:
    """Whether the values are dates or timestamps."""
    import pyarrow as pa

    return bool(pa.types.is_date(column.values.type) or pa.types.is_timestamp(column.values.type))


def is_ordered(column: Coded) -> bool:
    """Whether the values are numbers, dates or timestamps, and not texts that look like some."""
    import pyarrow as pa

    kind = column.values.type
    return is_time(column) or bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


MOST = 2
"""Texts further apart than this are no typos of each other, and looking for them would take long."""

_DIRECT = 1 << 20  # this many pairs are compared directly
_BLOCK = 1 << 18  # pairs compared at a time


def close_pairs(ones: Sequence[str], others: Sequence[str], most: int) -> tuple[Whole, Whole]:
    """The pairs of texts at an edit distance of at most `most`.

    Two texts that are d insertions, deletions and replacements apart have a text in common that either becomes by
    leaving out at most d letters. So texts are brought together by what is left of them, and only those are compared.

    Args:
        ones: texts.
        others: texts.
        most: 0 to 2.

    Returns:
        Places in `ones`, and the places in `others` beside them.

    Raises:
        InvalidArgument: `most` is out of range.

    Source: Levenshtein (1966), the definition of the distance by insertions, deletions and replacements.

    Examples:
        >>> close_pairs(["Meyer", "Smith"], ["Meier", "Smth", "Jones"], 1)
        (array([0, 1]), array([0, 1]))
    """
    if not 0 <= most <= MOST:
        raise InvalidArgument(f"typos are at most {MOST} letters apart")
    if len(ones) * len(others) <= _DIRECT:
        a, b = (side.ravel() for side in np.indices((len(ones), len(others))))
    else:
        a, b = _together(ones, others, most)
    kept = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(a), _BLOCK):
        piece = slice(start, start + _BLOCK)
        distances = _distances([ones[i] for i in a[piece]], [others[j] for j in b[piece]])
        kept.append(start + np.flatnonzero(distances <= most))
    chosen = np.concatenate(kept)
    return a[chosen], b[chosen]


def _together(ones: Sequence[str], others: Sequence[str], most: int) -> tuple[Whole, Whole]:
    """Pairs that have a rest in common, each once; the rests of the shorter list are held, and the longer is read."""
    if len(ones) > len(others):
        b, a = _together(others, ones, most)
        return a, b
    by_rest: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(ones):
        for rest in _rests(text, most):
            by_rest[rest].append(place)
    found: list[Whole] = [np.zeros(0, dtype=np.int64)]
    for place, text in enumerate(others):
        near = {one for rest in _rests(text, most) for one in by_rest.get(rest, ())}
        if near:
            found.append(place * len(ones) + np.fromiter(near, dtype=np.int64, count=len(near)))
    b, a = np.divmod(np.sort(np.concatenate(found)), max(len(ones), 1))
    return a, b


def _rests(text: str, most: int) -> set[str]:
    """The rests of a text that lacks at most this many letters."""
    found = last = {text}
    for _ in range(most):
        last = {one[:place] + one[place + 1 :] for one in last for place in range(len(one))}
        found = found | last
    return found


def _distances(ones: Sequence[str], others: Sequence[str]) -> Whole:
    """The edit distance of each pair, all pairs at once, row by row of the usual table."""
    a, b = _letters(ones), _letters(others)
    lengths = np.array([len(text) for text in ones]), np.array([len(text) for text in others])
    pairs = np.arange(len(lengths[0]))
    row = np.tile(np.arange(len(b) + 1, dtype=np.int32)[:, np.newaxis], len(pairs))
    final = row.copy()
    for i, letter in enumerate(a):
        above, row = row, np.empty_like(row)
        row[0] = i + 1
        for j in range(len(b)):
            np.minimum(above[j + 1], row[j], out=row[j + 1])
            row[j + 1] += 1
            np.minimum(row[j + 1], above[j] + (letter != b[j]), out=row[j + 1])
        ended = lengths[0] == i + 1
        final[:, ended] = row[:, ended]
    return np.asarray(final[lengths[1], pairs], dtype=np.int64)


def _letters(texts: Sequence[str]) -> np.typing.NDArray[np.uint32]:
    """Texts as code points, filled up with 0: letters × texts, each letter's in a row."""
    width = max(map(len, texts), default=0)
    packed = np.array(texts, dtype=f"<U{max(width, 1)}")
    return np.ascontiguousarray(packed.view(np.uint32).reshape(len(texts), -1)[:, :width].T)


class Nearness(Protocol):
    """A way to compare a known value with a released one."""

    @property
    def errors(self) -> float:
        """The share of what is known that is near the truth but not the same; in [0, 1)."""

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """The codes of values that are near each other; those of equal values may be among them."""

    def around(self, known: Coded) -> Sequence[object]:
        """For each known value, the condition that it or what is near it meets, as `where` takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """Values are the same, or they aren't."""

    errors: float = 0.0

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:  # noqa: ARG002 — what the protocol hands over
        """None are near."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def around(self, known: Coded) -> Sequence[object]:
        """The values themselves."""
        return known.labels()


@dataclass(frozen=True, slots=True, kw_only=True)
class Typos:
    """Texts may be a few keystrokes apart.

    Args:
        most: how many letters may be inserted, left out or replaced; 1 or 2.
        errors: how often texts have typos; in [0, 1).
    """

    most: int = 1
    errors: float = 0.1

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """Texts within the edit distance."""
        ones, others = ([plain(label) or "" for label in column.labels()] for column in (known, released))
        return close_pairs(ones, others, self.most)

    def around(self, known: Coded) -> Sequence[object]:
        """The known texts within the edit distance: the attacker has no other list of what there may be."""
        labels = known.labels()
        found: list[list[Value]] = [[label] for label in labels]
        for one, other in zip(*(side.tolist() for side in self.pairs(known, known)), strict=True):
            if one != other and labels[one] is not None and labels[other] is not None:
                found[one].append(labels[other])
        return [None if label is None else each for label, each in zip(labels, found, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Numbers, or dates in days, may be a little apart.

    Args:
        within: by how much at most; 0 or more.
        errors: how often they are; in [0, 1).
    """

    within: float
    errors: float = 0.1

    def __post_init__(self) -> None:
        """Check the distance.

        Raises:
            InvalidArgument: it isn't a number of 0 or more.
        """
        if not isinstance(self.within, int | float) or not self.within >= 0:
            raise InvalidArgument("values are near within a number of 0 or more", hint="of dates, a number of days")

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """Numbers within the distance."""
        mine, theirs = numbers(known), numbers(released)
        order = np.argsort(theirs)  # what is no number comes last
        real = int(np.isfinite(theirs).sum())
        ranked = theirs[order][:real]
        low = np.searchsorted(ranked, mine - self.within, side="left")
        high = np.searchsorted(ranked, mine + self.within, side="right")
        counts = np.where(np.isfinite(mine), high - low, 0)
        one = np.repeat(np.arange(len(mine)), counts)
        before = np.cumsum(counts) - counts
        return one, order[np.arange(len(one)) - before[one] + low[one]]

    def around(self, known: Coded) -> Sequence[object]:
        """From as much less to as much more; texts that look like numbers are asked for as they are."""
        return [self._from_to(label) if is_ordered(known) else label for label in known.labels()]

    def _from_to(self, value: Value) -> Between | Value:
        """From as much less to as much more than a number or a time; anything else as it is."""
        match value:
            case date():
                days = timedelta(days=self.within)
                return Between(value - days, value + days)
            case Decimal():
                exact = Decimal(str(self.within))
                return Between(value - exact, value + exact)
            case int() | float():
                return Between(value - self.within, value + self.within)
        return value
