"""Semantics: without noise, a question's answer is the plain SQL's, as DuckDB gives it on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cmp_to_key
from math import isclose
from typing import Any

import duckdb
import ibis
import pytest

from discreet.gateway.answers import evaluate
from discreet.query import ir
from discreet.query.aggregates import UNITS
from discreet.query.sql import question
from discreet.tables import Kind, Table
from support.asked import FOLDER, PEOPLE, TABLES, VISITS, pairs
from support.poison import TYPES, compiled

ROWS = 401
"""With so many, no two groups are equal in what a question orders them by: which came first would be left to chance."""

DIFFERENT = {
    "SELECT COUNT(*) FROM people WHERE born = '1995-06-01 00:00'": "DuckDB doesn't read this text as a date",
    "SELECT SUM(married), AVG(age > 30) FROM people": "DuckDB has no average of truths",
    "SELECT SUM(income / age), SUM(MOD(age, 7)) FROM people": "a row divided by 0 is infinity there, NULL here",
    "SELECT SUM(IF(age > 3, 1, 2)), SUM(IIF(married, 1, 2)) FROM people": "DuckDB has no IIF",
    "SELECT WITH DIFFERENTIAL_PRIVACY DISTINCT sex FROM people": "the clause is BigQuery's",
    "SELECT SUM(LEAST(GREATEST(CAST(education AS DOUBLE), 0), 9)) FROM people": "a failing CAST is an error there",
}
"""Where the answer may differ from DuckDB's, and why."""

STATEMENTS = [sql for sql, _ in pairs(FOLDER / "accepted.sql") if sql not in DIFFERENT]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    """A DuckDB with rows that keep to the tables' declarations; every seventh value of a column or so is NULL."""
    connection = duckdb.connect()
    for table in (PEOPLE, VISITS):
        columns = ", ".join(f'"{column.name}" {TYPES[column.kind][0]}' for column in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
        marks = ", ".join("?" * len(table.columns))
        rows = [[value(column.name, row) for column in table.columns] for row in range(ROWS)]
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)
    return connection


def value(name: str, row: int) -> object:
    """A value for a column and a row: scattered, so that all combinations turn up."""
    number = (row * 2654435761 + sum(map(ord, name)) * 40503) % 2**32 // 16
    if number % 7 == 0 and name != "person_id":
        return None
    choices: dict[str, object] = {
        "age": number % 111,
        "hours-per-week": number % 101,
        "income": number % 250001 / 4 + 0.25,
        "share": number % 1024 / 1024,
        "wealth": (number % 20001 - 10000) / 8,
        "code": number % 41 - 20,
        "large": number * 2**33 - 2**60,
        "sex": "Female" if number % 2 else "Male",
        "level": number % 3 + 1,
        "education": ("", "Bachelors", " x", "Masters ", "12", "b", "it's")[number % 11 % 7],
        "married": number % 2 == 0,
        "born": date(1990, 1, 1) + timedelta(days=number % 3652),
        "joined": date(2019, 1, 1) + timedelta(days=number % 900),
        "seen": datetime(2023, 1, 1) + timedelta(seconds=number % 63_000_000),
        "left_at": datetime(2023, 1, 1) + timedelta(seconds=number % 63_000_000),
        "person_id": row // 4,
        "region": "north" if number % 2 else "south",
        "amount": number % 401 / 4,
        "day": date(2024, 1, 1) + timedelta(days=number % 366),
    }
    return choices[name]


def plain(connection: duckdb.DuckDBPyConnection, asked: ir.Question) -> list[tuple[Any, ...]]:
    """The question's answer without limits and noise."""
    relation, predicates = asked.source, []
    while isinstance(relation, ir.Where):
        predicates.append(relation.predicate)
        relation = relation.source
    schema = {column.name: TYPES[column.kind][1] for column in relation.table.columns}
    rows = ibis.table(schema, name=relation.table.name)
    for predicate in predicates:
        rows = rows.filter(compiled(predicate, rows))
    keys = {f"k{n}": compiled(expr, rows) for n, (_, expr) in enumerate(asked.keys)}
    values = {f"a{n}": statistic(aggregate, rows, relation.table) for n, aggregate in enumerate(asked.aggregates)}
    values = values or {"a0": rows.count()}
    grouped = rows.group_by(**keys).aggregate(**values) if keys else rows.aggregate(**values)
    sql = str(ibis.to_sql(grouped, dialect="duckdb"))
    names = [name for name, _ in asked.keys] + [aggregate.name for aggregate in asked.aggregates]
    found = [dict(zip(names, row, strict=False)) for row in connection.execute(sql).fetchall()]
    return shown(asked, [{name: number(value) for name, value in row.items()} for row in found])


