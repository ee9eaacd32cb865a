"""Picking: the groups that HAVING keeps, in the order asked for, within LIMIT; and how each came to be shown.

HAVING is taken apart into comparisons. Each comparison that noise has a say in is a condition that a group's numbers
met or didn't, which is known of the groups that are shown and of the others. `n > 100` means that a number lies in a
window; `AVG(x) > 50`, which is Σ(x − 50) > 0 where there are rows, means that a combination of numbers reaches an end.
For anything else, nobody knows how probable it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from discreet.gateway.answers.intervals import ShownIntervals, cut_off_of, selected_by, usual_margin
from discreet.gateway.answers.reconstruction import reconstructed
from discreet.gateway.answers.released import Group, Shown, Values, evaluate
from discreet.query import ir
from discreet.query.estimates import (
    Condition,
    HalfSpace,
    Linear,
    LinearRatio,
    Noises,
    Noisy,
    RowsCutOff,
    Together,
    Unknown,
    Window,
    integer,
    joined,
    ratio_of,
)
from discreet.query.ir import call, changed, grouping, literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.privacy import KeyValue
    from discreet.query.planner import Draft, Plan

Row = tuple[Group, Values]
"""A group with its released values."""

_DOUBLINGS = 120
"""Both ends of a window lie within 2¹²⁰ steps of a noisy number."""


class Arrangement:
    """The groups of an answer, as HAVING, ORDER BY, LIMIT and OFFSET arrange them.

    Args:
        drafts: one for each level that is answered.
        groups: of all of these.
        cut_off: what limits cut off, to be in the intervals; None where that wasn't measured.

    Attributes:
        rows: the groups that are shown, in order, each with its released values.
    """

    def __init__(self, drafts: Sequence[Draft], groups: Sequence[Group], cut_off: RowsCutOff | None = None) -> None:
        self._drafts = tuple(drafts)
        self._cut_off = cut_off
        self._readings = [_Reading.of(draft) for draft in drafts]
        self.question = drafts[0].question
        self._all = [(group, self._read(group)) for group in groups]
        having = self.question.having
        self._kept = self._all if having is None else [row for row in self._all if evaluate(having, row[1]) is True]
        rows = list(self._kept)
        for order in reversed(self.question.order):
            rows.sort(key=_order_key(order), reverse=order.descending)
        end = None if self.question.limit is None else self.question.offset + self.question.limit
        self.rows: list[Row] = rows[self.question.offset : end]

    @classmethod
    def of(cls, plan: Plan, groups: Sequence[Group], cut_off: RowsCutOff | None = None) -> Self:
        """The arrangement of a plan's answer; groups that no row of a public table can have are left out."""
        drafts = plan.drafts
        every = groups if plan.reconstruction is None else reconstructed(plan.reconstruction, groups)
        return cls(drafts, [group for group in every if drafts[group.level].has(group.key)], cut_off)

    @cached_property
    def intervals(self) -> ShownIntervals:
        """The intervals of the groups that are shown."""
        return self.intervals_with(self._cut_off)

    def intervals_with(self, cut_off: RowsCutOff | None) -> ShownIntervals:
        """The same with what else limits may have cut off."""
        groups = tuple(group for group, _ in self.rows)
        found = tuple(None if cut_off is None else cut_off_of(draft, cut_off) for draft in self._drafts)
        return ShownIntervals(self._drafts, groups, tuple(self.how(row) for row in self.rows), found)

    @cached_property
    def shown(self) -> list[Row]:
        """The same as `rows`, with the margins of what was picked instead of those that picked."""
        if not ir.margins_of(self.question):
            return self.rows
        return [
            (group, values | ends) for (group, values), ends in zip(self.rows, self.intervals.margins(), strict=True)
        ]

    def how_of(self, level: int, key: tuple[KeyValue, ...]) -> Shown | None:
        """How a group came to be shown or left out, by its key; None if there is none."""
        row = self._by_key.get((level, key))
        return None if row is None else self.how(row)

    def how(self, row: Row) -> Shown:
        """How a group came to be shown or left out."""
        group, values = row
        before = group.before or Shown()
        met = () if self.question.having is None else self._met(group, values)
        own = selected_by(self._drafts[group.level], group.noisy)
        conditions = joined((*own, *met, *before.conditions)) if met or before.conditions else own
        return Shown(self._share(group) * before.share, conditions)

    @cached_property
    def _by_key(self) -> dict[tuple[int, tuple[KeyValue, ...]], Row]:
        """All groups."""
        return {(row[0].level, row[0].key): row for row in self._all}

    def withheld(self, expr: ir.Expr) -> tuple[int, ...]:
        """The rows in which an output is withheld because the group is too small; what keys alone say never is."""
        return self._too_small if _is_noisy(self.question, [expr]) else ()

    @cached_property
    def _too_small(self) -> tuple[int, ...]:
        """The rows whose groups are too small for a custodian to show their values."""
        return tuple(
            row for row, (group, _) in enumerate(self.rows) if self._drafts[group.level].withholds(group.noisy)
        )

    def _read(self, group: Group) -> Values:
        """The released values of a group; NULL if they are withheld, so that they order nothing and pass no HAVING."""
        reading = self._readings[group.level]
        values = reading(group) | reading.reach(group)
        if not reading.draft.withholds(group.noisy):
            return values
        known = {key.name for key in reading.draft.keys} | reading.marks.keys()
        return {name: value if name in known else None for name, value in values.items()}

    def _met(self, group: Group, values: Values) -> tuple[Condition, ...]:
        """The conditions of HAVING that a group met, or didn't."""
        reading = self._readings[group.level]
        if not all(noise.is_sum for noise in reading.laws.values()) and _is_noisy(
            self.question, [self.question.having]
        ):
            return (Unknown(frozenset(reading.laws)),)  # what other groups' numbers make of it isn't on a grid of steps
        return tuple(reading.met(self.question.having, group, values))

    @cached_property
    def _ordered(self) -> bool:
        """Whether noisy values decide which of the groups that HAVING keeps are within LIMIT and OFFSET."""
        is_cut = len(self.rows) < len(self._kept)
        return is_cut and _is_noisy(self.question, [order.expr for order in self.question.order])

    @cached_property
    def _places(self) -> tuple[set[tuple[int, Any]], set[tuple[int, Any]]]:
        """The places of the groups that are shown, and of those that HAVING keeps."""
        shown, kept = ({(group.level, group.key) for group, _ in rows} for rows in (self.rows, self._kept))
        return shown, kept

    def _share(self, group: Group) -> float:
        """The share of the groups that HAVING keeps which was shown, or left out, as this one was."""
        if not self._ordered:
            return 1.0
        shown, kept = self._places
        place = group.level, group.key
        if place not in kept:
            return 1.0
        return (len(shown) if place in shown else len(kept) - len(shown)) / len(kept)


