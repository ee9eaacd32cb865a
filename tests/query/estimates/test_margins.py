"""Margins: the deviation of the noise in an output, and what may ask for it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, isclose, sqrt
from typing import Any

import pytest

from discreet.errors import QueryError
from discreet.privacy import Budget
from discreet.query import ir
from discreet.query.estimates import deviation
from discreet.query.ir import canonical
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import TABLES

DATASET = Dataset(name="asked", tables=TABLES, budget=Budget(epsilon=1000), ledger="x")


def _plan(sql: str, **offer: Any) -> Plan:
    """A plan of a question about the tables, each number measured apart."""
    return make_plan(question(sql, TABLES), Request.of(**offer), DATASET, in_cells=False)


def _deviations(plan: Plan) -> list[float | None]:
    """The deviation of each column."""
    draft = plan.levels[0].draft
    return [deviation(output.expr, dict(draft.estimators), draft.laws) for output in plan.question.outputs]


def _laplace(scale: Fraction) -> float:
    """The deviation of discrete Laplace noise, by adding up its probabilities: P(k) ∝ exp(−|k|/scale)."""
    reach = range(1, int(60 * scale) + 60)
    weights = [exp(-k / float(scale)) for k in reach]
    return sqrt(2 * sum(w * k * k for w, k in zip(weights, reach, strict=True)) / (1 + 2 * sum(weights)))


def _gaussian(sigma: float) -> float:
    """The deviation of discrete Gaussian noise, by adding up its probabilities."""
    reach = range(1, int(12 * sigma) + 12)
    weights = [exp(-k * k / (2 * sigma**2)) for k in reach]
    return sqrt(2 * sum(w * k * k for w, k in zip(weights, reach, strict=True)) / (1 + 2 * sum(weights)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(4), Fraction(20)])
def test_the_deviation_of_a_count_is_that_of_its_noise(epsilon: Fraction) -> None:
    """It is the sum over all values of the noise; the continuous formula, √2·scale, isn't near it at large ε."""
    plan = _plan("SELECT COUNT(*) AS n FROM people", epsilon=epsilon)
    (noise,) = plan.levels[0].draft.laws.values()
    (found,) = _deviations(plan)
    assert found is not None
    assert isclose(found, _laplace(noise.mechanism.scale), rel_tol=1e-9)
    assert isclose(found, sqrt(2) * float(noise.mechanism.scale), rel_tol=0.01) == (epsilon < Fraction(1, 2))


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 20)])
def test_gaussian_noise_has_sigma(rho: Fraction) -> None:
    """The discrete Gaussian's deviation is sigma, to more digits than are shown."""
    plan = _plan("SELECT COUNT(*) AS n FROM people", rho=rho)
    (noise,) = plan.levels[0].draft.laws.values()
    (found,) = _deviations(plan)
    assert found is not None
    assert isclose(found, _gaussian(float(noise.mechanism.sigma)), rel_tol=1e-9)


def test_variances_add_up() -> None:
    """Of a linear combination, squares of factors times variances; each count has noise of its own."""
    plan = _plan("SELECT COUNT(*) AS n, COUNT(age) AS m, 3 * COUNT(*) - COUNT(age) + 7 AS x FROM people", epsilon=1)
    n, m, x = _deviations(plan)
    assert n is not None
    assert m is not None
    assert x is not None
    assert isclose(x, sqrt((3 * n) ** 2 + m**2), rel_tol=1e-9)


def test_it_is_unknown_where_it_depends_on_the_answer() -> None:
    """Averages, ratios, products and keys have no deviation that is known in advance."""
    plan = _plan(
        "SELECT sex, AVG(age) AS a, SUM(age) / COUNT(*) AS r, COUNT(*) * COUNT(*) AS p, 1 AS c, MEDIAN(age) AS q"
        " FROM people GROUP BY sex",
        epsilon=1,
    )
    assert _deviations(plan) == [None] * 6


