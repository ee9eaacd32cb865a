"""Plans: everything that will happen to a question, decided from public facts before anything is spent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from discreet.accounting import Charge, charge_of, first_charge_of, loss_of
from discreet.mechanisms import Mode, Quantile
from discreet.notebook import framed, lines, titled
from discreet.privacy import Bounds, ComposedEvent, Event, KeyValue, Loss, PureDP
from discreet.privacy.events import to_dict as event_to_dict
from discreet.query import ir
from discreet.query.estimates import Noise
from discreet.query.ir import canonical, grouping_sets_of
from discreet.query.planner.accuracy import Expected, Judged, expected_errors, mean_error, worst_error
from discreet.query.planner.averages import with_averages
from discreet.query.planner.blocks import Blocks, Trials
from discreet.query.planner.bounds_profile import bounds_questions
from discreet.query.planner.contribution_profile import SHARE, profile_questions, profiled
from discreet.query.planner.contributions import contributions
from discreet.query.planner.draft import Draft, Together
from discreet.query.planner.group_selection import selection
from discreet.query.planner.groups import public_keys
from discreet.query.planner.levels import Reconstruction, keys_of, put_together
from discreet.query.planner.measures import measures
from discreet.query.planner.noise_calibration import calibrate
from discreet.query.planner.noise_choice import NoiseChoice
from discreet.query.planner.plan_text import explain, levels_in_words
from discreet.query.planner.plan_warnings import warnings_of, why_no_rows
from discreet.query.planner.request import CONFIDENCE, Request
from discreet.query.planner.sensitivities import sensitivities
from discreet.query.planner.work import Work, pairs_within_work, readings_of, work_of
from discreet.results import answered_already
from discreet.tables import Column, Dataset
from discreet.tables.schema.dataset import CHOSEN_BY

RULES: tuple[Callable[[Draft], Draft], ...] = (
    public_keys,
    contributions,
    measures,
    sensitivities,
    calibrate,
    selection,
)
"""The rules that turn a question into a plan, in this order: one decision each, from public facts alone."""

_LISTED = 100
"""Longer lists of keys go into certificates as a hash."""


@dataclass(frozen=True)
class Level:
    """One set of groups that is measured. A question without grouping sets has one level.

    Args:
        draft: what the rules decided.
    """

    draft: Draft

    @property
    def noises(self) -> Mapping[str, Noise]:
        """The noise of each number that is added up."""
        return self.draft.laws

    @cached_property
    def exact(self) -> ir.Exact:
        """The part that the engine computes exactly."""
        exact = ir.Exact(
            source=self.draft.question.source,
            keys=self.draft.keys,
            measures=(*(one for each in self.draft.measures for one in ir.counted_for(each)), *self.draft.histograms),
            limits=self.draft.limits,
            salt=hashlib.sha256(canonical(self.draft.question).encode()).hexdigest(),
            chosen_by=self.draft.chosen_by,
        )
        return replace(exact, most_pairs=pairs_within_work(exact))

    @cached_property
    def work(self) -> Work:
        """How far one unit can move the time and memory that it takes; nothing, where no data is asked."""
        return work_of(self.exact) if self.events else Work()

    @cached_property
    def readings(self) -> float:
        """The time that it takes over all rows, in readings of a table, as an upper end."""
        return readings_of(self.exact)

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done to the data, as accounting needs to know it."""
        events: list[Event] = [noise.mechanism.event for noise in self.draft.noises]
        events += [selection.event for selection in self.draft.selections]
        if self.draft.threshold is not None:
            events.append(self.draft.threshold.event)
        return tuple(events)

    def to_dict(self) -> dict[str, object]:
        """The level as JSON-ready data; all of it is public."""
        draft = self.draft
        return {
            "limits": str(draft.limits),
            **({} if self.exact.most_pairs == ir.MOST_PAIRS else {"most_pairs": self.exact.most_pairs}),
            **({} if self.exact.chosen_by == CHOSEN_BY else {"chosen_by": self.exact.chosen_by}),
            "keys": [{"name": key.name, "values": _listed(key.values)} for key in draft.keys],
            **({"together": [_listed_together(each) for each in draft.together]} if draft.together else {}),
            "measures": [
                {
                    "name": noise.measure.name,
                    "exact": str(noise.measure),
                    "step": str(noise.step),
                    "l1": noise.sensitivity.l1,
                    "l2_squared": str(noise.sensitivity.l2_squared),
                    "mechanism": event_to_dict(noise.mechanism.event),
                }
                for noise in draft.noises
            ],
            "choices": [
                {
                    "name": selection.pick.name,
                    "of": {
                        "value": str(selection.measure.value),
                        "values": _listed(selection.measure.values),
                        "size": selection.measure.size,
                        "step": str(selection.step),
                    },
                    "fraction": None if selection.pick.fraction is None else str(selection.pick.fraction),
                    "most": selection.pick.most,
                    **({"fractions": list(map(str, selection.pick.fractions))} if selection.pick.fractions else {}),
                    **(
                        {}
                        if isinstance(selection.mechanism, Mode)
                        else {"confidence": str(selection.mechanism.confidence)}
                    ),
                    "mechanisms": [event_to_dict(selection.event)],
                }
                for selection in draft.selections
            ],
            "threshold": None
            if draft.threshold is None
            else {"value": draft.threshold.value, "delta": str(draft.threshold.delta), "measure": draft.selector},
            **(
                {} if draft.counter is None else {"least_units": {"value": draft.least_units, "measure": draft.counter}}
            ),
        }


