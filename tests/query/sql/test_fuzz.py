"""Fuzzed questions: whatever the text, a typed refusal or a question that releases no row, in no time."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import Dialects

from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.ir import canonical
from discreet.query.sql import explained, options, question
from discreet.tables import Kind
from support.asked import FOLDER, TABLES, pairs
from support.examples import examples

MOST_SECONDS = 5.0
"""Of computing: far above what a question takes (milliseconds), far below a parser that tries 2ⁿ ways."""

STATEMENTS = [
    sql
    for path in sorted([*FOLDER.glob("*.sql"), *(FOLDER.parent / "dialects").glob("*.sql")])
    for sql, _ in pairs(path)
]
WORDS = sorted({word for sql in STATEMENTS for word in re.findall(r"\w+|[^\w\s]+", sql)})


def leaves(expr: ir.Expr) -> set[type]:
    """The kinds of leaves an expression has."""
    if isinstance(expr, ir.Margin):
        return {ir.Margin} | leaves(expr.of)
    return set[type]().union(*map(leaves, expr.args)) if isinstance(expr, ir.Call) else {type(expr)}


def check(sql: str, dialect: str = "duckdb") -> bool:
    """Whether the question was taken; either way nothing is wrong."""
    start = time.process_time()
    try:
        options(explained(sql) or sql, dialect)
        asked = question(explained(sql) or sql, TABLES, dialect)
    except QueryError:
        return False
    finally:
        assert time.process_time() - start < MOST_SECONDS
    shown = [output.expr for output in asked.outputs] + [order.expr for order in asked.order]
    shown += [] if asked.having is None else [asked.having]
    assert all(ir.Column not in leaves(expr) for expr in shown)
    rows = [expr for _, expr in asked.keys] + [
        found.argument for found in asked.aggregates if found.argument is not None
    ]
    assert all(ir.Released not in leaves(expr) for expr in rows)
    for aggregate in asked.aggregates:
        if aggregate.function.adds_up:
            assert aggregate.argument is not None
            assert aggregate.argument.type.is_bounded
    assert all(key.type.kind not in {Kind.REAL, Kind.TIMESTAMP} for _, key in asked.keys)
    assert len({name for name, _ in asked.keys} | {found.name for found in asked.aggregates}) == len(asked.keys) + len(
        asked.aggregates
    )
    assert len({output.name.casefold() for output in asked.outputs}) == len(asked.outputs)
    assert canonical(asked) == canonical(question(asked.text, TABLES, dialect))
    assert all(ir.Margin not in leaves(expr) for expr in rows)
    return True


def either(*texts: str) -> st.SearchStrategy[str]:
    """One of these texts."""
    return st.sampled_from(texts)


def made(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A form with its gaps filled."""
    return st.builds(form.format, *parts)


@dataclass(frozen=True)
class Terms:
    """Strategies for terms of each kind, nested to some depth."""

    numbers: st.SearchStrategy[str]
    texts: st.SearchStrategy[str]
    moments: st.SearchStrategy[str]
    conditions: st.SearchStrategy[str]


LEAVES = Terms(
    either(
        "age", '"hours-per-week"', "income", "share", "level", "code", "wealth", "large", "0", "1", "-7", "2.5", "1e3"
    ),
    either("sex", "education", "'Male'", "''", "'12'", "NULL"),
    either("born", "joined", "seen", "left_at", "DATE '1995-02-28'", "TIMESTAMP '2024-01-31 12:30:00'"),
    either("married", "TRUE", "NULL"),
)


INTERVALS = made(
    "INTERVAL {} {}",
    either("'1'", "3", "'-7'", "'1.5'", "(2)", "age", "'99999999'", "NULL"),
    either("DAY", "MONTH", "YEARS", "HOUR", "day (3)", "CENTURY", ""),
) | either("INTERVAL '1 year 2 days'", "INTERVAL ''")


