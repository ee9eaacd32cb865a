"""Execution: the one way in which a plan is paid for and carried out.

    stored? ──▶ prepare ──▶ reserve (durable) ──▶ run ──▶ commit (durable) ──▶ outcome

Pay first, never refund. Until the reservation is on the disk no private row is touched, and every error says what it
is. From then on there is one error, the same whatever happened, for anything more might depend on a person. The step
from private to public is `release`: exact integers in, noisy integers and choices out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from discreet.engine import Engine, ExactResult
from discreet.errors import AccuracyUnreachable, BudgetExhausted, QuestionFailed
from discreet.gateway.answers import Group, in_order, public_groups, reuse_key
from discreet.gateway.current import Current
from discreet.gateway.outcome import Outcome, certificate_of, recorded
from discreet.gateway.reuse import ReuseIndex
from discreet.mechanisms import Quantile
from discreet.query import ir
from discreet.query.estimates import Selection
from discreet.query.planner import Level, Plan, make_plan

if TYPE_CHECKING:
    from discreet.ledger import Account, Reservation
    from discreet.privacy import KeyValue


_NOTHING = ExactResult(keys=(), measures={})
"""The engine's result where nothing is measured."""


def execute(  # noqa: PLR0913 — the parts that meet here
    plan: Plan,
    *,
    account: Account,
    current: Current,
    index: ReuseIndex,
    analyst: str | None,
    until: Callable[[], None] | None = None,
) -> Outcome:
    """Look for a stored outcome, or pay for a new one.

    What public facts alone answer is found without a look at the data, and isn't paid for.

    Guarantee: no row is read before the cost is on the disk, and no outcome leaves before it is stored with its debit.
    What is reserved is never given back, and whatever goes wrong afterwards is `QuestionFailed`.

    Args:
        plan: what is measured and paid for at once: without profiles, or a profile itself.
        account: that pays.
        current: the versions of the tables in force.
        index: of stored outcomes.
        analyst: who asks.
        until: returns when the outcome may be stored, whatever it is; None for at once. Where strangers can see when an
            answer is there, that must not depend on how long it took.

    Raises:
        SnapshotChanged: a file that was admitted in place has changed; nothing is charged.
        SchemaMismatch: a public table isn't unique as it is declared; nothing is charged.
        EngineUnavailable: the engine can't be started, or can't do what the question takes; nothing is charged.
        BudgetError: it can't be paid for; nothing is charged.
        LedgerError: the account can't be used; no data was touched.
        QuestionFailed: something went wrong afterwards; the cost stays spent.
    """
    current.check()  # before all else: then every question of the account is refused, also one that was answered
    version = current.version_for(plan)
    known = index.find(plan, version, analyst)
    if known is not None:
        return known
    prepare(plan, current.engine)
    reservation = _reserved(plan, account, version, analyst)
    # Paid. Rows are read from here on, and nothing but an outcome, or the one error, may leave.
    outcome = _measured(plan, current, reservation)
    if until is not None:
        until()
    if outcome is None or not _is_stored(outcome, account, current, reservation):
        with suppress(Exception):  # the debit stands, noted as failed or not
            account.fail(reservation)
        raise QuestionFailed
    index.remember(plan)
    return outcome


def prepare(plan: Plan, engine: Engine) -> None:
    """Do what a plan takes without private data, before anything is paid: what would fail on any data costs nothing.

    Raises:
        SchemaMismatch: a public table isn't unique as it is declared, within the bounds that the question offers.
        EngineUnavailable: the engine can't be started, or can't do what the question takes.
        ImportError: a library that is needed isn't there.
    """
    for level in plan.levels:
        for table in level.exact.tables:
            engine.check(table)
        if level.events:
            engine.prepare(level.exact)
            rehearse(level)