@dataclass(frozen=True)
class Plan:
    """Questions that can be answered, with what that costs and how accurate the answers will be.

    Most plans have one question, of which all is said here; a `Workload` has several. A plan holds no handle on any
    data and was made without any but public tables: showing it gives nothing away.

    Args:
        dataset: what it was planned for; it is carried out for nothing else.
        questions: what was asked, in order.
        request: what was offered for all of them.
        levels: what is measured: one for each grouping set, or for some of them; mostly one.
        profiles: plans that are asked first, where limits or bounds are chosen by what they answer.
        reconstruction: how the groups of all grouping sets follow from those that are measured; None where each is
            measured, and answered as it is.
        choice: of Laplace or Gaussian noise, where an offer left it open; `request` is then what was made of it.
        rests_on: what was done to the data, of an answer that follows from what was measured for several questions;
            None where its own levels were measured.
        is_apart: whether each level is measured by itself although they might be put together, as they once were.
        answered_by: the entries by which it was answered already when it was planned, so that asking it is free. What
            is stored is public, and has no part in what is planned.
    """

    dataset: Dataset
    questions: tuple[ir.Question, ...]
    request: Request
    levels: tuple[Level, ...]
    profiles: tuple[Plan, ...] = ()
    reconstruction: Reconstruction | None = field(default=None, hash=False)
    choice: NoiseChoice | None = field(default=None, compare=False)
    rests_on: Event | None = field(default=None, compare=False)
    is_apart: bool = False
    answered_by: tuple[int, ...] = field(default=(), compare=False)

    together: ClassVar[bool] = False
    """Whether its questions came in a list, and their answers are given in one."""

    @property
    def question(self) -> ir.Question:
        """The only question."""
        (only,) = self.questions
        return only

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each question, with the noise that its answer will have."""
        return (self,)

    @property
    def bundles(self) -> tuple[Plan, ...]:
        """The plans by which everything is measured, each of one question."""
        return (self,)

    @property
    def steps(self) -> tuple[Plan, ...]:
        """The plans that are asked one after the other, each paid for by itself: the profiles, then the questions.

        Answers to the profiles may change the plans that follow, but never make them more.
        """
        return (*self.profiles, self)

    @property
    def text(self) -> str:
        """The questions as they were written."""
        return self.question.text

    @cached_property
    def canonical(self) -> str:
        """The question in canonical form: equal for questions that differ in spelling only."""
        return canonical(self.question)

    @cached_property
    def is_free(self) -> bool:
        """Whether public facts alone answer it: nothing is done to the data, so nothing is paid."""
        return not any(level.events for level in self.levels) and not self.profiles

    @property
    def reads_cells(self) -> bool:
        """Whether some aggregates are read from the same cells."""
        return any(draft.blocks for draft in self.drafts)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Plain sentences on what in the question may not mean what was intended, and on what isn't measured."""
        return warnings_of(self.drafts)

    @cached_property
    def event(self) -> Event:
        """What will be done to the data, as accounting needs to know it."""
        if self.rests_on is not None:
            return self.rests_on
        own = (event for level in self.levels for event in level.events)
        return ComposedEvent((*(profile.event for profile in self.profiles), *own))

    @property
    def looked_at(self) -> tuple[Level, ...]:
        """The levels of which an engine is asked: one, if it has the keys of all, and all are put together.

        Each row is in one group of each level then, so the exact parts of the others are sums of its groups; and a unit
        adds no more to these, as what it adds to a group is one of the parts that they are made of.
        """
        widest = max(self.levels, key=lambda level: len(level.draft.keys))
        keys = keys_of(widest.draft)
        if self.reconstruction is None or not all(keys_of(level.draft) <= keys for level in self.levels):
            return self.levels
        return (widest,)

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """The draft of each set of groups that is answered, with the noise that its numbers have."""
        if self.reconstruction is not None:
            return self.reconstruction.drafts
        return tuple(level.draft for level in self.levels)

    @property
    def error(self) -> float:
        """The worst relative error of all columns, in a group on average; of all if their number isn't public."""
        are_counted = all(not draft.has_private_keys for draft in self.drafts)
        return mean_error(self.drafts) if are_counted else worst_error(self.drafts)

    @cached_property
    def apart(self) -> Plan | None:
        """The same with each level measured by itself, as was done once; None where it is so, or has one level."""
        if self.reconstruction is None:
            return None
        return replace(self, levels=tuple(map(Level, self.reconstruction.apart)), reconstruction=None, is_apart=True)

    @cached_property
    def cost(self) -> Loss:
        """The most that the answer gives away about one unit, by proof."""
        if self.is_free:
            return PureDP.zero()
        offered = None if self.choice is None else self.choice.proved
        return loss_of(self.event) if offered is None else offered

    @cached_property
    def work(self) -> Work:
        """How far one unit can move the time and memory of the question, or of what is asked before it."""
        own = sum((level.work for level in self.levels), Work())
        return max((own, *(profile.work for profile in self.profiles)), key=lambda work: (work.seconds, work.size))

    @cached_property
    def digest(self) -> str:
        """The questions with everything that shapes their answers, hashed: equal digests may share one release."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def expected(self) -> tuple[Expected, ...]:
        """The error to expect of each column, at 95 %; with grouping sets, in each of them."""
        return tuple(one for plan in self.plans for one in expected_errors(plan.drafts[0]))

    def answers(self, released: Sequence[Sequence[Any]], entry: int) -> Sequence[tuple[Plan, Sequence[Any]]]:  # noqa: ARG002 — a workload needs it
        """The answer to each question: its plan, and its groups.

        Args:
            released: the groups of each bundle.
            entry: the number of the debit.
        """
        return list(zip(self.plans, released, strict=True))

    @property
    def levels_in_words(self) -> str:
        """Which levels are measured, and what it would be like to measure each; nothing, where each is."""
        if self.reconstruction is None:
            return ""
        return levels_in_words([level.draft for level in self.levels], self.reconstruction)

    def __repr__(self) -> str:
        """The questions and their cost; `explain` says all of it."""
        return f"<{type(self).__name__} of {' '.join(self.text.split())!r}: {self.cost}>"

    def _repr_html_(self) -> str:
        """All of it, for notebooks."""
        return framed(lines(self.explain()) if self.together else titled(self.explain()))

    def explain(self, released: float | None = None) -> str:
        """The plan in words.

        Args:
            released: after how many seconds its answer leaves, where it leaves at a time of its own.
        """
        profiles = [profile.cost for profile in self.profiles]
        noise = None if self.choice is None else str(self.choice)
        work = self.work.in_words(released)
        words = explain(
            self.drafts,
            self.cost,
            profiles,
            request=self.request,
            noise=noise,
            work=work,
            warnings=self.warnings,
            levels=self.levels_in_words,
        )
        already = answered_already(self.answered_by)
        return f"{words}\nanswer    {already}" if already else words

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON-ready data; all of it is public. `warnings` are there if there are any."""
        described = self._described(charge_of, [profile.to_dict() for profile in self.profiles])
        return {**described, "warnings": list(self.warnings)} if self.warnings else described

    def identity(self) -> dict[str, object]:
        """The content of the digest: the plan, at the cost that was first stated for it."""
        return self._described(first_charge_of, [profile.identity() for profile in self.profiles])

    def _described(self, charge: Callable[[Event], Charge], profiles: Sequence[object]) -> dict[str, object]:
        """The plan with its cost by one way of charging."""
        draft, answered = self.levels[0].draft, [[key.name for key in each.keys] for each in self.drafts]
        return {
            "dataset": self.dataset.name,
            "question": self.canonical,
            "tables": [_table(scan) for scan in dict.fromkeys(ir.scans(self.question.source))],
            "unit": str(draft.unit),
            "adjacency": str(draft.adjacency),
            "levels": [level.to_dict() for level in self.levels],
            **({} if self.reconstruction is None else {"answered": answered}),
            "consistent": self.is_apart and self.request.consistent,
            "profiles": profiles,
            "cost": _amounts(charge(self.event)),
        }


