"""Join elimination: where a question joins along the link that says whose a row is, its owner isn't looked up before.

    items JOIN orders ON items.order_id = orders.id

An item belongs to the owners of all orders with its number. Joined with one of these orders, within one unit, it
belongs to the owner of that order. Looking up all owners of an item, to compare them with the order's, gives the same
rows. So that lookup is left out, and with it a join of all rows. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.engine.predicates import about, equal_columns, filtered, part, parts, visible
from discreet.query.ir import Exact, Expr, Join, JoinKind, Relation, Scan, Union, Where, owner_of
from discreet.tables import Owner, Table


def eliminate_owner_joins(exact: Exact) -> Exact:
    """The same question, without lookups of owners that a join makes anyway."""
    return replace(exact, source=_Elimination().of(exact.source))


class _Elimination:
    """One pass from the leaves up; a relation that is used several times is rewritten once."""

    def __init__(self) -> None:
        """Nothing is rewritten yet."""
        self._done: dict[int, Relation] = {}

    def of(self, relation: Relation) -> Relation:
        """The relation, without lookups wherever that leads to the same rows."""
        if id(relation) not in self._done:
            self._done[id(relation)] = self._rewritten(relation)
        return self._done[id(relation)]

    def _rewritten(self, relation: Relation) -> Relation:
        """The relation on rewritten ones."""
        match relation:
            case Scan():
                return relation
            case Join(left=left, right=right):
                return _without_lookup(replace(relation, left=self.of(left), right=self.of(right)))
            case Union(parts=united):
                return replace(relation, parts=tuple(replace(each, source=self.of(each.source)) for each in united))
            case _:
                return replace(relation, source=self.of(relation.source))  # type: ignore[arg-type]  # of the kind it was


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

    There, what is still said of all columns is a filter. A unit's rows may make many pairs with public ones, which can
    be limited only where rows tell whose they are.
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
        case _:
            return None


def _instead(relation: Relation, joined: Join) -> Relation:
    """The relation with a join in place of the scan of its private table."""
    match relation:
        case Scan():
            return joined
        case Where(source=source):
            return replace(relation, source=_instead(source, joined))
        case Join(left=left) if _private_side(relation) == "left":
            return replace(relation, left=_instead(left, joined))
        case Join(right=right):
            return replace(relation, right=_instead(right, joined))
        case _:
            raise TypeError


def _goes_along(predicate: Expr, scan: Scan, target: Scan) -> bool:
    """Whether rows are joined where the first link to their owner leads, and the rest of the way is the same."""
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
