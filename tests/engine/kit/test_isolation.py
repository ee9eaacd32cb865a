"""What a unit adds to an answer depends on its own rows alone, over all its tables, and stays within its limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from discreet.engine.duckdb.aggregation import rows_at_most
from discreet.privacy import Limits
from discreet.query.ir import (
    Column,
    DistinctValues,
    Exact,
    Histogram,
    Join,
    JoinKind,
    Measure,
    PerUnit,
    Scan,
    Sum,
    Summarized,
    Summary,
    Type,
)
from discreet.tables import Kind, Owner
from support.engines import compiled_once
from support.questions import AT_LEAST, by_group, call, count, literal
from support.relations import owners
from support.shop import DAYS, Rows, Shop, data, engine, shop, shops
from support.trees import exacts

Parts = dict[tuple[Any, ...], dict[str, int]]
"""Numbers by group, or by group and bin, for each measure."""

SEARCH = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def ask(asked: Exact, tables: dict[str, Rows]) -> Parts:
    """The engine's answer; a histogram's counts as numbers of their own."""
    numbers: Parts = defaultdict(dict)
    for group, found in by_group(engine(tables), asked).items():
        for name, value in found.items():
            for part, number in value.items() if isinstance(value, dict) else [((), value)]:
                numbers[group][name, part] = number  # type: ignore[index]  # a measure, and perhaps its bin
    return {group: {each: number for each, number in found.items() if number} for group, found in numbers.items()}


def units(whose: Shop, tables: dict[str, Rows]) -> dict[Hashable, dict[str, Rows]]:
    """For each unit, the tables with its own rows alone, besides the public ones."""
    found: dict[Hashable, dict[str, Rows]] = {}
    for name in whose.private:
        owner = whose.owners[name]
        assert owner is not None
        for row in tables[name]:
            for unit in owners(whose.tables[name], owner, row, tables):
                found.setdefault(unit, {each: [] if each in whose.private else tables[each] for each in tables})
                found[unit][name].append(row)
    return found


def added(parts: Iterable[Parts]) -> Parts:
    """All parts together."""
    totals: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    for part in parts:
        for group, numbers in part.items():
            for name, number in numbers.items():
                totals[group][name] += number
    return {group: {each: number for each, number in found.items() if number} for group, found in totals.items()}


def without_empty(parts: Parts) -> Parts:
    """Groups in which something isn't 0."""
    return {group: numbers for group, numbers in parts.items() if numbers}


@SEARCH
@given(shops().flatmap(lambda whose: exacts(whose).map(lambda asked: (whose, asked))), data())
def test_an_answer_is_the_sum_of_what_each_unit_adds_alone(case: tuple[Shop, Exact], tables: dict[str, Rows]) -> None:
    """To the last bit: whatever the others hold, infinities and overflows among it, a unit adds the same."""
    whose, asked = case
    assume(is_small(asked, tables))
    summed = replace(asked, measures=tuple(each for each in asked.measures if not isinstance(each, DistinctValues)))
    with compiled_once():
        alone = [ask(summed, own) for own in units(whose, tables).values()]
        assert without_empty(ask(summed, tables)) == added(alone)


@SEARCH
@given(shops().flatmap(lambda whose: exacts(whose).map(lambda asked: (whose, asked))), data())
def test_no_unit_moves_an_answer_beyond_its_limits(case: tuple[Shop, Exact], tables: dict[str, Rows]) -> None:
    """With all rows of a unit, over all its tables, or with none of them: all norms hold, of every measure."""
    whose, asked = case
    assume(is_small(asked, tables))
    with compiled_once():
        everybody = ask(asked, tables)
        for unit in units(whose, tables):
            gone = {name: [row for row in tables[name] if not is_of(whose, name, row, unit, tables)] for name in tables}
            check_moved(asked, asked.limits, everybody, ask(asked, gone))


