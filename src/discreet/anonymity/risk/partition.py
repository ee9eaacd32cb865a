"""A table divided by some of its columns, and divided further column by column: how many units are alone by then.

Rows are divided if each is a unit of its own, otherwise units. Only where a unit's rows differ in these columns, so
that it can be in several groups, is each set of columns counted from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.anonymity.classes import Classes, classes_of, sizes_of
from discreet.anonymity.columns import Coded, Whole
from discreet.anonymity.records import Missing, Records

_CELLS = 8
"""The most cells per row of a table of all keys: up to that, counting in it beats sorting the keys."""
_BITS = 62
"""The most bits in which a key and the place of its row are sorted as one number."""


class Partition(Protocol):
    """Units divided by a set of columns."""

    @property
    def unique(self) -> int:
        """How many units are alone."""
        ...

    @property
    def values(self) -> int:
        """How many different combinations of values occur."""
        ...

    @property
    def held(self) -> int:
        """How many pairs of a unit and a combination that it has there are."""
        ...

    @property
    def pairs(self) -> int:
        """How many pairs of units aren't told apart."""
        ...

    def refined(self, column: int) -> Partition:
        """Divided by one more column."""
        ...

    def unique_with_rest(self, start: int) -> int:
        """How many units would be alone if divided by all columns from `start` on, too."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cuts:
    """The columns that a table can be divided by.

    Rows that agree in all columns are never told apart, so they are kept once, or twice if there are two or more:
    then they still keep each other from being alone.

    Args:
        codes: for each column, a code per kept row.
        sizes: for each column, how many codes it has.
        rests: for each place, the columns from there on as one; the last is of no columns.
        rest_sizes: how many codes each of these has.
        weights: of each kept row, how many rows of the table it stands for.
    """

    codes: tuple[Whole, ...]
    sizes: tuple[int, ...]
    rests: tuple[Whole, ...]
    rest_sizes: tuple[int, ...]
    weights: Whole


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Divided:
    """A partition that knows only the units that aren't alone yet: a unit that is alone stays so.

    Args:
        cuts: what it can be divided by.
        unique: how many units are alone already.
        rows: the kept rows that aren't.
        of_row: the group of each of them.
        groups: how many groups they form.
    """

    cuts: Cuts
    unique: int
    rows: Whole
    of_row: Whole
    groups: int

    @property
    def values(self) -> int:
        """How many different combinations of values occur."""
        return self.unique + self.groups

    @property
    def held(self) -> int:
        """How many units there are: each is in one group."""
        return int(self.cuts.weights.sum())

    @property
    def pairs(self) -> int:
        """How many pairs of units aren't told apart."""
        held = np.bincount(self.of_row, weights=self.cuts.weights[self.rows], minlength=self.groups).astype(np.int64)
        return int((held * (held - 1)).sum()) // 2

    def refined(self, column: int) -> Divided:
        """Divided by one more column."""
        size = self.cuts.sizes[column]
        keys = self.of_row * size + self.cuts.codes[column][self.rows]
        span = self.groups * size
        if span <= _CELLS * len(keys):
            crowded = np.bincount(keys, minlength=span) > 1
            left = crowded[keys]
            place = np.cumsum(crowded)
            rows, of_row = self.rows[left], place[keys[left]] - 1
            groups = int(place[-1]) if span else 0
        else:
            rows, of_row, groups = _sorted(keys, span, self.rows)
        alone = self.unique + len(self.rows) - len(rows)
        return Divided(cuts=self.cuts, unique=alone, rows=rows, of_row=of_row, groups=groups)

    def unique_with_rest(self, start: int) -> int:
        """How many units would be alone if divided by all columns from `start` on, too."""
        size = self.cuts.rest_sizes[start]
        keys = self.of_row * size + self.cuts.rests[start][self.rows]
        if self.groups * size <= _CELLS * len(keys):
            return self.unique + int((np.bincount(keys) == 1).sum())
        keys.sort()
        return self.unique + int(_alone(keys).sum())


