"""Printable text: what others wrote, without what a terminal or a browser would obey; and limits in plain words."""

from __future__ import annotations

import re


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
