"""Derivation: answering a question from what was released for others, for nothing.

What follows from released numbers costs nothing more (Dwork & Roth 2014, Proposition 2.1). So what is decided here is
about accuracy alone: an answer is derived only where its exact part is the one that the question would have asked for
(see `matching`), each of its parts is taken from where it errs least, and no aggregate is expected to err more than in
the answer that the offer would have bought.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Self

from discreet.gateway.answers.matching import Released, matched
from discreet.gateway.answers.parts import ROUNDED
from discreet.gateway.answers.released import Group, Shown, in_order
from discreet.gateway.answers.sources import AvailableParts, Choice, MissingError, Source, Total
from discreet.mechanisms import Mode
from discreet.query.aggregates import Moment
from discreet.query.estimates import (
    ROWS,
    Estimator,
    ModeEstimator,
    Noisy,
    QuantileEstimator,
    Selection,
    joined,
)
from discreet.query.planner import CONFIDENCE, Draft, Level, Plan, keys_of, quantum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.privacy import KeyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """An answer that follows from others.

    Args:
        plan: the question's, with the noise that its answer really has.
        entries: the numbers of the debits that it follows from, in order.
        levels: how each is put together.
    """

    plan: Plan
    entries: tuple[int, ...]
    levels: tuple[_Assembly, ...]

    @property
    def sources(self) -> list[Source]:
        """Where its parts come from."""
        return [source for level in self.levels for source in level.sources()]

    def groups(self) -> list[Group]:
        """The answer's groups, as if they had been released for it."""
        return [group for number, level in enumerate(self.levels) for group in level.groups(number)]


def derive(plan: Plan, released: Sequence[Released], *, on_purpose: bool = False) -> Derived | None:
    """The answer that follows from others, and errs no more than the plan's would; None if there is none.

    Args:
        plan: of the question.
        released: what may serve; of the same data, in the same declarations.
        on_purpose: whether they are asked to serve it: it may err more then, and groups be selected otherwise.
    """
    if plan.profiles:
        return None
    if plan.reconstruction is not None and not on_purpose:
        return _adding_up(plan, released)
    return _made(plan, released, on_purpose=on_purpose)


def _adding_up(plan: Plan, released: Sequence[Released]) -> Derived | None:
    """The answer to a question whose levels add up: from one answer whose levels do, or from one level of any."""
    tables = set(map(keys_of, plan.drafts))
    ways = [
        [one for one in released if one.entry == entry and one.adds_up and keys_of(one.draft) in tables]
        for entry in dict.fromkeys(one.entry for one in released)
    ]
    if all(quantum_of(measure) == 1 for measure in plan.drafts[0].measures):  # else each level would be rounded apart
        ways += [[one] for one in released]
    found = (_made(plan, some, on_purpose=False) for some in ways)
    return next((one for one in found if one is not None), None)


def _made(plan: Plan, released: Sequence[Released], *, on_purpose: bool) -> Derived | None:
    """The answer, each level from wherever it errs least."""
    found = [_derived(draft, _alike(draft, released), on_purpose=on_purpose) for draft in plan.drafts]
    made = tuple(one for one in found if one is not None)
    if len(made) < len(found):
        return None
    return Derived(
        plan=replace(plan, levels=tuple(Level(one.draft()) for one in made), reconstruction=None),
        entries=tuple(sorted({source.released.entry for one in made for source in one.sources()})),
        levels=made,
    )


def _alike(draft: Draft, released: Sequence[Released]) -> Sequence[Released]:
    """The levels that may serve one of a question: where all were put together, the same one."""
    together = all(one.adds_up for one in released)
    return [one for one in released if keys_of(one.draft) == keys_of(draft)] if together else released