def divided(classes: Classes) -> Divided:
    """The whole table, not divided yet.

    Args:
        classes: its equivalence classes on all columns, in the order in which `refined` counts them; no unit is in two.
    """
    copies = np.minimum(classes.units, 2)
    tuples = np.repeat(classes.tuples, copies, axis=0)
    weights = np.repeat(classes.units - copies + 1, copies)
    second = np.cumsum(copies)[copies == 2] - 1  # noqa: PLR2004 — the second of two stands for itself alone
    weights[second] = 1
    sizes = [max(column.size, 1) for column in classes.columns]
    rests, rest_sizes = _rests(tuples, sizes)
    cuts = Cuts(
        codes=tuple(np.ascontiguousarray(tuples[:, place], dtype=np.int64) for place in range(len(sizes))),
        sizes=tuple(sizes),
        rests=rests,
        rest_sizes=rest_sizes,
        weights=weights,
    )
    rows = np.arange(len(tuples))
    if len(rows) == 1:
        return Divided(cuts=cuts, unique=1, rows=rows[:0], of_row=rows[:0], groups=0)
    return Divided(cuts=cuts, unique=0, rows=rows, of_row=np.zeros_like(rows), groups=min(len(rows), 1))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recounted:
    """The same where groups overlap, so that each set is counted from the start.

    They do where missing values are wildcards, as rows that agree fall into no groups; and where a unit's rows differ,
    so that it is in several groups, and alone if it is in one of them.

    Args:
        records: the table, its columns in the order in which `refined` counts them.
        chosen: the columns it is divided by.
    """

    records: Records
    chosen: tuple[str, ...]

    @property
    def unique(self) -> int:
        """How many units agree with no other by one of their rows."""
        if not self.chosen:
            return int(self.records.counted == 1)
        return sizes_of(classes_of(self.records, self.chosen)).unique

    @property
    def values(self) -> int:
        """How many different combinations of values occur, a missing one among them."""
        return classes_of(self.records, self.chosen).number

    @property
    def held(self) -> int:
        """How many pairs of a unit and a combination that it has there are."""
        return int(classes_of(self.records, self.chosen).units.sum())

    @property
    def pairs(self) -> int:
        """How many pairs of units agree, added up over what they agree in."""
        return classes_of(self.records, self.chosen).alike

    def refined(self, column: int) -> Recounted:
        """Divided by one more column."""
        return Recounted(records=self.records, chosen=(*self.chosen, self.records.names[column]))

    def unique_with_rest(self, start: int) -> int:
        """How many units would be alone if divided by all columns from `start` on, too."""
        return Recounted(records=self.records, chosen=(*self.chosen, *self.records.names[start:])).unique


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Start:
    """A table that isn't divided yet, and the order in which its columns are counted.

    Args:
        names: of the columns, the finest first: it leaves the least undivided.
        whole: all rows together.
    """

    names: tuple[str, ...]
    whole: Partition


def start(records: Records, names: Sequence[str], classes: Classes | None = None) -> Start:
    """All units of a table together, to be divided by some of its columns.

    Args:
        records: the table.
        names: one or more of its columns.
        classes: its equivalence classes on these, in any order, if they are known already.
    """
    ordered = sorted(names, key=lambda name: -records.column(name).size)
    part = records.only(ordered)
    if records.missing is Missing.WILDCARD and any(column.has_missing for column in part.columns.values()):
        return Start(names=part.names, whole=Recounted(records=part, chosen=()))
    found = classes_of(part, ordered) if classes is None else _reordered(classes, ordered)
    if found.members is not None and found.members.apart:
        return Start(names=part.names, whole=Recounted(records=_once(found, part), chosen=()))
    return Start(names=part.names, whole=divided(found))


def _reordered(classes: Classes, names: Sequence[str]) -> Classes:
    """The same classes, with their columns in another order."""
    place = [classes.names.index(name) for name in names]
    columns = tuple(classes.columns[each] for each in place)
    return replace(classes, columns=columns, tuples=classes.tuples[:, place])


def _once(classes: Classes, records: Records) -> Records:
    """A table with each unit once in each of its classes: what is counted again and again."""
    members = classes.members
    assert members is not None and records.units is not None  # noqa: S101, PT018 — units are in several classes
    columns = {
        column.name: Coded(
            name=column.name,
            codes=np.ascontiguousarray(classes.tuples[members.classes, place]),
            values=column.values,
            has_missing=column.has_missing,
        )
        for place, column in enumerate(classes.columns)
    }
    units = replace(records.units, codes=members.units)
    return Records(columns=columns, rows=len(members.units), missing=records.missing, units=units)


def _rests(
    tuples: np.ndarray[tuple[int, int], np.dtype[np.int32]], sizes: Sequence[int]
) -> tuple[tuple[Whole, ...], tuple[int, ...]]:
    """For each place, the columns from there on, joined into one with as many codes as occur."""
    codes, size = np.zeros(len(tuples), dtype=np.int64), 1
    rests, rest_sizes = [codes], [size]
    for place in range(len(sizes) - 1, -1, -1):
        codes, size = _ranked(tuples[:, place] * np.int64(size) + codes, sizes[place] * size)
        rests.append(codes)
        rest_sizes.append(size)
    return tuple(reversed(rests)), tuple(reversed(rest_sizes))


def _ranked(keys: Whole, span: int) -> tuple[Whole, int]:
    """The place of each number among the different ones, and how many these are; at least 1."""
    if span <= _CELLS * len(keys):
        held = np.bincount(keys, minlength=span) > 0
        return (np.cumsum(held) - 1)[keys], int(held.sum())
    distinct, places = np.unique(keys, return_inverse=True)
    return places.reshape(-1).astype(np.int64), max(len(distinct), 1)


def _sorted(keys: Whole, span: int, rows: Whole) -> tuple[Whole, Whole, int]:
    """The rows whose key isn't alone, their group, and how many groups there are."""
    bits = len(keys).bit_length()
    if span.bit_length() + bits <= _BITS:  # sorting numbers takes half the time of sorting places by them
        packed = np.sort((keys << bits) | np.arange(len(keys)))
        ordered, order = packed >> bits, packed & ((1 << bits) - 1)
    else:
        order = np.argsort(keys)
        ordered = keys[order]
    alone = _alone(ordered)
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    crowded = ~alone
    of_row = np.cumsum(begins[crowded]) - 1
    return rows[order[crowded]], of_row, int(of_row[-1]) + 1 if len(of_row) else 0


def _alone(ordered: Whole) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of some ordered numbers differ from both their neighbours."""
    alone = np.ones(len(ordered), dtype=np.bool_)
    if len(ordered):
        same = ordered[1:] == ordered[:-1]
        alone[1:] &= ~same
        alone[:-1] &= ~same
    return alone
