"""Shares: what part of an offer each measure and each choice gets, so that the worst column errs least.

Each aggregate is a column of the model in `split`, and so is the selection of private groups. Its error is taken at
the reference group of `slopes`, relative to the magnitude it has there, and times its weight: a column of weight 3 is
to err a third as much, relatively, as one of weight 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log
from statistics import NormalDist

from discreet.errors import UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import ROWS, Joint, Noise, magnitude, slopes_of_aggregate
from discreet.query.request import CONFIDENCE
from discreet.query.sharing.split import split

_NEAR = 1e-3
"""How far in rows a choice is taken to be off at least: one from a single value is never off, and needs a share too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What an offer of 1 buys.

    Args:
        noises: by measure, the noise it would get.
        ranks: by choice, how far in rows it would be from the best one.
        is_gaussian: whether the offer is ρ; else it is ε.
    """

    noises: Mapping[str, Noise]
    ranks: Mapping[str, float]
    is_gaussian: bool

    @property
    def power(self) -> int:
        """How the square of an error falls with what is paid: as 1/ε², or as 1/ρ."""
        return 1 if self.is_gaussian else 2

    def error(self, measure: str) -> float:
        """How far the noise of a measure would reach, in the units of its values; as if it were continuous."""
        (size,) = Joint.of([self.noises[measure]]).sizes
        outside = 1 - float(CONFIDENCE)
        return size * (NormalDist().inv_cdf(1 - outside / 2) if self.is_gaussian else -log(outside))


def shares(draft: Draft, prices: Prices) -> dict[str, Fraction]:
    """The share of each measure and choice, by name; they add up to 1.

    Raises:
        UnknownColumn: a weight is given to what isn't a column of the answer.
        Unsupported: a weight is given to a column without noise.
    """
    weights = _weights(draft)
    if not prices.noises and not prices.ranks:
        return {}
    claims = [
        {name: weights.get(aggregate, 1.0) * size for name, size in claim.items()}
        for aggregate, claim in _claims(draft, prices)
    ]
    claimed = {name for claim in claims for name, size in claim.items() if size > 0}
    claims += [{name: prices.error(name) / ROWS} for name in prices.noises if name not in claimed]
    claims += [{name: max(rank, _NEAR) / ROWS} for name, rank in prices.ranks.items() if name not in claimed]
    return split(claims, prices.power)


def check_columns(draft: Draft, names: Iterable[str], what: str) -> None:
    """Refuse names that aren't columns with noise; `"*"` stands for all of them.

    Raises:
        UnknownColumn: the answer has no such column.
        Unsupported: it has no noise.
    """
    outputs = {output.name: output for output in draft.question.outputs}
    for name in names:
        if name == "*":
            continue
        if name not in outputs:
            raise UnknownColumn(
                f"{what} names {name!r}, which isn't a column of the answer", hint=f"it has {', '.join(outputs)}"
            )
        if not ir.released_names(outputs[name].expr) & dict(draft.estimators).keys():
            raise Unsupported(f"{what} names {name!r}, which has no noise")


def _weights(draft: Draft) -> dict[str, float]:
    """The weight of each aggregate: the greatest of the columns that it is in."""
    given = dict(draft.request.weights)
    check_columns(draft, given, "weights")
    weights: dict[str, float] = {}
    for output in draft.question.outputs:
        weight = float(given.get(output.name, given.get("*", 1)))
        for name in ir.released_names(output.expr):
            weights[name] = max(weight, weights.get(name, weight))
    return weights


def _claims(draft: Draft, prices: Prices) -> Iterator[tuple[str, dict[str, float]]]:
    """For each aggregate the relative errors that it would have from each part, if that got the whole offer."""
    for name, estimator in draft.estimators:
        chosen = {part: prices.ranks[part] / ROWS for part in estimator.parts if part in prices.ranks}
        found = slopes_of_aggregate(estimator, prices.noises)
        if found is None:
            yield name, chosen
            continue
        size = magnitude(estimator, prices.noises)
        yield name, {part: abs(factor) * prices.error(part) / size for part, factor in found.factors.items()}
