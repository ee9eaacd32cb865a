"""One tree of errors, drawn as it is."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from typing import Any

import pytest

from discreet import errors
from discreet.cli.common.exit_codes import CODE_OF, exit_code
from discreet.errors import Category, DiscreetError, from_dict
from discreet.interfaces.http.problems import STATUS_OF, status_of
from support.errors import errors_below
from support.project import ROOT, modules

ROW = re.compile(r"\| (?P<category>\w+)(?::[^|]*)? \| (?P<errors>[^|]+) \| (?P<status>\d{3}) \| (?P<exit>\d+) \|")


def drawn(picture: str) -> list[tuple[str, str]]:
    """The (parent, child) pairs that the tree in a docstring shows."""
    pairs = []
    path = ["DiscreetError"]
    for line in picture.splitlines():
        branch = re.match(r"^ {4}(?P<indent>[│ ]*)[├└]── (?P<name>\w+)", line)
        if branch:
            depth = len(branch["indent"]) // 4 + 1
            path[depth:] = [branch["name"]]
            pairs.append((path[depth - 1], branch["name"]))
    return pairs


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    """Every error is drawn once, under its parent, in the order of definition."""
    real = [
        (parent.__name__, error.__name__)
        for error in errors_below(DiscreetError)
        for parent in error.__bases__
        if issubclass(parent, DiscreetError)
    ]
    assert sorted(drawn(errors.__doc__ or "")) == sorted(real)


def test_a_wrong_tree_is_read_as_it_is_drawn() -> None:
    """The reader of the drawing sees depth, so that an error under the wrong parent is noticed."""
    picture = "    A\n    ├── B\n    │   └── C\n    └── D"
    assert drawn(picture) == [("DiscreetError", "B"), ("B", "C"), ("DiscreetError", "D")]


def test_every_error_is_defined_in_the_tree() -> None:
    """No module of discreet keeps an error of its own."""
    assert modules()
    assert {error.__module__ for error in errors_below(DiscreetError)} == {"discreet.errors"}


def test_every_code_is_the_errors_own() -> None:
    """Each error has a code, no two have the same, and codes read as names."""
    everyone: list[type[DiscreetError]] = [DiscreetError, *errors_below(DiscreetError)]
    assert [error.__name__ for error in everyone if "code" not in vars(error)] == []
    codes = [error.code for error in everyone]
    assert len(set(codes)) == len(codes)
    assert [code for code in codes if not re.fullmatch(r"[a-z]+(?:_[a-z]+)*", code)] == []


def told(text: str) -> dict[str, tuple[str, int, int]]:
    """Category, status of HTTP and exit code, by the codes of the errors that the table of a page names."""
    return {
        code: (row["category"], int(row["status"]), int(row["exit"]))
        for row in ROW.finditer(text)
        for code in re.findall(r"\(#(\w+)\)", row["errors"])
    }


def untrue(table: dict[str, tuple[str, int, int]]) -> set[str]:
    """The errors of which a table says something else than a server and the command line do."""
    found = set()
    for kind in [DiscreetError, *errors_below(DiscreetError)]:
        error = from_dict({"code": kind.code})
        nearest = next(each.code for each in kind.__mro__ if issubclass(each, DiscreetError) and each.code in table)
        if table[nearest] != (kind.category, status_of(error), exit_code(error)):
            found.add(kind.code)
    return found


def test_the_documented_table_of_categories_is_the_real_one() -> None:
    """Of every error, by the nearest above it that is named; and each category is there."""
    table = told((ROOT / "docs/reference/errors.md").read_text(encoding="utf-8"))
    assert untrue(table) == set()
    assert {category for category, _, _ in table.values()} == set(Category) == set(STATUS_OF) == set(CODE_OF)


@pytest.fixture
def forgetful() -> Iterator[None]:
    """Classes that are made meanwhile are no subclasses of any error afterwards."""
    yield
    gc.collect()


@pytest.mark.usefixtures("forgetful")
def test_an_error_without_a_category_cannot_be_made() -> None:
    """Neither a family that forgot it, nor one that says something else: no protocol would know what it means."""
    said: dict[str, Any]
    for said in ({}, {"category": None}, {"category": "refused"}):
        with pytest.raises(TypeError, match="MadeUp is of no category"):
            type("MadeUp", (DiscreetError,), said)
    with pytest.raises(TypeError, match="MadeUp is of no category"):
        type("MadeUp", (errors.BudgetError,), {"category": "budget"})


@pytest.mark.usefixtures("forgetful")
def test_an_error_is_of_its_familys_category_unless_it_says_another() -> None:
    """So what is added to a family has a status of HTTP and an exit code by that alone."""
    made: DiscreetError = type("MadeUp", (errors.BudgetError,), {})("too dear")
    assert (made.category, status_of(made), exit_code(made)) == (Category.BUDGET, 402, 3)
    made = type("MadeUp", (errors.BudgetError,), {"category": Category.BUSY})("not now")
    assert (made.category, status_of(made), exit_code(made)) == (Category.BUSY, 429, 1)


def test_a_table_that_is_wrong_about_one_error_is_found() -> None:
    """Without its own line, what is 401 would be 403; and with another exit code a family is wrong."""
    table = told((ROOT / "docs/reference/errors.md").read_text(encoding="utf-8"))
    assert untrue({code: said for code, said in table.items() if code != "unauthenticated"}) == {"unauthenticated"}
    assert "ledger_missing" in untrue({**table, "ledger": ("unavailable", 503, 1)})
