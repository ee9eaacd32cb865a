"""Spreading: how many people anonymised rows put into each cell of marginals, to be expected by what people are like.

A row stands for one person, of whom less is known than before. Each person of a reference who fits it is as likely to
be like that one, so each is counted with an equal part. They say how the row's columns hang together, which drawing a
value for each column by itself doesn't. Where nobody fits, the columns are taken for independent: each cell of the row
is spread over the values that it stands for, as common as they are in the reference.
"""

from __future__ import annotations

import numpy as np

from discreet.anonymity.records.column import Reals, Whole
from discreet.anonymity.records.records import Records
from discreet.attacks.answers.marginals import Marginals, ranges
from discreet.attacks.targets.compatible import relate
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.tally import summed


def spread(rows: Rows, records: Records, marginals: Marginals, reference: Whole) -> Reals:
    """The expected count of each cell of marginals, by rows that were anonymised.

    Args:
        rows: with all columns of the table.
        records: the table.
        marginals: of this table.
        reference: rows of this table, of people who aren't among those who were anonymised.

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
    kinds = np.repeat(np.arange(found.kinds), np.diff(found.pairs.starts))
    classes = found.pairs.right
    people = np.bincount(found.of_person, minlength=found.kinds)
    fitting = summed(classes, people[kinds], len(found.sizes))
    parts = np.divide(found.sizes, fitting, out=np.zeros(len(fitting)), where=fitting > 0)
    weights = summed(kinds, parts[classes], found.kinds)
    counts = marginals.counts(reference, weights[found.of_person])
    alone = np.flatnonzero(fitting[found.of_row] == 0)
    return counts + _by_column(rows, alone, records, marginals, reference) if len(alone) else counts


def _by_column(rows: Rows, alone: Whole, records: Records, marginals: Marginals, reference: Whole) -> Reals:
    """The same of these rows only, each column by itself."""
    spreads = {
        name: _spread(rows, name, records, reference)[rows.records.column(name).codes[alone]]
        for name in marginals.sizes
    }
    counts = []
    for first, *second in marginals.columns:
        if second:
            counts.append((spreads[first].T @ spreads[second[0]]).ravel())
        else:
            counts.append(spreads[first].sum(axis=0))
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
