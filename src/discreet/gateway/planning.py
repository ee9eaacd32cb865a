"""Planning: from a question and what is offered for it to a plan, by public facts alone or by what was asked first.

What is planned once is planned the same again: plans of stored answers are made anew, and nothing that a plan says of
itself is taken at its word.

Where bounds and limits are "auto", or what they cut off is to be measured, private profiles are asked first, and the
question is planned again with what they chose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from json import dumps
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import DiscreetError, InvalidArgument, QueryError
from discreet.gateway.answers import Group, Workload, make_workload
from discreet.gateway.outcome import Outcome, Remade, StoredRequest
from discreet.mechanisms import Gaussian
from discreet.privacy import Bounds, Limits
from discreet.query import ir
from discreet.query.estimates import Noise
from discreet.query.planner import (
    CLASSES,
    ENDS,
    OUTSIDE,
    SHARE,
    STEPS,
    Auto,
    Draft,
    Plan,
    Profile,
    Request,
    bounded_columns,
    bounds_of,
    choose_noise,
    chosen_for_groups,
    cut_off_by_groups,
    cut_off_by_rows,
    known,
    make_plan,
    moved,
    moved_by_chosen,
    named,
    rebound,
    rows_of_unit,
)
from discreet.results import CutOff, Moved
from discreet.tables import Dataset, declarations_of

if TYPE_CHECKING:
    from discreet.gateway.admissions import Admissions


Frame: TypeAlias = Any
"""An Ibis expression; Ibis hands out no types of its own."""


class Planning:
    """What plans questions of one dataset; its public tables are looked at in the version in force.

    Args:
        dataset: what is public about the tables.
        admissions: the versions of the tables.
    """

    def __init__(self, dataset: Dataset, admissions: Admissions) -> None:
        """Keep the parts; nothing is read yet."""
        self._dataset = dataset
        self._admissions: Admissions | None = admissions
        self._last: tuple[object, Dataset, Plan | Workload] | None = None

    def close(self) -> None:
        """Look at no tables any more; plans are made all the same."""
        self._admissions = None

    def plan(self, question: str | Frame | list[str | Frame], request: Request) -> Plan | Workload:
        """Plan a question, or several together; raises what `Protected.plan` does."""
        from discreet.query.sql import written

        together = isinstance(question, list)
        questions = [written(each, request.dialect) for each in (question if together else [question])]
        dataset = self._facts(request.bounds, *(text for text, _ in questions))
        same, last = (together, questions, dumps(request.to_json(), sort_keys=True)), self._last
        if last is not None and last[0] == same and _knows_the_same(last[1], dataset):
            return last[2]  # a plan is a function of these alone
        plan: Plan | Workload
        if together:
            plan = self._workload(questions, request.checked(), choosing=True)
        else:
            plan = self._alone(*questions[0], request, dataset, shown=isinstance(question, str))
        self._last = same, dataset, plan
        return plan

    def _alone(self, text: str, dialect: str, request: Request, dataset: Dataset, *, shown: bool) -> Plan:
        """One question, with what it offers in its own words."""
        from discreet.query.sql import Strategy, options

        said = options(text, dialect)
        asked = self._parse(text, dialect, dataset, shown=shown)
        again, offer = partial(make_plan, asked, dataset=dataset), request.with_options(said, asked).checked()
        demands_laplace = said.group_selection_strategy is Strategy.LAPLACE_THRESHOLD
        return again(offer) if demands_laplace else self._choosing(again, offer)

    def _choosing(self, again: Callable[[Request], Plan], offer: Request) -> Plan:
        """What is planned for an offer, with the noise that errs less where the offer leaves it open."""
        found, choice = choose_noise(again(offer), again, self._dataset)
        return replace(found, choice=choice)

    def remade_for(self, question: Plan | Workload, request: Request, *, choosing: bool = False) -> Plan | Workload:
        """A question or a workload for another request, with a choice of noise or without."""
        if isinstance(question, Workload):
            texts = [(each.text, each.dialect) for each in question.questions]
            return self._workload(texts, request, choosing=choosing)
        again = partial(self.again, question)
        return self._choosing(again, request) if choosing else again(request)

    def again(self, plan: Plan, request: Request) -> Plan:
        """The same question for another request."""
        return self._planned(plan.question.text, plan.question.dialect, request)

    def _planned(self, text: str, dialect: str, request: Request) -> Plan:
        """A question as the rules plan it for a request that was read before."""
        dataset = self._facts(request.bounds, text)
        return make_plan(self._parse(text, dialect, dataset), request, dataset)

    def _facts(self, bounds: Sequence[tuple[str, Bounds | Auto]], *texts: str) -> Dataset:
        """The dataset with an analyst's bounds, and with what the public tables hold that questions can read."""
        found = self._dataset
        if bounds:
            found = replace(found, tables=rebound(found.tables, known(bounds)))
        text = "\n".join(texts).casefold()
        admissions = self._admissions
        if admissions is None or not any(table.public and table.name.casefold() in text for table in found.tables):
            return found
        return admissions.current().known(found, text)

    def _parse(self, question: str, dialect: str, dataset: Dataset, *, shown: bool = True) -> ir.Question:
        """The question, bound to the tables; errors have no place in a text that was never shown."""
        from discreet.query.sql import question as parse

        try:
            return parse(question, dataset.tables, dialect, dataset.schema)
        except QueryError as error:
            error.place = error.place if shown else None
            raise

    def _parsed_among(self, number: int, written: tuple[str, str], dataset: Dataset) -> ir.Question:
        """One of several questions; errors say which."""
        try:
            return self._parse(*written, dataset)
        except QueryError as error:
            error.message = f"question {number}: {error.message}"
            raise

    def _workload(self, questions: Sequence[tuple[str, str]], request: Request, *, choosing: bool = False) -> Workload:
        """Questions, each with its dialect, planned together."""
        from discreet.query.sql import Options, options

        if request.cut_off:
            raise InvalidArgument("cut_off isn't offered within a workload", hint="ask on its own")
        if any(options(text, dialect) != Options() for text, dialect in questions):
            raise InvalidArgument(
                "a question with OPTIONS of its own has no place in a workload", hint="offer for all of them together"
            )
        dataset = self._facts(request.bounds, *(text for text, _ in questions))
        asked = [self._parsed_among(number, each, dataset) for number, each in enumerate(questions, 1)]
        return make_workload(asked, request, dataset, choosing=choosing)

    def made_again(self, plan: Plan | Workload) -> Plan | Workload:
        """The plan as the rules make it here: nothing that a plan says of itself is taken at its word."""
        made = (
            self.remade_for(plan, plan.request)
            if plan.choice is None
            else self.remade_for(plan, plan.choice.offer, choosing=True)
        )
        if made.dataset != plan.dataset or made.digest != plan.digest:
            raise InvalidArgument(
                "the plan was made for other tables, or for other declarations of these",
                hint="plan the question again, here",
            )
        return made

    def remade(self, asked: StoredRequest) -> Remade | None:
        """What was asked before, planned as it would be now; None if it wouldn't."""
        try:
            if asked.together:
                return self._workload(asked.questions, asked.request)
            ((text, dialect),) = asked.questions
            return self._planned(text, dialect, asked.request)
        except DiscreetError:
            return None


