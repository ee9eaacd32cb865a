"""The search through a lattice of generalisations: which node is evaluated next, until all others are ruled out.

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

Which node comes next decides how soon all others are ruled out:

- Where no row may be left out and all models merge, a node is a solution exactly if no rows are out, and it then loses
  what its bound says. The open node with the highest bound is next: if it is no solution, all below it are none.
- Else, the open node with the lowest bound is the one to be ruled out, and what rules out most beside it is evaluated
  first: the coarsest open node above it on a chain, then the next one down, until the low node is ruled out or
  evaluated itself. What leaving rows out costs on high carries over to all that is below.

Flash searches each chain by bisection. It was tried and evaluates more nodes here, as bounds of coarse nodes already
rule out most of the fine ones.

Ties are broken by the number of steps up, fewest first, and then by the levels, the first column's first. Every node
that could win a tie is looked at, so the choice doesn't depend on how the search went.

Source: Kohlmayer, Prasser, Eckert, Kemper, Kuhn (2012), "Flash: Efficient, Stable and Optimal K-Anonymity", the
algorithm, for chains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Mask, Reals
from discreet.anonymity.loss.loss import Levels, Meter, Score
from discreet.anonymity.reduce.lattice_problem import Finding, Problem
from discreet.errors import Hint, InvalidArgument

# ── The search ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The outcome of a search through a lattice of generalisations.

    The proof of optimality is the pair of `loss` and `bound`: no node that wasn't evaluated loses less than `bound`,
    and none that was and meets the models loses less than `loss`. What a node loses is exact, except where logarithms
    come in (entropy): there a node counts as better only if it is by more than rounding can make up.

    Args:
        levels: of each quasi-identifier, the level that was chosen.
        heights: of each, the highest there is.
        loss_name: what was minimised.
        loss: of the node that was chosen; suppressed rows count as fully generalised.
        bound: all nodes that weren't evaluated lose at least this; None if none of them meets the models.
        optimal: whether none loses less than the node that was chosen.
        nodes: how many the lattice has.
        evaluated: of how many the classes were formed and checked.
        pruned_by_bound: how many were left out because they can't lose less.
        pruned_by_monotony: how many because they lie below one at which rows of too many units are left out.
        suppressed: of how many units rows are left out at the node that was chosen.
        most: how many may be.

    Examples:
        >>> Search(
        ...     levels={"age": 1}, heights={"age": 2}, loss_name="ncp", loss=0.25, bound=0.25, optimal=True, nodes=3,
        ...     evaluated=2, pruned_by_bound=1, pruned_by_monotony=0, suppressed=0, most=0,
        ... ).verdict
        'optimal: no other of the 3 generalisations loses less'
    """

    levels: Mapping[str, int]
    heights: Mapping[str, int]
    loss_name: str
    loss: float | Fraction
    bound: float | Fraction | None
    optimal: bool
    nodes: int
    evaluated: int
    pruned_by_bound: int
    pruned_by_monotony: int
    suppressed: int
    most: int

    @property
    def unknown(self) -> int:
        """How many nodes were neither evaluated nor ruled out: 0 unless the search was cut short."""
        return self.nodes - self.evaluated - self.pruned_by_bound - self.pruned_by_monotony

    @property
    def gap(self) -> float:
        """By how much the best there is might lose less, at the most; 0 if this is the best."""
        return 0.0 if self.optimal or self.bound is None else max(float(self.loss - self.bound), 0.0)

    @property
    def verdict(self) -> str:
        """What is proved, in words."""
        if self.optimal:
            return f"optimal: no other of the {self.nodes:,} generalisations loses less"
        return (
            f"cut short: {self.unknown:,} of {self.nodes:,} generalisations might lose less, by {self.gap:.3g} at most"
        )

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} {level} of {self.heights[name]}" for name, level in self.levels.items())
        lines = {
            "levels": chosen,
            "loss": f"{float(self.loss):.4g} ({self.loss_name})",
            "nodes": (
                f"{self.nodes:,}: {self.evaluated:,} evaluated, {self.pruned_by_bound:,} ruled out by bounds, "
                f"{self.pruned_by_monotony:,} by monotony"
            ),
            "verdict": self.verdict,
        }
        return "\n".join(f"{name:<8} {text}" for name, text in lines.items())

    def to_dict(self) -> dict[str, object]:
        """The search as JSON-ready data."""
        return {
            "levels": dict(self.levels),
            "heights": dict(self.heights),
            "loss_name": self.loss_name,
            "loss": float(self.loss),
            "bound": None if self.bound is None else float(self.bound),
            "optimal": self.optimal,
            "nodes": self.nodes,
            "evaluated": self.evaluated,
            "pruned_by_bound": self.pruned_by_bound,
            "pruned_by_monotony": self.pruned_by_monotony,
            "suppressed": self.suppressed,
            "most": self.most,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The node that was chosen.

    Args:
        levels: of the quasi-identifiers.
        search: how it was found.
    """

    levels: Levels
    search: Search


def search(problem: Problem, *, names: Sequence[str], loss_name: str, most_nodes: int | None = None) -> Found:
    """Find the generalisation that loses least among those that meet the models.

    Args:
        problem: the table, its models and the loss.
        names: of the quasi-identifiers.
        loss_name: what the loss is called.
        most_nodes: after evaluating so many nodes the best so far is returned; None to go on to the proof.

    Raises:
        InvalidArgument: no node meets the models within the limit of rows left out, or none was found in `most_nodes`;
            or the lattice is too large.
    """
    if most_nodes is not None and most_nodes < 1:
        raise InvalidArgument("at least one node has to be evaluated")
    frontier = Frontier(problem.heights, problem.meter, problem.most)
    for levels in _turns(frontier, problem):
        if most_nodes is not None and frontier.evaluated >= most_nodes:
            break
        frontier.learn(problem.find(levels, frontier.rival))
    best = frontier.best
    if best is None or best.loss is None or best.out is None:
        raise _nothing(problem, frontier)
    bounds, monotony = frontier.ruled_out()
    least = frontier.bound()
    return Found(
        levels=best.levels,
        search=Search(
            levels=dict(zip(names, best.levels, strict=True)),
            heights=dict(zip(names, problem.heights, strict=True)),
            loss_name=loss_name,
            loss=problem.meter.shown(best.loss),
            bound=None if least is None else problem.meter.shown(least),
            optimal=frontier.lowest() is None,
            nodes=frontier.nodes,
            evaluated=frontier.evaluated,
            pruned_by_bound=bounds,
            pruned_by_monotony=monotony,
            suppressed=best.out,
            most=problem.most,
        ),
    )


def _turns(frontier: Frontier, problem: Problem) -> Iterator[Levels]:
    """The nodes in the order in which to evaluate them; each is taken in before the next is asked for."""
    yield problem.heights
    descend = problem.most == 0 and not problem.others
    while (low := frontier.lowest()) is not None:
        if descend:
            high = frontier.highest()
            yield low if high is None else high
            continue
        if not problem.monotone:  # nothing is learned of finer nodes
            yield low
            continue
        for levels in reversed(frontier.chain(low)):
            if frontier.is_open(levels):
                yield levels
            if not frontier.is_open(low):
                break


def _nothing(problem: Problem, frontier: Frontier) -> InvalidArgument:
    """Why there is no solution, and what would make one."""
    top = problem.at(problem.heights)
    out = top.within(problem.left_out(top))
    noun = "units" if problem.counted.by_unit else "rows"
    reached = ", ".join(
        f"{model} would be {model.reached(top.frequencies(model.sensitive)):.4g}"
        for model in problem.models
        if not model.met(top.frequencies(model.sensitive)).all()
    )
    limit = f"{problem.most:,} of {problem.units:,} {noun}"
    if frontier.lowest() is not None:
        return InvalidArgument(
            f"the {frontier.evaluated:,} generalisations that were tried don't meet the models with {limit} left out",
            hint="allow more nodes",
        )
    fewer = f", allow suppression of {out:,} {noun} or more" if out < problem.units else ""  # else none would be left
    return InvalidArgument(
        f"no generalisation meets the models with at most {limit} left out; at the highest levels {out:,} {noun} would "
        f"have to be" + (f" (without that, {reached})" if reached else ""),
        hint=f"ask for less{fewer}, or give a hierarchy a level that is one group",
    )


# ── What is known of every node ───────────────────────────────────────────────────────────────────────────────────────

MOST_NODES = 1 << 23
"""Of a lattice: its bounds are kept in memory, 21 bytes a node."""


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
        """Add the bounds up anew; evaluated nodes stay closed."""
        np.add(self._floor[where], self._added[where], out=self._bound[where])
        self._bound[where][self._seen[where]] = np.inf

    def _open(self) -> Mask:
        """Which nodes are open."""
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
        """What makes a solution better than another."""
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
