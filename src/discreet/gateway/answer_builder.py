"""Answers made of outcomes: values, intervals, costs and caveats, computed from released numbers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.accounting import charge_of
from discreet.errors import unforeseen
from discreet.gateway.answers import (
    Arrangement,
    Group,
    Values,
    evaluate,
    picks_by_noise,
)
from discreet.gateway.outcome import Outcome
from discreet.gateway.tuning import Tuned
from discreet.privacy import ComposedEvent, Limits
from discreet.query import ir
from discreet.query.aggregates import AGGREGATES
from discreet.query.estimates import Interval, declared_ends, deviation
from discreet.query.ir import day_of, moment_of, ordinal
from discreet.query.planner import OUTSIDE, Draft, Plan, limits_in_words
from discreet.results import (
    Answer,
    AnswerColumn,
    Cost,
    CutOff,
    Ends,
    Explanation,
    decimal_kind,
    decimal_of,
    with_cut_off,
)
from discreet.tables import MOST_PLACES, Kind

if TYPE_CHECKING:
    from discreet.ledger import Signing

_MUCH = 1 / 8
"""Rounding matters from this part of the noise's deviation on."""

_FIRST, _LAST = int(ordinal(datetime.min)), int(ordinal(datetime.max))  # noqa: DTZ901 — timestamps have no zone
"""In microseconds: an end that is rounded outwards to a float may lie a few of them beyond the calendar."""


def answers_of(found: Tuned, signing: Signing) -> list[Answer]:
    """The answer to each question, with what was asked first."""
    outcome = found.outcome
    answers = [
        (plan, _shown(plan, groups, outcome, signing, found.before))
        for plan, groups in outcome.plan.answers(outcome.groups, outcome.entry)
    ]
    return [
        replace(
            answer,
            cut_off=found.cut_off,
            all_rows=_all_rows(plan, answer, found.cut_off),
            moved=found.moved,
            bounds=found.bounds,
        )
        for plan, answer in answers
    ]


def as_asked(plan: Plan, answers: list[Answer]) -> Answer | list[Answer]:
    """The answers as the questions came: in a list, or one."""
    return answers if plan.together else answers[0]


def _all_rows(plan: Plan, answer: Answer, cut_off: CutOff[Limits] | None) -> Mapping[str, Ends]:
    """Intervals of counts of all rows, with the rows that limits cut off; each fails where either estimate does.

    Nobody knows how the rows that were cut off are spread over groups, so counts by group have none.
    """
    level = answer.confidence + Fraction(OUTSIDE)
    if cut_off is None or plan.question.keys or level >= 1 or answer.withheld:
        return {}
    counts = {each.name for each in plan.question.aggregates if str(each) == "count(*)"}
    columns = [
        output.name
        for output in plan.question.outputs
        if isinstance(output.expr, ir.Released) and output.expr.name in counts
    ]
    found = {name: answer.interval(name, level) for name in columns}
    return {name: with_cut_off(one[0], cut_off) for name, one in found.items() if one}


def explanation_of(plan: Plan, budget: str = "") -> Explanation:
    """The plan in words, to be read like an answer; whether the budget pays for it, if it isn't answered already."""
    words = plan.explain() + (f"\nbudget    {budget}" if budget and not plan.answered_by else "")
    return replace(Explanation.of(words, cost_of([plan])), warnings=plan.warnings)


@dataclass(frozen=True, slots=True)
class _NoiseIntervals:
    """The intervals of an answer, from the noise that its groups hold.

    Args:
        arrangement: of its groups.
    """

    arrangement: Arrangement

    def __call__(self, name: str, confidence: Fraction) -> list[Ends]:
        """The interval of each value of a column."""
        expr = next(output.expr for output in self.arrangement.question.outputs if output.name == name)
        found = self.arrangement.intervals.of(expr, float(confidence))
        withheld = self.arrangement.withheld(expr)
        return [None if one is None or row in withheld else _ends(one, expr.type.kind) for row, one in enumerate(found)]


def _shown(plan: Plan, groups: Sequence[Group], outcome: Outcome, signing: Signing, before: Sequence[Plan]) -> Answer:
    """The answer to a question whose groups were released, or follow from others."""
    arrangement, columns = Arrangement.of(plan, groups), ir.places_in(plan.question.source)
    digits = _digits(plan.question, columns)
    return Answer(
        columns=tuple(
            AnswerColumn(
                name=output.name,
                kind=_kind(output.expr, places),
                values=tuple(
                    None if row in withheld else _value(output.expr, values, places, digits)
                    for row, (_, values) in enumerate(arrangement.shown)
                ),
                deviation=_deviation(output.expr, plan.drafts),
                declared=declared_ends(output.expr, dict(plan.drafts[0].estimators)),
                withheld=withheld,
            )
            for output, places, withheld in (
                (each, _places(each.expr, columns, digits), arrangement.withheld(each.expr))
                for each in plan.question.outputs
            )
        ),
        intervals=_NoiseIntervals(arrangement),
        confidence=plan.request.confidence,
        coverage=_coverage(plan, arrangement),
        limits="; ".join(dict.fromkeys(filter(None, map(limits_in_words, plan.drafts)))),
        cost=cost_of([*before, plan]),
        certificate=outcome.certificate,
        entry=outcome.entry,
        reused=outcome.reused,
        origin=outcome.origin,
        warnings=plan.warnings,
        signer=signing.signer(plan.text),
    )


