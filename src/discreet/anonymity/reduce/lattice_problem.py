"""The problem to search: the table at any node, which of its classes meet the models, and what the node loses."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.frequencies import Frequencies, Holders, Shares, bare
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Levels, Meter, Score
from discreet.anonymity.models.model import Model
from discreet.anonymity.reduce.lattice_keys import Keys, Roller
from discreet.anonymity.reduce.lattice_tuples import Counted, Tuples


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
        population: for each class, the units of the population; None if there is none.
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
        """For each of these classes, the group of its quasi-identifier number `place`."""
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
            self._tables[sensitive] = (
                bare(rows=self.rows, units=self.units, sizes=self.units, population=self.population)
                if sensitive is None
                else self._pairs(sensitive)
            )
        return self._tables[sensitive]

    @property
    def _first(self) -> Keys:
        """The keys that the classes were read from."""
        return next(iter(self.keys.values()))

    def _pairs(self, sensitive: str) -> Frequencies:
        """The classes with the counts of a sensitive attribute."""
        keys, column, counted = self.keys[sensitive], self.sensitive[sensitive], self.counted
        holders = None
        if counted.codes:
            pairs, codes = keys.firsts(1), keys.codes(len(keys.levels) + 1, slice(None))
            counts = _added(counted.units(keys.weights, codes), pairs)
            own = np.flatnonzero((codes > 0) & (codes <= counted.own))
            holders = Holders(pairs=np.searchsorted(pairs, own, side="right") - 1, units=codes[own])
        else:
            pairs, counts = np.arange(keys.number), counted.units(keys.weights, None)
        values = keys.codes(len(keys.levels), pairs)
        starts = np.append(np.searchsorted(pairs, keys.firsts(2 if counted.codes else 1)), len(pairs))
        shares = Shares(totals=column.counts(), whole=column.rows)
        if counted.by_unit:
            shares = Shares.of(
                units=self.units, starts=starts, values=values, counts=counts, size=column.size, holders=holders
            )
        return Frequencies(
            rows=self.rows,
            units=self.units,
            sizes=self.units,
            starts=starts,
            values=values,
            counts=counts,
            totals=shares.totals,
            whole=shares.whole,
            sensitive=column,
            population=self.population,
            holders=holders,
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


_MOST_KEYS = 4_000_000
"""How many keys are kept beside those of the bottom: 64 MB with one word and one weight."""
_MOST_TABLES = 512
"""A longer list would take longer to look through than it saves."""


class Store:
    """The keys of one table at every node that is asked for.

    Args:
        bottom: the keys of the ungeneralised table, which are always kept.
        roller: rolls them up.
    """

    def __init__(self, bottom: Keys, roller: Roller) -> None:
        self._bottom = bottom
        self._roller = roller
        self._kept: deque[Keys] = deque()
        self._levels = np.zeros((0, len(bottom.levels)), dtype=np.int64)
        self._sizes = np.zeros(0, dtype=np.int64)
        self._total = 0

    def at(self, levels: Levels) -> Keys:
        """The keys at a node, rolled up from the smallest table that is at least as fine."""
        found = self._finer(levels)
        if found.levels == levels:
            return found
        made = self._roller.up(found, levels)
        self._keep(made)
        return made

    def _finer(self, levels: Levels) -> Keys:
        """The smallest table from which the node can be made."""
        fits = np.flatnonzero((self._levels <= np.array(levels)).all(axis=1))
        if not len(fits):
            return self._bottom
        best = self._kept[int(fits[np.argmin(self._sizes[fits])])]
        return best if best.number < self._bottom.number or best.levels == levels else self._bottom

    def _keep(self, made: Keys) -> None:
        """Remember a table, and forget the oldest ones where there are too many."""
        self._kept.append(made)
        self._total += made.number
        gone = 0
        while self._kept and (self._total > _MOST_KEYS or len(self._kept) > _MOST_TABLES):
            self._total -= self._kept.popleft().number
            gone += 1
        if len(self._kept) == 0:  # one table alone was too large
            self._levels, self._sizes = self._levels[:0], self._sizes[:0]
            return
        self._levels = np.vstack((self._levels[gone:], np.array([made.levels], dtype=np.int64)))
        self._sizes = np.append(self._sizes[gone:], made.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Facts about an evaluated node.

    Args:
        levels: the node.
        whole: what it would lose if no row were left out.
        loss: what it loses; None if it isn't a solution, or if it was seen to be no better than `rival`.
        surely_out: how many units are in classes that miss a model whose misses only become fewer on the way up.
        out: how many units have rows that are left out; None where that wasn't needed.
        surely_added: what leaving out the classes of `surely_out` adds.
    """

    levels: Levels
    whole: Score
    loss: Score | None
    surely_out: int
    out: int | None
    surely_added: Score


