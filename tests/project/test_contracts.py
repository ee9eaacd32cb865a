"""Who may import whom: the contracts hold, and each of them can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.project import ROOT, SOURCE, rooms

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]

VIOLATIONS = [
    # contract, the module that breaks it, what it imports
    ("floors", "privacy/twin.py", "discreet.query.ir"),
    ("floors", "errors.py", "discreet.exact"),
    ("floors", "privacy/twin.py", "discreet.noise"),
    ("floors", "accounting/twin.py", "discreet.mechanisms"),
    ("floors", "query/twin.py", "discreet.engine"),
    ("floors", "engine/twin.py", "discreet.query"),
    ("floors", "local/__init__.py", "discreet.ledger"),
    ("floors", "ledger/twin.py", "discreet.gateway"),
    ("floors", "plot/__init__.py", "discreet.cli"),
    ("floors", "noise/twin.py", "discreet.census"),
    ("floors", "gateway/twin.py", "discreet.census"),
    ("query", "query/ir/twin.py", "discreet.query.sql"),
    ("query", "query/sql/twin.py", "discreet.query.planner"),
    ("query", "query/sql/twin.py", "discreet.query.estimates"),
    ("query", "query/estimates/twin.py", "discreet.query.planner"),
    ("trees", "query/ir/expressions.py", "discreet.query.ir.functions"),
    ("engines", "engine/rewrites.py", "discreet.engine.duckdb"),
    ("engines", "engine/relation_compiler.py", "discreet.engine.duckdb.join_limits"),
    ("answers", "gateway/answers/twin.py", "discreet.gateway.protected"),
    ("results", "results/twin.py", "discreet.privacy"),
    ("results", "results/answer_column.py", "numpy"),
    ("client", "interfaces/client/twin.py", "discreet.gateway"),
    ("client", "interfaces/client/twin.py", "discreet.query.sql"),
    ("client", "interfaces/client/remote.py", "discreet.privacy"),
    ("client", "interfaces/client/declared.py", "duckdb"),
    ("conformance", "interfaces/conformance/twin.py", "discreet.service"),
    ("floors", "results/answer.py", "discreet.query.ir"),
    ("floors", "results/cost.py", "discreet.gateway"),
    ("circles", "query/planner/draft.py", "discreet.query.planner.plan"),
    ("randomness", "noise/twin.py", "secrets"),
    ("randomness", "noise/twin.py", "random"),
    ("randomness", "entropy.py", "random"),
    ("sources", "tables/proposals/twin.py", "sqlite3"),
    ("sources", "anonymity/twin.py", "python_calamine"),
    ("engine", "cli/twin.py", "discreet.engine"),
    ("engine", "attacks/__init__.py", "discreet.engine.duckdb"),
    ("noise", "plot/__init__.py", "discreet.noise"),
    ("noise", "interfaces/http/twin.py", "discreet.noise.laplace_sampler"),
    ("entropy", "query/twin.py", "discreet.entropy"),
    ("entropy", "audit/twin.py", "discreet.entropy"),
    ("floors", "entropy.py", "discreet.exact"),
    ("noise", "query/twin.py", "discreet.noise"),
    ("mechanisms", "plot/__init__.py", "discreet.mechanisms"),
    ("mechanisms", "interfaces/http/twin.py", "discreet.mechanisms"),
    ("engine", "interfaces/http/twin.py", "discreet.engine"),
    ("engine", "plot/__init__.py", "discreet.engine"),
    ("engine", "service/twin.py", "discreet.engine"),
    ("noise", "service/twin.py", "discreet.noise"),
    ("floors", "service/twin.py", "discreet.interfaces"),
    ("floors", "gateway/twin.py", "discreet.service"),
    ("proposals", "gateway/twin.py", "discreet.tables.proposals.units"),
    ("ir", "engine/twin.py", "discreet.query.ir.functions"),
    ("sql", "gateway/twin.py", "discreet.query.sql.parsing"),
    ("estimates", "query/planner/twin.py", "discreet.query.estimates.noise"),
    ("planner", "gateway/twin.py", "discreet.query.planner.draft"),
    ("released", "gateway/twin.py", "discreet.gateway.answers.serving"),
    ("accounting", "anonymity/__init__.py", "discreet.accounting"),
    ("accounting", "anonymity/risk.py", "discreet.accounting.filters"),
]
"""Wrong twins of the house. Rooms that aren't built yet are tried too: their contracts must hold from the first day."""

ROOMS = ["gateway", "census", "cli", "ledger", "local", "anonymity", "attacks", "audit", "plot"]
"""Rooms that a twin may meet; made empty where they aren't built."""


def lint(folder: Path, contract: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in `folder`, for one contract or for all."""
    only = [] if contract is None else ["--contract", contract]
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache", *only],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package and its contracts, for a twin to break."""
    shutil.copytree(SOURCE / "discreet", tmp_path / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ROOMS:
        if not (tmp_path / "discreet" / room).exists():
            add(tmp_path / "discreet" / room / "__init__.py", "")
    return tmp_path


def add(path: Path, line: str) -> None:
    """Add a line of code to a module, making it if need be."""
    path.parent.mkdir(exist_ok=True)
    if not (path.parent / "__init__.py").exists():
        (path.parent / "__init__.py").touch()
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def test_the_contracts_hold() -> None:
    """Imports go down, and each security contract is kept."""
    run = lint(SOURCE.parent)
    assert run.returncode == 0, run.stdout


def test_the_contracts_hold_with_rooms_still_to_be_built(house: Path) -> None:
    """An empty room breaks nothing, so a twin that fails does so for what it imports."""
    run = lint(house)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("contract", sorted({contract for contract, _, _ in VIOLATIONS}))
def test_a_forbidden_import_is_caught(house: Path, contract: str) -> None:
    """The contract names each import that it forbids."""
    forbidden = [(module, imported) for each, module, imported in VIOLATIONS if each == contract]
    for module, imported in forbidden:
        add(house / "discreet" / module, f"import {imported}")
    run = lint(house, contract)
    assert run.returncode == 1, run.stdout
    for module, imported in forbidden:
        importer = f"discreet.{module.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        within = f".{importer.rpartition('.')[2]} -> .{imported.rpartition('.')[2]}"  # as a circle is told
        assert f"{importer} -> {imported}" in run.stdout or within in run.stdout, run.stdout + run.stderr


@pytest.mark.parametrize(("contract", "room"), [("floors", "attic"), ("query", "query/attic")])
def test_a_room_without_a_floor_is_caught(house: Path, contract: str, room: str) -> None:
    """A new room has to be given a floor, even if it imports nothing that it mustn't."""
    add(house / "discreet" / room / "__init__.py", "import discreet.errors")
    run = lint(house, contract)
    assert run.returncode == 1, run.stdout
    assert f"discreet.{room.replace('/', '.')}" in run.stdout, run.stdout + run.stderr


def test_every_contract_has_a_wrong_twin() -> None:
    """No contract is there that was never seen to fail."""
    assert {contract["id"] for contract in CONTRACTS} == {contract for contract, _, _ in VIOLATIONS}


def test_every_room_has_a_floor() -> None:
    """Each room stands in the layers by name: nothing is exempt."""
    floors = next(contract for contract in CONTRACTS if contract["id"] == "floors")
    named = {name.strip(" ()") for layer in floors["layers"] for name in layer.replace(":", "|").split("|")}
    assert floors["exhaustive"]
    assert "exhaustive_ignores" not in floors
    assert set(rooms()) <= named
