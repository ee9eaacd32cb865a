"""What an optimal search found, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


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
        """All of it, for people."""
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
