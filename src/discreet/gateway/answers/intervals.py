"""Intervals of the groups that an answer shows, made here and nowhere else, with regard to how each came to be shown.

HAVING, and ORDER BY with LIMIT, pick groups whose noise went the way that is asked for; a threshold picks groups with
many units; and an answer that follows from one that picked was picked with it. All intervals that are shown, by
`Answer.interval`, by DP_INTERVAL_LOW and DP_INTERVAL_HIGH, or in JSON, come from here and allow for that. The intervals
by which HAVING and ORDER BY pick are the usual ones, since nothing is picked yet.

*Conditions on a group's own numbers* (a threshold, HAVING) are reckoned with as `estimates.selected_groups` says: an
interval holds in the stated share of the draws that show the group. The noise of a group that was measured by itself
is independent of that of others. So if R such groups of an answer are shown, the expected share of these whose interval
fails is at most α of the answers that show any.

*ORDER BY with LIMIT or OFFSET* shows R of the m groups that HAVING leaves. If each has the interval of the confidence
1 − α·R/m, the expected share of those picked whose interval fails is at most α, whatever is picked by. What keys alone
decide picks nothing. Groups that were added up from others, or put together from several levels, share noise; of these
the theorem says nothing, and none was seen for which it doesn't hold.

Source: Benjamini, Yekutieli (2005), "False discovery rate-adjusted multiple confidence intervals for selected
parameters", Theorem 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, inf, isfinite, prod
from typing import TYPE_CHECKING, Protocol

from discreet.errors import QueryError
from discreet.gateway.answers.released import Group, Shown, Values, evaluate
from discreet.query import ir
from discreet.query.aggregates import UNITS, Moment
from discreet.query.estimates import (
    SMALLEST,
    Condition,
    CutOffIntervals,
    Estimator,
    Interval,
    LinearRatio,
    Noisy,
    RowsCutOff,
    RowSpans,
    Total,
    Window,
    confidence_if_shown,
    deviation,
    integer,
    parts_with_intervals,
    ratio_of,
)
from discreet.query.planner import counts_rows_for_units
from discreet.tables import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discreet.query.planner import Draft


class Rule(Protocol):
    """Gives an output's interval for each group of a level."""

    def __call__(self, noisy: Noisy, conditions: Sequence[Condition] | None = None) -> Interval | None:
        """The interval.

        Args:
            noisy: the group's released integers.
            conditions: that they met, where the group is shown; None for the threshold's own, if there is one.
        """
        ...


@dataclass(frozen=True)
class ShownIntervals:
    """The intervals of the groups that an answer shows.

    Args:
        drafts: how the groups of each level were measured.
        groups: those that are shown, in order, as they were released.
        shown: how each came to be.
        cut_off: of the groups of each level, with what limits cut off; None where that wasn't measured.
    """

    drafts: tuple[Draft, ...]
    groups: tuple[Group, ...]
    shown: tuple[Shown, ...]
    cut_off: tuple[CutOffIntervals | None, ...]

    def of(self, expr: ir.Expr, confidence: float) -> list[Interval | None]:
        """The interval of an output in each group; None where none is known.

        Of whole numbers, ends are put on the outside. It has no end on a side where nothing bounds what limits cut off.

        Args:
            expr: over released values.
            confidence: of those that are shown; in (0, 1).
        """
        rules: dict[tuple[int, float], Rule] = {}
        found: list[Interval | None] = []
        for group, how in zip(self.groups, self.shown, strict=True):
            level = 1 - (1 - confidence) * how.share
            if 1 - level < SMALLEST:
                found.append(None)
                continue
            place = group.level, level
            if place not in rules:
                rules[place] = interval_of(self.drafts[group.level], expr, level, self.cut_off[group.level])
            found.append(_rounded(rules[place](group.noisy, how.conditions), expr.type.kind))
        return found

    def margins(self) -> list[Values]:
        """The values of the question's margins, group by group."""
        wanted = ir.margins_of(self.drafts[0].question)
        columns = [self._ends(margin) for margin in wanted]
        return [dict(zip(wanted, row, strict=True)) for row in zip(*columns, strict=True)] or [{} for _ in self.groups]

    def _ends(self, margin: ir.Margin) -> list[float | None]:
        """The values of one margin, group by group."""
        if margin.side is ir.Side.DEVIATION:
            known = [deviation(margin.of, dict(draft.estimators), draft.laws) for draft in self.drafts]
            return [known[group.level] for group in self.groups]
        found = self.of(margin.of, float(margin.confidence))
        return [_end(one, margin) for one in found]


def usual_margin(draft: Draft, margin: ir.Margin) -> Callable[[Noisy], float | None]:
    """The value of a margin before anything is picked, which HAVING and ORDER BY go by."""
    if margin.side is ir.Side.DEVIATION:
        same = deviation(margin.of, dict(draft.estimators), draft.laws)
        return lambda _: same
    rule, kind = interval_of(draft, margin.of, float(margin.confidence)), margin.of.type.kind
    return lambda noisy: _end(_rounded(rule(noisy), kind), margin)