def make_plan(  # noqa: PLR0913 — what is asked, and how it may be planned
    question: ir.Question,
    request: Request,
    dataset: Dataset,
    *,
    as_written: bool = False,
    in_cells: bool | None = None,
    among: int = 1,
) -> Plan:
    """Apply the rules to each level of a question.

    Args:
        question: bound to the dataset's tables.
        request: the offer. Whatever is chosen privately takes its share first.
        dataset: with the bounds that the request asks for; the widest there are, where they're yet to be chosen.
        as_written: whether ratios of sums and counts stay what they are, because several questions share these.
        in_cells: whether all aggregates are read from the same cells; None for whatever errs less.
        among: how many questions are planned together, and share the time in which that is tried.

    Raises:
        QueryError: the question can't be bounded, or not at what is offered.
    """
    question = question if as_written else with_averages(question)
    if request.unknown_bounds:
        known = tuple((name, ends) for name, ends in request.bounds if isinstance(ends, Bounds))
        rest = make_plan(
            question, replace(request.left(SHARE), bounds=known), dataset, as_written=True, in_cells=in_cells
        )
        if rest.is_free:
            return replace(rest, request=request)
        return replace(rest, request=request, profiles=(*_bounds_profiles(request, dataset), *rest.profiles))
    offer = request.left(SHARE) if request.takes_profile else request
    questions = grouping_sets_of(question)
    drafts = [_begun(each, offer.shared(len(questions)), dataset) for each in questions]
    apart = _with_ranks(drafts, _drafted(drafts, in_cells, among))
    measured, reconstruction = put_together(apart, offer) or (apart, None)
    plan = Plan(dataset, (question,), request, tuple(map(Level, measured)), reconstruction=reconstruction)
    if plan.is_free or not request.takes_profile:
        return plan
    asked = profile_questions(apart[0], request, question, dataset)
    return replace(plan, profiles=_sharing_plans(asked, request))


