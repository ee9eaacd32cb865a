"""Joins, unions, groups and windows over linked tables: to the integer what the words of the relations say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from discreet.engine.duckdb.aggregation import rows_at_most
from discreet.query.ir import Exact, Join, PerUnit, Window, nodes
from support.engines import order_of
from support.questions import by_group
from support.reference import Answer, answer
from support.shop import Rows, data, engine, shops
from support.trees import exacts

SEARCH = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
MOST_PAIRS = 20_000
"""Rows beyond which brute force takes too long."""

QUESTIONS = shops().flatmap(exacts)


def fits(question: Exact, tables: dict[str, Rows]) -> bool:
    """Whether brute force can go through all rows there may be."""
    counts = {scan.alias: max(1, 2 * len(tables[scan.table.name])) for scan in question.scans}
    return rows_at_most(question.source, counts) <= MOST_PAIRS


def asked(question: Exact, tables: dict[str, Rows], **settings: Any) -> Answer:
    """The engine's answer."""
    return by_group(engine(tables, **settings), question)


@SEARCH
@given(QUESTIONS, data())
def test_the_engine_computes_what_the_words_say(question: Exact, tables: dict[str, Rows]) -> None:
    """For random schemas, relations and rows, the same groups and integers."""
    assume(fits(question, tables))
    assert asked(question, tables) == answer(question, tables, order_of(question))


@pytest.mark.soak
@settings(SEARCH, max_examples=20_000)
@given(shops().flatmap(lambda shop: exacts(shop, depth=4)), data())
def test_the_engine_computes_what_the_words_say_at_length(question: Exact, tables: dict[str, Rows]) -> None:
    """The same, deeper, for as long as a soak has."""
    assume(fits(question, tables))
    assert asked(question, tables) == answer(question, tables, order_of(question))


@settings(SEARCH, max_examples=30)
@given(shops(["item"]).flatmap(lambda shop: exacts(shop, depth=2, alone=True)), data())
def test_rows_that_are_units_themselves(question: Exact, tables: dict[str, Rows]) -> None:
    """Filters, projections, and whether a public partner is there: what may be asked where each row is a unit."""
    assume(fits(question, tables))
    assert asked(question, tables) == answer(question, tables, order_of(question))


@settings(SEARCH, max_examples=15)
@given(QUESTIONS, data())
def test_order_and_threads_make_no_difference(question: Exact, tables: dict[str, Rows]) -> None:
    """The rows of all tables backwards, on one thread and on four: one answer."""
    assume(fits(question, tables))
    backwards = {name: rows[::-1] for name, rows in tables.items()}
    assert asked(question, tables, threads=1) == asked(question, backwards, threads=4)


def test_the_search_means_something() -> None:
    """Of some hundred random questions, each kind of relation is in many, and many answers aren't empty.

    A hundred mostly do. Where chance has it otherwise, another hundred are looked at, up to ten times.
    """
    seen: Counter[str] = Counter()
    often = ["Scan", "Where", "Project", "Join", "Union", "Distinct", "PerUnit", "Window"]

    def is_enough() -> bool:
        """Whether there was enough of everything."""
        return seen["rows"] >= 20 and all(seen[kind] >= 8 for kind in often) and len(seen) >= 25

    @settings(SEARCH, max_examples=100, phases=[Phase.generate], database=None)
    @given(QUESTIONS, data())
    def look(question: Exact, tables: dict[str, Rows]) -> None:
        """Note what there is."""
        assume(fits(question, tables))
        found = answer(question, tables, order_of(question))
        relations = list(nodes(question.source))
        seen.update({type(node).__name__ for node in relations})
        seen.update({str(node.kind) for node in relations if isinstance(node, Join)})
        seen.update({str(each.summary) for node in relations if isinstance(node, PerUnit) for each in node.columns})
        seen.update({str(each.function) for node in relations if isinstance(node, Window) for each in node.columns})
        seen["rows"] += any(values["n"] for values in found.values())

    for _ in range(10):
        look()
        if is_enough():
            break
    assert is_enough(), seen
