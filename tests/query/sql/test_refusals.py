"""Refusals speak of what the question says, never in the parser's names; each of its flags is accounted for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser

from discreet.errors import QueryError, Unsupported
from discreet.query.aggregates import AGGREGATES, SPELLINGS
from discreet.query.sql import question, refusals, select, subqueries
from discreet.query.sql.aggregate_syntax import AGGREGATE_SYNTAX
from discreet.query.sql.dialect_semantics import SEMANTICS
from discreet.query.sql.dialects import MEANINGLESS, READ, RULES, plain
from discreet.query.sql.refusals import CLAUSES, FLAGS, PARTS, unknown_part
from discreet.query.sql.scalar_syntax import SCALAR_SYNTAX
from support.asked import TABLES

SURFACE = {
    name: getattr(exp, name) for name in sorted({*SCALAR_SYNTAX, *AGGREGATE_SYNTAX, *RULES} - {"Subquery", "Window"})
}
"""The parser's classes that expressions may consist of; FROM and `per_unit` read all parts of the two others."""

ARGUMENTS = {"this", "expression", "expressions", "quantile", "offset"}
"""The parts that aggregates read."""

PUBLIC = {
    "AND",
    "ALL",
    "CAST",
    "ESCAPE",
    "FALSE",
    "FROM",
    "ISO",
    "NULL",
    "TRUE",
    "WHERE",
    "HAVING",
    "SQL",
    "ON",
    "ERROR",
}
"""Words of messages that need not be the question's own."""

CLASSES = {name for name in dir(exp) if re.fullmatch("([A-Z][a-z]+){2,}", name)}


def foreign(message: str, sql: str) -> list[str]:
    """Words of a message that are names, and none that the question uses."""
    names = [word for word in re.findall(r"\b[A-Z][A-Z_]+\b", message) if word not in sql.upper()]
    return [word for word in names if word not in PUBLIC] + [
        word for word in re.findall(r"\w+", message) if word in CLASSES and word not in sql
    ]


def functions() -> Iterator[tuple[str, str]]:
    """Every name that the parser knows a function by: those of DuckDB's dialect, and what others make of them."""
    seen = set[tuple[str, int]]()
    for dialect in ("duckdb", *SEMANTICS):
        for name, build in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS.items():
            common = Parser.FUNCTIONS.get(name) is build
            if (name, id(build)) not in seen and (dialect == "duckdb" or not common):
                seen.add((name, id(build)))
                yield dialect, name


def test_refusals_speak_the_question_s_language() -> None:
    """Whatever function is called, in whatever dialect, no message holds a name that the question doesn't."""
    offenders, refused = list[str](), 0
    for dialect, name in functions():
        sql = f"SELECT COUNT(*) AS n FROM people WHERE {name}(age) = 1"
        try:
            question(sql, TABLES, dialect)
        except QueryError as error:
            refused += 1
            offenders += [f"{dialect}: {name}: {error.message}"] if foreign(error.message, sql) else []
    assert refused > 800
    assert not offenders, "\n".join(offenders)


def read_by(name: str, part: str) -> bool:
    """Whether a part of a node is read by what binds or rewrites it, as this says of itself."""
    of_scalar = name in SCALAR_SYNTAX and part in SCALAR_SYNTAX[name].parts
    of_aggregate = name in AGGREGATE_SYNTAX and part in ARGUMENTS
    return of_scalar or of_aggregate or part in READ.get(name, ())


def test_every_part_of_the_surface_is_accounted_for() -> None:
    """Each is read, or proven to change nothing, or has a name that a question would give it."""
    offenders = [
        f"{name}.{part}"
        for name, kind in SURFACE.items()
        for part in kind.arg_types
        if not read_by(name, part) and part not in MEANINGLESS and part not in PARTS and part not in FLAGS
    ]
    assert not offenders, offenders
    assert all(MEANINGLESS.values())
    assert MEANINGLESS.keys() <= FLAGS


