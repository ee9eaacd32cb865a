"""Parts of answers: what each number means, and how far it errs, for a first look at which answers may serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import inf

from discreet.errors import unforeseen
from discreet.query import ir
from discreet.query.aggregates import Moment, centred
from discreet.query.estimates import Linear
from discreet.query.planner import CONFIDENCE, Cells, Draft

ROUNDED = 1 + 1e-9
"""Errors that are equal but for the rounding of floats count as equal."""


def meaning(measure: ir.Measured | None) -> str:
    """The meaning of a measure, whatever its grid: equal where the same rows give the same numbers."""
    match measure:
        case ir.Sum(value=value, is_rest=is_rest):
            return f"sum({'rest of ' if is_rest else ''}{value})"
        case ir.Vector(values=values, rows=rows):
            return f"vector({', '.join(map(str, values))}{'' if rows is None else f', {rows} rows'})"
        case ir.Histogram(value=value, size=size):
            return f"histogram({value}, {size})"
        case ir.Units() | ir.DistinctValues() | None:
            return str(measure)
        case ir.Room():
            raise TypeError("room is one number of a vector, and no measure by itself")
        case _:
            raise unforeseen(measure)


def held(draft: Draft) -> dict[str, float]:
    """The meanings of an answer's parts, each with its error."""
    totals = [{meaning(noise.measure): float(noise.radius(CONFIDENCE))} for noise in draft.noises]
    choices = [{meaning(one.measure): one.reach(CONFIDENCE)} for one in draft.selections]
    told = [{name: of.radius(draft.laws, CONFIDENCE)} for cells in draft.cells for name, of in _told(cells)]
    return least([*totals, *choices, *told])


def _told(cells: Cells) -> Iterator[tuple[str, Linear]]:
    """The meanings of the sums that cells were made to tell, and how they are read."""
    for moment in cells.moments:
        found = cells.read(moment)
        if found is not None:
            yield f"sum({moment.summand})", found
    if cells.units is not None:
        yield meaning(ir.Units(name="")), cells.units
    for value in _values(cells):
        count, total = (cells.read(Moment.of((value, power))) for power in range(2))
        if count is not None and total is not None:
            yield f"sum({value})", total.plus(count.times(centred(value)[0]))


def _values(cells: Cells) -> Iterator[ir.Expr]:
    """The values whose sums cells tell."""
    for moment in cells.moments:
        match moment.powers:
            case ((value, 1),):
                yield value
            case _:  # counts, squares and products
                continue


def wanted(draft: Draft) -> dict[str, float]:
    """The meanings of which an answer must hold one to serve a question, each with the most that it may err.

    A sum about another centre may err more, for a first look; so may one of several from which a moment is read.
    """
    values = [measure.value for measure in draft.measures if isinstance(measure, ir.Sum)]
    values += [moment.summand for cells in draft.cells for moment in cells.moments]
    bases = [base for value in values for base, centre in about(value) if centre]
    centred_ = {f"sum({each})": inf for base in bases for each in (base, summand(base))}
    told = {name: inf for cells in draft.cells for name, _ in _told(cells)}
    return {meaning_: error * ROUNDED for meaning_, error in held(draft).items()} | centred_ | told


def least(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The least error of each meaning."""
    found: dict[str, float] = {}
    for each in many:
        for name, error in each.items():
            found[name] = min(error, found.get(name, error))
    return found


def about(value: ir.Expr) -> Iterator[tuple[ir.Expr, Fraction]]:
    """Two ways to see a summed value, each with its centre: x − c is itself about 0, and x about c."""
    yield value, Fraction(0)
    match value:
        case ir.Call(
            function=ir.Function(name="subtract"), args=(base, ir.Literal(value=int() | Fraction() as centre))
        ) if not isinstance(centre, bool):
            yield ir.uncast(base), Fraction(centre)


def summand(value: ir.Expr) -> ir.Expr:
    """The value without a COALESCE to 0: sums pass over NULL, so 0 in its place changes nothing."""
    match value:
        case ir.Call(function=ir.Function(name="coalesce"), args=(base, ir.Literal(value=0))):
            return base
        case _:
            return value
