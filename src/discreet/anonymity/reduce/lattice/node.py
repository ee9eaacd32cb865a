"""A node of the lattice, evaluated: its classes, and the frequency tables that models ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.anonymity.classes.frequencies import Frequencies, summed
from discreet.anonymity.loss.loss import Levels
from discreet.anonymity.records.column import Coded, Codes, Mask, Whole
from discreet.anonymity.reduce.lattice.keys import Keys
from discreet.anonymity.reduce.lattice.tuples import Counted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """The classes of the table at a node, in lexicographic order of their groups.

    Args:
        keys: sensitive attribute, or None → the keys that the classes were read from.
        sensitive: the attributes, by name.
        counted: what the weights of keys count.
        real: of the first of the keys, where the classes that have rows begin.
        rows: of each class.
        units: of each class: the same, if rows aren't counted by unit.
        population: of each class, the units of the population; None if there is none.
    """

    keys: dict[str | None, Keys]
    sensitive: dict[str, Coded]
    counted: Counted
    real: Whole
    rows: Whole
    units: Whole
    population: Whole | None
    _tables: dict[str | None, Frequencies] = field(default_factory=dict)

    @property
    def levels(self) -> Levels:
        """The node."""
        return self._first.levels

    def codes(self, place: int, which: Mask) -> Codes:
        """Of each of these classes, the group of its quasi-identifier number `place`."""
        return self._first.codes(place, self.real[which])

    def within(self, which: Mask) -> int:
        """How many units have a row in one of these classes."""
        if not self.counted.codes:
            return int(self.units[which].sum())
        first = self._first
        of_class = np.zeros(first.number, dtype=np.bool_)
        of_class[self.real] = which
        firsts = first.firsts(1)
        entries = np.repeat(of_class[firsts], np.diff(firsts, append=first.number))
        codes = first.codes(len(first.levels), np.flatnonzero(entries))
        return self.counted.distinct([weight[entries] for weight in first.weights], codes)

    def frequencies(self, sensitive: str | None) -> Frequencies:
        """The frequency table of classes × a sensitive attribute."""
        if sensitive not in self._tables:
            self._tables[sensitive] = self._bare() if sensitive is None else self._pairs(sensitive)
        return self._tables[sensitive]

    @property
    def _first(self) -> Keys:
        """The keys that the classes were read from."""
        return next(iter(self.keys.values()))

    def _bare(self) -> Frequencies:
        """The classes alone."""
        none = np.zeros(0, dtype=np.int64)
        return Frequencies(
            rows=self.rows,
            units=self.units,
            sizes=self.units,
            starts=np.zeros(len(self.rows) + 1, dtype=np.int64),
            values=np.zeros(0, dtype=np.int32),
            counts=none,
            totals=none,
            whole=int(self.units.sum()),
            population=self.population,
        )

    def _pairs(self, sensitive: str) -> Frequencies:
        """The classes with the counts of a sensitive attribute."""
        keys, column, counted = self.keys[sensitive], self.sensitive[sensitive], self.counted
        ignored = 1 if counted.codes else 0
        if ignored:
            pairs = keys.firsts(1)
            counts = _added(counted.units(keys.weights, keys.codes(len(keys.levels) + 1, slice(None))), pairs)
        else:
            pairs, counts = np.arange(keys.number), counted.units(keys.weights, None)
        values = keys.codes(len(keys.levels), pairs)
        by_row = not counted.by_unit
        return Frequencies(
            rows=self.rows,
            units=self.units,
            sizes=self.units,
            starts=np.append(np.searchsorted(pairs, keys.firsts(1 + ignored)), len(pairs)),
            values=values,
            counts=counts,
            totals=column.counts() if by_row else summed(values, counts, column.size),
            whole=column.rows if by_row else int(self.units.sum()),
            sensitive=column,
            population=self.population,
        )


def node_of(keys: dict[str | None, Keys], sensitive: dict[str, Coded], counted: Counted) -> Node:
    """Read the classes off keys.

    Args:
        keys: sensitive attribute → keys that hold it. Under None, those without one, if a population comes with them,
            rows are counted by unit, or there are no others; they come first.
        sensitive: the attributes, by name.
        counted: what the weights of keys count.
    """
    name, first = next(iter(keys.items()))
    ignored = (name is not None) + (counted.codes > 0)
    if not ignored:
        begins = np.arange(first.number)
        rows, units = first.weights[0], counted.units(first.weights, None)
        population = first.weights[-1] if counted.population else None
    else:
        begins = first.firsts(ignored)
        codes = first.codes(len(first.levels), slice(None)) if counted.codes else None
        rows, units = _added(first.weights[0], begins), _added(counted.units(first.weights, codes), begins)
        population = _added(counted.people(first.weights, codes), begins) if counted.population else None
    if population is not None:
        there = rows > 0
        begins, rows, units, population = begins[there], rows[there], units[there], population[there]
    return Node(
        keys=keys, sensitive=sensitive, counted=counted, real=begins, rows=rows, units=units, population=population
    )


def _added(weights: Whole, begins: Whole) -> Whole:
    """The sums of weights from each place to the next."""
    return np.add.reduceat(weights, begins) if len(begins) else weights[:0]
