"""Semicolons: where statements end in a text of SQL, of whatever dialect; those in quotes and comments end nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Interrupts: TypeAlias = Callable[[int, bool], int | None]
"""Where what begins at a place ends, if it ends a statement by itself; told whether anything was said before it."""

_PIECE = re.compile(
    r"""(?P<blank>\s++|--[^\n]*+|/\*.*?\*/)
    |(?P<end>;)
    |(?P<said>'[^']*+(?:'|\Z)|"[^"]*+(?:"|\Z)|`[^`]*+(?:`|\Z)|/\*.*\Z|[^\s;'"`/-]++|.)""",
    re.VERBOSE | re.DOTALL,
)
"""Enough of SQL to see where a statement ends. What isn't closed runs to the end, so that it is read once."""


def cut(text: str, interrupts: Interrupts = lambda *_: None) -> tuple[list[str], str]:
    """The statements that are complete, without semicolons and empty ones; and the rest, unless nothing is said in it.

    Args:
        text: of any number of statements.
        interrupts: what else may end one, and is part of it; or stands alone where nothing was said before it.
    """
    found, start, at, filled = list[str](), 0, 0, False
    while at < len(text):
        if (end := interrupts(at, filled)) is not None:
            found.append(text[start if filled else at : end].strip())
            start, at, filled = end, end, False
            continue
        piece = _PIECE.match(text, at)
        assert piece is not None  # noqa: S101 — the last part takes whatever is left
        if piece["end"]:
            found += [text[start:at].strip()] * filled
            start, filled = piece.end(), False
        filled = filled or piece["said"] is not None
        at = piece.end()
    return found, text[start:] if filled else ""


def statements(text: str) -> list[str]:
    r"""All statements of a text, the last one with or without a semicolon.

    Examples:
        >>> statements("SELECT ';' -- ;\n; SELECT `a;b`;")
        ["SELECT ';' -- ;", 'SELECT `a;b`']
    """
    found, rest = cut(text)
    return [*found, rest.strip()] if rest else found
