"""Semicolons: where statements end in a text of SQL, of whatever dialect; those in quotes and comments end nothing."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, cast

Piece: TypeAlias = Literal["blank", "end", "said"]
"""A blank or a comment, a semicolon, and anything else."""

_PIECE = re.compile(
    r"""(?P<blank>\s++|--[^\n]*+|/\*.*?\*/)
    |(?P<end>;)
    |(?P<said>'[^']*+(?:'|\Z)|"[^"]*+(?:"|\Z)|`[^`]*+(?:`|\Z)|/\*.*\Z|[^\s;'"`/-]++|.)""",
    re.VERBOSE | re.DOTALL,
)
"""Enough of SQL to see where a statement ends. What isn't closed runs to the end, so that it is read once."""


def piece_at(text: str, start: int) -> tuple[Piece, int]:
    """What begins at a place of a text, and where it ends."""
    found = _PIECE.match(text, start)
    assert found is not None  # noqa: S101 — the last part takes whatever is left
    return cast("Piece", found.lastgroup), found.end()


def statements(text: str) -> list[str]:
    r"""The statements of a text, without their semicolons and without empty ones.

    Examples:
        >>> statements("SELECT ';' -- ;\n; SELECT `a;b`;")
        ["SELECT ';' -- ;", 'SELECT `a;b`']
    """
    found, start, at, filled = list[str](), 0, 0, False
    while at < len(text):
        kind, end = piece_at(text, at)
        if kind == "end":
            found += [text[start:at].strip()] * filled
            start, filled = end, False
        filled = filled or kind == "said"
        at = end
    return [*found, text[start:].strip()] if filled else found
