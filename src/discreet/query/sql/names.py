"""Names: given out once each, spelled as in a question, and listed by aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from discreet.errors import SqlSyntax, TypeMismatch
from discreet.query import ir
from discreet.query.sql.places import offset_of
from discreet.suggestions import did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp


_KEYWORDS = {
    *("AND", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "LIKE", "LIMIT"),
    *("NOT", "OFFSET", "ON", "OR", "ORDER", "SELECT", "WHERE", "WITH"),
}


def check_alias(alias: exp.Expression | None) -> None:
    """Refuse a keyword as an alias: `FROM people GROUP` lacks its BY.

    Raises:
        SqlSyntax: with the place.
    """
    if alias is not None and alias.name.upper() in _KEYWORDS and not alias.args.get("quoted"):
        raise SqlSyntax(f"something is missing or wrong at {alias.name!r}", at=offset_of(alias))


_PLAIN = re.compile(r"[^\W\d]\w*")


def in_sql(name: str) -> str:
    """A name as a question spells it: in double quotes, if it isn't a single word.

    Examples:
        >>> in_sql("age"), in_sql("hours-per-week")
        ('age', '"hours-per-week"')
    """
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


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
    return did_you_mean(name, names, in_sql)


class Names:
    """Gives out names, each once, in any case."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The name wanted, or that name with the first free number after it.

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


def renamed(held: tuple[tuple[str, ir.Column], ...], names: Sequence[str]) -> tuple[tuple[str, ir.Column], ...]:
    """Columns under the names that an alias lists, as far as it does.

    Raises:
        TypeMismatch: it lists more than there are.
    """
    if len(names) > len(held):
        raise TypeMismatch(f"{len(names)} names are listed for {len(held)} columns")
    return tuple((names[n] if n < len(names) else name, column) for n, (name, column) in enumerate(held))
