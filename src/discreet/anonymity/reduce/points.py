"""Points: the distinct rows, each with the number of rows that lie there.

A cut can't tell rows apart that agree on the quasi-identifiers and on the sensitive attributes of the models, so they
are one point: the work is that of the distinct rows, however many rows there are. Where rows are counted by unit, those
of two units are two points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet.anonymity.classes import changes, chosen
from discreet.anonymity.columns import Codes, Mask, Whole
from discreet.anonymity.grouping import Grouping, group
from discreet.anonymity.matching import places_of
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.axes import Axis
from discreet.errors import InvalidArgument

_SHORT = 1 << 15


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Points:
    """Distinct rows, in the lexicographic order of their codes; after them, points where only a population has someone.

    Args:
        places: axis × point → place on the axis.
        rows: for each point, how many rows of the table lie there; 0 for a point of the population.
        tuples: for each point, a number that those with the same quasi-identifiers share.
        sensitive: of each sensitive attribute, point → code; of a point of the population, anything.
        units: for each point, the number of the unit; None if every row is a unit of its own.
        population: for each point, how many rows of the population it stands for; None without one.
        of_row: of each row of the table, its point.
        of_person: of each row of the population, its point; −1 of one that has a value which the table lacks.
    """

    places: Codes
    rows: Whole
    tuples: Whole
    sensitive: Mapping[str, Codes]
    units: Codes | None
    population: Whole | None
    of_row: Whole
    of_person: Whole

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.rows)


def points_of(records: Records, axes: Sequence[Axis], sensitive: Sequence[str], population: Records | None) -> Points:
    """The points of a table.

    Args:
        records: the table.
        axes: of its quasi-identifiers.
        sensitive: names of the attributes that the models are about.
        population: everyone the rows were drawn from. Its rows with a value that the table lacks are in no range, so
            they are left out.

    Raises:
        InvalidArgument: a column is quasi-identifying and sensitive.
        SchemaMismatch: a table lacks a column, or the population holds values of another kind in it.
    """
    both = [axis.column.name for axis in axes if axis.column.name in sensitive]
    if both:
        raise InvalidArgument(f"the column {both[0]!r} can't be both quasi-identifying and sensitive")
    every = chosen(records, [*(axis.column.name for axis in axes), *sensitive])
    units = records.units
    whose = [] if units is None else [units.codes]
    sizes = [*(column.size for column in every), *([] if units is None else [units.number])]
    own = group([*(column.stored for column in every), *whose], sizes)
    of_row = own.of_row()  # first: the same sort counts the rows
    tuples, rows = own.tuples(), own.counts
    people, of_person = None, np.zeros(0, dtype=np.int64)
    if population is not None:
        others, known = _others(population, axes)
        of_person = np.full(population.rows, -1)
        of_person[known] = others.of_row() + len(rows)
        people = np.concatenate((np.zeros_like(rows), others.counts))
        rows = np.concatenate((rows, np.zeros_like(others.counts)))
        more = np.zeros((others.number, tuples.shape[1]), dtype=np.int32)
        more[:, : len(axes)] = others.tuples()
        tuples = np.concatenate((tuples, more))
    return Points(
        places=_places(axes, tuples),
        rows=rows,
        tuples=np.cumsum(changes(tuples[:, : len(axes)])) - 1,
        sensitive={name: tuples[:, len(axes) + i].copy() for i, name in enumerate(sensitive)},
        units=None if units is None else tuples[:, -1].copy(),
        population=people,
        of_row=of_row,
        of_person=of_person,
    )


def _places(axes: Sequence[Axis], tuples: Codes) -> Codes:
    """Axis × point → place, in as few bytes as will do: reading them is what takes the time."""
    short = max(axis.column.size for axis in axes) < _SHORT
    places = np.empty((len(axes), len(tuples)), dtype=np.int16 if short else np.int32)
    for number, axis in enumerate(axes):
        places[number] = axis.place[tuples[:, number]]
    return cast("Codes", places)  # narrower codes serve wherever codes do: they are only compared and indexed with


def _others(population: Records, axes: Sequence[Axis]) -> tuple[Grouping, Mask]:
    """The distinct rows of the population, in the table's codes; and which rows have only values of the table."""
    theirs = [population.column(axis.column.name) for axis in axes]
    codes = [places_of(axis.column, other)[other.codes] for axis, other in zip(axes, theirs, strict=True)]
    known: Mask = np.logical_and.reduce([column >= 0 for column in codes])
    return group([column[known] for column in codes], [axis.column.size for axis in axes]), known
