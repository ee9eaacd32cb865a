"""Names: which table and column a question means, and what its own columns are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from discreet.dataset import Table
from discreet.errors import SqlSyntax, UnknownColumn, UnknownTable, Unsupported
from discreet.query import ir
from discreet.query.columns import column_type
from discreet.query.places import place_of

if TYPE_CHECKING:
    from sqlglot import exp


_KEYWORDS = {
    *("AND", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "LIKE", "LIMIT"),
    *("NOT", "OFFSET", "ON", "OR", "ORDER", "SELECT", "WHERE", "WITH"),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean in one question.

    Args:
        text: the question, for places.
        table: the one it reads.
        qualifiers: what the table is called in it, in any case.
        known: columns found so far, by name; an expression of many mentions then holds each once.
    """

    text: str
    table: Table
    qualifiers: frozenset[str]
    known: dict[str, ir.Column] = field(default_factory=dict, compare=False)

    def column(self, node: exp.Column) -> ir.Column:
        """The column a name means.

        Raises:
            UnknownColumn: the table has none of that name.
            UnknownTable: the name before the dot isn't the table's.
        """
        place = place_of(self.text, node)
        if node.args.get("db") or node.args.get("catalog"):
            raise Unsupported("a column's name has at most the table's before it", place=place)
        qualifier = node.table
        if qualifier and qualifier.casefold() not in self.qualifiers:
            raise UnknownTable(
                f"no table here is called {qualifier!r}", hint=meant(qualifier, self.qualifiers), place=place
            )
        name = node.name.casefold()
        if name in self.known:
            return self.known[name]
        for column in self.table.columns:
            if column.name.casefold() == name:
                self.known[name] = ir.Column(self.table.name, column.name, column_type(column))
                return self.known[name]
        raise UnknownColumn(
            f"table {self.table.name!r} has no column {node.name!r}",
            hint=meant(node.name, [column.name for column in self.table.columns]),
            place=place,
        )


def scope_of(text: str, node: exp.Table, tables: Sequence[Table]) -> Scope:
    """The scope of a question that reads one table.

    Raises:
        UnknownTable: no table of that name is protected here.
        Unsupported: something more than a table stands in FROM.
    """
    place = place_of(text, node)
    alias = node.args.get("alias")
    extra = {key for key, value in node.args.items() if value and key not in {"this", "alias"}}
    if extra & {"db", "catalog"}:
        raise UnknownTable("tables here have one name, without a schema", hint=meant("", _names(tables)), place=place)
    if extra or (alias is not None and alias.args.get("columns")):
        raise Unsupported("FROM takes the name of one table, and an alias", place=place)
    if type(node.this).__name__ != "Identifier":
        raise Unsupported("FROM takes a table, not a function", hint=meant("", _names(tables)), place=place)
    check_alias(text, None if alias is None else alias.this)
    for table in tables:
        if table.name.casefold() == node.name.casefold():
            called = node.alias or table.name
            return Scope(text, table, frozenset({called.casefold()}))
    raise UnknownTable(f"no table here is called {node.name!r}", hint=meant(node.name, _names(tables)), place=place)


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


def _names(tables: Sequence[Table]) -> list[str]:
    """What the tables are called."""
    return [table.name for table in tables]
