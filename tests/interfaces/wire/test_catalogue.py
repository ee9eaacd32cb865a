"""The catalogue: what tools find in it, and that nothing else can be had of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from discreet.errors import DiscreetError, EngineUnavailable, TooManyWaiting, TooMuchPlanning, UnknownTable
from discreet.interfaces.wire.catalogue import Asked, Database, database
from discreet.interfaces.wire.catalogue_process import Catalogue, _ended_after
from discreet.interfaces.wire.outcomes import shown_as
from discreet.interfaces.wire.statements import Relations, statements
from discreet.service import workers
from support.served import ThreadWorker
from support.wire import SCHEMA

LINKED = {
    **SCHEMA,
    "tables": [
        *SCHEMA["tables"],
        {
            "name": 'Odd "name"', "public": True, "unit": None, "limits": None,
            "links": ["person → people.id"],
            "columns": [
                {"name": "person", "kind": "integer", "nullable": False, "bounds": [0, 9], "keys": None},
                {"name": "at", "kind": "timestamp", "nullable": True, "bounds": None, "keys": None},
                {"name": "price", "kind": "decimal(2)", "nullable": True, "bounds": None, "keys": list(range(12))},
            ],
        },
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Iterator[Database]:
    """One catalogue for all."""
    with closing(Database(LINKED, "PostgreSQL 15.0", {"max_index_keys": "32"})) as made:
        yield made


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("SELECT 1 + 1 AS two, current_user, current_database(), current_schema", [(2, "me", "people", "public")]),
        ("SELECT pg_catalog.version()", [("PostgreSQL 15.0",)]),
        ("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200 AND relname !~ '^O'", [("people",)]),
        ("SELECT 1 WHERE 'Ab' OPERATOR(pg_catalog.~*) 'B$' COLLATE pg_catalog.default AND 'ab' ~ 'a'", [(1,)]),
        ("SELECT 1 WHERE 'k' = ANY ('{j,k}') AND 'it''s' <> ALL ('{}')", [(1,)]),
        (
            """SELECT attname, pg_catalog.format_type(atttypid, atttypmod), col_description(attrelid, attnum),
            attnotnull FROM pg_catalog.pg_attribute
            WHERE attrelid = '"Odd name"'::pg_catalog.regclass ORDER BY attnum""",
            [
                ("person", "bigint", "from 0 to 9", True),
                ("at", "timestamp without time zone", None, False),
                ("price", "numeric", "keys 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more", False),
            ],
        ),
        (
            "SELECT conkey, pg_get_constraintdef(oid, true) FROM pg_constraint",
            [([1], 'FOREIGN KEY ("person") REFERENCES "people"("id")')],
        ),
        (
            "SELECT obj_description('people'::regclass, 'pg_class')",
            [("private; one unit is id, of which at most 1 rows count",)],
        ),
        (
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'people' ORDER BY 1",
            [("id", "bigint"), ("k", "text")],
        ),
        ("SELECT CAST('pg_catalog.pg_class' AS REGCLASS), 'people'::regclass IS NULL", [(1259, False)]),
        ("SELECT oid FROM pg_type WHERE oid = to_regtype('int8')", [(20,)]),
        ("SELECT 7 / 2 AS x, txid_current() UNION SELECT 1, NULL ORDER BY 2 DESC", [(1, None), (3, 0)]),
        ("SELECT current_setting('memory_limit')", [(None,)]),
        ("SELECT c.tableoid, t.tableoid FROM pg_class AS c, pg_type t WHERE t.oid = 20 LIMIT 1", [(1259, 1247)]),
        ("SELECT at.nspname FROM pg_namespace at WHERE AT.tableoid = 2615 AND at.oid = 2200", [("public",)]),
        (
            "SELECT substring('b=12' FROM 'b=([0-9]*)'), substring('b=1' FROM '[0-9]'), substring('a' FROM 'b')",
            [("12", "1", None)],
        ),
        (
            r"SELECT substring('a(b' FROM '(?:a).*'), substring('a(b' FROM 'a\('), substring('ab' FROM 'a(.)')",
            [("a(b", "a(", "b")],
        ),
        ("SELECT * FROM unnest(current_schemas(true)) WITH ORDINALITY", [("pg_catalog", 1), ("public", 2)]),
        ("SELECT datname AS collate, to_char(NULL, 'YYYY') FROM pg_database WHERE oid > 16383", [("people", None)]),
        ("SELECT (a).grantee FROM (SELECT aclexplode(relacl) AS a FROM pg_class) b", []),
        (r"SELECT 'a_c' LIKE 'a\_c', 'abc' ILIKE 'A\_C', 'a_c' LIKE 'a!_c' ESCAPE '!'", [(True, False, True)]),
    ],
)  # fmt: skip
def test_what_tools_look_for_is_there(found: Database, asked: str, rows: list[tuple[object, ...]]) -> None:
    """In PostgreSQL's words, of what is declared."""
    assert [tuple(each) for each in found.ask(Asked(asked, "me")).rows] == rows


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT * FROM duckdb_settings()",
        'SELECT * FROM "duckdb_databases"()',
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM query('SELECT 1')",
        "SELECT getenv('HOME')",
        "SELECT sleep_ms(60000)",
        "SELECT system.main.current_setting('secret_directory')",
        'SELECT "main" . txid_current()',
        "SELECT * FROM pg_class, enable_logging(storage = 'file', storage_path = '/tmp/x')",
        "SELECT * FROM pg_class, truncate_duckdb_logs()",
        "SELECT * FROM pg_class, register_external_resource('a', 'b', MAP {'a': 'b'}, 'c', 'd', 'e')",
        "SELECT * FROM pg_class, arrow_scan(1, 2, 3)",
        "SELECT 1; SELECT 2",
        "DROP TABLE pgc.pg_class",
        "INSERT INTO people VALUES (1, 'a')",
        "COPY people TO '/tmp/people'",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 4",
        "PRAGMA version",
        "WITH x AS (SELECT 1) INSERT INTO people SELECT 1, 'a'",
        "SELECT * FROM pg_class FOR UPDATE",
        "SELECT nothing FROM pg_class",
        "SELECT nothing()",
        "SELECT * FROM pg_nothing",
        "SELECT * FROM range(20000)",
        "SELECT repeat('x', 5000000)",
        "SELECT" + "(" * 5000 + "1" + ")" * 5000,
        "SELECT 'a'::nothing",
        "SELECT to_char(now(), 'YYYY')",
        "SELECT COUNT(*) FROM (people)",
        "SELECT COUNT(*) FROM public.people",
    ],
)
def test_nothing_else_can_be_done_with_it(found: Database, asked: str) -> None:
    """No file, no setting, no change, nothing large; each with a typed error that quotes nothing of the machine."""
    with pytest.raises(DiscreetError) as caught:
        found.ask(Asked(asked, "me"))
    assert "/etc" not in str(caught.value)
    assert found.ask(Asked("SELECT COUNT(*) FROM pg_namespace", "me")).rows == [(3,)]


