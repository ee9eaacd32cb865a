"""Parsing hostile text: limits on length, depth and time, with a typed refusal beyond each."""

from __future__ import annotations

import time

import pytest

from discreet.errors import InvalidArgument, QueryError, SqlSyntax, Unsupported
from discreet.query.sql import question
from discreet.query.sql.dialect_semantics import SEMANTICS
from discreet.query.sql.grouping import MOST_KEYS
from discreet.query.sql.parsing import MOST_CHARACTERS, MOST_DEPTH, MOST_TOKENS
from support.asked import TABLES

MOST_SECONDS = 5.0
"""Of computing, whatever else the machine does."""

DEEP = {
    "parentheses": ("(", "1", ")"),
    "functions": ("ABS(", "1", ")"),
    "unknown functions": ("f(", "1", ")"),
    "cases": ("CASE WHEN married THEN ", "1", " END"),
    "conditions of cases": ("CASE WHEN ", "married", " THEN TRUE END"),
    "casts": ("CAST(", "1", " AS INT)"),
    "negations": ("NOT ", "married", ""),
    "minus signs": ("- ", "1", ""),
    "types": ("DECIMAL(", "1", ")"),
    "lists": ("[", "1", "]"),
    "structures": ("{'a':", "1", "}"),
    "subqueries": ("(SELECT ", "1", ")"),
    "lambdas": ("f(x -> ", "1", ")"),
    "sums": ("age + ", "1", ""),
    "casts by colons": ("", "age", "::INT"),
    "betweens": ("1 BETWEEN ", "1", " AND 1"),
    "open parentheses": ("(", "", ""),
    "open cases": ("CASE WHEN ", "", ""),
    "dots": ("a.", "a", ""),
    "intervals": ("INTERVAL ", "1", ""),
    "windows": ("SUM(", "1", ") OVER ()"),
}


@pytest.mark.parametrize("times", [15, 39, 100, 3000])
@pytest.mark.parametrize("name", DEEP)
def test_depth(name: str, times: int) -> None:
    """However deep, a refusal or a question, within seconds; and no crash of the interpreter's stack."""
    before, inside, after = DEEP[name]
    start = time.process_time()
    try:
        question(f"SELECT COUNT(*) FROM people WHERE {before * times}{inside}{after * times} = 1", TABLES)
    except QueryError as error:
        assert error.message  # noqa: PT017 — it may also be taken
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("times", [10, 15, 25, 300])
@pytest.mark.parametrize("part", [" JOIN people", ",people", " CROSS JOIN people", " LEFT JOIN people"])
def test_joins_without_conditions(part: str, times: int) -> None:
    """A chain of joins, of which the parser would try 2ⁿ readings, is refused in linear time."""
    start = time.process_time()
    with pytest.raises(QueryError):
        question("SELECT COUNT(*) FROM people" + part * times, TABLES)
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("dialect", sorted(SEMANTICS))
def test_the_parser_is_metered_in_every_dialect(dialect: str) -> None:
    """In one that hands questions on to another parser, too."""
    with pytest.raises(Unsupported, match="attempts"):
        question("SELECT COUNT(*) FROM people" + " JOIN people" * 300, TABLES, dialect)


def test_width() -> None:
    """Many conditions in a row aren't deep."""
    wide = " AND ".join(f"age <> {n}" for n in range(500))
    assert (
        question(f"SELECT COUNT(*) FROM people WHERE {wide}", TABLES).source
        != question("SELECT COUNT(*) FROM people", TABLES).source
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people --" + "x" * MOST_CHARACTERS,
        "SELECT COUNT(*) FROM people WHERE age IN (" + "1," * (MOST_TOKENS // 2) + "1)",
        "SELECT COUNT(*) FROM people WHERE " + "(" * (MOST_DEPTH + 1) + "married" + ")" * (MOST_DEPTH + 1),
        "SELECT COUNT(*) FROM people WHERE " + " || ".join(["'x'", "sex"] * 60) + " = ''",
        "SELECT COUNT(*) FROM people WHERE " + " || ".join(["UPPER(sex || sex)"] * 9) + " = ''",
        "SELECT COUNT(*) FROM people GROUP BY " + ", ".join(f"age + {n}" for n in range(MOST_KEYS + 1)),
        "SELECT COUNT(*) FROM people WHERE " + "NULLIF(" * 20 + "age" + ", 1)" * 20 + " = 1",
        "SELECT " + ", ".join(f"SUM(POWER(share, 15) * POWER(share, 13) + {n})" for n in range(400)) + " FROM people",
    ],
    ids=["characters", "words", "depth", "texts joined", "texts grown", "keys", "repetition", "in all"],
)
def test_size(sql: str) -> None:
    """What is too large to be worked through is unsupported, and says so at once."""
    start = time.process_time()
    with pytest.raises(Unsupported):
        question(sql, TABLES)
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("character", ["\x00", chr(0xD800), chr(0xDFFF)])
def test_characters_that_are_none(character: str) -> None:
    """NUL and lone surrogates can't be stored or hashed as text, so they're no SQL."""
    with pytest.raises(SqlSyntax) as caught:
        question(f"SELECT COUNT(*) FROM people WHERE education = 'a{character}'", TABLES)
    assert caught.value.place == (1, 49)


@pytest.mark.parametrize("dialect", ["nope", "", "duckdb; x", "DuckDB", "../x", "a" * 99])
def test_unknown_dialects(dialect: str) -> None:
    """Only dialects that exist."""
    with pytest.raises(InvalidArgument):
        question("SELECT COUNT(*) FROM people", TABLES, dialect)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery", "spark", "snowflake"])
def test_known_dialects(dialect: str) -> None:
    """The common surface is the same in all of them."""
    sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= 40 GROUP BY sex ORDER BY n DESC"
    assert question(sql, TABLES, dialect).aggregates == question(sql, TABLES).aggregates


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT COUNT(*) FORM people", "did you mean FROM?"),
        ("SELECT COUNT(*) FROM people WEHRE age > 3", "did you mean WHERE?"),
        ("SELECT COUNT(*) FROM people WHERE age BETWEN 3 AND 4", "did you mean BETWEEN?"),
        ("SELECT sex, COUNT(*) FROM people GROUP sex", "GROUP BY"),
        ("SELECT COUNT(*) FROM people WHERE when < 3", "if that is a name, put it in quotes"),
        ("SELECT COUNT(*) FROM people WHERE age => 3", "there are: contribution_bounds_per_row; to compare, write >="),
        ("SELECT COUNT(*) FROM people WHERE age >", ""),
    ],
)
def test_slips_are_told(sql: str, hint: str) -> None:
    """A clause's word that is mistyped, and a name that is a word of SQL."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES)
    assert caught.value.hint == hint
