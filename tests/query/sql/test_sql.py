"""Questions: what parts a text is read into, what its columns are called, and what its types are."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction

import pytest

from discreet.errors import UnboundedColumn, UnknownColumn, UnknownFunction, UnknownTable
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.aggregates import AVG, COUNT
from discreet.query.ir import canonical
from discreet.query.sql import question
from discreet.query.sql.names import Names
from discreet.tables import Kind, Owner
from support.asked import PEOPLE, TABLES
from support.effort import calls


def read(sql: str) -> ir.Question:
    """A question of the tables."""
    return question(sql, TABLES)


def test_parts() -> None:
    """Every clause is in its place."""
    asked = read(
        "SELECT sex AS s, COUNT(*) AS n, AVG(income) / 2 FROM people WHERE age > 3 "
        "GROUP BY sex HAVING SUM(age) > 1 ORDER BY n DESC LIMIT 3 OFFSET 1"
    )
    assert isinstance(asked.source, ir.Where)
    assert asked.source.source == ir.Scan(PEOPLE, ("age", "income", "sex"), Owner(Unit.row()), "people")
    assert [(name, str(key)) for name, key in asked.keys] == [("s", '"people"."sex"')]
    assert [found.name for found in asked.aggregates] == ["n", 'avg("people"."income")', 'sum("people"."age")']
    assert [output.name for output in asked.outputs] == ["s", "n", "avg(income) / 2"]
    assert asked.order[0].descending
    assert not asked.order[0].nulls_first
    assert (asked.limit, asked.offset) == (3, 1)


def test_only_columns_that_are_used_are_read() -> None:
    """Those that say whose a row is are known from the table itself."""
    assert read("SELECT COUNT(*) FROM people").source == ir.Scan(PEOPLE, (), Owner(Unit.row()), "people")
    source = read("SELECT SUM(amount) FROM days").source
    assert isinstance(source, ir.Scan)
    assert source.columns == ("amount",)


def test_equal_aggregates_are_one() -> None:
    """However they are spelled, and wherever they stand."""
    asked = read("SELECT COUNT(*), count(1), AVG(age) + avg(people.AGE) FROM people HAVING AVG(age) > 3 ORDER BY 2")
    assert [found.function for found in asked.aggregates] == [COUNT, AVG]


@pytest.mark.parametrize("number", ["0", "3", "1.5", "1e3", "123456789012"])
@pytest.mark.parametrize("clause", ["GROUP BY", "ORDER BY"])
def test_a_number_is_the_place_of_a_column(number: str, clause: str) -> None:
    """Any other is refused, whatever it looks like, in the words of its clause."""
    with pytest.raises(UnknownColumn, match=f"{clause} {number}: the answer has columns 1 to 2"):
        read(f"SELECT sex, COUNT(*) AS n FROM people {'GROUP BY sex ' * (clause == 'ORDER BY')}{clause} {number}")


def test_names_are_unique() -> None:
    """Of the answer's columns, and of keys and aggregates among themselves, whatever the aliases try."""
    asked = read("SELECT sex AS n, COUNT(*) AS n, SUM(age) AS n_1, AVG(age) AS N, COUNT(*) FROM people GROUP BY sex")
    assert [output.name for output in asked.outputs] == ["n", "n_1", "n_1_1", "N_2", "count_star()"]
    inner = [name for name, _ in asked.keys] + [found.name for found in asked.aggregates]
    assert len(set(inner)) == len(inner)


def test_names_in_great_numbers() -> None:
    """Giving out names takes no time, even where many want the same one."""
    names, start = Names(), time.process_time()
    taken = [names.take(name) for name in [f"n_{n}" for n in range(5000)] + ["n"] * 5000]
    assert len(set(taken)) == len(taken)
    assert time.process_time() - start < 2


def test_an_alias_may_look_like_anything() -> None:
    """Names are quoted in the canonical text, so none can pass for SQL."""
    sneaky = 'SELECT COUNT(*) AS "n"", ""m" FROM people'
    plain = "SELECT COUNT(*) AS n, COUNT(*) AS m FROM people"
    assert canonical(read(sneaky)) != canonical(read(plain))
    texts = "SELECT COUNT(*) FROM people WHERE education = 'a'' , text:''b'"
    assert canonical(read(texts)) != canonical(read("SELECT COUNT(*) FROM people WHERE education = 'a'"))


SPELLINGS = (
    "select COUNT( * ) as n from PEOPLE as p where (((p.AGE >= 40))) and (p.sex='Male' and p.married)",
    'SELECT COUNT(1) n FROM "people" -- all\nWHERE "age" >= 40 AND sex = \'Male\' AND "MARRIED"',
    "SELECT COUNT(*) AS n FROM people WHERE (age >= 40 AND sex = 'Male') AND married;",
)


def test_spelling_does_not_show() -> None:
    """Case, aliases of tables, parentheses, comments and white space leave the canonical text as it is."""
    assert len({canonical(read(sql)) for sql in SPELLINGS}) == 1


