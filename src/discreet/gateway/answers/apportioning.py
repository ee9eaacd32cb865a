"""Apportioning: how the offer for a workload is split over its bundles, so that the worst column errs least.

A bundle is made of the questions that measure the same groups. What several of them ask is asked once, and each
question's own answer follows from the bundle's, for nothing. Within a bundle the offer is shared as in any question.
With Laplace noise all its errors fall as 1/ε, with Gaussian noise as 1/√ρ; so bundles whose worst relative errors are e
at the whole offer err alike where their parts of it are in the ratios of e, or of e².
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from discreet.accounting import charge_of, rho_for
from discreet.errors import InvalidArgument, UnknownColumn, Unsupported
from discreet.gateway.answers.same_rows import merged
from discreet.hints import Hint
from discreet.privacy import ComposedEvent, Event, ExponentialEvent, LaplaceEvent, SelectionEvent
from discreet.query import ir
from discreet.query.ir import MARK, changed
from discreet.query.planner import Plan, Request, make_plan, plan_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from discreet.tables import Dataset

_Value = TypeVar("_Value")

_UNITS = 1_000
"""Parts of an offer are whole numbers of one unit; the largest part has this many units."""

_DIGITS = 4
"""The digits of a factor."""

_LESS = Fraction(999, 1000)
"""If a factor turns out too large after rounding, this fraction of it is tried next."""

_OWN = "\x00"
"""Begins the names of a bundle's keys and aggregates: no question can spell it."""


def apportioned(
    bundles: Sequence[Bundle],
    request: Request,
    dataset: Dataset,
    *,
    together: bool = True,
    in_cells: bool | None = None,
) -> tuple[Plan, ...]:
    """The plan of each bundle, or of several together.

    With `within`, each gets the least that reaches it; if all of it is more than the ε or ρ given beside it, they get
    less in proportion. Without, and with Laplace noise and a δ, the ε of all may add up to more than was offered:
    to as much as is still (ε, δ)-DP by zCDP, if the account's budget knows a δ.

    Args:
        bundles: of a workload.
        request: what is offered for all of them.
        dataset: what is public about the tables.
        together: whether bundles that can be are planned together, as levels of one question.
        in_cells: as for `make_plan`.

    Raises:
        QueryError: a bundle can't be bounded, or not at its part.
        UnknownColumn: a weight or an accuracy for a column that no question has.
    """
    _check_columns(bundles, request)
    families = (
        _families(bundles, request, dataset, in_cells=in_cells) if together else [Family((each,)) for each in bundles]
    )
    requests = [request] * len(families)

    def planned(offers: Sequence[Request]) -> tuple[Plan, ...]:
        pairs = zip(families, offers, strict=True)
        return tuple(family.plan(offer, dataset, in_cells=in_cells, among=len(bundles)) for family, offer in pairs)

    if request.within:
        return _reaching(requests, planned)
    whole = planned(requests)
    selecting = sum(plan.drafts[0].has_private_keys for plan in whole)
    parts = _parts([plan.error ** (1 if request.rho is None else 2) for plan in whole])
    plain = planned(_shares(requests, parts, selecting))
    if request.epsilon is None or request.delta is None or dataset.budget.is_pure:
        return plain
    each = request.delta / (2 * selecting) if selecting else request.delta
    least = [replace(share, delta=each) for share in _shares(requests, parts, selecting)]
    factor = _factor(plain, rho_for(request.epsilon, request.delta / 2 if selecting else request.delta))
    while factor > 1:
        stretched = planned([_times(share, factor) for share in least])
        if _fits(stretched, request):
            return stretched
        factor *= _LESS
    return plain


def _reaching(
    requests: Sequence[Request], planned: Callable[[Sequence[Request]], tuple[Plan, ...]]
) -> tuple[Plan, ...]:
    """The plans that reach the accuracy asked for or, if that is too dear, all miss it by the same factor."""
    plans = planned(requests)
    cap = requests[0].rho or requests[0].epsilon
    needed = [_needed(plan) for plan in plans]
    total = sum(needed, Fraction(0))
    if cap is None or total <= cap:
        return plans
    return planned([_times(each, amount / total) for each, amount in zip(requests, needed, strict=True)])


def _needed(plan: Plan) -> Fraction:
    charge = charge_of(plan.event)
    return (charge.rho if plan.request.rho is not None else charge.epsilon) or Fraction(0)


def _own(bundle: Bundle, request: Request) -> Request:
    """The request in the names of a bundle's columns."""
    within = tuple(_named(bundle, request.within))
    if request.within and not within:
        raise Unsupported(
            "one of the questions has no column that `within` names",
            hint=Hint('give the others a ± too: {"*": …}', cli="give the others a ± too: --within '*=50'"),
        )
    return replace(request, within=within, weights=tuple(_named(bundle, request.weights)))


def _named(bundle: Bundle, values: Sequence[tuple[str, _Value]]) -> Iterator[tuple[str, _Value]]:
    """The terms about columns that a bundle has, under the bundle's names."""
    for name, value in values:
        if name == "*":
            yield name, value
        yield from ((own, value) for (_, column), own in bundle.columns.items() if column == name)


