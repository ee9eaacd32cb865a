"""How relations are carried out: joins by hash, shared relations once, and nothing left to chance."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.duckdb.session import Session
from discreet.engine import expression_compiler
from discreet.engine.duckdb.aggregation import shape_of
from discreet.engine.duckdb.contributions import make_contributions
from discreet.engine.duckdb.scan_views import make_scan_view
from discreet.engine.scan_view import scan_views_of
from discreet.privacy import Limits
from discreet.query.ir import (
    Call,
    Column,
    Distinct,
    Exact,
    Expr,
    Function,
    Join,
    JoinKind,
    Key,
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Sorting,
    Summarized,
    Summary,
    Type,
    Window,
    Windowed,
)
from discreet.tables import Kind
from discreet.tables.admission import lock_to, raw_views_of
from support.engines import as_if_admitted, engine_as_if_admitted
from support.questions import AT_LEAST, BOTH, EQUAL, LESS, PLUS, TIMES, by_group, call, count, literal, total
from support.shop import COLUMNS, DAYS, Rows, Shop, engine, shop

ROWS = 3_000
LIMITS = Limits(rows=5)
SHOP = shop("customer", LIMITS)
WHOLE, REAL, TEXT = Type(Kind.INTEGER), Type(Kind.REAL), Type(Kind.TEXT)


def column(table: str, name: str) -> Column:
    """A column of the shop."""
    return Column(table, name, Type(COLUMNS[table][name]))


def scan(name: str, *columns: str, whose: Shop = SHOP) -> Scan:
    """A table of the shop."""
    return Scan(whose.tables[name], columns, whose.owners[name], name)


def exact(source: Relation, *keys: Expr) -> Exact:
    """A count by group."""
    named = tuple(Key(name=f"k{number}", expr=expr, values=None) for number, expr in enumerate(keys))
    return Exact(source=source, keys=named, measures=(count(),), limits=LIMITS, salt="")


def crowd() -> dict[str, pa.Table]:
    """Many units with a few rows each."""
    random = np.random.default_rng()
    ids = pa.array(range(ROWS))
    customers = pa.array(random.integers(0, ROWS, ROWS))
    reals = np.ldexp(random.standard_normal(ROWS), random.integers(-60, 40, ROWS))
    reals[random.integers(0, ROWS, 50)] = 1e308
    texts = pa.array(["a", "b", "c"]).take(pa.array(random.integers(0, 3, ROWS)))
    parts = pa.array(random.integers(0, 9, ROWS))
    days = pa.array([DAYS[number] for number in random.integers(0, 3, ROWS)])
    return {
        "customers": pa.table(
            {"id": ids, "household": customers, "region": texts, "age": customers, "vip": [True] * ROWS}
        ),
        "orders": pa.table({"id": ids, "customer": customers, "status": texts, "amount": reals, "day": days}),
        "items": pa.table({"order": customers, "part": parts, "qty": ids, "price": reals}),
        "parts": pa.table({"id": pa.array(range(9)), "kind": ["a", "b", "c"] * 3, "weight": [0.5] * 9}),
    }


def prepared(asked: Exact, tables: dict[str, Any], *statements: str) -> list[list[tuple[Any, ...]]]:
    """What statements give where the question's contributions are; `{rows}` stands for these."""
    with Session() as session:
        snapshot = as_if_admitted(asked.tables, tables)
        lock_to(session, asked.tables, snapshot)
        raw = raw_views_of(session, asked.tables, snapshot)
        views = scan_views_of(asked)
        for scan_view in views:
            make_scan_view(session, scan_view, raw)
        shape = make_contributions(session, asked, shape_of(asked), views, keep=False)
        return [session.execute(statement.format(rows=shape.contributions)) for statement in statements]


NUMBERS = (column("orders", "id"), column("items", "part"))
PREDICATES: dict[str, Expr | None] = {
    "units alone": None,
    "an equality": call(EQUAL, *NUMBERS),
    "a comparison": call(LESS, *NUMBERS),
    "of computed values": call(EQUAL, call(PLUS, NUMBERS[0], literal(1)), NUMBERS[1]),
    "anything": call(AT_LEAST, call(PLUS, *NUMBERS), literal(7)),
    "several": call(BOTH, call(EQUAL, *NUMBERS), call(AT_LEAST, call(PLUS, *NUMBERS), literal(7))),
}


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("kind", JoinKind)
def test_private_tables_are_joined_by_hash(kind: JoinKind, predicate: str) -> None:
    """Whatever is asked of two rows, only rows of one unit are looked at: never all pairs of all units."""
    joined = Join(scan("orders", "id"), scan("items", "part"), kind, PREDICATES[predicate])
    ((plan,),) = prepared(exact(joined), crowd(), "EXPLAIN (FORMAT JSON) SELECT count(*) FROM {rows}")
    assert "HASH_JOIN" in plan[1]
    assert "NL_JOIN" not in plan[1]
    assert "CROSS_PRODUCT" not in plan[1]


def test_public_tables_are_joined_by_hash_where_they_can_be() -> None:
    """Computed values too, behind the wall that each has around it."""
    computed = call(EQUAL, call(PLUS, column("items", "part"), literal(1)), column("parts", "id"))
    for predicate in (computed, call(EQUAL, column("items", "part"), column("parts", "id"))):
        joined = Join(scan("items", "part"), scan("parts", "id"), JoinKind.LEFT, predicate)
        ((plan,),) = prepared(exact(joined), crowd(), "EXPLAIN (FORMAT JSON) SELECT count(*) FROM {rows}")
        assert plan[1].count("HASH_JOIN") == 1 + 1  # the other one finds the items' owners
        assert "NL_JOIN" not in plan[1]


