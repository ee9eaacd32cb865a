"""Selected groups: of the draws of noise that show a group, its intervals hold in as many as they say.

Nothing is drawn: the noise of the number of units is enumerated from the threshold on, that of a sum taken at the
middles of `STRATA` equally probable parts, which is off by one part at each end of an interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import copysign, log
from typing import Any

import pytest

from discreet.gateway.answers import evaluate, interval_of
from discreet.mechanisms import Gaussian, Laplace, Threshold
from discreet.privacy import ADD_REMOVE, Budget, Sensitivity
from discreet.query import ir
from discreet.query.estimates import Mechanism, Noise, Window
from discreet.query.planner import Draft, Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.pmf import gaussian_pmf, laplace_pmf
from support.reference import answer

STRATA = 60
FINE = 10_000
"""A noise with a scale of more steps is, for these tests, one without steps."""

NEGLIGIBLE = 1e-6
"""Draws that are rarer, in sum, aren't looked at."""

DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100, delta="0.1"), ledger="unused", adjacency=ADD_REMOVE
)
OFFERS = pytest.mark.parametrize(
    "offer",
    [{"epsilon": 1, "delta": "1e-6"}, {"epsilon": "0.2", "delta": "1e-4"}, {"rho": "0.1", "delta": "1e-6"}],
    ids=["laplace", "much laplace", "gaussian"],
)


def level(sql: str, **offer: Any) -> Level:
    """The plan of a question of one column, by private groups; whatever can use the number of units does."""
    asked = question(f"SELECT code, {sql} AS x FROM people GROUP BY code", TABLES)
    return make_plan(asked, Request.of(**offer), DATASET, in_cells=False).levels[0]


def law(noise: Mechanism) -> Mapping[int, float]:
    """The probabilities of a noise, but for the rarest."""
    size = float(noise.sigma if isinstance(noise, Gaussian) else noise.scale)
    found = (gaussian_pmf if isinstance(noise, Gaussian) else laplace_pmf)(size, reach=int(45 * size) + 40)
    return {n: chance for n, chance in found.items() if chance > 0}


def shown(threshold: Threshold, units: int) -> Iterator[tuple[int, float]]:
    """Each noisy number that shows a group of so many units, with its share of the draws that do."""
    seen = {units + n: chance for n, chance in law(threshold.noise).items() if units + n >= threshold.value}
    whole, left = sum(seen.values()), 1.0
    for noisy, chance in sorted(seen.items()):
        if left < NEGLIGIBLE:
            return
        left -= chance / whole
        yield noisy, chance / whole


def parts(noise: Mechanism) -> list[int]:
    """The middles of equally probable parts of a noise; of one on a fine grid, those of the noise without a grid."""
    if isinstance(noise, Laplace) and noise.scale > FINE:
        middles = [(part + 0.5) / STRATA - 0.5 for part in range(STRATA)]
        return [round(copysign(float(noise.scale) * log(1 - 2 * abs(each)), each)) for each in middles]
    found: list[int] = []
    passed = 0.0
    for n, chance in sorted(law(noise).items()):
        passed += chance
        while len(found) < STRATA and passed >= (len(found) + 0.5) / STRATA:
            found.append(n)
    return found


def coverage(draft: Draft, exact: Mapping[str, int], *, usual: Draft | None = None) -> float:
    """The share of the draws that show a group in which its interval holds the exact value.

    Args:
        draft: of the question.
        exact: what is counted and added up in the group.
        usual: makes the intervals, if another does.
    """
    selector, threshold = draft.selector, draft.threshold
    assert selector is not None
    assert threshold is not None
    expr = draft.question.outputs[-1].expr
    truth = float(evaluate(expr, {name: each.estimate(exact, draft.laws) for name, each in draft.estimators}))
    others = {noise.measure.name: parts(noise.mechanism) for noise in draft.noises if noise.measure.name != selector}
    rest = [
        {
            name: exact[name] + noises[run * step % STRATA]
            for (name, noises), step in zip(others.items(), (1, 23), strict=False)
        }
        for run in range(STRATA if others else 1)
    ]
    held, rule = 0.0, interval_of(usual or draft, expr, 0.95)
    for noisy, chance in shown(threshold, exact[selector]):
        for each in rest:
            one = rule({selector: noisy, **each})
            assert one is not None
            held += chance * (one.lo <= truth <= one.hi) / len(rest)
    return held