def _end(found: Interval | None, margin: ir.Margin) -> float | None:
    """One end of an interval, as DP_INTERVAL_LOW and DP_INTERVAL_HIGH show it."""
    if found is None:
        return None
    end = found.lo if margin.side is ir.Side.LOW else found.hi
    if not isfinite(end):
        return None
    return float(end) if margin.type.kind is Kind.REAL else end


def _rounded(found: Interval | None, kind: Kind) -> Interval | None:
    """An interval as it is shown; None where it has no end at all."""
    if found is None or not (isfinite(found.lo) or isfinite(found.hi)):
        return None
    if kind is not Kind.INTEGER:
        return found
    return Interval(floor(found.lo) if isfinite(found.lo) else -inf, ceil(found.hi) if isfinite(found.hi) else inf)


def interval_of(draft: Draft, expr: ir.Expr, confidence: float, cut_off: CutOffIntervals | None = None) -> Rule:
    """The rule that gives an output's interval for each group, or None where there is no noise or no bound.

    An aggregate by itself has the interval of its estimator; a linear combination of counts and sums, or a ratio of
    two, has that of the joint law of their noises. In any other expression, each part that is one of these gets its
    share of the error (Bonferroni) and the intervals go through the functions' range rules: it holds at least as often
    as said, mostly more often. What COALESCE has in the place of NULL counts only where the noise could explain that
    nothing is divided by; if that is so, this fails to be seen with the part's share of the error at most. What doesn't
    depend on the group is worked out once, here.

    Args:
        draft: what the rules decided.
        expr: over released values.
        confidence: in (0, 1).
        cut_off: where what limits cut off belongs to it as well.

    Returns:
        From one group's released integers, and the conditions that they met, to its interval.
    """
    if any(True for _ in ir.margins(expr)):
        return lambda _noisy, _conditions=None: None
    parts = dict(parts_with_intervals(expr, dict(draft.estimators)))
    if not parts:
        return partial(_exactly, draft, expr)
    share = 1 - (1 - confidence) / len(parts)
    covered = {
        part: cut_off if cut_off is not None and _is_covered(draft, part, known, cut_off) else None
        for part, known in parts.items()
    }
    rules = {part: _rule(known, draft, share, covered[part]) for part, known in parts.items()}
    if expr in rules:
        return rules[expr]

    laws, counts = draft.laws, draft.threshold is None and _stands_for_null(expr)
    ratios = {part: ratio_of(part, dict(draft.estimators)) for part in parts} if counts else {}

    def together(noisy: Noisy, conditions: Sequence[Condition] | None = None) -> Interval | None:
        found = {part: rule(noisy, conditions) for part, rule in rules.items()}
        told = {} if conditions else ratios  # where noise decided what is shown, it may hide that there is nothing
        defined = {part for part, of in told.items() if of is not None and of.is_defined(noisy, laws, share)}
        try:
            spread = _retyped(expr, found, defined).type
        except QueryError:  # a range rule that finds no bound, such as a division by what may be 0
            return None
        if not spread.kind.is_number or spread.lo is None or spread.hi is None:
            return None
        return Interval(float(spread.lo), float(spread.hi))

    return together


