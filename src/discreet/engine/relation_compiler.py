"""From a question's relations, which rest on scans, to one Ibis table. No row is seen.

Each relation becomes a table with the unit's columns `u0, u1`, if it is private, and one column for each of its own.
Columns are numbered by alias and name, so that equal relations become equal tables, which engines compute once.

Guarantee: the table is a function of its rows as a set, whatever their order. Columns hold values as admission
makes them, so where several rows come together, it makes no difference which of two equal values is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from discreet.engine.expression_compiler import IBIS_TYPES, Columns, Names, Rows, guarded, selected
from discreet.engine.per_unit_compiler import per_unit, window
from discreet.engine.scan_view import ScanView, position
from discreet.errors import unforeseen
from discreet.query import ir

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})

JoinLimit: TypeAlias = Callable[[ir.Join, Rows, Rows], tuple[Rows, Rows]]
"""From a join and its two sides to the rows that are joined: how an engine keeps one unit's pairs within a limit."""


class RelationCompiler:
    """Makes the tables of one question's relations; one that is used several times once."""

    def __init__(self, views: Sequence[ScanView], limit: JoinLimit | None = None) -> None:
        """Note what the scan views offer.

        Args:
            views: of the question.
            limit: for joins; None joins all rows.
        """
        self._limit = limit
        self._views = views
        self._names = Names()
        self._made: list[tuple[ir.Relation, Rows]] = []

    def rows(self, relation: ir.Relation) -> Rows:
        """The table of a relation; for two that are equal, one table, and so one computation."""
        found = next((rows for made, rows in self._made if made == relation), None)
        if found is None:
            found = self._make(relation)
            self._made.append((relation, found))
        return found

    def _make(self, relation: ir.Relation) -> Rows:  # noqa: PLR0911 — one case for each kind of relation
        """The table of a relation, made of those below it."""
        match relation:
            case ir.Scan():
                return self._scan(relation)
            case ir.Where(source=source, predicate=predicate):
                below = self.rows(source)
                kept = below.table.filter(guarded(predicate, below.columns))
                return Rows(kept, below.unit, below.names, below.unchecked)
            case ir.Project(source=source, alias=alias, columns=columns):
                below, names = self.rows(source), self._names.of(alias, (name for name, _ in columns))
                table = below.computed(dict(zip(names.values(), (expr for _, expr in columns), strict=True)))
                return Rows(table, below.unit, names)
            case ir.Join():
                return self._join(relation)
            case ir.Union():
                return self._union(relation)
            case ir.Distinct(source=source):
                return self._distinct(source)
            case ir.PerUnit(source=source):
                return per_unit(self.rows(source), relation, self._names)
            case ir.Window(source=source):
                return window(self.rows(source), relation, self._names)
            case _:
                raise unforeseen(relation)

    def _scan(self, scan: ir.Scan) -> Rows:
        """The rows of a scan view, with the scan's own names."""
        import ibis

        view = next(each for each in self._views if each.is_of(scan))
        kinds = {number: column.kind for number, column in enumerate(view.table.columns)}
        unit = view.unit
        schema = dict.fromkeys(unit, "string")  # ids are only compared with each other, so any one type will do
        schema |= {f"c{number}": IBIS_TYPES[kinds[number]] for number in view.checked}
        schema |= {f"r{number}": IBIS_TYPES[kinds[number]] for number in view.unchecked}
        schema |= {f"r{number}": "int64" for number, _ in view.numbered}
        table = ibis.table(schema or {"one": "int8"}, name=view.name)
        chosen = {column: table[column] for column in unit}
        checked, unchecked = (
            {name: number for name in scan.columns if (number := position(name, scan.table)) in offered}
            for offered in (view.checked, view.unchecked)
        )
        names, others = self._names.of(scan.alias, checked), self._names.of(scan.alias, unchecked, checked=False)
        for column, number in zip(names.values(), checked.values(), strict=True):
            chosen[column] = table[f"c{number}"]
        chosen |= {column: table[f"r{n}"] for column, n in zip(others.values(), unchecked.values(), strict=True)}
        return Rows(selected(table, chosen), unit, names, others)

    def _join(self, join: ir.Join) -> Rows:
        """The rows of the left side with those of the right; within one unit, if both are private.

        The right side is a view of its table, since Ibis must tell its columns from those of the left side, which may
        be made of the same table.
        """
        import ibis

        left, right = self.rows(join.left), self.rows(join.right)
        if self._limit is not None:
            left, right = self._limit(join, left, right)
        theirs = {f"w{number}": column for number, column in enumerate(right.unit)}
        partners = right.table.rename(theirs).view()
        there = {name: partners[column] for name, column in right.names.items()}
        on = [left.table[our] == partners[their] for our, their in zip(left.unit, theirs, strict=False)]
        if join.predicate is not None:
            on += _conditions(join.predicate, {**left.columns, **there})
        both = left.table.join(partners, on or [ibis.literal(True)], how=str(join.kind))  # noqa: FBT003 — SQL's TRUE
        unit = {column: column for column in left.unit} or {column: their for their, column in theirs.items()}
        names, unchecked = dict(left.names), dict(left.unchecked)
        if join.kind.has_both_sides:
            names |= right.names
            unchecked |= right.unchecked
        chosen = {column: both[held] for column, held in unit.items()}
        chosen |= {column: both[column] for column in (*names.values(), *unchecked.values())}
        return Rows(selected(both, chosen), tuple(unit), names, unchecked)

    def _union(self, union: ir.Union) -> Rows:
        """The rows of all parts, under the union's own names."""
        import ibis

        names = self._names.of(union.alias, (name for name, _ in union.columns))
        parts = []
        for part in union.parts:
            below = self.rows(part)
            values = (below.columns[part.alias, name.casefold()] for name, _ in part.columns)
            parts.append(selected(below.table, below.units | dict(zip(names.values(), values, strict=True))))
        return Rows(ibis.union(*parts, distinct=False), self.rows(union.parts[0]).unit, names)

    def _distinct(self, source: ir.Relation) -> Rows:
        """The different rows of each unit; a unit that is a row has one anyway."""
        below = self.rows(source)
        if not below.unit and ir.owner_of(source) is not None:
            return below
        return Rows(below.table.distinct(), below.unit, below.names)


def _conditions(predicate: ir.Expr, columns: Columns) -> Iterator[Any]:
    """The conditions of a join that all hold where the predicate is true.

    A comparison is left bare, with a wall around each of its sides instead: it can't raise itself, and engines can
    look up partners only where they see what is compared.
    """
    if isinstance(predicate, ir.Call) and predicate.function.name == "and":
        for arg in predicate.args:
            yield from _conditions(arg, columns)
    elif isinstance(predicate, ir.Call) and predicate.function.name in _COMPARISONS:
        yield predicate.function.compile(*(guarded(arg, columns) for arg in predicate.args))
    else:
        yield guarded(predicate, columns)


def brings_together(relation: ir.Relation) -> bool:
    """Whether some result depends on several rows of one table, as it does not in a filter, a join or a union."""
    return any(isinstance(node, (ir.Distinct, ir.PerUnit, ir.Window)) for node in ir.nodes(relation))
