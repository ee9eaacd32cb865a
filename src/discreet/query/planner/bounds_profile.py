"""Bounds profiles: within which bounds a column's values lie, and how many units bounds clamp, asked privately.

How many units have their greatest value at most 1, at most 1.5, at most 2, and so on, is a histogram to which each unit
adds 1, whatever its values. So is how many have their least value at least so much. Both are asked like any other
question, of the whole table, for a stated share of the offer; where nobody declared bounds, those that err least are
read off them.

A declared bound is a promise about values that nobody may have checked. How many units have all values within, some a
little beyond, some far beyond, is a histogram to which each unit adds 1, however far its values lie out. It is asked of
the whole table, so that it serves all later questions about the column for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from discreet.errors import InvalidArgument, UnknownColumn
from discreet.privacy import Bounds
from discreet.query import ir
from discreet.query.aggregates import COUNT
from discreet.query.estimates import Noise, can_be_summed
from discreet.query.ir import call, column_type, literal
from discreet.results import Moved
from discreet.tables import Column, Kind, Table, owner_of

_HALVES = tuple(Fraction(half) * Fraction(2) ** power for power in range(-11, 40) for half in (2, 3))
ENDS = (*(-end for end in reversed(_HALVES)), Fraction(0), *_HALVES)
"""What a bound may be: half powers of two of either sign, and 0."""

WIDEST = Bounds(min(ENDS), max(ENDS))
"""What an unbounded column's values are moved into before anything is known of them."""

_SEEN = 12
"""A class with fewer units than this many noise scales is taken to be empty. There are more of them than in a profile,
and one far out that looks full for nothing would spoil the bounds: the chance is below 1 in 1,000 at either end."""

OUTSIDE = 1e-4
"""In which share of all draws noise may reach farther than what is said of a profile allows for."""

_ALIAS = "\x00span"
"""No question can spell it."""


def rebound(tables: Sequence[Table], bounds: Mapping[str, Bounds]) -> tuple[Table, ...]:
    """The tables with narrower bounds for some columns: what an analyst would write as GREATEST(LEAST(x, hi), lo).

    Args:
        tables: as declared.
        bounds: by column, or by table and column where a name occurs twice.

    Raises:
        UnknownColumn: there is no such column, or several.
        InvalidArgument: it has keys, isn't a number, or its declared bounds lie elsewhere.
    """
    found = tuple(tables)
    for name, wanted in bounds.items():
        table, column = named(tables, name)
        narrow = replace(column, bounds=_common(name, column.bounds, wanted))
        columns = tuple(narrow if each.name == column.name else each for each in table.columns)
        found = tuple(replace(each, columns=columns) if each.name == table.name else each for each in found)
        tables = found
    return found


def known(request_bounds: Sequence[tuple[str, Bounds | str]]) -> dict[str, Bounds]:
    """The bounds of a request; the widest there are, where they are yet to be chosen."""
    return {name: ends if isinstance(ends, Bounds) else WIDEST for name, ends in request_bounds}


def named(tables: Sequence[Table], name: str) -> tuple[Table, Column]:
    """The table and column of that name; `visits.amount` or `amount`."""
    before, _, last = name.rpartition(".")
    held = [
        (table, column)
        for table in tables
        if not table.public and before.casefold() in {"", table.name.casefold()}
        for column in table.columns
        if column.name.casefold() == last.casefold()
    ]
    if len(held) != 1:
        what = "no private table has" if not held else "several tables have"
        raise UnknownColumn(f"bounds name {name!r}, and {what} such a column", hint="table.column")
    table, column = held[0]
    if not column.kind.is_number or column.keys is not None:
        raise InvalidArgument(f"column {name!r} takes no bounds: it isn't a number, or keys say what it holds")
    return table, column


def bounds_questions(tables: Sequence[Table], name: str) -> tuple[ir.Question, ir.Question]:
    """How many units have their least value in which class, and how many their greatest.

    Args:
        tables: all, as declared.
        name: of the column.
    """
    table, column = named(tables, name)
    owner = owner_of(table, tables)
    scan = ir.Scan(table, (column.name,), owner, table.name)
    value = ir.Column(table.name, column.name, column_type(column))
    end = value if owner is None or owner.unit.is_row else ir.Column(_ALIAS, "end", value.type)
    lows = [call("ge", end, literal(each)) for each in reversed(ENDS)]
    highs = [call("le", end, literal(each)) for each in ENDS]
    return (
        classes(units(scan, value, _ALIAS, {"end": ir.Summary.MIN}), lows, f"the least {name}, for bounds"),
        classes(units(scan, value, _ALIAS, {"end": ir.Summary.MAX}), highs, f"the greatest {name}, for bounds"),
    )


