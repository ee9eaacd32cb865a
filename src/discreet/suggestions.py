"""Suggestions: which of the names that there are was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_LONGEST = 100
"""How many characters of a name are compared: the time grows with their square."""
_SHOWN = 10


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like another, whatever their case; None if none is like it.

    Args:
        name: that means nothing.
        known: those that there are.
        cutoff: how alike they must be, from 0 to 1.

    Examples:
        >>> nearest("bouns", ["bounds", "keys"])
        'bounds'
    """
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in known}
    close = get_close_matches(name[:_LONGEST].casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """A hint: the nearest of the known names, or the first few.

    Args:
        name: that means nothing.
        known: those that there are.
        shown: how one is written where it is meant to be read.

    Examples:
        >>> did_you_mean("educaton", ["age", "education"])
        'did you mean education?'
        >>> did_you_mean("x", ["age", "education"])
        'there are: age, education'
    """
    names = list(known)
    close = nearest(name, names)
    if close is not None:
        return f"did you mean {shown(close)}?"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there are: {', '.join(map(shown, names[:_SHOWN]))}{more}"