def _derived(draft: Draft, released: Sequence[Released], *, on_purpose: bool) -> _Assembly | None:
    """One level, if it can be made."""
    found = [(one, matched(draft, one, any_threshold=on_purpose)) for one in released]
    sources = [Source.of(one, how) for one, how in found if how is not None]
    # Answers with selected groups have groups of their own each; public groups are the same in all.
    for together in [[one] for one in sources] if draft.has_private_keys else [sources]:
        for is_gaussian in (False, True):
            made = _Assembly.of(draft, AvailableParts(together, is_gaussian=is_gaussian, draft=draft))
            if made is not None and (on_purpose or _errs_no_more(made.draft(), draft)):
                return made
    return None


@dataclass(frozen=True, slots=True)
class _Assembly:
    """A level put together from what was released.

    Args:
        question: the level's own draft.
        estimators: of its aggregates, from the parts that are there.
        totals: the measures that are used.
        choices: those that are used, by the names of picks.
        selector: the number of units that selected the groups; None if they are public.
        counter: the number of units by which groups are found too small; None if all are shown.
    """

    question: Draft
    estimators: tuple[tuple[str, Estimator], ...]
    totals: tuple[Total, ...]
    choices: Mapping[str, tuple[Choice, Selection]]
    selector: str | None
    counter: str | None

    @classmethod
    def of(cls, draft: Draft, available: AvailableParts) -> Self | None:
        """A level from what is available; None if something is missing."""
        choices: dict[str, tuple[Choice, Selection]] = {}
        aggregates = {aggregate.name: aggregate for aggregate in draft.question.aggregates}

        def estimator(name: str, known: Estimator) -> Estimator:
            if isinstance(known, QuantileEstimator | ModeEstimator):
                return _chosen(draft, known, available, choices)
            return aggregates[name].function.estimator(aggregates[name], available) if known.parts else known

        try:
            selector, counter = (
                None if each is None else available.measured_units() for each in (draft.selector, draft.counter)
            )
            estimators = [(name, estimator(name, known)) for name, known in draft.estimators]
        except MissingError:
            return None
        numbers = {part for _, each in estimators for part in each.parts}
        totals = available.used(numbers | {each for each in (selector, counter) if each is not None})
        if not totals and not choices:
            return None
        rows = next((found for each in totals if (found := each.read(Moment())) is not None), None)
        beside = tuple((name, each.beside(rows)) for name, each in estimators)
        return cls(draft, beside, tuple(totals), choices, selector, counter)

    def sources(self) -> list[Source]:
        """The entries that the parts come from."""
        return [one.source for one in self.totals] + [one.source for one, _ in self.choices.values()]

    def draft(self) -> Draft:
        """The question's draft with the noises that its parts have."""
        noises = tuple(one.noise for one in self.totals)
        selections = tuple(selection for _, selection in self.choices.values())
        return replace(
            self.question,
            measures=tuple(noise.measure for noise in noises),
            cells=(),
            histograms=tuple(dict.fromkeys(selection.measure for selection in selections)),
            picks=tuple(selection.pick for selection in selections),
            estimators=self.estimators,
            selector=self.selector,
            counter=self.counter,
            sensitivities=tuple(noise.sensitivity for noise in noises),
            contributions=(),
            noises=noises,
            selections=selections,
            threshold=self.sources()[0].released.draft.threshold,
        )

    def groups(self, level: int) -> list[Group]:
        """The question's groups, in their order."""
        goals = self.sources()[0].how.groups
        return in_order(self.question, (Group(goal, self._noisy(goal), level, self._before(goal)) for goal in goals))

    def _before(self, goal: tuple[KeyValue, ...]) -> Shown | None:
        """How the groups that make up this one were shown in their own answers, if noise picked groups there."""
        picked = {id(source): source for source in self.sources() if source.released.shown is not None}
        found = [source.before(goal, self._renamed(source)) for source in picked.values()]
        if not found:
            return None
        return Shown(prod(each.share for each in found), joined(one for each in found for one in each.conditions))

    def _renamed(self, source: Source) -> dict[str, str]:
        """The names that numbers of an answer have here, by their names there."""
        names: dict[str, str] = {}
        for one in self.totals:
            if one.source is source:
                names |= one.names
        for choice, selection in self.choices.values():
            if choice.source is source:
                old, new = choice.selection.pick, selection.pick
                names |= {old.name: new.name, old.around: new.around}
        return names

    def _noisy(self, goal: tuple[KeyValue, ...]) -> Noisy:
        """All numbers of one group."""
        noisy: dict[str, int | tuple[int, ...]] = {}
        for one in self.totals:
            noisy |= one.values(goal)
        for choice, selection in self.choices.values():
            noisy[selection.pick.name] = choice.value(goal, choice.selection.pick.name)
            if selection.pick.fraction is not None:
                noisy[selection.pick.around] = choice.value(goal, choice.selection.pick.around)
        return noisy


