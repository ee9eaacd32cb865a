"""Pruning: no column is read that the question doesn't use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from discreet.errors import unforeseen
from discreet.query import ir

_Names: TypeAlias = set[tuple[str, str]]


def pruned(relation: ir.Relation, used: Iterable[ir.Expr]) -> ir.Relation:
    """The relation without the columns that nothing uses.

    Args:
        relation: what the question's rows are.
        used: the expressions over these rows.
    """
    needed: _Names = set()
    _need(needed, *used)
    # A relation that occurs twice may be needed for more on its second visit, so this goes on until nothing is new.
    before = -1
    while before < len(needed):
        before = len(needed)
        _collect(relation, needed)
    return _rebuilt(relation, needed)


def _need(needed: _Names, *exprs: ir.Expr | None) -> None:
    """Note the columns of expressions."""
    for expr in exprs:
        if expr is not None:
            needed.update((column.table, column.name) for column in ir.columns_in(expr))


def _collect(relation: ir.Relation, needed: _Names) -> None:
    """Note which columns a relation needs of those below it, for those that are needed of it."""
    _need(needed, *_used(relation, needed))
    match relation:
        case ir.Union(alias=alias, columns=typed, parts=parts):
            for number, (name, _) in enumerate(typed):
                if (alias, name) in needed:
                    needed.update((part.alias, part.columns[number][0]) for part in parts)
        case ir.Distinct(source=ir.Project(alias=alias) | ir.Union(alias=alias)):
            needed.update((alias, name) for name, *_ in relation.source.columns)
        case ir.Scan() | ir.Where() | ir.Project() | ir.Join() | ir.PerUnit() | ir.Window():
            pass
        case _:
            raise unforeseen(relation)
    for below in ir.sources(relation):
        _collect(below, needed)


def _used(relation: ir.Relation, needed: _Names) -> Iterator[ir.Expr | None]:
    """The expressions that a relation computes over those below it, for the columns that are needed of it."""
    match relation:
        case ir.Where(predicate=predicate) | ir.Join(predicate=predicate):
            yield predicate
        case ir.Project(alias=alias, columns=named):
            yield from (expr for name, expr in named if (alias, name) in needed)
        case ir.PerUnit(alias=alias, keys=keys, columns=summarized):
            yield from (expr for _, expr in keys)
            yield from (each.argument for each in summarized if (alias, each.name) in needed)
        case ir.Window(alias=alias, partition=partition, columns=windowed):
            yield from partition
            for each in windowed:
                if (alias, each.name) in needed:
                    yield each.argument
                    yield from (term.expr for term in each.order)
        case ir.Scan() | ir.Union() | ir.Distinct():
            pass
        case _:
            raise unforeseen(relation)


def _rebuilt(relation: ir.Relation, needed: _Names) -> ir.Relation:  # noqa: PLR0911 — one case for each kind of relation
    """The relation with what is needed of it."""
    match relation:
        case ir.Scan(table=table, alias=alias):
            return replace(relation, columns=tuple(each.name for each in table.columns if (alias, each.name) in needed))
        case ir.Join(left=left, right=right):
            return replace(relation, left=_rebuilt(left, needed), right=_rebuilt(right, needed))
        case ir.Union(parts=parts, columns=typed, alias=alias):
            kept = [number for number, (name, _) in enumerate(typed) if (alias, name) in needed]
            rebuilt = tuple(_rebuilt(part, needed) for part in parts)
            return replace(relation, parts=rebuilt, columns=tuple(typed[number] for number in kept))  # type: ignore[arg-type]  # projections, as they were
        case ir.Project(alias=alias, columns=named, source=source):
            kept_columns = tuple((name, expr) for name, expr in named if (alias, name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=kept_columns)
        case ir.PerUnit(alias=alias, columns=summarized, source=source):
            used = tuple(each for each in summarized if (alias, each.name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=used)
        case ir.Window(alias=alias, columns=windowed, source=source):
            wanted = tuple(each for each in windowed if (alias, each.name) in needed)
            below = _rebuilt(source, needed)
            return replace(relation, source=below, columns=wanted) if wanted else below
        case ir.Where(source=source) | ir.Distinct(source=source):
            return replace(relation, source=_rebuilt(source, needed))  # type: ignore[arg-type]  # of the kind it was
        case _:
            raise unforeseen(relation)
