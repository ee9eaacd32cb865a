"""Fuzzed questions: whatever the text, a typed refusal or a question that releases no row, in no time."""

from __future__ import annotations

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.dataset import Kind
from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.canonical import canonical
from discreet.query.sql import question
from support.asked import FOLDER, TABLES, pairs

MOST_SECONDS = 5.0
"""Far above what a question takes (milliseconds), far below what a parser that tries 2ⁿ ways takes."""

STATEMENTS = [sql for path in sorted(FOLDER.glob("*.sql")) for sql, _ in pairs(path)]
WORDS = sorted({word for sql in STATEMENTS for word in re.findall(r"\w+|[^\w\s]+", sql)})
SUMMED = {ir.Statistic.SUM, ir.Statistic.AVG, ir.Statistic.VAR_POP, ir.Statistic.VAR_SAMP}


def leaves(expr: ir.Expr) -> set[type]:
    """The kinds of leaves an expression has."""
    return set[type]().union(*map(leaves, expr.args)) if isinstance(expr, ir.Call) else {type(expr)}


def check(sql: str) -> bool:
    """Whether the question was taken; either way nothing is wrong."""
    start = time.perf_counter()
    try:
        asked = question(sql, TABLES)
    except QueryError:
        return False
    finally:
        assert time.perf_counter() - start < MOST_SECONDS
    shown = [output.expr for output in asked.outputs] + [order.expr for order in asked.order]
    shown += [] if asked.having is None else [asked.having]
    assert all(ir.Column not in leaves(expr) for expr in shown)
    rows = [expr for _, expr in asked.keys] + [
        found.argument for found in asked.aggregates if found.argument is not None
    ]
    assert all(ir.Released not in leaves(expr) for expr in rows)
    for aggregate in asked.aggregates:
        if aggregate.statistic in SUMMED:
            assert aggregate.argument is not None
            assert aggregate.argument.type.is_bounded
    assert all(key.type.kind not in {Kind.REAL, Kind.TIMESTAMP} for _, key in asked.keys)
    assert len({name for name, _ in asked.keys} | {found.name for found in asked.aggregates}) == len(asked.keys) + len(
        asked.aggregates
    )
    assert len({output.name.casefold() for output in asked.outputs}) == len(asked.outputs)
    assert canonical(asked) == canonical(question(sql, TABLES))
    return True


def either(*texts: str) -> st.SearchStrategy[str]:
    """One of these texts."""
    return st.sampled_from(texts)


