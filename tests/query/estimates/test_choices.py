"""Choices: quantiles and modes from question to answer; their intervals hold the truth as often as they say.

Tests of coverage draw until it is clear whether it is what is claimed, see `support.sequential`. Each fails by chance
with probability at most 5e-11, and no test has more than 12 in all its cases: false alarm below 1e-9. A coverage of
83 % instead of 95 % is found out with probability above 99 %; in a soak, one of 90 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

import pytest

from discreet.engine import ExactResult
from discreet.errors import TooManyGroups, Unsupported
from discreet.gateway.answers import Arrangement, Group, interval_of
from discreet.gateway.execute import release
from discreet.gateway.outcome import groups_from_json, groups_to_json
from discreet.mechanisms import NoisyRanks, Quantile
from discreet.mechanisms.quantile import nested
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency, Budget
from discreet.query.aggregates import COUNT, MODE, QUANTILE
from discreet.query.estimates import QuantileEstimator, integer
from discreet.query.planner import Draft, Level, Request, make_plan
from discreet.query.planner.accuracy import expected_errors
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES, VISITS
from support.crossed import crossed
from support.reference import answer
from support.sequential import Claim, stands

USUAL, LONG = (Claim(0.95, wrong=wrong, alarm=Fraction(1, 2 * 10**10)) for wrong in (0.83, 0.9))
OFFERS = pytest.mark.parametrize("offer", [{"epsilon": "1"}, {"rho": "0.1"}], ids=["laplace", "gaussian"])


def level(sql: str, adjacency: Adjacency = ADD_REMOVE, **offer: Any) -> Level:
    """The plan of a question about people or visits."""
    dataset = Dataset(
        name="both",
        tables=(PEOPLE, VISITS),
        budget=Budget(epsilon=100),
        ledger="unused",
        analysts={},
        adjacency=adjacency,
    )
    return make_plan(question(sql, TABLES), Request.of(**offer), dataset).levels[0]


def people(rows: int, *, ages: Sequence[int | None] = ()) -> list[dict[str, Any]]:
    """Rows scattered over part of the columns' ranges, without any chance."""
    return [
        {
            "age": ages[row] if ages else 20 + row * 37 % 53,
            "income": 20_000 * 1.0001 ** (row * 7919 % 10_007),
            "level": 1 + (row % 7 > 3) + (row % 7 > 5),
            "sex": "Male" if row % 3 else "Female",
            "born": date(1992, 1, 1) + timedelta(days=row * 101 % 2000),
        }
        for row in range(rows)
    ]


def exact_of(plan: Level, rows: Sequence[Mapping[str, Any]], table: str = "people") -> ExactResult:
    """What an engine would return."""
    found = answer(plan.exact, {table: rows}, lambda *_: 0)
    names = {histogram.name for histogram in plan.draft.histograms}
    measures = [measure.name for measure in plan.exact.measures if measure.name not in names]
    return ExactResult(
        keys=list(found),
        measures={name: [values[name] for values in found.values()] for name in measures},
        histograms={name: [values[name] for values in found.values()] for name in names},
    )


def rows_of(draft: Draft, groups: Sequence[Group]) -> list[dict[Any, Any]]:
    """The released values, group by group."""
    return [dict(values) for _, values in Arrangement([draft], groups).rows]


def quantile(values: Sequence[Any], fraction: float) -> Any:
    """The least value with at least this fraction of them at or below it."""
    ranked = sorted(values)
    return ranked[max(ceil(Fraction(str(fraction)) * len(ranked)), 1) - 1]


def covered(plan: Level, rows: Sequence[Mapping[str, Any]], truth: float) -> Iterator[bool]:
    """Whether intervals hold the truth, in the one group of such rows."""
    exact = exact_of(plan, rows)
    rule = interval_of(plan.draft, plan.draft.question.outputs[0].expr, 0.95)
    while True:
        (group,) = release(plan, exact)
        ends = rule(group.noisy)
        assert ends is not None
        yield bool(ends.lo <= truth <= ends.hi)