def bounds_of(lows: Sequence[int], highs: Sequence[int], scale: float, *, price: float, kind: Kind) -> Bounds:
    """Bounds at which noise, and what is cut off of values beyond them, are least together.

    Args:
        lows: how many units have their least value in each class, from the greatest end down.
        highs: how many have their greatest value in each class, from the least end up.
        scale: of their noise.
        price: how much the noise of a sum grows with its bound.
        kind: of the values.
    """
    hi = _best(highs, scale, price)
    lo = -_best(lows, scale, price)
    if kind is Kind.INTEGER:
        lo, hi = Fraction(floor(lo)), Fraction(ceil(hi))
    return Bounds(min(lo, hi), max(lo, hi))


def _best(counts: Sequence[int], scale: float, price: float) -> Fraction:
    """The end at which noise and what lies beyond are least together.

    Args:
        counts: units by their greatest value, in the order of `ENDS`, which is its own mirror image.
        scale: of the noise in them.
        price: as for `bounds_of`.
    """
    firsts = (ENDS[0], *ENDS)
    seen = [
        (float(first + last) / 2, held)
        for first, last, held in zip(firsts, ENDS, counts, strict=False)
        if held > _SEEN * scale
    ]

    def error(end: Fraction) -> float:
        return float(end) * price + sum(held * max(middle - float(end), 0) for middle, held in seen)

    return min(ENDS, key=error) if seen else Fraction(1)


def units(scan: ir.Scan, value: ir.Column, alias: str, summaries: Mapping[str, ir.Summary]) -> ir.Relation:
    """One row for each unit, with summaries of its values; the rows themselves, where they are the units."""
    if scan.owner is None or scan.owner.unit.is_row:
        return scan
    summarized = tuple(
        ir.Summarized(name=name, summary=summary, argument=value, type=value.type)
        for name, summary in summaries.items()
    )
    return ir.PerUnit(scan, alias, (), summarized, single=True)


def classes(source: ir.Relation, conditions: Sequence[ir.Expr], text: str, dialect: str = "duckdb") -> ir.Question:
    """How many units fulfil which condition first; those that fulfil none, or hold NULL, are in the last class.

    Args:
        source: with a row for each unit.
        conditions: in order.
        text: what the question is shown as.
        dialect: of that text.
    """
    parts = [part for number, each in enumerate(conditions) for part in (each, literal(number))]
    numbered = call("if", *parts, literal(len(conditions)))
    listed = ir.Type(
        Kind.INTEGER, Fraction(0), Fraction(len(conditions)), nullable=False, values=tuple(range(len(conditions) + 1))
    )
    key = ir.Call(numbered.function, numbered.args, listed) if isinstance(numbered, ir.Call) else numbered
    counted = ir.Aggregate(name="units", function=COUNT, argument=None)
    return ir.Question(
        text=text,
        dialect=dialect,
        source=source,
        keys=(("class", key),),
        aggregates=(counted,),
        outputs=(
            ir.Output(name="class", expr=ir.Released("class", listed)),
            ir.Output(name="units", expr=ir.Released("units", ir.Type(Kind.INTEGER, nullable=False))),
        ),
    )


def _common(name: str, declared: Bounds | None, wanted: Bounds) -> Bounds:
    """What both bounds allow."""
    if wanted.is_time:
        raise InvalidArgument(f"bounds of {name!r} are numbers")
    if declared is None:
        return wanted
    lo = max(Fraction(declared.lo), Fraction(wanted.lo))  # type: ignore[arg-type]  # numbers, as the column is
    hi = min(Fraction(declared.hi), Fraction(wanted.hi))  # type: ignore[arg-type]  # as above
    if lo > hi:
        raise InvalidArgument(f"bounds of {name!r} lie outside of those that are declared, {declared}")
    return Bounds(lo, hi)


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
    """What bounds move.

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
    """What bounds move that were chosen by these classes: of units whose ends lie beyond, as far as classes tell.

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
        """By how much the share of these in all may be off.

        If s of t are seen, S and T are there, and r and r′ are how far noise reaches, s/t − S/T is the sum of
        (s − S)/t and S/T·(T − t)/t, so it is at most r/t + S/T·r′/t in size.
        """
        total = max(whole.seen, 1.0)
        most = min((self.seen + self.reach) / max(whole.seen - whole.reach, 1.0), 1.0)
        return min((self.reach + max(most, share) * whole.reach) / total, 1.0)


def _moved(name: str, bounds: Bounds, whole: _Units, beyond: _Units, far: _Units) -> Moved[Bounds]:
    """What bounds move, of all units, those that are moved, and those that are moved far."""
    total = max(whole.seen, 1.0)
    one, other = (min(max(each.seen / total, 0.0), 1.0) for each in (beyond, far))
    return Moved(name, bounds, one, other, max(beyond.margin(one, whole), far.margin(other, whole)))


def _reach(noise: Noise, number: int) -> float:
    """How far a sum of so many noises reaches, at the most, but for `OUTSIDE` of all draws."""
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
