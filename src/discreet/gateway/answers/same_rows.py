"""Same rows: whether two questions are about the same rows, up to filters that only one of them has.

A question reads the columns that it uses and no others, so two questions about one table rarely have equal relations.
Their rows are the same if the relations have the same shape, and agree on every column that both have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from discreet.errors import unforeseen
from discreet.query import ir
from discreet.query.ir import conjuncts
from discreet.query.planner import Draft

_Named = TypeVar("_Named")


def extra_filters(new: ir.Relation, old: ir.Relation) -> list[ir.Expr] | None:
    """The filters that only the new question has; None if their rows differ in more than that."""
    (new_base, new_filters), (old_base, old_filters) = filters(new), filters(old)
    known, wanted = _by_text(old_filters), _by_text(new_filters)
    if not known.keys() <= wanted.keys() or merged(new_base, old_base) is None:
        return None
    return [part for text, part in wanted.items() if text not in known]


def conditions(draft: Draft) -> frozenset[str]:
    """The filters on top of the rows of a level, as hashes: an answer serves no question that lacks one of its own."""
    _, found = filters(draft.question.source)
    return frozenset(hashlib.sha256(text.encode()).hexdigest()[:16] for text in _by_text(found))


def _by_text(predicates: Sequence[ir.Expr]) -> dict[str, ir.Expr]:
    """The conditions that predicates consist of, by their canonical form."""
    return {str(part): part for each in predicates for part in conjuncts(each)}


def filters(relation: ir.Relation) -> tuple[ir.Relation, tuple[ir.Expr, ...]]:
    """The relation without the filters on top of it, and these filters."""
    found: list[ir.Expr] = []
    while isinstance(relation, ir.Where):
        found.append(relation.predicate)
        relation = relation.source
    return relation, tuple(found)


def reuse_key(source: ir.Relation) -> str:
    """The key under which answers are looked up for reuse: equal wherever one may follow from the other; a hash.

    It leaves out the columns that are used, and the filters on top.
    """
    return hashlib.sha256(_shape(filters(source)[0]).encode()).hexdigest()


def merged(one: ir.Relation, other: ir.Relation) -> ir.Relation | None:  # noqa: PLR0911 — one case for each kind
    """The relation with the columns of both; None if their rows aren't the same.

    Args:
        one: a relation.
        other: of the same tables, in the same declarations.
    """
    match one, other:
        case ir.Scan(), ir.Scan():
            same = (one.table, one.owner, one.alias) == (other.table, other.owner, other.alias)
            names = {*one.columns, *other.columns}
            ordered = tuple(column.name for column in one.table.columns if column.name in names)
            return replace(one, columns=ordered) if same else None
        case ir.Where(), ir.Where() if str(one.predicate) == str(other.predicate):
            return _over(one, other)
        case ir.Distinct(), ir.Distinct() if str(one) == str(other):
            return one
        case ir.Join(), ir.Join() if (one.kind, str(one.predicate)) == (other.kind, str(other.predicate)):
            left, right = merged(one.left, other.left), merged(one.right, other.right)
            return None if left is None or right is None else replace(one, left=left, right=right)
        case ir.Project(), ir.Project() if one.alias == other.alias:
            columns = _united(one.columns, other.columns, lambda each: each[0])
            return None if columns is None else _over(one, other, columns=columns)
        case ir.PerUnit(), ir.PerUnit() if _shape_of_groups(one) == _shape_of_groups(other):
            summaries = _united(one.columns, other.columns, lambda each: each.name)
            return None if summaries is None else _over(one, other, columns=summaries)
        case ir.Window(), ir.Window() if _shape_of_window(one) == _shape_of_window(other):
            windowed = _united(one.columns, other.columns, lambda each: each.name)
            return None if windowed is None else _over(one, other, columns=windowed)
        case _:
            return one if str(one) == str(other) and isinstance(one, ir.Union) else None


def _over(one: ir.Relation, other: ir.Relation, **changed: object) -> ir.Relation | None:
    """One of two relations with one below, over what both have below."""
    (first,), (second,) = ir.sources(one), ir.sources(other)
    below = merged(first, second)
    return None if below is None else replace(one, source=below, **changed)  # type: ignore[arg-type]  # a relation below and columns, as they were


def _united(one: Sequence[_Named], other: Sequence[_Named], name: Callable[[_Named], str]) -> tuple[_Named, ...] | None:
    """The columns of both; None if one name has two meanings."""
    known = {name(each): each for each in one}
    if any(name(each) in known and _text(known[name(each)]) != _text(each) for each in other):
        return None
    return (*one, *(each for each in other if name(each) not in known))


def _text(column: object) -> str:
    return str(column[1]) if isinstance(column, tuple) else str(column)


def _shape(relation: ir.Relation) -> str:
    """The relation in canonical form, without the columns that depend on what is used of it."""
    below = ", ".join(map(_shape, ir.sources(relation)))
    match relation:
        case ir.Scan() | ir.Distinct() | ir.Union():
            return str(relation)
        case ir.Where(predicate=predicate):
            return f"where({below}, {predicate})"
        case ir.Join(kind=kind, predicate=predicate):
            return f"{kind}({below}, {predicate})"
        case ir.Project(alias=alias):
            return f"project({below}, {alias!r})"
        case ir.PerUnit():
            return f"per_unit({below}, {_shape_of_groups(relation)})"
        case ir.Window():
            return f"window({below}, {_shape_of_window(relation)})"
        case _:
            raise unforeseen(relation)


def _shape_of_groups(relation: ir.PerUnit) -> str:
    """A summary's grouping in canonical form."""
    return f"{relation.alias!r}, {[(name, str(expr)) for name, expr in relation.keys]}, {relation.single}"


def _shape_of_window(relation: ir.Window) -> str:
    """A window's partitioning in canonical form."""
    return f"{relation.alias!r}, {[str(expr) for expr in relation.partition]}"
