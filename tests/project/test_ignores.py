"""Whoever switches off a check says why."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from support.project import ROOT, offenders, python_files

PYTHON_FILES = python_files("src", "tests", "bench", "docs", "examples")
REASON = r"\s*(?:#|—|-|:)\s*\S.{3,}"
"""What must follow an ignore: a separator and at least a word."""

NOQA = re.compile(r"#\s*noqa\b(?P<codes>:\s*[A-Z]+[0-9]+(?:\s*,\s*[A-Z]+[0-9]+)*)?(?P<reason>.*)")
TYPE_IGNORE = re.compile(r"#\s*type:\s*ignore(?P<codes>\[[\w,\s-]+\])?(?P<reason>.*)")


def unreasoned(source: str) -> list[str]:
    """The lines that ignore a check without naming it, or without a reason."""
    found = []
    for line in source.splitlines():
        for pattern in (NOQA, TYPE_IGNORE):
            match = pattern.search(line)
            if match and not (match["codes"] and re.fullmatch(REASON, match["reason"])):
                found.append(line.strip())
    return found


def test_every_ignore_in_the_code_has_a_reason() -> None:
    """Each `noqa` and `type: ignore` names its check and is followed by words that say why."""
    assert offenders(unreasoned, [path for path in PYTHON_FILES if path != Path(__file__)]) == {}


def test_an_ignore_without_a_reason_is_found() -> None:
    """The measure tells ignores with a reason from those without."""
    with_reason = ["x  # noqa: S101 — this is how pytest tests", "x  # type: ignore[operator]  # both are of one kind"]
    without = ["x  # noqa", "x  # noqa: S101", "x  # noqa: S101 — no", "x  # type: ignore", "x  # type: ignore[misc]"]
    assert unreasoned("\n".join(with_reason)) == []
    assert unreasoned("\n".join(without)) == without


def configured_ignores() -> list[str]:
    """The lines of pyproject.toml that name a ruff rule to ignore."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ruff = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pydocstyle]")]
    return [line.strip() for line in ruff.splitlines() if re.match(r'\s*"[A-Z]+[0-9]+"', line)]


def test_every_ignore_in_the_configuration_has_a_reason() -> None:
    """Each rule switched off in pyproject.toml stands on a line of its own, followed by why."""
    assert [line for line in configured_ignores() if not re.fullmatch(rf'"[A-Z]+[0-9]+",{REASON}', line)] == []


def test_the_configuration_ignores_nothing_else() -> None:
    """The lines read above are all there are: nothing is ignored on a line that the test can't see."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    rules = [*lint["ignore"], *(rule for rules in lint["per-file-ignores"].values() for rule in rules)]
    assert len(configured_ignores()) == len(rules)
    assert lint["select"] == ["ALL"]
