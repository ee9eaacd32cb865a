"""Public rows: which values of a grouping expression a question can reach, where they come from a public table.

What a public table holds is known to everybody. So of a key that is computed from its columns alone, the values are
those of its rows which pass the question's filters on it, and NULL where a LEFT JOIN finds no partner. No private row
has a say in that: a group is shown because the public table has it, whether or not anybody is in it. Where the
custodian has declared its values, all of them are answered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.privacy import KeyValue
from discreet.query.ir.conditions import conjuncts
from discreet.query.ir.domains import column_type, computed, public_values
from discreet.query.ir.expressions import Call, Column, Expr, Type, columns_in
from discreet.query.ir.relations import (
    Distinct,
    Join,
    JoinKind,
    Project,
    Relation,
    Scan,
    Where,
    Window,
    nodes,
    scans,
)
from discreet.tables import Kind

_Rows = Sequence[Sequence[object]]
_Beneath = Mapping[tuple[str, str], Expr]
"""What the columns of projections are computed from, by alias and name."""


def reached(source: Relation, key: Expr) -> tuple[KeyValue, ...] | None:
    """The public values of a grouping expression that rows of a relation can have; None if they aren't public.

    Args:
        source: of the rows.
        key: with its public values in its type.
    """
    values = public_values(key)
    beneath = {
        (each.alias, name): expr for each in nodes(source) if isinstance(each, Project) for name, expr in each.columns
    }
    below = _resolved(key, beneath)
    scan = _only_scan(source, below)
    if scan is None or (values is not None and _is_declared(scan, below)):
        return values
    rows = _Passing(scan, beneath).rows(source)
    found = None if rows is None else computed(below, _columns(scan), rows)
    if found is None:
        return values
    held = set(found)
    listed = _in_order(held) if values is None else values
    return tuple(value for value in listed if value in held)


def _in_order(held: Collection[Any]) -> list[KeyValue]:
    """Values of one kind in order, NULL last."""
    return sorted(held, key=lambda value: (value is None, 0 if value is None else value))


class _Passing:
    """The rows of a public table that can pass a question's filters.

    Args:
        scan: of the table.
        beneath: the projections of the question.
    """

    def __init__(self, scan: Scan, beneath: _Beneath) -> None:
        """Look for the rows of this scan."""
        self._scan = scan
        self._beneath = beneath

    def rows(self, relation: Relation) -> _Rows | None:
        """Those that come through a relation; None if it hands none of them on one by one."""
        match relation:
            case Scan(alias=alias, table=table):
                return table.rows if alias == self._scan.alias else None
            case Where(source=source, predicate=predicate):
                return self._filtered(self.rows(source), predicate)
            case Project(source=source) | Distinct(source=source) | Window(source=source):
                return self.rows(source)
            case Join():
                return self._joined(relation)
            case _:
                return None

    def _joined(self, join: Join) -> _Rows | None:
        """Those that come through a join."""
        left, is_sure = self.rows(join.left), join.kind in {JoinKind.INNER, JoinKind.SEMI}
        if left is not None:
            return self._filtered(left, join.predicate) if is_sure else left
        right = self._filtered(self.rows(join.right), join.predicate)
        if right is None or join.kind in {JoinKind.SEMI, JoinKind.ANTI}:
            return None
        return right if is_sure else [*right, (None,) * len(self._scan.table.columns)]

    def _filtered(self, rows: _Rows | None, predicate: Expr | None) -> _Rows | None:
        """Those that pass what a condition says of this table alone."""
        for each in () if rows is None or predicate is None else conjuncts(predicate):
            part = _resolved(each, self._beneath)
            names = {column.table for column in columns_in(part)}
            truths = computed(part, _columns(self._scan), rows or ()) if names == {self._scan.alias} else None
            if truths is not None:
                rows = [row for row, truth in zip(rows or (), truths, strict=True) if truth is True]
        return rows


def _only_scan(source: Relation, key: Expr) -> Scan | None:
    """The scan of the public table that a key is computed from, if it is one, used once, and its rows are known."""
    aliases = {column.table for column in columns_in(key)}
    found = [scan for scan in scans(source) if scan.alias in aliases]
    return found[0] if len(found) == len(aliases) == 1 and found[0].table.rows is not None else None


def _is_declared(scan: Scan, key: Expr) -> bool:
    """Whether declarations list the values of a key's columns: then all of them are answered."""
    columns = [replace(scan.table.column(column.name), values=None) for column in columns_in(key)]
    return all(public_values(Column(scan.alias, each.name, column_type(each))) is not None for each in columns)


def _columns(scan: Scan) -> list[Column]:
    """The columns of a table's rows."""
    return [Column(scan.alias, column.name, Type(Kind.TEXT)) for column in scan.table.columns]


def _resolved(expr: Expr, beneath: _Beneath) -> Expr:
    """The expression with the columns of projections by what they are computed from, down to those of tables."""
    match expr:
        case Column(table=table, name=name) if (table, name) in beneath:
            return _resolved(beneath[table, name], beneath)
        case Call(args=args):
            return replace(expr, args=tuple(_resolved(arg, beneath) for arg in args))
        case _:
            return expr
