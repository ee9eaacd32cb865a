"""Spreading: how many people anonymised rows put into each cell of marginals, to be expected by what people are like.

A row stands for one person, of whom less is known than before. Each person of a reference who fits it is as likely to
be like that one, so each is counted with an equal part. They say how the row's columns hang together, which drawing a
value for each column by itself doesn't. Where nobody fits, the columns are taken for independent: each cell of the row
is spread over the values that it stands for, as common as they are in the reference.

Where people have several rows, a cell counts those with a row in it. Rows of one person that look alike are taken for
one row; the others are taken for independent. So somebody is missing from a cell with the product of the chances that
each of their rows is. Of the reference, each row that fits counts alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.anonymity.records.column import Reals, Whole
from discreet.anonymity.records.grouping import group
from discreet.anonymity.records.records import Records
from discreet.attacks.answers.marginals import Marginals, ranges
from discreet.attacks.targets.compatible import relate
from discreet.attacks.targets.rows import Candidates, Rows
from discreet.attacks.targets.tally import summed


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
    absent = np.zeros((units.number, marginals.number))  # logarithms of the chances that nobody's row is there
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
    """Of each column that marginals are of, how likely each released value stands for each range."""
    return {name: _spread(rows, name, records, reference) for name in marginals.sizes}


def _by_column(rows: Rows, spreads: Mapping[str, Reals], marginals: Marginals, some: Whole) -> Reals:
    """The expected count of each cell by these rows only, each column by itself."""
    of_row = {name: each[rows.records.column(name).codes[some]] for name, each in spreads.items()}
    counts = []
    for first, *second in marginals.columns:
        if second:
            counts.append((of_row[first].T @ of_row[second[0]]).ravel())
        else:
            counts.append(of_row[first].sum(axis=0))
    return np.concatenate(counts)


def _spread(rows: Rows, name: str, records: Records, reference: Whole) -> Reals:
    """Of each released value of a column, how likely it stands for each range.

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