def _reserved(plan: Plan, account: Account, version: int, analyst: str | None) -> Reservation:
    """The cost of all that is measured, as one debit on the disk."""
    try:
        return account.reserve(question=plan.digest, text=plan.text, version=version, event=plan.event, analyst=analyst)
    except BudgetExhausted as refusal:
        raise _too_accurate(plan, account, analyst) or refusal from None


def _too_accurate(plan: Plan, account: Account, analyst: str | None) -> AccuracyUnreachable | None:
    """That what is left doesn't reach the accuracy asked for, with the best that it does; None if none was."""
    left, request = account.remaining(analyst), plan.request
    is_capped = request.epsilon is not None or request.rho is not None
    if plan.together or not request.within or is_capped or not left.epsilon:
        return None
    best = make_plan(plan.question, replace(request, epsilon=left.epsilon), plan.dataset).expected
    reached = "; ".join(f"{one.column}: {one}" for one in best)
    return AccuracyUnreachable(
        f"the accuracy asked for costs {plan.cost}; {left} is left",
        hint=f"at most, what is left reaches {reached}",
    )


def _measured(plan: Plan, current: Current, reservation: Reservation) -> Outcome | None:
    """Run and release all of it; None if anything went wrong, so that nothing else of it leaves.

    Whatever went wrong may depend on a person: no message, cause or traceback gets out.
    """
    try:
        released = [run(bundle, current.engine) for bundle in plan.bundles]
        proof = certificate_of(plan, reservation)
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        return None
    return Outcome(plan=plan, groups=released, certificate=proof, entry=reservation.entry, reused=False)


def _is_stored(outcome: Outcome, account: Account, current: Current, reservation: Reservation) -> bool:
    """Commit an outcome; whether that went well. What can't be stored isn't given: it couldn't be given again."""
    try:
        account.commit(
            reservation,
            certificate=outcome.certificate,
            answer=recorded(outcome),
            topics=[(reuse_key(each.question.source), current.version_for(each)) for each in outcome.plan.bundles],
        )
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        return False
    return True


def run(plan: Plan, engine: Engine) -> Sequence[Group]:
    """The released groups of one bundle: private on the way in, public on the way out. What it raises is private."""
    pairs = enumerate(zip(plan.levels, exact_parts(plan, engine), strict=True))
    return [group for number, (level, result) in pairs for group in release(level, result, number)]


def exact_parts(plan: Plan, engine: Engine) -> list[ExactResult]:
    """What the engine answers, level by level; where it is asked of one for all, others are sums. All is private."""
    if len(plan.looked_at) == len(plan.levels):
        return [with_room(level, engine.run(level.exact)) if level.events else _NOTHING for level in plan.levels]
    (widest,) = plan.looked_at
    whole = with_room(widest, engine.run(widest.exact))
    return [whole if level is widest else _summed(whole, widest, level) for level in plan.levels]


def with_room(level: Level, result: ExactResult) -> ExactResult:
    """The exact part of a level, with what units leave of their wholes. All is private."""
    rooms = {}
    for measure in level.draft.measures:
        if isinstance(measure, ir.Vector) and measure.rows is not None:
            *sums, room = measure.numbers
            *_, units = measure.counted
            parts = zip(*(result.measures[each.name] for each in sums), strict=True)
            wholes = (measure.whole * number for number in result.measures[units.name])
            rooms[room.name] = [whole - sum(filled) for whole, filled in zip(wholes, parts, strict=True)]
    return ExactResult(keys=result.keys, measures={**result.measures, **rooms}, histograms=result.histograms)


def _summed(whole: ExactResult, widest: Level, level: Level) -> ExactResult:
    """The exact part of a level, from that of one which has its keys and others."""
    names = [str(key.expr) for key in widest.draft.keys]
    kept = [names.index(str(key.expr)) for key in level.draft.keys]
    places: dict[tuple[KeyValue, ...], int] = {}
    goals = [places.setdefault(tuple(key[place] for place in kept), len(places)) for key in whole.keys]
    sums = {name: [0] * len(places) for name in whole.measures}
    for name, column in whole.measures.items():
        for goal, value in zip(goals, column, strict=True):
            sums[name][goal] += value
    return ExactResult(keys=tuple(places), measures=sums)


