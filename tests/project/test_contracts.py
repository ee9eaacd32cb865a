"""Who may import whom: the contracts hold, and each of them can fail."""

from __future__ import annotations

import os
import re
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
    ("floors", "textbook/local/twin.py", "discreet.ledger"),
    ("floors", "ledger/twin.py", "discreet.gateway"),
    ("floors", "textbook/plots/twin.py", "discreet.cli"),
    ("floors", "noise/twin.py", "discreet.census"),
    ("floors", "gateway/twin.py", "discreet.census"),
    ("query", "query/ir/twin.py", "discreet.query.sql"),
    ("query", "query/sql/twin.py", "discreet.query.planner"),
    ("query", "query/aggregates/twin.py", "discreet.query.sql"),
    ("meaning", "query/sql/twin.py", "discreet.query.estimates"),
    ("query", "query/estimates/twin.py", "discreet.query.planner"),
    ("trees", "query/ir/expressions.py", "discreet.query.ir.functions"),
    ("engines", "engine/rewrites.py", "discreet.engine.duckdb"),
    ("engines", "engine/relation_compiler.py", "discreet.engine.duckdb.join_limits"),
    ("answers", "gateway/answers/twin.py", "discreet.gateway.protected"),
    ("results", "results/twin.py", "discreet.privacy"),
    ("results", "results/columns.py", "numpy"),
    ("client", "interfaces/client/twin.py", "discreet.gateway"),
    ("client", "interfaces/client/twin.py", "discreet.query.sql"),
    ("client", "interfaces/client/remote.py", "discreet.privacy"),
    ("client", "interfaces/client/declared.py", "duckdb"),
    ("dbapi", "dbapi/twin.py", "discreet.query.planner"),
    ("dbapi", "dbapi/cursor.py", "discreet.gateway"),
    ("conformance", "interfaces/conformance/twin.py", "discreet.service"),
    ("catalogue", "interfaces/wire/catalogue/twin.py", "discreet.service"),
    ("catalogue", "interfaces/wire/catalogue/database.py", "discreet.tables.sources"),
    ("duckdb", "interfaces/wire/twin.py", "discreet.duckdb"),
    ("floors", "results/answer.py", "discreet.query.ir"),
    ("floors", "results/columns.py", "discreet.gateway"),
    ("circles", "query/planner/request.py", "discreet.query.planner.plan"),
    ("randomness", "noise/twin.py", "secrets"),
    ("randomness", "noise/twin.py", "random"),
    ("randomness", "entropy.py", "random"),
    ("sources", "tables/proposals/twin.py", "sqlite3"),
    ("sources", "anonymity/twin.py", "python_calamine"),
    ("sources", "tables/sources/twin.py", "deltalake"),
    ("duckdb", "gateway/twin.py", "discreet.duckdb.session"),
    ("duckdb", "query/twin.py", "discreet.duckdb"),
    ("floors", "duckdb/twin.py", "discreet.tables"),
    ("engine", "cli/twin.py", "discreet.engine"),
    ("engine", "attacks/__init__.py", "discreet.engine.duckdb"),
    ("noise", "textbook/plots/twin.py", "discreet.noise"),
    ("noise", "interfaces/http/twin.py", "discreet.noise.laplace"),
    ("entropy", "query/twin.py", "discreet.entropy"),
    ("entropy", "audit/twin.py", "discreet.entropy"),
    ("floors", "entropy.py", "discreet.exact"),
    ("noise", "query/twin.py", "discreet.noise"),
    ("mechanisms", "textbook/plots/twin.py", "discreet.mechanisms"),
    ("mechanisms", "interfaces/http/twin.py", "discreet.mechanisms"),
    ("engine", "interfaces/http/twin.py", "discreet.engine"),
    ("engine", "textbook/plots/twin.py", "discreet.engine"),
    ("engine", "service/twin.py", "discreet.engine"),
    ("noise", "service/twin.py", "discreet.noise"),
    ("floors", "service/twin.py", "discreet.interfaces"),
    ("floors", "gateway/twin.py", "discreet.service"),
    ("proposals", "gateway/twin.py", "discreet.tables.proposals.names"),
    ("ir", "engine/twin.py", "discreet.query.ir.functions"),
    ("sql", "gateway/twin.py", "discreet.query.sql.parsing"),
    ("estimates", "query/planner/twin.py", "discreet.query.estimates.estimator"),
    ("aggregates", "query/planner/twin.py", "discreet.query.aggregates.counts"),
    ("planner", "gateway/twin.py", "discreet.query.planner.request"),
    ("released", "gateway/twin.py", "discreet.gateway.answers.matching"),
    ("accounting", "anonymity/__init__.py", "discreet.accounting"),
    ("accounting", "anonymity/risk.py", "discreet.accounting.filters"),
    ("accounting", "textbook/plots/twin.py", "discreet.accounting"),
    ("textbook", "gateway/twin.py", "discreet.textbook.accounting.convert"),
    ("textbook", "query/planner/twin.py", "discreet.mechanisms.textbook"),
    ("textbook", "service/twin.py", "discreet.plot"),
    ("floors", "mechanisms/release.py", "discreet.textbook.mechanisms.staircase"),
    ("floors", "accounting/charge.py", "discreet.textbook.accounting.convert"),
]
"""Wrong twins of the house."""


def lint(folder: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in `folder`, for some contracts or for all."""
    only = [word for contract in contracts for word in ("--contract", contract)]
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache", *only],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "COLUMNS": "1000"},
        check=False,
        capture_output=True,
        text=True,
    )


def house(folder: Path) -> Path:
    """A copy of the package and its contracts, for twins to break."""
    shutil.copytree(SOURCE / "discreet", folder / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


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


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each contract that is broken, by its name, where all twins are in one house."""
    folder = house(tmp_path_factory.mktemp("house"))
    for _, module, imported in VIOLATIONS:
        add(folder / "discreet" / module, f"import {imported}")
    run = lint(folder)
    assert run.returncode == 1, run.stdout + run.stderr
    parts = re.split(r"^(.+)\n-+\n", run.stdout.partition("\nBroken contracts\n")[2], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract["id"])
def test_a_forbidden_import_is_caught(broken: dict[str, str], contract: dict[str, str]) -> None:
    """The contract names each import that it forbids."""
    told = broken[contract["name"]]
    for each, module, imported in VIOLATIONS:
        importer = f"discreet.{module.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        within = f".{importer.rpartition('.')[2]} -> .{imported.rpartition('.')[2]}"  # as a circle is told
        assert each != contract["id"] or f"{importer} -> {imported} (" in told or within in told, told


def test_a_room_without_a_floor_is_caught(tmp_path: Path) -> None:
    """A new room has to be given a floor, even if it imports nothing that it mustn't; so has one of `query`."""
    folder = house(tmp_path)
    for room in ("attic", "query/cellar"):
        add(folder / "discreet" / room / "__init__.py", "import discreet.errors")
    run = lint(folder, "floors", "query")
    assert run.returncode == 1, run.stdout
    for room in ("discreet.attic", "discreet.query.cellar"):
        assert room in run.stdout, run.stdout + run.stderr


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
