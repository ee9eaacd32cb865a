"""Scorers, learned from outputs: the higher the score, the more an output looks like the first neighbour's."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.audit.outputs import Batch, View, views_of

_MOST_VALUES = 1 << 14
"""A view with more different values than this isn't counted value by value."""

_BINS = 64
_ROUNDS = 25
_RIDGE = 1e-3
_LEAST_FOR_FIT = 1 << 17


class Scorer(Protocol):
    """A number for each output."""

    @property
    def name(self) -> str:
        """The view that it scores, in words."""

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The number of each output; never NaN."""


@dataclass(frozen=True, slots=True)
class Value:
    """The number seen in a view; where there is none, less than any."""

    view: View

    @property
    def name(self) -> str:
        """The view's name."""
        return self.view.name

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The numbers."""
        seen = self.view.look(batch).astype(np.float64)
        return np.where(np.isnan(seen), -np.inf, seen)


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """How much more often a value was seen for one neighbour than for the other: a log ratio of counts."""

    view: View
    ratios: dict[Hashable, float]

    @property
    def name(self) -> str:
        """The view's name."""
        return f"likelihood of {self.view.name}"

    @classmethod
    def learned(cls, view: View, one: Batch, other: Batch) -> Frequencies | None:
        """Count; None if there are too many values."""
        counts = [_counted(view.look(batch)) for batch in (one, other)]
        values = counts[0].keys() | counts[1].keys()
        if len(values) > _MOST_VALUES:
            return None
        return cls(view, {value: _log_ratio(counts[0].get(value, 0), counts[1].get(value, 0)) for value in values})

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The ratio of each value; 0, which says nothing, of one that wasn't seen."""
        seen = self.view.look(batch)
        if seen.dtype == object:
            return np.array([self.ratios.get(value, 0.0) for value in seen], dtype=np.float64)
        values, places = np.unique(seen, return_inverse=True)
        ratios = np.array([self.ratios.get(_key(value), 0.0) for value in values.tolist()])
        return ratios[places]


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """The same for a number's place among bins that hold about equally many."""

    view: View
    edges: NDArray[np.float64]
    ratios: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The view's name."""
        return f"likelihood of {self.view.name}, in bins"

    @classmethod
    def learned(cls, view: View, one: Batch, other: Batch) -> Bins:
        """Count."""
        seen = [_finite(view.look(batch)) for batch in (one, other)]
        edges = np.unique(np.quantile(np.concatenate(seen), np.linspace(0, 1, _BINS + 1)[1:-1]))
        counts = [np.bincount(np.searchsorted(edges, each, side="right"), minlength=len(edges) + 1) for each in seen]
        return cls(view, edges, np.log((counts[0] + 0.5) / (counts[1] + 0.5)))

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The ratio of each number's bin."""
        places = np.searchsorted(self.edges, _finite(self.view.look(batch)), side="right")
        return self.ratios[places]


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """A weighted sum of all parts, with weights by logistic regression: the classifier of DP-Sniper.

    Source: Bichsel, Steffen, Bogunovic, Vechev (2021), the algorithm DP-Sniper, which learns such a classifier.
    """

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def name(self) -> str:
        """In words."""
        return "weighted sum of all parts"

    @classmethod
    def learned(cls, one: Batch, other: Batch) -> Logistic:
        """Newton's method with a little ridge; a poor fit costs tightness, never truth."""
        features = np.vstack([_features(one), _features(other)])
        labels = np.concatenate([np.ones(len(one)), np.zeros(len(other))])
        centre = features.mean(axis=0)
        spread = np.maximum(features.std(axis=0), 1e-300)
        design = np.hstack([(features - centre) / spread, np.ones((len(features), 1))])
        weights = np.zeros(design.shape[1])
        for _ in range(_ROUNDS):
            chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
            slope = design.T @ (labels - chance) - _RIDGE * weights
            curve = (design * (chance * (1 - chance))[:, None]).T @ design + _RIDGE * np.eye(len(weights))
            step = np.linalg.solve(curve, slope)
            weights = np.clip(weights + step, -1e3, 1e3)
            if np.abs(step).max() < 1e-6:  # noqa: PLR2004 — near enough
                break
        return cls(centre, spread, weights)

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The weighted sums."""
        features = _features(batch)
        width = len(self.centre)
        padded = np.zeros((len(batch), width))
        padded[:, : features.shape[1]] = features[:, :width]
        scores: NDArray[np.float64] = np.nan_to_num((padded - self.centre) / self.spread @ self.weights[:-1])
        return scores


def learned(one: Batch, other: Batch) -> Iterator[Scorer]:
    """All scorers, learned from outputs of two neighbours."""
    first = one if len(one.parts) >= len(other.parts) else other
    one, other = one[:_LEAST_FOR_FIT], other[:_LEAST_FOR_FIT]
    for view in views_of(first):
        counted = Frequencies.learned(view, one, other)
        if counted is not None:
            yield counted
        if view.look(one).dtype != object:
            yield Value(view)
            yield Bins.learned(view, one, other)
    if len(first.parts) > 1:
        yield Logistic.learned(one, other)


def _counted(column: NDArray[Any]) -> dict[Hashable, int]:
    if column.dtype == object:
        counts: dict[Hashable, int] = {}
        for value in column:
            counts[value] = counts.get(value, 0) + 1
        return counts
    values, often = np.unique(column, return_counts=True)
    return {_key(value): count for value, count in zip(values.tolist(), often.tolist(), strict=True)}


def _key(value: Any) -> Hashable:  # noqa: ANN401 — a number from an array
    """A number to look up; every NaN is the same."""
    return None if value != value else value  # noqa: PLR0124 — only NaN differs from itself


def _log_ratio(one: int, other: int) -> float:
    """The log ratio of two counts, drawn towards 0 where they are small."""
    return float(np.log((one + 0.5) / (other + 0.5)))


def _finite(column: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers; what isn't one lies below all others."""
    return np.nan_to_num(column.astype(np.float64), nan=-1e300, posinf=1e300, neginf=-1e300)


def _features(batch: Batch) -> NDArray[np.float64]:
    """The parts as numbers, and for each whether it is one."""
    columns = [part.astype(np.float64) for part in batch.parts]
    return np.array([*map(np.nan_to_num, columns), *(np.isnan(column).astype(np.float64) for column in columns)]).T
