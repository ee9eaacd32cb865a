"""Binding: from syntax to typed expressions, over rows or over released values.

A `RowBinder` knows columns and refuses aggregates; an `AnswerBinder` knows released keys and aggregates and refuses
columns, because a column outside both would release a row's own value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from discreet.errors import QueryError, TypeMismatch, UngroupedColumn, Unsupported
from discreet.query import ir
from discreet.query.ir import grouping
from discreet.query.sql.aggregate_syntax import is_aggregate, is_margin
from discreet.query.sql.margins import margin
from discreet.query.sql.places import offset_of
from discreet.query.sql.refusals import refusal, said, unknown_part
from discreet.query.sql.scalar_syntax import SCALAR_SYNTAX
from discreet.query.sql.scopes import Scope

if TYPE_CHECKING:
    from sqlglot import exp


MOST_DEPTH = 60
"""How deep an expression may be nested; AND, OR and || of many count as one."""

MOST_WEIGHT = 5_000
"""How many function calls an expression may compile to."""

MOST_TOTAL = 10_000
"""How many function calls all expressions over rows may compile to."""

_WHY = {
    "WHERE": "WHERE sees rows, before anything is counted: put conditions on aggregates into HAVING",
    "GROUP BY": "groups are made of rows, before anything is counted",
    "another aggregate": "take the inner one out, or ask two questions",
}

Weights: TypeAlias = dict[int, tuple[ir.Expr, int]]


class RowBinder:
    """Binds expressions over the rows of a table."""

    def __init__(self, scope: Scope, clause: str) -> None:
        """Bind names in `scope`; `clause` says in errors where aggregates were met."""
        self.scope = scope
        self._clause = clause
        self._depth = 0
        self._weights: Weights = {}
        self._known: dict[int, ir.Expr | QueryError] = {}

    def __call__(self, node: exp.Expression | None) -> ir.Expr:
        """The expression that a syntax node means.

        Raises:
            QueryError: it means nothing here, or there is none; with the place.
        """
        if node is None:
            raise TypeMismatch("an argument is missing here")
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._guarded(node)
        if isinstance(known, QueryError):
            raise known
        return known

    def _guarded(self, node: exp.Expression) -> ir.Expr | QueryError:
        """The expression, if it is neither too deep nor too large; or the error, with its place."""
        self._depth += 1
        try:
            if self._depth > MOST_DEPTH:
                raise Unsupported(f"an expression may be nested at most {MOST_DEPTH} deep")
            expr = self._bound(node)
            if weight(expr, self._weights) > MOST_WEIGHT:
                raise Unsupported("this expression is too large", hint="ask several smaller questions")
        except QueryError as error:
            if error.at is None:
                error.at = offset_of(node)
            return error
        finally:
            self._depth -= 1
        return expr

    def _bound(self, node: exp.Expression) -> ir.Expr:
        """The expression, without safeguards."""
        name = type(node).__name__
        if name == "Column":
            return self._column(node)  # type: ignore[arg-type]  # by its name
        if is_aggregate(node):
            return self._aggregate(node)
        syntax = SCALAR_SYNTAX.get(name)
        if syntax is None:
            raise refusal(node)
        for part, value in node.args.items():
            if value and part not in syntax.parts:
                raise unknown_part(node, part, value)
        try:
            return syntax.build(node, self)
        except QueryError as error:
            if error.at is None:
                error.called = error.called or said(node)
            raise

    def _column(self, node: exp.Column) -> ir.Expr:
        """A column of the row."""
        if type(node.this).__name__ == "Star":
            raise refusal(node.this)
        return self.scope.column(node)

    def _aggregate(self, _node: exp.Expression) -> ir.Expr:
        """Rows have no aggregates."""
        raise Unsupported(f"an aggregate can't be used in {self._clause}", hint=_WHY.get(self._clause, ""))


def weight(expr: ir.Expr, known: Weights) -> int:
    """How many calls an expression compiles to, repetitions included.

    Args:
        expr: any.
        known: weights found before, kept with their expressions so that no other one gets the same identity.
    """
    if not isinstance(expr, ir.Call):
        return 1
    found = known.get(id(expr))
    if found is None:
        size = 1 + expr.function.copies * sum(weight(arg, known) for arg in expr.args)
        found = known[id(expr)] = (expr, size)
    return found[1]


def check_total(exprs: Iterable[ir.Expr | None]) -> None:
    """Refuse a question that compiles to too much, in all its expressions over rows together.

    Raises:
        Unsupported: it does.
    """
    known: Weights = {}
    if sum(weight(expr, known) for expr in exprs if expr is not None) > MOST_TOTAL:
        raise Unsupported("this question is too large", hint="ask several smaller ones")


def holds_aggregate(node: exp.Expression) -> bool:
    """Whether there is an aggregate in the node, outside windows and subqueries."""
    from sqlglot import exp

    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, (exp.Window, exp.Query)):
            continue
        if isinstance(part, exp.AggFunc) or is_aggregate(part):
            return True
        stack.extend(part.iter_expressions())
    return False


def makes_groups(select: exp.Select) -> bool:
    """Whether a SELECT aggregates."""
    clauses = ("group", "having", "qualify", "distinct")
    return any(select.args.get(clause) for clause in clauses) or any(map(holds_aggregate, select.expressions))


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT makes groups, or anything else of its rows than rows."""
    return makes_groups(select) or any(select.args.get(clause) for clause in ("limit", "offset"))


