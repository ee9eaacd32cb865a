"""From a question's relations to one Ibis table: the scans they rest on, and what is made of these. No row is seen.

A scan reads only the columns that the question needs, with declared keys enforced or not (column pruning).

Each relation becomes a table with the unit's columns `u0, u1`, if it is private, and one column for each of its own.
Columns are numbered by alias and name, so that equal relations become equal tables, which engines compute once.

Rows that a window's ORDER BY leaves equal are told apart by all of their columns. Those still equal then are the same
row twice, and it makes no difference which of them comes first.

Guarantee: the table is a function of its rows as a set, whatever their order. Columns hold values as admission
makes them, so where several rows come together, it makes no difference which of two equal values is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.engine.expression_compiler import (
    IBIS_TYPES,
    Aggregation,
    Columns,
    Names,
    Rows,
    aggregation,
    guarded,
    selected,
    within_range,
)
from discreet.errors import unforeseen
from discreet.privacy import Keys
from discreet.query import ir
from discreet.tables import Owner, Table

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})

JoinLimit: TypeAlias = Callable[[ir.Join, Rows, Rows], tuple[Rows, Rows]]
"""From a join and its two sides to the rows that are joined: how an engine keeps one unit's pairs within a limit."""


# ── Scans ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """

    number: int
    table: Table
    owner: Owner | None
    checked: tuple[int, ...]
    unchecked: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name of the view."""
        return f"scan{self.number}"

    @property
    def units(self) -> int:
        """In how many columns it says whose a row is."""
        return 0 if self.owner is None else units_of(self.owner)

    def is_of(self, scan: ir.Scan) -> bool:
        """Whether it has the rows of a scan."""
        return self.table == scan.table and self.owner == scan.owner


def units_of(owner: Owner) -> int:
    """How many columns tell one unit from another: none, if each row is one; else the id, and the period if any."""
    return 0 if owner.unit.is_row else 1 if owner.unit.at is None else 2


def scan_views_of(exact: ir.Exact) -> tuple[ScanView, ...]:
    """The scan views of a question, with the columns of its predicates, keys and measures.

    Those of the unit aren't counted in: each view has them anyway.
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
        )
        for number, group in enumerate(groups)
    )


def listed_keys(key: ir.Key, exact: ir.Exact) -> Keys | None:
    """The declared keys of a plain column that is a key under a public list without NULL; None for any other key.

    A value that the column doesn't list would become NULL at the scan, and the list leaves NULL out. So the list, cut
    down to the declared keys, does the scan's work. Joins and filters in between make no difference: at most, a left
    join makes more NULLs. A window does, for it may look at the values of rows that the list leaves out.
    """
    if not isinstance(key.expr, ir.Column) or key.values is None or None in key.values:
        return None
    if not all(isinstance(node, (ir.Scan, ir.Where, ir.Join)) for node in ir.nodes(exact.source)):
        return None
    return _scans(exact)[key.expr.table].table.column(key.expr.name).keys


def position(name: str, table: Table) -> int:
    """The position of a column in its table; case doesn't matter."""
    return table.columns.index(table.column(name))


def _scans(exact: ir.Exact) -> Mapping[str, ir.Scan]:
    """The scans of a question by their aliases."""
    return {node.alias: node for node in ir.nodes(exact.source) if isinstance(node, ir.Scan)}


def _columns_read(exact: ir.Exact) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """By alias, the columns that are relied on to be within their keys, and those that needn't be."""
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


# ── Relations ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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
                return _per_unit(self.rows(source), relation, self._names)
            case ir.Window(source=source):
                return _window(self.rows(source), relation, self._names)
            case _:
                raise unforeseen(relation)

    def _scan(self, scan: ir.Scan) -> Rows:
        """The rows of a scan view, with the scan's own names."""
        import ibis

        view = next(each for each in self._views if each.is_of(scan))
        kinds = {number: column.kind for number, column in enumerate(view.table.columns)}
        unit = tuple(f"u{number}" for number in range(view.units))
        schema = dict.fromkeys(unit, "string")  # ids are only compared with each other, so any one type will do
        schema |= {f"c{number}": IBIS_TYPES[kinds[number]] for number in view.checked}
        schema |= {f"r{number}": IBIS_TYPES[kinds[number]] for number in view.unchecked}
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


# ── Aggregates and window functions over the rows of one unit ─────────────────────────────────────────────────────────


def _per_unit(below: Rows, node: ir.PerUnit, names: Names) -> Rows:
    """One row for each unit and value of the keys."""
    keys = names.of(node.alias, (name for name, _ in node.keys))
    columns = names.of(node.alias, (each.name for each in node.columns))
    places = _places(each.argument for each in node.columns)
    keyed = dict(zip(keys.values(), (expr for _, expr in node.keys), strict=True))
    table = below.computed(keyed | {place: expr for expr, place in places.items()})
    aggregations = {}
    for each, column in zip(node.columns, columns.values(), strict=True):
        value, of = (table, each.type) if each.argument is None else (table[places[each.argument]], each.argument.type)
        aggregations[column] = aggregation(each.summary, value, of, each.type, each.grid)
    by = [*below.unit, *keys.values()]
    aggregates = _parts(aggregations)
    grouped = table.group_by(by).aggregate(**aggregates) if by else table.aggregate(**aggregates)
    finished = {column: grouped[column] for column in by} | _finished(aggregations, grouped)
    return Rows(selected(grouped, finished), below.unit, keys | columns)