CASES = [
    ("age", 0.5, 400),
    ("age", 0.5, 4),
    ("income", 0.9, 600),
    ("income", 0.001, 600),
    ("age", 0, 400),
    ("income", 1, 300),
]


def check_coverage(of: str, fraction: float, rows: int, offer: Mapping[str, Any], claim: Claim) -> None:
    """Intervals of one column hold the noise-free quantile."""
    plan, data = level(f"SELECT QUANTILE_CONT({of}, {fraction}) AS x FROM people", **offer), people(rows)
    assert stands(covered(plan, data, quantile([row[of] for row in data], fraction)), claim)


@pytest.mark.parametrize(("case", "offer"), crossed(CASES, [{"rho": "0.1"}, {"epsilon": "1"}]))
def test_quantiles_are_covered(case: tuple[str, float, int], offer: Mapping[str, Any]) -> None:
    """In large groups and in tiny ones, in the middle and at the ends."""
    check_coverage(*case, offer, USUAL)


@pytest.mark.soak
@OFFERS
@pytest.mark.parametrize(("of", "fraction", "rows"), CASES)
def test_quantiles_are_covered_in_many_runs(of: str, fraction: float, rows: int, offer: Mapping[str, Any]) -> None:
    """The same with more power."""
    check_coverage(of, fraction, rows, offer, LONG)


DECILES = ", ".join(f"QUANTILE_CONT(income, 0.{tenth}) AS d{tenth}" for tenth in range(1, 10))


@OFFERS
def test_many_quantiles_are_read_from_the_same_noisy_counts(offer: Mapping[str, Any]) -> None:
    """One release for all of them, at what was offered; of an extreme there is a choice beside it."""
    plan = level(f"SELECT {DECILES}, MAX(income) AS most FROM people", **offer)
    ranks, choice = (each.mechanism for each in plan.draft.selections)
    assert isinstance(ranks, NoisyRanks)
    assert ranks.fractions == tuple(Fraction(tenth, 10) for tenth in range(1, 10))
    assert isinstance(choice, Quantile)
    alone = level("SELECT MEDIAN(income) AS m, MAX(income) AS most FROM people", **offer)
    assert all(isinstance(each.mechanism, Quantile) for each in alone.draft.selections)


def test_their_errors_are_less_than_those_of_choices_for_each() -> None:
    """Of five quantiles at ε = 1, by more than a quarter; of two it isn't so, and each is chosen."""
    five = ", ".join(f"QUANTILE_CONT(income, {each}) AS d{each[2:]}" for each in ("0.1", "0.25", "0.5", "0.75", "0.9"))
    found = {each.column: each.ranks for each in expected_errors(level(f"SELECT {five} FROM people", epsilon=1).draft)}
    assert all(off is not None and off < 80 for off in found.values())
    dataset = Dataset(
        name="p", tables=(PEOPLE,), budget=Budget(epsilon=9), ledger="unused", analysts={}, adjacency=ADD_REMOVE
    )
    words = make_plan(question(f"SELECT {five} FROM people", TABLES), Request.of(epsilon=1), dataset).explain()
    assert "read together from noisy counts of ranges in 3 levels of 26 by 26" in words
    assert "chosen one by one, some would be 111.4 off" in words
    two = level("SELECT QUANTILE_CONT(income, 0.25) AS a, QUANTILE_CONT(income, 0.75) AS b FROM people", epsilon=1)
    assert all(isinstance(each.mechanism, Quantile) for each in two.draft.selections)


@pytest.mark.parametrize("tenth", [1, 5, 9])
@OFFERS
def test_many_quantiles_are_covered(tenth: int, offer: Mapping[str, Any]) -> None:
    """Each of them by its own interval."""
    plan, data = level(f"SELECT {DECILES} FROM people", **offer), people(600)
    exact, truth = exact_of(plan, data), quantile([row["income"] for row in data], tenth / 10)
    rule = interval_of(plan.draft, plan.draft.question.outputs[tenth - 1].expr, 0.95)

    def held() -> Iterator[bool]:
        while True:
            ends = rule(release(plan, exact)[0].noisy)
            assert ends is not None
            yield bool(ends.lo <= truth <= ends.hi)

    assert stands(held(), USUAL)


