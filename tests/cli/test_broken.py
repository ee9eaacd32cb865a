"""What is missing or broken around a question: typed errors, nothing charged, no tracebacks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

COUNT = "SELECT COUNT(*) AS n FROM census"
COMMANDS = [["ask", COUNT, "--epsilon", "1"], ["explain", COUNT, "--epsilon", "1"], ["budget"], ["history"], ["verify"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_missing_configuration_is_said_with_the_way_to_make_one(here: Path, run: Any, command: list[str]) -> None:
    """The hint names `discreet init`."""
    result = run(*command)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error[config]: ")
    assert "discreet init" in result.stderr
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_corrupt_configuration_shows_the_place(town: Path, run: Any, command: list[str]) -> None:
    """The line of the file is shown with a caret."""
    (town / "discreet.toml").write_text('name = "census"\nledger = = "x"\n', encoding="utf-8")
    result = run(*command)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error[config]: ")
    assert '2 │ ledger = = "x"' in result.stderr
    assert "^" in result.stderr


def test_an_unknown_key_is_named(town: Path, run: Any) -> None:
    """The message has the key's full path."""
    config = (town / "discreet.toml").read_text(encoding="utf-8").replace("bounds = [0, 125]", "bonds = [0, 125]")
    (town / "discreet.toml").write_text(config, encoding="utf-8")
    result = run("budget")
    assert result.exit_code == 1
    assert "tables.census.columns.age" in result.stderr


def test_a_missing_table_is_found_out_before_anything_is_charged(town: Path, run: Any) -> None:
    """The source's error, and an untouched account."""
    (town / "census.csv").unlink()
    result = run("ask", COUNT, "--epsilon", "1")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[source_missing]: ")
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.0


def test_a_column_that_is_gone_is_found_out_before_anything_is_charged(town: Path, run: Any) -> None:
    """The table changed under its configuration."""
    text = (town / "census.csv").read_text(encoding="utf-8").replace('"age"', '"years"', 1)
    (town / "census.csv").write_text(text, encoding="utf-8")
    result = run("ask", COUNT, "--epsilon", "1")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[schema_mismatch]: ")
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.0


@pytest.mark.usefixtures("here")
def test_errors_are_json_when_answers_are(shell: Any) -> None:
    """In a real process, standard output stays empty and standard error is one object."""
    result = shell("ask", COUNT, "--epsilon", "1", "--format", "json")
    assert (result.returncode, result.stdout) == (1, "")
    assert json.loads(result.stderr)["code"] == "config"


@pytest.mark.usefixtures("town")
def test_a_screen_without_greek_still_gets_its_answer(shell: Any) -> None:
    """Where standard output can't show ε or ±, the rest is printed."""
    result = shell("ask", COUNT, "--epsilon", "1", env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.returncode == 0, result.stderr
    assert "cost       ? = 1, entry 1" in result.stdout
