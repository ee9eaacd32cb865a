"""No file of the project depends on the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

from support.project import ROOT, files, name, offenders

MACHINE = re.compile(r"(?<![\w.:/~$}-])/(?:home|root|Users|opt|work|mnt|srv)/")
"""An absolute path to somebody's files."""

REGISTRY = re.compile(r"pypi\.org|pythonhosted|file:///|--(?:extra-)?index-url|--find-links", re.IGNORECASE)
"""Where packages come from is the user's choice, made in pip's own configuration."""

BINARY = {".png", ".ico", ".parquet", ".arrow", ".duckdb"}
TEXTS = [path for path in files() if path.suffix not in BINARY and path != Path(__file__)]


def foreign(text: str) -> list[str]:
    """The lines that name this machine or a package registry."""
    here = f"{ROOT}/"
    return [line.strip() for line in text.splitlines() if MACHINE.search(line) or REGISTRY.search(line) or here in line]


def test_no_file_names_a_machine_or_a_registry() -> None:
    """Each text is free of absolute paths to somebody's files and of registry addresses."""
    assert offenders(foreign, TEXTS) == {}


def test_a_machine_and_a_registry_are_found() -> None:
    """The measure finds what it is for, and leaves ordinary paths and addresses alone."""
    named = [
        "open('/home/ada/adult.csv')",
        "pip install --index-url x",
        "see https://pypi.org/simple",
        f"cd {ROOT}/src",
    ]
    assert foreign("\n".join(named)) == named
    assert foreign("#!/usr/bin/env bash\nhttps://example.org/work/page\n~/data/x\ntests/data/x.csv\n../opt/x") == []


def test_nothing_is_locked() -> None:
    """Dependencies are ranges in pyproject.toml; no lock file pins others' versions."""
    locks = {"uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock", "requirements.txt", "pylock.toml"}
    assert [name(path) for path in files() if path.name in locks] == []