def _chosen(
    draft: Draft,
    known: QuantileEstimator | ModeEstimator,
    available: AvailableParts,
    choices: dict[str, tuple[Choice, Selection]],
) -> Estimator:
    """The estimator of a choice that was made, which is entered among the choices.

    Raises:
        MissingError: there is none.
    """
    wanted = next(each for each in draft.histograms if each.name == known.pick.histogram)
    name = known.pick.name
    if isinstance(known, ModeEstimator):
        found = available.fullest_in(wanted, known.pick.most)
    else:
        found = available.quantile_in(wanted, known.fraction)
        name += f" of {known.fraction}" if known.pick.fractions else ""  # they may be of several answers
    taken = next((selection for choice, selection in choices.values() if choice is found), None)
    selection = taken or replace(
        found.selection,
        pick=replace(found.selection.pick, name=name, histogram=wanted.name),
        measure=replace(found.selection.measure, name=wanted.name),
    )
    choices[selection.pick.name] = found, selection
    if isinstance(known, ModeEstimator):
        return replace(known, pick=selection.pick)
    return replace(known, pick=selection.pick).chosen_by(selection)


def _errs_no_more(made: Draft, draft: Draft) -> bool:
    """Whether no aggregate is expected to err more than in the answer that would be bought."""
    bought = dict(draft.estimators)
    laws = [each.laws for each in (made, draft)]
    for name, estimator in made.estimators:
        found = [each.slopes(law, ROWS) for each, law in zip((estimator, bought[name]), laws, strict=True)]
        errors = [
            None if slopes is None else slopes.radius(law, float(CONFIDENCE))
            for slopes, law in zip(found, laws, strict=True)
        ]
        new, old = errors
        if isinstance(estimator, QuantileEstimator | ModeEstimator):
            if not _chooses_as_well(made, draft, name):
                return False
        elif new is None or old is None or new > old * ROUNDED:
            return False
    return True


def _chooses_as_well(made: Draft, draft: Draft, name: str) -> bool:
    """Whether a choice is as near to the best, and is known to be with as little doubt.

    Args:
        made: what was put together.
        draft: what would be bought.
        name: of the aggregate.
    """
    chosen = [_choice_of(one, name) for one in (made, draft)]
    (new, fraction), (old, _) = chosen
    quantiles = [one.mechanism for one, _ in chosen if not isinstance(one.mechanism, Mode)]
    if quantiles and quantiles[0].confidence < quantiles[1].confidence:
        return False
    if quantiles and type(quantiles[0]) is type(quantiles[1]):
        rates = [one.rate / float(one.step) for one, _ in chosen]
        if rates[0] * ROUNDED < rates[1]:
            return False
    return new.reach(CONFIDENCE, fraction) <= old.reach(CONFIDENCE, fraction) * ROUNDED


def _choice_of(draft: Draft, name: str) -> tuple[Selection, Fraction | None]:
    """The choice that an aggregate is read from, and at which quantile."""
    estimator = dict(draft.estimators)[name]
    if not isinstance(estimator, QuantileEstimator | ModeEstimator):
        raise TypeError("nothing is chosen for it")
    selection = next(each for each in draft.selections if each.pick.name == estimator.pick.name)
    return selection, estimator.fraction if isinstance(estimator, QuantileEstimator) else None
