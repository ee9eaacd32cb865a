"""Unread text: every token of a question is found in what was made of it, or the question is refused at its place."""

from __future__ import annotations

from random import Random

import pytest

from discreet.errors import QueryError, Unsupported
from discreet.query.ir import canonical
from discreet.query.sql import parsing, question
from support.asked import FOLDER, TABLES, pairs

PASSED_OVER = (
    ("mysql", "SELECT COUNT(*) FROM people WHERE DATE(seen, '+1 day') = '2023-06-01'"),
    ("spark", "SELECT COUNT(*) FROM people WHERE date(seen, '+1 day') = '2023-06-01'"),
    ("presto", "SELECT COUNT(*) FROM people WHERE DATE_ADD(NOT 'day', 1, born) = DATE '1995-01-01'"),
    ("tsql", "SELECT COUNT(*) FROM people WHERE CONVERT(NOT DATE, '1995-01-01', 23) < born"),
    ("tsql", "SELECT COUNT(*) FROM people WHERE ROUND(income, 0, NOT 1) > 3"),
    ("duckdb", "SELECT COUNT(*) FROM people WHERE DATE_ADD(born, INTERVAL 5 DAY, GLOBAL) > '1995-01-01'"),
    ("duckdb", "SELECT COUNT(*) FROM people WHERE CAST(education AS VARCHAR(3 x)) = 'abc'"),
    ("oracle", "SELECT COUNT(*) FROM people WHERE CAST(education AS VARCHAR(3 BYTE)) = 'abc'"),
    ("tsql", "SELECT COUNT(*) FROM people WHERE CAST(married AS VARCHAR(5, 2)) = '1'"),
    ("postgres", "SELECT SUM(income::numeric(10, 2 x)) FROM people"),
    ("duckdb", "SELECT COUNT(*) FROM people WHERE born < DATE '1995-01-01' + INTERVAL '9' DAY(age)"),
    (
        "duckdb",
        "SELECT COUNT(*) FROM (SELECT MAX(day) OVER (a ORDER BY day) FROM visits WINDOW a AS (PARTITION BY day))",
    ),
    (
        "duckdb",
        "SELECT COUNT(*) FROM (SELECT SUM(amount) OVER (zz PARTITION BY person_id) AS s FROM visits) WHERE s > 3",
    ),
    ("mysql", "SELECT COUNT(*) /*! , 1 */ FROM people"),
    ("bigquery", "SELECT COUNT(*) /* /* */ + 1 -- */ */ FROM people"),
)
"""What the parser passes over, or what was read by its name alone."""

MEANT = (
    ("duckdb", "SELECT ALL COUNT(*) FROM people /* all */ -- of them"),
    ("duckdb", "SELECT SUM(+age), SUM(age * .5), SUM(- age) FROM people AS p"),
    ("duckdb", "SELECT COUNT(*) FROM visits AS v LEFT OUTER JOIN shops AS s ON s.id = v.person_id"),
    ("bigquery", "SELECT COUNT(*) AS n FROM my-proj.ds.people AS p WHERE DATE_TRUNC(born, MONTH) > '1995-01-01'"),
    ("tsql", "SELECT COUNT(*) AS n FROM people WHERE DATEADD(month, DATEDIFF(month, 0, born), 0) = '1995-01-01'"),
    (
        "oracle",
        "SELECT COUNT(*) AS n FROM people WHERE seen >= TIMESTAMP '2024-01-01 00:00:00' FETCH FIRST 3 ROWS ONLY",
    ),
    ("postgres", "SELECT COUNT(*) AS n FROM people WHERE CAST(joined AS timestamp without time zone) IS NOT NULL"),
    ("duckdb", "SELECT COUNT(*) AS n FROM people WHERE (CAST(age AS VARCHAR(3))) IS NOT NULL"),
    ("mysql", "SELECT SUM(age --3\n) FROM people"),
    ("mysql", "SELECT COUNT(*) FROM people -- of them\n# all"),
)
"""What is said in more words than the tree keeps."""

ACCEPTED = [
    sql for name in ("accepted", "aggregates_accepted", "ways_accepted") for sql, _ in pairs(FOLDER / f"{name}.sql")
]


@pytest.mark.parametrize(("dialect", "sql"), PASSED_OVER)
def test_what_would_be_passed_over_is_refused(dialect: str, sql: str) -> None:
    """With its place."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES, dialect)
    assert caught.value.place is not None


@pytest.mark.parametrize(("dialect", "sql"), MEANT)
def test_what_says_nothing_more_is_taken(dialect: str, sql: str) -> None:
    """Words without a meaning of their own, and what is put into other words."""
    question(sql, TABLES, dialect)


def test_the_place_is_that_of_the_token() -> None:
    """The first that left no trace."""
    with pytest.raises(Unsupported, match=r"'\+1 day' isn't understood here") as caught:
        question("SELECT COUNT(*)\nFROM people WHERE DATE(seen, '+1 day') = '2023-06-01'", TABLES, "mysql")
    assert caught.value.place == (2, 30)


def inserted(random: Random) -> tuple[str, str]:
    """A question that is answered, and the same with one argument more somewhere."""
    while True:
        sql = random.choice(ACCEPTED)
        tokens = parsing._tokens(sql, parsing._grammar("duckdb"))
        opened, calls = list[int](), list[int]()
        for place, token in enumerate(tokens):
            if token.text == "(":
                opened.append(place)
            elif token.text == ")" and opened:
                first = opened.pop()
                inner = {each.text.upper() for each in tokens[first + 1 : place]}
                before = tokens[first - 1].text.upper()
                if (
                    first
                    and tokens[first - 1].text.isidentifier()
                    and not inner & {"SELECT", "PARTITION BY"}
                    and before != "IN"
                ):
                    calls.append(token.start)
        if calls:
            at = random.choice(calls)
            return sql, sql[:at] + random.choice([", 'zq'", ", 73", ", TRUE", ", age"]) + sql[at:]


def test_an_argument_more_means_more_or_is_refused() -> None:
    """Nothing that is put into a list of arguments leaves the meaning as it was; what was refused is no matter."""
    random, changed = Random(), 0  # noqa: S311 — for tests
    for _ in range(1000):
        sql, more = inserted(random)
        try:
            found = canonical(question(more, TABLES))
        except QueryError:
            continue
        assert found != canonical(question(sql, TABLES)), more
        changed += 1
    assert changed
