"""The split: how an offer is shared over what is measured, so that the worst column errs least.

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

from collections.abc import Mapping, Sequence
from fractions import Fraction

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