_AT_A_TIME = 2**16
"""Private groups that are looked at together: there may be millions, of which few pass."""


def release(level: Level, result: ExactResult, number: int = 0) -> list[Group]:
    """Add the noise to one level, and make its choices; its groups get its number.

    With public keys every group is released, those without rows as zeros. Otherwise a group is released only if its
    noisy count passes the threshold; the rest are forgotten, before anything else is drawn of them.
    """
    found: list[Group] = []
    if level.draft.threshold is None:
        places = {key: place for place, key in enumerate(result.keys)}
        keys = list(public_groups(level.draft.keys))
        rows = [places.get(key) for key in keys]
        exact = {name: [0 if row is None else result.measures[name][row] for row in rows] for name in level.noises}
        found += _released(level, keys, exact, partial(_histogram, result, rows), number)
    else:
        for start in range(0, len(result.keys), _AT_A_TIME):
            some = range(len(result.keys))[start : start + _AT_A_TIME]
            keys = list(result.keys[start : some.stop])
            exact = {name: list(result.measures[name][start : some.stop]) for name in level.noises}
            found += _released(level, keys, exact, partial(_histogram, result, some), number)
    return in_order(level.draft, found)


def _histogram(result: ExactResult, rows: Sequence[int | None], name: str, place: int) -> Mapping[int, int]:
    """A histogram of one of some groups; made only now, for all of them together may be large."""
    row = rows[place]
    return {} if row is None else result.histograms[name][row]


def _released(
    level: Level,
    keys: Sequence[tuple[KeyValue, ...]],
    exact: Mapping[str, Sequence[int]],
    histogram: Callable[[str, int], Mapping[int, int]],
    number: int,
) -> Iterator[Group]:
    """Those of some groups that are released, with noise; all of them, where there is no threshold."""
    threshold, selector = level.draft.threshold, level.draft.selector
    noisy: dict[str, Sequence[int]] = {}
    passed: Sequence[int] = range(len(keys))
    if threshold is not None and selector is not None:
        counts = level.noises[selector].mechanism.release(exact[selector])
        passed = [place for place in passed if threshold.passes(counts[place])]
        noisy[selector] = [counts[place] for place in passed]
    for name, noise in level.noises.items():
        if name not in noisy:
            noisy[name] = noise.mechanism.release([exact[name][place] for place in passed])
    chosen: dict[str, Sequence[int | tuple[int, ...]]] = {}
    for selection in level.draft.selections:
        chosen |= _chosen(selection, (histogram(selection.measure.name, place) for place in passed))
    columns = {name: noisy[name] for name in level.noises} | chosen
    for order, place in enumerate(passed):
        yield Group(keys[place], {name: column[order] for name, column in columns.items()}, number)


def rehearse(level: Level) -> None:
    """Draw the noise of one zero, and choose once from nothing: what the mechanisms need must be there.

    It is drawn afresh and dropped, and no data was touched.

    Raises:
        ImportError: a library that they need isn't there.
    """
    for noise in level.noises.values():
        noise.mechanism.release([0])
    for selection in level.draft.selections:
        selection.mechanism.choose({})


def _chosen(
    selection: Selection, histograms: Iterable[Mapping[int, int]]
) -> dict[str, Sequence[int | tuple[int, ...]]]:
    """The bins chosen of each group, and the intervals about those of a quantile; by name."""
    pick, mechanism = selection.pick, selection.mechanism
    if not isinstance(mechanism, Quantile):
        return {pick.name: [mechanism.choose(histogram) for histogram in histograms]}
    pairs = [mechanism.choose(histogram) for histogram in histograms]
    return {pick.name: [number for number, _ in pairs], pick.around: [interval for _, interval in pairs]}