def _check_columns(bundles: Sequence[Bundle], request: Request) -> None:
    """Refuse names that no question has."""
    known = {column for bundle in bundles for _, column in bundle.columns}
    for name in (*dict(request.within), *dict(request.weights)):
        if name != "*" and name not in known:
            raise UnknownColumn(f"no question has a column {name!r}", hint=f"they have {', '.join(sorted(known))}")


def _parts(sizes: Sequence[float]) -> list[Fraction]:
    """Parts of 1 in these ratios, to three digits; equal ones, where no size is above 0."""
    greatest = max(sizes) or 1
    units = [max(1, round(_UNITS * size / greatest)) for size in sizes]
    return [Fraction(unit, sum(units)) for unit in units]


def _shares(requests: Sequence[Request], parts: Sequence[Fraction], selecting: int) -> list[Request]:
    """Divide the offer in these parts; δ goes in equal parts to the bundles that select groups."""
    shared = [_times(request, part) for request, part in zip(requests, parts, strict=True)]
    return [replace(each, delta=None if each.delta is None else each.delta / max(selecting, 1)) for each in shared]


def _times(request: Request, factor: Fraction) -> Request:
    """The offer times a number; δ stays."""
    return replace(
        request,
        epsilon=None if request.epsilon is None else request.epsilon * factor,
        rho=None if request.rho is None else request.rho * factor,
    )


def _factor(plans: Sequence[Plan], most: Fraction) -> Fraction:
    """The factor by which every ε may grow until all of it costs this ρ; rounded down. 1 if it costs more already."""
    event = ComposedEvent(tuple(plan.event for plan in plans))
    low, high = 1.0, 2.0**10
    while high > low * (1 + 10.0**-_DIGITS):
        middle = (low * high) ** 0.5
        rho = charge_of(_stronger(event, Fraction(middle))).rho
        low, high = (middle, high) if rho is not None and rho <= most else (low, middle)
    return Fraction(int(low * 10 ** (_DIGITS - 1)), 10 ** (_DIGITS - 1))


def _stronger(event: Event, factor: Fraction) -> Event:
    """The event if its ε were multiplied by a factor."""
    match event:
        case LaplaceEvent(scale=scale):
            return replace(event, scale=scale / factor)
        case ExponentialEvent(epsilon=epsilon, each=each):
            return replace(event, epsilon=epsilon * factor, each=None if each is None else each * factor)
        case ComposedEvent(events=events):
            return ComposedEvent(tuple(_stronger(one, factor) for one in events))
        case SelectionEvent():  # its δ doesn't follow from ε
            return event
        case _:
            raise TypeError(f"an offer of ε makes no {type(event).__name__}")