def made(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A form with its gaps filled."""
    return st.builds(form.format, *parts)


numbers: st.SearchStrategy[str] = st.deferred(
    lambda: (
        either(
            "age",
            '"hours-per-week"',
            "income",
            "share",
            "level",
            "code",
            "wealth",
            "large",
            "0",
            "1",
            "-7",
            "2.5",
            "1e3",
        )
        | made("({} {} {})", numbers, either("+", "-", "*", "/", "//", "%"), numbers)
        | made("{}({})", either("ABS", "SQRT", "FLOOR", "CEIL", "ROUND", "TRUNC", "SIGN", "-", "COALESCE"), numbers)
        | made("{}({}, {})", either("LEAST", "GREATEST", "COALESCE", "NULLIF"), numbers, numbers)
        | made("GREATEST(LEAST({}, 100), 0)", numbers)
        | made("{}({}, {})", either("ROUND", "POWER"), numbers, either("2", "-1", "0.5", "3"))
        | made("CASE WHEN {} THEN {} ELSE {} END", conditions, numbers, numbers)
        | made("{}({})", either("YEAR", "MONTH", "DAYOFWEEK", "WEEK", "DAYOFYEAR", "HOUR"), moments)
        | made("DATE_DIFF({}, {}, {})", either("'day'", "'month'"), moments, moments)
        | made("CAST({} AS {})", numbers | texts | conditions, either("INTEGER", "DOUBLE"))
        | made("LENGTH({})", texts)
    )
)
texts: st.SearchStrategy[str] = st.deferred(
    lambda: (
        either("sex", "education", "'Male'", "''", "'12'", "NULL")
        | made("{}({})", either("UPPER", "LOWER", "TRIM", "CONCAT"), texts)
        | made("{} || {}", texts, texts)
        | made("LEFT({}, 2)", texts)
        | made("CAST({} AS TEXT)", numbers | moments | conditions)
        | made("IF({}, {}, {})", conditions, texts, texts)
    )
)
moments: st.SearchStrategy[str] = st.deferred(
    lambda: (
        either("born", "joined", "seen", "left_at", "DATE '1995-02-28'", "TIMESTAMP '2024-01-31 12:30:00'")
        | made("DATE_TRUNC({}, {})", either("'month'", "'week'", "'year'", "'hour'"), moments)
        | made("CAST({} AS {})", moments | texts, either("DATE", "TIMESTAMP"))
        | made("COALESCE({}, {})", moments, moments)
    )
)
conditions: st.SearchStrategy[str] = st.deferred(
    lambda: (
        either("married", "TRUE", "NULL")
        | made("{} {} {}", numbers, either("=", "<>", "<", ">=", "IS DISTINCT FROM"), numbers)
        | made("{} {} {}", texts, either("=", "<", "LIKE", "ILIKE", "IS NOT DISTINCT FROM"), texts)
        | made("{} {} {}", moments, either("=", "<", ">="), moments | either("'2024-01-31'"))
        | made("({} {} {})", conditions, either("AND", "OR", "="), conditions)
        | made("NOT {}", conditions)
        | made("{} IN ({}, {})", numbers, numbers, either("1", "2.5", "NULL"))
        | made("{} BETWEEN {} AND {}", numbers, numbers, numbers)
        | made("{} {}", numbers | texts | moments | conditions, either("IS NULL", "IS NOT NULL", "IS TRUE"))
    )
)
anything = (
    numbers | texts | moments | conditions | either("foo(1)", "*", "(SELECT 1)", "MEDIAN(age)", "random()", "x.y")
)
sums: st.SearchStrategy[str] = st.deferred(
    lambda: (
        either("COUNT(*)")
        | made("{}({})", either("SUM", "AVG", "VAR_POP", "STDDEV", "COUNT"), numbers)
        | made("{}({})", either("COUNT", "SUM", "MIN"), anything)
        | made("({} {} {})", sums, either("+", "*", "/", ">"), sums)
        | made("ROUND({}, 1)", sums)
        | made("CASE WHEN {} > 5 THEN {} END", sums, sums)
    )
)


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Statements of the surface and somewhat beyond; most are well formed."""
    keys = draw(st.lists(texts | conditions | moments | made("CAST({} AS INTEGER)", numbers), max_size=2))
    items = keys[: draw(st.integers(0, 2))] + draw(st.lists(sums, min_size=1, max_size=2))
    shown = [item + draw(either("", f" AS c{n}")) for n, item in enumerate(items)]
    parts = ["SELECT " + ", ".join(shown), "FROM people"]
    if draw(st.booleans()):
        parts.append(f"WHERE {draw(conditions)}")
    if keys:
        parts.append("GROUP BY " + ", ".join(keys))
    if draw(st.booleans()):
        parts.append(f"HAVING {draw(made('{} > {}', sums, numbers | sums) | conditions)}")
    if draw(st.booleans()):
        parts.append(f"ORDER BY {draw(sums | anything | either('1', 'c0'))}")
    return " ".join(parts)


@given(statements())
@settings(max_examples=100)
def test_grammar(sql: str) -> None:
    """Statements made by a grammar are refused with a typed error, or taken and sound."""
    check(sql)


@given(st.sampled_from(STATEMENTS), st.data())
@settings(max_examples=300)
def test_mutation(sql: str, data: st.DataObject) -> None:
    """So are statements with words dropped, doubled, swapped for others, or with characters of any kind put in."""
    words = re.findall(r"\w+|\s+|[^\w\s]+", sql)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        other = data.draw(
            st.sampled_from(["", words[at] * 2, " ", data.draw(st.sampled_from(WORDS))]) | st.text(max_size=3)
        )
        words[at] = other
    check("".join(words))


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """So is any text at all, whether or not it begins like a question."""
    check(text)
    check("SELECT " + text)
    check(f"SELECT COUNT(*) FROM people WHERE {text}")


def test_some_of_it_is_taken() -> None:
    """The checks that follow acceptance are reached: all statements that should be taken are."""
    assert all(check(sql) for sql, _ in pairs(FOLDER / "accepted.sql"))
