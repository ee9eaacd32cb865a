"""Limits that cut nothing off cut nothing off: intervals hold the answer of the plain SQL as often as they say.

The visits below keep to every limit that is declared of them: a person has at most 8 rows, in at most 4 groups, and at
most 2 rows in each. So an answer without noise must be that of DuckDB, whatever is asked beside it; and 95 % of the
intervals must hold it. Groups are far above any threshold, so that which of them are released is certain.

Coverage is claimed to be at least 94 %. Answers are drawn until it is clear whether it is, see `support.sequential`.
Each claim is rejected by chance with probability at most 1e-12, and there are less than 1,000 columns of cases in all
tests together: false alarm below 1e-9. A coverage of 60 % in a case is found out with probability above 99 %, and one
of 91 % in a soak; 3 groups × 3 rows for 10 that were declared left 30 %. Cases that differ in whose rows they are, or
in limits that cut nothing off, are also looked at together, where a coverage of 87 % in all of them is found out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import cycle, product
from math import isclose
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.engine import ExactResult
from discreet.gateway.answers import evaluate, interval_of
from discreet.gateway.execute import release, with_room
from discreet.privacy import Bounds, Budget, Keys, Limits, Unit
from discreet.query.estimates import Interval
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Link, Source, Table
from support.crossed import crossed
from support.engines import engine_as_if_admitted
from support.sequential import Claim, all_stand

PEOPLE, GROUPS = 2_400, "abcdef"
ALARM = Fraction(1, 10**12)
ALONE, TOGETHER, LONG = (Claim(0.94, wrong=wrong, alarm=ALARM) for wrong in (0.6, 0.87, 0.91))
SURELY = Claim(0.94, wrong=0.6, alarm=ALARM, miss=ALARM)

UNITS = {
    "row": {"unit": Unit.row()},
    "id": {"unit": Unit("id")},
    "day": {"unit": Unit("id", per="day", at="day")},
    "link": {"unit": None, "links": (Link("id", "people", "id"),)},
}
LIMITS = {
    "rows": Limits(rows=10),
    "rows and groups": Limits(rows=10, groups=4),
    "groups": Limits(groups=4, rows_per_group=2),
}
KEYS = ("public", "private", "none")
OFFERS = ({"epsilon": 20}, {"rho": 10})
CASES = [
    (unit, limits, keys)
    for unit, limits, keys in product(UNITS, LIMITS, KEYS)
    if (unit != "row" or limits == "rows") and (keys != "none" or limits != "groups")  # without keys, 2 rows in all
]
SOME = [
    ("row", "rows", "public"), ("id", "groups", "public"), ("day", "rows", "public"),
    ("link", "rows and groups", "public"), ("row", "rows", "private"), ("id", "rows and groups", "private"),
    ("day", "groups", "private"), ("link", "groups", "private"), ("row", "rows", "none"), ("id", "rows", "none"),
    ("day", "rows and groups", "none"), ("link", "rows", "none"),
]  # fmt: skip
"""Cases in which any two of whose rows they are, limits and keys meet."""

ADDED = [
    "COUNT(*)", "COUNT(x)", "SUM(x)", "SUM(y)", "AVG(x)", "VAR_POP(x)", "STDDEV_SAMP(x)", "COVAR_POP(x, y)",
    "COUNT(DISTINCT id)", "COUNT(DISTINCT x)", "SUM(x) / COUNT(*)",
]  # fmt: skip
CHOSEN = ["MEDIAN(x)", "MIN(x)", "QUANTILE_DISC(x, 0.9)"]


def visits() -> list[dict[str, Any]]:
    """Up to eight rows of each person, in up to four groups, on up to two days; without any chance."""
    return [
        {
            "id": person,
            "g": GROUPS[(person * 7 + row % 4) % len(GROUPS)],
            "day": date(2026, 1, 1) + timedelta(days=(person + row // 6) % 28),
            "x": None if (person + row) % 11 == 0 else (person * 13 + row * 29) % 101,
            "y": (person * 17 + row * 5) % 97 / 4,
        }
        for person in range(PEOPLE)
        for row in range(1 + person % 8)
    ]


ROWS = visits()
TABLES = {"visits": pa.Table.from_pylist(ROWS), "people": pa.table({"id": list(range(PEOPLE))})}


def dataset(unit: str, limits: Limits, keys: str) -> Dataset:
    """The visits, whoever they belong to."""
    whose: Mapping[str, Any] = UNITS[unit]
    table = Table(
        name="visits",
        source=Source(kind="memory", location="visits"),
        columns=(
            Column(name="id", kind=Kind.INTEGER),
            Column(name="g", kind=Kind.TEXT, keys=Keys(list(GROUPS)) if keys == "public" else None),
            Column(name="day", kind=Kind.DATE),
            Column(name="x", kind=Kind.INTEGER, bounds=Bounds(0, 100)),
            Column(name="y", kind=Kind.REAL, bounds=Bounds(0, 25), nullable=False),
        ),
        limits=Limits(rows=1) if unit == "row" else limits,
        **whose,
    )
    people = Table(
        name="people",
        source=Source(kind="memory", location="people"),
        columns=(Column(name="id", kind=Kind.INTEGER),),
        unit=Unit("id"),
        limits=Limits(rows=1),
    )
    tables = (table, people) if unit == "link" else (table,)
    return Dataset(name="visits", tables=tables, budget=Budget(epsilon=100), ledger="none")


def sql_of(columns: Sequence[str], keys: str) -> str:
    """A question of these columns, by group."""
    listed = ", ".join(f"{column} AS c{number}" for number, column in enumerate(columns))
    return f"SELECT {listed} FROM visits" if keys == "none" else f"SELECT g, {listed} FROM visits GROUP BY g"


def planned(columns: Sequence[str], unit: str, limits: Limits, keys: str, offer: Mapping[str, Any]) -> Level:
    """The plan."""
    data = dataset(unit, limits, keys)
    return make_plan(question(sql_of(columns, keys), data.tables), Request.of(delta="1e-6", **offer), data).levels[0]


def answered(level: Level, tables: Mapping[str, pa.Table] = TABLES) -> ExactResult:
    """The exact part. Units over a limit on groups keep the same ones whatever is asked, as they don't in earnest."""
    engine = engine_as_if_admitted(level.exact.tables, tables, threads=1)
    return with_room(level, engine.run(replace(level.exact, salt="s")))


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB itself, on the same rows."""
    with duckdb.connect() as connection:
        connection.register("visits", TABLES["visits"])
        yield connection


def truth(connection: duckdb.DuckDBPyConnection, columns: Sequence[str], keys: str) -> dict[tuple[Any, ...], list[Any]]:
    """The plain SQL's answer, by group. Quantiles are values that rows have, as `QUANTILE_DISC` says."""
    spelled = [column.replace("MEDIAN(x)", "QUANTILE_DISC(x, 0.5)") for column in columns]
    rows = connection.execute(sql_of(spelled, keys)).fetchall()
    return {row[: -len(columns)]: list(row[-len(columns) :]) for row in rows}