def _exactly(
    draft: Draft,
    expr: ir.Expr,
    noisy: Noisy,
    conditions: Sequence[Condition] | None = None,  # noqa: ARG001 — no noise, nothing to pick
) -> Interval | None:
    """A number that comes from aggregates which are known without noise; None if it comes from no aggregate."""
    known: Values = {name: each.estimate(noisy, {}) for name, each in draft.estimators if not each.parts}
    names = ir.released_names(expr)
    value = evaluate(expr, known) if names and names <= known.keys() else None
    return Interval(value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _stands_for_null(expr: ir.Expr) -> bool:
    """Whether something stands for NULL anywhere in an expression."""
    return isinstance(expr, ir.Call) and (expr.function.name == "coalesce" or any(map(_stands_for_null, expr.args)))


def cut_off_of(draft: Draft, rows: RowsCutOff) -> CutOffIntervals:
    """What limits cut off of the numbers of a draft."""
    whole = frozenset(each.vector.name for each in draft.cells if each.read(Moment()) is not None)
    groups = prod(len(key.values or ()) for key in draft.keys)
    return CutOffIntervals(rows, RowSpans(draft.noises, whole, counts_all_units=groups <= (draft.limits.groups or 1)))


def covers(draft: Draft, expr: ir.Expr, rows: RowsCutOff) -> bool:
    """Whether the interval of an output has in it what limits cut off, if it has one."""
    cut_off = cut_off_of(draft, rows)
    parts = list(parts_with_intervals(expr, dict(draft.estimators)))
    if not parts:  # what is made of both may cancel out
        return not _confuses_units_with_rows(draft, expr)
    return all(_is_covered(draft, part, known, cut_off) for part, known in parts)


def _is_covered(draft: Draft, part: ir.Expr, known: Estimator | LinearRatio, cut_off: CutOffIntervals) -> bool:
    """Whether a part's interval has in it what limits cut off."""
    return not _confuses_units_with_rows(draft, part) and cut_off.covers(known)


def _confuses_units_with_rows(draft: Draft, expr: ir.Expr) -> bool:
    """Whether an expression is made of numbers of units and of others, where rows are counted for units.

    Limits keep as many rows as units there, and cut off more: by how much a row that is missing moves what is made of
    both can't be told from the one number that stands for both.
    """
    names, units = ir.released_names(expr), {one.name for one in draft.question.aggregates if one.function is UNITS}
    return bool(names & units) and bool(names - units) and counts_rows_for_units(draft)


def _rule(
    known: Estimator | LinearRatio, draft: Draft, confidence: float, cut_off: CutOffIntervals | None = None
) -> Rule:
    """The interval of an aggregate, or of a ratio; of a group that noise selected, over the draws that show it.

    What limits cut off is in it, where that is given.
    """
    laws, parts = draft.laws, frozenset(known.parts)
    ratio = known if isinstance(known, LinearRatio) else known.ratio
    whole = cut_off if parts else None
    of_noise = confidence if whole is None else whole.noise_level(confidence)

    def rule(noisy: Noisy, conditions: Sequence[Condition] | None = None) -> Interval | None:
        own = selected_by(draft, noisy) if conditions is None else conditions
        met = [each for each in own if parts & each.numbers]
        level = confidence_if_shown(met, of_noise) if met else of_noise
        if whole is not None and ratio is not None and not ratio.is_linear:
            return None if level is None else whole.of_ratio(ratio, noisy, laws, level, confidence)
        kept = _kept(known, draft, noisy, met, of_noise)
        return kept if whole is None or ratio is None or kept is None else whole.moved(ratio, kept, confidence)

    return rule


def _kept(
    known: Estimator | LinearRatio, draft: Draft, noisy: Noisy, met: Sequence[Condition], confidence: float
) -> Interval | None:
    """The interval of what limits kept."""
    if not met:
        return known.interval(noisy, draft.laws, confidence)
    if isinstance(known, Total) and len(met) == 1:
        (window,) = met
        if isinstance(window, Window) and window.number == known.of.single:
            return _truncated(known, window, draft, confidence, noisy)
    wider = confidence_if_shown(met, confidence)
    return None if wider is None else known.interval(noisy, draft.laws, wider)


def _truncated(known: Total, window: Window, draft: Draft, confidence: float, noisy: Noisy) -> Interval:
    """The interval of a count or a sum that lies in a window where the group is shown."""
    usual, step = known.interval(noisy, draft.laws, confidence), draft.laws[window.number].step
    outside = (1 - confidence) / 2
    lower, upper = window.lower(outside), window.upper(outside)
    return Interval(
        usual.lo if lower is None else min(float(step * lower), usual.lo),
        usual.hi if upper is None else max(float(step * upper), usual.hi),
    )


def selected_by(draft: Draft, noisy: Noisy) -> tuple[Condition, ...]:
    """The condition that a group's number of units met, if a threshold selected it, or small groups are withheld."""
    threshold, selector, counter = draft.threshold, draft.selector, draft.counter
    if threshold is not None and selector is not None:
        return (Window.reaching(threshold, selector, draft.laws[selector], integer(selector, noisy)),)
    if counter is None:
        return ()
    least, seen = draft.least_count, integer(counter, noisy)
    shown = Window(number=counter, noise=draft.laws[counter], seen=seen, exact_least=0)
    return (replace(shown, least=least) if seen >= least else replace(shown, most=least - 1),)


def _retyped(expr: ir.Expr, found: Mapping[ir.Expr, Interval | None], defined: set[ir.Expr]) -> ir.Expr:
    """The expression with the ranges of its parts narrowed to their intervals, inferred anew.

    Args:
        expr: over released values.
        found: the intervals of its parts.
        defined: those of them that aren't NULL.
    """
    if expr in found:
        known = found[expr]
        if known is None or not (isfinite(known.lo) and isfinite(known.hi)):
            return expr
        nullable = expr.type.nullable and expr not in defined
        narrow = replace(expr.type, lo=Fraction(known.lo), hi=Fraction(known.hi), nullable=nullable)
        return ir.Released(str(expr), narrow)
    match expr:
        case ir.Call(function=function, args=args):
            narrowed = tuple(_retyped(arg, found, defined) for arg in args)
            if function.name == "coalesce" and not narrowed[0].type.nullable:
                return narrowed[0]
            return ir.Call(function, narrowed, function.infer(narrowed))
        case _:
            return expr
