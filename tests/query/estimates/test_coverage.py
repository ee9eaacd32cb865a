"""Coverage: over fresh noise, the intervals of an answer hold the noise-free one as often as they say, and not oftener.

One exact result is computed by brute force; the noise of the plan's own mechanisms is drawn until it is clear whether
the coverage is what is claimed, see `support.sequential`. Each claim is rejected by chance with probability at most
1e-11, and no test has 100 of them in all its cases: false alarm below 1e-9. A coverage of 91 % instead of 95 %, or of
99.5 % instead of 97 %, is found out with probability above 99 %; of groups that noise picks, and of what is put
together from parts, one of 88 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import islice, product
from types import MappingProxyType
from typing import Any

import pytest

from discreet.gateway.answers import Arrangement, Group, evaluate, interval_of
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.ir import Exact
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.stats import lower_bound, upper_bound
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.crossed import crossed
from support.reference import answer
from support.sequential import Claim, stands

RUNS, SOME = 3_300, 100
ALARM = Fraction(1, 10**11)
SURE = 1 - ALARM
AS_OFTEN = Claim(0.95, wrong=0.91, alarm=ALARM)
NEARLY_AS_OFTEN = Claim(0.95, wrong=0.88, alarm=ALARM)
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


@cache
def exact_of(exact: Exact, rows: int) -> Mapping[str, Any]:
    """The integers that an engine would return."""
    return MappingProxyType(answer(exact, {"people": people(rows)}, lambda *_: 0)[()])


def truth_of(plan: Level, exact: Mapping[str, Any]) -> float:
    """The output without noise."""
    draft = plan.draft
    values = {name: estimator.estimate(exact, plan.noises) for name, estimator in draft.estimators}
    return float(evaluate(draft.question.outputs[0].expr, values))


def covered(plan: Level, rows: int, *, stated: Level | None = None, unless_none: bool = False) -> Iterator[bool]:
    """Whether intervals hold the truth, of one run after the other.

    Args:
        plan: whose noise is drawn.
        rows: in the group.
        stated: whose noise the intervals reckon with, if it is another's.
        unless_none: whether there may be none, which holds it.
    """
    exact, draft = exact_of(plan.exact, rows), (stated or plan).draft
    truth, rule = truth_of(plan, exact), interval_of(draft, draft.question.outputs[0].expr, 0.95)

    @cache
    def is_held(values: tuple[Any, ...]) -> bool:
        """Whether the interval about these noisy values does: the same noise comes often."""
        one = rule(dict(zip(plan.noises, values, strict=True)))
        assert unless_none or one is not None
        return one is None or bool(one.lo <= truth <= one.hi)

    while True:
        drawn = [noise.mechanism.release([exact[name]] * SOME) for name, noise in plan.noises.items()]
        yield from map(is_held, zip(*drawn, strict=True))


def hits(plan: Level, rows: int, runs: int, *, stated: Level | None = None) -> int:
    """How many of so many intervals hold the truth."""
    return sum(islice(covered(plan, rows, stated=stated), runs))


OFFERS = pytest.mark.parametrize("offer", [{"epsilon": "0.2"}, {"rho": "0.005"}], ids=["laplace", "gaussian"])
MOST = pytest.mark.parametrize(("sql", "most"), [*product(EXACT, [0.97]), *product(NEARLY, [0.98])])


@pytest.mark.parametrize(("sql", "offer"), crossed([*EXACT, *NEARLY], [{"epsilon": "0.2"}, {"rho": "0.005"}]))
def test_intervals_are_covered_as_often_as_said(sql: str, offer: dict[str, Any]) -> None:
    """Neither less than 95 % nor more than 97 %, or 98 % of what is put together from estimates."""
    most = 0.98 if sql in NEARLY else 0.97
    not_oftener = Claim(most, wrong=0.995, alarm=ALARM)
    assert stands(covered(level(sql, **offer), 2_000), AS_OFTEN, not_oftener)


@OFFERS
@pytest.mark.parametrize("sql", CAUTIOUS)
def test_intervals_put_together_from_parts_are_covered_at_least_as_often(sql: str, offer: dict[str, Any]) -> None:
    """Bonferroni errs on the wide side."""
    assert stands(covered(level(sql, **offer), 2_000), NEARLY_AS_OFTEN)


@OFFERS
@pytest.mark.parametrize("rows", [3, 60])
@pytest.mark.parametrize("sql", ["AVG(age)", "VAR_POP(age)", "SUM(age) / (COUNT(*) + 1)"])
def test_small_groups_are_covered_too(sql: str, rows: int, offer: dict[str, Any]) -> None:
    """Where a count may well be noise alone, whatever is said is said cautiously."""
    assert stands(covered(level(sql, **offer), rows, unless_none=True), AS_OFTEN)


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


def covered_of_picked(sql: str, picking: str, *, widened: bool, **offer: Any) -> Iterator[bool]:
    """Whether intervals hold the truth, each of the first of those that are picked from 20 equal groups.

    Args:
        sql: the aggregate.
        picking: HAVING, or ORDER BY with LIMIT; runs in which no group is shown don't count.
        widened: whether intervals reckon with their being picked.
        offer: what is spent.
    """
    asked = question(f"SELECT age, {sql} AS x FROM people WHERE age BETWEEN 20 AND 39 GROUP BY age {picking}", TABLES)
    plan, whole = make_plan(asked, Request.of(**offer), DATASET).levels[0], level(sql, **offer)
    expr = plan.draft.question.outputs[1].expr
    exact = exact_of(whole.exact, 400)
    truth, usual = truth_of(whole, exact), interval_of(plan.draft, expr, 0.95)
    while True:
        drawn = [noise.mechanism.release([exact[name]] * (20 * SOME)) for name, noise in plan.noises.items()]
        for some in batched(zip(*drawn, strict=True), 20):
            groups = [
                Group((20 + place,), dict(zip(plan.noises, each, strict=True))) for place, each in enumerate(some)
            ]
            arranged = Arrangement([plan.draft], groups)
            if arranged.rows:
                one = arranged.intervals.of(expr, 0.95)[0] if widened else usual(arranged.rows[0][0].noisy)
                yield one is None or one.lo <= truth <= one.hi


def batched(values: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """So many values at a time."""
    rest = iter(values)
    while some := tuple(islice(rest, size)):
        yield some


@OFFERS
@PICKED
def test_groups_that_noise_picks_are_covered_as_often(sql: str, picking: str, offer: dict[str, Any]) -> None:
    """The first of 20 equal groups by its noisy number, or any of those that reach a number by their noise."""
    assert stands(covered_of_picked(sql, picking, widened=True, **offer), NEARLY_AS_OFTEN)


@OFFERS
@PICKED
def test_that_they_were_picked_counts(sql: str, picking: str, offer: dict[str, Any]) -> None:
    """The wrong twin: the intervals that a group has whatever its noise is hold for less than 90 % of those picked.

    Each is let through with probability 1e-11 at the most.
    """
    surely = Claim(0.95, wrong=0.9, alarm=ALARM, miss=ALARM)
    assert not stands(covered_of_picked(sql, picking, widened=False, **offer), surely)