def columns_of(question: ir.Question) -> tuple[tuple[str, str], ...]:
    """The names and kinds of the columns that an answer will have, whatever is released."""
    columns = ir.places_in(question.source)
    digits = _digits(question, columns)
    return tuple((each.name, _kind(each.expr, _places(each.expr, columns, digits))) for each in question.outputs)


def _kind(expr: ir.Expr, places: int | None) -> str:
    return expr.type.kind.value if places is None else decimal_kind(places)


def _digits(question: ir.Question, columns: ir.Places) -> dict[str, int | None]:
    """How many digits released values have behind the point, by name: sums and quantiles of decimals, and counts."""
    kept = {
        each.name: ir.places_of(each.argument, columns)
        for each in question.aggregates
        if each.argument is not None and each.function.keeps_places
    }
    return kept | {each.name: 0 for each in question.aggregates if each.function.is_count}


def _places(expr: ir.Expr, columns: ir.Places, digits: Mapping[str, int | None]) -> int | None:
    """How many digits are behind the point of an output, if it is made of decimals by arithmetic; else None."""
    places = ir.places_of(expr, columns, digits) or None
    return places if places is None or places <= MOST_PLACES else None


def _value(expr: ir.Expr, values: Values, places: int | None, digits: Mapping[str, int | None]) -> Any:  # noqa: ANN401 — a released value
    """An output's value; a decimal if it is one, of the decimals that it is made of, as they are shown."""
    if places is None:
        return evaluate(expr, values)
    rounded: Values = {
        name: float(decimal_of(values[name], behind))
        for name, behind in digits.items()
        if behind and values.get(name) is not None
    }
    value = evaluate(expr, values | rounded)
    return None if value is None else decimal_of(value, places)


def cost_of(plans: Iterable[Plan]) -> Cost:
    """The cost of several plans together, as an account is charged for it."""
    charge = charge_of(ComposedEvent(tuple(plan.event for plan in plans)))
    return Cost(epsilon=charge.epsilon, rho=charge.rho, delta=charge.delta)


def _deviation(expr: ir.Expr, drafts: Sequence[Draft]) -> float | None:
    """The standard deviation of the noise in a column, where it is the same in all rows."""
    found = {deviation(expr, dict(draft.estimators), draft.laws) for draft in drafts}
    return found.pop() if len(found) == 1 else None


def _coverage(plan: Plan, arrangement: Arrangement) -> str:
    """Caveats about the intervals, in words: where they promise less than they seem to, or more than they need to."""
    if plan.is_free:
        return "exactly, because nothing is measured"
    words = []
    if any(level.draft.threshold is not None for level in plan.levels):
        words.append("groups are shown if their noisy numbers reach a threshold; near it, intervals reach far down")
    if any(level.draft.threshold is None and level.draft.counter is not None for level in plan.levels):
        words.append("small groups are withheld by their noisy numbers; near the least, intervals reach far down")
    question = plan.question
    if picks_by_noise(question):
        words.append(
            "rows were picked by their noisy values, so these have wider intervals, which hold as often for the rows "
            "shown"
        )
    if any(group.before is not None for group, _ in arrangement.rows):
        words.append(
            "they follow from an answer whose rows were picked by noisy values, so the intervals are wider, as they "
            "were there"
        )
    if any(noise.rounded * noise.step > _MUCH * noise.deviation for draft in plan.drafts for noise in draft.noises):
        words.append("whole numbers are shown that add up, for which intervals have room: they hold more often")
    asked = {each.function for each in question.aggregates}
    words += [each.caveat for each in AGGREGATES.values() if each in asked and each.caveat]
    return "; ".join(dict.fromkeys(words))


def _ends(found: Interval, kind: Kind) -> tuple[object, object]:
    """The ends of an interval, as values of the column's kind if that is a time."""
    match kind:
        case Kind.DATE:
            return day_of(int(found.lo)), day_of(int(found.hi))
        case Kind.TIMESTAMP:
            return moment_of(max(int(found.lo), _FIRST)), moment_of(min(int(found.hi), _LAST))
        case Kind.INTEGER | Kind.REAL | Kind.BOOLEAN | Kind.TEXT:
            return found.lo, found.hi
        case _:
            raise unforeseen(kind)