def statistic(aggregate: ir.Aggregate, rows: Any, table: Table) -> Any:
    """One aggregate, exactly."""
    if aggregate.function is UNITS:
        return rows[table.unit.column].nunique()
    if aggregate.argument is None:
        return rows.count()
    argument = compiled(aggregate.argument, rows)
    if isinstance(aggregate.argument, ir.Literal):
        argument = ibis.cases((rows[table.columns[0].name].isnull(), argument), else_=argument)
    if aggregate.argument.type.kind is Kind.INTEGER:
        argument = argument.cast("decimal(38, 0)")
    how = "pop" if aggregate.function.name.endswith("pop") else "sample"
    name = aggregate.function.name.partition("_")[0]
    spread = {"var": "var", "stddev": "std"}
    if name in spread:
        return getattr(argument.cast("float64"), spread[name])(how=how)
    return getattr(argument, {"avg": "mean"}.get(name, name))()


def number(value: Any) -> Any:
    """A decimal as the number it is, whole or not."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == int(value) else float(value)


def shown(asked: ir.Question, groups: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """HAVING, ORDER BY, LIMIT and the outputs."""
    kept = [group for group in groups if asked.having is None or evaluate(asked.having, group) is True]
    for order in reversed(asked.order):
        kept.sort(key=cmp_to_key(comparison(order)))
    end = None if asked.limit is None else asked.offset + asked.limit
    return [tuple(evaluate(output.expr, group) for output in asked.outputs) for group in kept[asked.offset : end]]


def comparison(order: ir.Order) -> Callable[[Mapping[str, Any], Mapping[str, Any]], int]:
    """How one ORDER BY term compares groups."""

    def compare(left: Mapping[str, Any], right: Mapping[str, Any]) -> int:
        a, b = evaluate(order.expr, left), evaluate(order.expr, right)
        if a is None or b is None:
            return ((b is None) - (a is None)) * (1 if order.nulls_first else -1)
        return (int(a > b) - int(a < b)) * (-1 if order.descending else 1)

    return compare


def normal(value: Any) -> Any:
    """A value in a form that both sides share: numbers as floats, midnights as dates."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        return value.date()
    return float(value) if isinstance(value, (int, float, Decimal)) else value


def same(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Equal, but for the last digits of floats."""
    pairs_ = list(zip(map(normal, left), map(normal, right), strict=True))
    return all(
        isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in pairs_
    )


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in an order of their own."""
    return sorted(rows, key=lambda row: [(value is None, str(normal(value))[:12]) for value in row])


@pytest.mark.parametrize("sql", STATEMENTS)
def test_without_noise_the_answer_is_the_plain_sql(engine: duckdb.DuckDBPyConnection, sql: str) -> None:
    """What a question was read as gives the same rows as its text."""
    asked = question(sql, TABLES)
    expected, found = engine.execute(sql).fetchall(), plain(engine, asked)
    if not asked.order:
        expected, found = ordered(expected), ordered(found)
    if asked.order:
        outputs = tuple(ir.Output(name=f"o{place}", expr=term.expr) for place, term in enumerate(asked.order))
        terms = plain(engine, replace(asked, outputs=outputs, limit=None, offset=0))
        assert len(set(terms)) == len(terms), "ties"
    if asked.limit is not None and not asked.order:
        assert len(expected) == len(found)
        return
    assert len(expected) == len(found)
    assert all(same(*rows) for rows in zip(expected, found, strict=True)), f"{found[:5]} instead of {expected[:5]}"


def test_a_wrong_reading_is_noticed(engine: duckdb.DuckDBPyConnection) -> None:
    """The comparison tells `>` from `>=`."""
    wrong = plain(engine, question("SELECT COUNT(*) FROM people WHERE age > 40", TABLES))
    right = engine.execute("SELECT COUNT(*) FROM people WHERE age >= 40").fetchall()
    assert not same(wrong[0], right[0])
