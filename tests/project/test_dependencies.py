"""At run time discreet needs what it declares, and declares no more strictly than it must."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions, version

from support.project import ROOT, nodes, offenders, python_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {extra: needs for extra, needs in PROJECT["optional-dependencies"].items() if extra not in {"dev", "test"}}

BROUGHT = {"pandas", "polars"}
"""Libraries whose tables are taken and given where the user has them; imported only then."""


def names(requirements: list[str]) -> set[str]:
    """The distributions that requirements name."""
    return {re.split(r"[\[<>=!~; ]", requirement)[0].lower() for requirement in requirements}


DECLARED = names([*PROJECT["dependencies"], *(need for needs in EXTRAS.values() for need in needs)])


def imported(source: str) -> set[str]:
    """The outermost names of the packages that a source imports, its own and Python's left out."""
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found |= {item.name.partition(".")[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - {"discreet"} - sys.stdlib_module_names


@cache
def installed() -> Mapping[str, list[str]]:
    """Which distributions provide each package here."""
    return packages_distributions()


def providers(package: str) -> set[str]:
    """The distributions that provide a package; itself if none is known."""
    return {distribution.lower().replace("_", "-") for distribution in installed().get(package, [package])}


def undeclared(source: str) -> set[str]:
    """The packages a source imports that no run-time dependency provides."""
    return {package for package in imported(source) - BROUGHT if not providers(package) & DECLARED}


def test_every_import_is_declared() -> None:
    """Each package that the code imports is a run-time dependency or belongs to an extra."""
    assert offenders(undeclared, python_files("src")) == {}


def test_an_undeclared_import_is_noticed() -> None:
    """A library that only the tests need is seen where production code imports it."""
    assert undeclared("import scipy.stats\nfrom hypothesis import given") == {"scipy", "hypothesis"}
    assert undeclared("import numpy as np\nimport os\nfrom discreet import errors") == set()


CHANGE_MEANING = {"adbc-driver-postgresql", "duckdb", "ibis-framework", "numpy", "pyarrow", "sqlglot"}
"""Libraries of which a new major version can change what a question means, or how a value is read."""


def test_no_dependency_is_pinned() -> None:
    """Each requirement has a lower bound, and no upper one but a major version: others' versions aren't ours to choose.

    Only those have an upper one that can change what an answer is, and of them those that are installed are allowed.
    """
    extras = (need for extra in PROJECT["optional-dependencies"].values() for need in extra)
    needs = [*PROJECT["dependencies"], *(need for need in extras if need != "discreet[test]")]
    assert [need for need in needs if not re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=[\d.]+(,<\d+)?", need)] == []
    assert names([need for need in needs if "<" in need]) == CHANGE_MEANING
    for need in (need for need in needs if "<" in need):
        (library,) = names([need])
        assert int(version(library).partition(".")[0]) < int(need.rpartition("<")[2])


FAULTY_BEFORE = {"starlette": (0, 49, 1)}
"""Libraries that strangers reach, and before which version a request of theirs can keep a server busy."""


def too_old(requirements: list[str]) -> set[str]:
    """The libraries that requirements allow in a version with a known fault."""
    least = {need.partition(">=")[0]: tuple(map(int, need.partition(">=")[2].split("."))) for need in requirements}
    return {name for name, version in FAULTY_BEFORE.items() if least.get(name, version) < version}


def test_strangers_reach_no_library_with_a_known_fault() -> None:
    """The least versions that the server and the tests take have none; one before is noticed."""
    for extra in ("server", "test"):
        needs = [need for need in PROJECT["optional-dependencies"][extra] if need.startswith("starlette")]
        assert len(needs) == 1
        assert too_old(needs) == set()
    assert too_old(["starlette>=0.49"]) == {"starlette"}


def test_every_dependency_is_used() -> None:
    """No requirement is there that the code doesn't import, directly or, as with pyarrow, through Ibis as well."""
    used = {package for path in python_files("src") for package in imported(path.read_text(encoding="utf-8"))}
    distributions = {provider for package in used for provider in providers(package)}
    assert names(PROJECT["dependencies"]) - distributions == set()


def test_extras_are_what_users_are_told() -> None:
    """The extras are the ones the documentation names."""
    assert set(EXTRAS) == {
        "server",
        "client",
        "sqlalchemy",
        "plot",
        "spark",
        "sail",
        "postgres",
        "shell",
        "xlsx",
        "delta",
    }


def test_the_code_knows_its_version() -> None:
    """The version is written once, in the package."""
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
