"""The textbook wing: what answers questions neither names nor loads any of it."""

from __future__ import annotations

import ast
import subprocess
import sys

from discreet import accounting
from support.project import SOURCE

MAY = ("textbook", "attacks", "audit", "cli")
"""Rooms that may use the wing, as `pyproject.toml` has it."""


def test_no_question_loads_any_of_it() -> None:
    """The contract sees what is imported by a statement; `discreet.accounting` imports by name, when asked."""
    program = (
        "import sys, discreet.gateway, discreet.service, discreet.interfaces.http;"
        "print([name for name in sys.modules if 'textbook' in name or name in ('discreet.local', 'discreet.plot')])"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout == "[]\n"


def test_accounting_offers_to_questions_what_it_makes_itself() -> None:
    """Names that `discreet.accounting` takes from the wing are imported by no room that answers questions."""
    wing = {name for name in accounting.__all__ if getattr(accounting, name).__module__.startswith("discreet.textbook")}
    assert {"convert", "curve_of", "solve"} <= wing
    assert not {"charge_of", "filter_for", "mu_for"} & wing
    for path in (SOURCE / "discreet").rglob("*.py"):
        room = path.relative_to(SOURCE / "discreet").parts[0]
        if room in MAY or path == SOURCE / "discreet" / "accounting" / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "discreet.accounting":
                assert not wing & {alias.name for alias in node.names}, path


def test_every_name_of_the_face_is_there() -> None:
    """Those that are loaded late, too, and no other."""
    assert all(hasattr(accounting, name) for name in accounting.__all__)
    assert not hasattr(accounting, "nonsense")


def test_type_checkers_and_the_interpreter_find_the_same_names() -> None:
    """What `discreet.accounting` imports for type checkers alone is what it loads, from the same files."""
    tree = ast.parse((SOURCE / "discreet" / "accounting" / "__init__.py").read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    listed = {
        str(node.module).removeprefix("discreet.textbook.accounting."): [alias.name for alias in node.names]
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
    }
    assert listed == accounting._TEXTBOOK
