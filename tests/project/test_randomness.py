"""Randomness comes from one file.

import-linter sees which modules are imported; what is reached as an attribute (`os.urandom`, `numpy.random`) or through
another library (`uuid.uuid4`, `ibis.random`) is looked for here, in the syntax tree.
"""

from __future__ import annotations

import ast

import pytest

from support.project import name, nodes, offenders, python_files

ENTROPY = "src/discreet/entropy.py"

ATTRIBUTES = {
    "urandom",
    "getrandom",
    "random",
    "SystemRandom",
    "default_rng",
    "uuid1",
    "uuid4",
    "RAND_bytes",
    "setseed",
}
"""Names that mean randomness whatever they are taken from: `os.urandom`, `np.random`, `ibis.random`, `uuid.uuid4`."""

MODULES = {"random", "secrets", "numpy.random", "uuid", "scipy.stats"}
"""Modules that bring randomness, or names for it."""

SEEDS = {"seed", "random_state", "rng"}
"""Parameters by which a caller could choose the noise."""


def uses(source: str) -> list[str]:
    """Where a source reaches for randomness."""
    found = []
    for node in nodes(source):
        match node:
            case ast.Attribute(attr=attribute) if attribute in ATTRIBUTES:
                found.append(f"line {node.lineno}: .{attribute}")
            case ast.Import(names=names):
                found += [f"line {node.lineno}: import {item.name}" for item in names if item.name in MODULES]
            case ast.ImportFrom(module=module, names=names):
                reached = {module, *(f"{module}.{item.name}" for item in names)}
                if reached & MODULES or {item.name for item in names} & ATTRIBUTES:
                    found.append(f"line {node.lineno}: from {module} import")
    return found


def seeds(source: str) -> list[str]:
    """The functions that take a seed."""
    functions = [node for node in nodes(source) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    return [
        f"line {node.lineno}: {argument.arg}"
        for node in functions
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.arg in SEEDS
    ]


def test_no_other_file_reaches_for_randomness() -> None:
    """Outside `entropy.py` no random source is named."""
    assert offenders(uses, [path for path in python_files("src") if name(path) != ENTROPY]) == {}


def test_no_function_takes_a_seed() -> None:
    """Production code has no parameter by which noise could be chosen or repeated."""
    assert offenders(seeds, python_files("src")) == {}


@pytest.mark.parametrize(
    "line",
    [
        "import os; os.urandom(8)",
        "from os import urandom",
        "import secrets",
        "from secrets import token_bytes",
        "import random",
        "from random import Random",
        "import numpy as np; np.random.default_rng()",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import ibis; ibis.random()",
        "import uuid",
        "from uuid import uuid4",
    ],
)
def test_every_way_to_randomness_is_seen(line: str) -> None:
    """The search finds each way by which code could draw from a source of its own."""
    assert uses(line) != []


def test_a_seed_is_seen() -> None:
    """The search finds a seed in every kind of parameter."""
    assert seeds("def f(seed, /): ...\ndef g(rng): ...\ndef h(*, random_state=0): ...") != []
    assert seeds("def f(salt): ...") == []


def test_entropy_is_where_randomness_comes_from() -> None:
    """The one exception is real: the file exists and reads the operating system's randomness."""
    source = next(path for path in python_files("src") if name(path) == ENTROPY)
    assert uses(source.read_text(encoding="utf-8")) != []
