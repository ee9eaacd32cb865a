"""PEP 249, point by point, over tables of this process."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

import discreet as dp
from discreet import dbapi
from discreet.errors import QueryError
from discreet.results import Answer

COUNT = "SELECT COUNT(*) AS n FROM people WHERE age >= ?"
SMALL = """
name = "small"
ledger = "small.ledger"
adjacency = "add_remove"
budget = { epsilon = 1000 }
[tables.people]
source = "people.csv"
unit = "id"
limits = { rows = 1 }
[tables.people.columns]
id = { kind = "integer" }
"""
BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex"


def test_the_module_says_what_it_is() -> None:
    """Its globals, its types and the tree of its exceptions."""
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")
    assert [each for each in dbapi.__all__ if not hasattr(dbapi, each)] == []
    assert (dbapi.Date, dbapi.Time, dbapi.Timestamp, dbapi.Binary) == (date, time, datetime, bytes)
    at = dbapi.TimestampFromTicks(86_400 * 365)
    assert (dbapi.DateFromTicks(86_400 * 365), dbapi.TimeFromTicks(86_400 * 365)) == (at.date(), at.time())
    assert all(kind == dbapi.NUMBER for kind in ("integer", "real", "boolean", "decimal(38,2)"))
    assert "text" == dbapi.STRING != "integer"
    assert "date" == dbapi.DATETIME == "timestamp"
    assert dbapi.ROWID != dbapi.BINARY
    assert len({dbapi.STRING, dbapi.NUMBER, dbapi.STRING}) == 2
    database = ["DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError"]
    for name in [*database, "NotSupportedError"]:
        assert getattr(dbapi, name).__bases__ == (dbapi.DatabaseError,)
    assert dbapi.DatabaseError.__bases__ == dbapi.InterfaceError.__bases__ == (dbapi.Error,)
    assert dbapi.Error.__bases__ == dbapi.Warning.__bases__ == (Exception,)
    assert all(getattr(dbapi.Connection, name) is getattr(dbapi, name) for name in [*database, "Warning", "Error"])


def test_rows_are_fetched_in_every_way(connection: dbapi.Connection) -> None:
    """One, some, all and by iteration; what was fetched is gone."""
    with connection.cursor() as cursor:
        assert (cursor.description, cursor.rowcount, cursor.arraysize, cursor.messages) == (None, -1, 1, [])
        assert cursor.execute(BY_SEX) is cursor
        assert cursor.rowcount == 3
        assert cursor.description is not None
        assert [(each[0], each[1]) for each in cursor.description] == [
            ("sex", "text"),
            ("n", "integer"),
            ("mean", "real"),
        ]
        assert cursor.fetchone() == ("f", 20, pytest.approx(48.5, abs=0.1))
        assert [row[0] for row in cursor] == ["m", "o'"]
        assert cursor.fetchone() is None
        assert cursor.fetchall() == cursor.fetchmany(2) == []
        cursor.execute(BY_SEX)
        assert [row[0] for row in cursor.fetchmany()] == ["f"]
        cursor.arraysize = 2
        assert [row[0] for row in cursor.fetchmany()] == ["m", "o'"]
        cursor.execute(BY_SEX)
        assert [row[0] for row in cursor.fetchmany(2)] == ["f", "m"]  # and no row is lost after them
        assert [row[0] for row in cursor.fetchall()] == ["o'"]


def test_decimals_have_their_digits(connection: dbapi.Connection) -> None:
    """Precision and scale are told, and values are decimals."""
    found = connection.cursor().execute("SELECT SUM(cost) AS total FROM visits")
    assert found.description is not None
    assert found.description[0][1:] == ("decimal(38,2)", None, None, 38, 2, None)
    ((total,),) = found
    assert (type(total), total.as_tuple().exponent) == (Decimal, -2)


@pytest.mark.parametrize(
    ("where", "value", "rows"),
    [
        ("age >= ?", 70, 10),
        ("age >= ?", Decimal("69.5"), 10),
        ("age < ?", 20.5, 1),
        ("age > ?", -1, 60),
        ("sex = ?", "o'", 20),
        ("born > ?", date(1980, 1, 1), 30),
        ("born < ?", "1980-01-01", 30),
        ("(age > 70) = ?", True, 9),
        ("sex IS NOT DISTINCT FROM ?", None, 0),
    ],
)
def test_parameters_are_of_the_declared_kinds(
    connection: dbapi.Connection, where: str, value: object, rows: int
) -> None:
    """Numbers, texts, dates, truth values and NULL mean what they do as literals."""
    assert connection.cursor().execute(f"SELECT COUNT(*) AS n FROM people WHERE {where}", [value]).fetchone() == (rows,)


def test_a_value_is_the_same_question_as_a_literal(tables: dp.Protected) -> None:
    """A repeat is the stored answer, for nothing, and its messages say so; settings play no part in it."""
    with dbapi.connect(tables, epsilon="1/2") as connection:
        cursor = connection.cursor()
        first = cursor.execute(COUNT, [41]).fetchone()
        spent = tables.spent
        said = [str(message) for _, message in cursor.messages]
        assert said[0] == "±: at 95 %"
        assert said[-2].startswith("cost: ε = 0.5, entry ")
        assert said[-1].startswith("left: ε = ")
        assert all(kind is dbapi.Warning for kind, _ in cursor.messages)
        assert connection.messages == cursor.messages
        assert cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age >= 41").fetchone() == first
        assert "free: the same answer again" in str(cursor.messages[-2][1])
        cursor.execute("SET discreet.intervals = on")
        again = cursor.execute(COUNT, (41,)).fetchone()
        assert again is not None
        assert again[:1] == first
        assert again[1] < again[0] < again[2]
        assert [each[0] for each in cursor.description or ()] == ["n", "n_low", "n_high"]
        assert isinstance(cursor.answer, Answer)
        assert cursor.answer.reused
        assert connection.answer is cursor.answer
        assert tables.spent == spent


def test_without_an_offer_nothing_is_asked(tables: dp.Protected) -> None:
    """The error says what to set; a question's own OPTIONS offer something, too."""
    with dbapi.connect(tables) as connection, connection.cursor() as cursor:
        with pytest.raises(dbapi.ProgrammingError, match=r"nothing says .* \(SET discreet\.epsilon = 0\.5") as caught:
            cursor.execute(COUNT, [1])
        assert (caught.value.code, caught.value.sqlstate) == ("invalid_argument", "22023")
        text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = ?) COUNT(*) AS n FROM people"
        assert cursor.execute(text, [300]).fetchone() == (60,)
        cursor.execute("SET discreet.epsilon = 200")
        assert cursor.execute(COUNT, [0]).fetchone() == (60,)


