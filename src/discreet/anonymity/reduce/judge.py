"""The judge: which classes of points meet the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Whole
from discreet.anonymity.frequencies import Frequencies, bare
from discreet.anonymity.frequencies import summed as summed_by
from discreet.anonymity.grouping import Grouping, group
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.reduce.front import Members, everything, summed
from discreet.anonymity.reduce.points import Points


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judge:
    """Says whether classes meet all models.

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
        """For each class, how many units have a row in it."""
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
