"""Names and places: what is given a name, which one was meant, and where in the question it stands."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from discreet.errors import SqlSyntax

if TYPE_CHECKING:
    from sqlglot import exp


_KEYWORDS = {
    *("AND", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "LIKE", "LIMIT"),
    *("NOT", "OFFSET", "ON", "OR", "ORDER", "SELECT", "WHERE", "WITH"),
}

Place = tuple[int, int]


def check_alias(text: str, alias: exp.Expression | None) -> None:
    """Refuse a keyword as an alias: `FROM people GROUP` lacks its BY.

    Raises:
        SqlSyntax: with the place.
    """
    if alias is not None and alias.name.upper() in _KEYWORDS and not alias.args.get("quoted"):
        raise SqlSyntax(f"something is missing or wrong at {alias.name!r}", place=place_of(text, alias))


def meant(name: str, known: Iterable[str]) -> str:
    """The nearest of the public names, or the first few.

    Examples:
        >>> meant("educaton", ["age", "education"])
        'did you mean education?'
    """
    names = list(known)
    close = get_close_matches(name.casefold()[:100], [known.casefold() for known in names], n=1, cutoff=0.6)
    if close:
        return f"did you mean {next(known for known in names if known.casefold() == close[0])}?"
    return f"there are: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}"  # noqa: PLR2004 — what fits a line


class Names:
    """Gives out names, each once, in any case."""

    def __init__(self) -> None:
        """Start with none taken."""
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The name wanted, or that with the first free number behind it.

        Examples:
            >>> names = Names()
            >>> names.take("n"), names.take("N")
            ('n', 'N_1')
        """
        folded = wanted.casefold()
        number = self._numbers.get(folded, 0)
        name = f"{wanted}_{number}" if number else wanted
        while number and name.casefold() in self._numbers:
            number += 1
            name = f"{wanted}_{number}"
        self._numbers[folded] = number + 1
        self._numbers.setdefault(name.casefold(), 1)
        return name


def place_at(text: str, offset: int) -> Place:
    r"""The one-based line and column of a character.

    Examples:
        >>> place_at("SELECT\n  age", 9)
        (2, 3)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def place_of(text: str, *nodes: exp.Expression | None) -> Place | None:
    """Where the leftmost part of the nodes stands that the parser kept a position for."""
    starts = [part.meta["start"] for node in nodes if node is not None for part in node.walk() if "start" in part.meta]
    return place_at(text, min(starts)) if starts else None
