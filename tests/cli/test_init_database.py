"""`discreet init` of a PostgreSQL database: what it declares is proposed, and works at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.postgres_sources import Sources, sources

CLINIC = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE patients (id int PRIMARY KEY, born date NOT NULL, mood mood, feels mood NOT NULL, tags text[]);
CREATE SCHEMA billing;
CREATE TABLE billing.visits (nr bigint PRIMARY KEY, whose int NOT NULL REFERENCES public.patients (id), score numeric);
CREATE TABLE lines (nr int, visit bigint REFERENCES billing.visits, part int, parts int);
CREATE TABLE secrets (id int PRIMARY KEY, patient int REFERENCES patients);
COMMENT ON TABLE billing.visits IS 'One row for each
    visit'; COMMENT ON COLUMN patients.mood IS 'as told "at" the door # x';
INSERT INTO patients SELECT n, date '1980-01-01' + n, 'ok', 'sad', '{}' FROM generate_series(1, 100) n;
INSERT INTO billing.visits SELECT n, 1 + n % 100, n / 2.0 FROM generate_series(1, 300) n;
INSERT INTO lines SELECT n, 1 + n % 300, n, n FROM generate_series(1, 600) n;
CREATE ROLE custodian LOGIN; GRANT USAGE ON SCHEMA billing TO custodian;
GRANT SELECT ON patients, billing.visits, lines TO custodian;
"""


@pytest.fixture
def clinic() -> Iterator[tuple[Sources, str]]:
    """A server, and a database of it."""
    server = sources()
    database = server.new_database()
    server.run(database, CLINIC)
    yield server, database
    server.run(database, "DROP OWNED BY custodian", "DROP ROLE custodian")


@pytest.mark.parametrize("strict", [False, True])
def test_a_database_is_proposed_as_it_declares_itself(
    strict: bool, clinic: tuple[Sources, str], here: Path, run: Any
) -> None:
    """All tables that this role may read: foreign keys are links, enumerations keys, and comments stand beside them."""
    server, database = clinic
    result = run("init", server.url(database, "custodian"), *(["--strict"] if strict else []))
    assert result.exit_code == 0, result.stderr
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    said = tomllib.loads(text)
    assert said["name"] == database
    assert said["tables"].keys() == {"patients", "visits", "lines"}
    assert said["tables"]["patients"]["unit"] == "id"
    assert said["tables"]["visits"]["links"] == {"whose": "patients.id"}
    assert said["tables"]["lines"]["links"] == {"visit": "visits.nr"}
    assert said["tables"]["visits"]["source"]["table"] == "billing.visits"
    columns = said["tables"]["patients"]["columns"]
    assert columns["mood"]["keys"] == ["sad", "ok", "happy", {"null": True}]
    assert columns["feels"] == {"kind": "text", "keys": ["sad", "ok", "happy"], "nullable": False}
    assert "tags" not in columns
    assert said["tables"]["visits"]["columns"]["score"]["kind"] == "real"
    assert "\n# One row for each visit\nsource = " in text
    assert '\n# as told "at" the door # x\nmood = ' in text
    assert "as its database declares, whose links to patients.id" in text
    asked = "SELECT COUNT(DISTINCT visit) AS n FROM lines JOIN visits ON visit = visits.nr JOIN patients ON whose = id"
    for question in ("SELECT mood, COUNT(*) AS n FROM patients GROUP BY mood", asked):
        answer = run("ask", question, "--epsilon", "0.1", "--limits", "20")
        assert answer.exit_code == 0, answer.stderr


def test_one_table_of_a_database_may_be_named(clinic: tuple[Sources, str], here: Path, run: Any) -> None:
    """Also of a schema; then it stands alone."""
    server, database = clinic
    result = run("init", server.url(database), "--table", "billing.visits", "--unit", "whose")
    assert result.exit_code == 0, result.stderr
    said = tomllib.loads((here / "discreet.toml").read_text(encoding="utf-8"))
    assert (said["name"], said["tables"]["visits"]["unit"]) == ("visits", "whose")
    assert run("admit").exit_code == 0


def test_a_password_is_refused_there_too(here: Path, run: Any) -> None:
    """Before anything is written."""
    result = run("init", "postgresql://ann:secret-7@h/x")
    assert result.exit_code != 0
    assert "secret-7" not in result.stdout + result.stderr
    assert list(here.iterdir()) == []
