"""Nesting: EXISTS and IN (SELECT …), or their negation, as semi and anti joins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.joins import Rows, one_sided
from discreet.query.sql.reader import Common, Reader, Source
from discreet.query.sql.scopes import Item, Scope
from discreet.query.sql.statistics import is_grouped

if TYPE_CHECKING:
    from sqlglot import exp

Read: TypeAlias = "Callable[[Reader, exp.Select, Common, Scope], Source]"
"""Reads the FROM and WHERE of a SELECT that may look at columns of the one around it."""


@dataclass(frozen=True, slots=True)
class Nesting:
    """Reads the subqueries in one WHERE.

    Args:
        reader: of the question.
        common: what WITH defines here.
        scope: of the SELECT around.
        read: reads the rows of a subquery.
    """

    reader: Reader
    common: Common
    scope: Scope
    read: Read

    def __call__(self, node: exp.Expression, relation: ir.Relation) -> ir.Relation:
        """EXISTS and IN (SELECT …), or their negation: a semi or anti join."""
        negated = type(node).__name__ == "Not"
        inner = _bare(node.this) if negated else node
        query = inner.this if type(inner).__name__ == "Exists" else inner.args["query"]
        query = query.this if type(query).__name__ == "Subquery" else query
        left = Rows(relation, tuple(self.scope.items))
        if type(inner).__name__ == "Exists":
            value, right, conditions = None, *self._existing(query)
        else:
            value = RowBinder(self.scope, "WHERE")(inner.this)
            right, conditions = self._listed(query, value, negated=negated)
        names = left.names() | right.names()
        if not all((column.table, column.name) in names for each in conditions for column in ir.columns_in(each)):
            raise Unsupported("a subquery sees the SELECT around it, and none further out")
        kind = ir.JoinKind.ANTI if negated else ir.JoinKind.SEMI
        word = f"{'NOT ' if negated else ''}{'EXISTS' if value is None else 'IN'}"
        joined = one_sided(left, right, kind, conditions, self.reader.facts, word=word).relation
        if value is not None and negated and value.type.nullable:  # NULL NOT IN (…) isn't true
            return ir.Where(joined, call("not", call("is_null", value)))
        return joined

    def _existing(self, query: exp.Query) -> tuple[Rows, list[ir.Expr]]:
        """The rows of EXISTS, and how they belong to those outside."""
        if type(query).__name__ != "Select" or is_grouped(cast("exp.Select", query)):
            raise Unsupported("EXISTS takes a plain SELECT", hint="x IN (SELECT … GROUP BY …) takes groups")
        source = self.read(self.reader, cast("exp.Select", query), self.common, self.scope)
        return Rows(source.relation, tuple(source.scope.items)), list(source.correlated)

    def _listed(self, query: exp.Query, value: ir.Expr, *, negated: bool) -> tuple[Rows, list[ir.Expr]]:
        """The rows of IN (SELECT …), and how they belong to those outside."""
        if type(query).__name__ == "Select" and not is_grouped(cast("exp.Select", query)):
            source = self.read(self.reader, cast("exp.Select", query), self.common, self.scope)
            outputs = cast("exp.Select", query).expressions
            if len(outputs) != 1:
                raise TypeMismatch("IN takes a subquery of one column")
            found = RowBinder(source.scope, "a subquery")(outputs[0].unalias())
            rows, conditions = Rows(source.relation, tuple(source.scope.items)), list(source.correlated)
        else:
            derived = self.reader.derive(query, self.common)
            if len(derived.columns) != 1:
                raise TypeMismatch("IN takes a subquery of one column")
            found = derived.columns[0][1]
            rows, conditions = Rows(derived.relation, (Item("a subquery", dict(derived.columns)),)), []
        if negated and found.type.nullable:
            raise Unsupported(
                "NOT IN is never true beside a NULL, and this subquery may have one",
                hint="add WHERE … IS NOT NULL to it, or write NOT EXISTS",
            )
        return rows, [*conditions, call("eq", value, found)]


def parts_of_and(node: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions of a chain of AND, in order; a long chain is a deep tree, so it is walked without recursion."""
    waiting = [node]
    while waiting:
        part = _bare(waiting.pop())
        if type(part).__name__ == "And":
            waiting += [part.args["expression"], part.args["this"]]
        else:
            yield part


def _bare(node: exp.Expression) -> exp.Expression:
    """The node without parentheses around it."""
    while type(node).__name__ == "Paren":
        node = node.this
    return node


def looks_inside(node: exp.Expression) -> bool:
    """Whether a condition is EXISTS or IN (SELECT …), or the negation of one."""
    inner = _bare(node.this) if type(node).__name__ == "Not" else node
    return type(inner).__name__ == "Exists" or (type(inner).__name__ == "In" and bool(inner.args.get("query")))
