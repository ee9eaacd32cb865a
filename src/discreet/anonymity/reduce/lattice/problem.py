"""What is searched for: the table at any node, which of its classes meet the models, and what the node loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Levels, Meter, Score
from discreet.anonymity.models.model import Model
from discreet.anonymity.records.column import Coded, Mask
from discreet.anonymity.reduce.lattice.keys import Roller
from discreet.anonymity.reduce.lattice.node import Node, node_of
from discreet.anonymity.reduce.lattice.store import Store
from discreet.anonymity.reduce.lattice.tuples import Counted, Tuples


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is known of an evaluated node.

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
        meter: what is to be minimised.
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
        """Keep the parts."""
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

        Classes that miss a model by themselves go first. A model that compares a class with the whole table compares it
        with what is left, as whoever reads the release does; so as long as classes miss one, they go, too.
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
