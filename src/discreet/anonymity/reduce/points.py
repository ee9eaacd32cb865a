"""What Mondrian cuts: the distinct rows as points, each with the number of rows that lie there, and classes of points.

A cut can't tell rows apart that agree on the quasi-identifiers and on the sensitive attributes of the models, so they
are one point: the work is that of the distinct rows, however many rows there are. Where rows are counted by unit, those
of two units are two points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from discreet.anonymity.classes import Frequencies, bare, changes, chosen
from discreet.anonymity.classes import summed as summed_by
from discreet.anonymity.columns import Coded, Codes, Mask, Reals, Whole, places_of
from discreet.anonymity.grouping import Grouping, group
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.axes import Axis
from discreet.errors import InvalidArgument

# ── Points ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_SHORT = 1 << 15


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Points:
    """Distinct rows, in the lexicographic order of their codes; after them, where a population has somebody.

    Args:
        places: axis × point → place on the axis.
        rows: of each point, how many rows of the table lie there; 0 for a point of the population.
        tuples: of each point, a number that those with the same quasi-identifiers share.
        sensitive: of each sensitive attribute, point → code; of a point of the population, anything.
        units: of each point, the number of the unit; None if every row is a unit of its own.
        population: of each point, how many rows of the population it stands for; None without one.
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
        population: everybody whom the rows were drawn from. Its rows with a value that the table lacks are in no
            range, so they are left out.

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
        tuples=_runs(tuples[:, : len(axes)]),
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


def _runs(tuples: Codes) -> Whole:
    """Of each of some ordered tuples, its place among the different ones."""
    return np.cumsum(changes(tuples)) - 1


def _others(population: Records, axes: Sequence[Axis]) -> tuple[Grouping, Mask]:
    """The distinct rows of the population, in the table's codes; and which rows have only values of the table."""
    theirs = [population.column(axis.column.name) for axis in axes]
    codes = [places_of(axis.column, other)[other.codes] for axis, other in zip(axes, theirs, strict=True)]
    known: Mask = np.logical_and.reduce([column >= 0 for column in codes])
    return group([column[known] for column in codes], [axis.column.size for axis in axes]), known


