"""Regressions: without noise those of other engines; with noise, covered as often as said.

Noise is drawn until it is clear whether the coverage is what is claimed, see `support.sequential`. Each claim is
rejected by chance with probability at most 5e-11, and no test has more than 20 in all its cases: false alarm at most
1e-9. A coverage of 82 % instead of 95 % is found out with probability above 99 %; in a soak, one of 87 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isclose
from typing import Any

import pytest

from discreet.errors import Unsupported
from support.crossed import crossed
from support.noisy_people import ALARM, LARGE, check_coverage, covered, exact_of, level, noisy, people, plain
from support.postgres import connected, running_server
from support.sequential import Claim, stands

SURELY = Fraction(1, 10**10)
USUAL, LONG = 0.82, 0.87
"""Coverages that are found out."""
OFFERS = pytest.mark.parametrize("offer", [{"epsilon": "2"}, {"rho": "0.3"}], ids=["laplace", "gaussian"])
FUNCTIONS = [f"REGR_{name}" for name in ("COUNT", "AVGY", "AVGX", "SYY", "SXX", "SXY", "SLOPE", "INTERCEPT", "R2")]
COVERED = [f"REGR_{name}(income, age)" for name in ("SXX", "SXY", "SLOPE", "INTERCEPT", "R2")]
PAIRS = ["income, age", "age, income", "age - 60, income", "income, age - 60", "income, age + 1", "-age, age"]
"""What x may be: on both sides of 0, from 0 on, and beyond it, where more is known of the mean's share."""


@pytest.mark.parametrize(("function", "pair", "offer"), crossed(FUNCTIONS, PAIRS, [{"epsilon": "2"}, {"rho": "0.3"}]))
def test_without_noise_they_are_those_of_plain_sql(function: str, pair: str, offer: Mapping[str, Any]) -> None:
    """Of pairs of which one is NULL, nothing counts; y comes first."""
    sql = f"{function}({pair})"
    plan = level(sql, **offer)
    ((_, estimator),) = plan.draft.estimators
    found = estimator.estimate(exact_of(plan.exact, 700), plan.draft.laws)
    assert isinstance(found, int | float)
    assert isclose(found, plain(sql, 700), rel_tol=1e-6, abs_tol=1e-6)


def test_postgresql_means_the_same() -> None:
    """The judges agree: the same pairs, the same order of arguments."""
    asked = [f"{function}({pair})" for function in FUNCTIONS for pair in PAIRS]
    with running_server() as server, connected(server.url) as connection:
        connection.execute("CREATE TEMPORARY TABLE people (age integer, income double precision)")
        with connection.cursor() as cursor:
            rows = [(row["age"], row["income"]) for row in people(700)]
            cursor.executemany("INSERT INTO people VALUES (%s, %s)", rows)
        (found,) = connection.execute(f"SELECT {', '.join(asked)} FROM people").fetchall()
    for sql, value in zip(asked, found, strict=True):
        assert isclose(value, plain(sql, 700), rel_tol=1e-9, abs_tol=1e-9), sql


@OFFERS
@pytest.mark.parametrize("sql", COVERED)
@pytest.mark.parametrize(
    ("rows", "wrong"), [(20, USUAL), (300, USUAL), pytest.param(300, LONG, marks=pytest.mark.soak)], ids=str
)
def test_they_are_covered(sql: str, rows: int, wrong: float, offer: Mapping[str, Any]) -> None:
    """In groups where the noise drowns everything, and where it doesn't."""
    check_coverage(sql, rows, offer, wrong, most=0.975, always_told=rows >= LARGE)


@pytest.mark.soak
@OFFERS
@pytest.mark.parametrize("sql", [*COVERED, "REGR_INTERCEPT(income, age + 20)", "REGR_SLOPE(age, income)"])
def test_they_are_covered_in_many_runs(sql: str, offer: Mapping[str, Any]) -> None:
    """In a large group, with more power."""
    check_coverage(sql, 3_000, offer, LONG, most=0.975)


@pytest.mark.parametrize("sql", COVERED)
def test_intervals_that_take_the_noise_for_less_are_found_out(sql: str) -> None:
    """The wrong twin: it reckons with the noise of thrice the ε.

    It covers in less than 80 % (with twice the ε it is 79 % at most), so that it is let through once in 1e10.
    """
    plan, twin = level(sql, epsilon=1), level(sql, epsilon=3)
    claim = Claim(0.95, wrong=0.8, alarm=ALARM, miss=SURELY)
    assert not stands(covered(plan, 3_000, sql, twin), claim)


@pytest.mark.parametrize(("rows", "widest"), [(700, 400), (3_000, 80)])
def test_a_slope_is_told_while_spreads_are_a_few_noise_scales(rows: int, widest: float) -> None:
    """About the exact numbers: incomes rise by about 1,505 a year."""
    plan = level("REGR_SLOPE(income, age)", epsilon=2)
    ((_, estimator),) = plan.draft.estimators
    found = estimator.interval(exact_of(plan.exact, rows), plan.draft.laws, 0.95)
    assert found is not None
    assert found.lo < 1_503 < found.hi < found.lo + widest


def test_a_line_of_unknown_slope_has_no_interval() -> None:
    """In 40 rows noise could explain that all ages are the same; then the line may be as steep as it likes."""
    for sql in ("REGR_SLOPE(income, age)", "REGR_INTERCEPT(income, age)"):
        plan = level(sql, epsilon=1)
        ((_, estimator),) = plan.draft.estimators
        assert estimator.interval(exact_of(plan.exact, 40), plan.draft.laws, 0.95) is None


def test_a_value_is_on_a_line_with_itself() -> None:
    """Slope 1, through 0, whatever the noise, because both parts are the same numbers.

    False alarm: of 400 draws all slopes were within 1e-6 of 1; the noise isn't in it.
    """
    for sql, expected in (("REGR_SLOPE(age, age)", 1), ("REGR_R2(age, age)", 1)):
        plan = level(sql, epsilon=1)
        numbers = next(noisy(plan, 2_000))
        ((_, estimator),) = plan.draft.estimators
        assert estimator.estimate(numbers, plan.draft.laws) == pytest.approx(expected)


def test_lines_are_not_followed_further_than_doubles_reach() -> None:
    """The hint says from where to count instead."""
    with pytest.raises(Unsupported, match="can't be followed to 0") as caught:
        level("REGR_INTERCEPT(income, age / 1000000 + 1000000)", epsilon=1)
    assert "REGR_INTERCEPT(y, x - 1000000" in caught.value.hint
    level("REGR_SLOPE(income, age / 1000000 + 1000000)", epsilon=1)
