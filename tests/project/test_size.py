"""A function that outgrows its reader fails here. A file is one concept, whatever that takes, so none has a limit."""

from __future__ import annotations

import ast

from support.project import offenders, python_files, syntax

FUNCTION_LINES = 60
"""A function should have under 40 lines, its docstring not counted; more than this is two functions."""

PYTHON_FILES = python_files("src", "tests", "bench", "docs")


def long_functions(source: str) -> list[str]:
    """The functions longer than allowed, with their length."""
    found = []
    for node in ast.walk(syntax(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) and first.end_lineno else 0
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring
            if lines > FUNCTION_LINES:
                found.append(f"{node.name}: {lines} lines")
    return found


def test_no_function_outgrows_its_reader() -> None:
    """Every function stays below the limit."""
    assert offenders(long_functions, PYTHON_FILES) == {}


def test_a_long_function_is_found() -> None:
    """The measure counts statements and not the docstring."""
    body = "\n".join("    pass" for _ in range(FUNCTION_LINES))
    docstring = '    """' + "\n".join("    line" for _ in range(FUNCTION_LINES)) + '"""'
    assert long_functions(f"def f():\n{body}") == [f"f: {FUNCTION_LINES + 1} lines"]
    assert long_functions(f"def f():\n{docstring}\n    pass") == []
