"""Joins: bringing relations together so that every row still belongs to one unit.

Private relations meet along the unit: where columns of one entity are equal, the unit's id or the two ends of a
declared link. A public relation may join anything, as long as something in the question says which of its rows. EXISTS,
IN (SELECT …) and their negations are semi and anti joins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call, conjunction
from discreet.query.sql.binder import RowBinder, is_grouped
from discreet.query.sql.scopes import Facts, Item, Scope, SelectContext, Source
from discreet.query.sql.with_clause import Common

if TYPE_CHECKING:
    from sqlglot import exp

Read: TypeAlias = "Callable[[SelectContext, exp.Select, Common, Scope], Source]"
"""Reads the FROM and WHERE of a SELECT that may look at columns of the one around it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation with the names its columns have in one SELECT.

    Args:
        relation: the rows.
        items: the names; more than one, once relations were joined.
    """

    relation: ir.Relation
    items: tuple[Item, ...]

    @property
    def is_private(self) -> bool:
        """Whether its rows belong to units."""
        return ir.owner_of(self.relation) is not None

    @property
    def called(self) -> str:
        """Its name in errors."""
        return self.items[0].called

    def names(self) -> set[tuple[str, str]]:
        """Its columns, by alias and name."""
        return {(column.table, column.name) for item in self.items for column in item.columns.values()}


def gathered(parts: Sequence[Rows], conditions: Collection[ir.Expr], facts: Facts) -> tuple[Rows, list[ir.Expr]]:
    """All parts, joined where the conditions connect them, whatever the order they are written in.

    Returns:
        The joined rows, and the conditions that no join uses.

    Raises:
        Unsupported: parts that nothing connects, or private ones that don't meet along the unit.
    """
    left, waiting = list(conditions), list(parts[1:])
    joined = parts[0]
    equal = Equalities(conditions)
    while waiting:
        following = next((part for part in waiting if _connected(joined, part, left, equal, facts)), None)
        if following is None:
            raise _unconnected(joined, waiting[0])
        waiting.remove(following)
        both = joined.names() | following.names()
        used = [each for each in left if _spans(each, joined, following, both)]
        left = [each for each in left if each not in used]
        joined = _inner(joined, following, used, facts)
    order = {id(item): place for place, item in enumerate(item for part in parts for item in part.items)}
    return replace(joined, items=tuple(sorted(joined.items, key=lambda item: order[id(item)]))), left


def one_sided(  # noqa: PLR0913 — a join has this many parts
    left: Rows, right: Rows, kind: ir.JoinKind, conditions: Collection[ir.Expr], facts: Facts, *, word: str
) -> Rows:
    """LEFT, SEMI and ANTI: the rows of the left side, with or without partners.

    Raises:
        Unsupported: the left side is public and the right one private, so that rows of no unit would depend on a unit;
            private sides that aren't joined on the unit; or conditions on columns of neither side.
    """
    both = left.names() | right.names()
    if not all((column.table, column.name) in both for each in conditions for column in ir.columns_in(each)):
        raise Unsupported(
            f"a condition of this {word} names a column of neither side",
            hint="put conditions that aren't about these two into WHERE",
            at=right.items[0].at,
        )
    if right.is_private and not left.is_private:
        raise Unsupported(
            f"{word} would keep rows of the public table {left.called!r} because of private rows",
            hint="put the private table first, or use an inner join",
        )
    equal = Equalities(conditions)
    if left.is_private and right.is_private and not _along_unit(left, right, equal, facts):
        raise _apart(left, right)
    if kind is ir.JoinKind.LEFT:
        _check_single(left, right, conditions, facts)
        _note_unique(left, right, conditions, facts)
    predicate = conjunction(conditions)
    relation = ir.Join(left.relation, right.relation, kind, predicate)
    if not kind.has_both_sides:
        return Rows(relation, left.items)
    return Rows(relation, (*left.items, *(_optional(item, facts) for item in right.items)))


class Equalities:
    """The columns that conditions make equal, directly or by way of others."""

    def __init__(self, conditions: Iterable[ir.Expr]) -> None:
        self._classes: list[set[ir.Column]] = []
        for pair in map(_equal_pair, conditions):
            if pair is not None:
                touched = [each for each in self._classes if each & pair]
                self._classes = [each for each in self._classes if not each & pair]
                self._classes.append(pair.union(*touched))

    def __iter__(self) -> Iterator[set[ir.Column]]:
        return iter(self._classes)


def _equal_pair(condition: ir.Expr) -> set[ir.Column] | None:
    """The two columns of `a = b`."""
    match condition:
        case ir.Call(function=ir.Function(name="eq"), args=(ir.Column() as a, ir.Column() as b)):
            return {a, b}
        case _:  # it says something else
            return None


def _inner(left: Rows, right: Rows, used: Sequence[ir.Expr], facts: Facts) -> Rows:
    """An inner join; the private side stands left."""
    if right.is_private and not left.is_private:
        left, right = right, left
    _check_single(left, right, used, facts)
    _note_unique(left, right, used, facts)
    relation = ir.Join(left.relation, right.relation, ir.JoinKind.INNER, conjunction(used))
    return Rows(relation, (*left.items, *right.items))


def _connected(left: Rows, right: Rows, conditions: Iterable[ir.Expr], equal: Equalities, facts: Facts) -> bool:
    """Whether two relations can be joined: along the unit, if both are private."""
    if left.is_private and right.is_private:
        return _along_unit(left, right, equal, facts)
    both = left.names() | right.names()
    if any(_spans(each, left, right, both) for each in conditions):
        return True
    return any(_any_of(each, left) and _any_of(each, right) for each in equal)


def _any_of(equals: set[ir.Column], rows: Rows) -> bool:
    """Whether one of the columns belongs to the rows."""
    names = rows.names()
    return any((column.table, column.name) in names for column in equals)


def _spans(condition: ir.Expr, left: Rows, right: Rows, both: set[tuple[str, str]]) -> bool:
    """Whether a condition needs both sides, and nothing else."""
    needed = {(column.table, column.name) for column in ir.columns_in(condition)}
    return needed <= both and bool(needed & left.names()) and bool(needed & right.names())


def _along_unit(left: Rows, right: Rows, equal: Equalities, facts: Facts) -> bool:
    """Whether equal columns make sure that the units are equal."""
    ours, theirs = left.names(), right.names()
    for each in equal:
        mine = {facts.entity(column) for column in each if (column.table, column.name) in ours}
        yours = {facts.entity(column) for column in each if (column.table, column.name) in theirs}
        if (mine & yours) - {None}:
            return True
    return False


def _check_single(left: Rows, right: Rows, conditions: Collection[ir.Expr], facts: Facts) -> None:
    """Where each row is a unit of its own, no join may make several rows of one.

    Raises:
        Unsupported: nothing declared says that a row has at most one partner.
    """
    owner = ir.owner_of(left.relation)
    if owner is None or not owner.unit.is_row or _has_one_partner(left, right, conditions, facts):
        return
    raise Unsupported(
        f"each row of {left.called!r} is a unit of its own, and may have several partners in {right.called!r}",
        hint="join a column that the public table declares as unique",
        at=right.items[0].at,
    )


def _note_unique(left: Rows, right: Rows, conditions: Collection[ir.Expr], facts: Facts) -> None:
    """Forget what was unique on a side whose rows may have several partners: a join has each of them several times."""
    sides = (left, right), (right, left)
    for side in [one for one, other in sides if not _has_one_partner(one, other, conditions, facts)]:
        facts.unique -= side.names()


def _has_one_partner(one: Rows, other: Rows, conditions: Iterable[ir.Expr], facts: Facts) -> bool:
    """Whether a row of one side has at most one partner in the other, by a column that is unique there."""
    ours, theirs = one.names(), facts.unique & other.names()
    pairs = ({(column.table, column.name) for column in pair} for pair in map(_equal_pair, conditions) if pair)
    return any(names & ours and names & theirs for names in pairs)


def _optional(item: Item, facts: Facts) -> Item:
    """The columns of a right side: NULL where there is no partner, so they can't say whose a row is."""
    for column in item.columns.values():
        facts.entities.pop((column.table, column.name), None)
    optional = {
        name: ir.Column(column.table, column.name, replace(column.type, nullable=True, hidden=False))
        for name, column in item.columns.items()
    }
    return Item(item.called, optional, item.merged, item.at, item.schema)


