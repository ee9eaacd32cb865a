"""Measures: what is counted, added up and chosen from, each once.

Each aggregate is estimated from sums of integers on a grid, or chosen from a histogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, prod

from discreet.errors import InvalidArgument, TooManyGroups, Unsupported, unforeseen
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.aggregates import UNITS, Measures, Moment, centred, range_of
from discreet.query.estimates import Estimator, Grid, Linear, OfNoRows, Pick, grid_of
from discreet.query.ir import Trial, is_always_null, literal
from discreet.query.planner.cells import Cells
from discreet.query.planner.draft import Draft
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

_STEPS = 2_000
"""For each argument by itself, so that it doesn't matter beside which others it stands: about a millisecond."""

MOST_CHOICES = 100_000
"""Quantiles and modes, over all public groups."""


class MeasureCollector:
    """The measures so far; asking for an equal one again gives the same."""

    def __init__(self, draft: Draft) -> None:
        self.measures: list[ir.Measured] = []
        self.cells: list[Cells] = []
        self.histograms: list[ir.Histogram] = []
        self.picks: list[Pick] = []
        self._draft = draft

    def units(self) -> Linear:
        """The number of units; where each has one row in a group, or in all groups, that of rows, which is the same."""
        if counts_rows_for_units(self._draft):
            return self.moment(Moment())
        for measure in self.measures:
            if isinstance(measure, ir.Units):
                return Linear.of(measure.name)
        return self._add(ir.Units(name=self._fresh()))

    @property
    def counted_rows(self) -> Linear | None:
        """The number of rows, if something needs it."""
        values = {measure.value: measure.name for measure in self.measures if isinstance(measure, ir.Sum)}
        if literal(1) in values:
            return Linear.of(values[literal(1)])
        return next((found for each in self.cells if (found := each.read(Moment())) is not None), None)

    def moment(self, moment: Moment) -> Linear:
        """A moment, measured by itself."""
        return self.total(moment.summand)

    def total(self, value: ir.Expr) -> Linear:
        """The sum of an expression, measured by itself.

        Raises:
            InvalidArgument: so little is offered that no step holds the noise.
        """
        for measure in self.measures:
            if isinstance(measure, ir.Sum) and measure.value == value:
                return Linear.of(measure.name)
        lo, hi = range_of(value)
        fine = self._fine_rows if value.type.kind is Kind.INTEGER else _exponent(max(abs(lo), abs(hi))) - _REAL_BITS
        grid = max(fine, self._coarsest(max(abs(lo), abs(hi))), _FINEST)
        if value.type.kind is Kind.INTEGER and grid > _COARSEST:
            raise InvalidArgument("this offer is so small that noise would drown every number", hint="offer more")
        step = Fraction(2) ** grid
        return self._add(ir.Sum(name=self._fresh(), value=value, grid=grid, lo=floor(lo / step), hi=ceil(hi / step)))

    def put_in_cells(self, moments: Sequence[Moment], *, units: bool) -> Cells:
        """The cells that tell all of some moments, and how many units there are, if that is asked.

        Raises:
            TooManyCellsError: there are more than are tried.
        """
        rows = self._draft.limits.rows if units else None
        cells = Cells.of(moments, self._fresh(), max(-_REAL_BITS, self._coarsest(Fraction(1))), rows)
        self.measures.append(cells.vector)
        self.cells.append(cells)
        return cells

    def distinct(self, value: ir.Expr) -> Linear:
        """The number of an expression's different values."""
        for measure in self.measures:
            if isinstance(measure, ir.DistinctValues) and measure.value == value:
                return Linear.of(measure.name)
        return self._add(ir.DistinctValues(name=self._fresh(), value=value))

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:
        """A quantile of an expression, and the grid it is chosen from."""
        unknown = self._draft.has_private_keys
        grid = grid_of(value.type, 0 if unknown else prod(len(key.values or ()) for key in self._draft.keys))
        histogram = self._histogram(grid.number(value), None, grid.size)
        together = self._read_together(value)
        if self._draft.counts_ranks and len(together) > 1 and fraction in together:
            return self._pick(histogram, None, 1, together), grid
        return self._pick(histogram, fraction, 1), grid

    def _read_together(self, value: ir.Expr) -> tuple[Fraction, ...]:
        """The quantiles of an expression that can be read from the same noisy counts: all but extremes."""
        found = {each.fraction for each in self._draft.question.aggregates if each.argument == value}
        return tuple(sorted(each for each in found if each is not None and 0 < each < 1))

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

    def _pick(self, histogram: str, fraction: Fraction | None, most: int, fractions: tuple[Fraction, ...] = ()) -> Pick:
        """A choice from a histogram."""
        wanted = Pick(
            name=f"c{len(self.picks)}", histogram=histogram, fraction=fraction, most=most, fractions=fractions
        )
        for known in self.picks:
            if replace(wanted, name=known.name) == known:
                return known
        self.picks.append(wanted)
        return wanted

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

    def _add(self, measure: ir.Measure) -> Linear:
        """Enter a measure."""
        self.measures.append(measure)
        return Linear.of(measure.name)


