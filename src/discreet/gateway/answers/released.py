"""Released numbers: what becomes of them after the noise, for nothing: consistency, HAVING, ORDER BY, LIMIT, intervals.

Everything here works on numbers that are public already, in plain Python: post-processing costs nothing
(Dwork & Roth 2014, Proposition 2.1).

Answers of nested grouping sets are made to add up, children to their parents. Each group of a level was measured with
noise of its own, and so were the groups it is made of. The least-squares estimate given all measurements adds up, and
errs less than any of them: Hay, Rastogi, Miklau & Suciu 2010, "Boosting the accuracy of differentially private
histograms through consistency", section 4, here with variances that differ by level. It is found in two passes over the
tree. Intervals stay those of a group's own measurement: they hold as often as they say, and are wider than they need
be.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from discreet.errors import QueryError
from discreet.mechanisms import Gaussian, Laplace
from discreet.query import ir
from discreet.query.estimates import (
    Estimator,
    Interval,
    LinearRatio,
    Noise,
    Noises,
    Noisy,
    Selected,
    Total,
    deviation,
    integer,
    parts_with_intervals,
    ratio_of,
)
from discreet.query.ir import grouping
from discreet.tables import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from discreet.privacy import KeyValue
    from discreet.query.planner import Draft, Plan

Values: TypeAlias = dict[str | ir.Margin, Any]
"""What was released of one group, by name, and how far the noise may have carried it."""


@dataclass(frozen=True, slots=True)
class Group:
    """One released group.

    Args:
        key: its key, in the order of the question's keys.
        noisy: its released integers, by measure.
        level: which grouping set it belongs to, counted from 0.
    """

    key: tuple[KeyValue, ...]
    noisy: Noisy
    level: int = 0


def arrange(
    drafts: Sequence[Draft], groups: Sequence[Group], adjusted: Sequence[Group] | None = None
) -> list[tuple[Group, Values]]:
    """The groups that HAVING keeps, in the order asked for, within LIMIT; each with its released values.

    Args:
        drafts: one for each level.
        groups: of all levels, as they were released.
        adjusted: the same groups, with the numbers that values are to be computed from; those released, by default.
    """
    question = drafts[0].question
    readings = [_Reading.of(draft) for draft in drafts]
    pairs = zip(groups, groups if adjusted is None else adjusted, strict=True)
    rows = [(group, readings[group.level](shown) | readings[group.level].reach(group)) for group, shown in pairs]
    if question.having is not None:
        rows = [row for row in rows if evaluate(question.having, row[1]) is True]
    for order in reversed(question.order):
        rows.sort(key=_order_key(order), reverse=order.descending)
    end = None if question.limit is None else question.offset + question.limit
    return rows[question.offset : end]


def confidence_of_shown(question: ir.Question, confidence: float, shown: int, released: int) -> float:
    """The confidence of each interval, so that those of the groups that are shown hold as often as is stated.

    HAVING, and ORDER BY with LIMIT, pick groups whose noise went the way that is asked for. If R of m groups are picked
    by noisy values, with noise that is independent from group to group, and each has the interval of the confidence
    1 − α·R/m, the expected share of those picked whose interval fails is at most α. What keys alone decide picks
    nothing. Groups that were added up from others, or made consistent, share noise; of these the theorem says nothing,
    and none was seen for which it doesn't hold.

    Source: Benjamini, Yekutieli (2005), "False discovery rate-adjusted multiple confidence intervals for selected
    parameters", Theorem 1.

    Args:
        question: that picks.
        confidence: over all groups that are shown; in (0, 1).
        shown: how many groups are; at least 1.
        released: from how many they were picked.

    Examples:
        >>> from discreet.privacy import Bounds, Unit
        >>> from discreet.query.sql import question
        >>> from discreet.tables import Column, Source, Table
        >>> age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(1, 20))
        >>> t = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=(age,), unit=Unit.row())
        >>> asked = question("SELECT age, COUNT(*) AS n FROM t GROUP BY age ORDER BY n DESC LIMIT 4", [t])
        >>> confidence_of_shown(asked, 0.95, 4, 20)
        0.99
    """
    return 1 - (1 - confidence) * shown / released if picks_by_noise(question) else confidence


def picks_by_noise(question: ir.Question) -> bool:
    """Whether HAVING, or ORDER BY with LIMIT or OFFSET, picks groups by anything but their keys."""
    picking = [] if question.having is None else [question.having]
    if question.limit is not None or question.offset:
        picking += [order.expr for order in question.order]
    noisy = {each.name for each in question.aggregates}
    return any(ir.released_names(expr) & noisy or any(True for _ in ir.margins(expr)) for expr in picking)


def unmeasured(plan: Plan) -> list[Group]:
    """The groups of a question of which nothing is measured: all that are public."""
    drafts = [level.draft for level in plan.levels]
    return [group for number, draft in enumerate(drafts) for group in _unmeasured(draft, number)]


def _unmeasured(draft: Draft, number: int) -> list[Group]:
    """The groups of one level."""
    return in_order(draft, (Group(key, {}, number) for key in public_groups(draft.keys)))


def public_groups(keys: Sequence[ir.Key]) -> Iterator[tuple[KeyValue, ...]]:
    """Every combination of the public values of keys; the empty one if there are none."""
    return product(*(key.values for key in keys if key.values is not None))


def in_order(draft: Draft, groups: Iterable[Group]) -> list[Group]:
    """The groups by key: whose row came first, which an engine's order may tell, must not show."""
    return sorted(groups, key=_key_order(draft))


