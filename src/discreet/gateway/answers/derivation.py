"""Derivation: answering a question from what was released for others, for nothing.

What follows from released numbers costs nothing more (Dwork & Roth 2014, Proposition 2.1). So what is decided here is
about accuracy alone: an answer is derived only where its exact part is the one that the question would have asked for
(see `matching`), each of its parts is taken from where it errs least, and no aggregate is expected to err more than in
the answer that the offer would have bought.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from discreet.gateway.answers.matching import Released, is_unlimited, matched
from discreet.gateway.answers.parts import ROUNDED, about
from discreet.gateway.answers.released import Group, Shown, in_order
from discreet.gateway.answers.sources import AvailableParts, Choice, Source, Total
from discreet.query import ir
from discreet.query.estimates import (
    ROWS,
    Estimator,
    Mean,
    ModeEstimator,
    Noise,
    Noisy,
    QuantileEstimator,
    Selection,
    joined,
)
from discreet.query.planner import CONFIDENCE, Draft, Level, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    if plan.profiles or plan.request.consistent:  # least squares wants noises that are independent
        return None
    found = [_derived(level.draft, released, on_purpose=on_purpose) for level in plan.levels]
    made = tuple(one for one in found if one is not None)
    if len(made) < len(found):
        return None
    return Derived(
        plan=replace(plan, levels=tuple(Level(one.draft()) for one in made)),
        entries=tuple(sorted({source.released.entry for one in made for source in one.sources()})),
        levels=made,
    )


def _derived(draft: Draft, released: Sequence[Released], *, on_purpose: bool) -> _Assembly | None:
    """One level, if it can be made."""
    found = [(one, matched(draft, one, any_threshold=on_purpose)) for one in released]
    sources = [Source.of(one, how) for one, how in found if how is not None]
    # Answers with selected groups have groups of their own each; public groups are the same in all.
    for together in [[one] for one in sources] if draft.has_private_keys else [sources]:
        for is_gaussian in (False, True):
            available = AvailableParts(together, is_gaussian=is_gaussian, counts_units_once=is_unlimited(draft))
            made = _Assembly(draft, available)
            if made.is_whole and (on_purpose or _errs_no_more(made.draft(), draft)):
                return made
    return None


class _Assembly:
    """A level put together from what was released.

    Args:
        draft: of the question.
        available: what there is.
    """

    def __init__(self, draft: Draft, available: AvailableParts) -> None:
        self._draft = draft
        self._available = available
        self._totals: dict[str, Total] = {}
        self._choices: dict[str, tuple[Choice, Selection]] = {}
        estimators = [(name, self._estimator(estimator)) for name, estimator in draft.estimators]
        self._estimators = tuple((name, one) for name, one in estimators if one is not None)
        selects = draft.selector is None or self._takes(draft.selector)
        self.is_whole = selects and len(estimators) == len(self._estimators) and bool(self._totals or self._choices)

    def sources(self) -> list[Source]:
        """The entries that the parts come from."""
        totals = [one.source for one in self._totals.values()]
        return totals + [one.source for one, _ in self._choices.values()]

    def draft(self) -> Draft:
        """The question's draft with the noises that its parts have."""
        noises = tuple(self._noise(name) for name in self._totals)
        selections = tuple(selection for _, selection in self._choices.values())
        return replace(
            self._draft,
            measures=tuple(noise.measure for noise in noises),
            histograms=tuple(dict.fromkeys(selection.measure for selection in selections)),
            picks=tuple(selection.pick for selection in selections),
            estimators=self._estimators,
            sensitivities=tuple(noise.sensitivity for noise in noises),
            contributions=(),
            noises=noises,
            selections=selections,
            threshold=self.sources()[0].released.draft.threshold,
        )

    def groups(self, level: int) -> list[Group]:
        """The question's groups, in their order."""
        goals = self.sources()[0].how.groups
        names = [number.name for name in self._totals for number in ir.sums_of(self._noise(name).measure)]
        return in_order(
            self._draft, (Group(goal, self._noisy(goal, names), level, self._before(goal)) for goal in goals)
        )

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
        for name, one in self._totals.items():
            if one.source is source:
                pairs = zip(ir.sums_of(one.noise.measure), ir.sums_of(self._noise(name).measure), strict=True)
                names |= {old.name: new.name for old, new in pairs}
        for choice, selection in self._choices.values():
            if choice.source is source:
                old, new = choice.selection.pick, selection.pick
                names |= {old.name: new.name, old.around: new.around}
        return names

    def _noisy(self, goal: tuple[KeyValue, ...], names: Sequence[str]) -> Noisy:
        """All numbers of one group."""
        values = [value for one in self._totals.values() for value in one.values(goal)]
        noisy: dict[str, int | tuple[int, ...]] = dict(zip(names, values, strict=True))
        for choice, selection in self._choices.values():
            noisy[selection.pick.name] = choice.value(goal, choice.selection.pick.name)
            if selection.about is not None:
                noisy[selection.pick.around] = choice.value(goal, choice.selection.pick.around)
        return noisy

    def _estimator(self, estimator: Estimator) -> Estimator | None:
        """The estimator of an aggregate, if its parts are there; of an average, perhaps about another centre."""
        if isinstance(estimator, QuantileEstimator | ModeEstimator):
            return self._chosen(estimator)
        if all([self._takes(part) for part in estimator.parts]):  # noqa: C419 — all of them are taken
            return estimator
        return self._mean(estimator) if isinstance(estimator, Mean) else None

    def _noise(self, name: str) -> Noise:
        """The noise of a measure, under its name in this draft."""
        noise = self._totals[name].noise
        return replace(noise, measure=replace(noise.measure, name=name))

    def _takes(self, number: str) -> bool:
        """Take the measure that a number belongs to, if it is there."""
        measures = self._draft.measures
        wanted = next(each for each in measures if number in {one.name for one in ir.sums_of(each)})
        found = self._available.total(wanted)
        if found is not None:
            self._totals[wanted.name] = found
        return found is not None

    def _chosen(self, estimator: QuantileEstimator | ModeEstimator) -> Estimator | None:
        """The estimator, if its choice is there: take that."""
        pick = estimator.pick
        wanted = next(each for each in self._draft.histograms if each.name == pick.histogram)
        found = self._available.choice(wanted, pick)
        if found is None:
            return None
        selection = replace(found.selection, pick=pick, measure=replace(found.selection.measure, name=wanted.name))
        self._choices[pick.name] = found, selection
        return estimator.chosen_by(selection) if isinstance(estimator, QuantileEstimator) else estimator

    def _mean(self, estimator: Mean) -> Mean | None:
        """The average from a sum about another centre than the middle of the bounds, such as 0."""
        total = next(each for each in self._draft.measures if each.name == estimator.total)
        if not isinstance(total, ir.Sum) or not self._takes(estimator.count):
            return None
        *_, (value, _) = about(total.value)
        found = min(self._available.totals_about(value), key=lambda each: each[1].error, default=None)
        if found is None:
            return None
        centre, one = found
        name = f"{estimator.total} about {centre}"
        self._totals[name] = one
        return replace(estimator, total=name, centre=centre)


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
            if not _chooses_as_well(made, draft, estimator.pick.name):
                return False
        elif new is None or old is None or new > old * ROUNDED:
            return False
    return True


def _chooses_as_well(made: Draft, draft: Draft, name: str) -> bool:
    """Whether a choice is as near to the best, and is known to be with as little doubt."""
    new, old = (next(each for each in one.selections if each.pick.name == name) for one in (made, draft))
    if new.about is not None and old.about is not None:
        rates = [each.selection.rate * each.row for each in (new.about, old.about)]
        if new.about.confidence < old.about.confidence or rates[0] < rates[1]:
            return False
    return new.reach(CONFIDENCE) <= old.reach(CONFIDENCE) * ROUNDED
