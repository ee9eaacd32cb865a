"""Printable text: what others wrote, without what a terminal or a browser would obey; excerpts; limits in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import combining, east_asian_width


def printable(text: str) -> str:
    r"""The text with each character that isn't shown, but obeyed, replaced by `�`, or by a space; lines stay lines.

    Among them are those that clear a terminal, and those by which text is read from right to left: a question that
    looks like another one.

    Examples:
        >>> printable("a\x1b[2Jb\tc"), printable("id = 7 /*\u202e 0 < di")
        ('a�[2Jb c', 'id = 7 /*� 0 < di')
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else " " if sign.isspace() else "�" for sign in text)


def is_as_shown(text: str) -> bool:
    r"""Whether a text has no character that is obeyed instead of shown, white space aside.

    Examples:
        >>> is_as_shown("id = 7\n\tAND d"), is_as_shown("id = 7 /*\u202e 0 < di")
        (True, False)
    """
    return all(sign.isprintable() or sign.isspace() for sign in text)


def limits_to_read(limits: object) -> str:
    """Limits as plans and certificates write them, of one group or row in the singular, with commas in large numbers.

    Examples:
        >>> limits_to_read("1 groups × 1 rows"), limits_to_read("11 rows in 8 groups")
        ('1 group × 1 row', '11 rows in 8 groups')
        >>> limits_to_read("3329 rows")
        '3,329 rows'
    """
    words = re.sub(r"\b1 (group|row)s\b", r"1 \1", str(limits))
    return re.sub(r"\d+", lambda number: f"{int(number[0]):,}", words)


def keys_to_read(keys: Sequence[object], most: int = 8) -> str:
    """Keys in one line, in quotation marks where one has a comma; of many the first ones, and how many more.

    Examples:
        >>> keys_to_read(["a", "b, c", None]), keys_to_read(range(12), most=2)
        ('a, "b, c", NULL', '0, 1 and 10 more')
    """
    names = ["NULL" if key is None else f'"{key}"' if "," in str(key) else str(key) for key in keys[:most]]
    return ", ".join(names) + (f" and {len(keys) - most:,} more" if keys[most:] else "")


def excerpt(text: str, line: int, column: int, reach: int = 54) -> list[str]:
    r"""The line of a text with a caret under the column, cut around it; nothing if there is no such line.

    Args:
        text: may have any characters; those that would move the cursor are shown as one `�` each.
        line: one-based.
        column: one-based.
        reach: how many characters are shown before the column; a third as many are shown from it on.

    Examples:
        >>> print("\n".join(excerpt("SELECT agee FROM census", 1, 8)))
          1 │ SELECT agee FROM census
            │        ^
    """
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return []
    shown, start = printable(lines[line - 1]), max(0, column - 1 - reach)
    end = start + reach + reach // 3
    cut = ("…" if start else "") + shown[start:end] + ("…" if end < len(shown) else "")
    indent = sum(map(_cells, ("…" if start else "") + shown[start : column - 1]))
    return [f"  {line} │ {cut}", f"  {' ' * len(str(line))} │ {' ' * indent}^"]


def _cells(sign: str) -> int:
    """How many columns of a terminal a character takes."""
    return 0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1
