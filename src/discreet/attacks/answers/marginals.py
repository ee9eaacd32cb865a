"""Marginals: how many people have each value of a column, and each pair of values of two columns.

A cell is one value of a column, or a pair of values of two, and a row is in one cell of each marginal. A person with
several rows is in the cells of all of them, and counts once in each. The cells of a column with more than 20 values are
ranges, else most would be empty: at most 10, of about as many rows of the table each, in the order of the values
(numbers by size, texts by code point, times by time, a missing value last). Facts about all rows alike, such as where
the ranges end, are taken to be known to everyone.

Anonymised rows are spread over the cells. A row stands for one person, of whom less is known than before. Each person
of a reference who fits it is as likely to be like that one, so each is counted with an equal part. They say how the
row's columns hang together, which drawing each column's value separately doesn't. Where nobody fits, the columns are
taken for independent: each cell of the row is spread over the values that it stands for, as common as they are in the
reference.

Where people have several rows, a cell counts those with a row in it. Rows of one person that look alike are taken for
one row; the others are taken for independent. So a person is missing from a cell with the product of the chances that
each of their rows is. Of the reference, each row that fits counts alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Reals, Whole
from discreet.anonymity.grouping import distinct, group
from discreet.anonymity.records import Records
from discreet.attacks.targets.candidates import summed
from discreet.attacks.targets.compatible import relate
from discreet.attacks.targets.rows import Candidates, Rows
from discreet.errors import InvalidArgument
from discreet.privacy import Keys

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES, MOST_RANGES = 20, 10
"""A column of more values than the first is cut into at most as many ranges as the second says."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Marginals:
    """All one-way marginals of a table's columns, and then all two-way ones.

    Args:
        codes: for each column, the value or range of each row.
        sizes: for each column, how many values or ranges it has; 2 or more.
        columns: for each marginal, the columns that it is of.
        starts: marginals + 1; the cells of marginal i are those from starts[i] to starts[i + 1], the last column's
            values running fastest.

    Examples:
        >>> from discreet.anonymity import read
        >>> marginals = Marginals.of(read({"sex": ["F", "M", "F"], "ill": ["flu", "cold", "cold"]}))
        >>> marginals.columns, marginals.starts.tolist()
        ((('sex',), ('ill',), ('sex', 'ill')), [0, 2, 4, 8])
        >>> marginals.counts(np.array([0, 2])).tolist()
        [2.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """

    codes: Mapping[str, Codes]
    sizes: Mapping[str, int]
    columns: tuple[tuple[str, ...], ...]
    starts: Whole

    @classmethod
    def of(cls, records: Records) -> Marginals:
        """The marginals of a table's columns; a column that has the same value everywhere tells nobody apart.

        Raises:
            InvalidArgument: all columns are such.
        """
        cut = {name: ranges(column) for name, column in records.columns.items()}
        sizes = {name: int(codes.max(initial=0)) + 1 for name, codes in cut.items()}
        names = [name for name, size in sizes.items() if size > 1]
        if not names:
            raise InvalidArgument(
                "every column has one value only, so its shares tell nobody apart",
                hint="name columns of two or more values",
            )
        columns = (*((name,) for name in names), *combinations(names, 2))
        numbers = [prod(sizes[name] for name in each) for each in columns]
        return cls(
            codes={name: cut[name][records.column(name).codes] for name in names},
            sizes={name: sizes[name] for name in names},
            columns=columns,
            starts=np.concatenate(([0], np.cumsum(numbers))).astype(np.int64),
        )

    @property
    def number(self) -> int:
        """How many cells all marginals have together."""
        return int(self.starts[-1])

    def cells(self, rows: Whole) -> Whole:
        """The cells that rows are in: rows × marginals."""
        found = np.empty((len(rows), len(self.columns)), dtype=np.int64)
        for place, columns in enumerate(self.columns):
            found[:, place] = 0
            for name in columns:
                found[:, place] = found[:, place] * self.sizes[name] + self.codes[name][rows]
        return found + self.starts[:-1]

    def keys(self) -> dict[str, Keys]:
        """For each column, its values or ranges by number: the part of it that everyone may know."""
        return {name: Keys(range(size)) for name, size in self.sizes.items()}

    def coded(self, rows: Whole) -> pa.Table:
        """These rows as a table of values and ranges by number."""
        import pyarrow as pa

        return pa.table({name: codes[rows] for name, codes in self.codes.items()})

    def counts(self, rows: Whole, weights: Reals | None = None, owners: Codes | None = None) -> Reals:
        """How many of these people are in each cell.

        Args:
            rows: theirs.
            weights: how often each counts; once if left out.
            owners: for each row, whose it is: then people are counted, and nobody twice in a cell. Without weights.
        """
        found = np.zeros(self.number)
        for cells in self.cells(rows).T:
            if owners is not None:
                span = int(owners.max(initial=0)) + 1
                cells = distinct(cells * span + owners) // span  # noqa: PLW2901 — from here on, of people
            found += np.bincount(cells, weights=weights, minlength=self.number)
        return found


