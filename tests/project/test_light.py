"""Importing discreet is cheap: heavy libraries are loaded by the first question, not before."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("ibis", "duckdb", "sqlalchemy", "pandas", "polars", "sqlglot", "flint", "pyarrow", "matplotlib", "scipy")


def heavy_after(statement: str) -> list[str]:
    """Which heavy libraries a fresh interpreter has loaded after `statement`."""
    program = f"import sys; {statement}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return run.stdout.split()


def test_importing_discreet_loads_no_heavy_library() -> None:
    """`import discreet` alone touches no engine, no database and no table library."""
    assert heavy_after("import discreet") == []


def test_a_heavy_library_is_noticed() -> None:
    """The measure sees a library that was loaded."""
    assert heavy_after("import discreet, duckdb") == ["duckdb"]
