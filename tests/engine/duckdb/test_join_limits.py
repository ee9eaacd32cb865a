"""One unit's rows make no more pairs in joins than they may, by its own affair; and no join can be made to explode."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given

from discreet.engine.duckdb.aggregation import rows_at_most
from discreet.engine.duckdb.join_limits import JoinLimits
from discreet.privacy import Limits
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Join, JoinKind, PerUnit, Project, Relation, Scan, Where, makes_pairs
from support.examples import examples
from support.questions import AT_LEAST, BOTH, EQUAL, LESS, by_group, call, count, literal
from support.shop import Rows, Shop, data, engine, shop, shops

WIDE = Limits(rows=10_000)
DAY = date(2024, 1, 31)
MOST = 6
SEARCH = examples(100, at_least=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def column(whose: Shop, table: str, name: str, alias: str | None = None) -> Reference:
    """A column of the shop."""
    from discreet.query.ir import column_type

    return Reference(alias or table, name, column_type(whose.tables[table].column(name)))


def scan(whose: Shop, table: str, alias: str | None = None) -> Scan:
    """All columns of a table."""
    names = tuple(each.name for each in whose.tables[table].columns)
    return Scan(whose.tables[table], names, whose.owners[table], alias or table)


def joins(whose: Shop) -> dict[str, Relation]:
    """Joins in which rows may meet many others."""
    orders, again, items = scan(whose, "orders"), scan(whose, "orders", "again"), scan(whose, "items")
    ours, theirs = column(whose, "orders", "id"), column(whose, "orders", "id", "again")
    amount, other = column(whose, "orders", "amount"), column(whose, "orders", "amount", "again")
    along = call(EQUAL, column(whose, "items", "order"), ours)
    twice = Join(orders, again, JoinKind.INNER, None)
    weight = column(whose, "parts", "weight")
    found: dict[str, Relation] = {
        "itself": twice,
        "itself by a key": Join(orders, again, JoinKind.INNER, call(EQUAL, ours, theirs)),
        "itself in order": Join(orders, again, JoinKind.LEFT, call(LESS, amount, other)),
        "some earlier one": Join(orders, again, JoinKind.SEMI, call(LESS, other, amount)),
        "no earlier one": Join(orders, again, JoinKind.ANTI, call(LESS, other, amount)),
        "along a link": Join(items, orders, JoinKind.INNER, along),
        "and itself": Join(twice, items, JoinKind.INNER, along),
        "public": Join(orders, scan(whose, "parts"), JoinKind.INNER, call(AT_LEAST, amount, weight)),
        "public by a key": Join(
            items,
            scan(whose, "parts"),
            JoinKind.LEFT,
            call(EQUAL, column(whose, "items", "part"), column(whose, "parts", "id")),
        ),
        "filtered": Where(
            Join(orders, again, JoinKind.INNER, call(BOTH, call(EQUAL, ours, theirs), call(LESS, amount, other))),
            call(AT_LEAST, ours, literal(1)),
        ),
    }
    projected = Project(orders, "p", (("id", ours),))
    grouped = PerUnit(orders, "g", (("id", ours),), ())
    for name, side in (("a projection", projected), ("groups", grouped)):
        key = Reference(name[2] if name[0] == "a" else "g", "id", ours.type)
        found[name] = Join(items, side, JoinKind.INNER, call(EQUAL, column(whose, "items", "order"), key))
    return found


NAMES = list(joins(shop("customer", WIDE)))


def rows_of(relation: Relation, tables: dict[str, Rows], most: int) -> int:
    """How many rows a relation has, where a unit may make so many pairs in each join."""
    question = Exact(source=relation, keys=(), measures=(count(),), limits=WIDE, salt="", most_pairs=most)
    return int(by_group(engine(tables, threads=1), question)[()]["n"])


@pytest.mark.long
@SEARCH
@given(st.sampled_from([MOST, 1]), shops(["customer", "household", "month"]), data(), st.sampled_from(NAMES))
def test_what_is_left_out_is_a_units_own_affair(most: int, whose: Shop, tables: dict[str, Rows], name: str) -> None:
    """Rows that are looked at closely and those that aren't are the same; and units add up, as if each were alone."""
    relation = joins(whose)[name]
    with pytest.MonkeyPatch.context() as patch:
        quickly = rows_of(relation, tables, most)
        patch.setattr(JoinLimits, "_may_exceed", lambda *_: True)
        assert rows_of(relation, tables, most) == quickly
        assert sum(rows_of(relation, each, most) for each in _alone(whose, tables)) == quickly