def test_every_clause_has_a_name() -> None:
    """Each that a SELECT can have is read, or refused by a name that isn't the parser's own."""
    clauses = {part.rstrip("_") for part in exp.Select.arg_types}
    assert clauses <= select.CLAUSES | CLAUSES.keys()
    assert clauses <= subqueries.CLAUSES | CLAUSES.keys()


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("mysql", "SELECT SQL_NO_CACHE COUNT(*) FROM people"),
        ("bigquery", "SELECT AS STRUCT COUNT(*) FROM people"),
        ("tsql", "SELECT COUNT(*) FROM people OPTION (RECOMPILE)"),
        ("spark", "SELECT COUNT(*) FROM people SORT BY 1"),
        ("clickhouse", "SELECT COUNT(*) FROM people SETTINGS max_threads = 1"),
        ("oracle", "SELECT COUNT(*) FROM (SELECT age FROM people CONNECT BY age = 1)"),
    ],
)
def test_clauses_are_refused_by_name(dialect: str, sql: str) -> None:
    """In a question, and in its subqueries."""
    with pytest.raises(Unsupported) as caught:
        question(sql, TABLES, dialect)
    assert not foreign(caught.value.message, sql)


@pytest.mark.parametrize("value", [exp.column("age"), exp.Literal.number(7), True])
def test_unread_parts_are_refused_in_the_question_s_words(value: object) -> None:
    """No refusal of a part names it as the parser does."""
    for name, kind in SURFACE.items():
        for part in kind.arg_types:
            if read_by(name, part):
                continue
            node = kind(**{part: value})
            message = unknown_part(node, part, value).message
            words = PARTS.get(part, "")
            assert not foreign(message, words), (name, part, message)
            assert re.sub("_", " ", part).upper() not in message or part.upper() in words.upper(), (name, part, message)


def test_aggregates_read_no_more_than_their_arguments() -> None:
    """A part beside them is refused, whatever it is; so is a flag where the question's argument stands."""
    for name, read in AGGREGATE_SYNTAX.items():
        kind = getattr(exp, name)
        if name in {"Anonymous", "Filter", "WithinGroup", "Bracket"}:
            continue
        for part in kind.arg_types.keys() - ARGUMENTS:
            node = kind(this=exp.column("age"), **{part: exp.column("age")})
            with pytest.raises(QueryError):
                read(plain(node, "duckdb"))


def test_arguments_too_many_never_become_flags() -> None:
    """What a question says where the parser keeps a flag isn't passed over: `SUBSTRING(x, 1, 2, 3)`."""
    for kind in SURFACE.values():
        for part in FLAGS.intersection(kind.arg_types):
            with pytest.raises(QueryError):
                plain(kind(**{part: exp.Literal.number(7)}), "duckdb")


@pytest.mark.parametrize(
    ("dialect", "condition"),
    [
        ("duckdb", "SUBSTRING(sex, 1, 2, 3) = 'Ma'"),
        ("duckdb", "LENGTH(sex, 'utf8') > 3"),
        ("redshift", "LENGTH(sex, 'utf8') > 3"),
        ("snowflake", "LEFT(sex, 2, 3) = 'Ma'"),
        ("snowflake", "ROUND(income, 1, 'HALF_EVEN') > 3"),
        ("spark", "to_date(education, 'dd/MM/yyyy') < born"),
        ("tsql", "ROUND(income, 1, 1) > 3"),
        ("tsql", "CONVERT(DATE, '12/31/1995', 101) < born"),
        ("duckdb", "MAKE_DATE() < born"),
    ],
)
def test_what_would_be_passed_over_is_refused(dialect: str, condition: str) -> None:
    """Arguments that change what a function gives, and that the parser puts where nobody looks."""
    with pytest.raises(QueryError) as caught:
        question(f"SELECT COUNT(*) AS n FROM people WHERE {condition}", TABLES, dialect)
    assert not foreign(caught.value.message, condition)


