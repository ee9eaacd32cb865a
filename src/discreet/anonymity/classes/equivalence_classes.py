"""Equivalence classes: the rows that an attacker who knows the quasi-identifiers can't tell apart.

Rows are counted as units: a class whose rows are all one person's has one unit, and nobody hides in it. Where no unit
is named, every row is one of its own.

A missing value may also be a wildcard: two rows agree if they have the same value in each column in which neither
misses one. Agreeing isn't transitive, so rows fall into no classes by it; but rows that are equal, missing values
included, agree with the same rows. So each class of equal rows gets what is held by all rows that agree with it. Rows
are joined by which columns they miss: for each two such patterns, on the columns that neither misses. There are few
patterns in practice, and never two rows are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Coded, Codes, Mask, Whole
from discreet.anonymity.records.grouping import Packable, group, grouped, starts_of
from discreet.anonymity.records.records import Missing, Records
from discreet.errors import InvalidArgument


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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Classes:
    """The equivalence classes of a table.

    Args:
        columns: the quasi-identifiers.
        tuples: classes × columns: the codes that the rows of a class share, in lexicographic order.
        rows: of each class, how many rows are in it; at least 1.
        units: of each class, how many units have a row in it: its rows, where every row is a unit of its own.
        sizes: of each class, among how many units one of its units hides: the same number, or more where missing values
            are wildcards.
        members: which units are in it; None where every row is a unit of its own.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"sex": ["F", "M", "F"], "age": [40, 25, 40]})
        >>> found = classes_of(table, ["sex", "age"])
        >>> found.number, found.sizes.tolist(), found.total
        (2, [2, 1], 3)
    """

    columns: tuple[Coded, ...]
    tuples: Codes
    rows: Whole
    units: Whole
    sizes: Whole
    members: Members | None = None

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def total(self) -> int:
        """How many units the table has."""
        return int(self.units.sum()) if self.members is None else self.members.number

    @property
    def alike(self) -> int:
        """How many pairs of units can't be told apart, added up over the classes."""
        return int((self.units * (self.sizes - 1)).sum()) // 2

    def within(self, which: Mask) -> int:
        """How many units have a row in one of these classes."""
        return int(self.units[which].sum()) if self.members is None else self.members.within(which)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers' names."""
        return tuple(column.name for column in self.columns)


def classes_of(records: Records, quasi_identifiers: Sequence[str]) -> Classes:
    """The equivalence classes of a table's rows on some columns.

    Args:
        records: the table.
        quasi_identifiers: one or more of its columns.

    Raises:
        InvalidArgument: no column is named, or one twice; or missing values are wildcards where units have several
            rows.
        SchemaMismatch: the table lacks one.

    Source: Wang, Fung (2006), "Anonymizing sequential releases", the definition of (X, Y)-anonymity: of each class,
    how many different units.
    """
    columns = chosen(records, quasi_identifiers)
    if records.units is not None:
        return _by_unit(records, columns)
    found = grouped(columns)
    tuples = found.tuples()
    sizes = found.counts
    if records.missing is Missing.WILDCARD:
        sizes = hiding_places(columns, tuples, found.counts)
    return Classes(columns=columns, tuples=tuples, rows=found.counts, units=found.counts, sizes=sizes)


def _by_unit(records: Records, columns: tuple[Coded, ...]) -> Classes:
    """The classes of a table whose units have several rows.

    Raises:
        InvalidArgument: missing values are wildcards.
    """
    units = records.units
    assert units is not None  # noqa: S101 — the caller looked
    if records.missing is Missing.WILDCARD:
        raise InvalidArgument(
            "missing values can't be wildcards where rows are counted by unit",
            hint="take them as values of their own",
        )
    return _with_members(columns, [column.stored for column in columns], units.codes, units.number, None)


def regrouped(classes: Classes, columns: Sequence[Coded], tuples: Codes, missing: Missing) -> Classes:
    """The classes once their tuples are made coarser, so that some may be the same.

    Args:
        classes: as they were.
        columns: the quasi-identifiers that are left. Their codes aren't those of rows any more; their sizes and missing
            values are what counts.
        tuples: classes × columns: the new codes.
        missing: what a missing value is taken to be.
    """
    codes = [np.ascontiguousarray(tuples[:, place]) for place in range(len(columns))]
    members = classes.members
    if members is not None:
        of_entry = [each[members.classes] for each in codes]
        return _with_members(tuple(columns), of_entry, members.units, members.number, members.rows)
    found = group(codes, [column.size for column in columns], classes.rows)
    left, sizes = found.tuples(), found.counts
    if missing is Missing.WILDCARD:
        sizes = hiding_places(columns, left, found.counts)
    return Classes(columns=tuple(columns), tuples=left, rows=found.counts, units=found.counts, sizes=sizes)


def _with_members(
    columns: tuple[Coded, ...], codes: Sequence[Packable], units: Codes, number: int, rows: Whole | None
) -> Classes:
    """The classes of entries, each a unit's, which stand for so many rows; for one if that is left out."""
    found = group([*codes, units], [*(column.size for column in columns), number], rows)
    entries = found.tuples()
    begins = changes(entries[:, :-1])
    first = np.flatnonzero(begins)
    held = np.diff(first, append=len(entries))
    return Classes(
        columns=columns,
        tuples=entries[first, :-1],
        rows=np.add.reduceat(found.counts, first) if len(first) else found.counts,
        units=held,
        sizes=held,
        members=Members(classes=np.cumsum(begins) - 1, units=entries[:, -1].copy(), rows=found.counts, number=number),
    )


def changes(tuples: Codes) -> Mask:
    """Which of some ordered tuples differ from the one before.

    Examples:
        >>> changes(np.array([[0, 1], [0, 1], [0, 2]], np.int32)).tolist()
        [True, False, True]
    """
    new = np.zeros(len(tuples), dtype=np.bool_)
    new[:1] = True
    for codes in tuples.T:
        new[1:] |= codes[1:] != codes[:-1]
    return new


def chosen(records: Records, quasi_identifiers: Sequence[str]) -> tuple[Coded, ...]:
    """The columns of these names.

    Raises:
        InvalidArgument: no column is named, or one twice, or a text was given for a list of names.
        SchemaMismatch: the table lacks one.
    """
    if isinstance(quasi_identifiers, str):
        raise InvalidArgument("quasi-identifiers are a list of names", hint=f"[{quasi_identifiers!r}]")
    names = list(quasi_identifiers)
    if not names:
        raise InvalidArgument("classes need one or more quasi-identifiers")
    if len(set(names)) < len(names):
        raise InvalidArgument("a quasi-identifier is named twice")
    return tuple(records.column(name) for name in names)
