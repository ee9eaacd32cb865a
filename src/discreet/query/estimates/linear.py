"""How outputs move with the noise: linear combinations of noisy measures and ratios of two exactly, others by slopes.

`100.0 * SUM(a) / COUNT(*)`, `COUNT(*) - COUNT(x)` and `2 * AVG(x) + 1` are such combinations and ratios; for them the
joint law of the noise is known, and so is an interval that wastes nothing.

*Slopes* are known before there is an answer. A count or a sum moves by the noise itself, whatever the data. How far an
average, a variance or a ratio moves depends on the group. Errors of these are announced, and shares of an offer
weighed, for a reference group of `ROWS` rows, where the mean of what is added up lies at three quarters of its range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.estimates.associations import Association
from discreet.query.estimates.choices import ModeEstimator, QuantileEstimator
from discreet.query.estimates.estimators import Estimator, Interval, Linear, Noises, Noisy, OfNoRows, Total
from discreet.query.estimates.intervals import Joint, ratio_interval
from discreet.query.estimates.means import Mean, Spread
from discreet.query.ir import nullif_zero

ROWS = 1_000
"""The size of the reference group: errors of averages are announced for it, and shrink as the group grows."""

_NUDGE = 1_024
"""A measure is moved by one part in so many, up and down, to see how an estimate moves with it."""

_ROOTS = {ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}

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
        case None | OfNoRows() | Spread() | Association() | QuantileEstimator() | ModeEstimator():
            return None
        case _:
            raise _unknown(estimator)


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


# ── Slopes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Slopes:
    """How an output moves with the noise of the measures it rests on.

    Args:
        factors: what one unit of noise in each measure moves it by, in units of the measure's values.
        rows: the size of the group for which this holds; None if it holds for all.
    """

    factors: Mapping[str, float]
    rows: int | None = None

    def radius(self, noises: Noises, confidence: float) -> float:
        """Half the width of the output's interval, to first order.

        Args:
            noises: by measure.
            confidence: in (0, 1).
        """
        names = [name for name, factor in self.factors.items() if factor]
        if not names:
            return 0.0
        if len(names) == 1:
            return abs(self.factors[names[0]]) * float(noises[names[0]].radius(confidence))
        joint = Joint.of([noises[name] for name in names])
        return joint.radius([self.factors[name] for name in names], confidence)


def slopes_of(expr: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises, rows: int = ROWS) -> Slopes | None:
    """The slopes of an output; None if they aren't known in advance.

    Args:
        expr: over released values.
        estimators: by aggregate name.
        noises: by measure; of any size, since slopes don't depend on it.
        rows: of the reference group.
    """
    if isinstance(expr, ir.Released) and expr.name in estimators:
        return slopes_of_aggregate(estimators[expr.name], noises, rows)
    ratio = ratio_of(expr, estimators)
    return None if ratio is None or ratio.is_constant else _of_ratio(ratio, noises, rows)


def slopes_of_aggregate(estimator: Estimator, noises: Noises, rows: int = ROWS) -> Slopes | None:
    """The slopes of one aggregate; None if it rests on anything but noisy measures.

    Raises:
        Unsupported: nobody taught this how the estimator moves; no error is promised then.
    """
    match estimator:
        case QuantileEstimator() | ModeEstimator():
            return None
        case OfNoRows():
            return Slopes({})
        case Association():
            return Slopes(estimator.slopes(rows), rows=rows)
        case Spread():
            return _by_differences(estimator, noises, rows)
        case _:
            ratio = ratio_of_aggregate(estimator)  # which refuses what it doesn't know
            return None if ratio is None else _of_ratio(ratio, noises, rows)


def _unknown(estimator: Estimator) -> Unsupported:
    """That nothing is known of how an estimator moves with the noise."""
    return Unsupported(f"how far noise moves a {type(estimator).__name__} isn't known")


def is_announced(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> bool:
    """Whether the error of an output can be told in advance, at the least for the reference group.

    That of a standard deviation can't, nor that of a correlation: they grow without bound as deviations shrink.
    """
    estimator = estimators.get(expr.name) if isinstance(expr, ir.Released) else None
    return not (isinstance(estimator, (Spread, Association)) and estimator.statistic in {*_ROOTS, ir.Statistic.CORR})


def magnitude(estimator: Estimator, noises: Noises) -> float:
    """What the error of an aggregate is compared with, for the reference group; above 0.

    A count is compared with `ROWS`; a sum with as many times half its terms' range; an average or a standard deviation
    with half the range; a variance with the square of that; what is known without noise with 1.

    Raises:
        Unsupported: nobody taught this what it is compared with.
    """
    match estimator:
        case Total(measure=name):
            measure, step = noises[name].measure, float(noises[name].step)
            if not isinstance(measure, ir.Sum):
                return ROWS
            half = (measure.hi - measure.lo) / 2 or max(abs(measure.lo), abs(measure.hi), 1)
            return ROWS * step * half
        case Mean(lo=lo, hi=hi) | Spread(lo=lo, hi=hi):
            half = float(hi - lo) / 2 or 1.0
            is_square = isinstance(estimator, Spread) and estimator.statistic not in _ROOTS
            return half**2 if is_square else half
        case Association():
            return estimator.magnitude(ROWS)
        case OfNoRows():
            return 1.0
        case _:
            raise _unknown(estimator)


def _of_ratio(ratio: LinearRatio, noises: Noises, rows: int) -> Slopes | None:
    """The slopes of a linear ratio are its factors; those of a ratio A/B are those of (A − tB)/B at its value t."""
    if ratio.is_linear:
        return Slopes({name: float(factor) for name, factor in ratio.numerator.factors.items()})
    names = tuple(dict.fromkeys((*ratio.numerator.factors, *ratio.denominator.factors)))
    group = {name: _reference_of(noises[name].measure, rows) for name in names}
    top, bottom = ratio.numerator.at(group, noises), ratio.denominator.at(group, noises)
    if bottom == 0:
        return None
    value = top / bottom
    return Slopes(
        {
            name: (float(ratio.numerator.factors.get(name, 0)) - value * float(ratio.denominator.factors.get(name, 0)))
            / bottom
            for name in names
        },
        rows=rows,
    )


def _by_differences(estimator: Spread, noises: Noises, rows: int) -> Slopes | None:
    """The slopes of an estimate at the reference group, by central differences."""
    group = {name: _reference_of(noises[name].measure, rows) for name in estimator.parts}
    factors = {}
    for name in estimator.parts:
        steps = max(abs(group[name]) // _NUDGE, 1)
        above, below = (estimator.estimate({**group, name: group[name] + move}, noises) for move in (steps, -steps))
        if not isinstance(above, (int, float)) or not isinstance(below, (int, float)):
            return None
        factors[name] = (above - below) / (2 * steps * float(noises[name].step))
    return Slopes(factors, rows=rows)


def _reference_of(measure: ir.Measure | ir.Vector, rows: int) -> int:
    """The value of a measure for the reference group, in steps."""
    return rows * (measure.lo + 3 * measure.hi) // 4 if isinstance(measure, ir.Sum) else rows