DIFFERENT = (
    "SELECT COUNT(*) AS n FROM people",
    "SELECT COUNT(*) AS m FROM people",
    "SELECT COUNT(*) AS N FROM people",
    "SELECT COUNT(age) AS n FROM people",
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM people WHERE age > 3",
    "SELECT COUNT(*) AS n FROM people WHERE age > 3.0",
    "SELECT COUNT(*) AS n FROM people WHERE age >= 3",
    "SELECT COUNT(*) AS n FROM people WHERE education = '3'",
    "SELECT COUNT(*) AS n FROM people WHERE education = ' 3'",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex, level",
    "SELECT COUNT(*) AS n FROM people GROUP BY level, sex",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex HAVING n > 3",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex DESC",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex NULLS FIRST",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex LIMIT 3",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex LIMIT 3 OFFSET 1",
    "SELECT COUNT(*) AS n FROM people GROUP BY sex OFFSET 1",
    "SELECT COUNT(*) AS n, AVG(age) AS a FROM people",
    "SELECT AVG(age) AS a, COUNT(*) AS n FROM people",
)


def test_meaning_shows() -> None:
    """Questions that differ in anything else differ in their canonical text."""
    assert len({canonical(read(sql)) for sql in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize(
    ("expr", "lo", "hi"),
    [
        ("age", 0, 110),
        ("age + 1", 1, 111),
        ("-age", -110, 0),
        ("age * age", 0, 12100),
        ("(age - 50) * (age - 50)", 0, 3600),
        ("ABS(age - 50)", 0, 60),
        ("age % 7", 0, 6),
        ("age // 7", 0, 15),
        ("CASE WHEN age > 3 THEN 10 ELSE -1 END", -1, 10),
        ("CASE WHEN age > 3 THEN 10 END", 10, 10),
        ("COALESCE(age, -5)", -5, 110),
        ("GREATEST(LEAST(code, 100), 0)", 0, 100),
        ("LEAST(age, 50)", 0, 50),
        ("LENGTH(sex)", 4, 6),
        ("YEAR(born)", 1990, 1999),
        ("DATE '2000-01-01' - born", 1, 3652),
        ("CAST(married AS INTEGER)", 0, 1),
        ("ROUND(share)", 0, 1),
        ("age > 3", 0, 1),
    ],
)
def test_ranges_propagate(expr: str, lo: int, hi: int) -> None:
    """A sum's argument has the least range that its rules give."""
    (found,) = read(f"SELECT SUM({expr}) FROM people").aggregates
    assert found.argument is not None
    assert found.argument.type.kind is Kind.INTEGER
    assert found.argument.type.lo == lo
    assert found.argument.type.hi == hi


def test_whole_numbers_that_could_overflow_are_real() -> None:
    """Beyond 64 bits, arithmetic goes on in float64."""
    (found,) = read("SELECT SUM(large * 4) FROM people").aggregates
    assert found.argument is not None
    assert found.argument.type.kind is Kind.REAL
    assert found.argument.type.hi == Fraction(2**64)


def test_hints_name_the_fix() -> None:
    """A refusal says what to write instead."""
    with pytest.raises(UnboundedColumn) as unbounded:
        read("SELECT SUM(wealth) FROM people")
    assert "GREATEST(LEAST(wealth, 100), 0)" in unbounded.value.hint
    assert "declare bounds for wealth" in unbounded.value.hint
    with pytest.raises(UnknownColumn) as column:
        read("SELECT SUM(incme) FROM people")
    assert column.value.hint == "did you mean income?"
    with pytest.raises(UnknownColumn) as quoted:
        read('SELECT COUNT(*) FROM people WHERE sex = "Female"')
    assert quoted.value.hint.startswith("a text stands in single quotes, as in 'Female'; ")
    with pytest.raises(UnknownTable) as table:
        read("SELECT COUNT(*) FROM visit")
    assert table.value.hint == "did you mean visits?"
    with pytest.raises(UnknownFunction) as function:
        read("SELECT COUNT(*) FROM people WHERE UPER(sex) = 'X'")
    assert function.value.hint == "did you mean UPPER?"
    with pytest.raises(UnknownFunction) as aggregate:
        read("SELECT REGR_SLOP(income, age) FROM people")
    assert aggregate.value.hint == "did you mean REGR_SLOPE?"


def test_importing_costs_nothing() -> None:
    """The parser and Ibis are imported when a question comes, not before."""
    check = "import sys, discreet.query.sql; sys.exit(bool({'sqlglot', 'ibis', 'duckdb'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_reading_is_quick() -> None:
    """A typical question takes some 3,000 calls of functions, which is a few milliseconds: at most twice that."""
    sql = "SELECT sex, COUNT(*) AS n, AVG(income) AS mean FROM people WHERE age >= 40 GROUP BY sex ORDER BY n DESC"
    read(sql)
    assert calls(lambda: read(sql)) < 6_000
