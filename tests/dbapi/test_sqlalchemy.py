"""SQLAlchemy and pandas, as they are installed: metadata from declarations, SELECTs, parameters, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

import discreet as dp
from discreet import dbapi
from discreet.dbapi.sqlalchemy_dialect import DiscreetDialect
from support.dialect import register

COUNT = sa.func.count().label("n")


@pytest.fixture
def reflected(engine: sa.Engine) -> sa.MetaData:
    """The tables as SQLAlchemy sees them."""
    found = sa.MetaData()
    found.reflect(engine)
    return found


def test_installations_know_the_dialect() -> None:
    """Its names lead to it, with and without a driver."""
    for name in register():
        assert make_url(f"{name.replace('.', '+')}://:t@h").get_dialect() is DiscreetDialect


def test_tables_are_as_declared(tables: dp.Protected, engine: sa.Engine, reflected: sa.MetaData) -> None:
    """Columns, kinds, links and comments; and it costs nothing to look."""
    spent, found = tables.spent, sa.inspect(engine)
    assert found.get_table_names() == ["people", "visits", "cities"]
    assert (found.get_view_names(), found.get_schema_names(), found.get_table_names("other")) == ([], [], [])
    assert (found.has_table("people"), found.has_table("persons"), found.has_table("people", "other")) == (
        True,
        False,
        False,
    )
    people, visits = reflected.tables["people"], reflected.tables["visits"]
    assert {each.name: type(each.type) for each in people.columns} == {
        "id": sa.BigInteger,
        "age": sa.BigInteger,
        "sex": sa.Text,
        "born": sa.Date,
    }
    assert people.comment == "private; unit: id; limits: 1 rows"
    assert reflected.tables["cities"].comment == "public"
    assert people.c.age.comment == "bounds: 0 to 120"
    assert people.c.sex.comment == "keys: f, m, o'"
    assert visits.c.city.comment == "keys: a, b, c, d, e, f, g, h, i, j and 3 more"
    (link,) = visits.foreign_keys
    assert link.column is people.c.id
    assert found.get_pk_constraint("people")["constrained_columns"] == []
    assert found.get_indexes("people") == found.get_unique_constraints("people") == []
    with pytest.raises(sa.exc.NoSuchTableError):
        found.get_columns("persons")
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1
    assert tables.spent == spent


def test_a_connection_is_tried_without_a_question(tables: dp.Protected) -> None:
    """`pool_pre_ping` sends nothing, and isolation levels change nothing."""
    asked: list[str] = []

    class Counting:
        """Tables that note what is asked."""

        schema, close = tables.schema, tables.close

        def ask(self, question: str, **terms: Any) -> Any:
            """Ask it."""
            asked.append(question)
            return tables.ask(question, **terms)

    register()
    engine = sa.create_engine(
        "discreet://",
        creator=lambda: dbapi.connect(Counting(), epsilon=200),
        pool_pre_ping=True,
        isolation_level="AUTOCOMMIT",
    )
    for _ in range(2):
        with engine.begin() as connection:
            assert connection.scalar(sa.text("SELECT COUNT(*) AS n FROM people")) == 60
            raw = connection.connection.dbapi_connection
        assert isinstance(raw, dbapi.Connection)
        raw.close()  # it is found closed, and another is made
    assert asked == ["SELECT COUNT(*) AS n FROM people"] * 2
    engine.dispose()


QUESTIONS: list[tuple[Callable[[Any], Any], list[tuple[object, ...]]]] = [
    (lambda t: sa.select(t.c.sex, COUNT).group_by(t.c.sex).order_by(t.c.sex).limit(1), [("f", 20)]),
    (lambda t: sa.select(COUNT).where(t.c.age >= 70), [(10,)]),
    (lambda t: sa.select(COUNT).where(t.c.sex == "o'"), [(20,)]),
    (lambda t: sa.select(COUNT).where(t.c.born > date(1980, 1, 1)), [(30,)]),
    (lambda t: sa.select(COUNT).where(t.c.sex.in_(["f", "x' OR 1 = 1 --"])), [(20,)]),
    (lambda t: sa.select(COUNT).select_from(t).where(t.c.sex.in_([])), [(0,)]),
    (lambda t: sa.select(COUNT).select_from(t).where(t.c.sex.not_in([])), [(60,)]),
    (lambda t: sa.select(COUNT).where(t.c.sex.startswith("o"), sa.not_(t.c.age.between(0, 30))), [(17,)]),
    (lambda t: sa.select(COUNT).where(t.c.sex.ilike("F%")), [(20,)]),
    (lambda t: sa.select(sa.func.sum(t.c.age // 10)).where(t.c.age % 20 == 0), [(2 + 4 + 6,)]),
    (lambda t: sa.select(sa.func.sum(sa.case((t.c.age > 70, 1), else_=0))), [(9,)]),
    (lambda t: sa.select(sa.func.sum(sa.cast(t.c.age, sa.Integer))).where(t.c.age < 22), [(41,)]),
    (lambda t: sa.select(COUNT).where(sa.cast(t.c.born, sa.DateTime) > sa.func.date("1980-01-01")), [(30,)]),
]


@pytest.mark.parametrize(("question", "rows"), QUESTIONS)
def test_expressions_are_asked(
    engine: sa.Engine, reflected: sa.MetaData, question: Callable[[Any], Any], rows: list[tuple[object, ...]]
) -> None:
    """In our SQL, with parameters; answers are rows."""
    with engine.connect() as connection:
        assert [tuple(row) for row in connection.execute(question(reflected.tables["people"]))] == rows


def test_tables_are_joined(engine: sa.Engine, reflected: sa.MetaData) -> None:
    """Along the link that was reflected."""
    people, visits = reflected.tables["people"], reflected.tables["visits"]
    with engine.connect() as connection:
        found = connection.execute(sa.select(COUNT).select_from(visits.join(people)).where(people.c.age >= 70))
        assert found.scalar() == 10
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, dbapi.Connection)
        assert str(raw.messages[-2][1]).startswith("cost: ")


def test_nothing_is_written(engine: sa.Engine, reflected: sa.MetaData) -> None:
    """Rows, tables, frames: each is refused before anything is sent."""
    people = reflected.tables["people"]
    with engine.connect() as connection:
        for statement in (people.delete(), people.update().values(age=1), people.insert().values(age=1)):
            with pytest.raises(sa.exc.CompileError, match="only be asked"):
                connection.execute(statement)
        with pytest.raises(sa.exc.CompileError, match="declared by their custodian"):
            reflected.create_all(connection, checkfirst=False)
        with pytest.raises(sa.exc.ProgrammingError, match="neither in GROUP BY"):
            connection.execute(sa.select(people.c.age))
    with pytest.raises(sa.exc.CompileError, match="declared by their custodian"):
        pd.DataFrame({"a": [1]}).to_sql("frame", engine)


def test_settings_end_with_their_use(engine: sa.Engine) -> None:
    """Within one, SET holds over commits; whoever gets the connection next pays as the URL says."""
    with engine.connect() as connection:
        connection.execute(sa.text("SET discreet.epsilon = 1"))
        connection.commit()
        assert connection.scalar(sa.text("SHOW discreet.epsilon")) == "1"
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SHOW discreet.epsilon")) == "200"


def test_pandas_reads_answers(engine: sa.Engine, connection: dbapi.Connection) -> None:
    """Over an engine, with parameters of both kinds, and over the DB-API, of which pandas warns."""
    text = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= {} GROUP BY sex"
    expected = pd.DataFrame({"sex": ["f", "m", "o'"], "n": [3, 3, 4]})
    found = [
        pd.read_sql(text.format(70), engine),
        pd.read_sql_query(text.format("?"), engine, params=(70,)),
        pd.read_sql_query(sa.text(text.format(":age")), engine, params={"age": 70}),
    ]
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        found.append(pd.read_sql_query(text.format("?"), connection, params=[70]))
    for each in found:
        pd.testing.assert_frame_equal(each, expected, check_dtype=False)
    connection.cursor().execute("SET discreet.intervals = on")
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        assert list(pd.read_sql(text.format(70), connection)) == ["sex", "n", "n_low", "n_high"]
    with pytest.raises((pd.errors.DatabaseError, sa.exc.ProgrammingError), match="neither in GROUP BY"):
        pd.read_sql_table("people", engine)
