"""Rewrites: the same question, put so that it costs less. Pure.

Join elimination: where a question joins along the link that says whose a row is, the owner needs no lookup of its own.

    items JOIN orders ON items.order_id = orders.id

An item belongs to the owners of all orders with its number. Joined with one of these orders, within one unit, it
belongs to the owner of that order. Looking up all owners of an item, to compare them with the order's, gives the same
rows. So that lookup is left out, and with it a join of all rows.

Where admission noted beside each row whose it is, it is the other way round: the item says it, and the order needn't.
Of its numbers each must be there once, or else an item would meet orders of others.

Predicate pushdown: filters go below the joins they stand above, so that rows they leave out are never joined. Engines
do that themselves, but not across tables that are made in between, as a limit on joins takes: there, rows of a unit
that no answer needs would count among its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from discreet.errors import unforeseen
from discreet.query.ir import (
    Call,
    Distinct,
    Exact,
    Expr,
    Join,
    JoinKind,
    PerUnit,
    Project,
    Relation,
    Scan,
    Union,
    Where,
    Window,
    columns_in,
    equal_columns,
    owner_of,
    visible,
)
from discreet.tables import Owner, Table


def about(aliases: frozenset[str]) -> Callable[[Expr], bool]:
    """Whether a condition mentions no columns but those of some aliases."""
    return lambda condition: aliases.issuperset(column.table for column in columns_in(condition))


def parts(predicates: Sequence[Expr], belongs: Callable[[Expr], bool]) -> list[Expr]:
    """The conditions of some kind in predicates."""
    return [kept for each in predicates if (kept := part(each, belongs)) is not None]


def part(predicate: Expr, belongs: Callable[[Expr], bool]) -> Expr | None:
    """The conditions of some kind in a predicate: all of it, or fewer of those that AND brings together."""
    if not isinstance(predicate, Call) or predicate.function.name != "and":
        return predicate if belongs(predicate) else None
    kept = parts(predicate.args, belongs)
    return replace(predicate, args=tuple(kept)) if len(kept) > 1 else next(iter(kept), None)


def filtered(relation: Relation, predicates: Sequence[Expr]) -> Relation:
    """A relation under filters."""
    for each in predicates:
        relation = Where(relation, each)
    return relation


class _Pass:
    """One pass over a question's relations; what is used several times is rewritten once."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Relation, Relation]] = {}

    def of(self, relation: Relation) -> Relation:
        """The relation on rewritten ones."""
        if id(relation) not in self._done:
            self._done[id(relation)] = relation, self._rewritten(relation)
        return self._done[id(relation)][1]

    def _rewritten(self, relation: Relation) -> Relation:
        """The relation as it is, on rewritten ones."""
        match relation:
            case Scan():
                return relation
            case Join(left=left, right=right):
                return replace(relation, left=self.of(left), right=self.of(right))
            case Union(parts=united):
                return replace(relation, parts=tuple(replace(each, source=self.of(each.source)) for each in united))
            case Where() | Project() | Distinct() | PerUnit() | Window():
                return replace(relation, source=self.of(relation.source))  # type: ignore[arg-type]  # of the kind it was
            case _:
                raise unforeseen(relation)


def push_filters_down(exact: Exact) -> Exact:
    """The same question, its filters as far down in joins as they go."""
    return replace(exact, source=_Pushdown().of(exact.source))


class _Pushdown(_Pass):
    """Filters go down. A relation used several times is rewritten once, as long as nothing is pushed into it."""

    def _rewritten(self, relation: Relation) -> Relation:
        """The relation, its filters further down."""
        return self._below(relation, ()) if isinstance(relation, (Where, Join)) else super()._rewritten(relation)

    def _below(self, relation: Relation, filters: Sequence[Expr]) -> Relation:
        """A relation under filters, which are brought as far down as its kind lets them through.

        A filter on one side alone may be applied to that side first: to the left side above any join, since each of its
        rows comes with its own values or not at all; to the right side above an inner join, and in the condition of
        every join, where it says which rows can be partners.
        """
        match relation:
            case Where(source=source, predicate=predicate):
                return self._below(source, (predicate, *filters))
            case Join(left=left, right=right, kind=kind, predicate=predicate):
                on_left, on_right = about(visible(left)), about(visible(right))
                rest = parts(filters, lambda each: not on_left(each))
                if kind is JoinKind.INNER:
                    theirs, rest = parts(rest, on_right), parts(rest, lambda each: not on_right(each))
                else:
                    theirs = []
                theirs += parts([] if predicate is None else [predicate], on_right)
                joined = replace(
                    relation,
                    left=self._below(left, parts(filters, on_left)),
                    right=self._below(right, theirs),
                    predicate=None if predicate is None else part(predicate, lambda each: not on_right(each)),
                )
                return filtered(joined, rest)
            case Scan() | Project() | Union() | Distinct() | PerUnit() | Window():
                return filtered(self.of(relation), filters)
            case _:
                raise unforeseen(relation)


def eliminate_owner_joins(exact: Exact) -> Exact:
    """The same question, without lookups of owners that a join makes anyway."""
    return replace(exact, source=_Elimination(_without_lookup).of(exact.source))


def follow_noted_links(exact: Exact, is_unique: Callable[[Table, str], bool]) -> Exact:
    """The same question, of rows beside which it is noted whose they are: along a link, one side alone has to say it.

    Args:
        exact: the question.
        is_unique: whether each value is once in a column of a table, as far as rows can meet.
    """
    return replace(exact, source=_Elimination(partial(_without_units, is_unique=is_unique)).of(exact.source))


