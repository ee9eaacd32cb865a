"""The suite can't shrink unnoticed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.project import ROOT

CASES = 13_500
FUNCTIONS = 2_600
"""Raised as the suite grows, lowered only in a change that says which tests went and why."""

EVERYDAY = "not soak"
"""What `make test` selects."""


def test_the_suite_is_no_smaller_than_it_was(request: pytest.FixtureRequest) -> None:
    """At least as many tests are collected as the floor says, counting what `make test` runs."""
    assert collected(request) >= CASES


def test_no_rule_went_with_its_cases() -> None:
    """Nor are there fewer functions: one that has a thousand cases mustn't hide that a hundred others went."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in texts) >= FUNCTIONS


def collected(request: pytest.FixtureRequest) -> int:
    """How many tests there are: those of this run if it is of the whole suite, else counted in a run of its own."""
    whole = [Path(path).resolve() for path in request.config.args] == [ROOT / "tests"]
    selected = request.config.getoption("keyword"), request.config.getoption("markexpr")
    if whole and selected == ("", EVERYDAY):
        return len(request.session.items)
    counting = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", EVERYDAY, "-p", "no:cacheprovider"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert counting.returncode == 0, counting.stdout[-2000:]
    counted = re.search(r"^(\d+)(?:/\d+)? tests? collected", counting.stdout, re.MULTILINE)
    assert counted is not None, counting.stdout[-500:]
    return int(counted[1])
