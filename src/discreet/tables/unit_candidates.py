"""Unit candidates: columns that may say whose a row is, told by how they bear on the others, never by their names.

A table of visits, of members of households or of the years of policies repeats what is true of its people: all rows of
one person agree on the sex, all of one household on the roof. So a column is a candidate if its values repeat, and rows
that share one agree on other columns where chance wouldn't have it. That alone is also true of codes, since all rows of
a postal code agree on the state. What follows from a code is one thing told coarser and coarser, or it changes along
the order of the codes; what is true of someone is several things that have little to do with each other. Where only
one thing is fixed, a candidate needs a sign more: that its rows stand together, or that each value has about as many.

Where no column is one alone, two together may be, as a clinic and the number of a patient there: by what neither fixes.

This is a sign and no proof, either way: a number that fixes nothing else is found by nothing here, and a code for
places, with several facts of each, looks like one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.tables.schema.column import Kind

Codes: TypeAlias = NDArray[np.integer[Any]]
"""For each row, the place of its value among the distinct ones."""

_FEWEST = 0.01
"""A candidate has at least this many distinct values per row: with fewer, they are groups."""
_MOST = 0.9
"""And at most this many: beyond that, hardly anyone has two rows."""
_FIXES = 0.875
"""How much of the disagreement that chance would bring must be missing: nine in ten agree where two would by chance."""
_EXPECTED = 20
"""How many values' rows must be expected to disagree by chance, so that luck alone can't explain it: below 1e-6."""
_FOLLOWS, _AKIN = 0.8, 0.3
"""If neighbouring values share a fact this much more often than by chance, it may follow from their order."""
_ASCENDING = 0.95
"""So may a fact that keeps rising, falling or staying the same for this share of neighbouring values."""
_RELATED = 0.5
"""Two facts are related if pairs alike in one are this much more often alike in the other."""
_PAIRS = 30
"""How many pairs of values must be alike in a fact before it is compared with another."""
_SAMPLE, _BLOCKS = 20_000, 40
"""How many values are looked at with all of their rows, in how many runs of neighbours; or all, if there are fewer."""
_ROWS = 400_000
"""Fewer values are looked at if they have more rows than this."""
_LISTED = 1_000
"""A column with more values is assumed to agree by chance as often in many rows as in two: rarely."""
_TRIED, _ASKED = 50, 100
"""How many columns of a wide table are tried (those with the most values), against how many others, spread evenly."""
_COMPARED = 20
"""How many facts are compared with each other."""
_PAIRED, _LOOKED_AT = 100, 20_000_000
"""How many pairs of columns are tried; fewer if they would have more rows than this in all."""
_PAIR_ROWS, _NUMBERS = 50_000, 20
"""About how many rows of each pair are looked at, and how many values one of its columns has."""
_TOGETHER = 1.1
"""Rows of a value stand together if they make at most this many runs per value."""


class CodedColumn(Protocol):
    """A column as places in the ordered list of its distinct values."""

    @property
    def codes(self) -> Codes:
        """For each row, the place of its value."""

    @property
    def rows(self) -> int:
        """How many rows it has."""

    @property
    def size(self) -> int:
        """How many different values it has, with a missing one."""

    @property
    def has_missing(self) -> bool:
        """Whether the last of its values is a missing one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCandidate:
    """A column that looks like the number of a person, a household or a firm.

    Args:
        column: its name.
        values: how many different ones it has, without a missing one.
        rows: how many rows have one.
        fixes: the columns on which the rows of one value agree, in the table's order.
        beside: the column that says it together with this one; none if it does so alone.

    Examples:
        >>> str(UnitCandidate(column="x7", values=20, rows=60, fixes=("age", "car"))).partition(": ")[2]
        'rows that share one agree on age and car'
    """

    column: str
    values: int
    rows: int
    fixes: tuple[str, ...]
    beside: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whose a row is together."""
        return (self.column, *self.beside)

    def __str__(self) -> str:
        """Why it is one, in words; no value of a row."""
        have = "together have" if self.beside else "has"
        counted = f"{' and '.join(self.columns)} {have} {self.values:,} values in {self.rows:,} rows"
        looks = "look" if self.beside else "looks"
        return f"{counted}, and {looks} like {OF_SOMEBODY}: rows that share one agree on {some_of(self.fixes)}"


OF_SOMEBODY = "the number of a person, household or firm"
_TOLD = 3
"""How many columns are named in a sentence."""


def some_of(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are.

    Examples:
        >>> some_of(["a"]), some_of(["a", "b", "c", "d", "e"])
        ('a', 'a, b, c and 2 more')
    """
    more = len(names) - _TOLD
    told = [*names[:_TOLD], *([f"{more:,} more"] if more > 0 else [])]
    return " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)


