"""Coverage: over fresh noise, the intervals of an answer hold the noise-free one as often as they say, and not oftener.

One exact result is computed by brute force; the noise of the plan's own mechanisms is drawn many times. Exact
Clopper–Pearson bounds of the coverage are compared with what is claimed. Each bound fails by chance with probability at
most 1e-11, and no test has 100 of them in all its cases: false alarm below 1e-9. With `RUNS` runs a coverage of 91 %
instead of 95 %, or of 99.5 % instead of 97 %, is found out with probability above 99 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any

import pytest

from discreet.gateway.answers import Arrangement, Group, evaluate, interval_of
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.estimates import Interval
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.stats import lower_bound, upper_bound
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.reference import answer

RUNS = 3_300
SURE = 1 - Fraction(1, 10**11)
DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", analysts={}, adjacency=ADD_REMOVE
)

EXACT = [
    "COUNT(*)",
    "SUM(age)",
    "SUM(income)",
    "AVG(age)",
    "COUNT(*) - COUNT(married)",
    "SUM(age) + 3 * COUNT(*) - SUM(code)",
    "SUM(age) / COUNT(*)",
    "100.0 * SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) / COUNT(*)",
    "SUM(income) / NULLIF(SUM(age), 0)",
    "2 * AVG(age) + 1",
]
"""What is covered as often as it says, but for discreteness."""

ROWS = ["COUNT(*)", "COUNT(*) - COUNT(married)", "100.0 * SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) / COUNT(*)"]
"""What counts rows. Where noise is of a row or two, one row more or less is some per cent of coverage."""

NEARLY = ["VAR_POP(age)", "VAR_SAMP(income)", "STDDEV_POP(income)", "STDDEV_SAMP(age)"]
"""What is covered a little more often, by less than 3 %: of 20,000 intervals of STDDEV_POP(income), 97.6 % hold."""

CAUTIOUS = ['AVG(age) - AVG("hours-per-week")', "COUNT(*) * AVG(age)", "ROUND(SUM(age) / COUNT(*), 2)"]
"""What is put together from intervals of its parts."""


def level(sql: str, **offer: Any) -> Level:
    """The plan of a question of one column."""
    sql = sql.replace("SUM(code)", "SUM(GREATEST(LEAST(code, 20), 0))")
    return make_plan(question(f"SELECT {sql} AS x FROM people", TABLES), Request.of(**offer), DATASET).levels[0]


def people(rows: int) -> list[dict[str, Any]]:
    """Rows that are scattered over the columns' ranges, without any chance."""
    return [
        {
            "age": 20 + row * 37 % 53,
            "hours-per-week": 10 + row * 29 % 61,
            "income": 1000.0 + row * 7919 % 90_001,
            "code": row * 13 % 41 - 20,
            "married": None if row % 5 == 0 else row % 2 == 0,
        }
        for row in range(rows)
    ]


def exact_of(plan: Level, rows: int) -> dict[str, Any]:
    """The integers that an engine would return."""
    found = answer(plan.exact, {"people": people(rows)}, lambda *_: 0)
    return found[()]


def truth_of(plan: Level, exact: Mapping[str, Any]) -> float:
    """The output without noise."""
    draft = plan.draft
    values = {name: estimator.estimate(exact, plan.noises) for name, estimator in draft.estimators}
    return float(evaluate(draft.question.outputs[0].expr, values))


def hits(plan: Level, rows: int, runs: int, *, stated: Level | None = None) -> int:
    """How many of so many intervals hold the truth.

    Args:
        plan: whose noise is drawn.
        rows: in the group.
        runs: how often.
        stated: whose noise the intervals reckon with, if it is another's.
    """
    found = intervals(plan, rows, runs, stated=stated)
    assert all(one is not None for one, _, _ in found)
    return sum(times for one, truth, times in found if one is not None and one.lo <= truth <= one.hi)


def intervals(
    plan: Level, rows: int, runs: int, *, stated: Level | None = None
) -> list[tuple[Interval | None, float, int]]:
    """The intervals of so many runs, each with the truth, and in how many runs the noise was the same."""
    exact = exact_of(plan, rows)
    truth = truth_of(plan, exact)
    drawn = [noise.mechanism.release([exact[name]] * runs) for name, noise in plan.noises.items()]
    draft = (stated or plan).draft
    rule = interval_of(draft, draft.question.outputs[0].expr, 0.95)
    return [
        (rule(dict(zip(plan.noises, values, strict=True))), truth, times)
        for values, times in Counter(zip(*drawn, strict=True)).items()
    ]


OFFERS = pytest.mark.parametrize("offer", [{"epsilon": "0.2"}, {"rho": "0.005"}], ids=["laplace", "gaussian"])
MOST = pytest.mark.parametrize(("sql", "most"), [*product(EXACT, [0.97]), *product(NEARLY, [0.98])])


@OFFERS
@MOST
def test_intervals_are_covered_as_often_as_said(sql: str, most: float, offer: dict[str, Any]) -> None:
    """Neither less than 95 % nor more than 97 %, or 98 % of what is put together from estimates."""
    found = hits(level(sql, **offer), 2_000, RUNS)
    assert upper_bound(found, RUNS, SURE) >= 0.95
    assert lower_bound(found, RUNS, SURE) <= most


