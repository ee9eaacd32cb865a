"""Capability: what the engine demands of a question beforehand, as a matter of the plan alone.

A planner keeps to all of it. It is checked here as well, because an answer would be wrong otherwise, or would depend on
more of a unit than its limits allow.
"""

from __future__ import annotations

from discreet.errors import InvalidArgument
from discreet.query.ir import (
    DistinctValues,
    Exact,
    Histogram,
    Join,
    JoinKind,
    PerUnit,
    Relation,
    Scan,
    Sum,
    Units,
    Window,
    nodes,
    owner_of,
)
from discreet.tables import Kind

_GREATEST = 2**63 - 1
_WHOLE_GRIDS = range(-62, 63)
_REAL_GRIDS = range(-1022, 1023)
_FINEST = 62
"""A step of a histogram is 2^-62 at the finest: what a row counts must fit in 64 bits."""


def check_capability(exact: Exact) -> None:
    """Refuse what the engine can't carry out.

    Raises:
        InvalidArgument: units that can't be compared, rows that would belong to nobody or to several units, or
            integers beyond 64 bits.
    """
    unit = exact.owner.unit
    for measure in exact.measures:
        if isinstance(measure, Sum):
            _check_sum(measure)
        elif isinstance(measure, Histogram):
            _check_histogram(measure)
        elif isinstance(measure, DistinctValues) and measure.value.type.kind is Kind.REAL:
            raise InvalidArgument("different values of real numbers aren't counted")
        elif isinstance(measure, Units) and exact.keys and exact.limits.groups is None and not unit.is_row:
            raise InvalidArgument("units can't be counted in each group without a limit on groups")
    relations = list(nodes(exact.source))
    for join in (node for node in relations if isinstance(node, Join)):
        if owner_of(join.left) is None and owner_of(join.right) is not None and join.kind is not JoinKind.INNER:
            raise InvalidArgument("rows of a public table can't be kept, or left out, because of private ones")
    if unit.is_row:
        _check_rows_stay_apart(exact, relations)
    _check_units_compare(relations)


def _check_sum(measure: Sum) -> None:
    """Refuse a sum of which 64 bits a row can't hold what it adds, or whose step is out of reach."""
    grids = _REAL_GRIDS if measure.value.type.kind is Kind.REAL else _WHOLE_GRIDS
    if not -_GREATEST <= measure.lo <= measure.hi <= _GREATEST or measure.grid not in grids:
        raise InvalidArgument(
            f"the engine adds up integers of 64 bits, and {measure.lo} to {measure.hi} steps of 2^{measure.grid} "
            "don't fit",
            hint="tighter bounds, or a coarser grid",
        )


def _check_histogram(measure: Histogram) -> None:
    """Refuse a histogram whose counts or bins don't fit."""
    if not -_FINEST <= measure.grid <= 0:
        raise InvalidArgument(f"a histogram counts in steps of 2^0 to 2^-{_FINEST}, not 2^{measure.grid}")
    if measure.values is None and measure.value.type.kind is not Kind.INTEGER:
        raise InvalidArgument("a histogram without a list takes the numbers of its bins")


def _check_rows_stay_apart(exact: Exact, relations: list[Relation]) -> None:
    """Where each row is a unit, refuse what would bring two of them together, or count one of them twice."""
    private = [scan.table.name for scan in exact.scans if scan.owner is not None]
    together = any(isinstance(node, (PerUnit, Window)) and owner_of(node.source) is not None for node in relations)
    if together or len(set(private)) < len(private) or any(map(_is_of_private, relations)):
        raise InvalidArgument(
            "where each row is a unit of its own, no two rows can be brought together, and none can be used twice"
        )


def _is_of_private(relation: Relation) -> bool:
    """Whether it is a join of two private relations."""
    return isinstance(relation, Join) and None not in {owner_of(relation.left), owner_of(relation.right)}


def _check_units_compare(relations: list[Relation]) -> None:
    """Refuse private tables whose units are of several kinds, and links between columns of different kinds."""
    kinds = set()
    for scan in (node for node in relations if isinstance(node, Scan)):
        table, owner = scan.table, scan.owner
        if owner is None:
            continue
        for hop in owner.hops:
            if table.column(hop.column).kind is not hop.table.column(hop.to).kind:
                raise InvalidArgument(f"the link from {hop.column!r} leads to values of another kind")
            table = hop.table
        id_kind = None if owner.unit.column is None else table.column(owner.unit.column).kind
        kinds.add((id_kind, owner.unit.per))
    if len(kinds) > 1:
        raise InvalidArgument("the units of these tables are of different kinds")
