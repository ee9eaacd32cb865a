"""What is counted and added up: each aggregate as sums of integers on a grid."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.dataset import Kind
from discreet.errors import UnboundedColumn
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimators import Estimator
from discreet.query.functions import call, literal

_REAL_BITS = 32
"""A real number is put on a grid of 2³² steps for its range: rounding a row then errs by less than 1e-9 of it."""

_WEIGHT_BITS = 20
"""Where limits scale a unit's rows, whole numbers get 2²⁰ steps each, so that rounding loses next to nothing."""

_NOISE_BITS = 56
"""Steps per noise scale stay below 2⁵⁶, within what the samplers do exactly in 64 bits."""

_SPREADS = {ir.Statistic.VAR_POP, ir.Statistic.VAR_SAMP, ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}


def measures(draft: Draft) -> Draft:
    """Say which integers are needed, each once, and how the aggregates come from them.

    AVG takes a count and a sum about the middle of the bounds; VAR and STDDEV also a sum of squares. Private groups
    are selected by their number of units: a measure of its own, unless the question asks for that number anyway.

    Raises:
        UnboundedColumn: a sum of values whose range nothing declares.
    """
    book = _Book(draft)
    estimators = tuple((aggregate.name, _estimator(aggregate, book)) for aggregate in draft.question.aggregates)
    selector = book.units() if draft.has_private_keys else None
    return replace(draft, measures=tuple(book.measures), estimators=estimators, selector=selector)


class _Book:
    """The measures so far; asking for an equal one again gives the same."""

    def __init__(self, draft: Draft) -> None:
        """Start with none."""
        self.measures: list[ir.Measure] = []
        self._draft = draft

    def units(self) -> str:
        """The number of units."""
        if self._draft.table.unit.is_row:
            return self.rows()
        for measure in self.measures:
            if isinstance(measure, ir.Units):
                return measure.name
        return self._add(ir.Units(name=self._fresh()))

    def rows(self) -> str:
        """The number of rows."""
        return self.sum(literal(1))

    def sum(self, value: ir.Expr) -> str:
        """The sum of an expression."""
        for measure in self.measures:
            if isinstance(measure, ir.Sum) and measure.value == value:
                return measure.name
        lo, hi = _range(value)
        grid = self._grid(value.type.kind, max(abs(lo), abs(hi)))
        step = Fraction(2) ** grid
        return self._add(ir.Sum(name=self._fresh(), value=value, grid=grid, lo=floor(lo / step), hi=ceil(hi / step)))

    def _grid(self, kind: Kind, size: Fraction) -> int:
        """The exponent of the step for values of this kind and size: from public facts alone."""
        if kind is Kind.INTEGER:
            fine = 0 if self._draft.table.unit.is_row else -_WEIGHT_BITS
        else:
            fine = _exponent(size) - _REAL_BITS
        return max(fine, self._coarsest(size))

    def _coarsest(self, size: Fraction) -> int:
        """The exponent at which the noise fills `_NOISE_BITS` bits, so that a step may not be finer."""
        limits = self._draft.limits
        weight = limits.rows if limits.rows is not None else (limits.groups or 1) * (limits.rows_per_group or 1)
        request = self._draft.request
        offer = Fraction(1, 2**14) if request.within else request.epsilon or request.rho or Fraction(1)
        least = min(offer, Fraction(1)) / 2**6  # as if it were shared among 64 measures
        return _exponent(2 * size * weight / least) - _NOISE_BITS

    def _fresh(self) -> str:
        """A name for the next measure."""
        return f"m{len(self.measures)}"

    def _add(self, measure: ir.Measure) -> str:
        """Enter a measure."""
        self.measures.append(measure)
        return measure.name


def _estimator(aggregate: ir.Aggregate, book: _Book) -> Estimator:
    """How one aggregate comes from measures."""
    statistic, value = aggregate.statistic, aggregate.argument
    if statistic is ir.Statistic.UNITS:
        return Estimator(statistic=statistic, count=book.units(), whole=True)
    if value is None:
        return Estimator(statistic=statistic, count=book.rows(), whole=True)
    if statistic is ir.Statistic.COUNT:
        return Estimator(statistic=statistic, count=book.sum(_present(value)), whole=True)
    if statistic is ir.Statistic.SUM:
        return Estimator(statistic=statistic, count=book.sum(value), whole=value.type.kind is Kind.INTEGER)
    lo, hi = _range(value)
    centre = (lo + hi) / 2
    if value.type.kind is Kind.INTEGER:
        centre = Fraction(floor(centre))
    offset = call("subtract", value, literal(int(centre) if value.type.kind is Kind.INTEGER else centre))
    return Estimator(
        statistic=statistic,
        count=book.sum(_present(value)),
        total=book.sum(offset),
        squares=book.sum(call("multiply", offset, offset)) if statistic in _SPREADS else "",
        centre=centre,
        lo=lo,
        hi=hi,
    )


def _present(value: ir.Expr) -> ir.Expr:
    """1 where the value isn't NULL, NULL where it is."""
    return literal(1) if not value.type.nullable else call("if", call("is_null", value), literal(None), literal(1))


def _range(value: ir.Expr) -> tuple[Fraction, Fraction]:
    """The range of a value that is to be added up."""
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
