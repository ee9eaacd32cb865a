"""Losses: what one is, and what a search asks of it.

A loss belongs to a release. Within full-domain generalisation it has two parts: `whole`, what would be lost if no row
were left out, and `added`, what leaving rows out adds. The parts have laws that a search lives on:

- `whole` never falls on the way up: a coarser node loses at least as much.
- `added` is at least 0. Where the loss is a sum over rows of what each row's class loses (`antitone`), it never rises
  on the way up, as long as the rows left out at a coarser node are among those left out at a finer one.

Proof of the second. Let a kept row cost c(r) and a row left out cost f(r) ≥ c(r), where c(r) never falls on the way up.
Then added = Σ (f(r) − c(r)) over the rows left out. Going up, there are fewer terms, and each is smaller or equal. ∎

What a row loses in a column may depend on nothing but the cell that its value became. Such a loss is a sum over cells,
known for every node from the columns' marginal counts alone, before any class is formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import fsum, lcm
from typing import Protocol, TypeAlias

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder

Score: TypeAlias = int | float
"""A loss on a scale of its own: an integer wherever the loss is rational, so that scores compare exactly."""
Levels: TypeAlias = tuple[int, ...]
"""A node of the lattice: of each quasi-identifier, its level."""


class Generalised(Protocol):
    """The classes of a table at a node."""

    @property
    def levels(self) -> Levels:
        """The node."""
        ...

    @property
    def rows(self) -> Whole:
        """For each class, how many rows it has."""
        ...

    def codes(self, place: int, which: Mask) -> Codes:
        """For each of these classes, the group of its quasi-identifier number `place`."""
        ...


class Sets(Protocol):
    """Sets of values of a column: the groups of a level, or the cells of a release."""

    def sums(self, weights: Whole) -> Whole:
        """For each set, the sum of its values' weights."""
        ...

    def ends(self) -> tuple[Codes, Codes]:
        """For each set, its least and its greatest value."""
        ...


class Meter(Protocol):
    """A loss, bound to a table and its ladders: it scores nodes."""

    @property
    def antitone(self) -> bool:
        """Whether `added` can't rise on the way up while ever fewer rows are left out."""
        ...

    @property
    def tolerance(self) -> float:
        """How far a score, as a double, may be from the truth: 0 where scores are integers that doubles hold."""
        ...

    def floors(self) -> Reals:
        """For each node, what it loses at least, before the data is touched; one axis per quasi-identifier."""
        ...

    def whole(self, node: Generalised) -> Score:
        """How much the node loses if no row is left out."""
        ...

    def added(self, node: Generalised, unmet: Mask) -> Score:
        """How much it adds to leave these classes out; at least 0."""
        ...

    def shown(self, score: Score) -> float | Fraction:
        """A score as people know the loss."""
        ...


class Loss(Protocol):
    """A way to say what generalising and leaving rows out costs."""

    @property
    def name(self) -> str:
        """The name by which arguments and reports call it."""
        ...

    def meter(self, columns: Sequence[Coded], ladders: Sequence[Ladder], counts: Sequence[Whole], k: int) -> Meter:
        """Bind it to the quasi-identifiers of a table, or of a part of it that is recoded separately.

        Args:
            columns: the quasi-identifiers of the whole table, which say how wide and how frequent values are.
            ladders: of each, over the column's values.
            counts: of each, how many rows of the part have each value; those of the column for the whole table.
            k: the size that classes are asked to have; 1 where none is.
        """
        ...


