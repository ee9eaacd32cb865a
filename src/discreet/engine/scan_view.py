"""Scan views: which rows and columns of each table a question needs, with declared keys enforced or not.

A scan reads only the columns that the question needs (column pruning). Scans that differ in nothing else share a view.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.errors import unforeseen
from discreet.privacy import Keys
from discreet.query import ir
from discreet.tables import Column, Owner, Table


@dataclass(frozen=True, slots=True)
class ScanView:
    """A table's rows with their units, as one question needs them; scans that differ in nothing else share it.

    Args:
        number: among those of the question.
        table: whose rows.
        owner: how a row's unit is found; None if the table is public.
        checked: the positions of the columns whose declared keys it must enforce, by turning what isn't listed into
            NULL.
        unchecked: those read as a key whose public list leaves out what isn't listed anyway, so that enforcing it
            twice would be wasted.
        is_coded: whether it tells units apart by a code, and has their size and id beside it.
        numbered: of the unchecked ones, those read as numbers in the public list of a key, each with that key's number.
            Rows that are joined with this view's are more than its own, so that to look them up here is less work.
    """

    number: int
    table: Table
    owner: Owner | None
    checked: tuple[int, ...]
    unchecked: tuple[int, ...] = ()
    is_coded: bool = False
    numbered: tuple[tuple[int, int], ...] = ()

    @property
    def name(self) -> str:
        """The name of the view."""
        return f"scan{self.number}"

    @property
    def unit(self) -> tuple[str, ...]:
        """The columns that say whose a row is, and what else is known of the unit."""
        number = 0 if self.owner is None else units_of(self.owner)
        return unit_columns(number, is_coded=self.is_coded and number > 0)

    def is_of(self, scan: ir.Scan) -> bool:
        """Whether it has the rows of a scan."""
        return self.table == scan.table and self.owner == scan.owner


def unit_columns(number: int, *, is_coded: bool) -> tuple[str, ...]:
    """The columns about a row's unit: `u0, u1`; or its code `u0`, its `size`, and its id and period `i0, i1`.

    Args:
        number: of the columns that tell one unit from another, where there are no codes.
        is_coded: whether there are.
    """
    ids = (f"{'i' if is_coded else 'u'}{place}" for place in range(number))
    return ("u0", "size", *ids) if is_coded else tuple(ids)


def units_of(owner: Owner) -> int:
    """How many columns tell one unit from another: none, if each row is one; else the id, and the period if any."""
    return 0 if owner.unit.is_row else 1 if owner.unit.at is None else 2


def scan_views_of(exact: ir.Exact, *, is_coded: bool = False) -> tuple[ScanView, ...]:
    """The scan views of a question, with the columns of its predicates, keys and measures.

    Those of the unit aren't counted in: each view has them anyway.

    Args:
        exact: the question.
        is_coded: whether units are told apart by codes.
    """
    checked, unchecked = _columns_read(exact)
    groups: list[list[ir.Scan]] = []
    for scan in _scans(exact).values():
        for group in groups:
            if (group[0].table, group[0].owner) == (scan.table, scan.owner):
                group.append(scan)
                break
        else:
            groups.append([scan])
    return tuple(
        ScanView(
            number=number,
            table=group[0].table,
            owner=group[0].owner,
            checked=_positions(group, checked),
            unchecked=_positions(group, unchecked),
            is_coded=is_coded and group[0].owner is not None,
            numbered=tuple(_numbered(group, exact)) if is_coded and group[0].owner is None else (),
        )
        for number, group in enumerate(groups)
    )


def listed_keys(key: ir.Key, exact: ir.Exact) -> Keys | None:
    """The declared keys of a plain column that is a key under a public list without NULL; None for any other key.

    A value that the column doesn't list would become NULL at the scan, and the list leaves NULL out. So the list, cut
    down to the declared keys, does the scan's work. Joins and filters in between make no difference: at most, a left
    join makes more NULLs. A window does, for it may look at the values of rows that the list leaves out.
    """
    column = None if key.values is None or None in key.values else scanned_column(key.expr, exact)
    return None if column is None else column.keys


def _numbered(scans: list[ir.Scan], exact: ir.Exact) -> Iterator[tuple[int, int]]:
    """The columns of some scans that are one listed key each, with the keys' numbers."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, key in enumerate(exact.keys):
        if isinstance(key.expr, ir.Column) and listed_keys(key, exact) is not None:
            for scan in scans:
                if scan.alias == key.expr.table:
                    found[position(key.expr.name, scan.table)].append(number)
    return ((place, keys[0]) for place, keys in found.items() if len(keys) == 1)


def scanned_column(expr: ir.Expr, exact: ir.Exact) -> Column | None:
    """The declared column that an expression is, with nothing computed since it was scanned; None for any other."""
    if not isinstance(expr, ir.Column):
        return None
    if not all(isinstance(node, (ir.Scan, ir.Where, ir.Join)) for node in ir.nodes(exact.source)):
        return None
    return _scans(exact)[expr.table].table.column(expr.name)


def position(name: str, table: Table) -> int:
    """The position of a column in its table; case doesn't matter."""
    return table.columns.index(table.column(name))


def _scans(exact: ir.Exact) -> Mapping[str, ir.Scan]:
    """The scans of a question by their aliases."""
    return {node.alias: node for node in ir.nodes(exact.source) if isinstance(node, ir.Scan)}


def _columns_read(exact: ir.Exact) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """The columns that must be within their keys, and those that needn't be, by alias."""
    checked: dict[str, set[str]] = defaultdict(set)
    unchecked: dict[str, set[str]] = defaultdict(set)
    relied = [
        measure.value for measure in exact.measures if isinstance(measure, (ir.Sum, ir.DistinctValues, ir.Histogram))
    ]
    for node in ir.nodes(exact.source):
        relied += _expressions(node)
    for key in exact.keys:
        if isinstance(key.expr, ir.Column) and listed_keys(key, exact) is not None:
            unchecked[key.expr.table].add(key.expr.name)
        else:
            relied.append(key.expr)
    for column in (column for expr in relied for column in ir.columns_in(expr)):
        checked[column.table].add(column.name)
    return checked, unchecked


def _expressions(relation: ir.Relation) -> list[ir.Expr]:
    """The expressions that a relation computes of the rows of those below it."""
    match relation:
        case ir.Where(predicate=predicate) | ir.Join(predicate=predicate):
            return [] if predicate is None else [predicate]
        case ir.Project(columns=columns):
            return [expr for _, expr in columns]
        case ir.PerUnit(keys=keys, columns=summarized):
            arguments = (each.argument for each in summarized)
            return [*(expr for _, expr in keys), *(each for each in arguments if each is not None)]
        case ir.Window(partition=partition, columns=windowed):
            arguments = (each.argument for each in windowed)
            order = (term.expr for each in windowed for term in each.order)
            return [*partition, *order, *(each for each in arguments if each is not None)]
        case ir.Scan() | ir.Distinct() | ir.Union():
            return []
        case _:
            raise unforeseen(relation)


def _positions(scans: list[ir.Scan], names: Mapping[str, set[str]]) -> tuple[int, ...]:
    """The positions of columns in the table of some scans, by the scans' aliases."""
    return tuple(sorted({position(name, scan.table) for scan in scans for name in names.get(scan.alias, ())}))
