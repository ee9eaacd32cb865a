"""Tables in parts: whatever their number and whatever is noted beside rows, answers within `most_pairs` are equal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from discreet.engine.duckdb.aggregation import rows_at_most
from discreet.engine.duckdb.contributions import Compiled
from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.query.ir import Column, Exact, Join, JoinKind, Key, Relation, Scan, Type, Units, Where
from discreet.tables import Column as Declared
from discreet.tables import Kind, Owner, Table
from support.engines import EMBEDDED, Tried, as_if_admitted, engine_as_if_admitted, engine_on, order_of
from support.parted import Mistake, in_parts, parted
from support.questions import EQUAL, LESS, by_group, call, count, literal, total
from support.reference import Answer, answer
from support.shop import COLUMNS, Rows, arrow, data, shop, shops
from support.trees import exacts

SEARCH = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
QUESTIONS = shops().flatmap(exacts)
MOST_PAIRS = 20_000


def asked(question: Exact, tables: dict[str, Rows], parts: int, mistake: Mistake = "") -> Answer:
    """The engine's answer, of tables in parts by the units that the question is about."""
    with in_parts(parts, mistake):
        held = {table.name: arrow(table.name, tables[table.name]) for table in question.tables}
        return by_group(engine_as_if_admitted(question.tables, held), question)


def fits(question: Exact, tables: dict[str, Rows]) -> bool:
    """Whether brute force can go through all rows there may be."""
    counts = {scan.alias: max(1, 2 * len(tables[scan.table.name])) for scan in question.scans}
    return rows_at_most(question.source, counts) <= MOST_PAIRS


@SEARCH
@given(QUESTIONS, data(), st.sampled_from([1, 2, 5]))
def test_parts_change_no_answer(question: Exact, tables: dict[str, Rows], parts: int) -> None:
    """For random schemas, relations and rows, what the words say."""
    assume(fits(question, tables))
    assert asked(question, tables, parts) == answer(question, tables, order_of(question))


@st.composite
def along_links(draw: st.DrawFn) -> tuple[Exact, dict[str, Rows]]:
    """Orders joined with their customers, in either order of an inner join, and rows; customers may be there once."""
    made, tables = draw(shops(["customer", "household"])), draw(data())
    if draw(st.booleans()):
        numbers = {row["id"]: row for row in tables["customers"]}
        tables["customers"] = list(numbers.values())
    orders, customers = (
        Scan(made.tables[name], tuple(COLUMNS[name]), made.owners[name], name) for name in ("orders", "customers")
    )
    kind = draw(st.sampled_from(JoinKind))
    sides = (customers, orders) if kind is JoinKind.INNER and draw(st.booleans()) else (orders, customers)
    on = call(EQUAL, in_table("orders", "customer"), in_table("customers", "id"))
    joined: Relation = Join(*sides, kind, on)
    if draw(st.booleans()):
        joined = Where(joined, call(LESS, in_table("orders", "amount"), literal(1.0)))
    name, by = ("region", "customers") if kind.has_both_sides else ("status", "orders")
    values = draw(st.sampled_from([None, ("a", "b", None), ("", "é")]))
    limits = made.tables["customers"].limits
    measures = [count(), total("s", in_table("orders", "amount"), grid=-2, lo=-40, hi=40)]
    if limits.groups is not None:
        measures.append(Units(name="u"))  # type: ignore[arg-type]  # a measure as well
    keys = (Key(name="k", expr=in_table(by, name), values=values),)
    asked_for = Exact(source=joined, keys=keys, measures=tuple(measures), limits=limits, salt="s")
    return asked_for, tables


def in_table(table: str, name: str) -> Column:
    """A column of the shop in an expression."""
    return Column(table, name, Type(COLUMNS[table][name]))


@SEARCH
@given(along_links(), st.sampled_from([1, 2, 5]))
def test_joins_along_links_change_no_answer(example: tuple[Exact, dict[str, Rows]], parts: int) -> None:
    """Where each customer is there once, orders say whose they are, and customers needn't; else both have to."""
    question, tables = example
    assert asked(question, tables, parts) == answer(question, tables, order_of(question))


