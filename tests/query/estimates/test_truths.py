"""Truths: what a plan promises of them is kept, and nothing more is promised."""

from __future__ import annotations

import re
from fractions import Fraction
from math import floor
from typing import Any

import pytest

from discreet.errors import Unsupported
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.estimates import Truth, integer
from discreet.query.planner import Level, Plan, Request, make_plan
from discreet.query.sql import question
from discreet.stats import lower_bound, upper_bound
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES

DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", analysts={}, adjacency=ADD_REMOVE
)
SURE = 1 - Fraction(1, 10**11)
DRAWS = 2_000


def planned(sql: str, **offer: Any) -> Plan:
    """The plan of a question."""
    return make_plan(question(sql, TABLES), Request.of(**offer), DATASET)


def parts(level: Level) -> tuple[Truth, str]:
    """The estimator of a plan of one truth, and the name of the number that decides."""
    ((_, estimator),) = level.draft.estimators
    assert isinstance(estimator, Truth)
    assert estimator.number.single is not None
    return estimator, estimator.number.single


def said(level: Level, rows: int) -> int:
    """In how many of so many draws a row that decides is said to be there, of so many that are."""
    estimator, name = parts(level)
    noise = level.noises[name]
    drawn = noise.mechanism.release([int(rows / noise.step)] * DRAWS)
    return sum(estimator.estimate({name: value}, level.draft.laws) is estimator.decided for value in drawn)


def overlooked(plan: Plan) -> float:
    """How many rows a plan says that a truth may overlook."""
    found = re.search(r"overlooks ([\d.,]+) rows at most", plan.explain())
    assert found is not None
    return float(found[1].replace(",", ""))


@pytest.mark.parametrize("offer", [{"epsilon": "0.1"}, {"rho": "0.01"}, {"epsilon": 3}], ids=str)
@pytest.mark.parametrize("sql", ["BOOL_OR(married)", "BOOL_AND(married)"])
def test_what_is_promised_is_kept(sql: str, offer: dict[str, Any]) -> None:
    """Of no row at most one group in 20 is said to have one, and of as many as the plan says at most one isn't.

    False alarm: 12 cases, each below 1e-11. Were it one group in ten, 2,000 draws would tell with probability 99 %.
    """
    plan = planned(f"SELECT {sql} AS x FROM people", **offer)
    (level,) = plan.levels
    assert lower_bound(said(level, 0), DRAWS, SURE) <= 0.05
    assert upper_bound(said(level, floor(overlooked(plan)) + 1), DRAWS, SURE) >= 0.95


def test_the_nearest_number_of_rows_would_find_rows_that_are_none() -> None:
    """The wrong twin: with an end of half a row, 47 % of the groups without rows would be said to have one.

    False alarm below 1e-15: 741 of 2,000 draws are enough, nine deviations fewer than are to be expected.
    """
    (level,) = planned("SELECT BOOL_OR(married) AS x FROM people", epsilon="0.1").levels
    _, name = parts(level)
    noise = level.noises[name]
    drawn = noise.mechanism.release([0] * DRAWS)
    found = sum(noise.step * integer(name, {name: value}) > Fraction(1, 2) for value in drawn)
    assert lower_bound(found, DRAWS, SURE) > 0.3


def test_far_fewer_rows_than_the_plan_says_are_overlooked_more_often() -> None:
    """The number in the plan isn't larger than need be: of a third of it, most groups are said to have none.

    False alarm below 1e-15: a fifth of the draws say that a row is there, and it takes two fifths.
    """
    plan = planned("SELECT BOOL_OR(married) AS x FROM people", epsilon="0.1")
    assert upper_bound(said(plan.levels[0], floor(overlooked(plan) / 3)), DRAWS, SURE) < 0.5


def test_no_width_is_sold() -> None:
    """A truth has none: it isn't ± 0, whatever is offered, and no offer is found for one."""
    assert "±" not in planned("SELECT BOOL_OR(married) AS x FROM people", epsilon="0.01").explain()
    for within in (3, {"x": 3}, "10%"):
        with pytest.raises(Unsupported):
            planned("SELECT BOOL_OR(married) AS x FROM people", within=within)
    both = planned("SELECT BOOL_OR(married) AS x, COUNT(*) AS n FROM people", within=3)
    assert [each.error is None for each in both.expected] == [True, False]


def test_a_truth_shares_the_number_of_the_rows_that_decide() -> None:
    """What COUNT_IF measures anyway, so that both cost what one does."""
    alone, beside = (
        planned(f"SELECT {sql} FROM people", epsilon=1).levels[0].noises
        for sql in ("COUNT_IF(age > 3) AS n", "COUNT_IF(age > 3) AS n, BOOL_OR(age > 3) AS x")
    )
    assert alone == beside
    assert (
        len(
            planned("SELECT BOOL_AND(married) AS x, COUNT_IF(NOT married) AS n FROM people", epsilon=1).levels[0].noises
        )
        == 1
    )