@OFFERS
@pytest.mark.parametrize("excess", [-1000, -12, -6, -3, -1, 0, 1, 3, 10, 40])
def test_counts_hold_however_near_the_threshold_they_are(excess: int, offer: dict[str, Any]) -> None:
    """Of one unit as of many: 95 %."""
    draft = level("COUNT(*)", **offer).draft
    assert draft.threshold is not None
    assert draft.selector is not None
    units = max(1, draft.threshold.value + excess)
    assert coverage(draft, {draft.selector: units}) >= 0.95


@pytest.mark.parametrize(
    ("sql", "excess"),
    [
        *product(["AVG(CASE WHEN married THEN 1 ELSE 0 END)", "2 * COUNT(*) + 1"], [-1000, -5, 0, 4]),
        ("VAR_POP(CASE WHEN married THEN 1 ELSE 0 END)", 0),
    ],
)
def test_what_uses_the_number_of_units_holds_too(sql: str, excess: int) -> None:
    """Not in less than 94 % of the draws, by these pairs."""
    plan = level(sql, epsilon=2, delta="1e-4")
    assert plan.draft.threshold is not None
    assert plan.draft.selector is not None
    units = max(1, plan.draft.threshold.value + excess)
    rows = [{"code": 7, "married": row % 3 == 0} for row in range(units)]
    exact = answer(plan.exact, {"people": rows}, lambda *_: 0)[(7,)]
    assert exact[plan.draft.selector] == units
    assert any(plan.draft.selector in estimator.parts for _, estimator in plan.draft.estimators)
    assert coverage(plan.draft, exact) >= 0.94


@OFFERS
def test_intervals_that_know_of_no_threshold_are_found_out(offer: dict[str, Any]) -> None:
    """Those of groups of public keys hold in far fewer of the draws that show a group below the threshold."""
    draft = level("COUNT(*)", **offer).draft
    assert draft.threshold is not None
    assert draft.selector is not None
    exact = {draft.selector: max(1, draft.threshold.value // 2)}
    assert coverage(draft, exact, usual=replace(draft, threshold=None)) < 0.6


@OFFERS
def test_far_above_the_threshold_nothing_changes(offer: dict[str, Any]) -> None:
    """A count keeps its ends, an average hardly loses width."""
    for sql, most in [("COUNT(*)", 1.0), ("AVG(age)", 1.02)]:
        draft = level(sql, **offer).draft
        assert draft.threshold is not None
        assert draft.selector is not None
        noisy = {noise.measure.name: 0 for noise in draft.noises} | {draft.selector: 50 * draft.threshold.value}
        expr = draft.question.outputs[-1].expr
        one, usual = (interval_of(each, expr, 0.95)(noisy) for each in (draft, replace(draft, threshold=None)))
        assert one is not None
        assert usual is not None
        assert usual.hi - usual.lo <= one.hi - one.lo <= most * (usual.hi - usual.lo)


@pytest.mark.parametrize(
    "noise",
    [
        Laplace(Fraction(3), Sensitivity.scalar(1)),
        Gaussian(Fraction(1, 2), Sensitivity.scalar(1)),
        Gaussian(Fraction(7), Sensitivity.scalar(1)),
    ],
    ids=str,
)
def test_the_least_number_is_too_low_rather_than_too_high(noise: Mechanism) -> None:
    """Of all numbers that would be seen so large in the stated share of draws, it is at most the least."""
    threshold = Threshold(noise, l0=1, linf=1, delta=Fraction(1, 10**5))
    measured = Noise(measure=ir.Units(name="u"), mechanism=noise)
    chances = law(noise)

    def tail(least: int) -> float:
        return sum(chance for n, chance in chances.items() if n >= least)

    for noisy in range(threshold.value, threshold.value + 40):
        for outside in (0.2, 0.025, 1e-4):
            true = min(
                units for units in range(1, noisy + 1) if tail(noisy - units) >= outside * tail(threshold.value - units)
            )
            found = Window.reaching(threshold, "u", measured, noisy).lower(outside)
            assert found is not None
            assert true - 2 <= found <= true
