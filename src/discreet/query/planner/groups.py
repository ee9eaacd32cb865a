"""Groups that are known in public: those of declared keys, and those that a public table has.

What a public table holds is known to everyone. So of a key that is computed from its columns alone, the values are
those of its rows which pass the question's filters on it, and NULL where a LEFT JOIN finds no partner. No private row
has a say in that: a group is shown because the public table has it, whether or not anyone is in it. Where the
custodian has declared its values, all of them are answered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from discreet.errors import DeltaRequired, TooManyGroups, unforeseen
from discreet.hints import Hint
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.ir import MOST_VALUES, changed, column_type, public_values
from discreet.query.planner.draft import Draft, Together
from discreet.tables import Kind

MOST_GROUPS = 1_000_000
"""Public groups times aggregates that are answered: each group is, with or without rows, and all are held in memory."""


def public_keys(draft: Draft) -> Draft:
    """Give each key its public values, where its declaration or its range lists them.

    Every public key is answered, so an answer's groups say nothing about anyone. If one key's values aren't public,
    the groups present in the data are selected privately; the other keys' lists still hold. Where no row can be meant,
    or a list is empty, no group is present, and nothing is measured.

    Raises:
        DeltaRequired: groups must be selected and no δ is offered.
        TooManyGroups: the lists multiply to more than `MOST_GROUPS`.
        Unsupported: all keys are public, and nothing is asked of them.
    """
    source = draft.question.source
    keys = tuple(ir.Key(name=name, expr=expr, values=reached(source, expr)) for name, expr in draft.question.keys)
    together = _together(source, keys)
    if any(key.values == () for key in keys) or any(not each.values for each in together):
        draft = replace(draft, without_rows=draft.without_rows or "public tables hold no row that the question keeps")
    if draft.without_rows:
        keys = tuple(replace(key, values=key.values or ()) for key in keys)
    unlisted = [key.name for key in keys if key.values is None]
    if unlisted and draft.request.delta is None:
        raise DeltaRequired(
            f"the values of {', '.join(unlisted)} aren't public{_too_many(draft)}, so its groups must be selected, "
            "which takes a delta",
            hint=Hint.of(
                "offer {delta}, far below 1 / number of units; or declare keys, or bounds of an integer", delta=1e-8
            ),
        )
    groups = prod(len(key.values) for key in keys if key.values is not None)
    most = MOST_GROUPS // max(1, len(draft.question.aggregates))
    if not unlisted and groups > most:
        raise TooManyGroups(
            f"the public keys multiply to {groups:,} groups; at most {most:,} are answered with this many aggregates",
            hint="group by fewer or coarser keys",
        )
    return replace(draft, keys=keys, together=together)


def _too_many(draft: Draft) -> str:
    """A sentence that a public table has too many values to list; empty if none has."""
    scanned = {scan.alias: scan.table for scan in draft.scans if scan.table.public}
    columns = [column for _, key in draft.question.keys for column in ir.columns_in(key)]
    for column in columns:
        held = scanned[column.table].column(column.name).values if column.table in scanned else None
        if held is not None and len(held) > MOST_VALUES:
            return f" as a list: {column.name} of {scanned[column.table].name} has more than {MOST_VALUES:,} of them"
    return ""


_Rows = Sequence[Sequence[object]]
_Beneath = Mapping[tuple[str, str], ir.Expr]
"""From a projection's column, by alias and name, to the expression it is computed from."""


def reached(source: ir.Relation, key: ir.Expr) -> tuple[KeyValue, ...] | None:
    """The public values of a grouping expression that rows of a relation can have; None if they aren't public.

    Args:
        source: of the rows.
        key: with its public values in its type.
    """
    values, beneath = public_values(key), _beneath(source)
    below = _resolved(key, beneath)
    scan = _only_scan(source, below)
    if scan is None or (values is not None and _is_declared(scan, below)):
        return values
    rows = _Passing(scan, beneath).rows(source)
    found = None if rows is None else ir.computed(below, _columns(scan), rows)
    if found is None:
        return values
    held = set(found)
    listed = _in_order(held) if values is None else values
    return tuple(value for value in listed if value in held)


