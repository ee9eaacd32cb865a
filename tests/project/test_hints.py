"""Hints are spelled as where they are read: arguments in Python, options on the command line, keys in discreet.toml."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from discreet.cli import app
from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.tables.schema import config_keys
from support.project import SOURCE, nodes

PACKAGE = SOURCE / "discreet"

PYTHON = re.compile(
    r"\b[a-z_]+=[^=> ]|\b(?:Limits|Unit|Budget|Keys|Bounds|Column|KAnonymity)[.(]"
    r"|\b(?:refresh|verify|history|protect|load)\(|\bNone\b|\bTrue\b|\bFalse\b"
)
"""What nobody types into a shell."""
COMMAND = re.compile(r"--[a-z]|`discreet (?!init\b)")
"""What nobody writes in Python: an option, or a command (but `init` alone makes a configuration)."""
PYTHON_ALONE = {
    "attacks/answers": "studies are called from Python; commands check what they hand on",
    "attacks/attack_result.py": "for those who write an attack",
    "attacks/people.py": "targets are made in Python",
    "attacks/rows": "as for studies",
    "attacks/targets": "targets are made in Python",
    "audit/auditing.py": "claims are made in Python",
    "dbapi": "who speaks PEP 249 does so in Python",
    "errors.py": "an account is closed in Python alone",
    "gateway/declaring.py": "declarations in code",
    "gateway/opening.py": "declarations in code",
    "mechanisms": "commands audit mechanisms by their names",
    "noise": "samplers are called from Python",
    "textbook": "the wing is called from Python; commands draw and audit by names",
}
"""Where hints may speak Python without another spelling, and why no command shows them."""


class Text(NamedTuple):
    """What a hint says, without the values in it."""

    where: str
    said: str


def hints(source: str, where: str) -> Iterator[Text]:
    """The texts that are hints of one spelling: what is handed on as `hint`, but not what a `Hint` is made of."""
    given = [node.value for node in nodes(source) if isinstance(node, ast.keyword) and node.arg == "hint"]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    given += [
        node.value
        for node in nodes(source)
        if isinstance(node, ast.Assign) and names & {each.id for each in node.targets if isinstance(each, ast.Name)}
    ]
    for each in given:
        for text in _texts(each):
            yield Text(f"{where}:{each.lineno}", text)


def _texts(node: ast.AST) -> Iterator[str]:
    """The literal parts of an expression."""
    if isinstance(node, ast.Call) and "hint" in ast.unparse(node.func).casefold():
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child)


@cache
def everywhere() -> list[Text]:
    """Those of all sources."""
    return [
        text
        for path in sorted(PACKAGE.rglob("*.py"))
        for text in hints(path.read_text("utf-8"), path.relative_to(PACKAGE).as_posix())
    ]


def in_python_alone(where: str) -> bool:
    """Whether no command shows what is said there."""
    return any(where.startswith((f"{part}/", f"{part}:")) for part in PYTHON_ALONE)


def is_hint(called: ast.expr) -> bool:
    """Whether it is `Hint` or `Hint.of`."""
    kind = called.value if isinstance(called, ast.Attribute) and called.attr == "of" else called
    return isinstance(kind, ast.Name) and kind.id == "Hint"


def made() -> Iterator[tuple[str, ast.Call]]:
    """Each call that makes a hint of several spellings."""
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        for node in nodes(path.read_text("utf-8")):
            if where != "errors.py" and isinstance(node, ast.Call) and is_hint(node.func):
                yield f"{where}:{node.lineno}", node


def options() -> set[str]:
    """Every option of every command."""
    found: set[str] = set()
    todo: list[Any] = [get_command(app)]
    while todo:
        command = todo.pop()
        found |= {name for one in command.params for name in one.opts}
        todo += [command.commands[name] for name in getattr(command, "commands", ())]
    return found


def test_what_a_command_shows_is_never_pythons_spelling() -> None:
    """Each hint of one spelling that speaks Python is where no command comes by."""
    found = everywhere()
    assert len(found) > 300
    others = [text for text in found if not text.where.startswith("cli/") and not in_python_alone(text.where)]
    assert [text for text in others if PYTHON.search(text.said)] == []
    own = [text for text in found if text.where.startswith("cli/")]  # `age=ages.csv` is the value of an option
    assert [text for text in own if re.search(r"\b[A-Z][A-Za-z]*\(|\b(?:None|True|False)\b", text.said)] == []


def test_what_python_shows_is_never_a_commands_spelling() -> None:
    """Options and commands are named by the commands' own errors alone, but for what another person has to type."""
    mine = [text for text in everywhere() if not text.where.startswith(("cli/", "service/tokens.py"))]
    assert [text for text in mine if COMMAND.search(text.said)] == []


def test_what_is_allowed_is_needed() -> None:
    """No exception outlives the hints that it was made for."""
    spoken = [text.where for text in everywhere() if PYTHON.search(text.said)]
    unused = [part for part in PYTHON_ALONE if not any(where.startswith((f"{part}/", f"{part}:")) for where in spoken)]
    assert unused == []


def test_the_options_and_keys_that_hints_name_are_there() -> None:
    """A hint of several spellings names options that some command has, or keys of discreet.toml."""
    known = options()
    keys = {key for name in vars(config_keys) if name.isupper() for key in getattr(config_keys, name)}
    missing = []
    for where, call in made():
        said = {each.arg: each.value for each in call.keywords}
        if ast.unparse(call.func) == "Hint.of":
            named = [name for name in said if name is not None]
            missing += [
                (where, name) for name in named if f"--{name.replace('_', '-')}" not in known and name not in keys
            ]
            continue
        typed = "".join(_texts(said["cli"])) if "cli" in said else ""
        missing += [(where, option) for option in re.findall(r"--[a-z-]+", typed) if option not in known]
    assert missing == []


def test_a_hint_has_a_spelling_for_each_door() -> None:
    """Also in another process; a plain text is the same everywhere."""
    hint = pickle.loads(pickle.dumps(Hint.of("take {decimal}", decimal=",")))  # noqa: S301 — made here
    error = InvalidArgument("wrong", hint=hint)
    assert [error.hint_at(door) for door in ("python", "cli", "file")] == [
        'take decimal=","',
        "take --decimal ,",
        'take decimal = ","',
    ]
    assert str(error) == 'wrong (take decimal=",")'
    assert InvalidArgument("wrong", hint="mend it").hint_at("cli") == "mend it"


@pytest.mark.parametrize("said", ["epsilon=0.5", "limits=Limits(rows=50)", "None", "refresh() reads them"])
def test_pythons_spelling_is_recognised(said: str) -> None:
    """What the rule looks for."""
    assert PYTHON.search(said)
    assert not PYTHON.search("--epsilon 0.5, 5x10, rows = 50, JOIN … ON a.x = b.y, SUM(x, per_row => (0, 100))")
