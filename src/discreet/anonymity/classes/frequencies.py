"""The one table that everything is computed from: quasi-identifiers × a sensitive attribute, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.classes.classes import Classes, chosen, classes_of
from discreet.anonymity.classes.wildcard import Held, hiding_places, pooled
from discreet.anonymity.records.column import Coded, Codes, Whole
from discreet.anonymity.records.grouping import group, grouped, starts_of
from discreet.anonymity.records.matching import places_of
from discreet.anonymity.records.missing import Missing
from discreet.anonymity.records.records import Records
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Frequencies:
    """How often each sensitive value occurs in each equivalence class.

    Only what occurs is stored: the pairs of class i are those from `starts[i]` to `starts[i + 1]`, in the order of
    their values.

    Args:
        rows: of each class, how many rows are in it.
        sizes: of each class, among how many rows one of its rows hides; the same number, or more where missing values
            are wildcards.
        starts: where the pairs of each class begin, and where the last ends: classes + 1 places.
        values: of each pair, the code of the sensitive value.
        counts: of each pair, how many of the `sizes` rows have it.
        totals: of each sensitive value, how many rows of the whole table have it.
        sensitive: the attribute; None if there is none, and then no pairs and no totals.
        population: of each class, how many rows of a population table have the same quasi-identifiers; None if there
            is no such table.
        classes: where the table came from; None for one that a search merged.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"zip": ["1", "2", "1"], "ill": ["flu", "flu", "cold"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> found.starts.tolist(), found.values.tolist(), found.totals.tolist()
        ([0, 2, 3], [0, 1, 1], [1, 2])
    """

    rows: Whole
    sizes: Whole
    starts: Whole
    values: Codes
    counts: Whole
    totals: Whole
    sensitive: Coded | None = None
    population: Whole | None = None
    classes: Classes | None = None

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def total(self) -> int:
        """How many rows the classes have together."""
        return int(self.rows.sum())


def frequencies_of(
    records: Records,
    quasi_identifiers: Sequence[str],
    sensitive: str | None = None,
    population: Records | None = None,
) -> Frequencies:
    """The frequency table of a table's rows.

    Args:
        records: the table.
        quasi_identifiers: one or more of its columns.
        sensitive: another of its columns; None for the classes alone.
        population: a table of everybody whom the rows were drawn from, with the same quasi-identifiers.

    Raises:
        InvalidArgument: no quasi-identifier is named, one twice, or the sensitive column among them.
        SchemaMismatch: a table lacks one of the columns, or the population holds values of another kind in it.
    """
    if sensitive is None:
        found = classes_of(records, quasi_identifiers)
        return _bare(found, None if population is None else counted(found, records, population))
    columns = chosen(records, quasi_identifiers)
    attribute = records.column(sensitive)
    if attribute.name in {column.name for column in columns}:
        raise InvalidArgument(f"the column {sensitive!r} can't be both quasi-identifying and sensitive")
    every = [*columns, attribute]
    pairs = grouped(every)
    tuples, values = np.split(pairs.tuples(), [len(columns)], axis=1)
    begins = np.ones(len(tuples), dtype=np.bool_)
    begins[1:] = (tuples[1:] != tuples[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    held = Held(
        classes=np.cumsum(begins) - 1, values=values[:, 0].copy(), counts=pairs.counts, span=max(attribute.size, 1)
    )
    rows = np.add.reduceat(pairs.counts, first) if len(first) else pairs.counts
    own, sizes = tuples[first], rows
    if records.missing is Missing.WILDCARD:
        held, sizes = pooled(columns, own, held), hiding_places(columns, own, rows)
    classes = Classes(columns=columns, tuples=own, rows=rows, sizes=sizes)
    return Frequencies(
        rows=rows,
        sizes=sizes,
        starts=np.append(starts_of(held.classes), len(held.values)),
        values=held.values,
        counts=held.counts,
        totals=attribute.counts(),
        sensitive=attribute,
        population=None if population is None else counted(classes, records, population),
        classes=classes,
    )


def counted(classes: Classes, records: Records, others: Records) -> Whole:
    """Of each class, how many rows of another table have the same quasi-identifiers.

    A value that isn't among the classes' is no row's of theirs, so such rows count nowhere.

    Raises:
        SchemaMismatch: the other table lacks a quasi-identifier, or holds values of another kind in it.
        InvalidArgument: missing values are wildcards: which rows agree is then said only within a table.
    """
    if Missing.WILDCARD in {records.missing, others.missing}:
        raise InvalidArgument(
            "a population can't be compared with while missing values are wildcards", hint="read both as own values"
        )
    theirs = [others.column(column.name) for column in classes.columns]
    places = [places_of(mine, other)[other.codes] for mine, other in zip(classes.columns, theirs, strict=True)]
    known = np.ones(others.rows, dtype=np.bool_)
    for codes in places:
        known &= codes >= 0
    sizes = [column.size for column in classes.columns]
    both = [np.concatenate((classes.tuples[:, place], codes[known])) for place, codes in enumerate(places)]
    weights = np.concatenate((np.zeros(classes.number, dtype=np.int64), np.ones(int(known.sum()), dtype=np.int64)))
    found = group(both, sizes, weights)
    of_row = found.of_row()  # first: the same sort adds up the weights
    return found.counts[of_row[: classes.number]]


def _bare(classes: Classes, population: Whole | None) -> Frequencies:
    """The classes alone."""
    return Frequencies(
        rows=classes.rows,
        sizes=classes.sizes,
        starts=np.zeros(classes.number + 1, dtype=np.int64),
        values=np.zeros(0, dtype=np.int32),
        counts=np.zeros(0, dtype=np.int64),
        totals=np.zeros(0, dtype=np.int64),
        population=population,
        classes=classes,
    )