class Entered(Protocol):
    """Takes aggregates in, and says what expressions above them refer to."""

    def released(self, node: exp.Expression) -> ir.Expr:
        """The name of an aggregate's value."""
        ...


class AnswerBinder(RowBinder):
    """Binds expressions over keys and aggregates: released ones, or those of one unit in a subquery."""

    def __init__(
        self,
        scope: Scope,
        keys: Mapping[ir.Expr, ir.Expr],
        aggregates: Entered,
        aliases: Mapping[str, ir.Expr],
        items: Mapping[str, exp.Expression] | None = None,
    ) -> None:
        """Bind over these.

        Args:
            scope: of the rows underneath.
            keys: grouping expressions over rows, with what stands for them.
            aggregates: those met so far; new ones are entered.
            aliases: names of the answer's columns, in lower case, that hide columns; empty within SELECT itself.
            items: the nodes of the answer's columns, by the same names, for those who ask how far noise carried them;
                None in a subquery, where there is no noise.
        """
        super().__init__(scope, "this place")
        self._keys = keys
        self._aggregates = aggregates
        self._aliases = aliases
        self._items = items
        self._naming = False
        self._rows = RowBinder(scope, "this place")

    def _bound(self, node: exp.Expression) -> ir.Expr:
        """A key as a whole if it is one, else from its parts."""
        if self._items is not None and is_margin(node):
            return margin(node, self._measured)
        item = self._item(node)
        if item is not None:
            return item
        if type(node).__name__ == "Grouping":
            return self._grouping(node)
        alias = self._alias(node)
        if alias is not None:
            return alias
        key = self._key(node)
        return super()._bound(node) if key is None else key

    def _measured(self, node: exp.Expression) -> ir.Expr:
        """An expression in which aliases mean the answer's columns, in whatever order SELECT has them."""
        self._naming = True
        try:
            return self(node)
        finally:
            self._naming = False

    def _item(self, node: exp.Expression) -> ir.Expr | None:
        """The answer's column that a margin's argument names."""
        is_name = type(node).__name__ == "Column" and not node.args.get("table")
        item = (self._items or {}).get(node.name.casefold()) if self._naming and is_name else None
        if item is None:
            return None
        self._naming = False  # within the column itself, names mean what they always do
        try:
            return self(item)
        finally:
            self._naming = True

    def _grouping(self, node: exp.Expression) -> ir.Expr:
        """GROUPING(key): whether the grouping set at hand leaves the key out."""
        keys = [self._key(part) for part in node.expressions]
        if len(keys) != 1 or not isinstance(keys[0], ir.Released):
            raise Unsupported("GROUPING takes one of the keys of GROUP BY")
        return grouping(keys[0].name)

    def _alias(self, node: exp.Expression) -> ir.Expr | None:
        """The answer's column that the node names."""
        if type(node).__name__ != "Column" or node.args.get("table"):
            return None
        return self._aliases.get(node.name.casefold())

    def _key(self, node: exp.Expression) -> ir.Expr | None:
        """The released key that the node is as a whole."""
        if not self._keys or type(node).__name__ in {"Literal", "Null", "Boolean", "Paren"}:
            return None
        try:
            return self._keys.get(self._rows(node))
        except QueryError:  # it holds an aggregate, or is no expression over rows for another reason
            return None

    def _column(self, node: exp.Column) -> ir.Expr:
        """A column that isn't a key."""
        found = super()._column(node)
        if not isinstance(found, ir.Column):
            return found
        raise UngroupedColumn(
            f"column {found.name!r} is neither in GROUP BY nor inside an aggregate, "
            "so a row's own value would be released",
            hint=f"GROUP BY {found.name}, or aggregate it: COUNT({found.name})",
        )

    def _aggregate(self, node: exp.Expression) -> ir.Expr:
        """An aggregate, entered once."""
        return self._aggregates.released(node)