def nested(of: Terms) -> Terms:
    """Terms of these terms; or these themselves."""
    number, text, moment, condition = of.numbers, of.texts, of.moments, of.conditions
    numbers = (
        number
        | made("({} {} {})", number, either("+", "-", "*", "/", "//", "%"), number)
        | made("{}({})", either("ABS", "SQRT", "FLOOR", "CEIL", "ROUND", "TRUNC", "SIGN", "-", "COALESCE"), number)
        | made("{}({}, {})", either("LEAST", "GREATEST", "COALESCE", "NULLIF"), number, number)
        | made("GREATEST(LEAST({}, 100), 0)", number)
        | made("{}({}, {})", either("ROUND", "POWER"), number, either("2", "-1", "0.5", "3"))
        | made("CASE WHEN {} THEN {} ELSE {} END", condition, number, number)
        | made("{}({})", either("YEAR", "MONTH", "DAYOFWEEK", "WEEK", "DAYOFYEAR", "HOUR"), moment)
        | made("DATE_DIFF({}, {}, {})", either("'day'", "'month'"), moment, moment)
        | made("CAST({} AS {})", number | text | condition, either("INTEGER", "DOUBLE"))
        | made("LENGTH({})", text)
    )
    texts = (
        text
        | made("{}({})", either("UPPER", "LOWER", "TRIM", "CONCAT"), text)
        | made("{} || {}", text, text)
        | made("LEFT({}, 2)", text)
        | made("CAST({} AS TEXT)", number | moment | condition)
        | made("IF({}, {}, {})", condition, text, text)
    )
    moments = (
        moment
        | made("DATE_TRUNC({}, {})", either("'month'", "'week'", "'year'", "'hour'"), moment)
        | made("CAST({} AS {})", moment | text, either("DATE", "TIMESTAMP"))
        | made("COALESCE({}, {})", moment, moment)
        | made("({} {} {})", moment, either("+", "-"), INTERVALS)
        | made("DATE_ADD({}, {})", moment, INTERVALS)
    )
    conditions = (
        condition
        | made("{} {} {}", number, either("=", "<>", "<", ">=", "IS DISTINCT FROM"), number)
        | made("{} {} {}", text, either("=", "<", "LIKE", "ILIKE", "IS NOT DISTINCT FROM"), text)
        | made("{} {} {}", moment, either("=", "<", ">="), moment | either("'2024-01-31'"))
        | made("({} {} {})", condition, either("AND", "OR", "="), condition)
        | made("NOT {}", condition)
        | made("{} IN ({}, {})", number, number, either("1", "2.5", "NULL"))
        | made("{} BETWEEN {} AND {}", number, number, number)
        | made("{} {}", number | text | moment | condition, either("IS NULL", "IS NOT NULL", "IS TRUE"))
    )
    return Terms(numbers, texts, moments, conditions)


TERMS = nested(nested(nested(LEAVES)))
ANYTHING = (
    TERMS.numbers
    | TERMS.texts
    | TERMS.moments
    | TERMS.conditions
    | either("foo(1)", "*", "(SELECT 1)", "MEDIAN(age)", "random()", "x.y")
)


NAMED = either("contribution_bounds_per_row", "contribution_bounds_per_row", "contribution_bounds_per_group", "bounds")
BOUNDS = either("(0, 100)", "(-1.5, 1e3)", "(5, 0)", "(age, 1)", "(1)", "3", "(0, 1), x => (0, 1)")
MARGINS = either("DP_INTERVAL_LOW", "DP_INTERVAL_HIGH", "dp_stddev")


def aggregates(depth: int) -> st.SearchStrategy[str]:
    """Aggregates, and what is computed from them."""
    flat = (
        either("COUNT(*)")
        | made("{}({})", either("SUM", "AVG", "VAR_POP", "STDDEV", "COUNT"), TERMS.numbers)
        | made("{}({})", either("COUNT", "SUM", "MIN"), ANYTHING)
        | made("{}({}, {} => {})", either("SUM", "AVG", "ABS", "COUNT"), TERMS.numbers | either("*"), NAMED, BOUNDS)
    )
    if depth == 0:
        return flat
    inner = aggregates(depth - 1)
    return (
        flat
        | made("({} {} {})", inner, either("+", "*", "/", ">"), inner)
        | made("ROUND({}, 1)", inner)
        | made("{}({}{})", MARGINS, inner | either("c0", "c1"), either("", ", 0.9", ", 2"))
        | made("CASE WHEN {} > 5 THEN {} END", inner, inner)
    )


SUMS = aggregates(2)


KEYS = TERMS.texts | TERMS.conditions | TERMS.moments | made("CAST({} AS INTEGER)", TERMS.numbers)


