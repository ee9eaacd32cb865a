"""Slopes: how far the noise of each measure moves an output, known before there is an answer.

A count or a sum moves by the noise itself, whatever the data. How far an average, a variance or a ratio moves depends
on the group. Errors of these are announced, and shares of an offer weighed, for one reference group, made of public
facts alone: it has `ROWS` rows, and the mean of whatever is added up lies at three quarters of its range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.query import ir
from discreet.query.estimates.associations import Association
from discreet.query.estimates.estimators import Estimator, Mean, Noises, Spread, Total
from discreet.query.estimates.intervals import Joint
from discreet.query.estimates.linear import LinearRatio, ratio_of, ratio_of_aggregate

ROWS = 1_000
"""The size of the reference group: errors of averages are announced for it, and shrink as the group grows."""

_NUDGE = 1_024
"""A measure is moved by one part in so many, up and down, to see how an estimate moves with it."""

_ROOTS = {ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}


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


def slopes_of(expr: ir.Expr, estimators: Mapping[str, Estimator], noises: Noises) -> Slopes | None:
    """The slopes of an output; None if they aren't known in advance.

    Args:
        expr: over released values.
        estimators: by aggregate name.
        noises: by measure; of any size, since slopes don't depend on it.
    """
    if isinstance(expr, ir.Released) and expr.name in estimators:
        return slopes_of_aggregate(estimators[expr.name], noises)
    ratio = ratio_of(expr, estimators)
    return None if ratio is None or ratio.is_constant else _of_ratio(ratio, noises)


def slopes_of_aggregate(estimator: Estimator, noises: Noises) -> Slopes | None:
    """The slopes of one aggregate; None if it rests on anything but noisy measures."""
    if not set(estimator.parts) <= noises.keys():
        return None
    if isinstance(estimator, Association):
        return Slopes(estimator.slopes(ROWS), rows=ROWS)
    ratio = ratio_of_aggregate(estimator)
    return _of_estimator(estimator, noises) if ratio is None else _of_ratio(ratio, noises)


def is_announced(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> bool:
    """Whether the error of an output can be told in advance, at the least for the reference group.

    That of a standard deviation can't, nor that of a correlation: they grow without bound as deviations shrink.
    """
    estimator = estimators.get(expr.name) if isinstance(expr, ir.Released) else None
    return not (isinstance(estimator, (Spread, Association)) and estimator.statistic in {*_ROOTS, ir.Statistic.CORR})


def magnitude(estimator: Estimator, noises: Noises) -> float:
    """What the error of an aggregate is compared with, for the reference group; above 0.

    A count is compared with `ROWS`; a sum with as many times half its terms' range; an average or a standard deviation
    with half the range; a variance with the square of that; anything else with what it is for that group.
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
        case _:
            value = estimator.estimate(_reference(estimator, noises), noises)
            return abs(float(value)) or 1.0 if isinstance(value, (int, float)) else 1.0


def _of_ratio(ratio: LinearRatio, noises: Noises) -> Slopes | None:
    """The slopes of a linear ratio are its factors; those of a ratio A/B are those of (A − tB)/B at its value t."""
    if ratio.is_linear:
        return Slopes({name: float(factor) for name, factor in ratio.numerator.factors.items()})
    names = tuple(dict.fromkeys((*ratio.numerator.factors, *ratio.denominator.factors)))
    group = {name: _reference_of(noises[name].measure) for name in names}
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
        rows=ROWS,
    )


def _of_estimator(estimator: Estimator, noises: Noises) -> Slopes | None:
    """The slopes of an estimate at the reference group, by central differences."""
    group = _reference(estimator, noises)
    factors = {}
    for name in estimator.parts:
        steps = max(abs(group[name]) // _NUDGE, 1)
        above, below = (estimator.estimate({**group, name: group[name] + move}, noises) for move in (steps, -steps))
        if not isinstance(above, (int, float)) or not isinstance(below, (int, float)):
            return None
        factors[name] = (above - below) / (2 * steps * float(noises[name].step))
    return Slopes(factors, rows=ROWS)


def _reference(estimator: Estimator, noises: Noises) -> dict[str, int]:
    """The measures of the reference group that an estimator uses."""
    return {name: _reference_of(noises[name].measure) for name in estimator.parts}


def _reference_of(measure: ir.Measure | ir.Vector) -> int:
    """The value of a measure for the reference group, in steps."""
    return ROWS * (measure.lo + 3 * measure.hi) // 4 if isinstance(measure, ir.Sum) else ROWS