@st.composite
def by_keys_of_customers(draw: st.DrawFn) -> tuple[Exact, dict[str, Rows]]:
    """Orders by a column of their customers, each of whom is there once; by two lists of it, or from two scans."""
    limits = draw(st.sampled_from([Limits(rows=1), Limits(rows=2), Limits(groups=1, rows_per_group=2)]))
    region = Declared(name="region", kind=Kind.TEXT, keys=Keys(["a", "b", "é"]))
    made, tables = shop("household", limits, {"customers.region": region}), draw(data())
    tables["customers"] = list({row["id"]: row for row in tables["customers"]}.values())
    scans = [
        Scan(made.tables[name], tuple(COLUMNS[name]), made.owners[name], alias)
        for name, alias in (("orders", "orders"), ("customers", "customers"), ("customers", "others"))
    ]
    source: Relation = scans[0]
    aliases = draw(st.sampled_from([["customers"], ["customers", "customers"], ["customers", "others"]]))
    for scan in scans[1 : 1 + len(set(aliases))]:
        on = call(EQUAL, in_table("orders", "customer"), Column(scan.alias, "id", Type(Kind.INTEGER)))
        source = Join(source, scan, draw(st.sampled_from([JoinKind.INNER, JoinKind.LEFT])), on)
    keys = tuple(
        Key(name=f"k{number}", expr=Column(alias, "region", Type(Kind.TEXT)), values=values)
        for number, (alias, values) in enumerate(zip(aliases, (("é", "B", "a"), ("b", "é")), strict=False))
    )
    measures = (count(), total("s", in_table("orders", "amount"), grid=-2, lo=-40, hi=40))
    return Exact(source=source, keys=keys, measures=measures, limits=limits, salt="s"), tables


@SEARCH
@given(by_keys_of_customers(), st.sampled_from([1, 2, 5]))
def test_nor_does_where_keys_are_looked_up(example: tuple[Exact, dict[str, Rows]], parts: int) -> None:
    """Before customers are joined to their orders, if a column is a key once, and no key is of two columns."""
    question, tables = example
    assert asked(question, tables, parts) == answer(question, tables, order_of(question))


ROWS = {
    "customers": [{"id": number, "household": number, "region": "a"} for number in (1, 2, 3)],
    "orders": [{"id": number, "customer": number, "amount": 1.0} for number in (1, 2, 3)],
    "items": [{"order": number, "qty": 1} for number in (1, 2, 3)],
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("whose", "place", "declared"),
    [
        ("household", "customers.id", {"bounds": Bounds(1, 2)}),
        ("household", "customers.id", {"keys": Keys([1, 2])}),
        ("household", "customers.household", {"bounds": Bounds(1, 2)}),
        ("household", "orders.customer", {"bounds": Bounds(1, 2)}),
        ("customer", "orders.id", {"keys": Keys([1, 2])}),
        ("customer", "customers.id", {"keys": Keys([1, 2])}),
        ("customer", "customers.id", {"bounds": Bounds(1, 2)}),
    ],
)
@pytest.mark.parametrize("table", ["orders", "items", "both"])
def test_ids_that_are_not_declared_are_nobodys(
    whose: str, place: str, declared: dict[str, Any], table: str, parts: int
) -> None:
    """Whatever admission noted: a column on the way to the unit may leave ids out, and another on the same way not."""
    table_of, name = place.split(".")
    made = shop(whose, Limits(rows=5), {place: Declared(name=name, kind=COLUMNS[table_of][name], **declared)})
    scans = {each: Scan(made.tables[each], tuple(COLUMNS[each]), made.owners[each], each) for each in ROWS}
    on = call(EQUAL, in_table("orders", "customer"), in_table("customers", "id"))
    source = Join(scans["orders"], scans["customers"], JoinKind.INNER, on) if table == "both" else scans[table]
    question = Exact(source=source, keys=(), measures=(count(),), limits=Limits(rows=5), salt="s")
    assert asked(question, ROWS, parts) == answer(question, ROWS, order_of(question))