def test_many_quantiles_are_stored_and_read_back() -> None:
    """As a list for all of them; of no rows they are NULL where the noisy number of rows says so."""
    plan = level(f"SELECT {DECILES} FROM people", epsilon=100)
    groups = release(plan, exact_of(plan, people(500)))
    assert groups_from_json(groups_to_json(groups)) == groups
    (found,) = rows_of(plan.draft, groups)
    assert list(found.values()) == sorted(found.values())
    (empty,) = rows_of(plan.draft, [replace(groups[0], noisy={plan.draft.picks[0].name: (-3, *[0] * 27)})])
    assert set(empty.values()) == {None}


def test_ties_are_covered_too() -> None:
    """Where nearly all rows have one value, the interval is that value: another lies 240 rows off, 100 noise scales."""
    plan, data = level("SELECT MEDIAN(age) AS x FROM people", epsilon=1), people(500, ages=[40] * 490 + [3] * 10)
    assert stands(covered(plan, data, 40), USUAL)
    rule = interval_of(plan.draft, plan.draft.question.outputs[0].expr, 0.95)
    ends = rule(release(plan, exact_of(plan, data))[0].noisy)
    assert ends is not None
    assert (ends.lo, ends.hi) == (40, 40)


def test_intervals_are_narrow_enough_to_be_of_use() -> None:
    """At ε = 1 that of a median of 1,000 rows mostly spans less than 60 of them on either side.

    False alarm: none of 600 spanned more than 90; if one in fifty spanned 120, twelve of 24 would once in 1e13.
    """
    plan, data = level("SELECT MEDIAN(income) AS x FROM people", epsilon=1), people(1_000)
    ranked, expr, exact = (
        sorted(row["income"] for row in data),
        plan.draft.question.outputs[0].expr,
        exact_of(plan, data),
    )
    spans = []
    for _ in range(24):
        found = interval_of(plan.draft, expr, 0.95)(release(plan, exact)[0].noisy)
        assert found is not None
        spans.append(sum(found.lo <= value <= found.hi for value in ranked))
    assert sorted(spans)[12] < 120


def test_an_interval_is_known_at_the_confidence_that_it_was_chosen_for() -> None:
    """Below that it is the same one, and above it is the whole range: nothing was released that would tell more.

    False alarm: both ends of the range are forty scales of the choice away.
    """
    expr = level("SELECT QUANTILE_CONT(income, 0.25) AS x FROM people", epsilon=1).draft.question.outputs[0].expr
    for asked, confidences in (("0.95", (0.3, 0.9, 0.95)), ("0.99", (0.3, 0.95, 0.99)), ("0.5", (0.3, 0.95))):
        plan = level("SELECT QUANTILE_CONT(income, 0.25) AS x FROM people", epsilon=1, confidence=asked)
        (group,) = release(plan, exact_of(plan, people(800)))
        found = {interval_of(plan.draft, expr, confidence)(group.noisy) for confidence in confidences}
        (one,) = found
        assert one is not None
        assert one.hi - one.lo < 100_000
        everything = interval_of(plan.draft, expr, 0.9999)(group.noisy)
        assert everything is not None
        assert everything.lo == 0
        assert everything.hi >= 250_000