def picks_by_noise(question: ir.Question) -> bool:
    """Whether HAVING, or ORDER BY with LIMIT or OFFSET, picks groups by anything but their keys."""
    picking = [] if question.having is None else [question.having]
    if question.limit is not None or question.offset:
        picking += [order.expr for order in question.order]
    return _is_noisy(question, picking)


def _is_noisy(question: ir.Question, exprs: Sequence[ir.Expr | None]) -> bool:
    """Whether an expression rests on more than keys."""
    noisy = {each.name for each in question.aggregates}
    known = [expr for expr in exprs if expr is not None]
    return any(ir.released_names(expr) & noisy or _has_margins(expr) for expr in known)


def _has_margins(expr: ir.Expr) -> bool:
    """Whether an expression depends on how far noise may reach."""
    return any(True for _ in ir.margins(expr))


def _order_key(order: ir.Order) -> Callable[[Row], tuple[bool, Any]]:
    """A sorting key for one ORDER BY term; the flag puts NULLs where they were asked for."""

    def key(row: Row) -> tuple[bool, Any]:
        value = evaluate(order.expr, row[1])
        comes_last = (value is None) != order.nulls_first
        return (comes_last != order.descending, 0 if value is None else value)

    return key


@dataclass(frozen=True)
class _Reading:
    """Reads the groups of one level. Whatever is the same for all of them is worked out once.

    Args:
        draft: of the level.
        laws: the noise of every released number.
        marks: what says of which grouping set the groups are.
        margins: how far the noise may have carried what was released, by group.
        ends: where comparisons turn, by comparison and number, as far as they were looked for.
    """

    draft: Draft
    laws: Noises
    marks: Values
    margins: Mapping[ir.Margin, Callable[[Noisy], float | None]]
    ends: dict[tuple[str, str], int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, draft: Draft) -> Self:
        """That of a level."""
        marks: Values = {}
        for name in draft.question.rolled:
            marks |= {name: None, grouping(name).name: 1}
        marks |= {grouping(key.name).name: 0 for key in draft.keys}
        margins = {margin: usual_margin(draft, margin) for margin in ir.margins_of(draft.question)}
        return cls(draft, draft.laws, marks, margins)

    def __call__(self, group: Group) -> Values:
        """All released values of a group, by the names outputs use."""
        keys: Values = {key.name: value for key, value in zip(self.draft.keys, group.key, strict=True)}
        found = {name: estimator.estimate(group.noisy, self.laws) for name, estimator in self.draft.estimators}
        return keys | self.marks | found

    def reach(self, group: Group) -> Values:
        """How far the noise may have carried a group's released values."""
        return {margin: of(group.noisy) for margin, of in self.margins.items()}

    # ── What HAVING knows of a group ──────────────────────────────────────────────────────────────────────────────────

    def met(self, having: ir.Expr | None, group: Group, values: Values) -> Iterator[Condition]:
        """The conditions on numbers of a group that HAVING's comparisons are, as they turned out."""
        known = {key.name: values[key.name] for key in self.draft.keys} | self.marks
        for part in () if having is None else _comparisons(having):
            numbers = self._numbers(part)
            if numbers:
                yield from self._condition(_with_keys(part, known), group, values) or (Unknown(numbers),)

    def _numbers(self, expr: ir.Expr) -> frozenset[str]:
        """The numbers that an expression rests on."""
        estimators = dict(self.draft.estimators)
        names = ir.released_names(expr).union(*(ir.released_names(each.of) for each in ir.margins(expr)))
        return frozenset(part for name in names if name in estimators for part in estimators[name].parts)

    def _condition(self, part: ir.Expr, group: Group, values: Values) -> tuple[Condition, ...] | None:
        """A comparison as conditions on combinations of numbers; None if it isn't known how it depends on them."""
        truth = evaluate(part, values)
        match part:
            case ir.Call(function=ir.Function(name="eq" | "ne" as name)) if truth is not None:
                return self._of_equality(part, group, values, is_equal=truth is (name == "eq"))
            case ir.Call(function=ir.Function(name="gt" | "ge" | "lt" | "le" as name)) if truth is not None:
                sign = 1 if (name in {"gt", "ge"}) is truth else -1
                return self._of_difference(part, sign, group, values)
            case _:
                return None

    def _of_difference(self, part: ir.Call, sign: int, group: Group, values: Values) -> tuple[Condition, ...] | None:
        """The condition that left − right is at least 0, or at most 0, as the sign says."""
        left, right = map(self._shape, part.args)
        if left is None or right is None:
            return None
        if not (left.is_linear and right.is_linear):
            return None if _has_margins(part) else self._of_ratio(left, right, sign, group.noisy)
        of = left.numerator.plus(right.numerator.times(Fraction(-1)))
        if len(of.factors) == 1:
            return self._window(part, of, sign, group)
        return self._space(of, sign, group.noisy, self._shift(part, of, values, group.noisy))

    def _of_equality(
        self, part: ir.Call, group: Group, values: Values, *, is_equal: bool
    ) -> tuple[Condition, ...] | None:
        """`=` and `<>` as two comparisons, or as the one on whose side a group is."""
        more, less = (call(name, *part.args) for name in (("ge", "le") if is_equal else ("gt", "lt")))
        sides = [each for each in (more, less) if evaluate(each, values) is True]
        found = [self._condition(each, group, values) for each in sides]
        if not found or None in found:
            return None
        return tuple(one for each in found for one in each or ())

    def _shape(self, expr: ir.Expr) -> LinearRatio | None:
        """The way one side of a comparison depends on numbers; for a margin, without the distance from its value."""
        match expr:
            case ir.Margin(side=ir.Side.DEVIATION):
                return LinearRatio(Linear())
            case ir.Margin(of=of):
                found = self._shape(of)
                return found if found is not None and found.is_linear else None
            case _ if _has_margins(expr):
                return None
            case _:
                return ratio_of(expr, dict(self.draft.estimators))

    def _window(self, part: ir.Call, of: Linear, sign: int, group: Group) -> tuple[Condition, ...] | None:
        """A comparison that one number decides, as a window."""
        ((number, factor),) = of.factors.items()
        seen, place = integer(number, group.noisy), (str(part), number)
        upwards = sign if factor > 0 else -sign  # whether the comparison turned out as it did from some end on
        if place not in self.ends:
            self.ends[place] = self._turn(part, number, group, upwards)
        end = self.ends[place]
        if end is None:
            return None
        noise = self.laws[number]
        least = 0 if not isinstance(noise.measure, ir.Sum) or noise.measure.lo >= 0 else None  # of the exact number
        if seen >= end:
            return (Window(number=number, noise=noise, seen=seen, least=end, exact_least=least),)
        return (Window(number=number, noise=noise, seen=seen, most=end - 1, exact_least=least),)

    def _turn(self, part: ir.Call, number: str, group: Group, upwards: int) -> int | None:
        """The least number from which on a comparison turns out otherwise than below; None if it is nowhere found."""
        seen = integer(number, group.noisy)

        def truth(value: int) -> object:
            moved = replace(group, noisy={**group.noisy, number: value})
            return evaluate(part, self(moved) | self.reach(moved))

        same, near, step = truth(seen), seen, 1
        for _ in range(_DOUBLINGS):
            far = near - upwards * step
            if truth(far) is not same:
                break
            near, step = far, 2 * step
        else:
            return None
        while abs(near - far) > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if truth(middle) is same else (near, middle)
        return max(near, far)

    def _shift(self, part: ir.Call, of: Linear, values: Values, noisy: Noisy) -> float:
        """How far the sides of a comparison differ because of margins, and not of numbers and constants."""
        if not _has_margins(part):
            return 0.0
        left, right = (evaluate(arg, values) for arg in part.args)
        return float(left) - float(right) - of.at(noisy, self.laws)

    def _space(self, of: Linear, sign: int, noisy: Noisy, shift: float = 0.0) -> tuple[Condition, ...]:
        """The condition that a combination of numbers, or its negative, is at least 0; none if it has no number."""
        if not of.factors:
            return ()
        slack = self._slack(of) * (2 if shift else 1)
        return (Together((self._reaching(of, sign, noisy, slack - sign * shift),)),)

    def _reaching(self, of: Linear, sign: int, noisy: Noisy, least: float) -> HalfSpace:
        """The condition that a combination, or its negative, reaches an end."""
        names = tuple(of.factors)
        return HalfSpace(
            names=names,
            noises=tuple(self.laws[name] for name in names),
            factors=tuple(sign * float(of.factors[name]) for name in names),
            seen=sign * of.at(noisy, self.laws),
            least=least - sign * float(of.constant),
        )

    def _of_ratio(self, left: LinearRatio, right: LinearRatio, sign: int, noisy: Noisy) -> tuple[Condition, ...] | None:
        """A ratio compared with a constant, where what it is divided by is above 0."""
        if left.is_constant:
            left, right, sign = right, left, -sign
        if not right.is_constant:
            return None
        end, below = right.numerator.constant, left.denominator
        inside = left.ends is None or left.ends[0] < end < left.ends[1]
        if not inside or not below.factors or below.at(noisy, self.laws) <= 0:
            return None
        of = left.numerator.plus(below.times(-end))
        least = 2 * self._slack(below)
        parts = [self._reaching(of, sign, noisy, self._slack(of))] if of.factors else []
        return (Together((*parts, self._reaching(below, 1, noisy, least))),)

    def _slack(self, of: Linear) -> float:
        """How much farther out a combination may lie than what is compared, because whole numbers are rounded first."""
        steps = ((abs(float(factor)), self.laws[name]) for name, factor in of.factors.items())
        return sum(size * max(float(noise.step), 0.5) for size, noise in steps)


def _comparisons(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The operands of AND, OR and NOT."""
    match expr:
        case ir.Call(function=ir.Function(name="and" | "or" | "not"), args=args):
            for arg in args:
                yield from _comparisons(arg)
        case _:
            yield expr


def _with_keys(expr: ir.Expr, known: Mapping[str | ir.Margin, Any]) -> ir.Expr:
    """The expression with the keys of a group in their places, where they are numbers; margins stay as they are."""

    def in_place(part: ir.Expr) -> ir.Expr | None:
        if isinstance(part, ir.Released) and isinstance(known.get(part.name), (int, Fraction)):
            return literal(known[part.name])
        return part if isinstance(part, ir.Margin) else None

    return changed(expr, in_place)