def _window(below: Rows, node: ir.Window, names: Names) -> Rows:
    """The rows with further columns, each computed from rows of the same unit and partition."""
    columns = names.of(node.alias, (each.name for each in node.columns))
    looked_at = [each.argument for each in node.columns]
    places = _places([*node.partition, *looked_at, *(term.expr for each in node.columns for term in each.order)])
    table = below.computed({place: expr for expr, place in places.items()}, beside=True)
    rows = _Partition(
        table=table,
        by=[table[column] for column in (*below.unit, *(places[expr] for expr in node.partition))],
        columns=[table[column] for column in below.names.values()],
        values={expr: table[place] for expr, place in places.items()},
    )
    aggregations = {column: _windowed(each, rows) for each, column in zip(node.columns, columns.values(), strict=True)}
    kept = [*below.unit, *below.names.values()]
    beside = selected(table, {column: table[column] for column in kept} | _parts(aggregations))
    finished = {column: beside[column] for column in kept} | _finished(aggregations, beside)
    return Rows(selected(beside, finished), below.unit, {**below.names, **columns})


def _places(exprs: Iterable[ir.Expr | None]) -> dict[ir.Expr, str]:
    """A column for each different expression."""
    return {expr: f"a{number}" for number, expr in enumerate(dict.fromkeys(each for each in exprs if each is not None))}


def _parts(aggregations: Mapping[str, Aggregation]) -> dict[str, Any]:
    """The aggregates that the results are made of, by name."""
    return {
        f"{column}_{number}": part for column, each in aggregations.items() for number, part in enumerate(each.parts)
    }


def _finished(aggregations: Mapping[str, Aggregation], table: Any) -> dict[str, Any]:  # noqa: ANN401 — Ibis tables and values
    """The results, of the table with the aggregates."""
    return {
        column: each.finish(*(table[f"{column}_{number}"] for number in range(len(each.parts))))
        for column, each in aggregations.items()
    }


@dataclass(frozen=True, slots=True)
class _Partition:
    """The rows that a window looks at.

    Args:
        table: their Ibis table.
        by: what they have in common: the unit, and what the question adds.
        columns: all of their columns.
        values: the columns that hold what is sorted by, or looked at, by the expression.
    """

    table: Any
    by: Sequence[Any]
    columns: Sequence[Any]
    values: Mapping[ir.Expr, Any]


def _windowed(column: ir.Windowed, rows: _Partition) -> Aggregation:
    """How a window function is computed."""
    if isinstance(column.function, ir.Summary):
        return _summary(column, column.function, rows)
    return _ranking(column, column.function, rows)


def _summary(column: ir.Windowed, summary: ir.Summary, rows: _Partition) -> Aggregation:
    """A summary of the whole partition; with an order, of the rows up to the last that is equal in it."""
    import ibis

    frame = {"range": (None, 0)} if column.order else {}
    window = ibis.window(group_by=rows.by, order_by=_order(column, rows), **frame)
    value = rows.table if column.argument is None else rows.values[column.argument]
    found = aggregation(summary, value, _type(column), column.type, column.grid)
    return Aggregation(tuple(part.over(window) for part in found.parts), found.finish)


def _ranking(column: ir.Windowed, ranking: ir.Ranking, rows: _Partition) -> Aggregation:
    """A row's place, or a value from its neighbours."""
    import ibis

    order = _order(column, rows)
    ties = [ibis.asc(each, nulls_first=False) for each in rows.columns]
    peers = ibis.window(group_by=rows.by, order_by=order)
    total = ibis.window(group_by=rows.by, order_by=[*order, *ties])
    match ranking:
        case ir.Ranking.ROW_NUMBER:
            return Aggregation((ibis.row_number().over(total),), lambda before: before + 1)
        case ir.Ranking.RANK:
            return Aggregation((ibis.rank().over(peers),), lambda before: before + 1)
        case ir.Ranking.DENSE_RANK:
            return Aggregation((ibis.dense_rank().over(peers),), lambda before: before + 1)
    if column.argument is None:
        raise TypeError("what isn't a row's place is taken from another row")
    value = rows.values[column.argument]
    match ranking:
        case ir.Ranking.LAG:
            found = value.lag(column.offset).over(total)
        case ir.Ranking.LEAD:
            found = value.lead(column.offset).over(total)
        case ir.Ranking.FIRST_VALUE:
            found = value.first(include_null=True).over(total)
        case ir.Ranking.LAST_VALUE:  # the frame ends with the last row that is equal in the order
            equal = [rows.values[term.expr] for term in column.order]
            found = value.last(include_null=True).over(ibis.window(group_by=[*rows.by, *equal], order_by=ties))
        case _:
            raise unforeseen(ranking)
    return Aggregation((found,), lambda value: within_range(value, _type(column), column.type))


def _order(column: ir.Windowed, rows: _Partition) -> list[Any]:
    """The ORDER BY of a window. Of two terms about one expression the first counts, not the last as in Ibis."""
    import ibis

    terms = {term.expr: term for term in reversed(column.order)}
    return [
        (ibis.desc if term.descending else ibis.asc)(rows.values[expr], nulls_first=term.nulls_first)
        for expr, term in reversed(terms.items())
    ]


def _type(column: ir.Windowed) -> ir.Type:
    """The type of what a window looks at; of the result, if that is nothing but rows."""
    return column.type if column.argument is None else column.argument.type