def is_small(asked: Exact, tables: dict[str, Rows]) -> bool:
    """Whether the question is quickly answered a few times."""
    return (
        rows_at_most(asked.source, {scan.alias: max(1, 2 * len(tables[scan.table.name])) for scan in asked.scans})
        <= 10**5
    )


def is_of(whose: Shop, table: str, row: dict[str, Any], unit: Hashable, tables: dict[str, Rows]) -> bool:
    """Whether a row belongs to that unit and to no other."""
    owner = whose.owners.get(table)
    return owner is not None and owners(whose.tables[table], owner, row, tables) == {unit}


def check_moved(asked: Exact, limits: Limits, one: Parts, other: Parts) -> None:
    """How far each measure lies apart, in few groups, little in each, and little in all."""
    for measure in asked.measures:
        sizes: dict[Any, int] = defaultdict(int)
        for group in one.keys() | other.keys():
            before, after = (each.get(group, {}) for each in (one, other))
            for name in before.keys() | after.keys():
                if name[0] == measure.name:
                    sizes[group] += abs(before.get(name, 0) - after.get(name, 0))
        changed = [size for size in sizes.values() if size]
        most = greatest(measure)
        if limits.rows is not None and measure.name != "u":
            assert sum(changed) <= limits.rows * most, (measure, changed)
        elif limits.rows is not None and asked.keys:
            assert limits.groups is not None
            assert sum(changed) <= limits.groups, (measure, changed)
        elif limits.rows is not None:
            assert sum(changed) <= 1, (measure, changed)
        else:
            assert limits.groups is not None
            assert limits.rows_per_group is not None
            assert len(changed) <= limits.groups, (measure, changed)
            per_group = most if measure.name == "u" else limits.rows_per_group * most
            assert max(changed, default=0) <= per_group, (measure, changed)


def greatest(measure: Measure) -> int:
    """The most that one row, or value, moves a measure."""
    if isinstance(measure, Sum):
        return max(abs(measure.lo), abs(measure.hi))
    return 2**-measure.grid if isinstance(measure, Histogram) else 1


def test_a_summary_over_units_would_be_caught() -> None:
    """The wrong twin: orders counted over all customers, as if they were public, move with one what all others add."""
    whose = shop("customer", Limits(rows=1))
    orders = [{"id": n, "customer": 1 + n % 5, "status": "a", "amount": 1.0, "day": DAYS[0]} for n in range(10)]
    customers = [{"id": n, "household": n, "region": "a", "age": n, "vip": True} for n in range(1, 6)]
    tables: dict[str, Rows] = {"customers": customers, "orders": orders, "items": [], "parts": []}
    gone = tables | {"customers": customers[1:], "orders": [row for row in orders if row["customer"] != 1]}
    for asked in (with_orders(whose, whose.owners["orders"], 2), with_orders(whose, None, 10)):
        assert ask(asked, tables) == {(): {("n", ()): 5}}
    check_moved(
        asked := with_orders(whose, whose.owners["orders"], 2), asked.limits, ask(asked, tables), ask(asked, gone)
    )
    leaky = with_orders(whose, None, 10)
    with pytest.raises(AssertionError):
        check_moved(leaky, leaky.limits, ask(leaky, tables), ask(leaky, gone))


def with_orders(whose: Shop, owner: Owner | None, least: int) -> Exact:
    """How many customers there are with at least so many orders; all of them count, if they are nobody's."""
    customers = Scan(whose.tables["customers"], ("id",), whose.owners["customers"], "c")
    orders = Scan(whose.tables["orders"], (), owner, "o")
    whole = Type(Kind.INTEGER)
    counted = Summarized(name="n", summary=Summary.COUNT, argument=None, type=whole)
    enough = call(AT_LEAST, Column("p", "n", whole), literal(least))
    joined = Join(customers, PerUnit(orders, "p", (), (counted,)), JoinKind.INNER, enough)
    return Exact(source=joined, keys=(), measures=(count(),), limits=Limits(rows=1), salt="")