@pytest.mark.parametrize(
    "parts", [{"customers": 1, "orders": 4}, {"customers": 4, "orders": 2}, {"customers": 2, "orders": 4}]
)
def test_tables_in_different_numbers_of_parts_change_no_answer(parts: dict[str, int]) -> None:
    """Refresh groups have their own. Of several files that are read at once, each has codes that begin at 0."""
    made = shop("customer", Limits(rows=1))
    rows = {
        "customers": [{"id": number, "household": 7} for number in range(8)],
        "orders": [{"id": number, "customer": number // 2, "amount": 1.0} for number in range(16)],
    }
    tables = [made.tables[name] for name in rows]
    whole = as_if_admitted(tables, {name: arrow(name, rows[name]) for name in rows})
    mixed = replace(whole, tables={name: parted(whole, tables, parts[name]).tables[name] for name in rows})
    scans = (Scan(made.tables[each], tuple(COLUMNS[each]), made.owners[each], each) for each in ("orders", "customers"))
    on = call(EQUAL, in_table("orders", "customer"), in_table("customers", "id"))
    question = Exact(
        source=Join(*scans, JoinKind.INNER, on), keys=(), measures=(count(),), limits=Limits(rows=1), salt="s"
    )
    assert by_group(engine_on(mixed), question) == {(): {"n": 8}}


def test_units_of_another_declaration_are_found_anew() -> None:
    """What was noted of customers says nothing of households."""
    before, now = (shop(whose, Limits(rows=1)) for whose in ("customer", "household"))
    tables = [now.tables[name] for name in ("customers", "orders")]
    rows = {"customers": [{"id": number, "household": 7} for number in (1, 2)], "orders": ROWS["orders"][:2]}
    held = {name: arrow(name, rows[name]) for name in rows}
    snapshot = parted(as_if_admitted(tables, held), [before.tables[name] for name in rows], 2)
    scan = Scan(now.tables["orders"], tuple(COLUMNS["orders"]), now.owners["orders"], "orders")
    question = Exact(source=scan, keys=(), measures=(count(),), limits=Limits(rows=1), salt="s")
    assert by_group(engine_on(snapshot), question) == {(): {"n": 1}}


@pytest.mark.parametrize(("mistake", "wrong"), [("", (3, 3)), ("split", (5, 5)), ("small", (6, 3)), ("shared", (3, 2))])
def test_a_part_that_is_not_one_is_found(mistake: Mistake, wrong: tuple[int, int], engine_tried: Tried) -> None:
    """The wrong twins: units in two parts, one with more rows than is noted, and two with one code.

    Three customers have one, two and three orders, of which one each counts. Engines that read tables as a whole can't
    be misled.
    """
    if engine_tried is not EMBEDDED:
        pytest.skip("it reads tables as a whole")
    whole = shop("customer", Limits(rows=1, groups=1)).tables
    orders = Table(name="orders", source=whole["orders"].source, columns=whole["orders"].columns, unit=Unit("customer"))
    asked = Exact(
        source=Scan(table=orders, columns=("id",), owner=Owner(Unit("customer")), alias="orders"),
        keys=(),
        measures=(count(), Units(name="u")),
        limits=Limits(rows=1),
        salt="",
    )
    rows = arrow("orders", [{"id": number, "customer": who} for number, who in enumerate([1, 2, 2, 3, 3, 3])])
    with in_parts(2, mistake):
        found = engine_as_if_admitted([orders], {"orders": rows}).run(asked)
    assert (found.measures["n"][0], found.measures["u"][0]) == wrong


def test_the_search_means_something() -> None:
    """Of random questions, many are asked in parts, many of those by codes and sizes, and some as a whole."""
    seen: Counter[str] = Counter()

    @settings(SEARCH, max_examples=100, phases=[Phase.generate], database=None)
    @given(QUESTIONS, data())
    def look(question: Exact, tables: dict[str, Rows]) -> None:
        held = {table.name: arrow(table.name, tables[table.name]) for table in question.tables}
        compiled = Compiled.of(question, parted(as_if_admitted(question.tables, held), question.tables, 3))
        seen.update(["coded" if compiled.shape.is_coded else "parted" if compiled.reading.parts > 1 else "whole"])

    for _ in range(10):
        look()
        if all(seen[kind] >= 10 for kind in ("coded", "parted", "whole")):
            break
    assert all(seen[kind] >= 10 for kind in ("coded", "parted", "whole")), seen


def test_joins_along_links_are_often_made_by_codes() -> None:
    """In both ways, often, of random examples."""
    seen: Counter[bool] = Counter()

    @settings(SEARCH, max_examples=30, phases=[Phase.generate], database=None)
    @given(along_links())
    def look(example: tuple[Exact, dict[str, Rows]]) -> None:
        question, tables = example
        held = {table.name: arrow(table.name, tables[table.name]) for table in question.tables}
        snapshot = parted(as_if_admitted(question.tables, held), question.tables, 3)
        seen.update([Compiled.of(question, snapshot).shape.is_coded])

    for _ in range(10):
        look()
        if min(seen[True], seen[False]) >= 5:
            break
    assert min(seen[True], seen[False]) >= 5, seen
