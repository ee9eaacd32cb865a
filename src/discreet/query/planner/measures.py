"""Measures: what is counted, added up and chosen from, each once.

Each aggregate is estimated from sums of integers on a grid, or chosen from a histogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, prod

from discreet.errors import InvalidArgument, TooManyGroups, UnboundedColumn, Unsupported, unforeseen
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates import (
    Association,
    Estimator,
    Grid,
    Interval,
    Mean,
    ModeEstimator,
    OfNoRows,
    Pick,
    QuantileEstimator,
    Spread,
    Sums,
    Total,
    grid_of,
)
from discreet.query.ir import Trial, call, is_always_null, is_always_zero, literal
from discreet.query.planner.request import Draft
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

_SMALLEST = Fraction(1, 2**400)
"""The least width of a range of which squares are taken."""

_STEPS = 2_000
"""For each argument by itself, so that it doesn't matter beside which others it stands: about a millisecond."""

_WIDE = 64
"""In ranges so wide whole numbers are added up as such, about a middle that is rounded down: errors grow by one part in
64 at the most. In narrower ones they are put on the grid of real numbers: of a sum that only an average is made of,
nobody needs that it be whole, and noise in whole steps would reach half a step farther than need be."""

_EXACT = 2**52
"""Below, halves of whole numbers are floats."""

MOST_CHOICES = 100_000
"""Quantiles and modes, over all public groups."""


class MeasureCollector:
    """The measures so far; asking for an equal one again gives the same."""

    def __init__(self, draft: Draft) -> None:
        self.measures: list[ir.Measure | ir.Vector] = []
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

    @property
    def in_parts(self) -> bool:
        """Whether rows are counted in parts where that is possible."""
        return self._draft.in_parts

    @property
    def counted_rows(self) -> str | None:
        """The number of rows, if something needs it."""
        values = {measure.value: measure.name for measure in self.measures if isinstance(measure, ir.Sum)}
        return values.get(literal(1))

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
            raise InvalidArgument("this offer is so small that noise would drown every number", hint="offer more")
        step = Fraction(2) ** grid
        return self._add(ir.Sum(name=self._fresh(), value=value, grid=grid, lo=floor(lo / step), hi=ceil(hi / step)))

    def vector(self, values: Sequence[ir.Expr]) -> tuple[str, ...]:
        """The sums of the parts into which each row is put, which add up to 1 at the most."""
        wanted = tuple(values)
        for measure in self.measures:
            if isinstance(measure, ir.Vector) and measure.values == wanted:
                return tuple(each.name for each in measure.sums)
        grid = max(-_REAL_BITS, self._coarsest(Fraction(1)))
        added = ir.Vector(name=self._fresh(), values=wanted, grid=grid)
        self._add(added)
        return tuple(each.name for each in added.sums)

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

    def _add(self, measure: ir.Measure | ir.Vector) -> str:
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


def measures(draft: Draft) -> Draft:
    """Say which integers are needed, each once, and how the aggregates come from them.

    AVG takes a count and a sum about the middle of the bounds; VAR and STDDEV also a sum of squares; COVAR and CORR
    sums of products, or, where `in_parts` is set, of parts into which each row is put by both values. Quantiles and
    modes are chosen from histograms, of which there is one for each expression.
    Private groups are selected by their number of units: a measure of its own, unless the question asks for that
    number anyway.

    Raises:
        UnboundedColumn: a sum of values whose range nothing declares.
        Unsupported: something is computed from a list.
        TooManyGroups: so many that choosing in each of them would take minutes.
    """
    _check_lists(draft.question)
    if draft.without_rows:
        return replace(
            draft,
            estimators=tuple(
                (one.name, OfNoRows(is_count=one.statistic in ir.COUNTS)) for one in draft.question.aggregates
            ),
        )
    collector = MeasureCollector(draft)
    found = {aggregate.name: _estimator(aggregate, collector) for aggregate in draft.question.aggregates}
    selector = collector.units() if draft.has_private_keys else None
    estimators = tuple((name, each.beside(collector.counted_rows)) for name, each in found.items())
    _check_choices(draft, len(collector.picks))
    return replace(
        draft,
        measures=tuple(collector.measures),
        histograms=tuple(collector.histograms),
        picks=tuple(collector.picks),
        estimators=estimators,
        selector=selector,
    )


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


