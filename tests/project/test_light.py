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
    """Neither `import discreet` nor its names touch an engine, a database or a table library."""
    assert heavy_after("from discreet import *") == []


def test_importing_discreet_loads_none_of_its_rooms() -> None:
    """They are loaded when they are asked for, by `discreet.NAME` or `from discreet import NAME`."""
    program = (
        "import discreet, sys; print([name for name in sys.modules if name.startswith('discreet.')]);"
        "from discreet import Plan; assert discreet.Plan is Plan;"
        "assert discreet.errors.DiscreetError is discreet.DiscreetError;"
        "assert set(discreet.__all__) <= set(dir(discreet));"
        "assert not hasattr(discreet, 'nonsense') and not hasattr(discreet, '_repr_html_')"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout == "[]\n"


def test_several_threads_may_be_the_first_to_name_it() -> None:
    """A package and a part of it, loaded at once, wait for each other; without turns, this fails now and then."""
    program = (
        "import discreet, threading\n"
        "names = ['protect', 'Workload', 'Plan', 'load', 'sensitivity', 'Column', 'Unit', 'laplace']\n"
        "start, found = threading.Barrier(len(names)), []\n"
        "def name(each):\n start.wait(60); found.append(getattr(discreet, each))\n"
        "threads = [threading.Thread(target=name, args=(each,)) for each in names]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "print(len(found))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("8\n", "")


def test_a_heavy_library_is_noticed() -> None:
    """The measure sees a library that was loaded."""
    assert heavy_after("import discreet, duckdb") == ["duckdb"]
