"""Statements: where a question or a command ends in what was typed."""

from __future__ import annotations

import re

SIGNS = ("\\", ".")
"""What a command begins with; no question does."""

_COMMAND = re.compile(r"[\\.][^\n]*")
_TOKEN = re.compile(
    r"""(?P<blank>\s++|--[^\n]*+|/\*.*?\*/)
    |(?P<end>;)
    |(?P<slip>^\\[^\n]*+)
    |'[^']*+(?:'|\Z)|"[^"]*+(?:"|\Z)|`[^`]*+(?:`|\Z)|/\*.*\Z|[^\s;'"`/-]++|.""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Enough of SQL to see where a statement ends. What isn't closed runs to the end, so that it is read once."""


def cut(text: str) -> tuple[list[str], str]:
    r"""The statements of a text that are complete, and what is left, which is empty if nothing waits for its end.

    A question ends with a semicolon, and a command, which begins with a backslash or a point, with its line. A command
    on a line within a question ends it too, and will be refused with it: its semicolon was forgotten.

    Examples:
        >>> cut("\\budget\nSELECT ';' -- ;\n; SELECT 2")
        (['\\budget', "SELECT ';' -- ;"], ' SELECT 2')
    """
    found, start, at, filled = list[str](), 0, 0, False
    while at < len(text):
        if not filled and (command := _COMMAND.match(text, at)):
            found.append(command[0].strip())
            start = at = command.end()
            continue
        token = _TOKEN.match(text, at)
        assert token is not None  # noqa: S101 — the last part takes whatever is left
        at = token.end()
        if token["end"] or token["slip"]:
            if filled:
                found.append(text[start : token.start() if token["end"] else at].strip())
            start, filled = at, False
        filled = filled or not (token["end"] or token["slip"] or token["blank"])
    return found, text[start:] if filled else ""
