"""Mondrian itself: cut classes in two, all at once, until no cut is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.anonymity.classes.frequency_table import Frequencies
from discreet.anonymity.classes.frequency_table import summed as summed_by
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records.column import Coded, Codes, Mask, Whole
from discreet.anonymity.records.grouping import Grouping, group
from discreet.anonymity.reduce.mondrian import cutting
from discreet.anonymity.reduce.mondrian.axes import Axis
from discreet.anonymity.reduce.mondrian.points import Front, Members, Points, everything, front_of, summed


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
            none = np.zeros(0, dtype=np.int64)
            starts = np.zeros(members.number + 1, dtype=np.int64)
            values = np.zeros(0, dtype=np.int32)
            return Frequencies(
                rows=rows,
                units=units,
                sizes=units,
                starts=starts,
                values=values,
                counts=none,
                totals=none,
                whole=int(units.sum()),
                population=population,
            )
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Partition:
    """The classes that no allowed cut was found for.

    Args:
        members: their points. After strict cuts each point is in one class.
        low: axis × class → the least place of its points.
        high: axis × class → the greatest.
    """

    members: Members
    low: Codes
    high: Codes


def partition(points: Points, axes: Sequence[Axis], judge: Judge, *, relaxed: bool) -> Partition:
    """Cut until no cut is allowed.

    In each round every class is cut along the widest of its axes that it hasn't tried; of equally wide ones, along the
    first. If both halves meet the models they take its place, else the axis is tried. A class without an axis left is
    done. Where only sizes count, equal values stay together and any two values may be parted, the parts of a class
    needn't try what the class tried: a cut of a part has fewer rows on either side than the same cut of the whole.

    Args:
        points: at least one, which meet the models all together.
        axes: along which they are cut.
        judge: of halves.
        relaxed: whether equal values may come apart.

    Source: LeFevre, DeWitt, Ramakrishnan (2006), "Mondrian Multidimensional K-Anonymity": the greedy algorithm, with
    strict or relaxed partitioning.
    """
    cut = cutting.relaxed if relaxed else cutting.strict
    front = front_of(everything(points), points, np.zeros((len(axes), 1), dtype=np.bool_))
    lasting = np.array([[judge.only_counts and not relaxed and axis.ladder is None] for axis in axes])
    done: list[Front] = []
    while front.members.number:
        spans = front.spans(axes)
        axis = spans.argmax(axis=0)
        open_ = (spans.max(axis=0) > 0) & (front.members.totals >= max(2, 2 * judge.fewest))
        done.append(front.only(~open_))
        front, axis = front.only(open_), axis[open_]
        if not front.members.number:
            break
        halves = cut(front.members, points, cutting.along(front, axes, axis))
        fine: Mask = np.logical_and.reduce(judge.met(halves).reshape(-1, 2), axis=1)
        tried = np.repeat(front.tried[:, fine], 2, axis=1)
        tried &= lasting
        parts = front_of(halves.only(np.repeat(fine, 2)), points, tried)
        front = _again(front.only(~fine), axis[~fine]).beside(parts)
    return _joined(done)


def _again(front: Front, axis: Whole) -> Front:
    """Classes with one more axis that was tried in vain."""
    tried = front.tried.copy()
    tried[axis, np.arange(front.members.number)] = True
    return replace(front, tried=tried)


def _joined(fronts: Sequence[Front]) -> Partition:
    """All classes that are done, as one partition."""
    members = [front.members for front in fronts]
    ends = np.cumsum([len(each.points) for each in members])
    starts = [each.starts[:-1] + end - len(each.points) for each, end in zip(members, ends, strict=True)]
    return Partition(
        members=Members(
            points=np.concatenate([each.points for each in members]),
            rows=np.concatenate([each.rows for each in members]),
            starts=np.append(np.concatenate(starts), ends[-1]),
        ),
        low=np.concatenate([front.low for front in fronts], axis=1),
        high=np.concatenate([front.high for front in fronts], axis=1),
    )
