"""The counts of a node's keys: rows, the units that rows belong to, and those of a population.

A unit whose rows all have the same quasi-identifiers stays in one class at every node: such units add up like rows. The
others may be in several classes of a node and meet in one of a coarser node, so they can't be added up. They have
codes, which keys hold, and are counted where they occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.grouping import group, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.anonymity.records import Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How to read the weights of keys, and their last field.

    Args:
        by_unit: whether rows of the table or of the population are counted by unit. Weights are then those of rows and
            of units that have no code; else of rows, which are units.
        population: whether the weights of a population come last.
        own: how many units of the table have a code: 1, 2, … Code 0 is of all others.
        others: how many units of the population have one, from `own` + 1 on.
    """

    by_unit: bool = False
    population: bool = False
    own: int = 0
    others: int = 0

    @property
    def codes(self) -> int:
        """How many codes there are; 0 if keys hold none."""
        return 1 + self.own + self.others if self.own or self.others else 0

    def units(self, weights: Sequence[Whole], codes: Codes | None) -> Whole:
        """For each key, how many units of the table it counts."""
        if not self.by_unit:
            return weights[0]
        if codes is None:
            return weights[1]
        return np.where(codes == 0, weights[1], codes <= self.own)

    def people(self, weights: Sequence[Whole], codes: Codes | None) -> Whole:
        """For each key, how many units of the population it counts."""
        if codes is None:
            return weights[-1]
        return np.where(codes == 0, weights[-1], codes > self.own)

    def distinct(self, weights: Sequence[Whole], codes: Codes | None) -> int:
        """How many units of the table some keys count together, each once."""
        if codes is None:
            return int(self.units(weights, None).sum())
        own = codes[(codes > 0) & (codes <= self.own)]
        return int(weights[1][codes == 0].sum()) + int(np.count_nonzero(np.bincount(own)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tuples:
    """Distinct tuples with what they count.

    Args:
        codes: column by column: the quasi-identifiers; behind them the sensitive attribute if there is one, and the
            code of the unit if there are such codes.
        weights: for each tuple, as `Counted` says.
    """

    codes: tuple[Codes, ...]
    weights: tuple[Whole, ...]

    def only(self, which: Mask) -> Tuples:
        """Some of them."""
        return Tuples(
            codes=tuple(column[which] for column in self.codes),
            weights=tuple(weight[which] for weight in self.weights),
        )

    def without_last(self) -> Tuples:
        """Without their last column, which is the same for all."""
        return Tuples(codes=self.codes[:-1], weights=self.weights)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Side:
    """A table, or a population beside it.

    Args:
        columns: the quasi-identifiers, in codes that table and population share.
        units: whose each row is; None if each is a unit of its own.
    """

    columns: tuple[Coded, ...]
    units: Units | None


def tuples_of(
    table: Side, population: Side | None, sensitive: Mapping[str, Coded]
) -> tuple[dict[str | None, Tuples], Counted]:
    """The distinct tuples of a table, with those of a population.

    Returns:
        Sensitive attribute → tuples that hold it; and under None, which is first, those without one, if there is a
        population, rows are counted by unit, or there are no attributes. And what their weights count.
    """
    if table.units is None and (population is None or population.units is None):
        tuples: dict[str | None, Tuples] = {}
        if population is not None or not sensitive:
            tuples[None] = _rows(table.columns) if population is None else _both(table.columns, population.columns)
        for name, attribute in sensitive.items():
            tuples[name] = _rows((*table.columns, attribute))
        return tuples, Counted(population=population is not None)
    return _by_unit(table, population, sensitive)


def _rows(columns: Sequence[Coded]) -> Tuples:
    """The tuples of rows, by how many rows have them."""
    found = grouped(columns)
    return Tuples(codes=_columns(found.tuples()), weights=(found.counts,))


def _both(columns: Sequence[Coded], others: Sequence[Coded]) -> Tuples:
    """The tuples of the rows of a table and of a population."""
    mine, theirs = columns[0].rows, others[0].rows
    parts: list[_Part] = [
        ([column.codes for column in columns], [np.ones(mine), np.zeros(mine)]),
        ([column.codes for column in others], [np.zeros(theirs), np.ones(theirs)]),
    ]
    return _as_one(parts, [column.size for column in columns])


def _by_unit(
    table: Side, population: Side | None, sensitive: Mapping[str, Coded]
) -> tuple[dict[str | None, Tuples], Counted]:
    """The same where rows of one of them are counted by unit."""
    mine = _entries(table.columns, table.units)
    codes, own = _codes(mine, table.units, 1)
    parts: list[_Part] = [(_coded(mine, codes), [mine.weights[0], _counts(mine, table.units)])]
    others = 0
    if population is not None:
        theirs = _entries(population.columns, population.units)
        their_codes, others = _codes(theirs, population.units, own + 1)
        people = _counts(theirs, population.units)
        parts[0][1].append(np.zeros(len(mine.weights[0])))
        nobody = np.zeros(len(people))
        parts.append((_coded(theirs, their_codes), [nobody, nobody, people]))
    counted = Counted(by_unit=True, population=population is not None, own=own, others=others)
    sizes = [column.size for column in table.columns]
    tuples: dict[str | None, Tuples] = {None: _as_one(parts, [*sizes, 1 + own + others])}
    for name, attribute in sensitive.items():
        held = _entries((*table.columns, attribute), table.units)
        part: _Part = (_coded(held, codes), [held.weights[0], _counts(held, table.units)])
        tuples[name] = _as_one([part], [*sizes, attribute.size, 1 + own + others])
    return {name: each if counted.codes else each.without_last() for name, each in tuples.items()}, counted


def _entries(columns: Sequence[Coded], units: Units | None) -> Tuples:
    """Each unit once per tuple, weighing its rows; its number stands behind the tuple: 0 where each row is a unit."""
    whose = np.zeros(columns[0].rows, dtype=np.int32) if units is None else units.codes
    number = 1 if units is None else units.number
    found = group([*(column.stored for column in columns), whose], [*(column.size for column in columns), number])
    return Tuples(codes=_columns(found.tuples()), weights=(found.counts,))


def _codes(entries: Tuples, units: Units | None, first: int) -> tuple[Codes, int]:
    """The code of each unit: 0 if it is in one tuple, else a number from `first` on; and how many have one."""
    if units is None:
        return np.zeros(1, dtype=np.int32), 0
    apart = np.bincount(entries.codes[-1]) > 1
    return np.where(apart, np.cumsum(apart) + first - 1, 0).astype(np.int32), int(apart.sum())


def _coded(entries: Tuples, codes: Codes) -> list[Codes]:
    """The columns of entries, with the code of the unit behind them instead of its number."""
    return [*entries.codes[:-1], codes[entries.codes[-1]]]


def _counts(entries: Tuples, units: Units | None) -> Whole:
    """How many units each entry counts: one, or its rows where each is a unit of its own."""
    return entries.weights[0] if units is None else np.ones_like(entries.weights[0])


_Part: TypeAlias = tuple[list[Codes], list[NDArray[Any]]]
"""Columns of codes, and weights."""


def _as_one(parts: Sequence[_Part], sizes: Sequence[int]) -> Tuples:
    """Tuples of several parts, equal ones as one. Sums of integers below 2^53 are exact in doubles."""
    columns = [np.concatenate(each) for each in zip(*(codes for codes, _ in parts), strict=True)]
    weights = [np.concatenate(each) for each in zip(*(weights for _, weights in parts), strict=True)]
    found = group(columns, sizes)
    of_row = found.of_row()
    return Tuples(
        codes=_columns(found.tuples()),
        weights=tuple(np.bincount(of_row, weight, minlength=found.number).astype(np.int64) for weight in weights),
    )


def _columns(tuples: Codes) -> tuple[Codes, ...]:
    return tuple(np.ascontiguousarray(column) for column in tuples.T)
