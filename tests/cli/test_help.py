"""Help, version, completion and wrong usage."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from discreet import __version__
from discreet.cli import app
from discreet.cli.common.exit_codes import ExitCode

COMMANDS = [
    "demo",
    "init",
    "admit",
    "declare",
    "tables",
    "explain",
    "ask",
    "summary",
    "budget",
    "history",
    "failures",
    "verify",
    "key",
    "witness",
    "audit",
    "risk",
    "anonymize",
    "attack",
    "deidentify",
    "uniqueness",
    "generalize",
]


def commands() -> dict[str, Any]:
    """The commands by name."""
    group: Any = get_command(app)
    return dict(group.commands)


def test_the_commands_are_listed_by_who_uses_them(run: Any) -> None:
    """Each once, under a custodian, an analyst, an auditor, or those who learn."""
    assert set(COMMANDS) <= set(commands())
    text = run("--help").stdout
    panels = re.findall(r"^╭─ (\w+) ─", text, re.MULTILINE)
    assert panels == ["Options", "Custodian", "Analyst", "Auditor", "Learn"]
    assert sorted(re.findall(r"^│ ([a-z]+) ", text, re.MULTILINE)) == sorted(commands())
    assert text.index("╭─ Analyst") < text.index("│ ask ") < text.index("╭─ Auditor") < text.index("│ verify ")


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_each_command_explains_itself(run: Any, name: str) -> None:
    """`--help` and `-h` say the same, and say something about each option."""
    long, short = run(*name.split(), "--help"), run(*name.split(), "-h")
    assert long.exit_code == short.exit_code == 0
    assert long.stdout == short.stdout
    assert "Usage: discreet" in long.stdout
    assert max(map(len, long.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_a_help_text(name: str) -> None:
    """Nothing is left for the reader to guess."""
    parameters = commands()[name].params
    assert parameters
    assert [one.name for one in parameters if not one.help] == []


def test_the_exit_codes_are_documented(run: Any) -> None:
    """Each exit code stands at the end of the main help."""
    text = run("--help").stdout
    epilog = text[text.index("Exit codes") :]
    assert [code for code in ExitCode if str(code.value) not in epilog] == []


def test_the_version_is_the_packages(run: Any) -> None:
    """`--version` prints one line and stops."""
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"discreet {__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["aks", "SELECT 1"],
        ["ask"],
        ["ask", "SELECT 1", "--epsilom", "1"],
        ["ask", "SELECT 1", "--epsilon"],
        ["ask", "SELECT 1", "--format", "xml"],
        ["explain", "SELECT 1", "SELECT 2"],
        ["history", "--last", "0"],
        ["verify", "--format", "csv"],
        ["init"],
    ],
)
def test_wrong_usage_ends_with_2(run: Any, arguments: list[str]) -> None:
    """What isn't a command line is refused by name, on standard error."""
    result = run(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert result.stdout == ""
    assert "Error" in result.stderr


def test_a_mistyped_command_is_guessed(run: Any) -> None:
    """The nearest command is named."""
    assert "'ask'" in run("aks").stderr


def test_completion_knows_the_commands() -> None:
    """The shell's completion offers what starts with what was typed."""
    run = subprocess.run(
        [sys.executable, "-m", "discreet"],
        env={**os.environ, "_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": "discreet ex", "COMP_CWORD": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["explain"]


def test_help_loads_no_heavy_library() -> None:
    """Importing the command line touches no engine, no database and no table library, so that help comes at once."""
    tables = ("ibis", "duckdb", "sqlalchemy", "sqlglot", "pyarrow", "pandas", "polars")
    heavy = (*tables, "flint", "numpy", "rich", "matplotlib")
    program = f"import sys, discreet.cli; print(*(name for name in {heavy!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.split() == []


def test_a_command_loads_no_other() -> None:
    """Each is loaded when it is used, and its options are read then: that of twelve takes as long as all of Typer."""
    program = (
        "import sys; from discreet.cli import app; from typer.main import get_command\n"
        "commands = get_command(app).commands\n"
        "for name in list(commands):\n"
        "    before = set(sys.modules)\n"
        "    commands[name]\n"
        "    print(name, *(each for each in set(sys.modules) - before if each.startswith('discreet.cli.')))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    found = [line.split() for line in run.stdout.splitlines()]
    assert {name for name, *_ in found} >= set(COMMANDS)
    for name, *modules in found:
        assert {module.split(".")[2] for module in modules} - {"common", "show"} == {name}


def test_what_is_drawn_knows_no_command() -> None:
    """A shell can use it as well."""
    program = (
        "import pkgutil, sys; from importlib import import_module; from discreet.cli import show\n"
        "for each in pkgutil.iter_modules(show.__path__): import_module(f'discreet.cli.show.{each.name}')\n"
        "print(*(name for name in sys.modules if name.startswith('discreet.cli.')))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert {name.split(".")[2] for name in run.stdout.split()} == {"app", "common", "show"}  # the room loads its app
