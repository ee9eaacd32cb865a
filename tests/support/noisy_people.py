"""People whose ages and incomes go together, more or less: what is found among them, with and without noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from discreet.engine import Engine
from discreet.gateway.answers import interval_of
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.ir import Exact
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.engines import engine_as_if_admitted
from support.sequential import Claim, stands

SOME = 60
LARGE = 2_000
"""Rows from which on a group is large."""

ALARM = Fraction(1, 2 * 10**10)


def level(sql: str, **offer: Any) -> Level:
    """The plan of a question of one column."""
    dataset = Dataset(
        name="p", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", analysts={}, adjacency=ADD_REMOVE
    )
    return make_plan(question(f"SELECT {sql} AS x FROM people", TABLES), Request.of(**offer), dataset).levels[0]


@cache
def people(rows: int) -> tuple[Mapping[str, Any], ...]:
    """Rows in which older people earn more, more or less; every ninth and every eleventh value is NULL."""
    return tuple(
        {
            "age": None if row % 9 == 0 else 20 + row * 37 % 61,
            "income": None if row % 11 == 0 else 1_500.0 * (row * 37 % 61) + row * 7919 % 100_003,
        }
        for row in range(rows)
    )


@cache
def engine_over(rows: int) -> Engine:
    """An engine that has these people; thousands of them are too many for plain loops."""
    ages, incomes = ([row[name] for row in people(rows)] for name in ("age", "income"))
    data = pa.table({"age": pa.array(ages, pa.int64()), "income": pa.array(incomes, pa.float64())})
    table = replace(PEOPLE, columns=tuple(map(PEOPLE.column, data.column_names)))
    return engine_as_if_admitted([table], {PEOPLE.source.location: data}, threads=1)


@cache
def exact_of(exact: Exact, rows: int) -> Mapping[str, Any]:
    """The integers that an engine returns."""
    return MappingProxyType({name: column[0] for name, column in engine_over(rows).run(exact).measures.items()})


@cache
def plain(sql: str, rows: int) -> float:
    """What DuckDB says."""
    with duckdb.connect() as connection:
        connection.register("people", pa.Table.from_pylist(list(people(rows))))
        ((value,),) = connection.execute(f"SELECT {sql} FROM people").fetchall()
    return float(value)


def noisy(plan: Level, rows: int) -> Iterator[Mapping[str, Any]]:
    """Noisy numbers of so many rows, again and again."""
    exact = exact_of(plan.exact, rows)
    while True:
        drawn = [noise.mechanism.release([exact[name]] * SOME) for name, noise in plan.noises.items()]
        yield from (dict(zip(plan.noises, values, strict=True)) for values in zip(*drawn, strict=True))


def covered(plan: Level, rows: int, sql: str, stated: Level, *, always_told: bool = True) -> Iterator[bool]:
    """Whether intervals hold the truth; no interval leaves everything possible.

    Args:
        plan: whose noise is drawn.
        rows: how many there are.
        sql: of the column.
        stated: whose noise the intervals reckon with.
        always_told: whether there must be an interval.
    """
    truth, rule = plain(sql, rows), interval_of(stated.draft, stated.draft.question.outputs[0].expr, 0.95)
    for numbers in noisy(plan, rows):
        ends = rule(numbers)
        assert ends is not None or not always_told
        yield ends is None or bool(ends.lo <= truth <= ends.hi)


def check_coverage(  # noqa: PLR0913 — a question, and what is claimed of it
    sql: str, rows: int, offer: Mapping[str, Any], wrong: float, *, most: float, always_told: bool = True
) -> None:
    """Intervals hold at least as often as said, and in a large group not much more often.

    Args:
        sql: of the column.
        rows: how many there are.
        offer: for it.
        wrong: a coverage that must be found out.
        most: the coverage in a large group, at most.
        always_told: as for `covered`.
    """
    plan = level(sql, **offer)
    claims = [Claim(0.95, wrong=wrong, alarm=ALARM)]
    if rows >= LARGE:
        claims.append(Claim(most, wrong=0.995, alarm=ALARM))
    assert stands(covered(plan, rows, sql, plan, always_told=always_told), *claims)
