"""Clamping profiles: of how many units bounds move values to their ends, asked privately.

A bound is a promise about values that nobody may have checked. How many units have all values within, some a little
beyond, some far beyond, is a histogram to which each unit adds 1, however far its values lie out. It is asked of the
whole table, so that it serves all later questions about the column for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

from discreet.privacy import Bounds
from discreet.query import ir
from discreet.query.ir import call, column_type, literal
from discreet.query.planner.bounds_profile import WIDEST, classes, units
from discreet.results import Moved
from discreet.tables import Column, Table, owner_of

CLASSES = 5
"""No value; all within the bounds; some beyond, by up to a tenth of their width; by up to their width; by more."""

_STATISTICS = {
    ir.Statistic.SUM,
    ir.Statistic.AVG,
    ir.Statistic.VAR_POP,
    ir.Statistic.VAR_SAMP,
    ir.Statistic.STDDEV_POP,
    ir.Statistic.STDDEV_SAMP,
    ir.Statistic.COVAR_POP,
    ir.Statistic.COVAR_SAMP,
    ir.Statistic.CORR,
}
"""What a moved value biases by as much as it is moved. Quantiles and counts mind little."""

_ALIAS = "\x00moved"
"""No question can spell it."""


def bounded_columns(question: ir.Question) -> list[tuple[Table, Column]]:
    """The columns of private tables whose values are moved into bounds before a question adds them up."""
    found: dict[tuple[str, str], tuple[Table, Column]] = {}
    scans = {scan.alias: scan for scan in ir.scans(question.source) if scan.owner is not None}
    for reference in _origins(question):
        if reference.table not in scans:
            continue
        table = scans[reference.table].table
        column = table.column(reference.name)
        if column.kind.is_number and column.bounds is not None and column.keys is None:
            found[table.name, column.name] = table, column
    return list(found.values())


def clamping_question(tables: Sequence[Table], table: Table, column: Column) -> tuple[ir.Question, tuple[Table, ...]]:
    """How many units have values how far beyond a column's bounds; and the tables of which that is asked.

    There the column has the widest bounds of all, so that its values are still to be seen. A unit adds 1 to one class,
    whatever its values: so the question is as private as any other.

    Args:
        tables: all, with the bounds in force.
        table: that of the column.
        column: of number kind, with bounds.
    """
    wide = replace(column, bounds=WIDEST)
    widened = replace(table, columns=tuple(wide if each.name == column.name else each for each in table.columns))
    tables = tuple(widened if each.name == table.name else each for each in tables)
    owner = owner_of(widened, tables)
    scan = ir.Scan(widened, (column.name,), owner, table.name)
    value = ir.Column(table.name, column.name, column_type(wide))
    if owner is None or owner.unit.is_row:
        least = greatest = value
        source: ir.Relation = scan
    else:
        source = units(scan, value, _ALIAS, {"least": ir.Summary.MIN, "greatest": ir.Summary.MAX})
        least, greatest = (ir.Column(_ALIAS, name, value.type) for name in ("least", "greatest"))
    lo, hi = _ends(column)
    width = hi - lo
    conditions = [call("is_null", least)]
    for beyond in (Fraction(0), width / 10, width):
        within = (call("ge", least, literal(lo - beyond)), call("le", greatest, literal(hi + beyond)))
        conditions.append(call("and", *within))
    return classes(source, f"moved {table.name}.{column.name}", conditions), tables


def moved(table: Table, column: Column, counts: Sequence[int], scale: float) -> Moved[Bounds]:
    """What bounds move.

    Args:
        table: that of the column.
        column: with its bounds.
        counts: how many units are in each of the classes, noise included.
        scale: of the noise.
    """
    lo, hi = _ends(column)
    total = max(sum(counts[1:]), 1.0)
    share, far = (min(max(sum(some) / total, 0.0), 1.0) for some in (counts[2:], counts[4:]))
    return Moved(f"{table.name}.{column.name}", Bounds(lo, hi), share, far, min(2 * scale * sqrt(2 * 3) / total, 1.0))


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    """The bounds of a column of numbers."""
    if column.bounds is None:
        raise TypeError("a column without bounds moves nothing")
    return Fraction(column.bounds.lo), Fraction(column.bounds.hi)  # type: ignore[arg-type]  # numbers, as the column is


def _origins(question: ir.Question) -> Iterator[ir.Column]:
    """The columns that go into what a question adds up, and those that these are computed from, down to the tables."""
    made = dict(_made(question.source))
    waiting = [
        column
        for aggregate in question.aggregates
        if aggregate.statistic in _STATISTICS
        for argument in (aggregate.argument, aggregate.other)
        if argument is not None
        for column in ir.columns_in(argument)
    ]
    seen = set[tuple[str, str]]()
    while waiting:
        column = waiting.pop()
        name = (column.table, column.name.casefold())
        if name not in seen:
            seen.add(name)
            yield column
            waiting += [each for expr in made.get(name, ()) for each in ir.columns_in(expr)]


def _made(relation: ir.Relation) -> Iterator[tuple[tuple[str, str], list[ir.Expr]]]:
    """What the columns of a relation, and of those below it, are computed from."""
    pairs: list[tuple[str, str, list[ir.Expr]]] = []
    match relation:
        case ir.Project(alias=alias, columns=projected):
            pairs = [(alias, name, [expr]) for name, expr in projected]
        case ir.PerUnit(alias=alias, keys=keys, columns=computed):
            pairs = [(alias, name, [expr]) for name, expr in keys]
            pairs += [(alias, each.name, [each.argument]) for each in computed if each.argument is not None]
        case ir.Window(alias=alias, columns=windowed):
            pairs = [(alias, each.name, [each.argument]) for each in windowed if each.argument is not None]
        case ir.Union(alias=alias, parts=parts, columns=held):
            pairs = [(alias, name, [part.columns[place][1] for part in parts]) for place, (name, _) in enumerate(held)]
        case _:
            pass
    yield from (((alias, name.casefold()), exprs) for alias, name, exprs in pairs)
    for below in ir.sources(relation):
        yield from _made(below)