def _alone(whose: Shop, tables: dict[str, Rows]) -> list[dict[str, Rows]]:
    """The rows of each unit without those of any other: rows that belong to several are made the one's only."""
    from support.relations import owners

    owned = {
        table: [owners(whose.tables[table], owner, row, tables) for row in tables[table]]
        for table, owner in whose.owners.items()
        if owner is not None
    }
    everybody = set[Any]().union(*(each for held in owned.values() for each in held))
    return [
        {
            table: rows
            if whose.owners.get(table) is None
            else [row for row, each in zip(rows, owned[table], strict=True) if unit in each]
            for table, rows in tables.items()
        }
        for unit in sorted(everybody, key=repr)
    ]


@pytest.mark.parametrize("limit", [100, 1_000])
def test_a_unit_makes_as_many_pairs_as_it_may(limit: int) -> None:
    """Just so many, or one row's fewer; a unit beside it that makes fewer keeps them all."""
    whose = shop("customer", WIDE)
    rows = [{"id": n, "customer": 1, "status": "a", "amount": float(n), "day": None} for n in range(90)]
    few = [{"id": n, "customer": 2, "status": "a", "amount": float(n), "day": None} for n in range(9)]
    tables: dict[str, Rows] = {"customers": [], "orders": rows, "items": [], "parts": []}
    alone = rows_of(joins(whose)["itself"], tables, limit)
    assert limit - 90 < alone <= limit
    assert rows_of(joins(whose)["itself"], tables | {"orders": rows + few}, limit) == alone + 81


def test_a_join_along_a_link_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many items an order has, each has one order; whether or not that is known beforehand."""
    whose = shop("customer", WIDE)
    orders = [{"id": n, "customer": 1, "status": "a", "amount": 1.0, "day": None} for n in range(5)]
    items = [{"order": n % 5, "part": 1, "qty": 1, "price": 1.0} for n in range(200)]
    tables: dict[str, Rows] = {"customers": [], "orders": orders, "items": items, "parts": []}
    for _ in range(2):
        assert rows_of(joins(whose)["along a link"], tables, 3) == 200
        assert rows_of(joins(whose)["public by a key"], tables, 3) == 200
        monkeypatch.setattr(JoinLimits, "_may_exceed", lambda *_: True)


@pytest.mark.parametrize("whose", ["customer", "household", "month"])
@pytest.mark.parametrize("public_first", [True, False])
def test_owners_left_to_the_other_side_of_a_link_count(whose: str, public_first: bool) -> None:
    """Where a link's owners aren't looked up, rows make no more pairs with public ones, or with what it leads to."""
    there = shop(whose, WIDE)
    items, parts, orders = (scan(there, name) for name in ("items", "parts", "orders"))
    along = call(EQUAL, column(there, "items", "order"), column(there, "orders", "id"))
    same = call(EQUAL, column(there, "items", "part"), column(there, "parts", "id"))
    if public_first:
        joined = Join(Join(items, parts, JoinKind.INNER, same), orders, JoinKind.INNER, along)
    else:
        joined = Join(Join(items, orders, JoinKind.INNER, along), parts, JoinKind.INNER, same)
    if whose == "household":
        named = call(EQUAL, column(there, "orders", "customer"), column(there, "customers", "id"))
        joined = Join(joined, scan(there, "customers"), JoinKind.INNER, named)
    tables: dict[str, Rows] = {
        "customers": [{"id": 1, "household": 1, "region": "a", "age": 1, "vip": True}],
        "orders": [{"id": 7, "customer": 1, "status": "a", "amount": float(n), "day": DAY} for n in range(3)],
        "items": [{"order": 7, "part": 1, "qty": n, "price": 1.0} for n in range(40)],
        "parts": [{"id": 1, "kind": "a", "weight": float(n)} for n in range(40)],
    }
    assert 0 < rows_of(joined, tables, 100) <= 200


def test_otherwise_there_would_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: without it, the rows of one unit make all pairs there are."""
    whose = shop("customer", WIDE)
    orders = [{"id": n, "customer": 1, "status": "a", "amount": 1.0, "day": None} for n in range(90)]
    tables: dict[str, Rows] = {"customers": [], "orders": orders, "items": [], "parts": []}
    assert rows_of(joins(whose)["itself"], tables, 100) <= 100
    monkeypatch.setattr(JoinLimits, "limited", lambda _self, _join, left, right: (left, right))
    assert rows_of(joins(whose)["itself"], tables, 100) == 90 * 90


