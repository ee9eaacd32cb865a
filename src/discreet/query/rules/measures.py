"""What is counted, added up and chosen from: each aggregate as sums of integers on a grid, and histograms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, prod

from discreet.errors import TooManyGroups, Unsupported
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Association, Estimator, Frequent, Interval, Mean, Ranked, Spread, Sums, Total
from discreet.query.ir import call, literal
from discreet.query.rules.book import Book, range_of
from discreet.tables import Kind

_SMALLEST = Fraction(1, 2**400)
"""The least width of a range of which squares are taken."""

_SPREADS = {ir.Statistic.VAR_POP, ir.Statistic.VAR_SAMP, ir.Statistic.STDDEV_POP, ir.Statistic.STDDEV_SAMP}


MOST_CHOICES = 100_000
"""Quantiles and modes, over all public groups."""


def measures(draft: Draft) -> Draft:
    """Say which integers are needed, each once, and how the aggregates come from them.

    AVG takes a count and a sum about the middle of the bounds; VAR and STDDEV also a sum of squares; COVAR and CORR
    sums of products. Quantiles and modes are chosen from histograms, of which there is one for each expression.
    Private groups are selected by their number of units: a measure of its own, unless the question asks for that
    number anyway.

    Raises:
        UnboundedColumn: a sum of values whose range nothing declares.
        Unsupported: something is computed from a list.
        TooManyGroups: so many that choosing in each of them would take minutes.
    """
    _check_lists(draft.question)
    book = Book(draft)
    estimators = tuple((aggregate.name, _estimator(aggregate, book)) for aggregate in draft.question.aggregates)
    selector = book.units() if draft.has_private_keys else None
    _check_choices(draft, len(book.picks))
    return replace(
        draft,
        measures=tuple(book.measures),
        histograms=tuple(book.histograms),
        picks=tuple(book.picks),
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


def _estimator(aggregate: ir.Aggregate, book: Book) -> Estimator:
    """How one aggregate comes from measures."""
    statistic, value = aggregate.statistic, aggregate.argument
    if value is None:
        return Total(measure=book.units() if statistic is ir.Statistic.UNITS else book.rows(), whole=True)
    match statistic:
        case ir.Statistic.COUNT | ir.Statistic.SUM | ir.Statistic.DISTINCT:
            return _total(statistic, value, book)
        case ir.Statistic.QUANTILE | ir.Statistic.MODE:
            return _choice(aggregate, value, book)
        case ir.Statistic.COVAR_POP | ir.Statistic.COVAR_SAMP | ir.Statistic.CORR if aggregate.other is not None:
            return _association(statistic, value, aggregate.other, book)
        case _:
            return _moments(statistic, value, book)


def _total(statistic: ir.Statistic, value: ir.Expr, book: Book) -> Total:
    """COUNT(x), SUM(x) and COUNT(DISTINCT x)."""
    if statistic is ir.Statistic.DISTINCT:
        return Total(measure=book.distinct(value), whole=True)
    if statistic is ir.Statistic.COUNT:
        return Total(measure=book.sum(_present(value)), whole=True)
    return Total(measure=book.sum(value), whole=value.type.kind is Kind.INTEGER)


def _choice(aggregate: ir.Aggregate, value: ir.Expr, book: Book) -> Estimator:
    """Quantiles and modes: bins of a histogram."""
    if aggregate.fraction is not None:
        pick, grid = book.quantile(value, aggregate.fraction)
        return Ranked(pick=pick, grid=grid)
    values, is_list = value.type.values or (), aggregate.most is not None
    return Frequent(pick=book.fullest(value, aggregate.most or 1), values=values, is_list=is_list)


def _moments(statistic: ir.Statistic, value: ir.Expr, book: Book) -> Estimator:
    """AVG, VAR and STDDEV: sums about the middle of the bounds."""
    lo, hi = range_of(value)
    centre, offset = _centred(value)
    count, total = book.sum(_present(value)), book.sum(offset)
    if statistic not in _SPREADS:
        return Mean(count=count, total=total, centre=centre, lo=lo, hi=hi)
    _check_squares(value)
    squares = book.sum(call("multiply", offset, offset))
    return Spread(statistic=statistic, count=count, total=total, squares=squares, centre=centre, lo=lo, hi=hi)


def _association(statistic: ir.Statistic, first: ir.Expr, second: ir.Expr, book: Book) -> Estimator:
    """COVAR and CORR: sums of products about the middles of the bounds, of the rows that have both values."""
    for value in (first, second):
        _check_squares(value)
    both = _where_present(first, second), _where_present(second, first)
    (x, ends), (y, others) = (_about_middle(value) for value in both)
    sums = Sums(
        count=book.sum(_present(both[0])),
        first=book.sum(x),
        second=book.sum(y),
        product=book.sum(call("multiply", x, y)),
        squares=tuple(book.sum(call("multiply", each, each)) for each in (x, y) if statistic is ir.Statistic.CORR),
    )
    return Association(statistic=statistic, sums=sums, first=ends, second=others)


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
    """The middle of a value's bounds, and how far the value lies from it."""
    lo, hi = range_of(value)
    centre = (lo + hi) / 2
    if value.type.kind is Kind.INTEGER:
        centre = Fraction(floor(centre))
    return centre, call("subtract", value, literal(int(centre) if value.type.kind is Kind.INTEGER else centre))


def _where_present(value: ir.Expr, other: ir.Expr) -> ir.Expr:
    """The value, NULL where the other one is."""
    if value == other or not other.type.nullable:
        return value
    return call("if", call("is_null", other), literal(None), value)


def _present(value: ir.Expr) -> ir.Expr:
    """1 where the value isn't NULL, NULL where it is."""
    return literal(1) if not value.type.nullable else call("if", call("is_null", value), literal(None), literal(1))
