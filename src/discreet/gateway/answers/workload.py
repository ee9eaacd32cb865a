"""Workloads: several questions planned together, so that what they have in common is measured once.

Questions about the same groups are brought together in bundles, and the offer is split over the bundles so that the
worst relative error of all columns is least (`apportioning`). A workload is fixed before any of it is answered. So its
cost may be stated in the tightest way that fixed mechanisms allow: where a δ is offered, many small losses are added up
in zCDP, and the whole is (ε, δ)-DP although the sum of their ε is above it. The ledger is charged with what was done,
in every way of counting, as for any other question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, ClassVar

from discreet.accounting import charge_of, zcdp_to_epsilon
from discreet.errors import DiscreetError, InvalidArgument, LimitsRequired, Unsupported
from discreet.gateway.answers.apportioning import apportioned, bundles_of
from discreet.gateway.answers.derivation import derive
from discreet.gateway.answers.matching import Released
from discreet.gateway.answers.picking import Arrangement, picks_by_noise
from discreet.gateway.answers.reconstruction import reconstructed
from discreet.gateway.answers.released import Group, Shown, unmeasured
from discreet.gateway.answers.same_rows import extra_filters
from discreet.hints import Hint
from discreet.privacy import ApproxDP, ComposedEvent, Event, Loss
from discreet.query.estimates import Unknown
from discreet.query.ir import canonical
from discreet.query.planner import SHARE, YET_TO_CHOOSE, Plan, Request, keys_of, make_plan, profile_of_rows
from discreet.results import answered_already

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.privacy import KeyValue
    from discreet.query import ir
    from discreet.query.planner import Draft, Level
    from discreet.tables import Dataset

MOST_QUESTIONS = 200
"""A longer list isn't planned together."""

_TEXT = 60
"""How many characters of a question its line in the table shows."""


