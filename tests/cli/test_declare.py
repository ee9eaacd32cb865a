"""`discreet declare`: what changed of the declarations, and what may be weakened, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.accounts import declared, founded

COUNT = "SELECT COUNT(*) AS n FROM people"
CONFIG = declared(
    "people", 'id = { kind = "integer" }\nage = { kind = "integer", bounds = [0, 100] }\nk = { kind = "text" }'
)

EDITS: dict[str, tuple[str, str, list[str]]] = {
    "narrower bounds": ("[0, 100]", "[0, 10]", ["--narrow", "people.age"]),
    "keys": ('k = { kind = "text" }', 'k = { kind = "text", keys = ["a", "b"] }', ["--keys", "People.K"]),
    "a greater budget": ("epsilon = 10", "epsilon = 11", ["--budget"]),
    "more failures": ("failures = 1000\n", "", []),
    "a public table": (
        "[tables.people]",
        '[tables.towns]\nsource = "towns.csv"\npublic = true\ncolumns = { k = { kind = "text" } }\n[tables.people]',
        ["--publish", "towns"],
    ),
}


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Change the configuration of an account of which something was asked."""
    monkeypatch.chdir(tmp_path)
    with founded(tmp_path, CONFIG, {"id": range(9), "age": [30] * 9, "k": ["a"] * 9}) as tables:
        tables.ask(COUNT, epsilon="1/10")
    (tmp_path / "towns.csv").write_text("k\na\n", encoding="utf-8")

    def changed(old: str, new: str) -> None:
        text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
        assert old in text
        (tmp_path / "discreet.toml").write_text(text.replace(old, new), encoding="utf-8")

    return changed


@pytest.mark.parametrize("how", EDITS)
def test_what_weakens_is_named_or_refused(edit: Callable[[str, str], None], run: Any, how: str) -> None:
    """By every command, with the one that would do; then it is in force, in the history, and verified."""
    old, new, named = EDITS[how]
    edit(old, new)
    if named:
        for command in (["budget"], ["ask", COUNT, "--epsilon", "0.1"], ["declare"], ["verify"]):
            refused = run(*command)
            assert refused.exit_code != 0
            assert "error[declaration_weakened]" in refused.stderr
        hint = " ".join(refused.stderr.split()).rpartition("`")[0].rpartition("`")[2]
        assert hint.split() == ["discreet", "declare", *(each.casefold() for each in named)]
    made = run("declare", *named)
    assert made.exit_code == 0, made.output
    assert ("weakened by name" in made.stdout) is bool(named)
    assert "nothing has changed" in run("declare").stdout
    kinds = [each["kind"] for each in json.loads(run("history", "--format", "json").stdout)]
    assert kinds[-1] in {"declared", "budget"}
    assert run("verify").exit_code == 0


def test_the_history_says_what_changed(edit: Callable[[str, str], None], run: Any) -> None:
    """In words, as `declare` does."""
    edit("[0, 100]", "[0, 10]")
    said = run("declare", "--narrow", "people.age").stdout
    assert 'people.age: bounds: ["0", "100"] → ["0", "10"]' in said
    shown = json.loads(run("history", "--format", "json").stdout)[-1]
    assert shown["text"] == 'people.age: bounds: ["0", "100"] → ["0", "10"]'
