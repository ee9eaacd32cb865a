"""A release, its original and a control, as columns that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.attributes import repeated
from discreet.anonymity.hierarchies.texts import is_number, is_time, present
from discreet.anonymity.records import read
from discreet.attacks.naming import shown
from discreet.attacks.targets.compatible import middle, plain
from discreet.errors import InvalidArgument, NotTried
from discreet.noise import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.anonymity.columns import Coded, Mask, Reals, Whole
    from discreet.anonymity.repeated import Repeated

_NEAR = 0.05
"""A guessed number is right if it is off by this share of itself at most."""

_FEWEST = 2
"""How many people of the original there may be for one of the control: with more, it tells too little of chance."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Column:
    """A column of the release, the original and the control, so that they can be compared.

    Args:
        name: of the column.
        cells: for each table, row → number, on a scale from 0 to 1, or the code of a text; a missing number is NaN.
        ordered: whether they are numbers or times.
        values: what the release has, for people.
        least: the least number of all three tables.
        spread: how far the greatest is from it.
    """

    name: str
    cells: tuple[Reals, Reals, Reals]
    ordered: bool
    values: Coded
    least: float = 0.0
    spread: float = 1.0

    @property
    def different(self) -> int:
        """How many different values the original has."""
        return len(np.unique(self.cells[1]))

    def text(self, row: int) -> str:
        """A released row's value, written for people."""
        return shown(self.values.labels()[int(self.values.codes[row])])

    def apart(self, side: int, rows: Whole) -> NDArray[np.float32]:
        """How far people of a table are from each released row, in [0, 1]; a missing number is far from all others."""
        theirs, here = self.cells[side][rows][:, np.newaxis], self.cells[0][np.newaxis, :]
        if not self.ordered:
            return np.asarray(theirs != here, dtype=np.float32)
        far: NDArray[np.float32] = np.abs(theirs.astype(np.float32) - here.astype(np.float32))
        gone = np.isnan(theirs) & np.isnan(here)
        return np.asarray(np.where(gone, 0.0, np.nan_to_num(far, nan=1.0)), dtype=np.float32)

    def agrees(self, near: Whole, side: int, rows: Whole) -> Mask:
        """Whether released rows say the same as people of a table have, or nearly."""
        guessed, true = self.cells[0][near], self.cells[side][rows]
        if not self.ordered:
            return np.asarray(guessed == true)
        off = np.abs(guessed - true) * self.spread
        fine = (off <= _NEAR * np.abs(self.least + guessed * self.spread)) | (np.isnan(guessed) & np.isnan(true))
        return np.asarray(fine)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tables:
    """A release, its original and a control.

    Args:
        columns: that can be compared.
        left_out: those that can't.
        rows: for each table, how many rows it has.
        repeated: columns of the original that identify and repeat.
    """

    columns: tuple[Column, ...]
    left_out: tuple[str, ...]
    rows: tuple[int, int, int]
    repeated: tuple[Repeated, ...]

    @classmethod
    def of(cls, release: object, original: object, control: object, on: Sequence[str] | None) -> Tables:
        """Read them.

        Raises:
            InvalidArgument: the control is too small, or the original itself; a table has no rows.
            NotTried: no column can be compared.
            SchemaMismatch: a table lacks a column.
        """
        tables = read(release), read(original), read(control)
        names = [each for each in tables[0].names if all(each in table.names for table in tables[1:])]
        if on is not None:
            names = [table.column(name).name for name in dict.fromkeys(on) for table in tables[:1]]
        if not all(table.rows for table in tables):
            raise InvalidArgument("the release, the original and the control need a row or more each")
        if _FEWEST * tables[2].rows < tables[1].rows:
            raise InvalidArgument(
                f"the control has {tables[2].rows:,} people for {tables[1].rows:,} in the original",
                hint="at least half as many, from whom the release wasn't made",
            )
        found = {name: _compared(name, [table.column(name) for table in tables]) for name in names}
        columns = tuple(column for column in found.values() if column is not None)
        if not columns:
            raise NotTried(
                "no column of the release can be compared with the original", hint="columns of the same names"
            )
        _refuse_the_same(columns)
        return cls(
            columns=columns,
            left_out=tuple(name for name, column in found.items() if column is None),
            rows=(tables[0].rows, tables[1].rows, tables[2].rows),
            repeated=repeated(tables[1]),
        )

    def some(self, side: int, most: int) -> Whole:
        """Rows of a table, drawn at random; all if there are no more."""
        return drawn(self.rows[side], most)


def drawn(number: int, most: int) -> Whole:
    """How many different places below a number, at random; all if there are no more."""
    if number <= most:
        return np.arange(number)
    return np.argsort(uniform(1 << 62, number), kind="stable")[:most]


def _refuse_the_same(columns: Sequence[Column]) -> None:
    """Refuse the original as its own control: nothing would work better on it.

    Raises:
        InvalidArgument: both have the same rows.
    """
    sides = [np.stack([column.cells[side] for column in columns]) for side in (1, 2)]
    if sides[0].shape == sides[1].shape:
        one, other = (side[:, np.lexsort(side)] for side in sides)
        if np.array_equal(one, other, equal_nan=True):
            raise InvalidArgument("the control is the original", hint="people whom the release wasn't made of")


def _compared(name: str, columns: Sequence[Coded]) -> Column | None:
    """A column of three tables on one scale; None if no released cell says anything of the original's values."""
    if all(is_number(column.values) for column in columns[1:]) or all(is_time(each.values) for each in columns[1:]):
        cells = [_numbers(column) for column in columns]
        if np.isnan(cells[0]).all() and not np.isnan(cells[1]).all():
            return None
        every = np.concatenate(cells)
        least, most = (float(end(every)) for end in (np.nanmin, np.nanmax)) if not np.isnan(every).all() else (0.0, 0.0)
        spread = most - least or 1.0
        one, two, three = ((each - least) / spread for each in cells)
        return Column(name=name, cells=(one, two, three), ordered=True, values=columns[0], least=least, spread=spread)
    codes: dict[str | None, int] = {}
    coded = []
    for column in columns:
        places = [codes.setdefault(plain(value), len(codes)) for value in column.labels()]
        coded.append(np.array(places, dtype=np.float64)[column.codes])
    if not np.isin(coded[1], coded[0]).any():
        return None
    return Column(name=name, cells=(coded[0], coded[1], coded[2]), ordered=False, values=columns[0])


def _numbers(column: Coded) -> Reals:
    """Row → number; the middle of a cell that is a range; times in nanoseconds; NaN of what is neither."""
    values = present(column)
    if is_time(values):
        import pyarrow as pa

        known = np.asarray(values.cast(pa.timestamp("us")).cast(pa.int64()), dtype=np.float64)
        each = [*known.tolist(), *([nan] if column.has_missing else [])]
    else:
        each = [middle(value) for value in column.labels()]
    return np.array(each, dtype=np.float64)[column.codes]
