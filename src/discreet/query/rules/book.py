"""The book of measures: what is to be counted, added up or chosen from, each once."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, prod

from discreet.errors import InvalidArgument, UnboundedColumn
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Grid, Pick, grid_of
from discreet.query.ir import literal
from discreet.tables import Kind

_REAL_BITS = 32
"""A real number is put on a grid of some 2³² steps from 0 to its greatest size: rounding a row then errs by less than
1e-9 of that. It is a coarser one only where the offer is so small, or limits are so wide, that noise is far wider."""

_WEIGHT_BITS = 20
"""Where limits scale a unit's rows, whole numbers get 2²⁰ steps each, so that rounding loses next to nothing."""

_FINEST = -1_022
"""No step is finer than 2⁻¹⁰²²: engines put values into steps by a product with a double, which has an end there."""

_COARSEST = 62
"""No step of whole numbers is coarser than 2⁶²: engines count in 64 bits."""

_NOISE_BITS = 56
"""Steps per noise scale stay below 2⁵⁶, within what the samplers do exactly in 64 bits."""


class Book:
    """The measures so far; asking for an equal one again gives the same."""

    def __init__(self, draft: Draft) -> None:
        """Start with none."""
        self.measures: list[ir.Measure] = []
        self.histograms: list[ir.Histogram] = []
        self.picks: list[Pick] = []
        self._draft = draft

    def units(self) -> str:
        """The number of units; where each has one row in a group, or in all groups, that of rows, which is the same."""
        limits = self._draft.limits
        if self._draft.unit.is_row or limits.rows_per_group == 1 or (limits.rows == 1 and self._draft.keys):
            return self.rows()
        for measure in self.measures:
            if isinstance(measure, ir.Units):
                return measure.name
        return self._add(ir.Units(name=self._fresh()))

    def rows(self) -> str:
        """The number of rows."""
        return self.sum(literal(1))

    def sum(self, value: ir.Expr) -> str:
        """The sum of an expression.

        Raises:
            InvalidArgument: so little is offered that no step holds the noise.
        """
        for measure in self.measures:
            if isinstance(measure, ir.Sum) and measure.value == value:
                return measure.name
        lo, hi = range_of(value)
        fine = self._fine_rows if value.type.kind is Kind.INTEGER else _exponent(max(abs(lo), abs(hi))) - _REAL_BITS
        grid = max(fine, self._coarsest(max(abs(lo), abs(hi))), _FINEST)
        if value.type.kind is Kind.INTEGER and grid > _COARSEST:
            raise InvalidArgument("so small an offer drowns every number in its noise", hint="offer more")
        step = Fraction(2) ** grid
        return self._add(ir.Sum(name=self._fresh(), value=value, grid=grid, lo=floor(lo / step), hi=ceil(hi / step)))

    def distinct(self, value: ir.Expr) -> str:
        """The number of an expression's different values."""
        for measure in self.measures:
            if isinstance(measure, ir.DistinctValues) and measure.value == value:
                return measure.name
        return self._add(ir.DistinctValues(name=self._fresh(), value=value))

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:
        """A quantile of an expression, and the grid it is chosen from."""
        unknown = self._draft.has_private_keys
        grid = grid_of(value.type, 0 if unknown else prod(len(key.values or ()) for key in self._draft.keys))
        histogram = self._histogram(grid.number(value), None, grid.size)
        return self._pick(histogram, fraction, 1), grid

    def fullest(self, value: ir.Expr, most: int) -> Pick:
        """The most frequent of an expression's public values."""
        values = value.type.values or ()
        histogram = self._histogram(value, values, len(values))
        return self._pick(histogram, None, min(most, len(values)))

    def _histogram(self, value: ir.Expr, values: tuple[KeyValue, ...] | None, size: int) -> str:
        """How many rows have each of some values."""
        for known in self.histograms:
            if (known.value, known.values, known.size) == (value, values, size):
                return known.name
        # Finer than whole rows even where these weigh the same: so noise on them is next to continuous.
        grid = max(-_WEIGHT_BITS, self._coarsest(Fraction(1)))
        self.histograms.append(ir.Histogram(name=self._fresh(), value=value, values=values, size=size, grid=grid))
        return self.histograms[-1].name

    def _pick(self, histogram: str, fraction: Fraction | None, most: int) -> Pick:
        """A choice from a histogram."""
        for known in self.picks:
            if (known.histogram, known.fraction, known.most) == (histogram, fraction, most):
                return known
        self.picks.append(Pick(name=f"c{len(self.picks)}", histogram=histogram, fraction=fraction, most=most))
        return self.picks[-1]

    @property
    def _fine_rows(self) -> int:
        """The exponent of the step in which rows and whole numbers are counted."""
        return 0 if self._draft.unit.is_row else -_WEIGHT_BITS

    def _coarsest(self, size: Fraction) -> int:
        """The exponent at which the noise fills `_NOISE_BITS` bits, so that a step may not be finer."""
        limits = self._draft.limits
        weight = limits.rows if limits.rows is not None else (limits.groups or 1) * (limits.rows_per_group or 1)
        request = self._draft.request
        offer = Fraction(1, 2**14) if request.within else request.epsilon or request.rho or Fraction(1)
        least = min(offer, Fraction(1)) / 2**16  # far below the share that any measure gets
        return _exponent(2 * size * weight / least) - _NOISE_BITS

    def _fresh(self) -> str:
        """A name for the next measure."""
        return f"m{len(self.measures) + len(self.histograms)}"

    def _add(self, measure: ir.Measure) -> str:
        """Enter a measure."""
        self.measures.append(measure)
        return measure.name


def range_of(value: ir.Expr) -> tuple[Fraction, Fraction]:
    """The range of a value that is to be added up.

    Raises:
        UnboundedColumn: an end isn't known.
    """
    if value.type.lo is None or value.type.hi is None:
        raise UnboundedColumn(
            "a sum needs bounds on what one row can add",
            hint="declare bounds for the column, or clamp in the question: GREATEST(LEAST(x, 100), 0)",
        )
    return value.type.lo, value.type.hi


def _exponent(size: Fraction) -> int:
    """The least e with size ≤ 2^e; 0 for size 0."""
    if size <= 0:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if size <= Fraction(2) ** exponent else exponent + 1