def _estimator(aggregate: ir.Aggregate, collector: MeasureCollector) -> Estimator:  # noqa: PLR0911 — one for each kind
    """How one aggregate comes from measures."""
    statistic, value = aggregate.statistic, aggregate.argument
    known = _known(aggregate)
    if known is not None:
        return known
    match statistic:
        case ir.Statistic.UNITS:
            return Total(measure=collector.units(), whole=True, is_count=True)
        case ir.Statistic.COUNT:
            return Total(
                measure=collector.rows() if value is None else collector.sum(_present(value)), whole=True, is_count=True
            )
        case ir.Statistic.DISTINCT:
            return Total(measure=collector.distinct(_given(value)), whole=True, is_count=True)
        case ir.Statistic.SUM:
            total = _given(value)
            return Total(measure=collector.sum(total), whole=total.type.kind is Kind.INTEGER)
        case ir.Statistic.QUANTILE | ir.Statistic.MODE:
            return _choice(aggregate, _given(value), collector)
        case ir.Statistic.COVAR_POP | ir.Statistic.COVAR_SAMP | ir.Statistic.CORR:
            return _association(statistic, _given(value), _given(aggregate.other), collector)
        case ir.Statistic.AVG:
            return _mean(_given(value), collector)
        case ir.Statistic.VAR_POP | ir.Statistic.VAR_SAMP | ir.Statistic.STDDEV_POP | ir.Statistic.STDDEV_SAMP:
            return _spread(statistic, _given(value), collector)
        case _:
            raise unforeseen(statistic)


def _given(value: ir.Expr | None) -> ir.Expr:
    """The argument of an aggregate that takes one."""
    if value is None:
        raise AssertionError("the binder gives each of these an argument")
    return value


def _known(aggregate: ir.Aggregate) -> OfNoRows | None:
    """An aggregate of which no row is counted: such as COUNT(*) FILTER (WHERE age > 200), where age ends at 110.

    A sum of nothing but zeros is 0 as well. None for all others.
    """
    statistic, value = aggregate.statistic, aggregate.argument
    if any(each is not None and is_always_null(each, Trial(_STEPS)) for each in (value, aggregate.other)):
        return OfNoRows(is_count=statistic in ir.COUNTS)
    is_zero = value is not None and statistic is ir.Statistic.SUM and is_always_zero(value, Trial(_STEPS))
    return OfNoRows(is_count=True) if is_zero else None


def _choice(aggregate: ir.Aggregate, value: ir.Expr, collector: MeasureCollector) -> Estimator:
    """Quantiles and modes: bins of a histogram."""
    if aggregate.fraction is not None:
        pick, grid = collector.quantile(value, aggregate.fraction)
        return QuantileEstimator(pick=pick, grid=grid)
    values, is_list = value.type.values or (), aggregate.most is not None
    return ModeEstimator(pick=collector.fullest(value, aggregate.most or 1), values=values, is_list=is_list)


def _mean(value: ir.Expr, collector: MeasureCollector) -> Mean:
    """AVG: a count, and a sum about the middle of the bounds."""
    lo, hi = range_of(value)
    centre, offset = _centred(value)
    count, total = collector.sum(_present(value)), collector.sum(offset)
    return Mean(count=count, total=total, centre=centre, lo=lo, hi=hi)


def _spread(statistic: ir.Statistic, value: ir.Expr, collector: MeasureCollector) -> Spread:
    """VAR and STDDEV: the same, and a sum of squares."""
    lo, hi = range_of(value)
    centre, offset = _centred(value)
    count, total = collector.sum(_present(value)), collector.sum(offset)
    _check_squares(value)
    squares = collector.sum(call("multiply", offset, offset))
    least, is_root = 1 if statistic.endswith("pop") else 2, statistic.startswith("std")
    return Spread(
        least_rows=least, is_root=is_root, count=count, total=total, squares=squares, centre=centre, lo=lo, hi=hi
    )


def _association(statistic: ir.Statistic, first: ir.Expr, second: ir.Expr, collector: MeasureCollector) -> Estimator:
    """COVAR and CORR: sums of products about the middles of the bounds, of the rows that have both values."""
    for value in (first, second):
        _check_squares(value)
    both = _where_present(first, second), _where_present(second, first)
    if collector.in_parts and _has_width(first) and _has_width(second) and first != second:
        return _association_in_parts(statistic, (first, second), collector)
    (x, ends), (y, others) = (_about_middle(value) for value in both)
    sums = Sums.apart(
        count=collector.sum(_present(both[0])),
        first=collector.sum(x),
        second=collector.sum(y),
        product=collector.sum(call("multiply", x, y)),
        squares=tuple(collector.sum(call("multiply", each, each)) for each in (x, y) if statistic is ir.Statistic.CORR),
    )
    least, is_correlation = 1 if statistic.endswith("pop") else 2, statistic is ir.Statistic.CORR
    return Association(least_rows=least, is_correlation=is_correlation, sums=sums, first=ends, second=others)