def _together(source: ir.Relation, keys: Sequence[ir.Key]) -> tuple[Together, ...]:
    """For keys that are computed from one public table, the combinations of values that its rows have.

    Keys whose values the custodian has declared are left out: of those, all are answered.
    """
    beneath = _beneath(source)
    below = [_resolved(key.expr, beneath) for key in keys]
    by_scan: dict[ir.Scan, list[int]] = {}
    for place, expr in enumerate(below):
        scan = _only_scan(source, expr)
        is_listed = public_values(keys[place].expr) is not None and scan is not None and _is_declared(scan, expr)
        if scan is not None and not is_listed and keys[place].values is not None:
            by_scan.setdefault(scan, []).append(place)
    found = []
    for scan, places in by_scan.items():
        rows = _Passing(scan, beneath).rows(source) if len(places) > 1 else None
        columns = [] if rows is None else [ir.computed(below[place], _columns(scan), rows) for place in places]
        known = [column for column in columns if column is not None]
        if known and len(known) == len(places):
            held = frozenset(zip(*known, strict=True))
            found.append(Together(tuple(places), held))
    return tuple(found)


def _beneath(source: ir.Relation) -> _Beneath:
    projections = [each for each in ir.nodes(source) if isinstance(each, ir.Project)]
    return {(each.alias, name): expr for each in projections for name, expr in each.columns}


def _in_order(held: Collection[Any]) -> list[KeyValue]:
    """Values of one kind in order, NULL last."""
    return sorted(held, key=lambda value: (value is None, 0 if value is None else value))


class _Passing:
    """The rows of a public table that can pass a question's filters.

    Args:
        scan: of the table.
        beneath: the projections of the question.
    """

    def __init__(self, scan: ir.Scan, beneath: _Beneath) -> None:
        self._scan = scan
        self._beneath = beneath

    def rows(self, relation: ir.Relation) -> _Rows | None:
        """The rows that come through a relation; None if it hands none of them on one by one."""
        match relation:
            case ir.Scan(alias=alias, table=table):
                return table.rows if alias == self._scan.alias else None
            case ir.Where(source=source, predicate=predicate):
                return self._filtered(self.rows(source), predicate)
            case ir.Project(source=source) | ir.Distinct(source=source) | ir.Window(source=source):
                return self.rows(source)
            case ir.Join():
                return self._joined(relation)
            case ir.Union() | ir.PerUnit():
                return None
            case _:
                raise unforeseen(relation)

    def _joined(self, join: ir.Join) -> _Rows | None:
        """The rows that come through a join."""
        left, is_sure = self.rows(join.left), not join.kind.keeps_lonely
        if left is not None:
            return self._filtered(left, join.predicate) if is_sure else left
        right = self._filtered(self.rows(join.right), join.predicate)
        if right is None or not join.kind.has_both_sides:
            return None
        if not is_sure and _computes(join.right):
            return None  # what is computed there is NULL where there is no partner, whatever it makes of NULL itself
        return right if is_sure else [*right, (None,) * len(self._scan.table.columns)]

    def _filtered(self, rows: _Rows | None, predicate: ir.Expr | None) -> _Rows | None:
        """The rows that pass what a condition says of this table alone."""
        for each in () if rows is None or predicate is None else ir.conjuncts(predicate):
            part = _resolved(each, self._beneath)
            names = {column.table for column in ir.columns_in(part)}
            truths = ir.computed(part, _columns(self._scan), rows or ()) if names == {self._scan.alias} else None
            if truths is not None:
                rows = [row for row, truth in zip(rows or (), truths, strict=True) if truth is True]
        return rows


def _computes(relation: ir.Relation) -> bool:
    """Whether a relation has columns that aren't those of its tables."""
    projections = [each for each in ir.nodes(relation) if isinstance(each, ir.Project)]
    return any(not isinstance(expr, ir.Column) for each in projections for _, expr in each.columns)


def _only_scan(source: ir.Relation, key: ir.Expr) -> ir.Scan | None:
    """The scan of the public table that a key is computed from, if it is one, used once, and its rows are known."""
    aliases = {column.table for column in ir.columns_in(key)}
    found = [scan for scan in ir.scans(source) if scan.alias in aliases]
    return found[0] if len(found) == len(aliases) == 1 and found[0].table.rows is not None else None


def _is_declared(scan: ir.Scan, key: ir.Expr) -> bool:
    """Whether declarations list the values of a key's columns: then all of them are answered."""
    columns = [replace(scan.table.column(column.name), values=None) for column in ir.columns_in(key)]
    return all(public_values(ir.Column(scan.alias, each.name, column_type(each))) is not None for each in columns)


def _columns(scan: ir.Scan) -> list[ir.Column]:
    """The columns of a table's rows."""
    return [ir.Column(scan.alias, column.name, ir.Type(Kind.TEXT)) for column in scan.table.columns]


def _resolved(expr: ir.Expr, beneath: _Beneath) -> ir.Expr:
    """The expression with the columns of projections by what they are computed from, down to those of tables."""

    def computed(part: ir.Expr) -> ir.Expr | None:
        below = beneath.get((part.table, part.name)) if isinstance(part, ir.Column) else None
        return None if below is None else _resolved(below, beneath)

    return changed(expr, computed)
