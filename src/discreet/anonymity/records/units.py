"""Units: whose each row is. Where a person, or a household, has several rows, they are counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Coded, Codes, Whole
from discreet.anonymity.records.grouping import grouped
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """Whose each row of a table is.

    Args:
        names: the columns that say it, together.
        codes: row → number of its unit, from 0; every number occurs.
        number: how many units there are.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"patient": [7, 9, 7], "ward": ["a", "a", "b"]}, unit="patient")
        >>> visits.units.names, visits.units.codes.tolist(), visits.units.number, visits.names
        (('patient',), [0, 1, 0], 2, ('ward',))
    """

    names: tuple[str, ...]
    codes: Codes
    number: int

    def take(self, rows: Whole) -> Units:
        """Those of these rows, in this order."""
        left, codes = np.unique(self.codes[rows], return_inverse=True)
        return Units(names=self.names, codes=codes.reshape(-1).astype(np.int32), number=len(left))


def units_of(columns: Sequence[Coded]) -> Units:
    """The units that some columns name together.

    Raises:
        InvalidArgument: a row doesn't say whose it is. Taking it for a unit of its own would count too many.
    """
    for column in columns:
        if column.has_missing:
            raise InvalidArgument(
                f"the column {column.name!r} misses {int(column.counts()[-1]):,} of {column.rows:,} values, so that "
                "nobody knows whose these rows are",
                hint="fill it in, or leave these rows out",
            )
    found = grouped(columns)
    codes = found.of_row().astype(np.int32)
    return Units(names=tuple(column.name for column in columns), codes=codes, number=found.number)
