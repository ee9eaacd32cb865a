"""Forms: results of arithmetic on released numbers, read as a linear combination of noisy measures, or a ratio of two.

`100.0 * SUM(a) / COUNT(*)`, `COUNT(*) - COUNT(x)` and `2 * AVG(x) + 1` are such; for them the joint law of the noise is
known, and so is an interval that wastes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, expm1, sqrt

from discreet.mechanisms import Gaussian
from discreet.query import ir
from discreet.query.estimators import Estimator, Mean, Noises, Noisy, Total
from discreet.query.estimators.base import scaled
from discreet.query.noise import Noise
from discreet.query.uncertainty.intervals import Interval, Joint
from discreet.query.uncertainty.ratios import ratio_interval


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
class Form:
    """A ratio of two linear combinations.

    Args:
        above: the numerator.
        below: the denominator; 1 where there is none.
        ends: the least and the greatest value that it can have, where bounds tell.
    """

    above: Linear
    below: Linear = _ONE
    ends: tuple[Fraction, Fraction] | None = None

    @property
    def is_constant(self) -> bool:
        """Whether it holds no noise."""
        return not self.above.factors and not self.below.factors

    @property
    def is_linear(self) -> bool:
        """Whether nothing noisy is divided by."""
        return self.below == _ONE

    def affine(self, factor: Fraction, constant: Fraction = Fraction(0)) -> Form:
        """This times a factor, plus a constant."""
        ends = None if self.ends is None else sorted(factor * end + constant for end in self.ends)
        above = self.above.times(factor).plus(self.below.times(constant))
        return Form(above, self.below, None if ends is None else (ends[0], ends[1]))

    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval for the exact value: from the noise's own quantiles, or by Fieller's construction.

        Args:
            noisy: one group's released integers.
            noises: the mechanisms.
            confidence: in (0, 1).
        """
        names = tuple(dict.fromkeys((*self.above.factors, *self.below.factors)))
        if self.is_linear:
            middle, half = self.above.at(noisy, noises), self.radius(noises, confidence)
            return Interval(middle - half, middle + half)
        uppers, lowers = ([float(linear.factors.get(name, 0)) for name in names] for linear in (self.above, self.below))
        return ratio_interval(
            Joint.of([noises[name] for name in names]),
            (self.above.at(noisy, noises), uppers),
            (self.below.at(noisy, noises), lowers),
            confidence,
            lo=None if self.ends is None else float(self.ends[0]),
            hi=None if self.ends is None else float(self.ends[1]),
        )

    def radius(self, noises: Noises, confidence: float) -> float:
        """Half the width of the interval of a linear form."""
        if len(self.above.factors) == 1:
            ((name, factor),) = self.above.factors.items()
            return abs(float(factor)) * float(noises[name].radius(confidence))
        joint = Joint.of([noises[name] for name in self.above.factors])
        return joint.radius([float(factor) for factor in self.above.factors.values()], confidence)


def form_of(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> Form | None:
    """The expression as a form; None if it isn't one.

    Args:
        expr: over released values.
        estimators: by aggregate name.
    """
    match expr:
        case ir.Released(name=name):
            return form_of_aggregate(estimators.get(name))
        case ir.Literal(value=int() | Fraction() as value) if not isinstance(value, bool):
            return Form(Linear(constant=Fraction(value)))
        case ir.Call(function=ir.Function(name="real"), args=(arg,)):
            return form_of(arg, estimators)
        case ir.Call(
            function=ir.Function(name="if"),
            args=(
                ir.Call(function=ir.Function(name="eq"), args=(one, ir.Literal(value=0))),
                ir.Literal(value=None),
                other,
            ),
        ) if _bare(one) == _bare(other):  # NULLIF(x, 0)
            return form_of(other, estimators)
        case ir.Call(function=function, args=args):
            parts = [form_of(arg, estimators) for arg in args]
            known = [part for part in parts if part is not None]
            return _combined(function.name, known) if len(known) == len(parts) else None
        case _:
            return None


def form_of_aggregate(estimator: Estimator | None) -> Form | None:
    """An aggregate as a form; None if it isn't one."""
    match estimator:
        case Total(measure=measure):
            return Form(Linear({measure: Fraction(1)}))
        case Mean(total=total, count=count, centre=centre, lo=lo, hi=hi):
            above = Linear({total: Fraction(1)}).plus(Linear({count: centre}))
            return Form(above, Linear({count: Fraction(1)}), (lo, hi))
        case _:
            return None


def _bare(expr: ir.Expr) -> ir.Expr:
    """The expression without a cast to real numbers around it."""
    match expr:
        case ir.Call(function=ir.Function(name="real"), args=(arg,)):
            return arg
        case _:
            return expr


def _combined(name: str, parts: list[Form]) -> Form | None:
    """A function of forms, if it is a form."""
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


def _sum(one: Form, other: Form) -> Form | None:
    """The sum, if both are over the same denominator, or one is a constant."""
    if other.is_constant:
        return one.affine(Fraction(1), other.above.constant)
    if one.is_constant:
        return _sum(other, one)
    return Form(one.above.plus(other.above), one.below) if one.below == other.below else None


def _product(one: Form, other: Form) -> Form | None:
    """The product with a constant, or with the denominator."""
    if other.is_constant:
        return one.affine(other.above.constant)
    if other.is_linear and other.above == one.below:
        return Form(one.above)
    return None


def _quotient(one: Form, other: Form) -> Form | None:
    """The quotient, if both are over the same denominator, or the divisor is a constant."""
    if other.is_constant:
        constant = other.above.constant
        return None if constant == 0 else one.affine(1 / constant)
    return Form(one.above, other.above) if one.below == other.below else None


def deviation(expr: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises) -> float | None:
    """The standard deviation of the noise in a count, a sum or a linear combination of them; None for anything else.

    The noises of a plan's measures are independent, so their variances add up.

    Args:
        expr: over released values.
        estimators: by aggregate name.
        noises: by measure.
    """
    form = form_of(expr, estimators)
    if form is None or form.is_constant or not form.is_linear:
        return None
    return sqrt(sum((float(factor) * _deviation(noises[name])) ** 2 for name, factor in form.above.factors.items()))


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
