"""Functions without one of their checks, while a test runs: what a server would be that somebody forgot it in."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def refusals(function: Callable[..., Any]) -> list[str]:
    """The text of each of its statements that raise, in order."""
    return [ast.unparse(each) for each in _raised(_tree(function))]


@contextmanager
def without(function: Callable[..., Any], number: int) -> Iterator[None]:
    """Meanwhile it goes on where its statement of this number would raise, whoever has imported it."""
    tree = _tree(function)
    left_out = _raised(tree)[number]

    class Left(ast.NodeTransformer):
        def visit_Raise(self, node: ast.Raise) -> ast.stmt:
            return ast.copy_location(ast.Pass(), node) if node is left_out else node

    with instead(function, _compiled(Left().visit(tree), function)):
        yield


@contextmanager
def instead(function: Callable[..., Any], other: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile it does what another does that takes the same, whoever has imported it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect.unwrap(function), "__code__", other.__code__)
        yield


def _tree(function: Callable[..., Any]) -> ast.Module:
    """Its source as a tree, without decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    definition.decorator_list = []
    return tree


def _raised(tree: ast.AST) -> list[ast.Raise]:
    """The statements that raise something new; those that hand on an error of others aren't checks."""
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Raise) and each.exc is not None]
    return sorted(found, key=lambda each: each.lineno)


def _compiled(tree: ast.Module, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a tree, among the names of another's module."""
    names = dict(inspect.unwrap(function).__globals__)
    exec(compile(ast.fix_missing_locations(tree), "<without>", "exec"), names)  # noqa: S102 — of our own source
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    made: Callable[..., Any] = names[definition.name]
    return made
