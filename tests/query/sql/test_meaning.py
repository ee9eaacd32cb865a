"""Meaning: what expressions give on fixed rows, as manuals, DuckDB and PostgreSQL have it, in every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import psycopg
import pytest

from discreet.errors import QueryError
from support.meaning import CREATE, ROWS, Meanings, in_order, normal
from support.postgres import connected, running_server

TABLE = Path(__file__).parents[2] / "fixtures" / "meanings.txt"


def lines() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Dialect, expression and values, by the lines of the table."""
    dialects: list[str] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            dialects = line.strip("[]").split()
        elif line and not line.startswith("#"):
            expression, *values = (part.strip() for part in line.split(" | "))
            yield from ((dialect, expression, tuple(values)) for dialect in dialects)


LINES = list(lines())


def value(text: str) -> Any:
    """A value as the table writes it."""
    if text.startswith("'"):
        return text[1:-1]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return date.fromisoformat(text)
    if re.match(r"\d{4}-\d\d-\d\d ", text):
        return normal(datetime.fromisoformat(text))
    return {"TRUE": True, "FALSE": False, "NULL": None}[text] if text[0].isalpha() else float(text)


@pytest.fixture(scope="module")
def meanings() -> Meanings:
    """The rows."""
    return Meanings()


@pytest.fixture(scope="module")
def postgres() -> Iterator[psycopg.Connection[Any]]:
    """The same rows in a PostgreSQL server of our own; skipped where none is installed."""
    with running_server() as server, connected(server.url) as connection:
        connection.autocommit = True
        connection.execute(CREATE)
        yield connection


def test_the_table_is_of_all_dialects() -> None:
    """It doesn't shrink, and a dialect that is named in the docs is in it."""
    assert len(LINES) >= 400
    assert len({dialect for dialect, _, _ in LINES}) >= 20


@pytest.mark.parametrize(("dialect", "expression", "expected"), LINES)
def test_an_expression_means_what_its_dialect_says(
    meanings: Meanings, dialect: str, expression: str, expected: tuple[str, ...]
) -> None:
    """Its values are those of the manual; or it is refused, with the place."""
    if expected == ("refused",):
        with pytest.raises(QueryError) as caught:
            meanings.read(expression, dialect)
        assert caught.value.place is not None
    else:
        assert meanings.read(expression, dialect)[: len(expected)] == [value(each) for each in expected]


# ── Beside DuckDB and PostgreSQL ──────────────────────────────────────────────────────────────────────────────────────


def judged(name: str, meanings: Meanings, postgres: psycopg.Connection[Any]) -> Callable[[str], list[Any] | None]:
    """What a judge makes of an expression; None where it raises an error on some row."""

    def judge(expression: str) -> list[Any] | None:
        try:
            if name == "duckdb":
                return meanings.plain(expression)
            return in_order(postgres.execute(f"SELECT {expression} FROM moments ORDER BY place").fetchall())
        except (duckdb.Error, psycopg.Error):
            return None

    return judge