def ranges(column: Coded) -> Codes:
    """For each value of a column, the range that it is in; of a column of few values, each is its own.

    A value that many rows have isn't cut, so that there may be fewer ranges than 10.

    Examples:
        >>> from discreet.anonymity import read
        >>> ranges(read({"n": list(range(40))}).column("n")).tolist()[:9]
        [0, 0, 0, 0, 1, 1, 1, 1, 2]
    """
    if column.size <= MOST_VALUES:
        return np.arange(column.size, dtype=np.int32)
    counts = column.counts()[: column.size - column.has_missing]
    middles = 2 * np.cumsum(counts) - counts  # twice the rank of the middle row of each value
    found = np.unique(middles * MOST_RANGES // (2 * counts.sum()), return_inverse=True)[1]
    missing = [found[-1] + 1] if column.has_missing else []
    return np.concatenate([found, missing]).astype(np.int32)


def spread(rows: Rows, records: Records, marginals: Marginals, reference: Whole) -> Reals:
    """The expected count of each cell of marginals, by rows that were anonymised.

    Args:
        rows: with all columns of the table.
        records: the table.
        marginals: of this table.
        reference: rows of this table, of people who aren't among those who were anonymised: all of their rows.

    Raises:
        InvalidArgument: a cell's values aren't known, since the table that was generalised isn't there.
        SchemaMismatch: a column is missing.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = read({"age": [20, 25, 31], "ill": ["flu", "cold", "flu"]})
        >>> hidden = Rows.of(read({"age": ["20-29"], "ill": ["flu"]}))
        >>> spread(hidden, people, Marginals.of(people), np.array([0, 1, 2])).tolist()
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
        >>> spread(hidden, people, Marginals.of(people), np.array([1, 2])).round(1).tolist()
        [0.2, 0.8, 0.0, 0.0, 1.0, 0.0, 0.2, 0.0, 0.8, 0.0, 0.0]
    """
    found = rows.candidates(records.take(reference), records.names)
    if rows.records.units is not None:
        return _of_units(rows, records, marginals, reference, found)
    kinds = np.repeat(np.arange(found.kinds), np.diff(found.pairs.starts))
    classes = found.pairs.right
    people = np.bincount(found.of_person, minlength=found.kinds)
    fitting = summed(classes, people[kinds], len(found.sizes))
    parts = np.divide(found.sizes, fitting, out=np.zeros(len(fitting)), where=fitting > 0)
    weights = summed(kinds, parts[classes], found.kinds)
    counts = marginals.counts(reference, weights[found.of_person])
    alone = np.flatnonzero(fitting[found.of_row] == 0)
    if not len(alone):
        return counts
    return counts + _by_column(rows, _spreads(rows, records, marginals, reference), marginals, alone)


def _of_units(rows: Rows, records: Records, marginals: Marginals, reference: Whole, found: Candidates) -> Reals:
    """The expected number of people with a row in each cell."""
    units = rows.records.units
    assert units is not None  # noqa: S101 — the caller asked
    held = group([found.of_row.astype(np.int32), units.codes], [len(found.sizes), units.number]).tuples()
    kinds = np.repeat(np.arange(found.kinds), np.diff(found.pairs.starts))
    cells = marginals.cells(reference)
    spreads = None
    absent = np.zeros((units.number, marginals.number))  # logarithms of the chances that no one's row is there
    for place in range(len(found.sizes)):
        fitting = np.isin(found.of_person, kinds[found.pairs.right == place])
        if fitting.any():
            likely = np.bincount(cells[fitting].ravel(), minlength=marginals.number) / fitting.sum()
        else:
            spreads = spreads or _spreads(rows, records, marginals, reference)
            likely = _by_column(rows, spreads, marginals, np.flatnonzero(found.of_row == place)[:1])
        with np.errstate(divide="ignore"):  # a cell that is certain is missing with a chance of 0
            absent[held[held[:, 0] == place, 1]] += np.log1p(-np.minimum(likely, 1.0))
    return np.asarray((1 - np.exp(absent)).sum(axis=0))


def _spreads(rows: Rows, records: Records, marginals: Marginals, reference: Whole) -> dict[str, Reals]:
    """For each column that marginals are of, how likely each released value stands for each range."""
    return {name: _spread(rows, name, records, reference) for name in marginals.sizes}


def _by_column(rows: Rows, spreads: Mapping[str, Reals], marginals: Marginals, some: Whole) -> Reals:
    """The expected count of each cell by these rows only, each column separately."""
    of_row = {name: each[rows.records.column(name).codes[some]] for name, each in spreads.items()}
    counts = []
    for first, *second in marginals.columns:
        if second:
            counts.append((of_row[first].T @ of_row[second[0]]).ravel())
        else:
            counts.append(of_row[first].sum(axis=0))
    return np.concatenate(counts)


def _spread(rows: Rows, name: str, records: Records, reference: Whole) -> Reals:
    """For each released value of a column, how likely it stands for each range.

    One person of the reference more has any value alike, so that none is impossible.
    """
    column, released, covered = records.column(name), rows.records.column(name), rows.covered(name)
    cells, original = covered or (None, None)
    values, places = relate(column, released, cells=cells, original=original).pairs()
    common: Reals = np.bincount(column.codes[reference], minlength=column.size) + np.float64(1 / column.size)
    ranged = ranges(column)
    size = int(ranged.max()) + 1
    found = summed(places * size + ranged[values], common[values], released.size * size).reshape(-1, size)
    totals = found.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(found, totals, out=np.zeros_like(found), where=totals > 0))
