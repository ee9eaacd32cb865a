"""The same commands everywhere: Makefile, `.ci/run`, the workflow, and a machine with nothing but Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from hypothesis import settings

from support.project import ROOT

WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
TARGETS = ("demo", "test", "quick", "check", "bench", "docs", "soak", "oldest", "clean", "help")


def run(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program and keep what it says."""
    return subprocess.run(
        arguments, cwd=folder, env={**os.environ, **environment}, check=False, capture_output=True, text=True
    )


def test_make_alone_lists_the_commands() -> None:
    """Somebody who types `make` learns what there is, and nothing is done."""
    listed = run("make", folder=ROOT).stdout
    assert [target for target in TARGETS if f"make {target} " not in listed] == []


def test_continuous_integration_runs_make_test() -> None:
    """`.ci/run` can be executed, and all it does is `make test`."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").endswith("\nexec make test\n")


def test_the_workflow_runs_the_same() -> None:
    """Its only step of its own is `.ci/run`; it may only read; actions are pinned by hash; oldest and newest Python."""
    assert re.findall(r"^\s+- run: (.*)$", WORKFLOW, re.MULTILINE) == [".ci/run"]
    assert "\npermissions: {}\n" in WORKFLOW
    assert re.findall(r"^ {6}(\w+): (\w+)$", WORKFLOW, re.MULTILINE).count(("contents", "read")) == 1
    assert "write" not in WORKFLOW
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in re.findall(r"uses: (.*)", WORKFLOW))
    assert '["3.11", "3.x"]' in WORKFLOW


def test_quick_takes_the_tests_of_what_changed(tmp_path: Path) -> None:
    """In a copy: a changed module brings the test that names it, then its room; nothing else does."""
    for path in (".ci/quick", "src/discreet/exact/ball.py", "tests/exact/test_ball.py", "tests/stats/test_other.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    shutil.copy(ROOT / ".ci" / "quick", tmp_path / ".ci" / "quick")
    (tmp_path / "tests" / "exact" / "test_ball.py").write_text(
        "from discreet.exact.ball import Ball\n", encoding="utf-8"
    )
    committing = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
    for command in (
        ("git", "init", "-q", "-b", "main"),
        ("git", "add", "-A"),
        committing,
        (*committing, "--allow-empty"),
    ):
        assert run(*command, folder=tmp_path).returncode == 0
    quick = (sys.executable, ".ci/quick")
    assert run(*quick, folder=tmp_path).stdout == ""
    (tmp_path / "src" / "discreet" / "exact" / "ball.py").write_text("x = 1\n", encoding="utf-8")
    assert run(*quick, folder=tmp_path).stdout == "tests/exact/test_ball.py tests/exact"


def test_a_round_of_soak_remembers_nothing() -> None:
    """The profile that it names has no database of examples, no deadline, and tries new ones each time."""
    forgetful = settings.get_profile("forgetful")
    assert (forgetful.database, forgetful.deadline, forgetful.derandomize) == (None, None, False)


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    """As constraints for pip: of what discreet runs on and reads, without extras and upper bounds."""
    listed = run(sys.executable, str(ROOT / ".ci" / "oldest"), folder=ROOT.parent).stdout.splitlines()
    assert len(listed) == len(set(listed))
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in listed)
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    runs_on = {"==".join(re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", need).groups()) for need in needs}
    assert {"duckdb==2", "ibis-framework==11"} <= runs_on <= set(listed)
    assert {line.partition("==")[0] for line in set(listed) - runs_on} == {
        "adbc-driver-postgresql",
        "matplotlib",
        "pandas",
        "polars",
    }


def test_an_old_python_is_refused_in_words(tmp_path: Path) -> None:
    """With no Python new enough, the maker of environments says so and how to go on, and leaves nothing behind."""
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.8.1" && exit 0\nexit 1\n', encoding="utf-8")
    old.chmod(0o755)
    made = run(str(ROOT / ".ci" / "venv"), ".venv", folder=tmp_path, PYTHON=str(old))
    assert made.returncode != 0
    assert "needs Python 3.11 or newer" in made.stderr
    assert "3.8.1" in made.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_missing_venv_module_is_explained(tmp_path: Path) -> None:
    """With a Python that can't make environments, the maker says what to install, and leaves nothing behind."""
    crippled = tmp_path / "python3"
    broken = '[ "$1 $2" = "-m venv" ] && mkdir -p .venv && exit 1\n[ "$1" = -m ] && exit 1\n'
    crippled.write_text(f'#!/bin/sh\n{broken}exec {sys.executable} "$@"\n', encoding="utf-8")
    crippled.chmod(0o755)
    made = run(str(ROOT / ".ci" / "venv"), ".venv", folder=tmp_path, PYTHON=str(crippled))
    assert made.returncode != 0
    assert "venv module is missing" in made.stderr
    assert "python3-venv" in made.stderr
    assert not (tmp_path / ".venv").exists()


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    """A stamp as new as pyproject.toml keeps make from installing again; a changed pyproject.toml installs anew."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv").mkdir()
    for stamp in ("base.stamp", "dev.stamp"):
        (tmp_path / ".venv" / stamp).touch()
    assert ".ci/venv" not in run("make", "--dry-run", "demo", "test", folder=tmp_path).stdout
    later = (tmp_path / ".venv" / "base.stamp").stat().st_mtime + 10
    os.utime(tmp_path / "pyproject.toml", (later, later))
    assert ".ci/venv" in run("make", "--dry-run", "demo", folder=tmp_path).stdout
