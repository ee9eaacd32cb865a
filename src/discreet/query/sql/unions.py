"""UNION ALL: the rows of several SELECTs one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import alike, hull
from discreet.query.sql.names import Names
from discreet.query.sql.reader import Derived, Reader

if TYPE_CHECKING:
    from sqlglot import exp


def united(union: exp.Union, reader: Reader, read: Callable[[exp.Query], Derived]) -> Derived:
    """UNION ALL of several SELECTs.

    Args:
        union: the whole chain.
        reader: of the question.
        read: reads one part.

    Raises:
        Unsupported: the parts have different units, or one row would count twice where rows are units.
        TypeMismatch: their columns don't go together.
    """
    if union.args.get("distinct"):
        raise Unsupported("UNION would drop rows that are equal to somebody else's", hint="UNION ALL keeps them")
    if any(value and part not in {"this", "expression", "distinct", "with_"} for part, value in union.args.items()):
        raise Unsupported("ORDER BY and LIMIT can't be used on a UNION")
    parts = [read(query) for query in _members(union)]
    width = len(parts[0].columns)
    if any(len(part.columns) != width for part in parts):
        raise TypeMismatch("all parts of a UNION have the same number of columns")
    owners = [ir.owner_of(part.relation) for part in parts]
    if len({owner is None for owner in owners}) > 1:
        raise Unsupported("a UNION of private and public rows would make units of public rows")
    _check_rows(parts)
    aligned = [alike("UNION", tuple(part.columns[n][1] for part in parts)) for n in range(width)]
    alias, names = reader.aliases.take("subquery"), Names()
    typed = tuple((names.take(parts[0].columns[n][0]), _covering(aligned[n])) for n in range(width))
    projected = tuple(
        ir.Project(
            part.relation,
            reader.aliases.take("subquery"),
            tuple((name, aligned[n][place]) for n, (name, _) in enumerate(typed)),
        )
        for place, part in enumerate(parts)
    )
    facts = reader.facts
    for n, (name, _) in enumerate(typed):
        entities = {facts.entity(part.columns[n][1]) for part in parts}
        entity = entities.pop() if len(entities) == 1 else None
        if entity is not None:
            facts.entities[(alias, name)] = entity
    held = tuple((name, ir.Column(alias, name, type_)) for name, type_ in typed)
    return Derived(ir.Union(projected, alias, typed), held)


def _check_rows(parts: Sequence[Derived]) -> None:
    """Where rows are units, no row may come twice; nor may units of different kinds be put together.

    Raises:
        Unsupported: they do.
    """
    scans = [(scan.table, owner) for part in parts for scan in ir.scans(part.relation) if (owner := scan.owner)]
    if len({owner.signature(table) for table, owner in scans}) > 1:
        raise Unsupported("the parts of this UNION have different units")
    owners, tables = [owner for _, owner in scans], [table.name for table, _ in scans]
    if owners and owners[0].unit.is_row and len(set(tables)) < len(tables):
        raise Unsupported("each row is a unit of its own here, and this UNION would take it twice")


def _members(union: exp.Union) -> list[exp.Query]:
    """The SELECTs of a chain of UNION ALL; a long chain is a deep tree, so it is walked without recursion."""
    found: list[exp.Query] = []
    node: exp.Expression = union
    while (
        type(node).__name__ == "Union"
        and not node.args.get("distinct")
        and (node is union or not node.args.get("with_"))
    ):
        found.append(cast("exp.Query", node.expression))
        node = node.this
    found.append(cast("exp.Query", node))
    return found[::-1]


def _covering(columns: Sequence[ir.Expr]) -> ir.Type:
    """A type that holds the values of all these columns."""
    types = [column.type for column in columns]
    values = None
    if all(each.values is not None for each in types):
        values = tuple(dict.fromkeys(value for each in types for value in each.values or ()))
    lo, hi = hull(*((each.lo, each.hi) for each in types))
    return ir.Type(
        types[0].kind,
        lo,
        hi,
        nullable=any(each.nullable for each in types),
        values=values,
        hidden=all(each.hidden or not each.nullable for each in types),
    )