def evaluate(expr: ir.Expr, values: Values) -> Any:  # noqa: ANN401 — the value of an SQL expression
    """The value of an expression over released values."""
    match expr:
        case ir.Released(name=name):
            return values[name]
        case ir.Margin():
            return values[expr]
        case ir.Literal(value=Fraction() as value):
            return float(value)
        case ir.Literal(value=value):
            return value
        case ir.Call(function=function, args=args):
            return function.evaluate(*(evaluate(arg, values) for arg in args))
        case ir.Column():
            raise AssertionError("a row's own value can't be released")


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the groups of one level are read: what is the same for all of them is worked out once.

    Args:
        draft: of the level.
        laws: the noise of every released number.
        marks: what says of which grouping set the groups are.
        margins: how far the noise may have carried what was released, by group.
    """

    draft: Draft
    laws: Noises
    marks: Values
    margins: Mapping[ir.Margin, Callable[[Noisy], float | None]]

    @classmethod
    def of(cls, draft: Draft) -> Self:
        """That of a level."""
        marks: Values = {}
        for name in draft.question.rolled:
            marks |= {name: None, grouping(name).name: 1}
        marks |= {grouping(key.name).name: 0 for key in draft.keys}
        margins = {margin: _margin(draft, margin) for margin in ir.margins_of(draft.question)}
        return cls(draft, draft.laws, marks, margins)

    def __call__(self, group: Group) -> Values:
        """All released values of a group, by the names outputs use."""
        keys: Values = {key.name: value for key, value in zip(self.draft.keys, group.key, strict=True)}
        found = {name: estimator.estimate(group.noisy, self.laws) for name, estimator in self.draft.estimators}
        return keys | self.marks | found

    def reach(self, group: Group) -> Values:
        """How far the noise may have carried what was released of a group."""
        return {margin: of(group.noisy) for margin, of in self.margins.items()}


def _margin(draft: Draft, margin: ir.Margin) -> Callable[[Noisy], float | None]:
    """How far the noise may have carried a released value of a group."""
    if margin.side is ir.Side.DEVIATION:
        same = deviation(margin.of, dict(draft.estimators), draft.laws)
        return lambda _: same
    ends, is_low = interval_of(draft, margin.of, float(margin.confidence)), margin.side is ir.Side.LOW

    def of(noisy: Noisy) -> float | None:
        found = ends(noisy)
        end = None if found is None else found.lo if is_low else found.hi
        if end is None or not isfinite(end):
            return None
        if margin.type.kind is Kind.REAL:
            return float(end)
        return floor(end) if is_low else ceil(end)

    return of


def _key_order(draft: Draft) -> Callable[[Group], tuple[Any, ...]]:
    """How groups are ordered when nothing else is asked: as the public lists have them, else by value, NULL last."""
    ranks = [
        None if key.values is None else {value: rank for rank, value in enumerate(key.values)} for key in draft.keys
    ]

    def order(group: Group) -> tuple[Any, ...]:
        return tuple(
            (value is None, "" if value is None else value) if rank is None else rank[value]
            for value, rank in zip(group.key, ranks, strict=True)
        )

    return order


def _order_key(order: ir.Order) -> Callable[[tuple[Group, Values]], tuple[bool, Any]]:
    """A sorting key for one ORDER BY term; the flag puts NULLs where they were asked for."""

    def key(row: tuple[Group, Values]) -> tuple[bool, Any]:
        value = evaluate(order.expr, row[1])
        comes_last = (value is None) != order.nulls_first
        return (comes_last != order.descending, 0 if value is None else value)

    return key


# ── Intervals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def interval_of(draft: Draft, expr: ir.Expr, confidence: float) -> Callable[[Noisy], Interval | None]:
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

    Returns:
        From one group's released integers to its interval.
    """
    if any(True for _ in ir.margins(expr)):
        return lambda _: None
    parts = dict(parts_with_intervals(expr, dict(draft.estimators)))
    if not parts:
        return partial(_exactly, draft, expr)
    share = 1 - (1 - confidence) / len(parts)
    rules = {part: _rule(known, draft, share) for part, known in parts.items()}
    if expr in rules:
        return rules[expr]

    laws, counts = draft.laws, draft.threshold is None and _stands_for_null(expr)
    ratios = {part: ratio_of(part, dict(draft.estimators)) for part in parts} if counts else {}

    def together(noisy: Noisy) -> Interval | None:
        found = {part: rule(noisy) for part, rule in rules.items()}
        defined = {part for part, of in ratios.items() if of is not None and of.is_defined(noisy, laws, share)}
        try:
            spread = _retyped(expr, found, defined).type
        except QueryError:  # a range rule that finds no bound, such as a division by what may be 0
            return None
        if not spread.kind.is_number or spread.lo is None or spread.hi is None:
            return None
        return Interval(float(spread.lo), float(spread.hi))

    return together