def _fits(plans: Sequence[Plan], request: Request) -> bool:
    """Whether all of it is (ε, δ)-DP as offered."""
    charge = charge_of(ComposedEvent(tuple(plan.event for plan in plans)))
    if request.epsilon is None or request.delta is None or charge.rho is None:
        return False
    left = request.delta - charge.delta
    return left > 0 and charge.rho <= rho_for(request.epsilon, left)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Questions about the same groups of the same rows.

    Args:
        question: all that they ask, as one question.
        columns: its columns by those of the questions: the question's place in the workload, and the column's name.
    """

    question: ir.Question
    columns: Mapping[tuple[int, str], str]


@dataclass(frozen=True, slots=True)
class Family:
    """Bundles that are planned together, as levels of one question; or one that is planned by itself.

    Args:
        bundles: of the same rows.
        known: its plan at an offer that was tried, and that offer; None for one bundle.
    """

    bundles: tuple[Bundle, ...]
    known: tuple[Request, Plan] | None = None

    def plan(self, request: Request, dataset: Dataset, *, in_cells: bool | None, among: int) -> Plan:
        """Its plan at an offer.

        Raises:
            QueryError: a bundle can't be bounded, or not at what is offered.
            InvalidArgument: so little is offered that nobody knows how far sums of its noise reach.
        """
        if len(self.bundles) == 1:
            (only,) = self.bundles
            own = _own(only, request)
            return make_plan(only.question, own, dataset, as_written=True, in_cells=in_cells, among=among)
        if self.known is not None and self.known[0] == request:
            return self.known[1]
        found = self.together(request, dataset, in_cells=in_cells)
        if found is None:
            raise InvalidArgument("this offer is so small that noise would drown every number", hint="offer more")
        return found

    def together(self, request: Request, dataset: Dataset, *, in_cells: bool | None) -> Plan | None:
        """Its plan, if its bundles can be put together."""
        levels = [(bundle.question, _own(bundle, request)) for bundle in self.bundles]
        return plan_together(self._question, levels, dataset, in_cells=in_cells)

    @property
    def _question(self) -> ir.Question:
        """All that its bundles ask, as one question with grouping sets."""
        asked = [bundle.question for bundle in self.bundles]
        source = asked[0].source
        for each in asked[1:]:
            both = merged(source, each.source)
            source = source if both is None else both
        exprs = {str(key): key for each in asked for _, key in each.keys}
        names = {text: f"{_OWN}key {place}" for place, text in enumerate(exprs)}
        return replace(
            asked[0],
            source=source,
            keys=tuple((names[text], key) for text, key in exprs.items()),
            sets=tuple(tuple(names[str(key)] for _, key in each.keys) for each in asked),
            outputs=tuple(output for each in asked for output in each.outputs),
        )


def _families(bundles: Sequence[Bundle], request: Request, dataset: Dataset, *, in_cells: bool | None) -> list[Family]:
    """The bundles, those together that ask the same of groups of the same rows, where that can be."""
    found: list[list[Bundle]] = []
    for bundle in bundles:
        alike = next((each for each in found if _are_alike(each[0].question, bundle.question)), None)
        if alike is None:
            found.append([bundle])
        else:
            alike.append(bundle)
    families = [Family(tuple(each)) for each in found]
    return [part for each in families for part in _kept_together(each, request, dataset, in_cells=in_cells)]


def _are_alike(one: ir.Question, other: ir.Question) -> bool:
    """Whether two questions ask the same of other groups of the same rows."""
    return (
        not one.sets
        and not other.sets
        and list(map(str, one.aggregates)) == list(map(str, other.aggregates))
        and merged(one.source, other.source) is not None
    )


def _kept_together(family: Family, request: Request, dataset: Dataset, *, in_cells: bool | None) -> Sequence[Family]:
    """The family, if it can be planned together; else each of its bundles."""
    found = None if len(family.bundles) == 1 else family.together(request, dataset, in_cells=in_cells)
    if found is not None:
        return (replace(family, known=(request, found)),)
    return tuple(Family((each,)) for each in family.bundles)


def bundles_of(questions: Sequence[ir.Question]) -> tuple[Bundle, ...]:
    """The bundles of a workload, each where its first question stands."""
    found: list[Bundle] = []
    for number, question in enumerate(questions):
        for place, bundle in enumerate(found):
            wider = _with(bundle, number, question)
            if wider is not None:
                found[place] = wider
                break
        else:
            found.append(_started(number, question))
    return tuple(found)


def _started(number: int, question: ir.Question) -> Bundle:
    """A bundle of one question."""
    names = {name: f"{_OWN}key {place}" for place, (name, _) in enumerate(question.keys)}
    empty = replace(
        question,
        keys=tuple((names[name], key) for name, key in question.keys),
        sets=tuple(tuple(names[name] for name in kept) for kept in question.sets),
        aggregates=(),
        outputs=(),
        having=None,
        order=(),
        limit=None,
        offset=0,
    )
    return _joined(Bundle(empty, {}), number, question, empty.source)


def _with(bundle: Bundle, number: int, question: ir.Question) -> Bundle | None:
    """The bundle with another question; None if that is about other groups."""
    one = bundle.question
    source = merged(one.source, question.source)
    places = [name for name, _ in question.keys]
    alike = (
        [str(key) for _, key in one.keys] == [str(key) for _, key in question.keys]
        and [key.type for _, key in one.keys] == [key.type for _, key in question.keys]
        and _sets(one, [name for name, _ in one.keys]) == _sets(question, places)
    )
    return _joined(bundle, number, question, source) if alike and source is not None else None


def _sets(question: ir.Question, names: list[str]) -> list[list[int]]:
    """The grouping sets by the places of keys."""
    return [[names.index(name) for name in kept] for kept in question.sets]


def _joined(bundle: Bundle, number: int, question: ir.Question, source: ir.Relation) -> Bundle:
    """The bundle with what another question asks."""
    one = bundle.question
    aggregates = list(one.aggregates)
    names = {name: own for (name, _), (own, _) in zip(question.keys, one.keys, strict=True)}
    for aggregate in question.aggregates:
        known = next((each for each in aggregates if str(each) == str(aggregate)), None)
        if known is None:
            known = replace(aggregate, name=f"{_OWN}aggregate {len(aggregates)}")
            aggregates.append(known)
        names[aggregate.name] = known.name
    columns = {(number, output.name): f"{number + 1}.{output.name}" for output in question.outputs}
    outputs = tuple(
        ir.Output(name=columns[number, output.name], expr=_renamed(output.expr, names)) for output in question.outputs
    )
    wider = replace(one, source=source, aggregates=tuple(aggregates), outputs=(*one.outputs, *outputs))
    return Bundle(wider, {**bundle.columns, **columns})


def _renamed(expr: ir.Expr, names: Mapping[str, str]) -> ir.Expr:
    """An expression over a question's released values, over those of the bundle."""
    return changed(
        expr, lambda part: replace(part, name=_name(part.name, names)) if isinstance(part, ir.Released) else None
    )


def _name(name: str, names: Mapping[str, str]) -> str:
    """The bundle's name of a key, of an aggregate, or of GROUPING of a key."""
    if name in names:
        return names[name]
    base, mark, rest = name.partition(MARK)
    return names[base] + mark + rest
