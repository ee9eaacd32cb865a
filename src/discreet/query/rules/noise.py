"""How much noise each measure gets: the offer, shared out; or the least offer that is accurate enough."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.errors import AccuracyUnreachable, UnknownColumn, Unsupported
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.draft import Draft, Mechanism, Noise

CONFIDENCE = 0.95
"""At which `within` is meant, and errors are announced."""

_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 2**20), Fraction(2**10)


def noise(draft: Draft) -> Draft:
    """Calibrate one mechanism per measure.

    ε is shared equally over the measures, and the shares add up to it (Dwork et al. 2006, Theorem 1 on sequential
    composition); so is ρ (Bun & Steinke 2016, Lemma 1.7). Given `within`, each measure gets the least ε with which
    its 95 % interval is narrow enough.

    Raises:
        AccuracyUnreachable: no ε up to 2¹⁰ is enough for `within`.
        UnknownColumn: `within` names a column that the answer doesn't have.
        Unsupported: `within` for a column that isn't a count or a sum.
    """
    if draft.request.within:
        mechanisms = _accurate(draft)
    else:
        shares = len(draft.measures)
        mechanisms = [_share(draft, sensitivity, shares) for sensitivity in draft.sensitivities]
    return replace(
        draft,
        noises=tuple(
            Noise(measure=measure, mechanism=mechanism)
            for measure, mechanism in zip(draft.measures, mechanisms, strict=True)
        ),
    )


def _share(draft: Draft, sensitivity: Sensitivity, shares: int) -> Mechanism:
    """A mechanism that costs an equal share of the offer."""
    if draft.request.rho is not None:
        return Gaussian.for_rho(sensitivity, draft.request.rho / shares)
    return Laplace.calibrate(sensitivity, (draft.request.epsilon or Fraction(0)) / shares)


def _accurate(draft: Draft) -> list[Mechanism]:
    """Mechanisms that cost least for the widths wanted; a measure that no width names gets the mean of the others."""
    widths = _widths(draft)
    epsilons = {
        measure.name: _least_epsilon(measure, sensitivity, widths[measure.name])
        for measure, sensitivity in zip(draft.measures, draft.sensitivities, strict=True)
        if measure.name in widths
    }
    other = sum(epsilons.values(), Fraction(0)) / len(epsilons)
    return [
        Laplace.calibrate(sensitivity, epsilons.get(measure.name, other))
        for measure, sensitivity in zip(draft.measures, draft.sensitivities, strict=True)
    ]


def _widths(draft: Draft) -> dict[str, Fraction]:
    """The half width wanted of each measure: the least, where several columns rest on it."""
    wanted = dict(draft.request.within)
    names = {output.name for output in draft.question.outputs}
    for name in wanted.keys() - names - {"*"}:
        raise UnknownColumn(f"within names {name!r}, which isn't a column of the answer")
    estimators = dict(draft.estimators)
    widths: dict[str, Fraction] = {}
    for output in draft.question.outputs:
        estimator = estimators.get(output.expr.name) if isinstance(output.expr, ir.Released) else None
        width = wanted.get(output.name, wanted.get("*"))
        if width is None or (estimator is None and output.name not in wanted):
            continue
        if estimator is None or estimator.total:
            raise Unsupported(
                f"within can be asked of counts and sums; how wide {output.name!r} is depends on its noisy answer",
                hint="ask with epsilon, and look at the plan's expected error",
            )
        widths[estimator.count] = min(width, widths.get(estimator.count, width))
    if not widths:
        raise Unsupported("within applies to counts and sums, and the answer has none")
    return widths


def _least_epsilon(measure: ir.Measure, sensitivity: Sensitivity, width: Fraction) -> Fraction:
    """The least ε, to three digits, whose interval is within `width`; rounded up, so that it is accurate enough."""
    steps = width / Fraction(2) ** (measure.grid if isinstance(measure, ir.Sum) else 0)
    low, high = _LEAST_EPSILON, _MOST_EPSILON
    if Laplace.calibrate(sensitivity, high).radius(CONFIDENCE) > steps:
        raise AccuracyUnreachable(f"no epsilon up to {high} brings the error within {float(width):g}")
    while high / low > Fraction(1001, 1000):
        middle = _short((low + high) / 2 if high / low < 4 else low * 2)  # noqa: PLR2004 — doubling first, then halving
        if not low < middle < high:
            break
        if Laplace.calibrate(sensitivity, middle).radius(CONFIDENCE) > steps:
            low = middle
        else:
            high = middle
    return high


def _short(epsilon: Fraction) -> Fraction:
    """ε in four significant decimal digits, so that costs can be read."""
    return Fraction(f"{float(epsilon):.4g}")