# ── Classes of points ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Which points are in which class, and with how many rows.

    Args:
        points: numbers of points, class after class; relaxed cuts put one point into several classes.
        rows: how many rows of each are meant.
        starts: class i has those from `starts[i]` to `starts[i + 1]`, at least one; one entry more than there are
            classes.
    """

    points: Whole
    rows: Whole
    starts: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> Whole:
        """How many points each class has."""
        return np.diff(self.starts)

    @property
    def totals(self) -> Whole:
        """How many rows each class has."""
        return summed(self.rows, self.starts)

    def owners(self) -> Whole:
        """Of each entry, the class."""
        return np.repeat(np.arange(self.number), self.lengths)

    def only(self, kept: Mask) -> Members:
        """Some of the classes."""
        lengths = self.lengths
        entries = np.repeat(kept, lengths)
        return Members(
            points=self.points[entries],
            rows=self.rows[entries],
            starts=np.concatenate(([0], np.cumsum(lengths[kept]))),
        )

    def beside(self, others: Members) -> Members:
        """These classes, then the others."""
        return Members(
            points=np.concatenate((self.points, others.points)),
            rows=np.concatenate((self.rows, others.rows)),
            starts=np.concatenate((self.starts, others.starts[1:] + self.starts[-1])),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Front:
    """Classes that may still be cut.

    Args:
        members: their points.
        low: axis × class → the least place of its points.
        high: axis × class → the greatest.
        tried: axis × class → whether its cut isn't allowed.
    """

    members: Members
    low: Codes
    high: Codes
    tried: Mask

    def only(self, kept: Mask) -> Front:
        """Some of the classes."""
        return Front(
            members=self.members.only(kept), low=self.low[:, kept], high=self.high[:, kept], tried=self.tried[:, kept]
        )

    def beside(self, others: Front) -> Front:
        """These classes, then the others."""
        return Front(
            members=self.members.beside(others.members),
            low=np.concatenate((self.low, others.low), axis=1),
            high=np.concatenate((self.high, others.high), axis=1),
            tried=np.concatenate((self.tried, others.tried), axis=1),
        )

    def spans(self, axes: Sequence[Axis]) -> Reals:
        """Axis × class → its width as a share of the axis; 0 where the cut was tried."""
        spans = np.empty(self.low.shape, dtype=np.float64)
        for number, axis in enumerate(axes):
            spans[number] = axis.spans(self.low[number], self.high[number])
        spans[self.tried] = 0.0
        return spans


def front_of(members: Members, points: Points, tried: Mask) -> Front:
    """Classes with the ranges that their points span."""
    shape = (len(points.places), members.number)
    low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    begins = members.starts[:-1]
    for number, places in enumerate(points.places):
        here = places[members.points]
        low[number], high[number] = np.minimum.reduceat(here, begins), np.maximum.reduceat(here, begins)
    return Front(members=members, low=low, high=high, tried=tried)


def everything(points: Points) -> Members:
    """All points as one class."""
    starts = np.array([0, points.number], dtype=np.int64)
    return Members(points=np.arange(points.number), rows=points.rows, starts=starts)


def summed(counts: Whole, starts: Whole) -> Whole:
    """The sums of the stretches that begin at `starts` and end before the next; none is empty."""
    return np.add.reduceat(counts, starts[:-1]) if len(starts) > 1 else np.zeros(0, dtype=np.int64)


# ── Which of them meet the models ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judge:
    """Who says whether classes meet all models.

    Args:
        points: what the classes are made of.
        models: what each class has to meet.
        columns: the models' sensitive attributes, by name.
    """

    points: Points
    models: Sequence[Model]
    columns: dict[str, Coded]
    _totals: dict[str, tuple[Whole, int]] = field(default_factory=dict)

    @property
    def fewest(self) -> int:
        """A class with fewer rows meets the models never."""
        return max([1, *(model.k for model in self.models if isinstance(model, KAnonymity))])

    @property
    def only_counts(self) -> bool:
        """Whether nothing but the number of units matters."""
        return all(isinstance(model, KAnonymity) for model in self.models)

    def met(self, members: Members) -> Mask:
        """Which classes meet all models."""
        met = members.totals >= self.fewest  # no class has more units than rows
        if (self.only_counts and self.points.units is None) or not met.any():
            return met
        met[met] = np.logical_and.reduce([model.met(table) for model, table in self._tables(members.only(met))])
        return met

    def failing(self, members: Members) -> list[Model]:
        """The models that some class doesn't meet."""
        return [model for model, table in self._tables(members) if not model.met(table).all()]

    def _tables(self, members: Members) -> list[tuple[Model, Frequencies]]:
        """Each model with the frequencies that it is about; models of one attribute share them."""
        tables = {name: self._frequencies(members, name) for name in {model.sensitive for model in self.models}}
        return [(model, tables[model.sensitive]) for model in self.models]

    def _frequencies(self, members: Members, sensitive: str | None) -> Frequencies:
        """The frequency table of classes × a sensitive attribute."""
        rows, people = members.totals, self.points.population
        units = self._units(members)
        population = None if people is None else summed(people[members.points], members.starts)
        if sensitive is None:
            return bare(rows=rows, units=units, sizes=units, population=population)
        column, pairs = self.columns[sensitive], self._pairs(members, sensitive)
        tuples = pairs.tuples()
        totals, whole = self._whole(sensitive)
        return Frequencies(
            rows=rows,
            units=units,
            sizes=units,
            starts=np.searchsorted(tuples[:, 0], np.arange(members.number + 1)),
            values=tuples[:, 1].copy(),
            counts=pairs.counts,
            totals=totals,
            whole=whole,
            sensitive=column,
            population=population,
        )

    def _units(self, members: Members) -> Whole:
        """Of each class, how many units have a row in it."""
        of_point = self.points.units
        if of_point is None:
            return members.totals
        real = members.rows > 0
        owners, units = members.owners()[real].astype(np.int32), of_point[members.points[real]]
        once = group([owners, units], [members.number, int(of_point.max(initial=0)) + 1]).tuples()
        return np.bincount(once[:, 0], minlength=members.number)

    def _pairs(self, members: Members, sensitive: str) -> Grouping:
        """The values that occur in each class, and how many of its units have them."""
        size, real = self.columns[sensitive].size, members.rows > 0
        owners, values = members.owners()[real].astype(np.int32), self.points.sensitive[sensitive][members.points[real]]
        of_point = self.points.units
        if of_point is None:
            return group([owners, values], [members.number, size], members.rows[real])
        units = of_point[members.points[real]]
        once = group([owners, values, units], [members.number, size, int(of_point.max(initial=0)) + 1]).tuples()
        return group([np.ascontiguousarray(codes) for codes in once[:, :2].T], [members.number, size])

    def _whole(self, sensitive: str) -> tuple[Whole, int]:
        """How many units have each value, and how many there are."""
        if sensitive not in self._totals:
            column, of_point = self.columns[sensitive], self.points.units
            totals, whole = column.counts(), column.rows
            if of_point is not None:
                pairs = self._pairs(everything(self.points), sensitive)
                totals = summed_by(pairs.tuples()[:, 1], pairs.counts, column.size)
                whole = int(of_point.max(initial=-1)) + 1
            self._totals[sensitive] = totals, whole
        return self._totals[sensitive]