def _exactly(draft: Draft, expr: ir.Expr, noisy: Noisy) -> Interval | None:
    """A number that comes from aggregates which are known without noise; None if it comes from no aggregate."""
    known: Values = {name: each.estimate(noisy, {}) for name, each in draft.estimators if not each.parts}
    names = ir.released_names(expr)
    value = evaluate(expr, known) if names and names <= known.keys() else None
    return Interval(value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _stands_for_null(expr: ir.Expr) -> bool:
    """Whether something stands for NULL anywhere in an expression."""
    return isinstance(expr, ir.Call) and (expr.function.name == "coalesce" or any(map(_stands_for_null, expr.args)))


def _rule(known: Estimator | LinearRatio, draft: Draft, confidence: float) -> Callable[[Noisy], Interval | None]:
    """The interval of an aggregate, or of a ratio; of a selected group, over the draws that show it."""
    laws, threshold, selector = draft.laws, draft.threshold, draft.selector
    if threshold is None or selector is None or selector not in known.parts:
        return lambda noisy: known.interval(noisy, laws, confidence)

    def selected(noisy: Noisy) -> Interval | None:
        group = Selected(threshold, integer(selector, noisy))
        if isinstance(known, Total):
            usual = known.interval(noisy, laws, confidence)
            least = float(laws[selector].step * group.least((1 - confidence) / 2))
            return Interval(min(floor(least) if known.whole else least, usual.lo), usual.hi)
        wider = group.confidence(confidence)
        return None if wider is None else known.interval(noisy, laws, wider)

    return selected


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


# ── Consistency: nested grouping sets made to add up ──────────────────────────────────────────────────────────────────


def consistent(drafts: Sequence[Draft], groups: Sequence[Group]) -> list[Group]:
    """The groups with numbers that add up, in the order they came in.

    Args:
        drafts: of the levels, each set of keys holding the next.
        groups: of all levels, as they were released.
    """
    adjusted: dict[tuple[int, tuple[KeyValue, ...]], dict[str, int]] = {
        (group.level, group.key): dict(_whole(group.noisy)) for group in groups
    }
    laws = [draft.laws for draft in drafts]
    for name in laws[0]:
        noises = [each[name] for each in laws]
        tree = _Tree(name, _quantum(noises[0].measure), adjusted)
        for root in _trees(drafts, groups, noises, name):
            _up(root)
            tree.settle(root, tree.rounded(root.estimate))
    return [replace(group, noisy=adjusted[(group.level, group.key)]) for group in groups]


@dataclass(slots=True)
class _Node:
    """One group in the tree.

    Args:
        place: its level and key.
        measured: what was released, in steps.
        variance: of its noise.
        estimate: from its own measurement and those below it.
        below: the groups it is made of.
    """

    place: tuple[int, tuple[KeyValue, ...]]
    measured: int
    variance: Fraction
    estimate: Fraction = Fraction(0)
    below: list[_Node] = field(default_factory=list)


def _trees(drafts: Sequence[Draft], groups: Sequence[Group], noises: Sequence[Noise], name: str) -> list[_Node]:
    """The groups of the coarsest level, each with those it is made of."""
    names = [[key.name for key in draft.keys] for draft in drafts]
    nodes: list[dict[tuple[KeyValue, ...], _Node]] = [{} for _ in drafts]
    for group in groups:
        variance = _variance(noises[group.level])
        nodes[group.level][group.key] = _Node((group.level, group.key), _whole(group.noisy)[name], variance)
    for level in range(len(drafts) - 1):
        kept = [names[level].index(each) for each in names[level + 1]]
        for key, node in nodes[level].items():
            nodes[level + 1][tuple(key[place] for place in kept)].below.append(node)
    return list(nodes[-1].values())


def _up(node: _Node) -> None:
    """Estimate from a group's own measurement and the sum of those below, each weighted by how sure it is."""
    for child in node.below:
        _up(child)
    if not node.below:
        node.estimate = Fraction(node.measured)
        return
    total, spread = sum(child.estimate for child in node.below), sum(child.variance for child in node.below)
    node.estimate = (node.measured * spread + total * node.variance) / (node.variance + spread)
    node.variance = node.variance * spread / (node.variance + spread)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Settles groups from the top down on numbers that add up.

    Args:
        name: of the measure.
        quantum: of which all numbers are to be multiples, in steps: whole rows, where rows are counted in parts.
        adjusted: where the numbers go, by level and key.
    """

    name: str
    quantum: int
    adjusted: Mapping[tuple[int, tuple[KeyValue, ...]], dict[str, int]]

    def settle(self, node: _Node, value: int) -> None:
        """Settle a group, and share what is missing out to those below, by how unsure each is."""
        self.adjusted[node.place][self.name] = value
        if not node.below:
            return
        spread = sum(child.variance for child in node.below)
        missing = value - sum(child.estimate for child in node.below)
        wanted = [child.estimate + missing * child.variance / spread for child in node.below]
        for child, share in zip(node.below, self._apportioned(wanted, value), strict=True):
            self.settle(child, share)

    def rounded(self, value: Fraction) -> int:
        """The nearest multiple."""
        return floor(value / self.quantum + Fraction(1, 2)) * self.quantum

    def _apportioned(self, wanted: Sequence[Fraction], total: int) -> list[int]:
        """Multiples near these that add up to the total, which is one: the largest remainders are rounded up."""
        parts = [each / self.quantum for each in wanted]
        floors = [floor(each) for each in parts]
        by_rest = sorted(range(len(parts)), key=lambda place: floors[place] - parts[place])
        for place in by_rest[: total // self.quantum - sum(floors)]:
            floors[place] += 1
        return [each * self.quantum for each in floors]


def _quantum(measure: ir.Measure | ir.Vector) -> int:
    """The steps of one whole row, or unit of a whole number; 1 for real numbers."""
    if isinstance(measure, ir.Sum) and measure.value.type.kind is Kind.INTEGER:
        return int(2 ** max(-measure.grid, 0))
    return 1


def _variance(noise: Noise) -> Fraction:
    """The variance of a mechanism's noise, in steps: of the continuous namesake, which is near enough to weigh by."""
    mechanism = noise.mechanism
    if isinstance(mechanism, Gaussian):
        return Fraction(mechanism.sigma) ** 2
    if isinstance(mechanism, Laplace):
        return 2 * Fraction(mechanism.scale) ** 2
    raise TypeError("only sums add up")


def _whole(noisy: Mapping[str, object]) -> dict[str, int]:
    """Released numbers of measures that add up."""
    return {name: value for name, value in noisy.items() if isinstance(value, int)}
