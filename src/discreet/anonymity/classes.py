"""Equivalence classes: the rows that an attacker who knows the quasi-identifiers can't tell apart.

Rows are counted as units: a class whose rows are all one person's has one unit, and nobody hides in it. Where no unit
is named, every row is a unit of its own. Where missing values are wildcards, a class hides among more: see
`wildcards.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes, class_sizes
from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.grouping import Packable, group, grouped
from discreet.anonymity.members import Members
from discreet.anonymity.records import Missing, Records
from discreet.anonymity.wildcards import hiding_places
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Classes:
    """The equivalence classes of a table.

    Args:
        columns: the quasi-identifiers.
        tuples: classes × columns: the codes that the rows of a class share, in lexicographic order.
        rows: for each class, how many rows are in it; at least 1.
        units: for each class, how many units have a row in it: its rows, where every row is a unit of its own.
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
    """The classes of entries, each a unit's, which stand for these numbers of rows; for one row each if left out."""
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


def sizes_of(classes: Classes) -> ClassSizes:
    """The histogram of a table's classes."""
    return class_sizes(classes.units, classes.sizes, classes.members)
