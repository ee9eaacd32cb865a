"""A recoding turns each row's quasi-identifiers into cells, which stand for several values.

Three forms, for three ways to recode. `GroupedCells`: each value becomes one cell (global recoding). `RangeCells`: a
cell is a range of values, and ranges may overlap (Mondrian). `ListedCells`: a cell is any set of values (local
recoding, and whatever the other two don't fit). Attacks, losses and risks read them all alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import Protocol

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Whole
from discreet.errors import InvalidArgument


class Cells(Protocol):
    """The values that the released cells of one column stand for.

    Codes are those of the original column (`Coded.codes`), cells are places in `labels`.
    """

    @property
    def name(self) -> str:
        """Of the column."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The label that the release shows for each cell."""
        ...

    def covering(self, code: int) -> Whole:
        """The cells that a value may have become, ascending; none if all of its rows were left out."""
        ...

    def covered(self, cell: int) -> Codes:
        """The values that a cell stands for, ascending."""
        ...

    def sums(self, weights: Whole) -> Whole:
        """For each cell, the sum of the weights of the values that it stands for; `weights` has one per value."""
        ...

    def ends(self) -> tuple[Codes, Codes]:
        """For each cell, the least and the greatest value that it stands for."""
        ...

    def only(self, cells: Whole) -> Cells:
        """These cells alone, in this order."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupedCells:
    """Each value becomes one cell.

    Args:
        name: of the column.
        labels: of each cell.
        groups: value → its cell; −1 for one that isn't in the release. Every cell has a value.

    Examples:
        >>> age = GroupedCells(name="age", labels=("20–29", "30–39"), groups=np.array([0, 0, 1], np.int32))
        >>> age.covering(1).tolist(), age.covered(0).tolist(), age.sums(np.array([1, 1, 1])).tolist()
        ([0], [0, 1], [2, 1])
    """

    name: str
    labels: tuple[str, ...]
    groups: Codes

    def __post_init__(self) -> None:
        seen = np.unique(self.groups)
        if len(seen[seen >= 0]) != len(self.labels) or (len(seen) and seen[-1] >= len(self.labels)):
            raise InvalidArgument(f"each cell of {self.name!r} must stand for at least one value")

    def covering(self, code: int) -> Whole:
        """The cells that a value may have become: one or none."""
        group = self.groups[code : code + 1].astype(np.int64)
        return group[group >= 0]

    def covered(self, cell: int) -> Codes:
        """The values that a cell stands for, ascending."""
        return np.flatnonzero(self.groups == cell).astype(np.int32)

    def sums(self, weights: Whole) -> Whole:
        """For each cell, the sum of the weights of its values."""
        totals = np.zeros(len(self.labels), dtype=np.int64)
        shown = self.groups >= 0
        np.add.at(totals, self.groups[shown], weights[shown])
        return totals

    def ends(self) -> tuple[Codes, Codes]:
        """For each cell, its least and its greatest value."""
        codes = np.flatnonzero(self.groups >= 0).astype(np.int32)
        low, high = np.zeros(len(self.labels), dtype=np.int32), np.zeros(len(self.labels), dtype=np.int32)
        low[self.groups[codes[::-1]]] = codes[::-1]
        high[self.groups[codes]] = codes
        return low, high

    def only(self, cells: Whole) -> GroupedCells:
        """These cells alone, in this order."""
        place = np.full(len(self.labels) + 1, -1, dtype=np.int32)  # the last for −1: a value that isn't shown
        place[cells] = np.arange(len(cells), dtype=np.int32)
        labels = tuple(self.labels[cell] for cell in cells.tolist())
        return GroupedCells(name=self.name, labels=labels, groups=place[self.groups])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RangeCells:
    """A cell is a range of values; ranges may overlap.

    Args:
        name: of the column.
        labels: of each cell.
        low: for each cell, the least value.
        high: for each cell, the greatest value, which belongs to it.
        size: how many values the column has.

    Examples:
        >>> age = RangeCells(
        ...     name="age", labels=("21–28", "28–35"), low=np.array([0, 1], np.int32), high=np.array([1, 2], np.int32),
        ...     size=3,
        ... )
        >>> age.covering(1).tolist(), age.covered(1).tolist(), age.sums(np.array([5, 1, 1])).tolist()
        ([0, 1], [1, 2], [6, 2])
    """

    name: str
    labels: tuple[str, ...]
    low: Codes
    high: Codes
    size: int

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.low) == len(self.high):
            raise InvalidArgument(f"each cell of {self.name!r} needs a label and two ends")
        if ((self.low < 0) | (self.low > self.high) | (self.high >= self.size)).any():
            raise InvalidArgument(f"the ranges of {self.name!r} must run upwards, within its values")

    def covering(self, code: int) -> Whole:
        """The cells that a value may have become."""
        return np.flatnonzero((self.low <= code) & (code <= self.high))

    def covered(self, cell: int) -> Codes:
        """The values that a cell stands for, ascending."""
        return np.arange(self.low[cell], self.high[cell] + 1, dtype=np.int32)

    def sums(self, weights: Whole) -> Whole:
        """For each cell, the sum of the weights of its values."""
        before = np.concatenate(([0], np.cumsum(weights)))
        return before[self.high.astype(np.int64) + 1] - before[self.low]

    def ends(self) -> tuple[Codes, Codes]:
        """For each cell, its least and its greatest value."""
        return self.low, self.high

    def only(self, cells: Whole) -> RangeCells:
        """These cells alone, in this order."""
        labels = tuple(self.labels[cell] for cell in cells.tolist())
        return RangeCells(name=self.name, labels=labels, low=self.low[cells], high=self.high[cells], size=self.size)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListedCells:
    """A cell is any set of values.

    Args:
        name: of the column.
        labels: of each cell.
        starts: the values of cell i are `codes[starts[i]:starts[i + 1]]`; one entry more than there are cells.
        codes: ascending within each cell; at least one for each.

    Examples:
        >>> city = ListedCells.of("city", ("Bern", "west"), [[0], [0, 2]])
        >>> city.covering(0).tolist(), city.covered(1).tolist(), city.sums(np.array([7, 1, 1])).tolist()
        ([0, 1], [0, 2], [7, 8])
    """

    name: str
    labels: tuple[str, ...]
    starts: Whole
    codes: Codes

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.labels) + 1 or (np.diff(self.starts) < 1).any():
            raise InvalidArgument(f"each cell of {self.name!r} must stand for at least one value")

    @classmethod
    def of(cls, name: str, labels: Sequence[str], covered: Sequence[Sequence[int] | Codes]) -> ListedCells:
        """Cells from the values of each, in any order."""
        sets = [np.unique(np.asarray(codes, dtype=np.int32)) for codes in covered]
        starts = np.concatenate(([0], np.cumsum([len(codes) for codes in sets]))).astype(np.int64)
        codes = np.concatenate(sets) if sets else np.zeros(0, dtype=np.int32)
        return cls(name=name, labels=tuple(labels), starts=starts, codes=codes)

    def covering(self, code: int) -> Whole:
        """The cells that a value may have become."""
        return np.searchsorted(self.starts, np.flatnonzero(self.codes == code), side="right") - 1

    def covered(self, cell: int) -> Codes:
        """The values that a cell stands for, ascending."""
        return self.codes[self.starts[cell] : self.starts[cell + 1]]

    def sums(self, weights: Whole) -> Whole:
        """For each cell, the sum of the weights of its values."""
        before = np.concatenate(([0], np.cumsum(weights[self.codes])))
        return before[self.starts[1:]] - before[self.starts[:-1]]

    def ends(self) -> tuple[Codes, Codes]:
        """For each cell, its least and its greatest value."""
        return self.codes[self.starts[:-1]], self.codes[self.starts[1:] - 1]

    def only(self, cells: Whole) -> ListedCells:
        """These cells alone, in this order."""
        chosen = cells.tolist()
        return ListedCells.of(self.name, [self.labels[cell] for cell in chosen], [self.covered(c) for c in chosen])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recoded:
    """One column, recoded.

    Args:
        codes: row → place in `cells.labels`; of a row that is left out, anything.
        cells: what the cells stand for.

    Examples:
        >>> from discreet.anonymity.reduce.recoding import GroupedCells
        >>> cells = GroupedCells(name="age", labels=("old", "young"), groups=np.array([1, 0], np.int32))
        >>> Recoded(codes=np.array([1, 1, 0], np.int32), cells=cells).tidied(np.array([True, True, False])).cells.labels
        ('young',)
    """

    codes: Codes
    cells: Cells

    def tidied(self, kept: Mask) -> Recoded:
        """The column of the kept rows alone: cells that occur, ordered by label, no two with the same label.

        Two cells that look alike in the release are one, whatever they were made from: it then stands for the values
        of both.
        """
        codes = self.codes if kept.all() else self.codes[kept]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.cells.labels)))
        ordered = sorted(used.tolist(), key=lambda cell: self.cells.labels[cell])
        chosen = np.array(ordered, dtype=np.int64)
        places = _places([self.cells.labels[cell] for cell in ordered])
        place = np.zeros(len(self.cells.labels), dtype=np.int32)
        place[chosen] = places
        if len(places) and int(places[-1]) + 1 < len(places):
            return Recoded(codes=place[codes], cells=_merged(self.cells, chosen, places))
        return Recoded(codes=place[codes], cells=self.cells.only(chosen))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recoding:
    """All quasi-identifiers, recoded.

    Args:
        columns: by name, in the order of the quasi-identifiers.
        kept: row → whether it is in the release.
        precision: the share of precision that the kept rows lost (the mean of level over height), in [0, 1]; None
            where cells have no levels.

    Raises:
        InvalidArgument: there is no column, or one of them has another number of rows.
    """

    columns: Mapping[str, Recoded]
    kept: Mask
    precision: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.columns or any(len(column.codes) != len(self.kept) for column in self.columns.values()):
            raise InvalidArgument("a recoding needs one or more columns, all with as many rows as it says are kept")
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @property
    def suppressed(self) -> int:
        """How many rows are left out."""
        return len(self.kept) - int(np.count_nonzero(self.kept))


def recoding_of_nothing(names: Sequence[str]) -> Recoding:
    """The recoding of a table without rows: no column has a cell.

    Examples:
        >>> recoding_of_nothing(["age"]).columns["age"].cells.labels
        ()
    """
    none = np.zeros(0, dtype=np.int32)
    return Recoding(
        columns={name: Recoded(codes=none, cells=GroupedCells(name=name, labels=(), groups=none)) for name in names},
        kept=np.zeros(0, dtype=np.bool_),
    )


def _places(labels: list[str]) -> Codes:
    """For each of some ordered labels, its place among the different ones."""
    new = [later != earlier for earlier, later in pairwise(labels)]
    return np.cumsum([False, *new][: len(labels)]).astype(np.int32)


def _merged(cells: Cells, chosen: Whole, places: Codes) -> ListedCells:
    """Cells with the same place, as one."""
    number = int(places[-1]) + 1
    sets = [
        np.concatenate([cells.covered(cell) for cell in chosen[places == place].tolist()]) for place in range(number)
    ]
    labels = [cells.labels[int(chosen[places == place][0])] for place in range(number)]
    return ListedCells.of(cells.name, labels, sets)