class _Elimination(_Pass):
    """What joins along links make superfluous goes, if the rows stay the same.

    Args:
        simplified: makes a join simpler.
    """

    def __init__(self, simplified: Callable[[Join], Relation]) -> None:
        super().__init__()
        self._simplified = simplified

    def _rewritten(self, relation: Relation) -> Relation:
        """The relation on rewritten ones, and simpler."""
        rewritten = super()._rewritten(relation)
        return self._simplified(rewritten) if isinstance(rewritten, Join) else rewritten


def _without_units(join: Join, is_unique: Callable[[Table, str], bool]) -> Relation:
    """The join without the units of the rows that a link leads to, each of which is the one with its number."""
    for linked, entered in ((join.left, join.right), (join.right, join.left)):
        scan, target = _private_scan(linked), _private_scan(entered)
        if scan is None or target is None:
            continue
        number = _number_of(join.predicate, scan, target)
        if number is not None and is_unique(target.table, number):
            unowned = _instead(entered, replace(target, owner=None))
            if entered is join.right:
                return replace(join, right=unowned)
            if join.kind is JoinKind.INNER:
                return replace(join, left=unowned)
    return join


def _number_of(predicate: Expr | None, scan: Scan, target: Scan) -> str | None:
    """The column of a table that says which of its rows the other's belong to, if a join goes along it; else None.

    It is the one that a link leads to, or the id of the unit itself.
    """
    if scan.owner is None or target.owner is None:
        return None
    if scan.owner.hops:
        return scan.owner.hops[0].to if _goes_along(predicate, scan, target) else None
    own, other = scan.owner.unit, target.owner.unit
    if target.owner.hops or own.column is None or other.column is None or own.at is not None or other.at is not None:
        return None
    ends = {(scan.alias, own.column.casefold()), (target.alias, other.column.casefold())}
    is_read_alike = _is_read_alike(scan.table, own.column) and _is_read_alike(target.table, other.column)
    return other.column if is_read_alike and any(set(pair) == ends for pair in equal_columns(predicate)) else None


def _without_lookup(join: Join) -> Relation:
    """The join, with the owners of one side left to the other, if it goes along a link."""
    if join.kind is not JoinKind.INNER or join.predicate is None:
        return join
    for side, other in ((join.left, join.right), (join.right, join.left)):
        scan, target = _private_scan(side), _private_scan(other)
        if scan is not None and target is not None and _goes_along(join.predicate, scan, target):
            return _joined_below(side, scan, other, join.predicate)
    return join


def _joined_below(side: Relation, scan: Scan, other: Relation, predicate: Expr) -> Relation:
    """A private side joined with the other one where its scan stands, below its joins with public tables.

    There, conditions on all columns are a filter. A unit's rows may make many pairs with public ones, which can be
    limited only where rows tell whose they are.
    """
    here = about(visible(scan) | visible(other))
    joined = Join(replace(scan, owner=None), other, JoinKind.INNER, part(predicate, here))
    return filtered(_instead(side, joined), parts([predicate], lambda each: not here(each)))


def _private_side(join: Join) -> str | None:
    """Which side of a join is the private one, if only one is."""
    left, right = (owner_of(side) is not None for side in (join.left, join.right))
    return None if left == right else "left" if left else "right"


def _private_scan(relation: Relation) -> Scan | None:
    """The private table whose rows these are, filtered or joined with public ones, but not computed with."""
    match relation:
        case Scan(owner=owner):
            return None if owner is None else relation
        case Where(source=source):
            return _private_scan(source)
        case Join():
            side = _private_side(relation)
            return None if side is None else _private_scan(getattr(relation, side))
        case Project() | Union() | Distinct() | PerUnit() | Window():
            return None
        case _:
            raise unforeseen(relation)


def _instead(relation: Relation, joined: Relation) -> Relation:
    """The relation with another in place of the scan of its private table."""
    match relation:
        case Scan():
            return joined
        case Where(source=source):
            return replace(relation, source=_instead(source, joined))
        case Join(left=left) if _private_side(relation) == "left":
            return replace(relation, left=_instead(left, joined))
        case Join(right=right):
            return replace(relation, right=_instead(right, joined))
        case Project() | Union() | Distinct() | PerUnit() | Window():
            raise TypeError("a private scan stands below filters and joins alone")
        case _:
            raise unforeseen(relation)


def _goes_along(predicate: Expr | None, scan: Scan, target: Scan) -> bool:
    """Whether a join follows the first link to the rows' owner, and the rest of the way is the same."""
    if scan.owner is None or not scan.owner.hops:
        return False
    hop, *further = scan.owner.hops
    ends = {(scan.alias, hop.column.casefold()), (target.alias, hop.to.casefold())}
    return (
        hop.table == target.table
        and target.owner == Owner(scan.owner.unit, tuple(further))
        and _is_read_alike(scan.table, hop.column)
        and _is_read_alike(hop.table, hop.to)
        and any(set(pair) == ends for pair in equal_columns(predicate))
    )


def _is_read_alike(table: Table, name: str) -> bool:
    """Whether a column holds, for the question, the very values by which owners are found.

    Not within bounds, which move values, but leave ids out.
    """
    return table.column(name).bounds is None
