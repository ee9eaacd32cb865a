"""Dialects: each question means what its own dialect says, in common words, or is refused."""

from __future__ import annotations

import pytest

from discreet.errors import QueryError, Unsupported
from discreet.query.ir import canonical
from discreet.query.sql import question
from support.asked import FOLDER, TABLES, pairs

CASES = [(path.stem, *pair) for path in sorted((FOLDER.parent / "dialects").glob("*.sql")) for pair in pairs(path)]
ACCEPTED = [case for case in CASES if case[2].startswith("select ")]
REFUSED = [case for case in CASES if not case[2].startswith("select ")]

SUNDAYS = {
    "duckdb": ("EXTRACT(dow FROM born)", 0),
    "postgres": ("EXTRACT(dow FROM born)", 0),
    "snowflake": ("DAYOFWEEK(born)", 0),
    "redshift": ("DATE_PART(dow, born)", 0),
    "bigquery": ("EXTRACT(DAYOFWEEK FROM born)", 1),
    "spark": ("dayofweek(born)", 1),
    "databricks": ("EXTRACT(DAYOFWEEK FROM born)", 1),
    "mysql": ("DAYOFWEEK(born)", 1),
    "presto": ("day_of_week(born)", 7),
    "trino": ("EXTRACT(DOW FROM born)", 7),
}
"""How each dialect says the day of the week, and its number for a Sunday, as their manuals have it."""


def test_there_are_enough() -> None:
    """The table doesn't shrink."""
    assert len(ACCEPTED) >= 90
    assert len(REFUSED) >= 25
    assert len({dialect for dialect, _, _ in CASES}) >= 16


@pytest.mark.parametrize(("dialect", "sql", "expected"), ACCEPTED)
def test_accepted(dialect: str, sql: str, expected: str) -> None:
    """The question means what its canonical text says."""
    assert canonical(question(sql, TABLES, dialect)) == expected


@pytest.mark.parametrize(("dialect", "sql", "expected"), REFUSED)
def test_refused(dialect: str, sql: str, expected: str) -> None:
    """The question is refused with this code, at this line and column."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES, dialect)
    error = caught.value
    assert error.place is not None
    assert f"{error.code} {error.place[0]}:{error.place[1]}" == expected


@pytest.mark.parametrize("dialect", SUNDAYS)
def test_days_of_the_week_have_the_dialect_s_own_numbers(dialect: str) -> None:
    """1995-01-01 was a Sunday: a condition on its number is TRUE, one on any other is FALSE."""
    said, sunday = SUNDAYS[dialect]
    for number in range(8):
        constant = said.replace("born", "DATE '1995-01-01'")
        asked = question(f"SELECT COUNT(*) AS n FROM people WHERE {constant} = {number}", TABLES, dialect)
        is_false = "boolean:False" in canonical(asked)
        assert is_false == (number != sunday)


@pytest.mark.parametrize("dialect", ["drill", "druid", "tableau", "exasol", "clickhouse", "tsql", "oracle"])
def test_what_isnt_known_is_refused(dialect: str) -> None:
    """Of dialects whose weekdays aren't settled, the number of a weekday isn't guessed."""
    with pytest.raises(Unsupported):
        question("SELECT COUNT(*) AS n FROM people WHERE EXTRACT(DOW FROM born) = 1", TABLES, dialect)


@pytest.mark.parametrize(
    ("dialect", "first"), [("duckdb", False), ("postgres", False), ("bigquery", True), ("mysql", True), ("spark", True)]
)
def test_nulls_come_where_the_dialect_puts_them(dialect: str, first: bool) -> None:
    """ORDER BY without a word on NULLs."""
    asked = question("SELECT level, COUNT(*) AS n FROM people GROUP BY level ORDER BY level", TABLES, dialect)
    assert asked.order[0].nulls_first is first


@pytest.mark.parametrize("dialect", ["mysql", "tsql", "teradata"])
def test_released_texts_are_compared_too(dialect: str) -> None:
    """HAVING and ORDER BY compare keys, whose values are known; what is made of them isn't."""
    grouped = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    question(f"{grouped} HAVING sex <> 'Male' ORDER BY sex", TABLES, dialect)
    for refused in (f"{grouped} HAVING sex <> 'MALE'", f"{grouped} ORDER BY UPPER(sex)"):
        with pytest.raises(Unsupported):
            question(refused, TABLES, dialect)


@pytest.mark.parametrize("dialect", ["mysql", "tsql", "teradata"])
def test_texts_that_may_be_one_to_the_dialect_arent_compared(dialect: str) -> None:
    """Where case is ignored, only texts that differ in more than case may meet."""
    taken = "SELECT sex, COUNT(*) AS n FROM people WHERE sex IN ('Female', 'Male') GROUP BY sex"
    assert canonical(question(taken, TABLES, dialect)) == canonical(question(taken, TABLES))
    for refused in (
        "SELECT COUNT(*) AS n FROM people WHERE sex IN ('FEMALE', 'Male')",
        "SELECT COUNT(*) AS n FROM people WHERE education = 'x'",
        "SELECT COUNT(*) AS n FROM people WHERE GREATEST(education, 'x') = 'x'",
        "SELECT education, COUNT(*) AS n FROM people GROUP BY education",
        "SELECT COUNT(DISTINCT education) AS n FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE education LIKE 'É%'",
        "SELECT COUNT(*) AS n FROM people WHERE LEFT(sex, 2) || education = 'x'",
        "SELECT COUNT(*) AS n FROM (SELECT LOWER(education) AS r FROM people) AS t WHERE r > 'n'",
    ):
        with pytest.raises(QueryError):
            question(refused, TABLES, dialect)