OPTIONS = st.lists(
    either(
        *(
            "epsilon = 1",
            "delta = 1e-5",
            "max_groups_contributed = 2",
            "max_rows_contributed = 3",
            "kappa = 1",
            "x = 1",
        ),
        *("epsilon = -1", "group_selection_strategy = PUBLIC_GROUPS", "privacy_unit_column = age", "epsilon"),
    ),
    max_size=3,
).map(", ".join)
CLAUSES = either("", "", "DISTINCT ", "WITH DIFFERENTIAL_PRIVACY ", "WITH x ") | made(
    "WITH {} OPTIONS({}) ", either("DIFFERENTIAL_PRIVACY", "ANONYMIZATION"), OPTIONS
)
DIALECTS = either("duckdb", "bigquery", "postgres", "spark", "snowflake", "tsql", "mysql", "presto", "sqlite", "drill")


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Statements of the surface and somewhat beyond; most are well formed."""
    keys = draw(st.lists(KEYS, max_size=2))
    items = keys[: draw(st.integers(0, 2))] + draw(st.lists(SUMS, min_size=1, max_size=2))
    shown = [item + draw(either("", f" AS c{n}")) for n, item in enumerate(items)]
    parts = ["SELECT " + draw(CLAUSES) + ", ".join(shown), "FROM people"]
    if draw(st.booleans()):
        parts.append(f"WHERE {draw(TERMS.conditions)}")
    if keys:
        parts.append("GROUP BY " + ", ".join(keys))
    if draw(st.booleans()):
        parts.append(f"HAVING {draw(made('{} > {}', SUMS, TERMS.numbers | SUMS) | TERMS.conditions)}")
    if draw(st.booleans()):
        parts.append(f"ORDER BY {draw(SUMS | ANYTHING | either('1', 'c0'))}")
    sql = " ".join(parts)
    for _ in range(draw(either("", "", " ", "  ")).count(" ")):
        above = draw(either("*", "c0", "c0 * 2 AS c0, 1 AS c1", "COUNT(*) AS c0", "t.c0, DP_STDDEV(c0)"))
        sql = f"SELECT {above} FROM ({sql}) AS t" + draw(either("", " WHERE c0 > 1", " ORDER BY c0 LIMIT 1"))
    return draw(either("", "", "EXPLAIN ", "EXPLAIN (DP) ", "EXPLAIN ANALYZE ")) + sql


@given(statements(), DIALECTS)
@examples(400)
def test_grammar(sql: str, dialect: str) -> None:
    """Statements made by a grammar are refused with a typed error, or taken and sound, in any dialect."""
    check(sql)
    check(sql, dialect)


def mutated(sql: str, data: st.DataObject) -> str:
    """The statement with words dropped, doubled, swapped for others, or with characters of any kind put in."""
    words = re.findall(r"\w+|\s+|[^\w\s]+", sql)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        other = data.draw(
            st.sampled_from(["", words[at] * 2, " ", data.draw(st.sampled_from(WORDS))]) | st.text(max_size=3)
        )
        words[at] = other
    return "".join(words)


@given(st.sampled_from(STATEMENTS), DIALECTS, st.data())
@examples(300)
def test_mutation(sql: str, dialect: str, data: st.DataObject) -> None:
    """So are statements that were taken or refused, with a few words changed."""
    check(mutated(sql, data))
    check(mutated(sql, data), dialect)


@pytest.mark.soak
@given(statements(), DIALECTS)
@settings(max_examples=50_000)
def test_grammar_for_long(sql: str, dialect: str) -> None:
    """The same as `test_grammar`, for longer."""
    check(sql, dialect)


@pytest.mark.soak
@given(st.sampled_from(STATEMENTS), DIALECTS, st.data())
@settings(max_examples=50_000)
def test_mutation_for_long(sql: str, dialect: str, data: st.DataObject) -> None:
    """The same as `test_mutation`, for longer."""
    check(mutated(sql, data), dialect)


@pytest.mark.soak
@pytest.mark.parametrize("dialect", sorted(each.value for each in Dialects if each.value))
def test_every_statement_in_every_dialect(dialect: str) -> None:
    """Statements of one dialect are refused or taken in every other, too."""
    for sql in STATEMENTS:
        check(sql, dialect)


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """So is any text at all, whether or not it begins like a question."""
    check(text)
    check("SELECT " + text)
    check(f"SELECT COUNT(*) FROM people WHERE {text}")


def test_some_of_it_is_taken() -> None:
    """The checks that follow acceptance are reached: all statements that should be taken are."""
    assert all(check(sql) for sql, _ in pairs(FOLDER / "accepted.sql"))