def unnoised(level: Level, exact: ExactResult) -> dict[tuple[Any, ...], list[float]]:
    """The answer as it would be without noise."""
    found = {}
    for place, key in enumerate(exact.keys):
        noisy = {name: values[place] for name, values in exact.measures.items()}
        values = {name: estimator.estimate(noisy, level.noises) for name, estimator in level.draft.estimators}
        outputs = [output.expr for output in level.draft.question.outputs if output.name != "g"]
        found[key] = [float(evaluate(expr, values)) for expr in outputs]
    return found


def is_same(one: Mapping[tuple[Any, ...], Sequence[float]], other: Mapping[tuple[Any, ...], Sequence[float]]) -> bool:
    """Whether two answers are equal, but for the grid that real numbers are put on."""
    return one.keys() == other.keys() and all(
        isclose(ours, theirs, rel_tol=1e-6) for key in one for ours, theirs in zip(one[key], other[key], strict=True)
    )


def rows_in_bins(level: Level, exact: ExactResult) -> dict[tuple[Any, ...], float]:
    """How many rows a histogram holds in each group."""
    (histogram,) = level.draft.histograms
    counts = exact.histograms[histogram.name]
    return {key: sum(bins.values()) * 2.0**histogram.grid for key, bins in zip(exact.keys, counts, strict=True)}