def test_aliases_mean_the_answer_s_columns_wherever_they_stand() -> None:
    """Before or after, in SELECT, HAVING and ORDER BY; and within the columns themselves names mean what they did."""
    sql = "SELECT DP_INTERVAL_LOW(n) AS lo, COUNT(*) AS n, DP_STDDEV(n + m) AS d, COUNT(age) AS m FROM people"
    plain = (
        "SELECT DP_INTERVAL_LOW(COUNT(*)) AS lo, COUNT(*) AS n, DP_STDDEV(COUNT(*) + COUNT(age)) AS d, COUNT(age) AS m"
    )
    assert canonical(question(sql, TABLES)) == canonical(question(f"{plain} FROM people", TABLES))
    shadow = "SELECT SUM(age) AS age, DP_STDDEV(age) AS d FROM people"
    assert canonical(question(shadow, TABLES)) == canonical(
        question("SELECT SUM(age) AS age, DP_STDDEV(SUM(people.age)) AS d FROM people", TABLES)
    )
    ordered = (
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING DP_INTERVAL_LOW(n, 0.9) > 0 ORDER BY DP_STDDEV(n)"
    )
    asked = question(ordered, TABLES)
    assert isinstance(asked.order[0].expr, ir.Margin)
    assert "dp_interval_low(count(*), 9/10)" in canonical(asked)


def test_confidence_shows_in_the_canonical_text() -> None:
    """Questions that differ in a margin only are different."""
    levels = ["", ", 0.9", ", 0.99"]
    texts = [canonical(question(f"SELECT DP_INTERVAL_LOW(COUNT(*){each}) AS x FROM people", TABLES)) for each in levels]
    assert len(set(texts)) == 3
    stated = canonical(question("SELECT DP_INTERVAL_LOW(COUNT(*), 0.95) AS x FROM people", TABLES))
    assert stated == texts[0]


def test_a_margin_costs_nothing() -> None:
    """A plan with margins measures what a plan without them does."""
    with_margins = _plan("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, DP_STDDEV(n) AS d FROM people", epsilon=1)
    without = _plan("SELECT COUNT(*) AS n FROM people", epsilon=1)
    assert with_margins.event == without.event
    assert with_margins.digest != without.digest


REFUSED = [
    "SELECT DP_STDDEV(x) AS x FROM people",
    "SELECT DP_STDDEV(y) AS x, DP_STDDEV(x) AS y FROM people",
    "SELECT DP_STDDEV(DP_STDDEV(COUNT(*))) AS x FROM people",
    "SELECT DP_STDDEV(COUNT(*), 0.9) AS x FROM people",
    "SELECT DP_STDDEV() AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), 0.9, 1) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), 1) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), 0) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), 0.0) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), '0.9') AS x FROM people",
    "SELECT DP_INTERVAL_LOW(COUNT(*), COUNT(*)) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(age) AS x FROM people",
    "SELECT DP_INTERVAL_LOW(nope) AS x, COUNT(*) AS n FROM people",
    "SELECT sex, DP_INTERVAL_LOW(sex) AS x FROM people GROUP BY sex",
    "SELECT COUNT(*) AS n FROM people WHERE DP_STDDEV(age) > 1",
    "SELECT COUNT(*) AS n FROM people GROUP BY DP_STDDEV(age)",
    "SELECT SUM(DP_STDDEV(age)) AS n FROM people",
    "SELECT AVG(d) FROM (SELECT person_id, DP_STDDEV(COUNT(*)) AS d FROM visits GROUP BY person_id) AS v",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(sql: str) -> None:
    """There is no noise but the answer's, no interval of an interval, and no confidence but a constant."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES)
    assert caught.value.place is not None


def test_intervals_grow_with_confidence() -> None:
    """A sanity check of the types: each margin is a number that may be NULL."""
    asked = question("SELECT DP_INTERVAL_HIGH(COUNT(*)) AS n, DP_INTERVAL_HIGH(AVG(age)) AS a FROM people", TABLES)
    kinds = [output.expr.type.kind for output in asked.outputs]
    assert [str(kind) for kind in kinds] == ["integer", "real"]
    assert all(output.expr.type.nullable for output in asked.outputs)
    scales = [Fraction(1, 2), Fraction(1), Fraction(3)]
    assert all(_laplace(low) < _laplace(high) for low, high in pairwise(scales))