class Problem:
    """A table, its models and a loss, ready to be asked about nodes.

    Args:
        tuples: sensitive attribute → tuples at the bottom, as `tuples_of` makes them.
        ladders: of the quasi-identifiers.
        sensitive: the sensitive attributes, by name.
        counted: what the weights of tuples count.
        models: what every class that is kept must meet, beside the others that are kept.
        meter: the loss to minimise.
        units: of the table: its rows, if they aren't counted by unit.
        most: how many units may have rows that are left out.
    """

    def __init__(  # noqa: PLR0913 — the parts of the problem, by name
        self,
        *,
        tuples: Mapping[str | None, Tuples],
        ladders: Sequence[Ladder],
        sensitive: dict[str, Coded],
        counted: Counted,
        models: Sequence[Model],
        meter: Meter,
        units: int,
        most: int,
    ) -> None:
        self.ladders = tuple(ladders)
        self.heights = tuple(ladder.height for ladder in ladders)
        self.models = tuple(models)
        self.monotone = tuple(model for model in models if _lasts(model, counted, most))
        self.others = tuple(model for model in models if model not in self.monotone)
        self.meter = meter
        self.units = units
        self.most = most
        self.counted = counted
        self._sensitive = sensitive
        self._stores = {}
        for name, each in tuples.items():
            last = [
                *([] if name is None else [max(sensitive[name].size, 1)]),
                *([counted.codes] if counted.codes else []),
            ]
            roller = Roller(ladders, last)
            self._stores[name] = Store(roller.bottom(each.codes, each.weights), roller)

    def at(self, levels: Levels) -> Node:
        """The classes at a node."""
        return node_of({name: store.at(levels) for name, store in self._stores.items()}, self._sensitive, self.counted)

    def unmet(self, node: Node, models: Sequence[Model]) -> Mask:
        """Which classes miss a model.

        Args:
            node: whose classes.
            models: the models in question.
        """
        missed = np.zeros(len(node.rows), dtype=np.bool_)
        for model in models:
            missed |= ~model.met(node.frequencies(model.sensitive))
        return missed

    def left_out(self, node: Node) -> Mask:
        """Which classes are left out, so that all others meet all models in a release of these alone.

        Classes that miss a model on their own go first. A model that compares a class with the whole table compares it
        with what is left, as a reader of the release does; so as long as classes miss one, they go, too.
        """
        out = self.unmet(node, [model for model in self.models if not model.relative])
        relative = [model for model in self.models if model.relative]
        while relative and not out.all():
            kept = np.flatnonzero(~out)
            tables = {model.sensitive: node.frequencies(model.sensitive).only(~out) for model in relative}
            missed = ~np.logical_and.reduce([model.met(tables[model.sensitive]) for model in relative])
            if not missed.any():
                break
            out[kept[missed]] = True
        return out

    def find(self, levels: Levels, rival: Score | None = None) -> Finding:
        """Evaluate a node.

        Args:
            levels: the node.
            rival: the best loss so far: models that don't grow aren't looked at where it can't be reached.
        """
        node = self.at(levels)
        whole = self.meter.whole(node)
        surely = self.unmet(node, self.monotone)
        surely_out = node.within(surely)
        extra = self.meter.added(node, surely) if 0 < surely_out <= self.most else 0
        out, loss = None, None
        slack = self.meter.tolerance
        if surely_out <= self.most and (
            rival is None or whole + (extra if self.meter.antitone else 0) <= rival + slack
        ):
            missed = self.left_out(node) if self.others else surely
            if np.array_equal(missed, surely):
                out, loss = surely_out, whole + extra
            else:
                out = node.within(missed)
                loss = whole + self.meter.added(node, missed) if out <= self.most else None
        return Finding(levels=levels, whole=whole, loss=loss, surely_out=surely_out, out=out, surely_added=extra)


def _lasts(model: Model, counted: Counted, most: int) -> bool:
    """Whether classes that meet a model still do at coarser nodes.

    Where rows are counted by unit, more rows may give a unit more values, and a union may count a unit once that was in
    both parts: of models with a sensitive attribute nothing then follows, unless no unit is in two classes and nothing
    is left out.
    """
    if counted.by_unit and (most or counted.codes):
        return model.grows and model.sensitive is None
    return model.grows if most else model.merges
