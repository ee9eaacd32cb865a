"""Consistency: answers of nested grouping sets are made to add up, children to their parents.

Each group of a level was measured with noise of its own, and so were the groups it is made of. The least-squares
estimate given all measurements adds up, and errs less than any of them: Hay, Rastogi, Miklau & Suciu 2010, "Boosting
the accuracy of differentially private histograms through consistency", section 4, here with variances that differ by
level. It is found in two passes over the tree. Intervals stay those of a group's own measurement: they hold as often as
they say, and are wider than they need be.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from discreet.gateway.answers.released import Group
from discreet.mechanisms import Gaussian, Laplace
from discreet.query import ir
from discreet.query.estimates import Noise
from discreet.tables import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.privacy import KeyValue
    from discreet.query.planner import Draft


def consistent(drafts: Sequence[Draft], groups: Sequence[Group]) -> list[Group]:
    """The groups with numbers that add up, in the order they came in.

    Args:
        drafts: of the levels, each set of keys holding the next.
        groups: of all levels, as they were released.
    """
    adjusted: dict[tuple[int, tuple[KeyValue, ...]], dict[str, int]] = {
        (group.level, group.key): dict(_whole(group.noisy)) for group in groups
    }
    laws = [draft.laws for draft in drafts]
    for name in laws[0]:
        noises = [each[name] for each in laws]
        tree = _Tree(name, _quantum(noises[0].measure), adjusted)
        for root in _trees(drafts, groups, noises, name):
            _up(root)
            tree.settle(root, tree.rounded(root.estimate))
    return [replace(group, noisy=adjusted[(group.level, group.key)]) for group in groups]


@dataclass(slots=True)
class _Node:
    """One group in the tree.

    Args:
        place: its level and key.
        measured: what was released, in steps.
        variance: of its noise.
        estimate: from its own measurement and those below it.
        below: the groups it is made of.
    """

    place: tuple[int, tuple[KeyValue, ...]]
    measured: int
    variance: Fraction
    estimate: Fraction = Fraction(0)
    below: list[_Node] = field(default_factory=list)


def _trees(drafts: Sequence[Draft], groups: Sequence[Group], noises: Sequence[Noise], name: str) -> list[_Node]:
    """The groups of the coarsest level, each with those it is made of."""
    names = [[key.name for key in draft.keys] for draft in drafts]
    nodes: list[dict[tuple[KeyValue, ...], _Node]] = [{} for _ in drafts]
    for group in groups:
        variance = _variance(noises[group.level])
        nodes[group.level][group.key] = _Node((group.level, group.key), _whole(group.noisy)[name], variance)
    for level in range(len(drafts) - 1):
        kept = [names[level].index(each) for each in names[level + 1]]
        for key, node in nodes[level].items():
            nodes[level + 1][tuple(key[place] for place in kept)].below.append(node)
    return list(nodes[-1].values())


def _up(node: _Node) -> None:
    """Estimate from a group's own measurement and the sum of those below, each weighted by how sure it is."""
    for child in node.below:
        _up(child)
    if not node.below:
        node.estimate = Fraction(node.measured)
        return
    total, spread = sum(child.estimate for child in node.below), sum(child.variance for child in node.below)
    node.estimate = (node.measured * spread + total * node.variance) / (node.variance + spread)
    node.variance = node.variance * spread / (node.variance + spread)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Settles groups from the top down on numbers that add up.

    Args:
        name: of the measure.
        quantum: of which all numbers are to be multiples, in steps: whole rows, where rows are counted in parts.
        adjusted: where the numbers go, by level and key.
    """

    name: str
    quantum: int
    adjusted: Mapping[tuple[int, tuple[KeyValue, ...]], dict[str, int]]

    def settle(self, node: _Node, value: int) -> None:
        """Settle a group, and share what is missing out to those below, by how unsure each is."""
        self.adjusted[node.place][self.name] = value
        if not node.below:
            return
        spread = sum(child.variance for child in node.below)
        missing = value - sum(child.estimate for child in node.below)
        wanted = [child.estimate + missing * child.variance / spread for child in node.below]
        for child, share in zip(node.below, self._apportioned(wanted, value), strict=True):
            self.settle(child, share)

    def rounded(self, value: Fraction) -> int:
        """The nearest multiple."""
        return floor(value / self.quantum + Fraction(1, 2)) * self.quantum

    def _apportioned(self, wanted: Sequence[Fraction], total: int) -> list[int]:
        """Multiples of the quantum near these that add up to the total, itself one; largest rests are rounded up."""
        parts = [each / self.quantum for each in wanted]
        floors = [floor(each) for each in parts]
        by_rest = sorted(range(len(parts)), key=lambda place: floors[place] - parts[place])
        for place in by_rest[: total // self.quantum - sum(floors)]:
            floors[place] += 1
        return [each * self.quantum for each in floors]


def _quantum(measure: ir.Measure | ir.Vector) -> int:
    """The steps of one whole row, or unit of a whole number; 1 for real numbers."""
    if isinstance(measure, ir.Sum) and measure.value.type.kind is Kind.INTEGER:
        return int(2 ** max(-measure.grid, 0))
    return 1


def _variance(noise: Noise) -> Fraction:
    """The variance of the noise, in steps. That of the continuous distribution will do: it is only a weight."""
    mechanism = noise.mechanism
    if isinstance(mechanism, Gaussian):
        return Fraction(mechanism.sigma) ** 2
    if isinstance(mechanism, Laplace):
        return 2 * Fraction(mechanism.scale) ** 2
    raise TypeError("only sums add up")


def _whole(noisy: Mapping[str, object]) -> dict[str, int]:
    """Released numbers of measures that add up."""
    return {name: value for name, value in noisy.items() if isinstance(value, int)}