_EXACT = 1 << 53
"""Doubles hold all integers up to here."""
DOUBT = 2.0**-40
"""Relative: far more than a few hundred roundings of doubles add up to."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Left:
    """How much the cells of one column still say of what its values said: full − loss of a row in each cell.

    Args:
        parts: of each cell; integers that count `unit`-ths, or reals.
        unit: what a cell that says everything has, if parts are integers; 0 for reals.
    """

    parts: Whole | Reals
    unit: int

    def total(self, counts: Whole, scale: int) -> Score:
        """How much these numbers of rows in each cell still say, in parts of `scale`, a multiple of `unit`."""
        if self.unit:
            return scale // self.unit * int(counts @ self.parts)
        return fsum((counts * self.parts).tolist())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Level:
    """The groups of a ladder's level, as sets of values."""

    groups: Codes
    number: int

    def sums(self, weights: Whole) -> Whole:
        """For each group, the sum of its values' weights."""
        totals = np.zeros(self.number, dtype=np.int64)
        np.add.at(totals, self.groups, weights)
        return totals

    def ends(self) -> tuple[Codes, Codes]:
        """For each group, its least and its greatest value."""
        codes = np.arange(len(self.groups), dtype=np.int32)
        low, high = np.zeros(self.number, dtype=np.int32), np.zeros(self.number, dtype=np.int32)
        low[self.groups[::-1]] = codes[::-1]
        high[self.groups] = codes
        return low, high


def levels_of(ladder: Ladder) -> list[Level]:
    """All levels of a ladder."""
    return [Level(groups=groups, number=ladder.groups(level)) for level, groups in enumerate(ladder.maps)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ColumnMeter:
    """Scores nodes by a loss that is a sum over cells: what all rows would lose, less what kept cells still say.

    Args:
        full: the score of leaving every row out.
        left: column → level → what each group still says.
        totals: column → level → what all rows together still say.
        scale: integers count parts of this; 0 for reals.
        tolerance: how far a score, as a double, may be from the truth.
    """

    full: Score
    left: tuple[tuple[Left, ...], ...]
    totals: tuple[tuple[Score, ...], ...]
    scale: int
    tolerance: float

    @property
    def antitone(self) -> bool:
        """A sum over rows: see `loss.py`."""
        return True

    def floors(self) -> Reals:
        """For each node, what it loses if no row is left out."""
        said = reduce(np.add.outer, [np.array(column, dtype=np.float64) for column in self.totals])
        return np.asarray(float(self.full) - said, dtype=np.float64)

    def floor(self, levels: Levels) -> Score:
        """How much a node loses if no row is left out."""
        said = [column[level] for column, level in zip(self.totals, levels, strict=True)]
        return self.full - sum(said) if self.scale else fsum([self.full, *(-score for score in said)])

    def whole(self, node: Generalised) -> Score:
        """The same: it needs no classes."""
        return self.floor(node.levels)

    def added(self, node: Generalised, unmet: Mask) -> Score:
        """How much the cells of these classes still said."""
        rows = node.rows[unmet]
        said: list[Score] = []
        for place, (column, level) in enumerate(zip(self.left, node.levels, strict=True)):
            parts = column[level]
            # Sums of integers below 2^53 in doubles are exact.
            counts = np.bincount(node.codes(place, unmet), rows, minlength=len(parts.parts)).astype(np.int64)
            said.append(parts.total(counts, self.scale))
        return sum(said) if self.scale else fsum(said)

    def shown(self, score: Score) -> float | Fraction:
        """The share of what could be lost."""
        if not self.full:
            return Fraction(0)
        if isinstance(score, int) and isinstance(self.full, int):
            return Fraction(score, self.full)
        return float(score) / float(self.full)


class CellLoss(ABC):
    """A loss that is a sum over the cells of a release: each column says on its own what its cells lose."""

    __slots__ = ()

    @abstractmethod
    def levels(self, column: Coded, ladder: Ladder) -> list[Left]:
        """Level by level, what each group of a column still says."""

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,  # noqa: ARG002 — for class sizes
    ) -> ColumnMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        said = [tuple(self.levels(column, ladder)) for column, ladder in zip(columns, ladders, strict=True)]
        scale = lcm(*(levels[0].unit for levels in said))
        totals = tuple(
            tuple(parts.total(level.sums(count), scale) for parts, level in zip(levels, levels_of(ladder), strict=True))
            for levels, ladder, count in zip(said, ladders, counts, strict=True)
        )
        values = [column[0] for column in totals]  # level 0 says all there is to lose
        full = sum(values) if scale else fsum(values)
        exact = scale and full <= _EXACT
        return ColumnMeter(
            full=full,
            left=tuple(said),
            totals=totals,
            scale=scale,
            tolerance=0.0 if exact else DOUBT * (float(full) + int(counts[0].sum())),
        )