@OFFERS
@pytest.mark.parametrize("sql", CAUTIOUS)
def test_intervals_put_together_from_parts_are_covered_at_least_as_often(sql: str, offer: dict[str, Any]) -> None:
    """Bonferroni errs on the wide side."""
    assert upper_bound(hits(level(sql, **offer), 2_000, RUNS // 3), RUNS // 3, SURE) >= 0.95


@OFFERS
@pytest.mark.parametrize("rows", [3, 60])
@pytest.mark.parametrize("sql", ["AVG(age)", "VAR_POP(age)", "SUM(age) / (COUNT(*) + 1)"])
def test_small_groups_are_covered_too(sql: str, rows: int, offer: dict[str, Any]) -> None:
    """Where a count may well be noise alone, whatever is said is said cautiously."""
    found = intervals(level(sql, **offer), rows, RUNS)
    kept = sum(times for one, truth, times in found if one is None or one.lo <= truth <= one.hi)
    assert upper_bound(kept, RUNS, SURE) >= 0.95


@pytest.mark.parametrize(
    ("sql", "runs"),
    [("COUNT(*)", 12_000), ("AVG(age)", 12_000), ("VAR_POP(age)", 21_000), ("SUM(age) / COUNT(*)", 12_000)],
)
def test_intervals_for_less_noise_than_there_is_are_found_out(sql: str, runs: int) -> None:
    """The wrong twin: intervals that reckon with four fifths of the noise cover too seldom.

    They cover in 91.8 % (that of COUNT exactly) of the runs at the most, those of VAR_POP in 92.8 % (40,000 runs say
    92.25): so many runs are let through once in 1e10. Mostly a few thousand are enough. Looking after each of these
    lets right intervals be taken for wrong ones more often, but no more than seven times as often.
    """
    claimed, real = level(sql, epsilon="0.25"), level(sql, epsilon="0.2")
    found = done = 0
    while done < runs:
        found, done = found + hits(real, 2_000, RUNS, stated=claimed), done + RUNS
        if upper_bound(found, done, SURE) < 0.95:
            break
    assert upper_bound(found, done, SURE) < 0.95


@pytest.mark.soak
@OFFERS
@pytest.mark.parametrize("rows", [300, 1_000, 10_000])
@MOST
def test_intervals_are_covered_as_often_as_said_at_length(
    sql: str, most: float, rows: int, offer: dict[str, Any]
) -> None:
    """Over many more runs, for groups in which the noise of the count is at most a hundredth of it."""
    runs = 50_000
    offer = {name: Fraction(amount) * max(Fraction(5_000, rows), 1) for name, amount in offer.items()}
    if "rho" in offer:
        offer["rho"] *= max(Fraction(5_000, rows), 1)
    found = hits(level(sql, **offer), rows, runs)
    assert upper_bound(found, runs, SURE) >= 0.95
    assert lower_bound(found, runs, SURE) <= most or (sql in ROWS and rows < 10_000)


PICKED = pytest.mark.parametrize(
    ("sql", "picking"),
    [
        ("COUNT(*)", "ORDER BY x DESC LIMIT 1"),
        ("SUM(income)", "ORDER BY x LIMIT 1"),
        ('AVG("hours-per-week")', "ORDER BY ABS(x - 50) DESC LIMIT 1"),
        ("COUNT(*)", "HAVING x > 400 ORDER BY x DESC LIMIT 1"),
        ("SUM(income) / COUNT(*)", "HAVING x > 30000 ORDER BY x DESC LIMIT 1"),
    ],
)


def hits_of_picked(sql: str, picking: str, runs: int, *, widened: bool, **offer: Any) -> tuple[int, int]:
    """How many intervals hold the truth, each of the first of those that are picked from 20 equal groups; of how many.

    Args:
        sql: the aggregate.
        picking: HAVING, or ORDER BY with LIMIT.
        runs: how often all groups are released anew. Those in which none is shown don't count.
        widened: whether intervals reckon with their being picked.
        offer: what is spent.
    """
    asked = question(f"SELECT age, {sql} AS x FROM people WHERE age BETWEEN 20 AND 39 GROUP BY age {picking}", TABLES)
    plan, whole = make_plan(asked, Request.of(**offer), DATASET).levels[0], level(sql, **offer)
    expr = plan.draft.question.outputs[1].expr
    exact = exact_of(whole, 400)
    truth, usual, found, shown = truth_of(whole, exact), interval_of(plan.draft, expr, 0.95), 0, 0
    drawn = [noise.mechanism.release([exact[name]] * (20 * runs)) for name, noise in plan.noises.items()]
    for some in batched(zip(*drawn, strict=True), 20):
        groups = [Group((20 + place,), dict(zip(plan.noises, each, strict=True))) for place, each in enumerate(some)]
        arranged = Arrangement([plan.draft], groups)
        if arranged.rows:
            one = arranged.intervals.of(expr, 0.95)[0] if widened else usual(arranged.rows[0][0].noisy)
            found += one is None or one.lo <= truth <= one.hi
            shown += 1
    return found, shown


def batched(values: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """So many values at a time."""
    rest = iter(values)
    while some := tuple(islice(rest, size)):
        yield some


@OFFERS
@PICKED
def test_groups_that_noise_picks_are_covered_as_often(sql: str, picking: str, offer: dict[str, Any]) -> None:
    """The first of 20 equal groups by its noisy number, or any of those that reach a number by their noise."""
    found, shown = hits_of_picked(sql, picking, RUNS // 3, widened=True, **offer)
    assert upper_bound(found, shown, SURE) >= 0.95


@OFFERS
@PICKED
def test_that_they_were_picked_counts(sql: str, picking: str, offer: dict[str, Any]) -> None:
    """The wrong twin: the intervals that a group has whatever its noise is hold for less than 90 % of those picked."""
    found, shown = hits_of_picked(sql, picking, RUNS // 3, widened=False, **offer)
    assert upper_bound(found, shown, SURE) < 0.95
