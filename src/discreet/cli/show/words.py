"""Numbers, lists and limits in words, as long as a line has room for."""

from __future__ import annotations

from collections.abc import Sequence


def cut_list(items: Sequence[str], most: int = 8, by: str = ", ") -> str:
    """The first items, separated by commas, and how many there are besides.

    Examples:
        >>> cut_list(["a", "b", "c"]), cut_list(["a", "b", "c"], 1)
        ('a, b, c', 'a and 2 more')
    """
    left = len(items) - most
    return by.join(items) if left <= 0 else f"{by.join(items[:most])} and {left:,} more"


def number_of(count: int, one: str, many: str) -> str:
    """A number of things.

    Examples:
        >>> number_of(1, "row", "rows"), number_of(1500, "row", "rows")
        ('1 row', '1,500 rows')
    """
    return f"{count:,} {one if count == 1 else many}"


def cut(text: str, width: int) -> str:
    r"""A text on one line, or as much of it as fits.

    Examples:
        >>> cut("SELECT COUNT(*) AS n\n  FROM census", 16)
        'SELECT COUNT(*)…'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"
