"""What tests of the command line share: a protected census in a folder of its own, and ways to run commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.csv
import pytest
from typer.testing import CliRunner

from discreet.census import synthetic
from discreet.cli import app

Run: TypeAlias = Callable[..., Any]
"""Runs a command in this process: `.exit_code`, `.stdout`, `.stderr`."""

PEOPLE = 2_000

CONFIG = """\
name = "census"
ledger = "census.ledger"
adjacency = "add_remove"

[budget]
epsilon = 3
delta = 1e-6

[tables.census]
source = "census.csv"
unit = "row"

[tables.census.columns]
sex = { kind = "text", keys = ["Female", "Male"] }
education = { kind = "text" }
age = { kind = "integer", bounds = [0, 125] }
income = { kind = "integer", bounds = [0, 500000] }
hours = { kind = "integer" }
zip = { kind = "text" }
"""


@pytest.fixture(autouse=True)
def _sessions_are_kept(kept_sessions: None) -> None:
    """A command that runs in this process starts no DuckDB of its own; in a process of its own it does."""


@pytest.fixture(scope="session")
def census_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The census of a small town, as a CSV file."""
    path = tmp_path_factory.mktemp("data") / "census.csv"
    pyarrow.csv.write_csv(synthetic(PEOPLE), path)
    return path


@pytest.fixture(scope="session")
def made_town(census_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the census, its configuration and a fresh ledger, for `town` to copy."""
    folder = tmp_path_factory.mktemp("town")
    shutil.copy(census_csv, folder)
    (folder / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(app, ["ledger", "create"], prog_name="discreet")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run commands in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def invoke(*arguments: object, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin, prog_name="discreet")

    return invoke


@pytest.fixture
def town(here: Path, made_town: Path) -> Path:
    """A folder with the census, its configuration and a fresh ledger."""
    shutil.copytree(made_town, here, dirs_exist_ok=True)
    return here


@pytest.fixture
def shell(here: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command as a user does, in a process of its own."""

    def start(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "discreet", *map(str, arguments)],
            cwd=here,
            check=False,
            capture_output=True,
            text=True,
            **options,
        )

    return start
