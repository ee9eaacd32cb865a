"""Whatever a user can name, some page explains."""

from __future__ import annotations

import importlib
import re

import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.tables.schema import config_keys
from support import commandline
from support.pages import pages
from support.project import DOCS, offered, rooms

TEXTS = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in pages()}


def errors(kind: type[DiscreetError] = DiscreetError) -> list[type[DiscreetError]]:
    """An error and all below it."""
    return [kind, *(error for child in kind.__subclasses__() for error in errors(child))]


def keys() -> dict[str, list[str]]:
    """The keys of discreet.toml by the kind of table they stand in."""
    known = {name.strip("_").lower(): value for name, value in vars(config_keys).items() if name.isupper()}
    return {name: list(value) for name, value in known.items() if isinstance(value, dict) and "also" not in name}


@pytest.mark.parametrize("name", discreet.__all__)
def test_every_public_name_is_written_about(name: str) -> None:
    """Each name of `discreet` stands in code type on a page that somebody wrote."""
    assert any(re.search(rf"`[^`]*\b{name}\b[^`]*`|```[^`]*\b{name}\b", text) for text in TEXTS.values())


@pytest.mark.parametrize("name", discreet.__all__)
def test_every_public_name_has_its_entry(name: str) -> None:
    """Each name of `discreet` is rendered from its docstring in the Python reference."""
    if not name.startswith("__"):
        assert re.search(rf"^::: discreet\.(?:\w+\.)*{name}$", TEXTS["reference/python.md"], re.MULTILINE)


@pytest.mark.parametrize("room", rooms())
def test_every_room_curates_its_names(room: str) -> None:
    """Each room says what it offers, each name once, and has all of it."""
    names = offered(f"discreet.{room}")
    module = importlib.import_module(f"discreet.{room}")
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [name for name in commandline.commands() if name])
def test_every_command_and_option_is_written_about(name: str) -> None:
    """Each command has its help text in the reference, and each option occurs in it."""
    page = TEXTS["reference/cli.md"]
    assert f"<!-- generated: help {name} -->" in page
    assert [option for option in commandline.options(commandline.commands()[name]) if option not in page] == []


@pytest.mark.parametrize(("table", "key"), [(table, key) for table, names in keys().items() for key in names])
def test_every_key_is_written_about(table: str, key: str) -> None:
    """Each key of discreet.toml stands in a table of the configuration reference."""
    assert re.search(rf"^\| `(?:[\w.<>]+\.)?{key}`", TEXTS["reference/configuration.md"], re.MULTILINE), table


def test_the_keys_are_found() -> None:
    """The test above sees the keys of every kind of table."""
    found = keys()
    assert {"name", "ledger", "tables"} <= set(found["dataset"])
    assert {"kind", "bounds"} <= set(found["column"])
    assert len(found) >= 7


@pytest.mark.parametrize("error", errors(), ids=lambda error: error.code)
def test_every_error_has_its_section(error: type[DiscreetError]) -> None:
    """Each code has a heading in the reference of errors, with the class, a cause and a fix under it."""
    section = re.search(
        rf"^### {error.code}\n(?P<body>.*?)(?=^##|\Z)", TEXTS["reference/errors.md"], re.MULTILINE | re.DOTALL
    )
    assert section is not None
    assert f"`{error.__name__}`" in section["body"]
    assert "**Cause.**" in section["body"]
    assert "**Fix.**" in section["body"]


def test_no_page_explains_what_isnt_there() -> None:
    """The reference of errors has no section for a code that no error has."""
    headings = re.findall(r"^### (\w+)$", TEXTS["reference/errors.md"], re.MULTILINE)
    assert sorted(headings) == sorted(error.code for error in errors())
