"""Arithmetic on released numbers is read as the linear combination or the ratio that it is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.gateway.answers import evaluate, interval_of
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.estimates import ratio_of
from discreet.query.planner import Draft, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES

DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", analysts={}, adjacency=ADD_REMOVE
)
LINEAR = [
    "COUNT(*)",
    "-COUNT(*) + 5",
    "3 * (COUNT(*) - COUNT(age)) / 4",
    "SUM(age) - COUNT(*) * 2.5 + SUM(age)",
    "COUNT(*) * 1.0",
    "COUNT(*) / 2 + COUNT(*) / 4",
]
RATIOS = [
    "SUM(age) / COUNT(*)",
    "100.0 * SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) / COUNT(*)",
    "1 - 2 * SUM(age) / NULLIF(SUM(income), 0)",
    "AVG(age)",
    "(AVG(age) - 32) / 1.8",
    "SUM(age) / COUNT(*) + SUM(income) / COUNT(*)",
    "5 / COUNT(*)",
    "(SUM(age) / COUNT(*)) / (SUM(income) / COUNT(*))",
]
OTHERS = [
    "COUNT(*) * COUNT(age)",
    "AVG(age) - AVG(income)",
    "SUM(age) / COUNT(*) + SUM(age) / COUNT(age)",
    "ROUND(SUM(age) / COUNT(*))",
    "SQRT(COUNT(*))",
    "VAR_POP(age)",
    "COUNT(*) / 0",
    "CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END",
    "NULLIF(COUNT(*), 1)",
]
NUMBERS = st.integers(50, 5_000)


def draft(sql: str) -> Draft:
    """The plan of a question of one column, whose ratios stay ratios of numbers that are measured apart."""
    asked = question(f"SELECT {sql} AS x FROM people", TABLES)
    return make_plan(asked, Request.of(epsilon=1), DATASET, as_written=True, in_cells=False).levels[0].draft


@pytest.mark.parametrize(("sql", "is_linear"), [(sql, True) for sql in LINEAR] + [(sql, False) for sql in RATIOS])
@given(numbers=st.lists(NUMBERS, min_size=4, max_size=4))
def test_a_form_has_the_value_of_its_expression(sql: str, is_linear: bool, numbers: list[int]) -> None:
    """Whatever was released; and it holds noise below the line only if something noisy is divided by."""
    made = draft(sql)
    noises = {noise.measure.name: noise for noise in made.noises}
    noisy = {name: round(number / noise.step) for number, (name, noise) in zip(numbers, noises.items(), strict=False)}
    estimators = dict(made.estimators)
    expr = made.question.outputs[0].expr
    ratio = ratio_of(expr, estimators)
    assert ratio is not None
    assert ratio.is_linear == is_linear
    values = {name: estimator.estimate(noisy, noises) for name, estimator in estimators.items()}
    found = ratio.numerator.at(noisy, noises) / ratio.denominator.at(noisy, noises)
    if "AVG" in sql:  # estimates of averages are kept within their bounds, forms aren't
        mean = ratio.ends
        assert mean is not None
        found = min(max(found, float(mean[0])), float(mean[1]))
    assert found == pytest.approx(float(evaluate(expr, values)), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("sql", OTHERS)
def test_what_is_no_form_is_left_alone(sql: str) -> None:
    """Products of noisy numbers, quotients over different ones, functions."""
    made = draft(sql)
    assert ratio_of(made.question.outputs[0].expr, dict(made.estimators)) is None


def test_terms_that_cancel_hold_no_noise() -> None:
    """COUNT(*) − COUNT(*) is 0, and has no interval."""
    made = draft("COUNT(*) - COUNT(*)")
    ratio = ratio_of(made.question.outputs[0].expr, dict(made.estimators))
    assert ratio is not None
    assert ratio.is_constant
    assert interval_of(made, made.question.outputs[0].expr, 0.95)({"m0": 7}) is None


def test_intervals_use_the_joint_law() -> None:
    """A sum of two counts errs less than both errors together, and a difference from itself not at all."""
    together, apart = draft("COUNT(*) + COUNT(age)"), draft("COUNT(*) * COUNT(age)")
    noises = {noise.measure.name: noise for noise in together.noises}
    noisy = dict.fromkeys(noises, 1_000)
    found = interval_of(together, together.question.outputs[0].expr, 0.95)(noisy)
    assert found is not None
    alone = [float(noise.mechanism.radius(Fraction(39, 40))) for noise in noises.values()]
    assert max(alone) < (found.hi - found.lo) / 2 < 0.95 * sum(alone)
    boxes = interval_of(apart, apart.question.outputs[0].expr, 0.95)(noisy)
    assert boxes is not None
    assert boxes.hi - boxes.lo > 1_000 * 1.9 * sum(alone)


def test_what_stands_for_null_counts_only_where_a_count_may_be_nothing() -> None:
    """COALESCE(AVG(age), 0) has the average's interval in a large group, and one with 0 where there may be no rows."""
    alone, given = draft("AVG(age)"), draft("COALESCE(AVG(age), 0)")
    (ends, others) = (interval_of(made, made.question.outputs[0].expr, 0.95) for made in (alone, given))
    count, total = (noise.measure.name for noise in alone.noises)
    assert others({count: 3_000, total: 9_000}) == ends({count: 3_000, total: 9_000})
    found = others({count: 2, total: 60})
    assert found is not None
    assert found.lo == 0


def test_a_ratio_over_what_may_be_nothing_has_no_interval() -> None:
    """A denominator that noise explains as 0 leaves the ratio anywhere; an average stays within its bounds."""
    ratio, mean = draft("SUM(age) / COUNT(*)"), draft("2 * AVG(age)")
    for made, bounded in ((ratio, False), (mean, True)):
        noisy = {noise.measure.name: 1 for noise in made.noises}
        found = interval_of(made, made.question.outputs[0].expr, 0.95)(noisy)
        assert (found is not None) == bounded
        assert found is None or 0 <= found.lo <= found.hi <= 220
