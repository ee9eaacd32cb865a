"""One tree of errors, drawn as it is."""

from __future__ import annotations

import re

from discreet import errors
from discreet.errors import DiscreetError
from support.project import modules


def subclasses(kind: type[DiscreetError]) -> list[type[DiscreetError]]:
    """All errors below `kind`, in the order in which they were defined."""
    return [error for child in kind.__subclasses__() for error in (child, *subclasses(child))]


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
        for error in subclasses(DiscreetError)
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
    assert {error.__module__ for error in subclasses(DiscreetError)} == {"discreet.errors"}


def test_every_code_is_the_errors_own() -> None:
    """Each error has a code, no two have the same, and codes read as names."""
    everyone: list[type[DiscreetError]] = [DiscreetError, *subclasses(DiscreetError)]
    assert [error.__name__ for error in everyone if "code" not in vars(error)] == []
    codes = [error.code for error in everyone]
    assert len(set(codes)) == len(codes)
    assert [code for code in codes if not re.fullmatch(r"[a-z]+(?:_[a-z]+)*", code)] == []