@dataclass(frozen=True, repr=False)
class Workload(Plan):
    """Questions that are planned together and asked together: all of them are answered, or none.

    Like any plan, it holds no handle on any data.

    Args:
        bundles: what is measured, each by a plan of one question, whose levels may be several of those that were
            asked; none, where public facts alone answer all of it.
        summarizes: the table, where its questions are those that one SUMMARIZE stands for; else empty.
        counted: the question whose rows are counted first, so that limits can be chosen; None if nothing is.
    """

    bundles: tuple[Plan, ...] = ()
    counted: ir.Question | None = None
    summarizes: str = ""

    together: ClassVar[bool] = True

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each question, with the noise that its answer will have."""
        return tuple(plan for plan, _ in self._derived([()] * len(self.bundles)))

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """The draft of each set of groups that is answered."""
        return tuple(draft for bundle in self.bundles for draft in bundle.drafts)

    @property
    def looked_at(self) -> tuple[Level, ...]:
        """The levels of which an engine is asked, bundle by bundle."""
        return tuple(level for bundle in self.bundles for level in bundle.looked_at)

    @property
    def error(self) -> float:
        """The worst relative error of all bundles."""
        return max((bundle.error for bundle in self.bundles), default=1.0)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Plain sentences on what in the questions may not mean what was intended, and on what isn't measured."""
        return tuple(dict.fromkeys(warning for plan in self.plans for warning in plan.warnings))

    @cached_property
    def event(self) -> Event:
        """The event for accounting: everything that will be done to the data."""
        return ComposedEvent(tuple(plan.event for plan in (*self.profiles, *self.bundles)))

    @cached_property
    def cost(self) -> Loss:
        """The most that all answers together give away about one unit, by proof."""
        charge, request = charge_of(self.event), self.request
        is_more = request.epsilon is not None and charge.epsilon is not None and charge.epsilon > request.epsilon
        is_chosen = self.choice is not None and self.choice.proved is not None
        if is_chosen or not is_more or request.delta is None or charge.rho is None:
            return super().cost
        return ApproxDP(zcdp_to_epsilon(charge.rho, request.delta - charge.delta), request.delta)

    @cached_property
    def apart(self) -> Workload | None:
        """The same with each bundle planned by itself, as was done once; None where it is so, or can't be."""
        if all(bundle.reconstruction is None for bundle in self.bundles):
            return None
        paid = [question for question in self.questions if not _alone(question, self.request, self.dataset).is_free]
        try:
            found = apportioned(bundles_of(paid), self.request, self.dataset, together=False, in_cells=False)
        except DiscreetError:
            return None
        bundles = tuple(each.apart or each for each in found)
        levels = tuple(level for each in bundles for level in each.levels)
        return replace(self, levels=levels, bundles=bundles)

    @property
    def text(self) -> str:
        """The questions as they were written, one after the other."""
        return ";\n".join(question.text.strip() for question in self.questions)

    def answers(self, released: Sequence[Sequence[Group]], entry: int) -> list[tuple[Plan, list[Group]]]:
        """The answer to each question: its plan, and its groups.

        Args:
            released: the groups of each bundle.
            entry: the number of the debit.
        """
        return [(plan, groups()) for plan, groups in self._derived(released, entry)]

    def to_dict(self) -> dict[str, object]:
        """The workload as JSON-ready data; all of it is public."""
        return self._listed(*([each.to_dict() for each in plans] for plans in (self.bundles, self.profiles)))

    def identity(self) -> dict[str, object]:
        """The content of the digest: the questions, and each bundle at the cost that was first stated for it."""
        return self._listed(*([each.identity() for each in plans] for plans in (self.bundles, self.profiles)))

    def _listed(self, bundles: list[dict[str, object]], profiles: list[dict[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {"questions": list(map(canonical, self.questions)), "bundles": bundles}
        return found | {"profiles": profiles} if profiles else found

    def table(self) -> list[dict[str, object]]:
        """Each column with noise: its question, the ± to expect, and what the parts it rests on cost by themselves.

        What several questions share is paid for once, so the costs of all together are more than `cost`.
        """
        return [
            {
                "question": number,
                "text": _short(plan.question.text),
                "column": one.column,
                "expected": str(one),
                "error": one.error,
                "cost": str(plan.cost),
            }
            for number, plan in enumerate(self.plans, start=1)
            for one in plan.expected
        ]

    def explain(self, released: float | None = None) -> str:  # noqa: ARG002 — it is one step, and takes as long as that
        """The workload in words, as it is printed."""
        return str(self)

    def __str__(self) -> str:
        lines = [f"{len(self.plans)} questions, measured in {len(self.bundles)}; total cost: {self.cost}"]
        lines += [
            f"first: how many rows units have, so that limits can be chosen: {each.cost}" for each in self.profiles
        ]
        lines += [] if self.choice is None else [f"noise: {self.choice}"]
        lines += [f"levels: {each.levels_in_words}" for each in self.bundles if each.levels_in_words]
        for number, plan in enumerate(self.plans, start=1):
            lines.append(f"{number}  {_short(plan.question.text)}")
            lines.append(f"   {plan.cost} by itself")
            lines += [f"   {one.column}: {one}" for one in plan.expected]
            lines += [f"   warning: {warning}" for warning in plan.warnings]
        lines += [answered_already(self.answered_by)] if self.answered_by else []
        return "\n".join(lines)

    def _derived(
        self, released: Sequence[Sequence[Group]], entry: int = 0
    ) -> list[tuple[Plan, Callable[[], list[Group]]]]:
        """The plan of each question, and a function that gives its groups from those of the bundles."""
        pairs = list(zip(self.bundles, released, strict=True))
        held = [(one, bundle) for bundle, groups in pairs for one in answered_levels(bundle, groups, entry)]
        answers: list[tuple[Plan, Callable[[], list[Group]]]] = []
        for question in self.questions:
            plan = _alone(question, self.request, self.dataset)
            if plan.is_free:
                answers.append((plan, partial(unmeasured, plan)))
                continue
            tables = set(map(keys_of, plan.drafts))
            near = [one for one, _ in held if keys_of(one.draft) in tables]
            found = derive(plan, near, on_purpose=True)
            if found is None:
                raise AssertionError("a bundle serves the questions that it was made of")
            used = [bundle for one, bundle in held if any(one is source.released for source in found.sources)]
            rests_on = used[0].event if used[0].reconstruction is not None else None
            answers.append((replace(found.plan, rests_on=rests_on), found.groups))
        return answers


def answered_levels(bundle: Plan, groups: Sequence[Group], entry: int) -> Iterator[Released]:
    """The levels that a plan answers, with their groups; none, where nothing was released yet.

    Args:
        bundle: the plan, of one question.
        groups: what was released for it.
        entry: the number of the debit.
    """
    found = bundle.reconstruction
    every = groups if found is None or not groups else reconstructed(found, groups)
    for number, draft in enumerate(bundle.drafts):
        own = [group for group in every if group.level == number]
        yield Released(draft=draft, groups=own, entry=entry, adds_up=found is not None)


def how_shown(
    asked: Plan, plan: Plan, groups: Sequence[Group]
) -> Callable[[int, tuple[KeyValue, ...]], Shown | None] | None:
    """How the groups of an answer came to be shown or left out, by level and key; None if noise picked none.

    What a workload measures serves several questions, and what is measured of some levels serves all of them. Where
    one of them picks, all that was measured for it is taken to have been picked: as one group of all by ORDER BY with
    LIMIT, and by HAVING on conditions of which nothing is known.

    Args:
        asked: what was asked.
        plan: of what was measured for it.
        groups: what was released for that plan.
    """
    if not asked.together and plan.reconstruction is None:
        return Arrangement.of(plan, groups).how_of if picks_by_noise(asked.question) else None
    picking = [question for question in asked.questions if picks_by_noise(question)]
    if not picking:
        return None
    by_order = any(question.limit is not None or question.offset for question in picking)
    by_having = any(question.having is not None for question in picking)
    numbers = frozenset(name for _, one in plan.levels[0].draft.estimators for name in one.parts)
    # Of what is answered there may be more than what is measured: CUBE of n truths has 3ⁿ groups of 2ⁿ.
    every = () if plan.reconstruction is None else plan.drafts
    answered = sum(prod(len(key.values or ()) for key in draft.keys) for draft in every)
    shown = Shown(1 / max(len(groups), answered, 1) if by_order else 1.0, (Unknown(numbers),) if by_having else ())
    return lambda _level, _key: shown


def workload_planner(questions: Sequence[ir.Question], request: Request, dataset: Dataset) -> Callable[..., Workload]:
    """A function that plans several questions together, for what is offered or for the same with another noise.

    It raises a `QueryError` where a bundle can't be bounded at what is offered.

    Args:
        questions: at least one.
        request: what is offered for all of them; weights and `within` name columns, in whichever questions they are.
        dataset: what is public about the tables.

    Raises:
        QueryError: a question can't be bounded.
        InvalidArgument: no questions, or too many.
    """
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidArgument(f"a workload has 1 to {MOST_QUESTIONS} questions, not {len(questions)}")
    if request.unknown_bounds:
        raise Unsupported("a workload takes no 'auto' bounds", hint="ask each question on its own")
    paid = [question for question in questions if not _alone(question, request, dataset).is_free]
    bundles = bundles_of(paid) if paid else []
    counted = _widest(paid) if paid and request.limits == "auto" else None

    def planned(offer: Request, *, in_cells: bool | None = None) -> Workload:
        rest = offer if counted is None else replace(offer.left(SHARE), limits=YET_TO_CHOOSE)
        measured = apportioned(bundles, rest, dataset, in_cells=in_cells) if bundles else ()
        levels = tuple(level for plan in measured for level in plan.levels)
        profiles = () if counted is None else (profile_of_rows(counted, offer, dataset),)
        return Workload(dataset, tuple(questions), offer, levels, profiles, bundles=measured, counted=counted)

    return planned


def _widest(questions: Sequence[ir.Question]) -> ir.Question:
    """The question whose rows are those of all others, or more: limits for it are limits for all.

    Raises:
        LimitsRequired: there is none.
    """
    for one in questions:
        if all(extra_filters(each.source, one.source) is not None for each in questions):
            return one
    raise LimitsRequired(
        "limits are chosen privately for questions about the same rows, and these are about different ones",
        hint=Hint("limits=Limits(rows=20) states them; or ask apart", cli="--limits 20 states them; or ask apart"),
    )


def _alone(question: ir.Question, whole: Request, dataset: Dataset) -> Plan:
    """A question by itself: for what it asks, whatever its noise."""
    offer = Request(
        epsilon=whole.epsilon or (Fraction(1) if whole.rho is None else None),
        rho=whole.rho,
        delta=whole.delta,
        confidence=whole.confidence,
        limits=YET_TO_CHOOSE if whole.limits == "auto" else whole.limits,
    )
    return make_plan(question, offer, dataset, as_written=True, in_cells=False)


def _short(text: str) -> str:
    """A question on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else line[: _TEXT - 1] + "…"
