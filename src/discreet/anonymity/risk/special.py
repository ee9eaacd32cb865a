"""Special uniques: how few columns it takes to single each unit out, and which columns do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymity.classes import Classes, classes_of
from discreet.anonymity.classes.classes import regrouped
from discreet.anonymity.records.column import Mask
from discreet.anonymity.records.grouping import group
from discreet.anonymity.records.read import Unit, read
from discreet.anonymity.records.records import Missing
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialUniques:
    """How small the sets of columns are that single units out: rows, or whom rows belong to.

    A unit is singled out by a set minimally if it is alone by the set and by none of its subsets.

    Args:
        columns: of which sets were tried.
        units: how many units there are.
        at_most: sets had no more columns.
        smallest: of 1, 2, … columns: how many units have a smallest set of that size.
        uses: of each column: in how many of all units' minimal sets it is.
        sets: how many minimal sets all units have together.
    """

    columns: tuple[str, ...]
    units: int
    at_most: int
    smallest: tuple[int, ...]
    uses: tuple[int, ...]
    sets: int

    @property
    def never(self) -> int:
        """How many units no set of so few columns singles out."""
        return self.units - sum(self.smallest)

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "units": self.units,
            "at_most": self.at_most,
            "smallest": list(self.smallest),
            "never": self.never,
            "uses": dict(zip(self.columns, self.uses, strict=True)),
            "sets": self.sets,
        }


def special_uniques(
    table: object,
    columns: Sequence[str] | None = None,
    *,
    unit: Unit = None,
    at_most: int = 3,
    missing: Missing | str | None = None,
) -> SpecialUniques:
    """By how few columns each unit is singled out.

    Who is unique by two columns stays so in most releases; who takes eight may not be unique in the population at all.
    All sets of up to `at_most` columns are counted.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        columns: which columns to consider; all if left out.
        unit: the column, or columns, that say whose a row is; as in `read`. If left out, each row is a unit of its own.
        at_most: of how many columns sets are at the most; 1 or more.
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is named, one twice, or `at_most` is below 1.
        SchemaMismatch: the table lacks a column.

    Source: Elliot, Manning, Ford (2002), "A computational algorithm for handling the special uniques problem", the
    definition of minimal sample uniques; the search here is a plain one.

    Examples:
        >>> table = {"sex": ["F", "M", "M", "M"], "zip": ["1", "1", "2", "2"], "car": ["a", "a", "b", "c"]}
        >>> found = special_uniques(table)
        >>> found.smallest, found.never, found.uses
        ((3, 1, 0), 0, (3, 1, 3))
    """
    if at_most < 1:
        raise InvalidArgument(f"at_most must be 1 or more, not {at_most}")
    records = read(table, columns=None if isinstance(columns, str) else columns, unit=unit, missing=missing)
    classes = classes_of(records, records.names if columns is None else columns)
    number, most = len(classes.columns), min(at_most, len(classes.columns))
    done: Mask | None = None
    smallest, uses, sets = [0] * at_most, [0] * number, 0
    below: dict[tuple[int, ...], Mask] = {}
    for size in range(1, most + 1):
        level = {}
        for chosen in combinations(range(number), size):
            alone = _alone(classes, chosen, records.missing)
            level[chosen] = alone
            already = np.zeros_like(alone)
            for subset in combinations(chosen, size - 1):
                already |= below.get(subset, False)
            minimal = _number(classes, alone & ~already)
            sets += minimal
            for column in chosen:
                uses[column] += minimal
        found = np.logical_or.reduce(list(level.values()))
        smallest[size - 1] = _number(classes, found if done is None else found & ~done)
        done = found if done is None else found | done
        below = level
    return SpecialUniques(
        columns=classes.names,
        units=classes.total,
        at_most=at_most,
        smallest=tuple(smallest),
        uses=tuple(uses),
        sets=sets,
    )


def _alone(classes: Classes, chosen: tuple[int, ...], missing: Missing) -> Mask:
    """Who is alone by some of the columns: of each class, or where units have several rows, of each unit."""
    columns = [classes.columns[place] for place in chosen]
    codes = classes.tuples[:, list(chosen)]
    left = regrouped(classes, columns, codes, missing)
    if left.members is not None:
        return np.asarray(left.members.smallest(left.sizes) == 1)
    of_class = group([np.ascontiguousarray(column) for column in codes.T], [column.size for column in columns]).of_row()
    return np.asarray((left.sizes == 1)[of_class], dtype=np.bool_)


def _number(classes: Classes, alone: Mask) -> int:
    """How many units are meant by what `_alone` says."""
    return int(classes.units[alone].sum() if classes.members is None else np.count_nonzero(alone))