def _knows_the_same(one: Dataset, other: Dataset) -> bool:
    """Whether both have the same public tables, not only equal ones: each is another one once it is admitted again."""
    public = ([table for table in each.tables if table.public] for each in (one, other))
    return all(first is second for first, second in zip(*public, strict=True))


def declarations_digest(dataset: Dataset) -> str:
    """What is declared of the tables, hashed: another bound, key, limit or budget gives another digest."""
    shares = {name: str(share) for name, share in dataset.analysts.items()}
    account = [dataset.name, str(dataset.adjacency), str(dataset.budget), dataset.failures, shares]
    return sha256(dumps([account, declarations_of(dataset)], sort_keys=True).encode()).hexdigest()


# ── Tuning: bounds and limits chosen by private profiles, what limits cut off, and what bounds move ───────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What was released for a question, with what was asked first, so that limits and bounds could be chosen.

    Args:
        outcome: of the question itself.
        before: the profiles that were asked first.
        cut_off: what limits cut off, where it was measured.
        moved: what bounds move, by column, where it was measured.
        bounds: of columns, where they were chosen privately.
    """

    outcome: Outcome
    before: tuple[Plan, ...] = ()
    cut_off: CutOff[Limits] | None = None
    moved: tuple[Moved[Bounds], ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)


def tuned(plan: Plan, ask: Callable[[Plan], Outcome], again: Callable[[Plan, Request], Plan]) -> Tuned:
    """Ask the profiles first, choose, and ask the question with what is left of the offer.

    Args:
        plan: of the question; without profiles, it is asked as it is.
        ask: looks for a stored outcome, or pays for a new one.
        again: plans the same question for another request.
    """
    if not plan.profiles:
        return Tuned(outcome=ask(plan))
    unknown = plan.request.unknown_bounds
    if not unknown:
        return _limited(plan, ask, again)
    spans = plan.profiles[: 2 * len(unknown)]
    bounds, beyond = _bounds(plan, [(asked, _groups_of(ask(asked))) for asked in spans])
    wanted = {**dict(plan.request.bounds), **bounds}
    rest = again(plan, replace(plan.request.left(SHARE), bounds=tuple(sorted(wanted.items()))))
    found = _limited(rest, ask, again) if rest.profiles else Tuned(outcome=ask(rest))
    measured = {one.column for one in found.moved}
    beyond = [one for one in beyond if one.column not in measured]
    return replace(found, bounds=bounds, moved=(*found.moved, *beyond), before=(*spans, *found.before))


def _limited(plan: Plan, ask: Callable[[Plan], Outcome], again: Callable[[Plan, Request], Plan]) -> Tuned:
    """Choose limits, unless they are given, say what bounds move, and ask."""
    bounded = bounded_columns(plan.question) if plan.request.cut_off else []
    profiles = [(profile, _groups_of(ask(profile))) for profile in plan.profiles]
    number = len(profiles) - len(bounded)
    cut_off = _cut_off(plan, profiles[:number]) if number else None
    chosen = None if cut_off is None else cut_off.limits
    limits = chosen if plan.request.limits == "auto" else plan.request.limits
    outcome = ask(again(plan, replace(plan.request.left(SHARE), limits=limits, cut_off=False)))
    found = tuple(
        moved(table, column, _classes(asked, groups, CLASSES), asked.levels[0].draft.noises[0])
        for (table, column), (asked, groups) in zip(bounded, profiles[number:], strict=True)
    )
    return Tuned(outcome=outcome, before=plan.profiles, cut_off=cut_off, moved=found)


def _groups_of(outcome: Outcome) -> Sequence[Group]:
    """What was released of one plan."""
    (groups,) = outcome.groups
    return groups


def _bounds(
    plan: Plan, spans: Sequence[tuple[Plan, Sequence[Group]]]
) -> tuple[Mapping[str, Bounds], Sequence[Moved[Bounds]]]:
    """Bounds for each column, from how many units have their ends in which class; and what they move."""
    found, beyond = {}, []
    for number, name in enumerate(plan.request.unknown_bounds):
        lows, highs = (_classes(asked, groups, len(ENDS)) for asked, groups in spans[2 * number : 2 * number + 2])
        table, column = named(plan.dataset.tables, name)
        noise = spans[2 * number][0].levels[0].draft.noises[0]
        price = _price(plan.levels[0].draft)
        found[name] = bounds_of(lows, highs, _deviation(noise), price=price, kind=column.kind)
        beyond.append(moved_by_chosen(f"{table.name}.{column.name}", found[name], lows, highs, noise))
    return found, beyond


def _price(draft: Draft) -> float:
    """How much the noise of a sum grows with its bound, about: with what a unit may add, and with what it may cost."""
    weight = draft.limits.rows or (draft.limits.groups or 1) * (draft.limits.rows_per_group or 1)
    request = draft.request
    epsilon = request.epsilon if request.epsilon is not None else (2 * (request.rho or Fraction(1)))
    return float(weight * max(len(draft.measures), 1) / epsilon)


def _cut_off(plan: Plan, profiles: Sequence[tuple[Plan, Sequence[Group]]]) -> CutOff[Limits]:
    """The limits that err least, by what the profiles say, or those in force; and what they cut off."""
    draft = plan.levels[0].draft
    read = [_profile(asked, groups) for asked, groups in profiles]
    rows, given, most = read[-1], draft.limits, rows_of_unit(draft.question.source)
    is_auto = plan.request.limits == "auto"
    if given.rows is None or (is_auto and draft.has_private_keys):
        found = chosen_for_groups(read[0], rows) if is_auto else given
        return cut_off_by_groups(read[0], rows, found, most)
    if not is_auto:
        return cut_off_by_rows(rows, given.rows, given, most)
    number = prod(len(key.values or ()) for key in draft.keys)
    error = _error_per_row(draft)
    limit = rows.best(lambda candidate: number * error * candidate)
    limits = Limits(rows=limit, groups=given.groups and _groups(draft, read[0], number))
    return cut_off_by_rows(rows, limit, limits, most)


def _profile(asked: Plan, groups: Sequence[Group]) -> Profile:
    """What was released for a profile, with its noise."""
    (noise,) = asked.levels[0].draft.noises
    reach = float(noise.radius(1 - OUTSIDE / len(STEPS)))
    return Profile(tuple(_classes(asked, groups, len(STEPS))), _deviation(noise), reach)


def _groups(draft: Draft, groups: Profile, number: int) -> int:
    """In how many of the public groups units are best counted: where noise and what is cut off are least together."""
    (counted,) = (noise for noise in draft.noises if isinstance(noise.measure, ir.Units))
    error = _deviation(counted) / counted.sensitivity.l0
    return min(number, groups.best(lambda candidate: number * error * candidate))


def _classes(asked: Plan, groups: Sequence[Group], number: int) -> list[int]:
    """How many units are in each of the first classes, as they were released."""
    (noise,) = asked.levels[0].draft.noises
    by_class = {group.key[0]: group.noisy[noise.measure.name] for group in groups}
    counts = (by_class[place] for place in range(number))
    return [int(noise.step * count) for count in counts if isinstance(count, int)]


def _error_per_row(draft: Draft) -> float:
    """How much noise one row of the limit costs, in rows: that of the best measure, which is mostly a count."""
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
    """How large a mechanism's noise is, about."""
    mechanism = noise.mechanism
    return float(noise.step * (mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale))