def _association_in_parts(statistic: ir.Statistic, values: Sequence[ir.Expr], collector: MeasureCollector) -> Estimator:
    """The same from rows that are put into parts, which are equal for CORR(x, y) and COVAR_POP(y, x).

    A product is NULL where one of its factors is, so rows that lack one of the values add nothing.
    """
    pair = sorted(values, key=str)
    one, other = ((hi - lo) / 2 for lo, hi in map(range_of, pair))
    first, second = map(_bernstein, pair)
    names = collector.vector([call("multiply", x, y) for x in first for y in second])
    return Association(
        least_rows=1 if statistic.endswith("pop") else 2,
        is_correlation=statistic is ir.Statistic.CORR,
        sums=Sums.of_parts(names, (float(one), float(other)), squares=statistic is ir.Statistic.CORR),
        first=Interval(-float(one), float(one)),
        second=Interval(-float(other), float(other)),
    )


def _bernstein(value: ir.Expr) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
    """The three Bernstein polynomials of a value on its range; see `estimates.products`.

    Whatever float64 makes of it, where the value lies in its range is a number from 0 to 1: so are they, and they add
    up to 1 but for roundings of 2⁻⁵³. NULL stays NULL, which LEAST and GREATEST don't promise.
    """
    lo, hi = range_of(value)
    place = call("multiply", call("subtract", value, literal(lo)), literal(1 / (hi - lo)))
    place = call("greatest", call("least", place, literal(Fraction(1))), literal(Fraction(0)))
    if value.type.nullable:
        place = call("if", call("is_null", value), literal(None), place)
    rest = call("subtract", literal(Fraction(1)), place)
    both = call("multiply", call("multiply", literal(Fraction(2)), place), rest)
    return call("multiply", rest, rest), both, call("multiply", place, place)


def _has_width(value: ir.Expr) -> bool:
    """Whether a value's range is more than a point."""
    lo, hi = range_of(value)
    return lo < hi


def _check_squares(value: ir.Expr) -> None:
    """Refuse values whose squares are too small for a double.

    Raises:
        Unsupported: they lie closer together than 2⁻⁴⁰⁰.
    """
    lo, hi = range_of(value)
    if 0 < hi - lo < _SMALLEST:
        raise Unsupported(
            "these values lie so close together that their squares can't be told from 0", hint="multiply them first"
        )


def _about_middle(value: ir.Expr) -> tuple[ir.Expr, Interval]:
    """How far a value lies from the middle of its bounds, and how far it can."""
    centre, offset = _centred(value)
    lo, hi = range_of(value)
    return offset, Interval(float(lo - centre), float(hi - centre))


def _centred(value: ir.Expr) -> tuple[Fraction, ir.Expr]:
    """The middle of a value's bounds, and how far the value lies from it.

    Between whole numbers the middle may be a half: of 0 and 1, all lie 1/2 from it, where 1 lies 1 from 0. So much
    smaller is the noise that the sum needs, and four times that of the squares. It is exact, for floats and grids have
    halves. In a wide range half a step more or less is next to nothing, and whole numbers add up faster.
    """
    lo, hi = range_of(value)
    centre = (lo + hi) / 2
    if value.type.kind is not Kind.INTEGER:
        return centre, call("subtract", value, literal(centre))
    if hi - lo < _WIDE and max(abs(lo), abs(hi)) < _EXACT:
        return centre, call("subtract", call("real", value), literal(centre))
    return Fraction(floor(centre)), call("subtract", value, literal(floor(centre)))


def _where_present(value: ir.Expr, other: ir.Expr) -> ir.Expr:
    """The value, NULL where the other one is."""
    if value == other or not other.type.nullable:
        return value
    return call("if", call("is_null", other), literal(None), value)


def _present(value: ir.Expr) -> ir.Expr:
    """1 where the value isn't NULL, NULL where it is."""
    return literal(1) if not value.type.nullable else call("if", call("is_null", value), literal(None), literal(1))
