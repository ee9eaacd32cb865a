"""Places: where in the question something stands, for errors that point at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

Place = tuple[int, int]


def place_at(text: str, offset: int) -> Place:
    r"""The one-based line and column of a character.

    Examples:
        >>> place_at("SELECT\n  age", 9)
        (2, 3)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def place_of(text: str, *nodes: exp.Expression | None) -> Place | None:
    """Where the leftmost part of the nodes stands that the parser kept a position for."""
    starts = [part.meta["start"] for node in nodes if node is not None for part in node.walk() if "start" in part.meta]
    return place_at(text, min(starts)) if starts else None
