"""Clamping: how many units have values that bounds move, asked privately.

A declared bound is a promise about values that nobody may have checked. How many units have all values within, some a
little beyond, some far beyond, is a histogram to which each unit adds 1, however far its values lie out. It is asked of
the whole table, so that it serves all later questions about the column for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import unforeseen
from discreet.privacy import Bounds
from discreet.query import ir
from discreet.query.estimates import Noise, can_be_summed
from discreet.query.ir import call, column_type, literal
from discreet.query.planner.bounds_profile import ENDS, OUTSIDE, WIDEST, classes, units
from discreet.results import Moved
from discreet.tables import Column, Table, owner_of

CLASSES = 5
"""No value; all within the bounds; some beyond, by up to a tenth of their width; by up to their width; by more."""

_MOVED_ALIAS = "\x00moved"
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
        source = units(scan, value, _MOVED_ALIAS, {"least": ir.Summary.MIN, "greatest": ir.Summary.MAX})
        least, greatest = (ir.Column(_MOVED_ALIAS, name, value.type) for name in ("least", "greatest"))
    lo, hi = _ends(column)
    width = hi - lo
    conditions = [call("is_null", least)]
    for beyond in (Fraction(0), width / 10, width):
        within = (call("ge", least, literal(lo - beyond)), call("le", greatest, literal(hi + beyond)))
        conditions.append(call("and", *within))
    return classes(source, conditions, f"the moved {table.name}.{column.name}, for bounds"), tables


def moved(table: Table, column: Column, counts: Sequence[int], noise: Noise) -> Moved[Bounds]:
    """Estimate what bounds move, from the noisy classes.

    Args:
        table: that of the column.
        column: with its bounds.
        counts: how many units are in each of the classes, noise included.
        noise: in each of them.
    """
    lo, hi = _ends(column)
    units = [_Units(sum(some), _reach(noise, len(some))) for some in (counts[1:], counts[2:], counts[4:])]
    return _moved(f"{table.name}.{column.name}", Bounds(lo, hi), *units)


def moved_by_chosen(
    name: str, bounds: Bounds, lows: Sequence[int], highs: Sequence[int], noise: Noise
) -> Moved[Bounds]:
    """Estimate what bounds move that these very classes chose: units whose ends lie beyond, as far as classes tell.

    Args:
        name: of the column, with its table.
        bounds: that were chosen.
        lows: how many units have their least value in each class, from the greatest end down.
        highs: how many have their greatest value in each class, from the least end up.
        noise: in each class.
    """
    lo, hi = Fraction(bounds.lo), Fraction(bounds.hi)  # type: ignore[arg-type]  # numbers, as `bounds_of` made them
    some = [
        [
            held
            for counts, end in ((highs, hi + far), (lows, far - lo))
            for last, held in zip(ENDS, counts, strict=True)
            if last > end
        ]
        for far in (Fraction(0), hi - lo)
    ]
    return _moved(name, bounds, *(_Units(sum(each), _reach(noise, len(each))) for each in (highs, *some)))


@dataclass(frozen=True, slots=True)
class _Units:
    """How many units there are of some kind.

    Args:
        seen: the noisy number.
        reach: how far noise reaches in it.
    """

    seen: int
    reach: float

    def margin(self, share: float, whole: _Units) -> float:
        """How much the share of these in all may be off.

        If s of t are seen, S and T are there, and r and r′ are how far noise reaches, s/t − S/T is the sum of
        (s − S)/t and S/T·(T − t)/t, so it is at most r/t + S/T·r′/t in size.
        """
        total = max(whole.seen, 1.0)
        most = min((self.seen + self.reach) / max(whole.seen - whole.reach, 1.0), 1.0)
        return min((self.reach + max(most, share) * whole.reach) / total, 1.0)


def _moved(name: str, bounds: Bounds, whole: _Units, beyond: _Units, far: _Units) -> Moved[Bounds]:
    """The units that bounds move, and those that they move far, out of all units."""
    total = max(whole.seen, 1.0)
    one, other = (min(max(each.seen / total, 0.0), 1.0) for each in (beyond, far))
    return Moved(name, bounds, one, other, max(beyond.margin(one, whole), far.margin(other, whole)))


def _reach(noise: Noise, number: int) -> float:
    """The farthest that a sum of that many noises reaches, but for `OUTSIDE` of all draws."""
    outside = OUTSIDE / 3  # of all units, of those that are moved, and of those that are moved far
    if number and can_be_summed(noise.mechanism, number):
        return float(replace(noise, number=number).radius(1 - outside))
    return number * float(noise.radius(1 - outside / number)) if number else 0.0


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
        if aggregate.function.adds_up
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
    """The columns of a relation and of those below it, with the expressions they are computed from."""
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
        case ir.Scan() | ir.Where() | ir.Join() | ir.Distinct():
            pass
        case _:
            raise unforeseen(relation)
    yield from (((alias, name.casefold()), exprs) for alias, name, exprs in pairs)
    for below in ir.sources(relation):
        yield from _made(below)
