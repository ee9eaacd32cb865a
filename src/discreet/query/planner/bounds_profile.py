"""Bounds profiles: within which bounds a column's values lie, asked privately.

How many units have their greatest value at most 1, at most 1.5, at most 2, and so on, is a histogram to which each unit
adds 1, whatever its values. So is how many have their least value at least so much. Both are asked like any other
question, of the whole table, for a stated share of the offer; where nobody declared bounds, those that err least are
read off them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.errors import InvalidArgument, UnknownColumn
from discreet.privacy import Bounds
from discreet.query import ir
from discreet.query.aggregates import COUNT
from discreet.query.ir import call, column_type, literal
from discreet.tables import Column, Kind, Table, owner_of

_HALVES = tuple(Fraction(half) * Fraction(2) ** power for power in range(-11, 40) for half in (2, 3))
ENDS = (*(-end for end in reversed(_HALVES)), Fraction(0), *_HALVES)
"""The bounds that can be chosen: half powers of two of either sign, and 0."""

WIDEST = Bounds(min(ENDS), max(ENDS))
"""The bounds of a column that declares none, before anything is known of it."""

_SEEN = 12
"""A class with fewer units than this many noise scales is taken to be empty. There are more of them than in a profile,
and one far out that looks full for nothing would spoil the bounds: the chance is below 1 in 1,000 at either end."""

OUTSIDE = 1e-4
"""The share of all draws in which noise may reach farther than a profile allows for."""

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
    """The bounds that both allow."""
    if wanted.is_time:
        raise InvalidArgument(f"bounds of {name!r} are numbers")
    if declared is None:
        return wanted
    lo = max(Fraction(declared.lo), Fraction(wanted.lo))  # type: ignore[arg-type]  # numbers, as the column is
    hi = min(Fraction(declared.hi), Fraction(wanted.hi))  # type: ignore[arg-type]  # as above
    if lo > hi:
        raise InvalidArgument(f"bounds of {name!r} lie outside of those that are declared, {declared}")
    return Bounds(lo, hi)
