"""Allocation: what part of an offer each measure and each choice gets, so that the worst column errs least.

Each aggregate is a column of the model in `split`, and so is the selection of private groups. Its error is taken at
the reference group of `linear`, relative to the magnitude it has there, and times its weight: a column of weight 3 is
to err a third as much, relatively, as one of weight 1.

*Model.* A share x of the offer gives measure m noise of size s_m/x with Laplace noise, s_m/√x with Gaussian noise. A
column rests on some measures, each with a factor; independent errors add up in squares, so the column's error is

    e_c = √(Σₘ a²_cm / xₘᵖ),    p = 2 or 1,

where a_cm is factor × s_m, divided by what the error is to be compared with. The split minimises max_c e_c over all
shares with Σ xₘ = 1. That is a convex problem: 1/xᵖ is convex, and so are sums and maxima of such terms.

*Solution.* For any multipliers λ ≥ 0 with Σ λ_c = 1, the weighted sum Σ λ_c e²_c is least for xₘ ∝ bₘ^(1/(p+1)) with
bₘ = Σ_c λ_c a²_cm, where it is (Σₘ bₘ^(1/(p+1)))^(p+1). That is below max_c e²_c for every split (weak duality), so it
tells how far from the best one is. The multipliers are found by λ_c ← λ_c · (e²_c)^(3(p+1)/2p), normalised. In the
logarithms of λ, the derivative of log e²_c is −p/(p+1) times a matrix PQ of two stochastic ones, whose eigenvalues lie
in [0, 1] (it is self-adjoint and positive for the weights λ_c e²_c); so those of a step lie in [−1/2, 1], and every
deviation but those that change no error shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import hypot, log
from statistics import NormalDist

from discreet.errors import UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.estimates import ROWS, Joint, Noise
from discreet.query.planner.draft import Draft, laws_of
from discreet.query.planner.request import CONFIDENCE

_NEAR = 1e-3
"""How far in rows a choice is taken to be off at least: one from a single value is never off, and needs a share too."""

_STEPS = 200
"""Far more than it takes; a split that isn't the best yet is as private as any."""

_GOOD = 1e-3
"""How far the worst squared error may be above the least, relative: the error itself is within half of that."""

_STRIDE = 1.5
"""Times the step that would settle columns that share no measure at once; it settles the others sooner."""

_UNITS = (*range(1, 21), 50, 100, 200, 500, 1_000)
"""How many units the smallest part may have; with the last, all parts are right to three digits."""

_ROUNDED = 1e-3
"""How far rounding may change a part, relative."""

_LEAST = 1e-9
"""Errors below this part of the largest are taken for as large."""

_WIDEST = 1_000
"""No part gets less than the greatest divided by this: its noise could be more than can be drawn."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """The noise and the choices that an offer of 1 buys.

    Args:
        measures: by measure, the noise it would get.
        ranks: by choice, how far in rows it would be from the best one.
        is_gaussian: whether the offer is ρ; else it is ε.
    """

    measures: Mapping[str, Noise]
    ranks: Mapping[str, float]
    is_gaussian: bool

    @property
    def power(self) -> int:
        """How the square of an error falls with what is paid: as 1/ε², or as 1/ρ."""
        return 1 if self.is_gaussian else 2

    @cached_property
    def laws(self) -> Mapping[str, Noise]:
        """The noise of each number that would be released."""
        return laws_of(self.measures.values())

    @cached_property
    def _measure_of(self) -> Mapping[str, str]:
        """The measure that each number belongs to."""
        return {one.name: name for name, noise in self.measures.items() for one in ir.numbers_of(noise.measure)}

    def errors(self, factors: Mapping[str, float]) -> dict[str, float]:
        """How far the noise of each measure would carry a sum of numbers, each times a factor."""
        found: dict[str, float] = {}
        for name, factor in factors.items():
            measure = self._measure_of[name]
            found[measure] = hypot(found.get(measure, 0.0), factor * self.error(measure))
        return found

    def error(self, measure: str) -> float:
        """How far the noise of a measure's number would reach, in the units of its values; as if it were continuous."""
        return self._errors[measure]

    @cached_property
    def _errors(self) -> Mapping[str, float]:
        outside = 1 - float(CONFIDENCE)
        reach = NormalDist().inv_cdf(1 - outside / 2) if self.is_gaussian else -log(outside)
        sizes = Joint.of(list(self.measures.values())).sizes  # all numbers of a vector have the same
        return {name: size * reach for name, size in zip(self.measures, sizes, strict=True)}


