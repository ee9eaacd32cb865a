"""Measures and choices in words: what is released, how far one unit moves it, and what protects it."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.mechanisms import Gaussian, Quantile
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Noise, Selection
from discreet.query.request import CONFIDENCE
from discreet.query.words.wording import wording

_NAMES = {0: "least", 1: "greatest"}


def measure_in_words(noise: Noise) -> str:
    """A measure with what one unit does to it and the noise it gets."""
    moved = float(noise.step * noise.sensitivity.l1)
    mechanism = noise.mechanism
    if isinstance(mechanism, Gaussian):
        moved = float(noise.step) * float(noise.sensitivity.l2_squared) ** 0.5
        kind, width = "Gaussian, sigma", float(noise.step * mechanism.sigma)
        norm = "ℓ2"
    else:
        kind, width = "Laplace, scale", float(noise.step * mechanism.scale)
        norm = "ℓ1"
    name, many = _measure(noise.measure), "" if noise.number == 1 else f"the sum of {noise.number:,} noises: "
    return f"{name}: one unit moves it by at most {moved:,.6g} ({norm}); {many}{kind} {width:,.6g}; {mechanism.loss}"


def choices_in_words(draft: Draft) -> Iterator[tuple[str, str]]:
    """Each choice with its name: what it is chosen from, how good it is, and what it costs."""
    aggregates = {aggregate.name: aggregate for aggregate in draft.question.aggregates}
    of = {part: aggregates[name].argument for name, estimator in draft.estimators for part in estimator.parts}
    for selection in draft.selections:
        value = of[selection.pick.name]
        yield selection.pick.name, _choice(selection, "" if value is None else wording(value))


def _measure(measure: ir.Measure) -> str:
    """What is counted or added up."""
    match measure:
        case ir.Sum():
            return _sum(measure)
        case ir.DistinctValues(value=value):
            return f"number of different values of {wording(value)}"
        case _:
            return "number of units"


def _sum(measure: ir.Sum) -> str:
    """A sum in words."""
    if isinstance(measure.value, ir.Literal):
        return "number of rows"
    match measure.value:
        case ir.Call(
            function=ir.Function(name="if"), args=(ir.Call(function=ir.Function(name="is_null"), args=(value,)), *_)
        ):
            return f"number of rows with {wording(value)}"
    return f"sum of {wording(measure.value)}"


def _choice(selection: Selection, value: str) -> str:
    """A choice in words."""
    pick, size, loss = selection.pick, selection.measure.size, selection.mechanism.loss
    off = f"{selection.reach(CONFIDENCE):,.4g}"
    if not isinstance(selection.mechanism, Quantile):
        what = f"most frequent {value}" if pick.most == 1 else f"{pick.most} most frequent {value}"
        return f"{what}, of {size:,} public values: at most {off} rows rarer than the most frequent, at 95 %; {loss}"
    inside = float(selection.step * selection.mechanism.inset)
    what = f"quantile {float(pick.fraction or 0):.6g} of {value}"
    if inside:
        what = (
            f"{_NAMES[int(pick.fraction or 0)]} {value}, as an extreme quantile, some {inside:,.4g} rows from the end"
        )
    around = "" if selection.counting is None else f"; the rows around it, {selection.counting.loss}"
    return f"{what}, chosen from {size:,} values: at most {off} rows off in rank, at 95 %; {loss}{around}"