class _InCells:
    """The measures of aggregates that are read from the same cells.

    Args:
        draft: of the question.
        collector: of all measures; those that cells don't tell are its own.
        cells: of the moments that the aggregates ask for; none, to find out which these are.
    """

    def __init__(self, draft: Draft, collector: MeasureCollector, cells: Cells | None = None) -> None:
        self.asked: list[Moment] = []
        self._draft = draft
        self._collector = collector
        self._cells = cells

    def moment(self, moment: Moment) -> Linear:
        """A moment, as the cells tell it."""
        self.asked.append(moment)
        found = Linear() if self._cells is None else self._cells.read(moment)
        if found is None:
            raise AssertionError("cells tell the moments that they were made for")
        return found

    def total(self, value: ir.Expr) -> Linear:
        """The sum about the middle, and as many times the middle as there are rows."""
        count, total = (self.moment(Moment.of((value, power))) for power in range(2))
        return total.plus(count.times(centred(value)[0]))

    def units(self) -> Linear:
        """The number of units: where there are no keys, from all rows and what units leave of their wholes."""
        if counts_rows_for_units(self._draft):
            return self.moment(Moment())
        if not _may_leave_room(self._draft):
            return self._collector.units()
        self.asked.append(Moment())
        found = Linear() if self._cells is None else self._cells.units
        if found is None:
            raise AssertionError("cells tell the units that they were made for")
        return found

    def distinct(self, value: ir.Expr) -> Linear:
        """The number of an expression's different values."""
        return self._collector.distinct(value)

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:
        """A quantile of an expression, and the grid it is chosen from."""
        return self._collector.quantile(value, fraction)

    def fullest(self, value: ir.Expr, most: int) -> Pick:
        """The most frequent of an expression's public values."""
        return self._collector.fullest(value, most)


def counts_rows_for_units(draft: Draft) -> bool:
    """Whether each unit has one row in a group, or in all groups, so that there are as many units as rows."""
    limits = draft.limits
    return draft.unit.is_row or limits.rows_per_group == 1 or (limits.rows == 1 and bool(draft.keys))


def _may_leave_room(draft: Draft) -> bool:
    """Whether the number of units may be read from what they leave of the rows that each may have."""
    return not draft.keys and draft.limits.rows is not None and not draft.least_units


def _exponent(size: Fraction) -> int:
    """The least e with size ≤ 2^e; 0 for size 0."""
    if size <= 0:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if size <= Fraction(2) ** exponent else exponent + 1