def test_what_costs_nothing_is_free(tables: dp.Protected, connection: dbapi.Connection) -> None:
    """Probes, transactions, plans and refusals."""
    spent, cursor = tables.spent, connection.cursor()
    assert cursor.execute(" select 1 ;").fetchall() == [(1,)]
    for statement in ("BEGIN", "start transaction;", "COMMIT", "ROLLBACK WORK"):
        assert cursor.execute(statement).description is None
        assert cursor.rowcount == -1
    plan = cursor.execute(f"EXPLAIN {COUNT}", [12]).fetchall()
    assert plan[0] == ("question  SELECT COUNT(*) AS n FROM people WHERE age >= 12",)
    assert cursor.messages == []
    connection.commit()
    connection.rollback()
    for wrong, kind, state in (
        ("SELECT agee FROM people", dbapi.ProgrammingError, "42703"),
        ("SELECT COUNT(*) FROM persons", dbapi.ProgrammingError, "42P01"),
        ("SELECT age FROM people", dbapi.ProgrammingError, "42803"),
        ("SELECT COUNT(* FROM people", dbapi.ProgrammingError, "42601"),
        ("INSERT INTO people VALUES (1)", dbapi.ProgrammingError, "0A000"),
        ("SELECT COUNT(*) FROM people UNION SELECT 1", dbapi.NotSupportedError, "0A000"),
    ):
        with pytest.raises(kind) as caught:
            cursor.execute(wrong)
        assert caught.value.sqlstate == state
        assert isinstance(caught.value.__cause__, dp.DiscreetError)
        assert (caught.value.hint, caught.value.place) == (caught.value.__cause__.hint, caught.value.__cause__.place)
        assert (cursor.description, cursor.rowcount, cursor.answer) == (None, -1, None)
    assert tables.spent == spent


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ([], "0 parameters|placeholders"),
        ([1, 2], "1 placeholders, and there are 2"),
        ({"age": 1}, "a list of values"),
        ("1", "a list of values"),
        ([b"1"], "parameter 1 is of type bytes"),
        ([float("nan")], "finite"),
        ([datetime(2020, 1, 1).astimezone()], "time zone"),
        (["40"], "one kind"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(
    tables: dp.Protected, connection: dbapi.Connection, parameters: object, words: str
) -> None:
    """In words that say what would; nothing is charged."""
    spent = tables.spent
    with pytest.raises(dbapi.Error, match=words):
        connection.cursor().execute(COUNT, parameters)  # type: ignore[arg-type]  # that's the point
    assert tables.spent == spent


def test_refusals_show_the_question_as_it_was_given(tables: dp.Protected, connection: dbapi.Connection) -> None:
    """With its placeholders: the place is one of that text. A SUMMARIZE stands for several questions."""
    question = "SELECT COUNT(*) AS n FROM people WHERE sex = ? AND agee > ?"
    with pytest.raises(QueryError) as caught:
        tables.plan(question, epsilon=1, parameters=["long enough to move what follows", 1])
    assert (caught.value.text, caught.value.place) == (question, (1, question.index("agee") + 1))
    with pytest.raises(dbapi.ProgrammingError, match="parameters are for one question"):
        connection.cursor().execute("SUMMARIZE SELECT age FROM people WHERE age > ?", [40])


def test_many_at_once_are_refused(connection: dbapi.Connection) -> None:
    """Each would be paid for, and its answer lost; sizes change nothing."""
    cursor = connection.cursor()
    with pytest.raises(dbapi.NotSupportedError, match="execute each question"):
        cursor.executemany(COUNT, [[1], [2]])
    cursor.setinputsizes([1])
    cursor.setoutputsize(1, 0)


def test_a_summary_has_an_answer_after_the_other(connection: dbapi.Connection) -> None:
    """One about the table, then one about each column."""
    cursor = connection.cursor().execute("SUMMARIZE SELECT age, sex FROM people")
    seen = [[each[0] for each in cursor.description or ()]]
    while cursor.nextset():
        seen.append([each[0] for each in cursor.description or ()])
    assert len(seen) == 3
    assert "sex" in seen[-1]
    assert (cursor.nextset(), cursor.description) == (None, None)


def test_after_the_end_nothing_works(tables: dp.Protected) -> None:
    """Neither cursor nor connection; tables that were open before stay open."""
    connection = dbapi.connect(tables, epsilon=200)
    cursor, other = connection.cursor(), connection.cursor()
    with pytest.raises(dbapi.InterfaceError, match="execute a question first"):
        cursor.fetchone()
    cursor.close()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError, match="this cursor is closed"):
        cursor.execute(COUNT, [1])
    connection.close()
    connection.close()
    for use in (connection.cursor, connection.commit, connection.rollback, other.fetchall, other.nextset):
        with pytest.raises(dbapi.InterfaceError, match="closed"):
            use()
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        _ = connection.schema
    assert tables.ask("SELECT COUNT(*) AS n FROM people", epsilon=200)["n"] == [60]


def test_a_configuration_is_opened_and_closed(tmp_path: Path) -> None:
    """By its path; tables that a connection has opened are closed with it."""
    (tmp_path / "people.csv").write_text("id\n1\n2\n", encoding="utf-8")
    file = tmp_path / "discreet.toml"
    file.write_text(SMALL, encoding="utf-8")
    dp.load(file, create_ledger=True).close()
    with dbapi.connect(file, epsilon=200) as connection:
        assert repr(connection) == f"Connection({str(file)!r})"
        assert connection.cursor().execute("SELECT COUNT(*) AS n FROM people").fetchall() == [(2,)]
        opened = connection.tables
    with pytest.raises(dp.errors.AccountClosed):
        opened.ask("SELECT COUNT(*) AS n FROM people", epsilon=200)
    with pytest.raises(dbapi.OperationalError):
        dbapi.connect(tmp_path / "none.toml")