def test_what_is_put_together_has_intervals_that_each_take_their_share() -> None:
    """Of the error, so that the whole keeps what it says."""
    plans = {
        sql: level(f"SELECT {sql} AS x FROM people", epsilon=1)
        for sql in ("MEDIAN(age)", "MEDIAN(age) - MIN(age)", "MEDIAN(age) * COUNT(*) + MAX(age)")
    }
    found = [plan.draft.selections[0].mechanism for plan in plans.values()]
    assert [isinstance(each, Quantile) and each.confidence for each in found] == [
        1 - Fraction(1, 20 * parts) for parts in (1, 2, 3)
    ]
    plan = plans["MEDIAN(age) - MIN(age)"]
    (group,) = release(plan, exact_of(plan, people(2_000)))
    ends = interval_of(plan.draft, plan.draft.question.outputs[0].expr, 0.95)(group.noisy)
    assert ends is not None
    assert ends.hi - ends.lo < 110


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("offer", [{"epsilon": "1.5"}, {"rho": "0.25"}])
def test_an_answer_costs_what_was_offered(adjacency: Adjacency, offer: Mapping[str, Any]) -> None:
    """Whatever is counted, added up and chosen, and never more."""
    sql = (
        "SELECT sex, MEDIAN(age) AS m, MAX(age) AS x, MODE(level) AS l, COUNT(DISTINCT age) AS d, AVG(age) AS a, "
        f"{DECILES}"
    )
    dataset = Dataset(
        name="p", tables=(PEOPLE,), budget=Budget(epsilon=9), ledger="unused", analysts={}, adjacency=adjacency
    )
    plan = make_plan(question(f"{sql} FROM people GROUP BY sex", TABLES), Request.of(**offer), dataset)
    cost = plan.to_dict()["cost"]
    assert isinstance(cost, dict)
    (name, offered), *_ = offer.items()
    spent = Fraction(cost["exact"][name])
    assert Fraction(99, 100) * Fraction(offered) <= spent <= Fraction(offered)


def test_substitution_takes_more() -> None:
    """The same sharpness costs more where a unit may be put in another's place."""
    reaches = [
        level("SELECT MEDIAN(age) AS m FROM people", adjacency, epsilon=1).draft.selections[0].reach(Fraction(19, 20))
        for adjacency in (ADD_REMOVE, SUBSTITUTION)
    ]
    assert reaches[1] == pytest.approx(2 * reaches[0], rel=0.01)


def test_at_a_great_offer_choices_are_right() -> None:
    """Values of every kind are those of plain SQL; of the most frequent, too: a row is a thousand noise scales."""
    sql = (
        "SELECT MEDIAN(age) AS a, MEDIAN(income) AS i, MEDIAN(born) AS b, MODE(level) AS l, "
        "APPROX_TOP_COUNT(level, 2) AS t, MODE(sex) AS s, COUNT(DISTINCT age) AS d FROM people"
    )
    plan, data = level(sql, epsilon=10_000), people(999)
    (found,) = rows_of(plan.draft, release(plan, exact_of(plan, data)))
    assert found["a"] == quantile([row["age"] for row in data], 0.5)
    assert found["i"] == pytest.approx(quantile([row["income"] for row in data], 0.5), abs=250_000 / 2**14)
    assert found["b"] == quantile([row["born"] for row in data], 0.5)
    assert (found["l"], found["t"], found["s"]) == (1, [1, 2], "Male")
    assert found["d"] == len({row["age"] for row in data})


def test_groups_without_rows_are_answered() -> None:
    """With public keys; the interval says that it could be anything.

    False alarm: another interval is chosen with a chance of at most 0.05 × 4/95; four times of five once in 1e10.
    """
    plan = level("SELECT level, MEDIAN(age) AS m, MODE(sex) AS s FROM people GROUP BY level", epsilon=1)
    exact, expr, anything = exact_of(plan, people(3)), plan.draft.question.outputs[1].expr, 0
    for _ in range(5):
        groups = release(plan, exact)
        assert [group.key for group in groups] == [(1,), (2,), (3,), (None,)]
        ends = interval_of(plan.draft, expr, 0.95)(groups[-1].noisy)
        assert ends is not None
        anything += (ends.lo, ends.hi) == (0, 110)
    assert anything >= 2