def measures(draft: Draft) -> Draft:
    """Say which integers are needed, each once, and how the aggregates come from them.

    Each aggregate says what it takes, see `query.aggregates`. Quantiles and modes are chosen from histograms, of which
    there is one for each expression. Private groups are selected by their number of units, and by it those are found
    that are too small to be shown: a measure of its own, unless the question asks for that number anyway.

    Raises:
        UnboundedColumn: a sum of values whose range nothing declares.
        Unsupported: something is computed from a list.
        TooManyGroups: choosing in each of them would take minutes.
    """
    _check_lists(draft.question)
    if draft.without_rows:
        return replace(
            draft,
            estimators=tuple((one.name, OfNoRows(is_count=one.function.is_count)) for one in draft.question.aggregates),
        )
    collector = MeasureCollector(draft)
    asked = moments_of(draft) if draft.blocks else {}
    counting_units = {each.name for each in draft.question.aggregates if each.function is UNITS}
    readings: dict[str, Measures] = {}
    for block in draft.blocks:
        wanted = [moment for name in sorted(block) for moment in asked[name]]
        cells = collector.put_in_cells(wanted, units=_may_leave_room(draft) and bool(block & counting_units))
        readings |= dict.fromkeys(block, _InCells(draft, collector, cells))
    found = {each.name: _estimator(each, readings.get(each.name, collector)) for each in draft.question.aggregates}
    selector = collector.units().single if draft.has_private_keys else None
    counter = collector.units().single if draft.least_units else None
    estimators = tuple((name, each.beside(collector.counted_rows)) for name, each in found.items())
    _check_choices(draft, len(collector.picks))
    return replace(
        draft,
        measures=tuple(collector.measures),
        cells=tuple(collector.cells),
        histograms=tuple(collector.histograms),
        picks=tuple(collector.picks),
        estimators=estimators,
        selector=selector,
        counter=counter,
    )


def moments_of(draft: Draft) -> dict[str, list[Moment]]:
    """The moments that each aggregate asks for, by its name."""
    found: dict[str, list[Moment]] = {}
    for aggregate in draft.question.aggregates:
        asking = _InCells(draft, MeasureCollector(draft))
        _estimator(aggregate, asking)
        found[aggregate.name] = asking.asked
    return found


def _check_lists(question: ir.Question) -> None:
    """Refuse expressions over lists: there is no function of them, and no order."""
    lists = {aggregate.name for aggregate in question.aggregates if aggregate.most is not None}
    computed = [
        *(output.expr for output in question.outputs if not isinstance(output.expr, ir.Released)),
        *(order.expr for order in question.order),
        *([] if question.having is None else [question.having]),
    ]
    if any(lists & ir.released_names(expr) for expr in computed):
        raise Unsupported(
            "nothing can be computed from a list of the most frequent values",
            hint="MODE(x) gives the most frequent one",
        )


def _check_choices(draft: Draft, picks: int) -> None:
    """Refuse more choices than can be made in a minute or so; each takes about a thousandth of a second."""
    groups = prod(len(key.values) for key in draft.keys if key.values is not None)
    if picks * groups > MOST_CHOICES:
        raise TooManyGroups(
            f"{picks} quantiles and modes in each of {groups:,} groups are more than {MOST_CHOICES:,} choices",
            hint="group by fewer or coarser keys",
        )


def _estimator(aggregate: ir.Aggregate, measures: Measures) -> Estimator:
    """How one aggregate comes from measures, and what it asks of these.

    Of one of which no row is counted, nothing is: such as COUNT(*) FILTER (WHERE age > 200), where age ends at 110.
    """
    if any(each is not None and _is_never_there(each) for each in (aggregate.argument, aggregate.other)):
        return OfNoRows(is_count=aggregate.function.is_count)
    found = aggregate.function.estimator(aggregate, measures)
    if not isinstance(found, Estimator):  # what isn't one needn't say how noise moves it
        raise unforeseen(found)
    return found


@lru_cache(maxsize=1024)
def _is_never_there(value: ir.Expr) -> bool:
    """Whether a value is NULL for every row; looked at once, though many arrangements of its aggregate are tried."""
    return is_always_null(value, Trial(_STEPS))