EXPLODING = """
import sys
from pathlib import Path
import pyarrow as pa
import discreet as dp

others = 200
for bob in (0, 40):
    ids = [n // 2 for n in range(others)] + [10**6] * bob
    visits = pa.table({"id": ids, "x": [float(n % 7) for n in range(len(ids))]})
    public = pa.table({"k": range(3_000), "w": [float(n) for n in range(3_000)]})
    declared = [
        dp.table(visits, name="v", unit=dp.Unit("id"), limits=dp.Limits(rows=10), columns={"x": dp.Bounds(0, 7)}),
        dp.table(public, name="p", public=True),
    ]
    budget, ledger = dp.Budget(epsilon=1), Path(sys.argv[1]) / str(bob)
    with dp.protect(declared, name="v", budget=budget, ledger=ledger) as opened:
        for name, question in zip(sys.argv[2::2], sys.argv[3::2]):
            opened.ask(question, epsilon="1e-9")
            print(name, flush=True)
"""


JOINED = " ".join(f"JOIN v v{n} USING (id)" for n in range(2, 10))
ENDLESS = {
    "itself": f"SELECT COUNT(*) FROM v v1 {JOINED} WHERE v1.id > 9999",
    "public": "SELECT COUNT(*) FROM v JOIN p a ON v.x < a.w JOIN p b ON a.k < b.k JOIN p c ON b.k < c.k "
    "WHERE v.id > 9999",
    "exists": f"SELECT COUNT(*) FROM v WHERE EXISTS (SELECT 1 FROM v v1 {JOINED} WHERE v1.id = v.id AND v9.x > v.x)",
}


@pytest.mark.long
def test_no_unit_keeps_a_question_from_ending(tmp_path: Path) -> None:
    """Forty rows of one person make 10¹⁴ pairs with themselves, or each as many with public rows.

    Whether the person is there would show in whether there is an answer at all.
    """
    done = subprocess.run(
        [sys.executable, "-c", EXPLODING, str(tmp_path), *(part for each in ENDLESS.items() for part in each)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.split() == [*ENDLESS] * 2, done.stderr


def test_each_join_may_make_as_many() -> None:
    """Where joins stand on each other, the pairs of one are the rows of the next."""
    whose = shop("customer", WIDE)
    rows = [{"id": n, "customer": 1, "status": "a", "amount": float(n), "day": None} for n in range(30)]
    tables: dict[str, Rows] = {"customers": [], "orders": rows, "items": [], "parts": []}
    once = joins(whose)["itself"]
    third = Join(once, replace(scan(whose, "orders"), alias="third"), JoinKind.INNER, None)
    assert 370 < rows_of(once, tables, 400) <= 400
    assert 370 < rows_of(third, tables, 400) <= 400


def test_rows_are_looked_for_once_where_columns_are_only_compared() -> None:
    """Whether there is a row with equal columns makes no pairs; any other condition beside may make many."""
    whose = shop("customer", WIDE)
    equal = call(EQUAL, column(whose, "orders", "id"), column(whose, "orders", "id", "again"))
    less = call(LESS, column(whose, "orders", "amount"), column(whose, "orders", "amount", "again"))
    sides = scan(whose, "orders"), scan(whose, "orders", "again")
    for predicate, pairs in (
        (equal, False),
        (call(BOTH, equal, equal), False),
        (less, True),
        (call(BOTH, equal, less), True),
        (call(BOTH, less, equal), True),
    ):
        assert makes_pairs(Join(*sides, JoinKind.SEMI, predicate)) is pairs
        assert makes_pairs(Join(*sides, JoinKind.INNER, predicate))


def test_a_relation_is_taken_to_have_a_row() -> None:
    """Even where its tables have none; so no number of pairs is 0 that isn't."""
    orders = scan(shop("customer", WIDE), "orders")
    assert rows_at_most(PerUnit(orders, "g", (), ()), {"orders": 0}) == 1