def _unconnected(left: Rows, right: Rows) -> Unsupported:
    """The error for relations that nothing connects."""
    if left.is_private and right.is_private:
        return _apart(left, right)
    return Unsupported(
        f"nothing says which rows of {right.called!r} belong to a row of {left.called!r}",
        hint="join them on a column: JOIN … ON a.x = b.y",
        at=right.items[0].at,
    )


def _apart(left: Rows, right: Rows) -> Unsupported:
    """The error for private relations that don't meet along the unit."""
    return Unsupported(
        f"private tables are joined on the unit, and this doesn't say that rows of {left.called!r} and "
        f"{right.called!r} belong to the same one",
        hint="join on the unit's id, or on a declared link",
        at=right.items[0].at,
    )


@dataclass(frozen=True, slots=True)
class SemiJoins:
    """Reads the subqueries in one WHERE.

    Args:
        context: of the question.
        common: what WITH defines here.
        scope: of the SELECT around.
        read: reads the rows of a subquery.
    """

    context: SelectContext
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
        joined = one_sided(left, right, kind, conditions, self.context.facts, word=word).relation
        if value is not None and negated and value.type.nullable:  # NULL NOT IN (…) isn't true
            return ir.Where(joined, call("not", call("is_null", value)))
        return joined

    def _existing(self, query: exp.Query) -> tuple[Rows, list[ir.Expr]]:
        """The rows of EXISTS, and how they belong to those outside."""
        if type(query).__name__ != "Select" or is_grouped(cast("exp.Select", query)):
            raise Unsupported("EXISTS takes a plain SELECT", hint="x IN (SELECT … GROUP BY …) takes groups")
        source = self.read(self.context, cast("exp.Select", query), self.common, self.scope)
        return Rows(source.relation, tuple(source.scope.items)), list(source.correlated)

    def _listed(self, query: exp.Query, value: ir.Expr, *, negated: bool) -> tuple[Rows, list[ir.Expr]]:
        """The rows of IN (SELECT …), and how they belong to those outside."""
        if type(query).__name__ == "Select" and not is_grouped(cast("exp.Select", query)):
            source = self.read(self.context, cast("exp.Select", query), self.common, self.scope)
            outputs = cast("exp.Select", query).expressions
            if len(outputs) != 1:
                raise TypeMismatch("IN takes a subquery of one column")
            found = RowBinder(source.scope, "a subquery")(outputs[0].unalias())
            rows, conditions = Rows(source.relation, tuple(source.scope.items)), list(source.correlated)
        else:
            derived = self.context.derive(query, self.common)
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