def test_what_takes_too_long_is_interrupted(found: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its work is bounded by time."""
    monkeypatch.setattr(database, "_SECONDS", 0.1)
    with pytest.raises(TooMuchPlanning):
        found.ask(
            Asked("SELECT COUNT(*) FROM range(100000000) a, range(100000000) b WHERE a.range * 2 = b.range + 1", "me")
        )


def test_a_process_that_ends_is_replaced_and_nobody_fills_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asked is told so, and the next question is answered."""
    monkeypatch.setattr(workers, "CONTEXT", SimpleNamespace(Pipe=Pipe, Process=ThreadWorker))
    monkeypatch.setattr(os, "nice", lambda _: 0)
    with closing(Catalogue(SCHEMA)) as catalogue:
        asked = Asked("SELECT relname FROM pg_class WHERE relnamespace = 2200", "me")
        assert catalogue.ask(asked, "me").rows == [("people",)]
        catalogue._process.kill()
        with pytest.raises(EngineUnavailable):
            catalogue.ask(asked, "me")
        assert catalogue.ask(asked, "me").rows == [("people",)]
        catalogue._waiting["me"] = 4
        with pytest.raises(TooManyWaiting):
            catalogue.ask(asked, "me")


@pytest.mark.parametrize("name", ["CAST(" + 30_000 * " AS a", "CAST(" + 30_000 * "a." + " AS a)", 30_000 * "CAST("])
def test_long_names_are_shown_at_once(name: str) -> None:
    """Whoever asks may choose them, and with a pattern that goes back and forth, these would take hours."""
    assert shown_as(name) in {name, "?column?"}


def test_what_nothing_interrupts_is_ended_by_the_system() -> None:
    """The process ends, whatever it does."""
    if not (child := os.fork()):
        with _ended_after(0.01):
            while True:
                pass
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGALRM


def test_views_are_there_for_who_made_them_alone(found: Database) -> None:
    """While they are asked about, even where that fails; and no longer."""
    asked = (
        "SELECT relname, attname, atttypid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relkind = 'v'"
    )
    views = [("mine", [("a", "integer"), ("it's", "date")])]
    rows = [tuple(each) for each in found.ask(Asked(asked, "me", views=views)).rows]
    assert rows == [("mine", "a", 20), ("mine", "it's", 1082)]
    with pytest.raises(DiscreetError):
        found.ask(Asked("SELECT nothing FROM pg_class", "me", views=views))
    assert found.ask(Asked(asked, "me")).rows == []


def test_declared_tables_have_columns_and_stand_apart(found: Database) -> None:
    """What asks for no rows has the columns, as they are declared."""
    said = found.ask(Asked('SELECT * FROM public."Odd ""name""" LIMIT 0', "me", of_catalogue=False))
    assert said == ([("person", "BIGINT"), ("at", "TIMESTAMP"), ("price", "DOUBLE")], [])
    named = found.ask(Asked('SELECT at, t.at AS b FROM public."Odd ""name""" t WHERE 1=0', "me", of_catalogue=False))
    assert named == ([("at", "TIMESTAMP"), ("b", "TIMESTAMP")], [])
    with pytest.raises(UnknownTable):
        found.ask(Asked("SELECT 1 FROM pgc.pg_class", "me", of_catalogue=False))


@pytest.mark.parametrize(
    ("asked", "who"),
    [
        ("SELECT 1 AS x", "catalogue"),
        ("SELECT n.nspname FROM pg_catalog.pg_namespace n, pg_class c", "catalogue"),
        ("WITH x AS (SELECT oid FROM pg_class) SELECT * FROM x", "catalogue"),
        ("SELECT * FROM information_schema.tables WHERE table_name = 'people'", "catalogue"),
        ('SELECT "people"."id" FROM "public"."people" WHERE 1=0', "columns"),
        ("SELECT * FROM people LIMIT 0", "columns"),
        ("SELECT COUNT(*) FROM people", "service"),
        ("SELECT COUNT(*) FROM people LIMIT 0", "service"),
        ("SELECT id FROM people UNION ALL SELECT id FROM people WHERE false", "service"),
        ("SELECT COUNT(*) FROM pg_class, people", "service"),
        ("SELECT * FROM people WHERE id IN (SELECT oid FROM pg_class) LIMIT 0", "service"),
        ("SELECT COUNT(*) FROM nobody", "service"),
        ("SELECT EXTRACT(YEAR FROM at) AS y, COUNT(*) FROM people GROUP BY 1", "service"),
        ("SELECT COUNT(*) FROM other.people", "service"),
        ("TABLE people", "service"),
    ],
)
def test_what_names_a_declared_table_is_a_question(asked: str, who: str) -> None:
    """All else is the catalogue's, which has no rows; a table that nobody knows is refused as a question is."""
    (statement,) = statements(asked)
    found = Relations.of(statement, frozenset({"people"}))
    assert (found.are_of_the_catalogue, found.ask_for_columns) == (who == "catalogue", who == "columns")
