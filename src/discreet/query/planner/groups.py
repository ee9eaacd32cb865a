"""Which groups are answered, and how much one unit may contribute to them.

Groups are those known in public, or those whose noisy number of units passes a threshold. Limits are the declared ones,
or the analyst's own, in the shape that needs least noise.

Let a unit keep to what was declared. The shapes that cut nothing off it, and what each costs in the ℓ1 norm:

| declared | rows, and what is summed of them | units, and selection of groups |
|---|---|---|
| r rows | r rows in all: r | r groups, since each holds a row at least: r |
| r rows in g groups | r rows in all: r | g groups: g |
| k groups × m rows | k·m rows in all: k·m | k groups: k |

Of an answer with fewer groups than k or r, that number takes the place of k, or of r where units are counted.

Rows and units are limited apart from each other, so that a column has the same limits whatever is asked beside it.
Rows of k groups × m are limited as k·m in all, because that costs the same Laplace noise and cuts less off units that
don't keep to what was declared. Two cases keep the shape of groups × rows. Gaussian noise depends on ℓ2, which is
√k·m there, and k·m for rows in all. And where groups are selected, and have one row of a unit each, the number of rows
is that of units: one number, with all of ε, selects groups and is the answer. For the same reason units aren't counted
apart from rows where they have one row in all: one that has more counts in parts, of 1 together.

What a public table holds is known to everybody. So of a key that is computed from its columns alone, the values are
those of its rows which pass the question's filters on it, and NULL where a LEFT JOIN finds no partner. No private row
has a say in that: a group is shown because the public table has it, whether or not anybody is in it. Where the
custodian has declared its values, all of them are answered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from discreet.errors import DeltaRequired, Hint, TooManyGroups, Unsupported
from discreet.mechanisms import Threshold
from discreet.privacy import KeyValue, Limits
from discreet.query import ir
from discreet.query.aggregates import UNITS
from discreet.query.ir import MOST_VALUES, column_type, declared_limits, has_one_row, public_values
from discreet.query.planner.draft import Draft, Together
from discreet.tables import Kind

_YET_TO_CHOOSE = Limits(rows=10)
"""What a plan is drafted for whose limits are chosen privately, where none are declared."""

MOST_GROUPS = 1_000_000
"""Public groups times aggregates that are answered: each group is, with or without rows, and all are held in memory."""


def public_keys(draft: Draft) -> Draft:
    """Give each key its public values, where its declaration or its range lists them.

    Every public key is answered, so an answer's groups say nothing about anybody. If one key's values aren't public,
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
    """That a public table has too many values to list, in words; nothing, if none has."""
    scanned = {scan.alias: scan.table for scan in draft.scans if scan.table.public}
    columns = [column for _, key in draft.question.keys for column in ir.columns_in(key)]
    for column in columns:
        held = scanned[column.table].column(column.name).values if column.table in scanned else None
        if held is not None and len(held) > MOST_VALUES:
            return f" as a list: {column.name} of {scanned[column.table].name} has more than {MOST_VALUES:,} of them"
    return ""


def contributions(draft: Draft) -> Draft:
    """Choose the shape of the limits in force: nothing is cut off units that keep to the declared ones.

    Limits on groups are in force where units are counted or groups selected, and nowhere else. Without keys, all rows
    are one group. Answers that are to add up over grouping sets have one limit on rows in all of them.

    Raises:
        Unsupported: limits for a question in which each row is a unit.
        LimitsRequired: nothing says how many rows of a unit count.
    """
    if draft.unit.is_row:
        if draft.request.limits is not None:
            raise Unsupported(
                "each row is a unit of its own here, so there is nothing to limit",
                hint=Hint.of("leave {limits} out", limits=None),
            )
        return replace(draft, limits=Limits(rows=1) if not draft.keys else Limits(groups=1, rows_per_group=1))
    if draft.without_rows:
        return draft
    declared = _limits(draft)
    if not draft.keys:
        return replace(draft, limits=Limits(rows=_in_all(draft, declared)))
    if _keeps_groups(draft, declared):
        one_row = Limits(groups=1, rows_per_group=1)
        return replace(draft, limits=declared if declared.rows is None else one_row)
    rows = _in_all(draft, declared)
    if not draft.has_private_keys and (rows == 1 or not _counts_units(draft)):
        return replace(draft, limits=Limits(rows=rows))
    groups = min(rows, declared.groups or rows, _number_of_groups(draft) or rows)
    return replace(draft, limits=Limits(rows=rows, groups=groups))


