"""Declared limits: how much of one unit counts if a question doesn't say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Never

from discreet.errors import LimitsRequired, unforeseen
from discreet.hints import Hint
from discreet.privacy import Limits
from discreet.query.ir.relations import (
    Distinct,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Union,
    Where,
    Window,
    owner_of,
)
from discreet.tables import Table


def declared_limits(source: Relation, undeclared: Limits | None = None) -> Limits:
    """The limits that follow from what the tables declare.

    Where a unit has at most one row, because its rows were summarized, that is the limit. `UNION ALL` adds up what
    a unit has in its parts. A join has the greatest of the limits of its private tables, which is enough where it goes
    along a link; it isn't where a unit's rows meet many of its own, or of a public table: limits hold for the result.

    Args:
        source: of the rows.
        undeclared: what stands for the limits of a table that declares none; None if it needs some.

    Raises:
        LimitsRequired: a unit may have many rows of a table that declares none.
    """
    return Limits(rows=1) if has_one_row(source) else _limits_of(source, {}, undeclared)


def _limits_of(relation: Relation, known: dict[int, Limits], undeclared: Limits | None) -> Limits:
    """How many rows a unit may have in a private relation, as its tables declare; each relation is looked at once."""
    if id(relation) not in known:
        match relation:
            case Scan(table=table):
                found = table.limits or undeclared or _missing_limits(table)
            case PerUnit(single=True):
                found = Limits(rows=1)
            case Union(parts=parts):
                found = _together([_limits_of(part, known, undeclared) for part in parts], sum)
            case Join(left=left, kind=kind) if not kind.has_both_sides:
                found = _limits_of(left, known, undeclared)
            case Join(left=left, right=right):
                private = [side for side in (left, right) if owner_of(side) is not None]
                found = _together([_limits_of(side, known, undeclared) for side in private], max)
            case Where(source=source) | Project(source=source) | Distinct(source=source):
                found = _limits_of(source, known, undeclared)
            case PerUnit(source=source) | Window(source=source):
                found = _limits_of(source, known, undeclared)
            case _:
                raise unforeseen(relation)
        known[id(relation)] = found
    return known[id(relation)]


def _missing_limits(table: Table) -> Never:
    """Refuse a relation in which one unit may have any number of rows.

    Raises:
        LimitsRequired: always.
    """
    declared = "or declare it for all questions, in its table of discreet.toml: limits = { rows = 20 }"
    chosen = "for ε or ρ, without an accuracy, it is chosen privately"
    raise LimitsRequired(
        f"a unit may have many rows in table {table.name!r}, and nothing says how many of them count",
        hint=Hint(
            f"limits=Limits(rows=20) states it; {chosen}; {declared}",
            cli=f"--limits 20 states it; {chosen}; {declared}",
        ),
    )


def _together(found: Sequence[Limits], of: Callable[[Iterable[int]], int]) -> Limits:
    """The sum of limits, or the greatest of them."""
    if of is max and all(limits.rows is None for limits in found):
        return Limits(
            groups=of(limits.groups or 1 for limits in found),
            rows_per_group=of(limits.rows_per_group or 1 for limits in found),
        )
    rows = of(limits.rows or (limits.groups or 1) * (limits.rows_per_group or 1) for limits in found)
    groups = of(limits.groups or limits.rows or 1 for limits in found)
    return Limits(rows=rows, groups=groups if groups < rows else None)


def has_one_row(relation: Relation) -> bool:
    """Whether no unit can have more than one row in a relation."""
    match relation:
        case PerUnit(single=single):
            return single
        case Where(source=source) | Project(source=source) | Window(source=source):
            return has_one_row(source)
        case Distinct(source=source):
            return has_one_row(source)
        case Join(left=left, kind=kind) if not kind.has_both_sides:
            return has_one_row(left)
        case Join(left=left, right=right):
            return has_one_row(left) and has_one_row(right) and None not in {owner_of(left), owner_of(right)}
        case Scan() | Union():
            return False
        case _:
            raise unforeseen(relation)
