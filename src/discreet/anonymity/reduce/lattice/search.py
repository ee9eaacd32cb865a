"""The optimal full-domain generalisation, with a proof that it is optimal.

The search keeps a lower bound for every node (see `frontier.py`) and evaluates nodes until all others are ruled out.
Which node comes next decides how soon that is:

- Where no row may be left out and all models merge, a node is a solution exactly if no rows are out, and it then loses
  what its bound says. The open node with the highest bound is next: if it is no solution, all below it are none.
- Else, the open node with the lowest bound is the one to be ruled out, and what rules out most beside it is evaluated
  first: the coarsest open node above it on a chain, then the next one down, until the low node is ruled out or
  evaluated itself. What leaving rows out costs on high carries over to all that is below.

Flash searches each chain by bisection. It was tried and evaluates more nodes here, as bounds of coarse nodes already
rule out most of the fine ones.

Source: Kohlmayer, Prasser, Eckert, Kemper, Kuhn (2012), "Flash: Efficient, Stable and Optimal K-Anonymity", the
algorithm, for chains; the bounds are proved in `frontier.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.anonymity.loss.loss import Levels
from discreet.anonymity.reduce.lattice.frontier import Frontier
from discreet.anonymity.reduce.lattice.problem import Problem
from discreet.anonymity.reduce.lattice.result import Search
from discreet.errors import InvalidArgument


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