def _limits(draft: Draft) -> Limits:
    """The analyst's own limits; else those that follow from what the tables declare.

    Limits weigh what they cut off against noise: any are as private as any others, so an analyst may choose. Where
    nothing but units is counted, without groups, each is counted once, whatever it has.
    """
    own = draft.request.limits
    source = draft.question.source
    if isinstance(own, Limits) and not has_one_row(source):
        return own
    is_once = not draft.keys and all(each.function is UNITS for each in draft.question.aggregates)
    return declared_limits(source, Limits(rows=1) if is_once else _YET_TO_CHOOSE if own == "auto" else None)


def _keeps_groups(draft: Draft, declared: Limits) -> bool:
    """Whether groups and rows in each are limited: for ℓ2, or because rows and units are then one number."""
    if declared.rows is None and draft.request.rho is not None and not draft.request.consistent:
        return True
    return draft.has_private_keys and 1 in {declared.rows, declared.rows_per_group}


def _counts_units(draft: Draft) -> bool:
    """Whether units are asked for."""
    return any(aggregate.function is UNITS for aggregate in draft.question.aggregates)


def _in_all(draft: Draft, declared: Limits) -> int:
    """How many rows of a unit count, over all groups that the answer has."""
    if declared.rows is not None:
        return declared.rows
    groups = declared.groups or 1
    number = None if draft.request.consistent else _number_of_groups(draft)
    return (groups if number is None else min(groups, number)) * (declared.rows_per_group or 1)


def _number_of_groups(draft: Draft) -> int | None:
    """How many groups the answer has; None if that isn't public."""
    return None if draft.has_private_keys else prod(len(key.values or ()) for key in draft.keys)


def selection(draft: Draft) -> Draft:
    """Set the threshold, if groups aren't public.

    A group is present if some unit keeps rows in it. One that is present in one neighbour only is kept there by a
    single unit, the one that differs, and counts it as 1. A unit keeps rows in at most g = `limits.groups` groups:
    those that are limited to r rows in all have g ≤ r, as nobody with at most r rows is in more groups, and one with
    more rows keeps g of its groups, by hash. So one unit makes at most g groups present that would otherwise be absent,
    however its rows are spread. With substitution, groups that only the other neighbour has can't be released from
    this one, so the number is the same.

    Their noises are independent. So any of them passes the threshold τ with a probability of at most 1 − (1 − p)^g,
    where p = Pr[noise ≥ τ − 1], and τ is the least for which that is at most δ. Unless one passes, what is released is
    about groups that both neighbours have, and costs what the noise costs: every measure moves by no more than its
    sensitivity over all groups, absent ones counting 0, as only rows that are kept are counted at all.
    """
    if draft.selector is None or draft.request.delta is None:
        return draft
    counting = next(noise for noise in draft.noises if noise.measure.name == draft.selector)
    return replace(
        draft,
        threshold=Threshold(
            noise=counting.mechanism,
            l0=draft.limits.groups or 1,
            linf=counting.measure.hi if isinstance(counting.measure, ir.Sum) else 1,
            delta=draft.request.delta,
        ),
    )


_Rows = Sequence[Sequence[object]]
_Beneath = Mapping[tuple[str, str], ir.Expr]
"""What the columns of projections are computed from, by alias and name."""


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
    """Of keys that are computed from one public table, the values that some row of it has together.

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
    """What the columns of a relation's projections are computed from."""
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
        """Those that come through a relation; None if it hands none of them on one by one."""
        match relation:
            case ir.Scan(alias=alias, table=table):
                return table.rows if alias == self._scan.alias else None
            case ir.Where(source=source, predicate=predicate):
                return self._filtered(self.rows(source), predicate)
            case ir.Project(source=source) | ir.Distinct(source=source) | ir.Window(source=source):
                return self.rows(source)
            case ir.Join():
                return self._joined(relation)
            case _:
                return None

    def _joined(self, join: ir.Join) -> _Rows | None:
        """Those that come through a join."""
        left, is_sure = self.rows(join.left), join.kind in {ir.JoinKind.INNER, ir.JoinKind.SEMI}
        if left is not None:
            return self._filtered(left, join.predicate) if is_sure else left
        right = self._filtered(self.rows(join.right), join.predicate)
        if right is None or join.kind in {ir.JoinKind.SEMI, ir.JoinKind.ANTI}:
            return None
        if not is_sure and _computes(join.right):
            return None  # what is computed there is NULL where there is no partner, whatever it makes of NULL itself
        return right if is_sure else [*right, (None,) * len(self._scan.table.columns)]

    def _filtered(self, rows: _Rows | None, predicate: ir.Expr | None) -> _Rows | None:
        """Those that pass what a condition says of this table alone."""
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
    match expr:
        case ir.Column(table=table, name=name) if (table, name) in beneath:
            return _resolved(beneath[table, name], beneath)
        case ir.Call(args=args):
            return replace(expr, args=tuple(_resolved(arg, beneath) for arg in args))
        case _:
            return expr