@pytest.mark.parametrize(("case", "offer"), crossed(CASES, OFFERS))
def test_without_noise_the_answer_is_the_plain_sqls(
    plain: duckdb.DuckDBPyConnection, case: tuple[str, str, str], offer: Mapping[str, Any]
) -> None:
    """Rows, units, and every aggregate together, for ε or for ρ; and the bins that quantiles are chosen from."""
    unit, limits, keys = case
    for columns in (["COUNT(*)"], ["COUNT(DISTINCT id)"], ADDED):
        level = planned(columns, unit, LIMITS[limits], keys, offer)
        assert is_same(unnoised(level, answered(level)), truth(plain, columns, keys)), columns
    level = planned(["MEDIAN(x)", "COUNT(DISTINCT id)"], unit, LIMITS[limits], keys, offer)
    wanted = {key: float(count) for key, (count,) in truth(plain, ["COUNT(x)"], keys).items()}
    assert rows_in_bins(level, answered(level)) == wanted


class Held(Sequence[bool]):
    """Which columns' intervals hold what is wanted; looked at where it is asked, for most claims are soon clear.

    Args:
        rules: of the columns' intervals.
        noisy: the numbers of a group.
        wanted: its values.
    """

    def __init__(
        self,
        rules: Sequence[Callable[[Mapping[str, Any]], Interval | None]],
        noisy: Mapping[str, Any],
        wanted: Sequence[Any],
    ) -> None:
        self._rules, self._noisy, self._wanted = rules, noisy, wanted

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, place: Any) -> Any:
        return is_within(self._rules[place](self._noisy), float(self._wanted[place]))


def held(level: Level, exact: ExactResult, wanted: Mapping[tuple[Any, ...], Sequence[Any]]) -> Iterator[Held]:
    """Which columns' intervals hold what is wanted, group after group of one answer after the other."""
    outputs = [output.expr for output in level.draft.question.outputs if output.name != "g"]
    rules = [interval_of(level.draft, expr, 0.95) for expr in outputs]
    while True:
        groups = release(level, exact)
        assert {group.key for group in groups} == wanted.keys()
        for group in groups:
            yield Held(rules, group.noisy, wanted[group.key])


def is_within(ends: Interval | None, value: float) -> bool:
    """Whether an interval holds a value, but for the grid that real numbers are put on."""
    assert ends is not None
    return bool(ends.lo - 1e-6 * abs(value) <= value <= ends.hi + 1e-6 * abs(value))


@pytest.mark.parametrize("number", range(len(OFFERS)), ids=["laplace", "gaussian"])
def test_intervals_hold_the_answer_of_the_plain_sql(plain: duckdb.DuckDBPyConnection, number: int) -> None:
    """For every aggregate, and any two of whose rows they are, limits and keys; and over these.

    Laplace noise is added in every other case, and Gaussian noise in the rest.
    """
    check_coverage(plain, SOME[number::2], OFFERS[number], ALONE)


