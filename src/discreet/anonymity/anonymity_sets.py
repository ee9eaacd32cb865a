"""Anonymity sets: among how many units each one hides, by classes and where missing values are wildcards.

A missing value may be a wildcard: two rows agree if they have the same value in each column in which neither misses
one. Agreeing isn't transitive, so rows fall into no classes by it; but rows that are equal, missing values included,
agree with the same rows. So each class of equal rows gets what is held by all rows that agree with it. Rows are joined
by which columns they miss: for each two such patterns, on the columns that neither misses. There are few patterns in
practice, and never two rows are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.grouping import group, starts_of

# ── Members ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Which units are in which classes, where units have several rows.

    Args:
        classes: of each entry, the class; ascending.
        units: of each entry, the number of the unit; once per class.
        rows: of each entry, how many rows the unit has in the class.
        number: how many units the table has.
    """

    classes: Whole
    units: Codes
    rows: Whole
    number: int

    @property
    def apart(self) -> bool:
        """Whether some unit is in two classes or more."""
        return len(self.classes) > self.number

    def smallest(self, of_classes: Whole) -> Whole:
        """Of each unit, the smallest of its classes' numbers."""
        found = np.full(self.number, np.iinfo(np.int64).max)
        np.minimum.at(found, self.units, of_classes[self.classes])
        return found

    def within(self, classes: Mask) -> int:
        """How many units have a row in one of these classes."""
        there = np.zeros(self.number, dtype=np.bool_)
        there[self.units[classes[self.classes]]] = True
        return int(there.sum())


# ── Missing values as wildcards ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Held:
    """How many rows of each class hold each value: one entry per class and value, ordered by class, then by value.

    Args:
        classes: of each entry, the class.
        values: of each entry, the code of the value.
        counts: of each entry, the rows.
        span: codes of values are below this.
    """

    classes: Whole
    values: Codes
    counts: Whole
    span: int


def hiding_places(columns: Sequence[Coded], tuples: Codes, rows: Whole) -> Whole:
    """Of each class, how many rows agree with it, its own included."""
    own = Held(classes=np.arange(len(rows)), values=np.zeros(len(rows), dtype=np.int32), counts=rows, span=1)
    return pooled(columns, tuples, own).counts


def pooled(columns: Sequence[Coded], tuples: Codes, held: Held) -> Held:
    """What is held by the rows that agree with each class.

    Args:
        columns: the quasi-identifiers.
        tuples: classes × columns, as codes.
        held: by the rows of each class; one entry or more for each.
    """
    parts = list(_joined(columns, tuples, held))
    classes = np.concatenate([part.classes for part in parts]) if parts else held.classes
    values = np.concatenate([part.values for part in parts]) if parts else held.values
    counts = np.concatenate([part.counts for part in parts]) if parts else held.counts
    found = group([classes.astype(np.int32), values], [len(tuples), held.span], counts)
    codes = found.tuples()
    return Held(classes=codes[:, 0].astype(np.int64), values=codes[:, 1].copy(), counts=found.counts, span=held.span)


def _joined(columns: Sequence[Coded], tuples: Codes, held: Held) -> Iterator[Held]:
    """For each two patterns of missing columns: what the classes of the one find among those of the other."""
    patterns, of_class = _patterns(columns, tuples)
    for mine in range(len(patterns)):
        seekers = np.flatnonzero(of_class == mine)
        for other in range(len(patterns)):
            shared = np.flatnonzero(~(patterns[mine] | patterns[other])).tolist()
            found = of_class[held.classes] == other
            part = Held(
                classes=held.classes[found], values=held.values[found], counts=held.counts[found], span=held.span
            )
            yield _join(tuples[:, shared], [columns[place].size for place in shared], seekers, part)


def _patterns(columns: Sequence[Coded], tuples: Codes) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]], Whole]:
    """The sets of columns that some class misses (patterns × columns), and which of them each class has."""
    last = np.array([column.size - 1 if column.has_missing else -1 for column in columns])
    missing = tuples == last
    patterns, of_class = np.unique(missing, axis=0, return_inverse=True)
    return patterns, of_class.reshape(-1).astype(np.int64)


def _join(tuples: Codes, sizes: Sequence[int], seekers: Whole, held: Held) -> Held:
    """What these classes find among the entries that agree with them on all of these columns."""
    alike = np.zeros(len(tuples), dtype=np.int32)
    if sizes:
        alike = group([tuples[:, place] for place in range(len(sizes))], sizes).of_row().astype(np.int32)
    found = group([alike[held.classes], held.values], [len(tuples), held.span], held.counts)
    codes, counts = found.tuples(), found.counts
    starts = starts_of(codes[:, 0])
    present, ends = codes[starts, 0], np.append(starts[1:], len(codes))
    wanted = alike[seekers]
    place = np.searchsorted(present, wanted)
    hit = np.zeros(len(wanted), dtype=np.bool_)
    inside = place < len(present)
    hit[inside] = present[place[inside]] == wanted[inside]
    seekers, place = seekers[hit], place[hit]
    lengths = ends[place] - starts[place]
    begin = np.repeat(starts[place] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    chosen = begin + np.arange(int(lengths.sum()))
    return Held(classes=np.repeat(seekers, lengths), values=codes[chosen, 1], counts=counts[chosen], span=held.span)


# ── Sizes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClassSizes:
    """Sizes of equivalence classes, smallest first, with how many classes and how many units have each.

    Args:
        sizes: the different sizes: among how many units a unit hides, itself included.
        classes: of each size, how many classes have it.
        units: of each size, how many units are in such classes, and in none that is smaller: size times classes, unless
            missing values are wildcards or units are in several classes.

    Examples:
        >>> import numpy as np
        >>> found = class_sizes(np.array([1, 3, 1]), np.array([1, 3, 1]))
        >>> found.sizes.tolist(), found.classes.tolist(), found.units.tolist()
        ([1, 3], [2, 1], [2, 3])
        >>> found.unique, found.below(4), found.smallest
        (2, 5, 1)
    """

    sizes: Whole
    classes: Whole
    units: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    @property
    def total(self) -> int:
        """How many units there are."""
        return int(self.units.sum())

    @property
    def smallest(self) -> int:
        """The k of k-anonymity: the least size; 0 if there are no units."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def unique(self) -> int:
        """How many units are alone in a class."""
        return self.of(1)

    def of(self, size: int) -> int:
        """How many units have exactly this size as their smallest."""
        return int(self.units[self.sizes == size].sum())

    def below(self, size: int) -> int:
        """How many units are in classes smaller than this."""
        return int(self.units[self.sizes < size].sum())

    def to_dict(self) -> list[dict[str, int]]:
        """The histogram as JSON-ready data, one entry a size."""
        return [
            {"size": int(size), "classes": int(classes), "units": int(units)}
            for size, classes, units in zip(self.sizes, self.classes, self.units, strict=True)
        ]


def class_sizes(units: Whole, sizes: Whole, members: Members | None = None) -> ClassSizes:
    """The histogram of some classes.

    Args:
        units: of each class, how many units are in it.
        sizes: of each class, among how many units one of its units hides.
        members: which units are in it, if they may be in several.
    """
    span = int(sizes.max()) + 1 if len(sizes) else 1
    found = group([sizes.astype(np.int32)], [span])
    of_class, different = found.of_row(), found.tuples()[:, 0].astype(np.int64)
    if members is None:
        held = np.bincount(of_class, weights=units, minlength=found.number).astype(np.int64)  # exact below 2^53
    else:
        held = np.bincount(members.smallest(of_class), minlength=found.number)
    return ClassSizes(sizes=different, classes=found.counts, units=held)
