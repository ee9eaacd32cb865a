"""The WITH clause: subqueries that have a name, each read once and used any number of times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from discreet.errors import Unsupported
from discreet.query import ir

if TYPE_CHECKING:
    from sqlglot import exp

Common: TypeAlias = "Mapping[str, CommonTable]"
"""The subqueries that WITH defines, by name in lower case."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A subquery's rows, with its columns by the names it gives them."""

    relation: ir.Relation
    columns: tuple[tuple[str, ir.Column], ...]


class Derive(Protocol):
    """Reads a subquery; handed in, because subqueries have FROM clauses of their own."""

    def __call__(self, query: exp.Query, common: Common) -> Derived:
        """The subquery's rows and columns."""
        ...


@dataclass(slots=True)
class CommonTable:
    """A subquery that WITH names: read once, and used any number of times."""

    query: exp.Query
    common: Common
    names: tuple[str, ...]
    derived: Derived | None = None
    used: bool = False


def common_of(query: exp.Query, common: Common) -> Common:
    """The subqueries that a query may use: those of its own WITH, and those defined around it."""
    clause = query.args.get("with_")
    if clause is None:
        return common
    if clause.args.get("recursive"):
        raise Unsupported("WITH RECURSIVE isn't supported: how often it repeats would depend on the rows")
    known = dict(common)
    for each in clause.expressions:
        alias = each.args["alias"]
        names = tuple(column.name for column in alias.args.get("columns") or ())
        known[alias.this.name.casefold()] = CommonTable(each.this, dict(known), names)
    return known