@pytest.mark.parametrize("dialect", ["duckdb", "snowflake"])
def test_counts_take_one_condition(dialect: str) -> None:
    """COUNT_IF of two conditions isn't one of the first."""
    with pytest.raises(QueryError, match="too many"):
        question("SELECT COUNT_IF(age > 3, age > 5) AS n FROM people", TABLES, dialect)


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT COUNT(*) AS n FROM people WHERE POSITION('a' IN sex) > 0", "POSITION"),
        ("SELECT COUNT(*) AS n FROM people WHERE CAST(age AS timestamptz) > born", "timestamptz"),
        ("SELECT BIT_OR(age) AS x FROM people", "BIT_OR"),
        ("SELECT COUNT(*) AS n FROM people WHERE TO_CHAR(income, '99') = '1'", "TO_CHAR"),
        ("SELECT COUNT(*) AS n FROM people WHERE age BETWEEN SYMMETRIC 5 AND 1", "SYMMETRIC"),
    ],
)
def test_refusals_name_what_was_written(sql: str, word: str) -> None:
    """The function, the type or the keyword, as it stands in the question."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES, "postgres")
    assert word in caught.value.message


def test_the_hint_names_every_aggregate_that_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by a name that a question can use; one that is added is named without another line."""
    with pytest.raises(Unsupported, match="ANY_VALUE isn't among the aggregates") as caught:
        question("SELECT ANY_VALUE(age) FROM people", TABLES)
    assert isinstance(caught.value.hint, str)
    named = re.findall("[A-Z_]{3,}[0-9]*", caught.value.hint)
    assert {"COUNT", "MIN", "MEDIAN", "APPROX_TOP_K", "VAR_POP", "BOOL_OR"} <= set(named)
    for name in named:
        with pytest.raises(QueryError) as refused:
            question(f"SELECT {name}(age, age, age, age) FROM people", TABLES)
        assert "isn't among" not in refused.value.message, name
    assert len(named) == len(set(named)) >= len(AGGREGATES) - 1  # units has no name: it is COUNT(DISTINCT id)
    monkeypatch.setattr(refusals, "SPELLINGS", {**SPELLINGS, "geomean": SPELLINGS["Sum"]})
    assert refusals._supported_aggregates() == caught.value.hint  # another spelling of the same
    geomean = replace(SPELLINGS["Sum"], function=replace(SPELLINGS["Sum"].function, name="geomean"))
    monkeypatch.setattr(refusals, "SPELLINGS", {**SPELLINGS, "geomean": geomean})
    assert "GEOMEAN" in refusals._supported_aggregates()


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("duckdb", "SELECT COUNT(*) FROM people TABLESAMPLE 10 PERCENT", "TABLESAMPLE can't be used in FROM"),
        ("tsql", "SELECT COUNT(*) FROM people WITH (NOLOCK)", "NOLOCK"),
        ("postgres", "SELECT COUNT(*) FROM ONLY people", "ONLY can't be used in FROM"),
        ("mysql", "SELECT COUNT(*) FROM people USE INDEX (x)", "USE INDEX"),
        ("duckdb", "SELECT ANY_VALUE(age) FROM people", "ANY_VALUE isn't among the aggregates"),
        ("duckdb", "SELECT COUNT(*) FROM people WHERE sex = ‘Male’", "straight quotes"),
        (
            "duckdb",
            "SELECT 1 FROM (SELECT LAG(day IGNORE NULLS) OVER (PARTITION BY person_id ORDER BY day) FROM visits)",
            "IGNORE NULLS can't be used in LAG",
        ),
    ],
)
def test_the_part_that_cant_be_used_is_named(dialect: str, sql: str, message: str) -> None:
    """In the error, or in its hint."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES, dialect)
    assert message in str(caught.value)
