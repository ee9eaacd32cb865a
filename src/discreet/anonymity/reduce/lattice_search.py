"""The search through a lattice of generalisations: which node is evaluated next, until all others are ruled out.

`lattice_frontier.py` says what evaluated nodes teach about others. Which node comes next decides how soon all others
are ruled out:

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

from discreet.anonymity.loss.loss import Levels
from discreet.anonymity.reduce.lattice_frontier import Frontier
from discreet.anonymity.reduce.lattice_problem import Problem
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The outcome of a search through a lattice of generalisations.

    The proof of optimality is the pair of `loss` and `bound`: no node that wasn't evaluated loses less than `bound`,
    and none that was and meets the models loses less than `loss`. A node's loss is exact, except where logarithms come
    in (entropy): there a node counts as better only if it is by more than rounding can make up.

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
        """The most by which any other may lose less; 0 if this is the best."""
        return 0.0 if self.optimal or self.bound is None else max(float(self.loss - self.bound), 0.0)

    @property
    def verdict(self) -> str:
        """The verdict in words: what is proved."""
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
        most_nodes: how many nodes are evaluated before the best so far is returned; None to go on to the proof.

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
