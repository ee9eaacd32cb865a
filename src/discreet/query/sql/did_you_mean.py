"""Did you mean: the name that was meant, perhaps, where one means nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from discreet.query.sql.names import in_sql

_SHOWN = 10
"""How many names fit a line."""


def meant(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """The nearest of the public names, or the first few.

    Args:
        name: that means nothing.
        known: those that there are.
        shown: how one is written where it is meant to be read.

    Examples:
        >>> meant("educaton", ["age", "education"])
        'did you mean education?'
    """
    names = list(known)
    close = get_close_matches(name.casefold()[:100], [known.casefold() for known in names], n=1, cutoff=0.6)
    if close:
        return f"did you mean {shown(next(known for known in names if known.casefold() == close[0]))}?"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there are: {', '.join(map(shown, names[:_SHOWN]))}{more}"


def column_meant(name: str, known: Iterable[str]) -> str:
    """The nearest of the columns: also one of several words, of which this name is one.

    Examples:
        >>> column_meant("hours", ["age", "hours-per-week"])
        'did you mean "hours-per-week"? such a name stands in double quotes'
    """
    names = list(known)
    for each in names:
        if in_sql(each) != each and name.casefold() in re.split(r"\W+", each.casefold()):
            return f"did you mean {in_sql(each)}? such a name stands in double quotes"
    return meant(name, names, in_sql)
