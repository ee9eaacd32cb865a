"""Statements: where a question or a command ends in what was typed."""

from __future__ import annotations

import re

from discreet import semicolons

SIGNS = ("\\", ".")
"""What a command begins with; no question does."""

_COMMAND = re.compile(r"[\\.][^\n]*")
_SLIP = re.compile(r"^\\[^\n]*", re.MULTILINE)


def cut(text: str) -> tuple[list[str], str]:
    r"""The statements of a text that are complete, and what is left, which is empty if nothing waits for its end.

    A question ends with a semicolon, and a command, which begins with a backslash or a point, with its line. A command
    on a line within a question ends it too, and will be refused with it: its semicolon was forgotten.

    Examples:
        >>> cut("\\budget\nSELECT ';' -- ;\n; SELECT 2")
        (['\\budget', "SELECT ';' -- ;"], ' SELECT 2')
    """

    def command(at: int, filled: bool) -> int | None:
        found = (_SLIP if filled else _COMMAND).match(text, at)
        return None if found is None else found.end()

    return semicolons.cut(text, command)
