"""Equivalence classes: the rows that an attacker who knows the quasi-identifiers can't tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.anonymity.classes.wildcard import hiding_places
from discreet.anonymity.records.column import Coded, Codes, Whole
from discreet.anonymity.records.grouping import grouped
from discreet.anonymity.records.missing import Missing
from discreet.anonymity.records.records import Records
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Classes:
    """The equivalence classes of a table.

    Args:
        columns: the quasi-identifiers.
        tuples: classes × columns: the codes that the rows of a class share, in lexicographic order.
        rows: of each class, how many rows are in it; at least 1.
        sizes: of each class, among how many rows one of its rows hides: the same number, or more where missing values
            are wildcards.

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
    sizes: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def total(self) -> int:
        """How many rows the table has."""
        return int(self.rows.sum())

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
        InvalidArgument: no column is named, or one twice.
        SchemaMismatch: the table lacks one.
    """
    columns = chosen(records, quasi_identifiers)
    found = grouped(columns)
    tuples = found.tuples()
    sizes = found.counts
    if records.missing is Missing.WILDCARD:
        sizes = hiding_places(columns, tuples, found.counts)
    return Classes(columns=columns, tuples=tuples, rows=found.counts, sizes=sizes)


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