@pytest.mark.soak
@pytest.mark.parametrize("offer", OFFERS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("keys", KEYS)
def test_intervals_hold_the_answer_of_the_plain_sql_at_length(
    plain: duckdb.DuckDBPyConnection, keys: str, offer: Mapping[str, Any]
) -> None:
    """The same of all cases, with more power."""
    check_coverage(plain, [case for case in CASES if case[2] == keys], offer, LONG)


def check_coverage(
    plain: duckdb.DuckDBPyConnection, among: Sequence[tuple[str, str, str]], offer: Mapping[str, Any], claim: Claim
) -> None:
    """Compare the coverage of each column with what is claimed, in each case and in all by turns.

    Cases in which the same numbers get the same noise and are read alike are one: nothing else has a part in coverage.
    """
    columns, cases, seen = [*ADDED, *CHOSEN], [], list[tuple[Any, ...]]()
    for unit, limits, keys in among:
        level = planned(columns, unit, LIMITS[limits], keys, offer)
        exact = answered(level)
        if (what := decides(level, exact)) in seen:
            continue
        seen.append(what)
        cases.append(held(level, exact, truth(plain, columns, keys)))
        assert all_stand(cases[-1], claim), (unit, limits, keys)
    assert all_stand((next(each) for each in cycle(cases)), TOGETHER)


def decides(level: Level, exact: ExactResult) -> tuple[Any, ...]:
    """All by which noise is drawn for a case, and its intervals are found; the question is the same but for units."""
    draft = level.draft
    outputs = [output.expr for output in draft.question.outputs]
    read = draft.estimators, draft.picks, draft.counts_ranks, draft.least_units, draft.request, outputs
    drawn = draft.noises, draft.selections, draft.threshold, draft.selector, draft.counter, draft.limits
    by_name = {**exact.measures, **exact.histograms}
    numbers = {key: {name: by_name[name][place] for name in by_name} for place, key in enumerate(exact.keys)}
    return (*read, *drawn, numbers)


@pytest.mark.parametrize("columns", [["COUNT(*)"], ["COUNT(DISTINCT id)"], ["SUM(x)"]])
def test_limits_that_cut_are_found_out(plain: duckdb.DuckDBPyConnection, columns: list[str]) -> None:
    """The wrong twin: 2 groups × 1 row in place of 10 rows; neither test lets it pass."""
    right = planned(columns, "id", LIMITS["rows"], "private", OFFERS[0])
    wanted = truth(plain, columns, "private")
    wrong = Level(replace(right.draft, limits=Limits(groups=2, rows_per_group=1)))
    assert not is_same(unnoised(wrong, answered(wrong)), wanted)
    assert not all_stand(held(wrong, answered(wrong), wanted), SURELY)


PARTS = {
    "(SELECT id, g FROM visits UNION ALL SELECT id, g FROM visits)": "16 rows",
    "(SELECT id, g FROM visits UNION ALL SELECT id, g FROM visits WHERE y > 3 UNION ALL "
    "(SELECT id, MIN(g) AS g FROM visits GROUP BY id))": "17 rows",
    "(SELECT id, g FROM visits WHERE id IN (SELECT v.id FROM visits AS v WHERE v.x > 50))": "8 rows",
    "(SELECT v.id, v.g FROM visits AS v JOIN (SELECT id, COUNT(*) AS n FROM visits GROUP BY id) AS p ON v.id = p.id)": (
        "8 rows"
    ),
    "(SELECT id, g, COUNT(*) AS n FROM visits GROUP BY id, g)": "8 rows",
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("parts", PARTS)
def test_rows_made_of_rows_are_not_cut_either(plain: duckdb.DuckDBPyConnection, parts: str, keys: str) -> None:
    """What tables declare is enough for what a subquery makes of their rows."""
    columns, data = ["COUNT(*)", "COUNT(DISTINCT id)"], dataset("id", Limits(rows=8), keys)
    sql = sql_of(columns, keys).replace("visits", f"{parts} AS made")
    level = make_plan(question(sql, data.tables), Request.of(delta="1e-6", epsilon=20), data).levels[0]
    wanted = {row[:-2]: list(row[-2:]) for row in plain.execute(sql).fetchall()}
    assert is_same(unnoised(level, answered(level)), wanted)
    assert str(level.draft.limits).startswith(PARTS[parts])


OVER = {
    "visits": pa.Table.from_pylist([row | {"id": row["id"] % 100} for row in ROWS[:2_000]]),
    "people": TABLES["people"],
}
"""The same rows of fewer people, who are far over every limit."""


@pytest.mark.parametrize(
    ("limits", "keys", "offer"),
    crossed([*LIMITS.values(), Limits(rows=1), Limits(groups=2, rows_per_group=1)], list(KEYS), OFFERS),
)
def test_an_added_column_leaves_the_others_limits_alone(limits: Limits, keys: str, offer: Mapping[str, Any]) -> None:
    """What units over their limits add to a column is the same whatever is asked beside it."""
    added = ([], ["COUNT(DISTINCT id)"], ["COUNT(DISTINCT x)", "AVG(y)"])
    levels = [planned(["SUM(x)", *beside], "id", limits, keys, offer) for beside in added]
    alone, *others = [
        {key: values[:1] for key, values in unnoised(level, answered(level, OVER)).items()} for level in levels
    ]
    assert all(is_same(alone, each) for each in others)


def test_limits_that_follow_the_columns_are_found_out() -> None:
    """The wrong twin: a limit on groups that only COUNT(DISTINCT id) brings."""
    level = planned(["SUM(x)"], "id", LIMITS["rows"], "public", OFFERS[0])
    other = Level(replace(level.draft, limits=Limits(groups=3, rows_per_group=3)))
    ours, theirs = (unnoised(one, answered(one, OVER)) for one in (level, other))
    assert not is_same(ours, theirs)


@pytest.mark.parametrize(
    ("limits", "keys", "offer", "columns", "wanted"),
    [
        (Limits(rows=10), "public", "epsilon", "COUNT(*)", "10 rows"),
        (Limits(rows=10), "public", "epsilon", "COUNT(DISTINCT id)", "10 rows in 6 groups"),
        (Limits(rows=4), "public", "epsilon", "COUNT(DISTINCT id)", "4 rows in 4 groups"),
        (Limits(rows=10), "private", "epsilon", "COUNT(*)", "10 rows in 10 groups"),
        (Limits(rows=10, groups=3), "private", "epsilon", "COUNT(*)", "10 rows in 3 groups"),
        (Limits(rows=10, groups=30), "private", "epsilon", "COUNT(*)", "10 rows in 10 groups"),
        (Limits(rows=10, groups=3), "public", "epsilon", "COUNT(*)", "10 rows"),
        (Limits(rows=1), "private", "epsilon", "COUNT(*)", "1 groups × 1 rows"),
        (Limits(rows=1), "public", "epsilon", "COUNT(DISTINCT id)", "1 rows"),
        (Limits(rows=10), "none", "epsilon", "COUNT(DISTINCT id)", "10 rows"),
        (Limits(groups=3, rows_per_group=2), "public", "epsilon", "COUNT(*)", "6 rows"),
        (Limits(groups=9, rows_per_group=2), "public", "epsilon", "COUNT(*)", "12 rows"),
        (Limits(groups=3, rows_per_group=2), "private", "epsilon", "COUNT(*)", "6 rows in 3 groups"),
        (Limits(groups=3, rows_per_group=1), "private", "epsilon", "COUNT(*)", "3 groups × 1 rows"),
        (Limits(groups=3, rows_per_group=2), "none", "epsilon", "COUNT(*)", "2 rows"),
        (Limits(groups=3, rows_per_group=2), "private", "rho", "COUNT(*)", "3 groups × 2 rows"),
        (Limits(groups=3, rows_per_group=2), "public", "rho", "COUNT(*)", "3 groups × 2 rows"),
        (Limits(rows=10), "private", "rho", "COUNT(*)", "10 rows in 10 groups"),
    ],
)
def test_the_shape_is_the_one_with_the_least_noise(
    limits: Limits, keys: str, offer: str, columns: str, wanted: str
) -> None:
    """Of those that cut nothing off units within the declared limits."""
    level = planned([columns], "id", limits, keys, {offer: 1})
    assert str(level.draft.limits) == wanted
    assert all(noise.sensitivity.l1 <= (limits.rows or 20) * 2**20 for noise in level.draft.noises)


def test_units_of_one_row_are_counted_as_rows() -> None:
    """One number answers both columns, with all of ε."""
    for limits, keys in product((Limits(rows=1), Limits(groups=1, rows_per_group=1)), ("public", "private")):
        level = planned(["COUNT(*)", "COUNT(DISTINCT id)"], "id", limits, keys, {"epsilon": 1})
        assert len(level.draft.noises) == 1


def test_one_unit_makes_no_more_groups_appear_than_the_threshold_reckons_with() -> None:
    """A person alone in twenty groups, under limits on rows: few of these are there, and it is counted as 1 in each."""
    lone = [{"id": 0, "g": f"{number}", "day": date(2026, 1, 1), "x": 100, "y": 1.0} for number in range(20)]
    for limits in (Limits(rows=1), Limits(rows=4), Limits(rows=30), Limits(rows=12, groups=5)):
        level = planned(["COUNT(*)", "SUM(x)"], "id", limits, "private", {"epsilon": 1})
        threshold, selector = level.draft.threshold, level.draft.selector
        assert threshold is not None
        assert selector is not None
        found = answered(level, {"visits": pa.Table.from_pylist(lone)})
        assert len(found.keys) == min(threshold.l0, 20)
        assert set(found.measures[selector]) == {threshold.linf}
