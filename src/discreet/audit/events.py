"""Events: the one that tells two neighbours apart best, by known probabilities or else learned from outputs.

An event that is learned from outputs is never tested on these. It cuts the outputs by a score, the higher the more an
output looks like the first of two neighbours. Whatever a scorer says, the bound that follows from it holds: it decides
only how good the event is.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.audit.laws import Laws
from discreet.audit.outputs import Batch
from discreet.audit.scorers import Scorer, Value, learned

_SHOWN = 6


class Event(Protocol):
    """Whether something is so of an output."""

    def count(self, outputs: Any) -> int:  # noqa: ANN401 — a list or an array
        """How many outputs belong to the event."""

    def __str__(self) -> str:
        """The event in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """The output is one of some, those that are likeliest for the one neighbour against the other.

    Args:
        outcomes: integers, or anything that hashes.
        ratio: the least log ratio of their probabilities.
    """

    outcomes: frozenset[Hashable]
    ratio: float

    def count(self, outputs: Any) -> int:  # noqa: ANN401 — a list or an array
        """How many outputs belong to the event."""
        if isinstance(outputs, np.ndarray) and outputs.dtype != object:
            return int(np.isin(outputs, list(self.outcomes)).sum())  # type: ignore[arg-type]  # numbers then
        return sum(output in self.outcomes for output in outputs)

    def __str__(self) -> str:
        return f"{_in_short(self.outcomes)} (log likelihood ratio ≥ {self.ratio:.4g})"


@dataclass(frozen=True, slots=True, eq=False)
class Above:
    """The event that an output's score reaches a number."""

    scorer: Scorer
    cut: float

    def holds(self, batch: Batch) -> NDArray[np.bool_]:
        """The outputs that belong to the event."""
        return self.scorer.scores(batch) >= self.cut

    def count(self, outputs: Any) -> int:  # noqa: ANN401 — a list or an array
        """How many outputs belong to the event."""
        return int(self.holds(Batch.of(outputs)).sum())

    def __str__(self) -> str:
        if isinf(self.cut):
            return f"{self.scorer.name} is there"
        exact = isinstance(self.scorer, Value)
        return f"{self.scorer.name} ≥ {self.cut:.17g}" if exact else f"{self.scorer.name} ≥ {self.cut:.4g}"


def _in_short(outcomes: frozenset[Hashable]) -> str:
    """A set of outcomes: a run of integers by its ends, others by the first few."""
    whole = sorted(each for each in outcomes if isinstance(each, int))
    if len(whole) == len(outcomes):
        if whole and whole[-1] - whole[0] == len(whole) - 1:
            return f"output = {whole[0]}" if len(whole) == 1 else f"output from {whole[0]} to {whole[-1]}"
        shown = [str(each) for each in whole]
    else:
        shown = sorted(map(str, outcomes))
    more = f", … ({len(shown)})" if len(shown) > _SHOWN else ""
    return f"output in {{{', '.join(shown[:_SHOWN])}{more}}}"


@dataclass(frozen=True, slots=True)
class Found:
    """An event, and for which neighbour it is likelier.

    Args:
        event: what to look for.
        swapped: whether it is likelier for the second neighbour.
        promise: the bound to expect of it.
    """

    event: Event
    swapped: bool
    promise: float


@dataclass(frozen=True, slots=True)
class Aim:
    """The conditions that a bound must hold under.

    Args:
        draws: how many outputs of each neighbour the event will be tested on.
        delta: in [0, 1).
        confidence: of the bound.
    """

    draws: int
    delta: Fraction
    confidence: Fraction

    def promises(self, p: NDArray[np.float64], q: NDArray[np.float64], seen: int) -> NDArray[np.float64]:
        """About what bound follows from events of probabilities p and q, as far as `seen` outputs tell.

        Wilson's intervals stand in for the exact ones: they steer the search only.
        """
        z = NormalDist().inv_cdf(float(min(1 - (1 - self.confidence) / 2, Fraction(1 - 2**-52))))
        low, high = _wilson(p, seen, -z), _wilson(q, seen, z)
        delta = float(self.delta)
        with np.errstate(divide="ignore", invalid="ignore"):
            direct = np.log(np.maximum(low - delta, 0) / high)
            inverse = np.log(np.maximum(1 - high - delta, 0) / (1 - low))
        return np.nan_to_num(np.maximum(direct, inverse), nan=-np.inf)


def from_laws(laws: Laws, aim: Aim) -> Found:
    """The best event of all, where both laws are known: the outcomes whose likelihood ratio reaches some value.

    By the lemma of Neyman and Pearson no other event of the same probability for the one neighbour has less for the
    other; which value is best depends on how many draws there will be.
    """
    best: Found | None = None
    for swapped, (p, q) in enumerate(((laws.one, laws.other), (laws.other, laws.one))):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(np.log(p) - np.log(q), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        order = np.argsort(-ratios, kind="stable")
        likely, unlikely = (np.minimum(np.cumsum(each[order]), 1.0) for each in (p, q))
        promises = aim.promises(likely, unlikely, aim.draws)
        place = int(np.argmax(promises))
        if best is None or promises[place] > best.promise:
            members = frozenset(laws.outcomes[number] for number in order[: place + 1].tolist())
            best = Found(Among(members, float(ratios[order[place]])), bool(swapped), float(promises[place]))
    if best is None:
        raise TypeError("there are two directions")
    return best


def from_outputs(one: Batch, other: Batch, aim: Aim) -> Found:
    """The best event that can be learned: scorers from one half of the outputs, the cut from the other.

    Args:
        one: outputs of the first neighbour; at least 4.
        other: as many of the second.
        aim: what the event is for.
    """
    half = len(one) // 2
    rest = one[half:], other[half:]
    scorers = learned(one[:half], other[:half])
    return max((_best_cut(scorer, *rest, aim) for scorer in scorers), key=lambda found: found.promise)


def _best_cut(scorer: Scorer, one: Batch, other: Batch, aim: Aim) -> Found:
    """The cut that promises most, for either neighbour."""
    scores = [np.sort(scorer.scores(batch)) for batch in (one, other)]
    cuts = np.unique(np.concatenate(scores))
    shares = [1 - np.searchsorted(each, cuts, side="left") / len(each) for each in scores]
    seen = min(len(one), aim.draws)
    promises = [aim.promises(shares[0], shares[1], seen), aim.promises(shares[1], shares[0], seen)]
    swapped = int(promises[1].max() > promises[0].max())
    place = int(np.argmax(promises[swapped]))
    return Found(Above(scorer, float(cuts[place])), bool(swapped), float(promises[swapped][place]))


def _wilson(share: NDArray[np.float64], seen: int, z: float) -> NDArray[np.float64]:
    """One end of Wilson's interval: the upper one for z above 0."""
    middle = share + z * z / (2 * seen)
    reach = z * np.sqrt(share * (1 - share) / seen + (z / (2 * seen)) ** 2)
    ends: NDArray[np.float64] = np.clip((middle + reach) / (1 + z * z / seen), 0.0, 1.0)
    return ends