def plan_together(
    question: ir.Question,
    levels: Sequence[tuple[ir.Question, Request]],
    dataset: Dataset,
    *,
    in_cells: bool | None = None,
) -> Plan | None:
    """A plan that measures several questions together, as levels of one; None if each is measured by itself.

    Args:
        question: what they ask in all.
        levels: the questions, of the same rows, each with what is offered for all of them in the names of its columns.
        dataset: as for `make_plan`.
        in_cells: as for `make_plan`.

    Raises:
        QueryError: one can't be bounded, or not at what is offered.
    """
    offer = levels[0][1]
    drafts = [_begun(each, request.shared(len(levels)), dataset) for each, request in levels]
    found = put_together(_drafted(drafts, in_cells, len(levels)), offer)
    if found is None:
        return None
    measured, reconstruction = found
    return Plan(dataset, (question,), offer, tuple(map(Level, measured)), reconstruction=reconstruction)


def _begun(question: ir.Question, request: Request, dataset: Dataset) -> Draft:
    """The draft of a level before any rule."""
    return Draft(
        question=question,
        request=request,
        adjacency=dataset.adjacency,
        chosen_by=dataset.chosen_by,
        least_units=dataset.least_units,
        without_rows=why_no_rows(question),
    )


def _bounds_profiles(request: Request, dataset: Dataset) -> tuple[Plan, ...]:
    """Plans for what is asked before bounds can be chosen: the least values of each column, and the greatest."""
    asked = [(each, dataset) for name in request.unknown_bounds for each in bounds_questions(dataset.tables, name)]
    return _sharing_plans(asked, request)


def _sharing_plans(asked: Sequence[tuple[ir.Question, Dataset]], request: Request) -> tuple[Plan, ...]:
    """Plans that share the part of an offer that is set aside; none, if nothing is asked."""
    part = SHARE / max(len(asked), 1)
    offer = Request(
        epsilon=None if request.epsilon is None else request.epsilon * part,
        rho=None if request.rho is None else request.rho * part,
    )
    return tuple(make_plan(question, offer, replace(dataset, least_units=0)) for question, dataset in asked)


def profile_of_rows(question: ir.Question, request: Request, dataset: Dataset) -> Plan:
    """The plan of what is asked before limits can be chosen for several questions: how many rows units have.

    Args:
        question: whose rows are counted.
        request: what is offered for all of the questions.
        dataset: as for `make_plan`.
    """
    (found,) = _sharing_plans([(profiled(question), dataset)], request)
    return found