def test_where_no_row_is_left_nothing_is_chosen() -> None:
    """Beside a count of rows that noise took below 1, or where the choice of the interval says so."""
    plan = level("SELECT COUNT(*) AS n, MEDIAN(age) AS m, MODE(sex) AS s FROM people", epsilon=1)
    (group,) = release(plan, exact_of(plan, people(30)))
    found = dict(plan.draft.estimators)
    names = {each.function: each.name for each in plan.draft.question.aggregates}
    rows, median, mode = (found[names[each]] for each in (COUNT, QUANTILE, MODE))
    (counted,), (_, around) = rows.parts, median.parts
    full = {**group.noisy, counted: 30, around: 0}
    assert None not in {median.estimate(full, plan.draft.laws), mode.estimate(full, plan.draft.laws)}
    for empty in ({**full, counted: 0}, {**full, counted: -7}):
        assert median.estimate(empty, plan.draft.laws) is None
        assert mode.estimate(empty, plan.draft.laws) is None
    assert isinstance(median, QuantileEstimator)
    bare = {**full, around: len(nested(integer(median.pick.name, full), median.grid.size, Fraction(1, 2)))}
    assert median.estimate(bare, plan.draft.laws) is not None  # a count knows better
    assert replace(median, rows=None).estimate(bare, plan.draft.laws) is None


def test_what_is_stored_is_read_back() -> None:
    """Bins, lists of bins, and the intervals about them."""
    plan = level("SELECT MEDIAN(age) AS m, APPROX_TOP_K(level, 2) AS t, COUNT(*) AS n FROM people", epsilon=1)
    groups = release(plan, exact_of(plan, people(50)))
    assert groups_from_json(groups_to_json(groups)) == groups


def test_a_unit_of_many_rows_weighs_what_its_limits_say() -> None:
    """One unit with a thousand rows doesn't move the median that 400 others have at the other end, 80 scales away."""
    plan = level("SELECT MEDIAN(amount) AS m FROM visits", epsilon=5)
    rows = [{"person_id": 0, "amount": 99.0, "day": date(2024, 1, 1)}] * 1_000
    rows += [{"person_id": 1 + row, "amount": 3.0, "day": date(2024, 1, 1)} for row in range(400)]
    (found,) = rows_of(plan.draft, release(plan, exact_of(plan, rows, "visits")))
    assert found["m"] == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT UPPER(APPROX_TOP_COUNT(sex, 2)) AS x FROM people",
        "SELECT APPROX_TOP_COUNT(level, 2) AS x FROM people HAVING APPROX_TOP_COUNT(level, 2) > 1",
        "SELECT sex, APPROX_TOP_COUNT(level, 2) AS x FROM people GROUP BY sex ORDER BY x",
    ],
)
def test_nothing_is_computed_from_lists(sql: str) -> None:
    """Lists are shown as they are."""
    with pytest.raises(Unsupported, match="list"):
        level(sql, epsilon=1)


def test_too_many_choices_are_refused() -> None:
    """A sum over as many groups isn't."""
    sql = "SELECT age, born, {} AS x FROM people GROUP BY age, born"
    assert level(sql.format("SUM(income)"), epsilon=1)
    with pytest.raises(TooManyGroups, match="choices"):
        level(sql.format("MEDIAN(income)"), epsilon=1)


def test_the_plan_tells_what_is_chosen() -> None:
    """In words, and in the certificate."""
    dataset = Dataset(
        name="p", tables=(PEOPLE,), budget=Budget(epsilon=9), ledger="unused", analysts={}, adjacency=ADD_REMOVE
    )
    sql = "SELECT MIN(age) AS lo, MEDIAN(income) AS m, MODE(sex) AS s FROM people"
    plan = make_plan(question(sql, TABLES), Request.of(epsilon=1), dataset)
    words = plan.explain()
    assert "least age, as an extreme quantile" in words
    assert "quantile 0.5 of income, chosen with its interval from 16,384 values" in words
    assert "most frequent sex, of 2 public values" in words
    (levels,) = [plan.to_dict()["levels"]]
    assert isinstance(levels, list)
    assert [choice["of"]["size"] for choice in levels[0]["choices"]] == [111, 16384, 2]
