"""Intervals of answers that follow from groups that were added up: they hold the answer without noise as often as said.

Groups of an answer that was read from cells are released with fresh noise, and a question is answered from them, until
it is clear whether the coverage is what is claimed, see `support.sequential`. Each claim is rejected by chance with
probability at most 1e-11, and there are fewer than 100: false alarm below 1e-9. A coverage of 88 % instead of 95 % is
found out with probability above 99 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.engine import ExactResult
from discreet.gateway.answers import Group, evaluate, interval_of, public_groups
from discreet.gateway.answers.derivation import Derived, derive
from discreet.gateway.answers.matching import Released
from discreet.gateway.execute import release
from discreet.query.planner import Draft, Level, Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.crossed import crossed
from support.engines import engine_as_if_admitted
from support.sequential import Claim, stands

RUNS = 4_000
CLAIM = Claim(0.95, wrong=0.88, alarm=Fraction(1, 10**11))
ROWS, GROUPS = 600, 5


def _table(unit: dp.Unit, limits: dp.Limits) -> Dataset:
    """Groups of people with two values."""
    value = {"kind": Kind.REAL, "bounds": dp.Bounds(0, 100)}
    table = Table(
        name="t",
        source=Source(kind="memory", location="t"),
        unit=unit,
        limits=limits,
        columns=(
            Column(name="id", kind=Kind.INTEGER),
            Column(name="g", kind=Kind.INTEGER, keys=dp.Keys([*range(1, GROUPS), None])),
            Column(name="x", **value),
            Column(name="y", **value, nullable=False),
        ),
    )
    return Dataset(name="t", tables=(table,), budget=dp.Budget(epsilon=100), ledger="none", adjacency=dp.ADD_REMOVE)


BY_ROW = _table(dp.Unit.row(), dp.Limits(rows=1))
BY_PERSON = _table(dp.Unit("id"), dp.Limits(rows=3))

FOLLOWS = [
    (BY_ROW, "COUNT(*) AS n, AVG(y) AS a", "COUNT(*)"),
    (BY_ROW, "COUNT(*) AS n, AVG(y) AS a", "SUM(y)"),
    (BY_ROW, "COUNT(*) AS n, AVG(x) AS a", "AVG(x)"),
    (BY_PERSON, "COUNT(*) AS n, AVG(y) AS a", "AVG(y)"),
    (BY_ROW, "AVG(y) AS a, VAR_SAMP(y) AS v", "VAR_SAMP(y)"),
    (BY_ROW, "CORR(x, y) AS c, AVG(x) AS a, AVG(y) AS b", "CORR(x, y)"),
    (BY_ROW, "CORR(x, y) AS c, AVG(x) AS a, AVG(y) AS b", "AVG(y)"),
    (BY_ROW, "COUNT_IF(y < 30) AS p, COUNT_IF(y >= 30) AS q", "COUNT_IF(y < 30)"),
]


def _planned(asked: str, dataset: Dataset, *, in_cells: bool | None = None, **offer: Any) -> Plan:
    return make_plan(question(asked, dataset.tables), Request.of(**offer), dataset, in_cells=in_cells)


def _exact(level: Level, dataset: Dataset) -> ExactResult:
    """The integers of rows that are scattered over the columns' ranges, without any chance."""
    rows = range(ROWS)
    data = {
        "id": [row // 2 for row in rows],
        "g": [row * 7 % GROUPS or None for row in rows],
        "x": [None if row % 6 == 0 else (row * 37 % 101) * 0.9 for row in rows],
        "y": [min(100.0, (row * 37 % 101) * 0.5 + row * 29 % 53) for row in rows],
    }
    return engine_as_if_admitted(dataset.tables, {"t": pa.table(data)}, threads=1).run(level.exact)


def _without_noise(level: Level, exact: ExactResult) -> Sequence[Group]:
    """The groups as they would be released without noise."""
    places = {key: place for place, key in enumerate(exact.keys)}
    return [
        Group(key, {name: exact.measures[name][places[key]] for name in level.noises}, 0)
        for key in public_groups(level.draft.keys)
    ]


def _following(plan: Plan, draft: Draft, groups: Sequence[Group]) -> Derived:
    found = derive(plan, [Released(draft=draft, groups=groups, entry=1)], on_purpose=True)
    assert found is not None
    return found


def _value(found: Derived) -> float:
    """The one value of an answer."""
    (level,), (group,) = found.plan.levels, found.groups()
    values = {name: one.estimate(group.noisy, level.draft.laws) for name, one in level.draft.estimators}
    return float(evaluate(level.draft.question.outputs[0].expr, values))


def covered(
    dataset: Dataset, first: str, then: str, offer: Mapping[str, Any], *, merged: bool = True
) -> Iterator[bool]:
    """Whether intervals hold the answer without noise, of one release after the other.

    Args:
        dataset: that is asked.
        first: the columns that are released for each group.
        then: what follows for all rows.
        offer: for the first.
        merged: whether intervals reckon with the noise of all groups; else with that of one.
    """
    (level,) = _planned(f"SELECT g, {first} FROM t GROUP BY g", dataset, in_cells=True, **offer).levels
    plan, exact = _planned(f"SELECT {then} AS z FROM t", dataset, **offer), _exact(level, dataset)
    truth = _value(_following(plan, level.draft, _without_noise(level, exact)))
    for _ in range(RUNS):
        found = _following(plan, level.draft, release(level, exact))
        (own,), (group,) = found.plan.levels, found.groups()
        assert {noise.number for noise in own.draft.noises} == {GROUPS}
        draft = own.draft
        if not merged:
            draft = replace(draft, noises=tuple(replace(noise, number=1) for noise in draft.noises))
        interval = interval_of(draft, draft.question.outputs[0].expr, 0.95)(group.noisy)
        yield interval is None or interval.lo <= truth <= interval.hi


@pytest.mark.parametrize(("follows", "offer"), crossed(FOLLOWS, [{"epsilon": 1}, {"rho": "1/2"}]))
def test_intervals_of_groups_that_were_added_up_hold(
    follows: tuple[Dataset, str, str], offer: Mapping[str, Any]
) -> None:
    """Of counts, sums, averages, variances and correlations, from cells of all groups."""
    assert stands(covered(*follows, offer), CLAIM)


@pytest.mark.parametrize("then", ["COUNT(*)", "AVG(y)"])
def test_intervals_of_one_groups_noise_would_not(then: str) -> None:
    """The wrong twin reckons with the noise of one group where that of five was added up."""
    assert not stands(covered(BY_ROW, "COUNT(*) AS n, AVG(y) AS a", then, {"epsilon": 1}, merged=False), CLAIM)
