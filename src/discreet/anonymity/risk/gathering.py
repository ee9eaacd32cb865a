"""Columns that gather the rows of a person: what is the same in several of them, and nobody else's, is a pseudonym.

Models by unit are about one row of each person at a time. A column that is released as it is may say which rows belong
together all the same: an income to the cent, an entry date, a rare chronic disease. Then those who know
several rows of one person look for them together, and few people agree in all of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Mask, Whole
from discreet.anonymity.grouping import group, grouped
from discreet.anonymity.records import Records

_LEAST = 0.01
"""The share of units whose rows may be gathered without a word: a few have the greatest income, say."""
_FIXED = 0.9
"""The share of units in whose rows a column must be the same to be tried together with others of that kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Columns that say which rows belong together.

    Args:
        columns: one, or several together.
        units: how many units have the same in several of their rows, and nobody else has it in any.
        of: how many units there are.
        alone: how many of `units` differ from everyone else by what others may know of all their rows.
    """

    columns: tuple[str, ...]
    units: int
    of: int
    alone: int

    def __str__(self) -> str:
        """The finding, in a sentence without a full stop."""
        one = len(self.columns) == 1
        return (
            f"{' and '.join(self.columns)} {'gathers' if one else 'together gather'} the rows of {self.units:,} of "
            f"{self.of:,} units, of which {self.alone:,} {'is' if self.alone == 1 else 'are'} alone by all their rows"
        )

    def to_dict(self) -> dict[str, object]:
        """JSON-ready data."""
        return {"columns": list(self.columns), "units": self.units, "of": self.of, "alone": self.alone}


def gathered(records: Records, columns: Sequence[str], known: Sequence[str]) -> tuple[Gathered, ...]:
    """The columns that gather the rows of more than 1 % of the units, those that gather most first.

    Each column is tried alone, and so are all those together that are the same in nearly every unit's rows, if that
    gathers more.

    Args:
        records: a table with units; without, no row belongs to another.
        columns: the columns to try.
        known: what others may know of each row, by which units are alone or not.

    Raises:
        SchemaMismatch: the table lacks a column.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = {"who": [1, 1, 2, 2], "ward": [*"abac"], "income": [21, 21, 34, 34], "pulse": [60, 61, 60, 62]}
        >>> for each in gathered(read(visits, unit="who"), ["income", "pulse"], ["ward"]):
        ...     print(each)
        income gathers the rows of 2 of 2 units, of which 2 are alone by all their rows
    """
    if records.units is None or not records.rows:
        return ()
    several = np.bincount(records.units.codes, minlength=records.units.number) > 1
    found: list[tuple[tuple[str, ...], Mask]] = []
    fixed = []
    for name in columns:
        which, same = _of(records, [name])
        found.append(((name,), which))
        if np.count_nonzero(same & several) > _FIXED * np.count_nonzero(several):
            fixed.append(name)
    together, _ = _of(records, fixed) if len(fixed) > 1 else (several, several)
    if len(fixed) > 1 and np.count_nonzero(together) > max(np.count_nonzero(which) for _, which in found):
        found.append((tuple(fixed), together))
    loud = [(names, which) for names, which in found if np.count_nonzero(which) > _LEAST * records.units.number]
    alone = _alone(records, known) if loud else several
    told = (
        Gathered(
            columns=names,
            units=int(np.count_nonzero(which)),
            of=records.units.number,
            alone=int(np.count_nonzero(which & alone)),
        )
        for names, which in loud
    )
    return tuple(sorted(told, key=lambda each: -each.units))


def _of(records: Records, names: Sequence[str]) -> tuple[Mask, Mask]:
    """For each unit, whether some columns together gather rows of it; and whether they are the same in all of them."""
    assert records.units is not None  # noqa: S101 — the caller looked
    number = records.units.number
    values = grouped([records.column(name) for name in names])
    pairs = group([values.of_row().astype(np.int32), records.units.codes], [values.number, number])
    value, unit = pairs.tuples().T
    own = np.bincount(value)[value] == 1  # nobody else's
    which = np.zeros(number, dtype=np.bool_)
    which[unit[own & (pairs.counts > 1)]] = True
    return which, np.bincount(unit, minlength=number) == 1


def _alone(records: Records, known: Sequence[str]) -> Mask:
    """For each unit, whether no other has the same known values in as many rows."""
    assert records.units is not None  # noqa: S101 — the caller looked
    units = records.units.codes
    classes: Whole = grouped([records.column(name) for name in known]).of_row()
    ordered = classes[np.lexsort((classes, units))]
    ends = np.cumsum(np.bincount(units, minlength=records.units.number))
    bundles = [part.tobytes() for part in np.split(ordered, ends[:-1])]
    times = Counter(bundles)
    return np.array([times[bundle] == 1 for bundle in bundles], dtype=np.bool_)
