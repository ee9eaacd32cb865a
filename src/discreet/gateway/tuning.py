"""Private tuning: limits and bounds chosen by profiles that are asked first, what limits cut off, what bounds move."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import inf, prod
from typing import Self

from discreet.gateway.answers import Group, Workload, extra_filters
from discreet.gateway.outcome import Outcome
from discreet.gateway.procedures import Procedure
from discreet.mechanisms import Gaussian
from discreet.privacy import Bounds, Limits
from discreet.query import ir
from discreet.query.estimates import Noise, RowsCutOff, SizeClass
from discreet.query.planner import (
    CLASSES,
    ENDS,
    FIRSTS,
    OUTSIDE,
    SHARE,
    STEPS,
    Draft,
    Plan,
    Profile,
    Request,
    bounded_columns,
    bounds_of,
    chosen_for_groups,
    cut_off_by_groups,
    cut_off_by_rows,
    moved,
    moved_by_chosen,
    named,
    rows_of_unit,
)
from discreet.results import CutOff, Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The outcome of a question, with the profiles that chose its limits and bounds.

    Args:
        outcome: of the question itself.
        before: the profiles that were asked first.
        cut_off: what limits cut off, where it was measured.
        rows: the same as intervals take it; None where limits aren't on rows, or groups aren't public.
        counted: the rows that it is known of, where several questions were asked; None of one.
        moved: what bounds move, by column, where it was measured.
        bounds: of columns, where they were chosen privately.
    """

    outcome: Outcome
    before: tuple[Plan, ...] = ()
    cut_off: CutOff[Limits] | None = None
    rows: RowsCutOff | None = None
    counted: ir.Relation | None = None
    moved: tuple[Moved[Bounds], ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    def of(self, plan: Plan) -> Self:
        """What is known for one of several questions: its rows may be fewer than those that were counted."""
        if self.counted is None or self.rows is None:
            return self
        extra = extra_filters(plan.question.source, self.counted)
        limits = {draft.limits.rows for draft in plan.drafts}
        if extra is None or limits != {self.rows.limit} or any(draft.has_private_keys for draft in plan.drafts):
            return replace(self, rows=None)
        return replace(self, rows=replace(self.rows, by_group=bool(plan.question.keys or extra)))


def tuning(plan: Plan, again: Callable[[Plan, Request], Plan]) -> Procedure[Tuned]:
    """Ask the profiles first, choose, and ask the question with what is left of the offer.

    Args:
        plan: without profiles, it is asked as it is, in one step.
        again: plans the same question for another request.
    """
    return Procedure(plan, partial(_tuned, plan, again))


def _tuned(plan: Plan, again: Callable[[Plan, Request], Plan]) -> Generator[Plan, Outcome, Tuned]:
    """Choose bounds, where they are unknown, and then limits."""
    if not plan.profiles:
        return Tuned(outcome=(yield plan))
    unknown = plan.request.unknown_bounds
    if not unknown:
        return (yield from _limited(plan, again))
    spans = plan.profiles[: 2 * len(unknown)]
    bounds, beyond = _bounds(plan, (yield from _each(spans)))
    wanted = {**dict(plan.request.bounds), **bounds}
    rest = again(plan, replace(plan.request.left(SHARE), bounds=tuple(sorted(wanted.items()))))
    found = yield from _tuned(rest, again)
    measured = {one.column for one in found.moved}
    beyond = [one for one in beyond if one.column not in measured]
    return replace(found, bounds=bounds, moved=(*found.moved, *beyond), before=(*spans, *found.before))


def _limited(plan: Plan, again: Callable[[Plan, Request], Plan]) -> Generator[Plan, Outcome, Tuned]:
    """Choose limits, unless they are given, say what bounds move, and ask."""
    bounded = bounded_columns(plan.question) if plan.request.cut_off else []
    profiles = yield from _each(plan.profiles)
    number = len(profiles) - len(bounded)
    cut_off = _cut_off(plan, profiles[:number]) if number else None
    chosen = None if cut_off is None else cut_off.limits
    limits = chosen if plan.request.limits == "auto" else plan.request.limits
    outcome = yield again(plan, replace(plan.request.left(SHARE), limits=limits, cut_off=False))
    counted = plan.counted.source if isinstance(plan, Workload) and plan.counted is not None else None
    if cut_off is None:
        rows = None
    elif counted is None:
        rows = _rows(outcome.plan, profiles[:number])
    else:
        rows = _rows_of_several(outcome.plan, counted, cut_off.limits, *profiles)
    if cut_off is not None and rows is not None:
        most, shows = rows.classes[-1].last, _profile(*profiles[number - 1], None).shows_up_to
        hidden = rows.beyond(shows, float(plan.request.confidence)) if rows.limit < most else 0
        cut_off = replace(cut_off, ceiling=None if most == inf else int(most), shows=shows, hidden=int(hidden))
    found = tuple(
        moved(table, column, _classes(asked, groups, CLASSES), asked.levels[0].draft.noises[0])
        for (table, column), (asked, groups) in zip(bounded, profiles[number:], strict=True)
    )
    return Tuned(outcome=outcome, before=plan.profiles, cut_off=cut_off, rows=rows, counted=counted, moved=found)


def _rows_of_several(
    plan: Plan, counted: ir.Relation, limits: Limits, profile: tuple[Plan, Sequence[Group]]
) -> RowsCutOff | None:
    """How many rows limits cut off the widest of several questions, as intervals take it; None if they can't."""
    asked, groups = profile
    pairs_tried = max((level.exact.most_pairs for level in plan.levels), default=0)
    if limits.rows is None or pairs_tried > asked.levels[0].exact.most_pairs:
        return None
    return RowsCutOff(_size_classes(asked, groups, rows_of_unit(counted)), _noise(asked), limits.rows)


def _rows(plan: Plan, profiles: Sequence[tuple[Plan, Sequence[Group]]]) -> RowsCutOff | None:
    """How many rows the limits of a plan cut off, as intervals take it; None if they can't.

    Args:
        plan: of the question, under the limits that were chosen, or given.
        profiles: of the rows of units, or of their groups and rows.
    """
    (limit, among), *others = {(draft.limits.rows, draft.limits.groups) for draft in plan.drafts}
    pairs_tried = max(level.exact.most_pairs for level in plan.levels)
    if others or limit is None or any(draft.has_private_keys for draft in plan.drafts):
        return None
    if any(pairs_tried > asked.levels[0].exact.most_pairs for asked, _ in profiles):
        return None  # joins leave out pairs of a unit's rows that the question counts
    most, by_group = rows_of_unit(plan.question.source), bool(plan.question.keys)
    pairs = None
    if among is not None and len(profiles) > 1:
        groups = max(prod(len(key.values or ()) for key in draft.keys) for draft in plan.drafts)
        classes = tuple(replace(each, last=min(each.last, groups)) for each in _size_classes(*profiles[0], most))
        pairs = RowsCutOff(classes, _noise(profiles[0][0]), among, by_group)  # a profile has groups of any key in it
    return RowsCutOff(_size_classes(*profiles[-1], most), _noise(profiles[-1][0]), limit, by_group, pairs)


def _size_classes(asked: Plan, groups: Sequence[Group], most: int | None) -> tuple[SizeClass, ...]:
    """The classes of a profile that a unit can be in."""
    noise = _noise(asked)
    counts = {group.key[0]: group.noisy[noise.measure.name] for group in groups}
    ceiling, ends = inf if most is None else most, (*STEPS[:-1], inf)
    return tuple(
        SizeClass(first, min(last, ceiling), float(noise.step * count))
        for place, (first, last) in enumerate(zip(FIRSTS, ends, strict=True))
        if first <= ceiling and isinstance(count := counts[place], int)
    )


def _noise(asked: Plan) -> Noise:
    """The noise in the classes of a profile."""
    (noise,) = asked.levels[0].draft.noises
    return noise


def _each(profiles: Sequence[Plan]) -> Generator[Plan, Outcome, list[tuple[Plan, Sequence[Group]]]]:
    """What was released for each profile, with the plan that says which noise it has."""
    found = []
    for profile in profiles:
        outcome = yield profile
        (groups,) = outcome.groups
        found.append((outcome.plan, groups))
    return found


def _bounds(
    plan: Plan, spans: Sequence[tuple[Plan, Sequence[Group]]]
) -> tuple[Mapping[str, Bounds], Sequence[Moved[Bounds]]]:
    """Bounds for each column, from how many units have their ends in which class; and what they move."""
    found, beyond = {}, []
    for number, name in enumerate(plan.request.unknown_bounds):
        lows, highs = (_classes(asked, groups, len(ENDS)) for asked, groups in spans[2 * number : 2 * number + 2])
        table, column = named(plan.dataset.tables, name)
        noise = spans[2 * number][0].levels[0].draft.noises[0]
        price = _price(plan.drafts[0])
        found[name] = bounds_of(lows, highs, _deviation(noise), price=price, kind=column.kind)
        beyond.append(moved_by_chosen(f"{table.name}.{column.name}", found[name], lows, highs, noise))
    return found, beyond


def _price(draft: Draft) -> float:
    """Roughly how much the noise of a sum grows with its bound: with what a unit may add, and with what it may cost."""
    weight = draft.limits.rows or (draft.limits.groups or 1) * (draft.limits.rows_per_group or 1)
    request = draft.request
    epsilon = request.epsilon if request.epsilon is not None else (2 * (request.rho or Fraction(1)))
    return float(weight * max(len(draft.measures), 1) / epsilon)


def _cut_off(plan: Plan, profiles: Sequence[tuple[Plan, Sequence[Group]]]) -> CutOff[Limits]:
    """The limits that err least, by what the profiles say, or those in force; and what they cut off."""
    draft = plan.drafts[0]
    counted = plan.counted if isinstance(plan, Workload) else draft.question
    most = None if counted is None else rows_of_unit(counted.source)
    read = [_profile(asked, groups, most) for asked, groups in profiles]
    rows, given = read[-1], draft.limits
    is_auto = plan.request.limits == "auto"
    if not plan.together and (given.rows is None or (is_auto and draft.has_private_keys)):
        return cut_off_by_groups(read[0], rows, chosen_for_groups(read[0], rows) if is_auto else given)
    if not is_auto and given.rows is not None:
        return cut_off_by_rows(rows, given.rows, given)
    number = max(prod(len(key.values or ()) for key in draft.keys), 1)
    limit = rows.best(_error_per_row(draft), number)
    among = None if plan.together else given.groups  # of several questions, rows alone are limited
    limits = Limits(rows=limit, groups=among and min(limit, _groups(draft, read[0], number)))
    return cut_off_by_rows(rows, limit, limits)


def _profile(asked: Plan, groups: Sequence[Group], most: int | None) -> Profile:
    """The released numbers of a profile, with their noise."""
    noise = _noise(asked)
    reach = float(noise.radius(1 - OUTSIDE / len(STEPS)))
    return Profile(tuple(_classes(asked, groups, len(STEPS))), _deviation(noise), reach, most)


def _groups(draft: Draft, groups: Profile, number: int) -> int:
    """In how many of the public groups units are best counted: where noise and what is cut off are least together."""
    (counted,) = (noise for noise in draft.noises if isinstance(noise.measure, ir.Units))
    return min(number, groups.best(_deviation(counted) / counted.sensitivity.l0, number))


def _classes(asked: Plan, groups: Sequence[Group], number: int) -> list[int]:
    """How many units are in each of the first classes, as they were released."""
    noise = _noise(asked)
    by_class = {group.key[0]: group.noisy[noise.measure.name] for group in groups}
    counts = (by_class[place] for place in range(number))
    return [int(noise.step * count) for count in counts if isinstance(count, int)]


def _error_per_row(draft: Draft) -> float:
    """The noise that one row of the limit costs, in rows: that of the best measure, which is mostly a count."""
    weight = draft.limits.rows or 1
    sums = [noise for noise in draft.laws.values() if isinstance(noise.measure, ir.Sum)]
    if sums:
        return min(_deviation(noise) / _size(noise) for noise in sums) / weight
    return min((selection.reach(draft.request.confidence) for selection in draft.selections), default=1.0) / weight


def _size(noise: Noise) -> float:
    """The most that one row adds to a sum."""
    if not isinstance(noise.measure, ir.Sum):
        raise TypeError("only sums have sizes")
    return float(noise.step * max(abs(noise.measure.lo), abs(noise.measure.hi), 1))


def _deviation(noise: Noise) -> float:
    """A rough size of a measure's noise: the scale, or sigma, of one mechanism."""
    if not noise.is_sum or noise.number > 1:
        return noise.deviation
    mechanism = noise.mechanism
    return float(noise.step * (mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale))
