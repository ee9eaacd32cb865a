"""Linear combinations of noisy measures, and ratios of two, as arithmetic on released numbers makes them.

`100.0 * SUM(a) / COUNT(*)`, `COUNT(*) - COUNT(x)` and `2 * AVG(x) + 1` are such; for them the joint law of the noise is
known, and so is an interval that wastes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, expm1, sqrt

from discreet.mechanisms import Gaussian
from discreet.query import ir
from discreet.query.estimates.estimators import Estimator, Mean, Noises, Noisy, OfNoRows, Total, scaled
from discreet.query.estimates.intervals import Interval, Joint, ratio_interval
from discreet.query.estimates.noise import Noise
from discreet.query.ir import nullif_zero


@dataclass(frozen=True, slots=True)
class Linear:
    """A constant plus measures, each with a factor.

    Args:
        factors: by measure, in the units of its values.
        constant: what is added.
    """

    factors: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> Linear:
        """All of it times a number."""
        return Linear({name: factor * one for name, one in self.factors.items()}, factor * self.constant)

    def plus(self, other: Linear) -> Linear:
        """The sum of two; factors that cancel are left out."""
        names = dict.fromkeys((*self.factors, *other.factors))
        sums = {name: self.factors.get(name, Fraction(0)) + other.factors.get(name, Fraction(0)) for name in names}
        return Linear({name: one for name, one in sums.items() if one}, self.constant + other.constant)

    def at(self, noisy: Noisy, noises: Noises) -> float:
        """Its value for one group."""
        return float(self.constant) + sum(
            float(factor) * scaled(name, noisy, noises) for name, factor in self.factors.items()
        )


_ONE = Linear(constant=Fraction(1))


@dataclass(frozen=True, slots=True)
class LinearRatio:
    """A ratio of two linear combinations.

    Args:
        numerator: what is divided.
        denominator: what it is divided by; 1 where there is none.
        ends: the least and the greatest value that it can have, where bounds tell.
    """

    numerator: Linear
    denominator: Linear = _ONE
    ends: tuple[Fraction, Fraction] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The measures used."""
        return tuple(dict.fromkeys((*self.numerator.factors, *self.denominator.factors)))

    @property
    def is_constant(self) -> bool:
        """Whether it holds no noise."""
        return not self.numerator.factors and not self.denominator.factors

    @property
    def is_linear(self) -> bool:
        """Whether nothing noisy is divided by."""
        return self.denominator == _ONE

    def affine(self, factor: Fraction, constant: Fraction = Fraction(0)) -> LinearRatio:
        """This times a factor, plus a constant."""
        ends = None if self.ends is None else sorted(factor * end + constant for end in self.ends)
        numerator = self.numerator.times(factor).plus(self.denominator.times(constant))
        return LinearRatio(numerator, self.denominator, None if ends is None else (ends[0], ends[1]))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval for the exact value: from the noise's own quantiles, or by Fieller's construction.

        Args:
            noisy: one group's released integers.
            noises: the mechanisms.
            confidence: in (0, 1).
        """
        names = self.parts
        if self.is_linear:
            middle, half = self.numerator.at(noisy, noises), self.radius(noises, confidence)
            return Interval(middle - half, middle + half)
        uppers, lowers = (
            [float(linear.factors.get(name, 0)) for name in names] for linear in (self.numerator, self.denominator)
        )
        return ratio_interval(
            Joint.of([noises[name] for name in names]),
            (self.numerator.at(noisy, noises), uppers),
            (self.denominator.at(noisy, noises), lowers),
            confidence,
            lo=None if self.ends is None else float(self.ends[0]),
            hi=None if self.ends is None else float(self.ends[1]),
        )

    def is_defined(self, noisy: Noisy, noises: Noises, confidence: float) -> bool:
        """Whether the noise can't explain a denominator of 0; of one that is 0 it errs with 1 − confidence at most."""
        factors = [float(factor) for factor in self.denominator.factors.values()]
        joint = Joint.of([noises[name] for name in self.denominator.factors])
        return bool(factors) and joint.beyond(factors, abs(self.denominator.at(noisy, noises))) < 1 - confidence

    def radius(self, noises: Noises, confidence: float) -> float:
        """Half the width of the interval where nothing noisy is divided by."""
        if len(self.numerator.factors) == 1:
            ((name, factor),) = self.numerator.factors.items()
            return abs(float(factor)) * float(noises[name].radius(confidence))
        joint = Joint.of([noises[name] for name in self.numerator.factors])
        return joint.radius([float(factor) for factor in self.numerator.factors.values()], confidence)


def ratio_of(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> LinearRatio | None:
    """The expression as a ratio of linear combinations; None if it isn't one.

    Args:
        expr: over released values.
        estimators: by aggregate name.
    """
    match expr:
        case ir.Released(name=name):
            return ratio_of_aggregate(estimators.get(name))
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


def ratio_of_aggregate(estimator: Estimator | None) -> LinearRatio | None:
    """An aggregate as a ratio of linear combinations; None if it isn't one."""
    match estimator:
        case Total(measure=measure):
            return LinearRatio(Linear({measure: Fraction(1)}))
        case OfNoRows(is_count=True):
            return LinearRatio(Linear())
        case Mean(total=total, count=count, centre=centre, lo=lo, hi=hi):
            numerator = Linear({total: Fraction(1)}).plus(Linear({count: centre}))
            return LinearRatio(numerator, Linear({count: Fraction(1)}), (lo, hi))
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
    return (
        LinearRatio(one.numerator.plus(other.numerator), one.denominator)
        if one.denominator == other.denominator
        else None
    )


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
    return sqrt(
        sum((float(factor) * _deviation(noises[name])) ** 2 for name, factor in ratio.numerator.factors.items())
    )


def _deviation(noise: Noise) -> float:
    """The standard deviation of one measure's noise, in the units of its values.

    Discrete Laplace noise of scale b has variance 2 p/(1 − p)² with p = exp(−1/b) (Inusah & Kozubowski 2006). That of a
    discrete Gaussian is at most sigma², and less by a factor that no float64 can tell once sigma is above 2
    (Canonne, Kamath & Steinke 2020, Corollary 9).
    """
    mechanism = noise.mechanism
    if isinstance(mechanism, Gaussian):
        return float(noise.step * mechanism.sigma) * sqrt(noise.number)
    rate = 1 / float(mechanism.scale)
    return float(noise.step) * sqrt(2 * noise.number * exp(-rate)) / -expm1(-rate)
