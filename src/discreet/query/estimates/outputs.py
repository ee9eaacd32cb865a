"""Outputs: what is known of an expression over aggregates before it is answered.

Whether it is a linear combination or a ratio of measures, which parts of it have intervals, how it moves with the
noise, and between which numbers it lies by what is declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf, sqrt

from discreet.query import ir
from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.linear import ROWS, Linear, LinearRatio, Slopes
from discreet.query.estimates.noise import Noises
from discreet.query.ir import nullif_zero


def ratio_of(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> LinearRatio | None:
    """The expression as a ratio of linear combinations; None if it isn't one.

    Args:
        expr: over released values.
        estimators: by aggregate name.
    """
    match expr:
        case ir.Released(name=name):
            return estimators[name].ratio if name in estimators else None
        case ir.Literal(value=int() | Fraction() as value) if not isinstance(value, bool):
            return LinearRatio(Linear(constant=Fraction(value)))
        case ir.Call(function=ir.Function(name="real"), args=(arg,)):
            return ratio_of(arg, estimators)
        case ir.Call() if (divisor := nullif_zero(expr)) is not None:
            return ratio_of(divisor, estimators)
        case ir.Call(function=function, args=args):
            parts = [ratio_of(arg, estimators) for arg in args]
            known = [part for part in parts if part is not None]
            return _combined(function.name, known) if len(known) == len(parts) else None
        case _:
            return None


def parts_with_intervals(
    expr: ir.Expr, estimators: Mapping[str, Estimator]
) -> Iterator[tuple[ir.Expr, Estimator | LinearRatio]]:
    """The largest parts of an expression whose intervals are known, from left to right, with what knows them."""
    if isinstance(expr, ir.Released) and expr.name in estimators:
        yield expr, estimators[expr.name]
    elif (ratio := ratio_of(expr, estimators)) is not None:
        yield from () if ratio.is_constant else ((expr, ratio),)
    elif isinstance(expr, ir.Call):
        for arg in expr.args:
            yield from parts_with_intervals(arg, estimators)


def _combined(name: str, parts: list[LinearRatio]) -> LinearRatio | None:
    """A function of such ratios, if it is one itself."""
    match name, parts:
        case "negate", [one]:
            return one.affine(Fraction(-1))
        case "add", [one, other]:
            return _sum(one, other)
        case "subtract", [one, other]:
            return _sum(one, other.affine(Fraction(-1)))
        case "multiply", [one, other]:
            return _product(one, other) or _product(other, one)
        case "divide", [one, other]:
            return _quotient(one, other)
        case _:
            return None


def _sum(one: LinearRatio, other: LinearRatio) -> LinearRatio | None:
    """The sum, if both are over the same denominator, or one is a constant."""
    if other.is_constant:
        return one.affine(Fraction(1), other.numerator.constant)
    if one.is_constant:
        return _sum(other, one)
    if one.denominator != other.denominator:
        return None
    return LinearRatio(one.numerator.plus(other.numerator), one.denominator)


def _product(one: LinearRatio, other: LinearRatio) -> LinearRatio | None:
    """The product with a constant, or with the denominator."""
    if other.is_constant:
        return one.affine(other.numerator.constant)
    if other.is_linear and other.numerator == one.denominator:
        return LinearRatio(one.numerator)
    return None


def _quotient(one: LinearRatio, other: LinearRatio) -> LinearRatio | None:
    """The quotient, if both are over the same denominator, or the divisor is a constant."""
    if other.is_constant:
        constant = other.numerator.constant
        return None if constant == 0 else one.affine(1 / constant)
    return LinearRatio(one.numerator, other.numerator) if one.denominator == other.denominator else None


def deviation(expr: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises) -> float | None:
    """The standard deviation of the noise in a count, a sum or a linear combination of them; None for anything else.

    The noises of a plan's measures are independent, so their variances add up.

    Args:
        expr: over released values.
        estimators: by aggregate name.
        noises: by measure.
    """
    ratio = ratio_of(expr, estimators)
    if ratio is None or ratio.is_constant or not ratio.is_linear:
        return None
    return sqrt(sum((float(factor) * noises[name].deviation) ** 2 for name, factor in ratio.numerator.factors.items()))


def slopes_of(expr: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises, rows: int = ROWS) -> Slopes | None:
    """The slopes of an output; None if they aren't known in advance.

    Args:
        expr: over released values.
        estimators: by aggregate name.
        noises: by measure; of any size, since slopes don't depend on it.
        rows: of the reference group.
    """
    if isinstance(expr, ir.Released) and expr.name in estimators:
        return estimators[expr.name].slopes(noises, rows)
    ratio = ratio_of(expr, estimators)
    return None if ratio is None or ratio.is_constant else ratio.slopes(noises, rows)


def declared_ends(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> tuple[float, float] | None:
    """The least and the greatest number that an output can be; of a count 0 and infinity. None if nothing says so.

    Of averages and ratios these are what bounds allow, of a spread the most that values within bounds can be spread, of
    a quantile the bounds themselves. A ratio that nothing bounds can be anything. Sums have none, as nobody knows
    how many rows they are over.

    Args:
        expr: of the output, over released values.
        estimators: of its aggregates, by name.
    """
    if not expr.type.kind.is_number:
        return None
    if isinstance(expr, ir.Released) and expr.name in estimators:
        own = estimators[expr.name].ends(expr.type)
        if own is not None:
            return own
    ratio = ratio_of(expr, estimators)
    if ratio is None or ratio.is_linear:
        return None
    return (-inf, inf) if ratio.ends is None else (float(ratio.ends[0]), float(ratio.ends[1]))