def shares(draft: Draft, prices: Prices) -> dict[str, Fraction]:
    """The share of each measure and choice, by name; they add up to 1.

    Raises:
        UnknownColumn: a weight is given to what isn't a column of the answer.
        Unsupported: a weight is given to a column without noise.
    """
    weights = _weights(draft)
    parts = [*prices.measures, *prices.ranks]
    if len(parts) <= 1:
        return dict.fromkeys(parts, Fraction(1))
    claims = [
        {name: weights.get(aggregate, 1.0) * size for name, size in claim.items()}
        for aggregate, claim in _claims(draft, prices)
    ]
    claimed = {name for claim in claims for name, size in claim.items() if size > 0}
    claims += [{name: prices.error(name) / ROWS} for name in prices.measures if name not in claimed]
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
    for name, estimator in ((name, one) for name, one in draft.estimators if one.parts):
        chosen = {part: prices.ranks[part] / ROWS for part in estimator.parts if part in prices.ranks}
        found = estimator.slopes(prices.laws, ROWS)
        if found is None:
            yield name, chosen
            continue
        yield name, {part: error / found.size for part, error in prices.errors(found.factors).items()}


def split(columns: Sequence[Mapping[str, float]], power: int) -> dict[str, Fraction]:
    """The shares that make the worst error of all columns least, to three digits.

    Args:
        columns: for each, the size of its error from each measure, if that got all of the offer; 0 or above. What
            adds nothing to any error still gets a little.
        power: p above: 2 for Laplace noise, 1 for Gaussian.

    Returns:
        By measure; positive, with sum 1 exactly. The same for the same arguments, and equal where they are equal.

    Examples:
        >>> split([{"n": 1.0}, {"n": 0.5, "s": 1.0}], power=2)
        {'n': Fraction(13, 28), 's': Fraction(15, 28)}
        >>> split([{"a": 1.0}, {"b": 2.0}, {"c": 1.0}], power=2)
        {'a': Fraction(1, 4), 'b': Fraction(1, 2), 'c': Fraction(1, 4)}
    """
    greatest = max(size for column in columns for size in column.values()) or 1.0
    squares = [{n: max(size / greatest, _LEAST) ** 2 for n, size in column.items()} for column in columns if column]
    multipliers = [1 / len(squares)] * len(squares)
    parts, _ = _best_for(squares, multipliers, power)
    step = _STRIDE * (power + 1) / power
    for _ in range(_STEPS):
        errors = _errors(squares, parts, power)
        greatest = max(errors)
        multipliers = [one * (error / greatest) ** step for one, error in zip(multipliers, errors, strict=True)]
        total = sum(multipliers)
        multipliers = [one / total for one in multipliers]
        parts, least = _best_for(squares, multipliers, power)
        if max(_errors(squares, parts, power)) <= least * (1 + _GOOD):
            break
    return _short(parts)


def worst(columns: Sequence[Mapping[str, float]], shares: Mapping[str, Fraction], power: int) -> float:
    """The worst error of all columns at some shares, in the model.

    Examples:
        >>> worst([{"a": 3.0}, {"b": 4.0}], {"a": Fraction(1, 2), "b": Fraction(1, 2)}, power=2)
        8.0
    """
    squares = [{name: size**2 for name, size in column.items()} for column in columns]
    return float(max(_errors(squares, {name: float(share) for name, share in shares.items()}, power)) ** 0.5)


def _best_for(
    squares: Sequence[Mapping[str, float]], multipliers: Sequence[float], power: int
) -> tuple[dict[str, float], float]:
    """The shares that make the weighted sum of squared errors least, and that sum."""
    weights: dict[str, float] = {}
    for column, multiplier in zip(squares, multipliers, strict=True):
        for name, square in column.items():
            weights[name] = weights.get(name, 0.0) + multiplier * square
    roots = {name: weight ** (1 / (power + 1)) for name, weight in weights.items()}
    total = sum(roots.values())
    floor = max(roots.values()) / _WIDEST
    return {name: max(root, floor) / total for name, root in roots.items()}, total ** (power + 1)


def _errors(squares: Sequence[Mapping[str, float]], parts: Mapping[str, float], power: int) -> list[float]:
    """The squared error of each column."""
    return [sum(square / parts[name] ** power for name, square in column.items()) for column in squares]


def _short(parts: Mapping[str, float]) -> dict[str, Fraction]:
    """Shares in whole numbers of one unit, the coarsest that will do, so that they are short and add up to 1."""
    smallest = min(parts.values())
    ratios = {name: part / smallest for name, part in parts.items()}
    for unit in _UNITS:
        units = {name: round(unit * ratio) for name, ratio in ratios.items()}
        if all(abs(units[name] / (unit * ratio) - 1) <= _ROUNDED for name, ratio in ratios.items()):
            break
    total = sum(units.values())
    return {name: Fraction(number, total) for name, number in units.items()}
