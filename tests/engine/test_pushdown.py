"""Filters pushed below joins: where they go, where they must not, and that no answer differs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from discreet.engine import rewrites
from discreet.engine.duckdb import contributions
from discreet.engine.rewrites import push_filters_down
from discreet.privacy import Limits
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Expr, Function, Join, JoinKind, Relation, Scan, Type, Where
from discreet.tables import Kind
from support.engines import compiled_once
from support.hashes import HashOrder
from support.questions import AT_LEAST, BOTH, EQUAL, IS_NULL, LESS, by_group, call, count, literal
from support.reference import answer
from support.shop import COLUMNS, Rows, data, engine, shop

WHOSE = shop("customer", Limits(rows=1_000))
KINDS = [JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI]


def column(alias: str, name: str) -> Reference:
    """A column of orders, or of orders again."""
    return Reference(alias, name, Type(COLUMNS["orders"][name]))


def scan(alias: str) -> Scan:
    """Orders."""
    return Scan(WHOSE.tables["orders"], tuple(COLUMNS["orders"]), WHOSE.owners["orders"], alias)


PAIRED = call(EQUAL, column("orders", "status"), column("again", "status"))
LATER = call(LESS, column("orders", "amount"), column("again", "amount"))
LEFT_ONLY = call(AT_LEAST, column("orders", "amount"), literal(1.0))
RIGHT_ONLY = call(AT_LEAST, column("again", "id"), literal(2))
MISSING = call(IS_NULL, column("again", "day"))
NEVER = call(AT_LEAST, literal(1), literal(2))


def joined(kind: JoinKind, *on: Expr) -> Join:
    """Orders with those of the same customer."""
    predicate = on[0]
    for each in on[1:]:
        predicate = call(BOTH, predicate, each)
    return Join(scan("orders"), scan("again"), kind, predicate)


def asked(relation: Relation) -> Exact:
    """How many rows there are."""
    return Exact(source=relation, keys=(), measures=(count(),), limits=WHOSE.tables["orders"].limits, salt="")


def after(relation: Relation) -> Relation:
    """The relation, pushed."""
    return push_filters_down(asked(relation)).source


@pytest.mark.parametrize("kind", KINDS)
def test_the_left_side_is_filtered_first(kind: JoinKind) -> None:
    """Above any join."""
    below = Join(Where(scan("orders"), LEFT_ONLY), scan("again"), kind, PAIRED)
    assert after(Where(joined(kind, PAIRED), LEFT_ONLY)) == below


def test_the_right_side_is_filtered_first_if_all_rows_have_partners() -> None:
    """Above an INNER join; above a LEFT one the filter also meets rows without partners, so it stays."""
    both = call(BOTH, LATER, call(BOTH, RIGHT_ONLY, LEFT_ONLY))
    inner = Join(Where(scan("orders"), LEFT_ONLY), Where(scan("again"), RIGHT_ONLY), JoinKind.INNER, PAIRED)
    assert after(Where(joined(JoinKind.INNER, PAIRED), both)) == Where(inner, LATER)
    outer = Where(joined(JoinKind.LEFT, PAIRED), MISSING)
    assert after(outer) == outer


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_of_a_join_choose_partners(kind: JoinKind) -> None:
    """What they say of the right side alone goes there; of the left alone stays, as rows without partners may."""
    below = Join(scan("orders"), Where(scan("again"), RIGHT_ONLY), kind, call(BOTH, PAIRED, LEFT_ONLY))
    assert after(joined(kind, PAIRED, RIGHT_ONLY, LEFT_ONLY)) == below


def test_thousands_of_conditions_stay_one() -> None:
    """One filter for each would be as deep a query as there are conditions."""
    many = Function("and", infer=lambda _: Type(Kind.BOOLEAN), compile=lambda *_: None, evaluate=lambda *_: None)
    everything = call(many, *[LEFT_ONLY] * 3_000, *[RIGHT_ONLY] * 3_000)
    found = after(Where(joined(JoinKind.INNER, PAIRED), everything))
    assert isinstance(found, Join)
    assert found.left == Where(scan("orders"), call(many, *[LEFT_ONLY] * 3_000))
    assert found.right == Where(scan("again"), call(many, *[RIGHT_ONLY] * 3_000))


CONDITIONS = {
    "left": LEFT_ONLY,
    "right": RIGHT_ONLY,
    "missing": MISSING,
    "both": call(BOTH, LATER, RIGHT_ONLY),
    "never": NEVER,
}


@cache
def questions(kind: JoinKind, condition: str) -> list[Exact]:
    """The condition above the join, unless it is about columns that aren't there, and in the join."""
    above, within = Where(joined(kind, PAIRED), CONDITIONS[condition]), joined(kind, PAIRED, CONDITIONS[condition])
    lacks_right = kind in {JoinKind.SEMI, JoinKind.ANTI} and condition != "left"
    return [asked(within)] if lacks_right else [asked(above), asked(within)]


def differs(kind: JoinKind, condition: str, tables: dict[str, Rows]) -> bool:
    """Whether brute force finds another answer."""
    for question in questions(kind, condition):
        wanted: Any = answer(question, tables, HashOrder(question))
        if by_group(engine(tables), question) != wanted:
            return True
    return False


MADE: dict[int, Any] = {}
"""What was compiled of these questions."""


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=data())
def test_no_answer_differs(kind: JoinKind, condition: str, tables: dict[str, Rows]) -> None:
    """From brute force, which doesn't push."""
    with compiled_once(MADE):
        assert not differs(kind, condition, tables)


def test_a_wrong_push_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that treats every join as INNER, on an order without a partner."""
    order = {"id": 1, "customer": 1, "status": None, "amount": 1.0, "day": None}
    tables: dict[str, Rows] = {"customers": [], "orders": [order], "items": [], "parts": []}
    assert not differs(JoinKind.LEFT, "missing", tables)

    class Careless:
        INNER = JoinKind.LEFT

    monkeypatch.setattr(rewrites, "JoinKind", Careless)
    assert differs(JoinKind.LEFT, "right", tables) or differs(JoinKind.LEFT, "missing", tables)


def test_rows_that_are_filtered_out_make_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a unit whose rows are many, but few of the kind asked for, keeps all of these."""
    rows = [{"id": n, "customer": 1, "status": "a", "amount": n / 10, "day": None} for n in range(100)]
    tables: dict[str, Rows] = {"customers": [], "orders": rows, "items": [], "parts": []}
    few = call(AT_LEAST, column("orders", "amount"), literal(9.1))
    question = replace(asked(Where(joined(JoinKind.INNER, PAIRED), few)), most_pairs=100)
    assert by_group(engine(tables), question)[()]["n"] == 100
    fewer = call(AT_LEAST, column("again", "amount"), literal(9.1))
    question = replace(asked(Where(joined(JoinKind.INNER, PAIRED), call(BOTH, few, fewer))), most_pairs=100)
    assert by_group(engine(tables), question)[()]["n"] == 81
    monkeypatch.setattr(contributions, "push_filters_down", lambda exact: exact)
    assert by_group(engine(tables), question)[()]["n"] < 81
