"""Margins: the expressions DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_STDDEV inside of others, and their deviations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, expm1, sqrt
from typing import TYPE_CHECKING

from discreet.mechanisms import Gaussian
from discreet.query import ir
from discreet.query.estimators import Estimator, Noises
from discreet.query.uncertainty.linear import form_of

if TYPE_CHECKING:
    from discreet.query.draft import Noise


def margins(expr: ir.Expr) -> Iterator[ir.Margin]:
    """The margins in an expression, from left to right, with repetitions."""
    if isinstance(expr, ir.Margin):
        yield expr
    elif isinstance(expr, ir.Call):
        for arg in expr.args:
            yield from margins(arg)


def margins_of(question: ir.Question) -> tuple[ir.Margin, ...]:
    """The margins that an answer needs, each once."""
    shown = [output.expr for output in question.outputs] + [order.expr for order in question.order]
    used = shown if question.having is None else [*shown, question.having]
    return tuple(dict.fromkeys(margin for expr in used for margin in margins(expr)))


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