def unit_candidates(columns: Mapping[str, CodedColumn], kinds: Mapping[str, Kind]) -> tuple[UnitCandidate, ...]:
    """The columns that look like numbers of people, households or firms with several rows each, the finest first.

    Texts and whole numbers can be; numbers with decimals, times and truth values can't. What a column is called has no
    part in it. It errs both ways: see above.

    Args:
        columns: all of a table, by name; of the same length.
        kinds: of each, what its values are; whole numbers are integers, however they are stored.

    Examples:
        >>> from discreet.anonymity import read
        >>> policy, year = np.divmod(np.arange(600), 3)
        >>> table = read({"x1": policy, "x2": policy * 7 % 11, "x3": policy * 5 % 13, "x4": year}).columns
        >>> unit_candidates(table, dict.fromkeys(table, Kind.INTEGER))
        (UnitCandidate(column='x1', values=200, rows=600, fixes=('x2', 'x3'), beside=()),)
    """
    finest = sorted(
        (name for name in columns if _may_be(columns[name], kinds[name])), key=lambda name: -columns[name].size
    )
    asked = list(columns)[:: -(-len(columns) // _ASKED)] if columns else []
    found = [each for name in finest[:_TRIED] if (each := _candidate(name, columns, asked, kinds)) is not None]
    if not found:
        found = _in_pairs(columns, asked, kinds)
    return tuple(sorted(found, key=lambda each: -each.values))


def _may_be(column: CodedColumn, kind: Kind) -> bool:
    """Whether a column has as many values as a candidate, as far as its size tells, and is of a fitting kind."""
    values = column.size - column.has_missing
    enough = column.has_missing or values >= _FEWEST * column.rows
    return kind in {Kind.INTEGER, Kind.TEXT} and enough and 0 < values <= _MOST * column.rows


def _candidate(
    name: str, columns: Mapping[str, CodedColumn], asked: Sequence[str], kinds: Mapping[str, Kind]
) -> UnitCandidate | None:
    """One column as a candidate, by what it fixes of those that are asked; None if it looks like none."""
    column = columns[name]
    values = column.size - column.has_missing
    counts = np.bincount(column.codes, minlength=column.size)[:values]
    rows = int(counts.sum())
    if not _FEWEST * rows <= values <= _MOST * rows:
        return None
    sample = _Sample.of(column, counts)
    facts = {
        other: fact
        for other in asked
        if other != name and columns[other].size > 1 and (fact := sample.fact(columns[other], kinds[other])) is not None
    }
    if not _tell_of_somebody(list(facts.values()), together=_stand_together(column), even=_are_even(counts)):
        return None
    return UnitCandidate(column=name, values=values, rows=rows, fixes=tuple(facts))


def _in_pairs(
    columns: Mapping[str, CodedColumn], asked: Sequence[str], kinds: Mapping[str, Kind]
) -> list[UnitCandidate]:
    """Two columns that are a candidate together: the finest pair, as facts of people tell fewer apart."""
    fitting = [name for name in columns if kinds[name] in {Kind.INTEGER, Kind.TEXT} and columns[name].size > 1]
    fitting.sort(key=lambda name: -columns[name].size)
    left = min(_PAIRED, _LOOKED_AT // max(columns[fitting[0]].rows, 1)) if fitting else 0
    found: list[UnitCandidate] = []
    for one, other in combinations(fitting, 2):
        sizes = columns[one].size, columns[other].size
        rows = columns[one].rows
        if sizes[0] > _MOST * rows or sizes[0] < _NUMBERS or sizes[0] * sizes[1] < _FEWEST * rows or left <= 0:
            continue
        left -= 1
        first, second = (name for name in columns if name in {one, other})
        each = _pair((first, second), columns, asked, kinds)
        if each is not None and (not found or each.values > found[0].values):
            found = [each]
    return found


def _pair(
    pair: tuple[str, str], columns: Mapping[str, CodedColumn], asked: Sequence[str], kinds: Mapping[str, Kind]
) -> UnitCandidate | None:
    """Two columns as a candidate, by what they fix together and neither does alone; None if they look like none."""
    one, other = (columns[name] for name in pair)
    keys = one.codes.astype(np.int64) * other.size + other.codes
    there = np.ones(len(keys), dtype=np.bool_)
    for column in (one, other):
        if column.has_missing:
            there &= column.codes < column.size - 1
    rows = np.flatnonzero(there & (_mixed(keys) % max(len(keys) // _PAIR_ROWS, 1) == 0))
    if not len(rows):
        return None
    rows = rows[np.argsort(keys[rows], kind="stable")]
    ordered = keys[rows]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if not _FEWEST * len(rows) <= len(starts) <= _MOST * len(rows):
        return None
    sample = _Sample(rows=rows, starts=starts, counts=np.diff(starts, append=len(rows)))
    own = [_Fact(codes=column.codes[rows[starts]], kind=Kind.TEXT, order=0.0) for column in (one, other)]
    facts = {
        name: fact
        for name in asked
        if name not in pair and columns[name].size > 1 and (fact := sample.fact(columns[name], kinds[name])) is not None
        if not any(_follows(fact, given) for given in own)
    }
    if not _tell_of_somebody(list(facts.values()), together=False, even=False):
        return None
    values = len(np.unique(keys[there]))
    return UnitCandidate(column=pair[0], beside=pair[1:], values=values, rows=int(there.sum()), fixes=tuple(facts))


def _mixed(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Numbers without an order in which those of keys are, for drawing whole groups of rows."""
    return (keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Fact:
    """A column on which the rows of one value agree.

    Args:
        codes: of each value that was looked at, what its first row has.
        kind: of the column.
        order: how far it follows from the order of the values: 0 not at all, 1 all of it.
    """

    codes: Codes
    kind: Kind
    order: float

    @property
    def pairs(self) -> int:
        """How many pairs of values are alike in it."""
        return _pairs(np.unique(self.codes, return_counts=True)[1])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Sample:
    """All rows of some values of a candidate, in the order of the values.

    Args:
        rows: their places in the table.
        starts: where the rows of each value begin.
        counts: of each value, how many rows it has.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, column: CodedColumn, counts: NDArray[np.int64]) -> _Sample:
        """Those of as many values as there is time for, in runs of neighbours that are spread evenly."""
        values = len(counts)
        number = min(values, _SAMPLE, max(_ROWS * values // int(counts.sum()), 1))
        length = max(number // _BLOCKS, 1)
        taken = np.arange(column.size) % max(values // _BLOCKS, 1) < length if number < values else counts > 0
        taken = np.append(taken[:values], np.zeros(column.size - values, dtype=np.bool_))
        rows = np.flatnonzero(taken[column.codes])
        rows = rows[np.argsort(column.codes[rows], kind="stable")]
        held = counts[taken[:values]]
        return cls(rows=rows, starts=np.cumsum(held) - held, counts=held)

    def fact(self, column: CodedColumn, kind: Kind) -> _Fact | None:
        """The column, if rows of one value agree on it and chance would have it otherwise; None if not."""
        codes = column.codes[self.rows]
        several = self.counts > 1
        shares = np.bincount(codes, minlength=column.size) / max(len(codes), 1)
        by_chance = _agree_by_chance(shares, self.counts[several])
        disagree = several.sum() - by_chance
        if disagree < _EXPECTED:
            return None
        low, high = np.minimum.reduceat(codes, self.starts), np.maximum.reduceat(codes, self.starts)
        if ((low != high) & several).sum() > (1 - _FIXES) * disagree:
            return None
        first = codes[self.starts]
        return _Fact(codes=first, kind=kind, order=_order(first))


def _order(codes: Codes) -> float:
    """How far a fact about values follows from their order: see `_Fact`."""
    steps = np.diff(codes)
    if max((steps >= 0).mean(), (steps <= 0).mean()) >= _ASCENDING:
        return 1.0
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    unlike = 1 - float((shares**2).sum())
    return 1 - float((steps != 0).mean()) / unlike if unlike else 1.0


def _agree_by_chance(shares: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """How many of some values would have rows that all agree, if what rows have were drawn by its shares."""
    if len(shares) > _LISTED:
        return len(counts) * float((shares**2).sum())
    lengths, times = np.unique(counts, return_counts=True)
    return float(sum(n * (shares**length).sum() for length, n in zip(lengths.tolist(), times.tolist(), strict=True)))


def _tell_of_somebody(facts: Sequence[_Fact], *, together: bool, even: bool) -> bool:
    """Whether facts are of people, households or firms, rather than what a code stands for.

    Args:
        facts: on which the rows of a value agree.
        together: whether rows of a value stand together.
        even: whether all values have about as many rows.
    """
    own = [fact for fact in facts if fact.order < _FOLLOWS]
    coarse = [fact for fact in own if fact.pairs >= _PAIRS][:_COMPARED]
    fine = [fact for fact in own if fact.pairs < _PAIRS]
    if any(fact.kind.is_time for fact in fine) and (coarse or len(fine) > 1):
        return True  # each has a day of their own, and something else
    if any(not _follows(one, other) and not _follows(other, one) for one, other in combinations(coarse, 2)):
        return True
    return (together or even) and any(fact.order < _AKIN for fact in coarse)


def _follows(asked: _Fact, given: _Fact) -> bool:
    """Whether values that are alike in what is given are alike in what is asked much more often than others."""
    pairs = given.pairs
    chance = asked.pairs / (len(asked.codes) * (len(asked.codes) - 1) / 2)
    if not pairs or chance >= 1:
        return False
    both = np.unique(given.codes.astype(np.int64) * (int(asked.codes.max()) + 1) + asked.codes, return_counts=True)[1]
    return _pairs(both) / pairs - chance > _RELATED * (1 - chance)


def _pairs(counts: NDArray[np.int64]) -> int:
    """How many pairs there are in groups of these sizes."""
    return int((counts * (counts - 1)).sum()) // 2


def _stand_together(column: CodedColumn) -> bool:
    """Whether the rows of a value stand one after the other."""
    runs = 1 + int(np.count_nonzero(column.codes[1:] != column.codes[:-1]))
    return runs <= _TOGETHER * column.size


def _are_even(counts: NDArray[np.int64]) -> bool:
    """Whether the numbers of rows differ less between values than if each row had drawn its value."""
    return float(counts.var()) < float(counts.mean()) / 2
