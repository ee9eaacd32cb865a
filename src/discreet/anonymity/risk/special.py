"""Special uniques: how few columns it takes to single each row out, and which columns do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymity.classes import Classes, classes_of
from discreet.anonymity.classes.wildcard import hiding_places
from discreet.anonymity.records.column import Mask
from discreet.anonymity.records.grouping import group
from discreet.anonymity.records.missing import Missing
from discreet.anonymity.records.read import read
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialUniques:
    """How small the sets of columns are that single rows out.

    A row is singled out by a set minimally if it is alone by the set and by none of its subsets.

    Args:
        columns: of which sets were tried.
        rows: how many rows there are.
        at_most: sets had no more columns.
        smallest: of 1, 2, … columns: how many rows have a smallest set of that size.
        uses: of each column: in how many of all rows' minimal sets it is.
        sets: how many minimal sets all rows have together.
    """

    columns: tuple[str, ...]
    rows: int
    at_most: int
    smallest: tuple[int, ...]
    uses: tuple[int, ...]
    sets: int

    @property
    def never(self) -> int:
        """How many rows no set of so few columns singles out."""
        return self.rows - sum(self.smallest)

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
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
    at_most: int = 3,
    missing: Missing | str | None = None,
) -> SpecialUniques:
    """By how few columns each row is singled out.

    A row that is unique by two columns stays so in most releases; one that takes eight may not be unique in the
    population at all. All sets of up to `at_most` columns are counted.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        columns: which columns to consider; all if left out.
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
    records = read(table, columns=None if isinstance(columns, str) else columns, missing=missing)
    classes = classes_of(records, records.names if columns is None else columns)
    number, most = len(classes.columns), min(at_most, len(classes.columns))
    done = np.zeros(classes.number, dtype=np.bool_)
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
            minimal = int(classes.rows[alone & ~already].sum())
            sets += minimal
            for column in chosen:
                uses[column] += minimal
        found = np.logical_or.reduce(list(level.values()))
        smallest[size - 1] = int(classes.rows[found & ~done].sum())
        done |= found
        below = level
    return SpecialUniques(
        columns=classes.names,
        rows=classes.total,
        at_most=at_most,
        smallest=tuple(smallest),
        uses=tuple(uses),
        sets=sets,
    )


def _alone(classes: Classes, chosen: tuple[int, ...], missing: Missing) -> Mask:
    """Of each class, whether its row is alone by some of the columns."""
    columns = [classes.columns[place] for place in chosen]
    found = group(
        [np.ascontiguousarray(classes.tuples[:, place]) for place in chosen],
        [column.size for column in columns],
        classes.rows,
    )
    of_row, sizes = found.of_row(), found.counts
    if missing is Missing.WILDCARD:
        sizes = hiding_places(columns, found.tuples(), found.counts)
    return np.asarray((sizes == 1)[of_row], dtype=np.bool_)
