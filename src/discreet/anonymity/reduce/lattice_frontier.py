"""The frontier of a lattice: what is known of every node, and which are ruled out.

Two facts are kept for each node, as lower bounds: `floor`, of what it loses if no row is left out, and `added`, of what
leaving rows out adds. An evaluated node teaches others both ways:

- Upwards: a coarser node loses at least what the finer one loses without leaving rows out (the first law of a loss).
- Downwards: let `surely` be the classes that miss a model that grows. A finer node's classes are parts of the coarser
  node's. If a part meets a model that grows, so does the class, which only has more rows. So a row that is left out
  above, for such a model, is left out below too. Therefore, if the rows are too many above, they are below: all finer
  nodes are ruled out. And if they are not, what leaving them out adds above is added below at least (the second law).

The second needs models that grow. A model that doesn't may miss a class and meet a part of it: then a finer node can
leave out fewer rows than a coarser one, and nothing follows from it. An example: five rows have the sensitive values a,
a, b, b and a, no value may fill more than half of a class, and one row may be left out. Where the last row is in a
class of its own it is left out and all is well; one level up all five are a class, and a fills three fifths of it.
Where no row may be left out, it is enough that a model merges, which all but a few do: if all classes below meet it, so
do their unions above.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Mask, Reals
from discreet.anonymity.loss.loss import Levels, Meter, Score
from discreet.anonymity.reduce.lattice_problem import Finding
from discreet.errors import InvalidArgument
from discreet.hints import Hint

MOST_NODES = 1 << 23
"""The most nodes of a lattice: its bounds are kept in memory, 21 bytes a node."""


class Frontier:
    """The bounds of all nodes.

    Args:
        heights: of the quasi-identifiers.
        meter: of the loss that is minimised.
        most: of how many units rows may be left out.

    Raises:
        InvalidArgument: the lattice has too many nodes.
    """

    def __init__(self, heights: Sequence[int], meter: Meter, most: int) -> None:
        self.shape = tuple(height + 1 for height in heights)
        self.nodes = prod(self.shape)
        if self.nodes > MOST_NODES:
            raise InvalidArgument(
                f"the lattice has {self.nodes:,} generalisations, more than the {MOST_NODES:,} that can be searched",
                hint=Hint.of(
                    "take quasi-identifiers out, give them fewer levels, or use {algorithm}", algorithm="mondrian"
                ),
            )
        self._meter = meter
        self._most = most
        self._floor = np.ascontiguousarray(meter.floors())
        self._added = np.zeros(self.shape, dtype=np.float64)
        self._seen = np.zeros(self.shape, dtype=np.bool_)
        self._rank = _ranks(self.shape)
        self._bound = self._floor.copy()
        self.best: Finding | None = None
        self.evaluated = 0

    @property
    def rival(self) -> Score | None:
        """The best loss so far."""
        return None if self.best is None else self.best.loss

    def learn(self, found: Finding) -> None:
        """Take in an evaluated node."""
        self.evaluated += 1
        self._seen[found.levels] = True
        above = tuple(slice(level, None) for level in found.levels)
        below = tuple(slice(0, level + 1) for level in found.levels)
        if found.whole > self._floor[found.levels]:
            np.maximum(self._floor[above], float(found.whole), out=self._floor[above])
            self._refresh(above)
        gained = np.inf if found.surely_out > self._most else float(found.surely_added) if self._meter.antitone else 0.0
        if gained > self._added[found.levels]:
            np.maximum(self._added[below], gained, out=self._added[below])
            self._refresh(below)
        self._bound[found.levels] = np.inf
        if found.loss is not None and (self.best is None or self._key(found) < self._key(self.best)):
            self.best = found

    def lowest(self) -> Levels | None:
        """The open node with the lowest bound; None if no node is open."""
        low = self._levels(int(self._bound.argmin()))
        if self.is_open(low) or float(self._bound[low]) > self._most_score():
            return low if self.is_open(low) else None
        tied = self._levels(int(np.where(self._open(), self._bound, np.inf).argmin()))
        return tied if self.is_open(tied) else None

    def highest(self) -> Levels | None:
        """The open node with the highest bound; None if no node is open."""
        high = self._levels(int(np.where(self._open(), self._bound, -np.inf).argmax()))
        return high if self.is_open(high) else None

    def chain(self, levels: Levels) -> list[Levels]:
        """Open nodes from this one upwards, a step at a time, each to the lowest bound."""
        chain = [levels]
        while steps := [step for step in self._steps(chain[-1]) if self.is_open(step)]:
            chain.append(min(steps, key=lambda step: float(self._bound[step])))
        return chain

    def bound(self) -> Score | None:
        """No node that wasn't evaluated scores less; None if none of them meets the models."""
        least = float(self._bound.min())
        if least == np.inf:
            return None
        return int(least) if least.is_integer() and not self._meter.tolerance else least

    def ruled_out(self) -> tuple[int, int]:
        """How many nodes were ruled out by bounds, and how many by monotony."""
        monotony = ~self._seen & np.isinf(self._added)
        bounds = ~self._seen & ~monotony & ~self._open()
        return int(np.count_nonzero(bounds)), int(np.count_nonzero(monotony))

    def _refresh(self, where: tuple[slice, ...]) -> None:
        """Add the bounds up again; evaluated nodes stay closed."""
        np.add(self._floor[where], self._added[where], out=self._bound[where])
        self._bound[where][self._seen[where]] = np.inf

    def _open(self) -> Mask:
        if self.best is None:
            return np.isfinite(self._bound)
        most = self._most_score()
        if self._meter.tolerance:
            near: Mask = self._bound <= most
            return near
        tied = (self._bound == most) & (self._rank < self._rank[self.best.levels])
        best: Mask = (self._bound < most) | tied
        return best

    def is_open(self, levels: Levels) -> bool:
        """Whether a node wasn't evaluated and could still be best."""
        bound = float(self._bound[levels])
        if self.best is None or bound == np.inf:
            return bound < np.inf
        most = self._most_score()
        tied = bool(self._meter.tolerance) or self._rank[levels] < self._rank[self.best.levels]
        return bound < most or (bound == most and bool(tied))

    def _most_score(self) -> float:
        """Nodes with a higher bound can't be best."""
        rival = self.rival
        return np.inf if rival is None else float(rival) + self._meter.tolerance

    def _key(self, found: Finding) -> tuple[Score, int]:
        """The order of solutions, the best first."""
        assert found.loss is not None  # noqa: S101 — only solutions are compared
        return found.loss, int(self._rank[found.levels])

    def _steps(self, levels: Levels) -> list[Levels]:
        """The nodes one step up."""
        return [
            (*levels[:place], level + 1, *levels[place + 1 :])
            for place, level in enumerate(levels)
            if level + 1 < self.shape[place]
        ]

    def _levels(self, place: int) -> Levels:
        """A node, from its place in the flattened lattice."""
        return tuple(int(level) for level in np.unravel_index(place, self.shape))


def _ranks(shape: tuple[int, ...]) -> NDArray[np.int32]:
    """The order in which ties are broken: fewest steps up first, then by the levels."""
    steps: Reals = reduce(np.add.outer, [np.arange(size, dtype=np.int32) for size in shape])
    ranks = np.empty(prod(shape), dtype=np.int32)
    ranks[np.argsort(steps, axis=None, kind="stable")] = np.arange(prod(shape), dtype=np.int32)
    return ranks.reshape(shape)
