"""Settings of a connection: by arguments of `connect`, and by SET, RESET and SHOW."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet import dbapi
from discreet.dbapi.settings import Settings, carried_out
from discreet.errors import InvalidArgument
from discreet.query.planner import OFFERED


def after(*statements: str) -> Settings:
    """The settings that statements make."""
    settings = Settings()
    for statement in statements:
        found = carried_out(statement, settings)
        assert found is not None
        settings = found.settings
    return settings


@pytest.mark.parametrize(
    ("statement", "name", "term", "shown"),
    [
        ("SET discreet.epsilon = 0.5", "epsilon", "0.5", "0.5"),
        ("set session DISCREET.Epsilon to '1/3';", "epsilon", "1/3", "1/3"),
        ("SET discreet.rho=0.01", "rho", "0.01", "0.01"),
        ("SET discreet.delta = 1e-9", "delta", "1e-9", "1e-9"),
        ("SET discreet.within = 5%@1000", "within", "5%@1000", "5%@1000"),
        ("SET discreet.within = 'n = 50; m=2%@9'", "within", {"n": "50", "m": "2%@9"}, None),
        ("SET discreet.confidence = 0.9", "confidence", "0.9", "0.9"),
        ("SET discreet.expecting = 20,000", "expecting", 20_000, "20000"),
        ("SET discreet.limits = 5x10", "limits", "5x10", "5x10"),
        ("SET discreet.cut_off TO yes", "cut_off", True, "on"),
        ("SET discreet.dialect = 'postgres'", "dialect", "postgres", "postgres"),
    ],
)
def test_a_setting_is_a_term(statement: str, name: str, term: object, shown: str | None) -> None:
    """As it was said; it is shown, and gone once it is reset."""
    settings = after(statement)
    assert settings.said == {name: term}
    found = carried_out(f"SHOW discreet.{name}", settings)
    assert found is not None
    assert found.names == (f"discreet.{name}",)
    assert shown is None or found.rows == ((shown,),)
    assert after(statement, f"RESET discreet.{name}") == after(statement, "RESET ALL") == Settings()
    assert set(settings.said) <= set(OFFERED)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SET discreet.epsilom = 1", "did you mean discreet.epsilon"),
        ("SHOW discreet.colour", "there is no setting"),
        ("RESET discreet.colour", "there is no setting"),
        ("SET discreet.analyst = 'bob'", "settled when a connection is made"),
        ("RESET discreet.Analyst", "settled when a connection is made"),
        ("SET discreet.epsilon = lots", "epsilon"),
        ("SET discreet.epsilon = 0", "epsilon"),
        ("SET discreet.delta = 2", "delta"),
        ("SET discreet.confidence = 1", "confidence"),
        ("SET discreet.expecting = -1", "whole number"),
        ("SET discreet.intervals = perhaps", "on, or off"),
        ("SET search_path = public", "isn't a setting"),
        ("SHOW TABLES", "isn't a setting"),
        ("SET discreet.epsilon = 1; SELECT 1", "isn't a setting"),
    ],
)
def test_what_is_no_setting_is_refused(statement: str, words: str) -> None:
    """With what was probably meant."""
    with pytest.raises(InvalidArgument, match=words):
        carried_out(statement, Settings())


def test_a_questions_own_options_win() -> None:
    """Over the setting of that name, and over what contradicts them; a text that looks like them offers nothing."""
    settings = after("SET discreet.rho = 1", "SET discreet.delta = 0.1", "SET discreet.limits = 5")
    question = "select with differential_privacy options (Epsilon=1, max_groups_contributed = 2) count(*) from t"
    assert settings.beside(question) == {"delta": "0.1"}
    assert settings.beside("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t") == settings.said
    assert Settings().beside("SELECT 'DIFFERENTIAL_PRIVACY'") == {}  # which the planner refuses
    with pytest.raises(InvalidArgument, match="nothing says"):
        after("SET discreet.delta = 0.1").beside("SELECT COUNT(*) FROM t")


def test_epsilon_and_rho_exclude_each_other() -> None:
    """Until one of them is reset."""
    with pytest.raises(InvalidArgument, match="RESET"):
        after("SET discreet.epsilon = 1", "SET discreet.rho = 1")
    assert after("SET discreet.epsilon = 1", "RESET discreet.epsilon", "SET discreet.rho = 1").said == {"rho": "1"}


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM t", "SELECT 12 FROM t", "SELECT", "BEGINNING", "-- SET x"])
def test_everything_else_is_a_question(text: str) -> None:
    """The tables say what is wrong with it."""
    assert carried_out(text, Settings()) is None


def test_arguments_are_settings(tables: dp.Protected) -> None:
    """`connect` takes the usual ones by name, and others as a mapping; those that aren't there are refused."""
    others = {"confidence": 0.9, "limits": "5"}
    with dbapi.connect(tables, epsilon=0.5, delta=1e-9, intervals=True, settings=others) as connection:
        cursor = connection.cursor().execute("SHOW ALL")
        shown = dict(cursor.fetchall())
        assert [each[0] for each in cursor.description or ()] == ["name", "setting"]
        assert shown["discreet.epsilon"] == "0.5"
        assert shown["discreet.confidence"] == "0.9"
        assert shown["discreet.intervals"] == "on"
        with pytest.raises(dbapi.ProgrammingError, match="takes no parameters"):
            cursor.execute("SHOW ALL", [1])
    with dbapi.connect(tables, epsilon=200, analyst="ann") as connection:
        connection.cursor().execute("RESET ALL").execute("SET discreet.epsilon = 201").execute(
            "SELECT COUNT(*) AS n FROM people"
        )
    assert tables.history()[-1].analyst == "ann"  # whatever was set since
    with pytest.raises(dbapi.ProgrammingError, match="there is no setting"):
        dbapi.connect(tables, settings={"colour": "red"})
    with pytest.raises(dbapi.ProgrammingError, match="not in both"):
        dbapi.connect(tables, epsilon=1, rho=1)


def test_terms_are_heeded(tables: dp.Protected) -> None:
    """What is set reaches the plan: an accuracy, a confidence, limits as they are typed."""
    with dbapi.connect(tables) as connection, connection.cursor() as cursor:
        for statement in ("within = 25", "confidence = 0.9", "limits = 3"):
            cursor.execute(f"SET discreet.{statement}")
        plan = "\n".join(line for (line,) in cursor.execute("EXPLAIN SELECT COUNT(*) AS n FROM people"))
        assert "at 90 %" in plan
        assert "3 rows" in plan