def _drafted(drafts: Sequence[Draft], in_cells: bool | None, among: int) -> Sequence[Draft]:
    """The drafts of all levels, filled in by the rules; aggregates in cells where they err less there."""
    apart = [_ruled(draft) for draft in drafts]
    if in_cells is False:
        return apart

    def planned(blocks: Blocks) -> Sequence[Draft]:
        return [_ruled(replace(one, blocks=blocks)) for one in drafts]

    def readings(drafts: Sequence[Draft]) -> float:
        return sum(Level(draft).readings for draft in drafts)

    trials = Trials(apart, planned, readings, among)
    return trials.best() if in_cells is None else trials.together()


def _with_ranks(drafts: Sequence[Draft], chosen: Sequence[Draft]) -> Sequence[Draft]:
    """The drafts with noisy counts for quantiles of which there are several, if these err less; else as they are."""
    picks = [(pick.histogram, pick.fraction) for draft in chosen for pick in draft.picks if pick.fraction]
    if len(picks) == len({histogram for histogram, _ in picks}):
        return chosen
    apart = [
        max((each.reach(CONFIDENCE) for each in draft.selections if isinstance(each.mechanism, Quantile)), default=0.0)
        for draft in chosen
    ]
    counted = [
        _ruled(replace(draft, blocks=one.blocks, saved=one.saved, counts_ranks=True, ranks_apart=reach))
        for draft, one, reach in zip(drafts, chosen, apart, strict=True)
    ]
    return counted if Judged(counted).gain(Judged(chosen)) > 1 else chosen


def _ruled(draft: Draft) -> Draft:
    """The draft as the rules fill it in."""
    for rule in RULES:
        draft = rule(draft)
    return draft


def cost_to_dict(event: Event) -> dict[str, object]:
    """The cost of an event in every way of counting, as decimal numbers for reading and exact ones for proof."""
    return _amounts(charge_of(event))


def _amounts(charge: Charge) -> dict[str, object]:
    """A charge as decimal numbers for reading and exact ones for proof."""
    amounts = {"epsilon": charge.epsilon, "rho": charge.rho, "delta": charge.delta}
    readable = {name: None if amount is None else float(amount) for name, amount in amounts.items()}
    return {**readable, "exact": {name: None if amount is None else str(amount) for name, amount in amounts.items()}}


def _declared(column: Column) -> dict[str, object]:
    return {
        "name": column.name,
        "kind": str(column.kind),
        "bounds": None if column.bounds is None else [str(column.bounds.lo), str(column.bounds.hi)],
        "keys": _listed(None if column.keys is None else column.keys.values),
    }


def _listed(values: Sequence[KeyValue] | None) -> object:
    """Public values as JSON-ready data; a long list by its length and hash, which still tells it from any other."""
    if values is None:
        return None
    texts = [None if value is None else f"{type(value).__name__} {value}" for value in values]
    if len(texts) <= _LISTED:
        return texts
    return {"number": len(texts), "sha256": hashlib.sha256(json.dumps(texts).encode()).hexdigest()}


def _listed_together(together: Together) -> object:
    """The values of keys that come together, as JSON-ready data: where others do, it is another question."""
    rows = sorted(json.dumps(_listed(row)) for row in together.values)
    return {"places": list(together.places), "rows": _listed(rows)}


def _table(scan: ir.Scan) -> dict[str, object]:
    """The declarations of a table, as far as the question reads it."""
    table = scan.table
    return {
        "name": table.name,
        "alias": scan.alias,
        "kind": table.source.kind,
        "table": table.source.table,
        "missing": list(table.source.missing),
        "owner": None if scan.owner is None else _owner(scan),
        "columns": [_declared(table.column(name)) for name in scan.columns],
    }


def _owner(scan: ir.Scan) -> dict[str, object]:
    """The links from a table's rows to the units they belong to, with the declarations of the columns on the way."""
    owner, table, columns = scan.owner, scan.table, list[Column]()
    if owner is None:
        raise TypeError("a public table has no owner")
    for hop in owner.hops:
        columns += [table.column(hop.column), hop.table.column(hop.to)]
        table = hop.table
    columns += [table.column(name) for name in (owner.unit.column, owner.unit.at) if name is not None]
    return {"unit": str(owner), "columns": [_declared(column) for column in columns]}