def test_the_table_says_what_a_real_server_says(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """Of PostgreSQL's lines, each that has values; where it raises an error on a row, there is NULL here."""
    judge, count = judged("postgres", meanings, postgres), 0
    for dialect, expression, expected in LINES:
        found = judge(expression) if dialect == "postgres" and expected != ("refused",) else None
        if found is not None:
            assert found[: len(expected)] == [value(each) for each in expected], expression
            count += 1
    assert count >= 40


def compared(
    make: Callable[[Random], str], rounds: int, meanings: Meanings, postgres: psycopg.Connection[Any], *, least: int
) -> None:
    """Random expressions are refused, or mean what both judges say; enough of them aren't refused.

    Args:
        make: one of them.
        rounds: how many.
        meanings: the rows.
        postgres: the same.
        least: how many of a hundred have to be answered and judged.
    """
    random, agreed = Random(), 0  # noqa: S311 — for tests
    for _ in range(rounds):
        expression = make(random)
        for name in ("duckdb", "postgres"):
            try:
                found = meanings.read(expression, name)
            except QueryError:
                continue
            assert found == judged(name, meanings, postgres)(expression), (name, expression)
            agreed += 1
    assert agreed >= rounds * 2 * least / 100


UNITS = (
    *("year", "years", "yr", "y", "month", "mons", "mon", "week", "w", "day", "days", "d", "hour", "hrs", "h"),
    *("minute", "mins", "min", "m", "second", "secs", "s", "quarter", "ms", "decade", "foo"),
)


def interval(random: Random) -> str:
    """A moment moved by an interval, whose text may be odd."""
    parts = []
    for _ in range(random.randint(1, 3)):
        match random.randint(0, 9):
            case 0:
                parts.append(random.choice(["ago", "1.5 days", "@ 1 day", "1-2", ",", "and", "7", "P1D", "1e2 days"]))
            case 1 | 2:
                sign, seconds = random.choice(["", "", "-", "+"]), random.choice(["", f":{random.randint(0, 61):02}"])
                parts.append(f"{sign}{random.randint(0, 30):02}:{random.randint(0, 61):02}{seconds}")
            case _:
                sign, blank = random.choice(["", "", "", "-", "+"]), random.choice(["", " ", " "])
                parts.append(f"{sign}{random.randint(0, 40)}{blank}{random.choice(UNITS)}")
    ago = random.choice(["", "", "", " ago"])
    return f"{random.choice(['d', 'ts'])} {random.choice('+-')} INTERVAL '{' '.join(parts)}{ago}'"


def test_intervals(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """The text of an interval means what both say, to its end."""
    compared(interval, 60, meanings, postgres, least=3)


COLUMNS = ("d", "ts")
TEXTS = (
    *("'2020-06-01'", "'2020-06-01 10:30:00'", "'2020-06-01 00:00'", "'2020-02-29 23:59:59'", "'2020-06-02 10:00'"),
    *("DATE '2020-06-01'", "TIMESTAMP '2020-06-01 10:30:00'"),
)
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")


def comparison(random: Random) -> str:
    """A date or a moment that meets texts and others."""
    value, *others = random.choice(COLUMNS), *random.choices((*TEXTS, *TEXTS, *COLUMNS), k=3)
    match random.randint(0, 7):
        case 0 | 1 | 2:
            sides = [value, others[0]]
            random.shuffle(sides)
            return f"{sides[0]} {random.choice(COMPARISONS)} {sides[1]}"
        case 3:
            return f"{value} {random.choice(['', 'NOT '])}IN ({', '.join(others)})"
        case 4:
            return f"{value} {random.choice(['', 'NOT '])}BETWEEN {others[0]} AND {others[1]}"
        case 5:
            return f"{random.choice(['COALESCE', 'GREATEST', 'LEAST'])}({value}, {others[0]}) = {others[1]}"
        case 6:
            return f"CASE WHEN n > 0 THEN {value} ELSE {others[0]} END {random.choice('=<>')} {others[1]}"
        case _:
            return f"NULLIF({value}, {others[0]}) IS NULL"


def test_comparisons_of_dates_with_texts(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """A text beside a date means what both say."""
    compared(comparison, 100, meanings, postgres, least=50)


KINDS = ("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")


def conversion(random: Random) -> str:
    """A cast of a value to another kind."""
    value = random.choice(["n", "r", "b", "s", "k", "d", "ts", "n % 100", "n * 10", "r * 1000", "r / 3", "-n"])
    kind = random.choice(KINDS)
    found = f"CAST({value} AS {kind})"
    return f"CAST({found} AS DOUBLE PRECISION)" if kind == "REAL" else found  # as texts they are the same


def concatenation(random: Random) -> str:
    """Texts one after another, NULLs among them."""
    parts = random.choices(["s", "k", "'x'", "''", "UPPER(k)", "CAST(d AS VARCHAR)", "CAST(n AS VARCHAR)"], k=3)
    return f"CONCAT({', '.join(parts)})" if random.random() < 0.7 else " || ".join(parts)


def row_by_row(name: str, expression: str, meanings: Meanings, postgres: psycopg.Connection[Any]) -> list[Any] | None:
    """What a judge makes of an expression, NULL on rows where it fails; None where it takes no row."""
    found, failed = list[Any](), 0
    for place in range(len(ROWS)):
        sql = f"SELECT {expression} FROM moments WHERE place = {place}"
        try:
            (row,) = meanings.engine.execute(sql).fetchall() if name == "duckdb" else postgres.execute(sql).fetchall()
            found.append(normal(row[0]))
        except (duckdb.Error, psycopg.Error):
            found.append(None)
            failed += 1
    return found if failed < len(ROWS) - 1 else None


def converted(rounds: int, meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """Random casts and concatenations are refused, or mean what both say: NULL on rows where they would fail."""
    random, agreed = Random(), 0  # noqa: S311 — for tests
    for _ in range(rounds):
        expression = random.choice((conversion, concatenation))(random)
        for name in ("duckdb", "postgres"):
            try:
                found = meanings.read(expression, name)
            except QueryError:
                continue
            expected = row_by_row(name, expression, meanings, postgres)
            if expected is not None:
                assert found == expected, (name, expression)
                agreed += 1
    assert agreed >= rounds / 2


def test_casts_and_concatenations(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """NULL is where both fail."""
    converted(60, meanings, postgres)


@pytest.mark.soak
def test_many_casts_and_concatenations(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """So do 3,000: there are no more."""
    converted(3_000, meanings, postgres)


@pytest.mark.soak
def test_many_comparisons_of_dates_with_texts(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """So do 10,000."""
    compared(comparison, 10_000, meanings, postgres, least=50)


@pytest.mark.soak
def test_many_intervals(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """So do 10,000."""
    compared(interval, 10_000, meanings, postgres, least=15)


def test_a_judge_that_differs_is_noticed(meanings: Meanings, postgres: psycopg.Connection[Any]) -> None:
    """Of what DuckDB and PostgreSQL make differently, what is read as one's isn't the other's."""
    both = [judged(name, meanings, postgres)("'1 day ago'::INTERVAL + d < d") for name in ("duckdb", "postgres")]
    assert both[0] == both[1]
    assert meanings.read("ts + INTERVAL '1 day'", "duckdb") != judged("postgres", meanings, postgres)(
        "ts + INTERVAL '2 day'"
    )
