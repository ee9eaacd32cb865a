"""Places of errors: where in a question something is wrong.

Where a question is refused, a syntax node or a token is at hand, and not the text: the error carries the offset of a
character. One boundary, around all that reads the text, makes a line and a column of it. There, too, a message says
the name of a function as the question does, for only the text tells which of its names the analyst has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from discreet.errors import QueryError
from discreet.query.sql.refusals import worded

if TYPE_CHECKING:
    from sqlglot import exp


def offset_of(*nodes: exp.Expression | None) -> int | None:
    """The offset of the leftmost part of the nodes that the parser kept a position for."""
    return min(
        (part.meta["start"] for node in nodes if node is not None for part in node.walk() if "start" in part.meta),
        default=None,
    )


@contextmanager
def placed(node: exp.Expression) -> Iterator[None]:
    """Give an error the offset of the node, if it has none."""
    try:
        yield
    except QueryError as error:
        if error.at is None:
            error.at = offset_of(node)
        raise


@contextmanager
def in_text(text: str) -> Iterator[None]:
    """The boundary: errors from within leave with the line and column of their offset in the text."""
    try:
        yield
    except QueryError as error:
        if error.at is not None:
            error.place, error.at = place_at(text, error.at), None
        error.message, error.called = worded(error.message, error.called, text), ""
        raise


def place_at(text: str, offset: int) -> tuple[int, int]:
    r"""The one-based line and column of a character.

    Examples:
        >>> place_at("SELECT\n  age", 9)
        (2, 3)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