def test_a_relation_that_is_used_twice_is_computed_once() -> None:
    """As a CTE, also where its two uses are equal rather than the same."""

    def features() -> Relation:
        """A customer's orders."""
        counted = Summarized(name="n", summary=Summary.COUNT, argument=None, type=WHOLE)
        return PerUnit(scan("orders"), "f", (), (counted,))

    uses = [Project(features(), alias, (("n", Column("f", "n", WHOLE)),)) for alias in ("a", "b")]
    joined = Join(*uses, JoinKind.INNER, call(EQUAL, Column("a", "n", WHOLE), Column("b", "n", WHOLE)))
    ((row,),) = prepared(exact(joined), crowd(), "SELECT sql FROM duckdb_views() WHERE view_name = 'source_rows'")
    assert row[0].count("scan0") == 1


SIGN = Function(
    "sign_of_zero",
    infer=lambda _: TEXT,
    compile=lambda value: value.cast("string"),
    evaluate=lambda _: None,
)
"""What tells the two zeros apart."""


def of_zeros() -> dict[str, Relation]:
    """Relations that take one of several zeros, each computed of another amount."""
    orders, zero = scan("orders", "amount"), call(TIMES, column("orders", "amount"), literal(0.0))
    least = Summarized(name="x", summary=Summary.MIN, argument=zero, type=REAL)
    zeros, either = Project(orders, "z", (("x", zero),)), Column("z", "x", REAL)
    first = Windowed(
        name="x",
        function=Ranking.FIRST_VALUE,
        argument=either,
        offset=0,
        order=(Sorting(either, descending=False, nulls_first=False),),
        type=REAL,
    )
    return {
        "distinct": Distinct(Project(orders, "r", (("x", zero),))),
        "key": PerUnit(orders, "r", (("x", zero),), ()),
        "least": PerUnit(orders, "r", (), (least,)),
        "first": Distinct(Project(Window(zeros, "w", (), (first,)), "r", (("x", Column("w", "x", REAL)),))),
    }


def signs(what: str) -> set[str]:
    """What is answered to what tells zeros apart, over all orders of rows."""
    asked = exact(of_zeros()[what], Call(SIGN, (Column("r", "x", REAL),), TEXT))
    answers = set()
    for order in set(permutations([1.0, -1.0, -2.0])):
        orders: Rows = [{"id": 1, "customer": 1, "status": "a", "amount": amount, "day": None} for amount in order]
        tables: dict[str, Rows] = {"customers": [], "orders": orders, "items": [], "parts": []}
        answers.add(repr(by_group(engine(tables, threads=1), asked)))
    return answers


@pytest.mark.parametrize("what", of_zeros())
def test_which_zero_is_taken_is_not_left_to_chance(what: str) -> None:
    """0 and −0 are equal, so any of them may represent all; no order of rows shows through."""
    assert len(signs(what)) == 1


@pytest.mark.parametrize("what", of_zeros())
def test_otherwise_it_would_be(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: computed values that keep both zeros."""
    monkeypatch.setattr(expression_compiler, "one_zero", lambda value: value)
    assert len(signs(what)) > 1


def test_floating_point_is_the_same_in_any_order() -> None:
    """Sums, averages, medians and windows over reals of all sizes: one, two and four threads, rows shuffled."""
    tables, answers = crowd(), set()
    orders = scan("orders", "amount", "status", "day")
    amount, status = column("orders", "amount"), column("orders", "status")
    ordered = (Sorting(column("orders", "day"), descending=True, nulls_first=False),)
    summaries = tuple(
        Summarized(name=str(each), summary=each, argument=amount, type=REAL, grid=-30)
        for each in (Summary.SUM, Summary.AVG, Summary.MEDIAN, Summary.MAX)
    )
    windows = tuple(
        Windowed(name=f"w{each}", function=each, argument=amount, offset=1, order=ordered, type=REAL, grid=-30)
        for each in (Summary.SUM, Summary.AVG, Ranking.LAG, Ranking.LAST_VALUE)
    )
    asked = [
        question(PerUnit(orders, "r", (("status", status),), summaries), [str(each.name) for each in summaries]),
        question(Window(orders, "r", (), windows), [each.name for each in windows]),
    ]
    for threads in (1, 2, 4):
        order = pa.array(np.random.default_rng().permutation(ROWS))
        shuffled = {name: table.take(order) if len(table) == ROWS else table for name, table in tables.items()}
        answers.add(
            repr(
                [
                    by_group(engine_as_if_admitted(list(SHOP.tables.values()), shuffled, threads=threads), each)
                    for each in asked
                ]
            )
        )
    assert len(answers) == 1


def question(source: Relation, names: list[str]) -> Exact:
    """Sums of real columns, on a grid so fine that the last bit shows."""
    measures = [total(name, Column("r", name, REAL), grid=-60, lo=-(2**62), hi=2**62) for name in names]
    return Exact(source=source, keys=(), measures=(count(), *measures), limits=Limits(rows=50), salt="")
