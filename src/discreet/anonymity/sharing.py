"""How many people share each value of a column: a value that fewer than k have must not be read off a release.

With a list of everyone's numbers, a person can be found by a number that the release shows, wherever it stands: in a
cell, at one end of a range, or in a set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sharing:
    """How many units share each value of a column.

    Args:
        k: how many units must share a value before it may be shown.
        units: code → how many units have a row with this value.
        once: code → how many units are counted here, if each is counted once in the column, at its least value. So the
            sum over a range of codes is never more than the number of units in it.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"who": [1, 1, 2], "age": [30, 31, 31]}, unit="who")
        >>> shared = sharing_of(visits, visits.column("age"), 2)
        >>> shared.units.tolist(), shared.once.tolist(), shared.rare.tolist()
        ([1, 2], [1, 1], [True, False])
    """

    k: int
    units: Whole
    once: Whole

    @property
    def rare(self) -> Mask:
        """Which values fewer than k units have."""
        return self.units < self.k

    def passed(self) -> Whole:
        """How many of `once` there are before each code; one entry more than there are codes."""
        return np.concatenate(([0], np.cumsum(self.once)))


def sharing_of(records: Records, column: Coded, k: int) -> Sharing:
    """How many units of a table share each value of one of its columns.

    Args:
        records: the table.
        column: of the table, or what its cells were read as.
        k: how many units must share a value before it may be shown; 1 if any may.
    """
    counts = column.counts()
    if records.units is None:
        return Sharing(k=k, units=counts, once=counts)
    pairs = group([column.codes, records.units.codes], [column.size, records.units.number]).tuples()
    least = np.full(records.units.number, column.size)
    np.minimum.at(least, records.units.codes, column.codes)
    return Sharing(
        k=k,
        units=np.bincount(pairs[:, 0], minlength=column.size).astype(np.int64),
        once=np.bincount(least, minlength=column.size).astype(np.int64),
    )
