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
    covers,
    evaluate,
    picks_by_noise,
)
from discreet.gateway.outcome import Outcome
from discreet.gateway.tuning import Tuned
from discreet.privacy import ComposedEvent, Limits
from discreet.query import ir
from discreet.query.aggregates import AGGREGATES
from discreet.query.estimates import Interval, RowsCutOff, declared_ends, deviation
from discreet.query.ir import day_of, moment_of, ordinal
from discreet.query.planner import Draft, Plan, limits_in_words
from discreet.results import (
    Answer,
    AnswerColumn,
    Cost,
    CutOff,
    Ends,
    Explanation,
    decimal_kind,
    decimal_of,
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
    return [
        _shown(plan, groups, outcome, signing, found.of(plan))
        for plan, groups in outcome.plan.answers(outcome.groups, outcome.entry)
    ]


def as_asked(plan: Plan, answers: list[Answer]) -> Answer | list[Answer]:
    """The answers as the questions came: in a list, or one."""
    return answers if plan.together else answers[0]


def _unless_hidden(plan: Plan, arrangement: Arrangement, found: Tuned) -> Mapping[str, Ends]:
    """Intervals of an answer without groups, if no unit has more rows than those that show; where that narrows any."""
    cut_off, rows = found.cut_off, found.rows
    if rows is None or cut_off is None or not cut_off.upper_ends or plan.question.keys or not arrangement.rows:
        return {}
    shown = tuple(each for each in rows.classes if each.last <= (cut_off.shows or 0))
    all_, seen = (_NoiseIntervals(arrangement, each) for each in (rows, replace(rows, classes=shown)))
    names, level = [output.name for output in plan.question.outputs], plan.request.confidence
    ends = {name: (seen(name, level)[0], all_(name, level)[0]) for name in names}
    return {name: one for name, (one, whole) in ends.items() if one is not None and one != whole}


def explanation_of(plan: Plan, budget: str = "") -> Explanation:
    """The plan in words, to be read like an answer; whether the budget pays for it, if it isn't answered already."""
    words = plan.explain() + (f"\nbudget    {budget}" if budget and not plan.answered_by else "")
    return Explanation.of(words, cost_of([plan])).__replace__(warnings=plan.warnings)


@dataclass(frozen=True, slots=True)
class _NoiseIntervals:
    """The intervals of an answer, from the noise that its groups hold.

    Args:
        arrangement: of its groups.
        cut_off: the rows that limits cut off; None where that wasn't measured.
    """

    arrangement: Arrangement
    cut_off: RowsCutOff | None

    def __call__(self, name: str, confidence: Fraction) -> list[Ends]:
        """The interval of each value of a column."""
        expr = next(output.expr for output in self.arrangement.question.outputs if output.name == name)
        found = self.arrangement.intervals_with(self.cut_off).of(expr, float(confidence))
        withheld = self.arrangement.withheld(expr)
        return [None if one is None or row in withheld else _ends(one, expr.type.kind) for row, one in enumerate(found)]


def _shown(plan: Plan, groups: Sequence[Group], outcome: Outcome, signing: Signing, found: Tuned) -> Answer:
    """The answer to a question whose groups were released, or follow from others, with what was asked first."""
    arrangement, columns = Arrangement.of(plan, groups, found.rows), ir.places_in(plan.question.source)
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
        intervals=_NoiseIntervals(arrangement, found.rows),
        confidence=plan.request.confidence,
        coverage=_coverage(plan, arrangement, found),
        limits="; ".join(dict.fromkeys(filter(None, map(limits_in_words, plan.drafts)))),
        cost=cost_of([*found.before, plan]),
        first=cost_of(found.before) if found.before else None,
        certificate=outcome.certificate,
        entry=outcome.entry,
        reused=outcome.reused,
        origin=outcome.origin,
        cut_off=_cut_off(plan, found),
        unless_hidden=_unless_hidden(plan, arrangement, found),
        moved=found.moved,
        bounds=found.bounds,
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


def _coverage(plan: Plan, arrangement: Arrangement, found: Tuned) -> str:
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
    if found.cut_off is not None:
        words.append(_of_cut_off(plan, found.rows))
    return "; ".join(dict.fromkeys(words))


def _of_cut_off(plan: Plan, rows: RowsCutOff | None) -> str:
    """Whether what limits cut off is in the intervals, in words."""
    if rows is None:
        return "what limits cut off isn't in it"
    missed = _missed(plan, rows)
    if len(missed) == len(plan.question.outputs):
        return "what limits cut off isn't in it"
    words = "with what limits cut off"
    if rows.by_group:
        words += ", all of which may be of one group"
    return words if not missed else f"{words}, but for {', '.join(missed)}"


def _missed(plan: Plan, rows: RowsCutOff) -> list[str]:
    """The columns whose intervals don't hold what limits cut off."""
    outputs = plan.question.outputs
    return [each.name for each in outputs if any(not covers(draft, each.expr, rows) for draft in plan.drafts)]


def _cut_off(plan: Plan, found: Tuned) -> CutOff[Limits] | None:
    """What limits cut off; without words on ends of intervals, where no interval holds it."""
    if found.cut_off is None or found.rows is None or len(_missed(plan, found.rows)) < len(plan.question.outputs):
        return found.cut_off
    return replace(found.cut_off, ceiling=None, shows=None, hidden=0)


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
