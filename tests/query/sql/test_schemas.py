"""Schemas: what stands before a table's name says which table is meant, and nothing of what is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import ConfigError, InvalidArgument, UnknownTable
from discreet.privacy import Budget
from discreet.query.ir import canonical
from discreet.query.sql import question
from discreet.tables import Dataset, dumps, loads
from support.asked import PEOPLE, TABLES

PLAIN = "SELECT sex, AVG(age) FROM people WHERE age > 3 GROUP BY sex ORDER BY sex"

QUALIFIED = {
    "postgres": (
        'SELECT "public"."people"."sex", AVG("public"."people"."age") AS "avg(age)" FROM "public"."people" '
        'WHERE "public"."people"."age" > 3 GROUP BY "public"."people"."sex" ORDER BY "public"."people"."sex"'
    ),
    "tsql": (
        "SELECT [db].[dbo].[people].[sex], AVG(CAST(people.age AS FLOAT)) AS [avg(age)] FROM [db].[dbo].[people] "
        "WHERE dbo.people.age > 3 GROUP BY dbo.people.sex ORDER BY dbo.people.sex"
    ),
    "bigquery": (
        "SELECT `p-1.ds.people`.sex, AVG(age) FROM `p-1.ds.people` WHERE `p-1`.ds.people.age > 3 "
        "GROUP BY people.sex ORDER BY people.sex"
    ),
    "snowflake": (
        'SELECT DB.PUBLIC.PEOPLE.SEX AS "sex", AVG(PUBLIC.PEOPLE.AGE) AS "avg(age)" FROM DB.PUBLIC.PEOPLE '
        "WHERE PEOPLE.AGE > 3 GROUP BY DB.PUBLIC.PEOPLE.SEX ORDER BY DB.PUBLIC.PEOPLE.SEX"
    ),
}


def meant(sql: str, schema: str | None = None, dialect: str = "postgres") -> str:
    """What a question means."""
    return canonical(question(sql, TABLES, dialect, schema))


@pytest.mark.parametrize("dialect", QUALIFIED)
def test_a_question_is_the_same_with_its_schema(dialect: str) -> None:
    """Its canonical text, by which answers are found again, is that of the names alone."""
    plain = PLAIN.replace("AVG(age)", 'AVG(CAST(people.age AS FLOAT)) AS "avg(age)"') if dialect == "tsql" else PLAIN
    for schema in (None, {"tsql": "dbo", "bigquery": "p-1.ds"}.get(dialect, "PUBLIC")):
        assert meant(QUALIFIED[dialect], schema, dialect) == meant(plain, None, dialect)


def test_columns_without_an_alias_are_called_the_same() -> None:
    """AVG(public.people.age) is AVG(people.age)."""
    assert meant("SELECT AVG(public.people.age) FROM public.people") == meant("SELECT AVG(people.age) FROM people")


def test_a_declared_schema_is_the_only_one() -> None:
    """As far as both say it; without one, any will do."""
    for name in ("public.people", "db.public.people", "people"):
        assert meant(f"SELECT COUNT(*) FROM {name}", "public") == meant("SELECT COUNT(*) FROM people")
    for name in ("sales.people", "public.sales.people"):
        meant(f"SELECT COUNT(*) FROM {name}")
        with pytest.raises(UnknownTable):
            meant(f"SELECT COUNT(*) FROM {name}", "public")
    with pytest.raises(UnknownTable):
        meant("SELECT COUNT(*) FROM people WHERE sales.people.age > 3", "public")
    with pytest.raises(UnknownTable):
        meant("SELECT COUNT(*) FROM other.public.people", "db.public")


@pytest.mark.parametrize("schema", ["information_schema", "pg_catalog", "SYS"])
def test_databases_own_tables_are_no_declared_ones(schema: str) -> None:
    """A table that happens to be called `columns` isn't the catalogue's."""
    with pytest.raises(UnknownTable):
        meant(f"SELECT COUNT(*) FROM {schema}.people")
    assert meant(f"SELECT COUNT(*) FROM {schema}.people", schema) == meant("SELECT COUNT(*) FROM people")


def test_unknown_tables_stay_unknown() -> None:
    """A schema makes no table, and the hint names those there are."""
    with pytest.raises(UnknownTable) as caught:
        meant("SELECT COUNT(*) FROM public.peopel")
    assert "public.peopel" in caught.value.message
    assert "people" in caught.value.hint


def test_what_with_names_has_no_schema() -> None:
    """It hides the table's name alone, not the name with its schema."""
    older = "WITH people AS (SELECT * FROM public.people WHERE age > 50) SELECT COUNT(*) FROM"
    assert meant(f"{older} public.people") == meant("SELECT COUNT(*) FROM people")
    assert meant(f"{older} people") == meant("SELECT COUNT(*) FROM people WHERE age > 50")
    for name in ("people", "public.people AS p"):
        with pytest.raises(UnknownTable):
            meant(f"{older} {name} WHERE public.people.age > 60")
    grouped = "WITH people AS (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) SELECT"
    assert meant(f"{grouped} AVG(age) AS x FROM public.people") == meant("SELECT AVG(age) AS x FROM people")


def test_subqueries_see_qualified_columns_of_the_question_around_them() -> None:
    """The inner table is found first, the outer one by its schema too."""
    inner = "SELECT 1 FROM public.orders WHERE public.orders.customer_id = {}customers.id"
    asked = [
        meant(f"SELECT COUNT(*) FROM public.customers WHERE EXISTS ({inner.format(schema)})")
        for schema in ("public.", "")
    ]
    assert asked[0] == asked[1]


def test_tables_of_two_schemas_are_told_apart() -> None:
    """Declared by names with points, each is itself; a name that could be several is none."""
    tables = (replace(PEOPLE, name="hr.staff"), replace(PEOPLE, name="sales.staff"), replace(PEOPLE, name="staff"))
    for name, found in (("hr.staff", "hr.staff"), ("db.Sales.Staff", "sales.staff"), ("staff", "staff")):
        text = canonical(question(f"SELECT COUNT(*) FROM {name} AS s WHERE s.age > 3", tables, "postgres"))
        assert f'from "{found}"' in text
    for name in ("other.staff", '"hr.sales".staff'):
        with pytest.raises(UnknownTable):
            question(f"SELECT COUNT(*) FROM {name}", tables, "postgres")
    both = "SELECT COUNT(*) FROM hr.staff JOIN sales.staff ON hr.staff.age = sales.staff.age"
    with pytest.raises(UnknownTable, match="two tables"):
        question(both, tables, "postgres")


def test_the_schema_is_one_setting() -> None:
    """It is written and read back; an empty name is none."""
    dataset = Dataset(name="d", tables=(PEOPLE,), budget=Budget(1), ledger="d.ledger", schema="public")
    text = dumps(dataset)
    assert 'schema = "public"' in text
    assert loads(text).schema == "public"
    assert loads(text.replace('schema = "public"\n', "")).schema is None
    for name in ("", ".public", "public."):
        with pytest.raises(ConfigError):
            loads(text.replace('"public"', f'"{name}"'))
        with pytest.raises(InvalidArgument):
            replace(dataset, schema=name)
