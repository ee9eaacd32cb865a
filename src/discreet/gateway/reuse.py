"""Reuse: the stored outcome of a question that is asked again, or one that follows from others, for nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from discreet.gateway.answers import (
    Released,
    Workload,
    conditions,
    derive,
    how_shown,
    reuse_key,
    unmeasured,
    wanted,
)
from discreet.gateway.outcome import (
    Outcome,
    StoredRequest,
    bundles_of,
    groups_from_json,
    parts_of,
    plans_of,
    seen_by,
)
from discreet.query.planner import Plan
from discreet.results import Cost, certificate

if TYPE_CHECKING:
    from discreet.ledger import Account, Stored

_MOST_READ = 60
"""How many answers about the same rows are looked at: so many of the dearest, and of the newest."""

_MOST_MADE = 12
"""The plans of how many are made again; each takes some milliseconds."""

_MOST_KEPT = 256
"""How many plans that were made again are remembered."""

Remade: TypeAlias = Plan | Workload
"""What was asked before, planned as it would be now."""


class ReuseIndex:
    """The outcomes of an account, for those who ask the same again, or what follows from them.

    Guarantee: an outcome is used only with the plans that the rules make of what was asked, and only if they have the
    digest under which it was paid for.

    Args:
        account: where they are kept.
        remake: from what was asked to the plans, as the rules make them now; None where they don't.
    """

    def __init__(self, account: Account, remake: Callable[[StoredRequest], Remade | None]) -> None:
        self._account = account
        self._remake = remake
        self._made: OrderedDict[str, Remade | None] = OrderedDict()

    def find(self, question: Plan | Workload, version: int, analyst: str | None) -> Outcome | None:
        """The stored outcome of a question, or one that follows from others of the same data; None if there is none.

        One that public facts alone answer follows from nothing, and is stored nowhere.

        A workload's own is looked for, and no other: what it would follow from is rarely there for all of it.

        Args:
            question: as it is paid for.
            version: of the data.
            analyst: who asks.
        """
        if question.is_free:
            return _unmeasured(question, version)
        if isinstance(question, Workload):
            stored = self._account.stored(question.digest, version)
            return None if stored is None else Outcome.stored(question.bundles, stored, analyst)
        known = self._account.about(reuse_key(question.question.source), version, _MOST_READ, asked=question.digest)
        if known and known[0].question == question.digest:
            return Outcome.stored((question,), known[0], analyst)
        return None if question.profiles or not known else self._derived(question, version, known, analyst)

    def holds(self, plan: Plan, version: int) -> bool:
        """Whether a question was answered itself, of that version."""
        return self._account.stored(plan.digest, version) is not None

    def was_offered_delta(self, digest: str, version: int) -> bool:
        """Whether a question of that digest was answered, of that version, for an offer of ε and δ."""
        stored = self._account.stored(digest, version)
        if stored is None:
            return False
        asked = StoredRequest.of_stored(stored)
        return asked is None or asked.request.delta is not None

    def _derived(self, plan: Plan, version: int, known: Sequence[Stored], analyst: str | None) -> Outcome | None:
        """The outcome of a question that follows from others."""
        served = list(self._released(plan, known))
        found = derive(plan, [one for _, one in served])
        if found is None:
            return None
        certificates = {one.entry: seen_by(analyst, stored) for stored, one in served}
        return Outcome(
            plans=(found.plan,),
            groups=[found.groups()],
            certificate=_certificate(plan, version, [certificates[entry] for entry in found.entries]),
            entry=found.entries[0],
            reused=True,
            origin=found.entries,
        )

    def remember(self, question: Plan | Workload) -> None:
        """Note the plans of a question that was just answered, so that they needn't be made again."""
        self._keep(question.digest, question)

    def _released(self, plan: Plan, known: Sequence[Stored]) -> Iterator[tuple[Stored, Released]]:
        """The levels of the answers that may serve."""
        needed = [part for level in plan.levels for part in wanted(level.draft).items()]
        filtered = frozenset[str]().union(*(conditions(level.draft) for level in plan.levels))
        made = 0
        for stored in known:
            if made == _MOST_MADE or not _may_serve(needed, filtered, stored):
                continue
            asked = self._asked(stored)
            made += 1
            if asked is not None:
                yield from ((stored, one) for one in _released(asked, stored))

    def _asked(self, stored: Stored) -> Remade | None:
        """What an answer was given to, planned again; None if the rules make other plans now."""
        if stored.question not in self._made:
            asked = StoredRequest.of_stored(stored)
            made = None if asked is None else self._remake(asked)
            self._keep(stored.question, made if made is not None and made.digest == stored.question else None)
        return self._made[stored.question]

    def _keep(self, digest: str, made: Remade | None) -> None:
        """Remember what was planned for a while."""
        self._made[digest] = made
        if len(self._made) > _MOST_KEPT:
            self._made.popitem(last=False)


def _released(asked: Remade, stored: Stored) -> Iterator[Released]:
    """The levels of an answer, each with how its groups came to be shown in it."""
    plans = bundles_of(asked)
    groups = [groups_from_json(part["groups"]) for part in parts_of(stored)]
    for plan, some in zip(plans, groups, strict=True):
        shown = how_shown(asked, plan, some)
        for number, level in enumerate(plan.levels):
            own = [group for group in some if group.level == number]
            how = None if shown is None else partial(shown, number)
            yield Released(draft=level.draft, groups=own, entry=stored.entry, shown=how)


def _may_serve(needed: Sequence[tuple[str, float]], filtered: frozenset[str], stored: Stored) -> bool:
    """Whether some part of an answer means what a question needs, errs little enough, and isn't of fewer rows."""
    holds, filters = stored.part("holds"), stored.part("filters") or []
    if not isinstance(holds, dict) or not isinstance(filters, list) or not all(each in filtered for each in filters):
        return False
    return any(isinstance(holds.get(meaning), float) and holds[meaning] <= error for meaning, error in needed)


def _unmeasured(question: Plan | Workload, version: int) -> Outcome:
    """What public facts alone answer. Its certificate has the plans, and no entry: there was no debit."""
    asked, measured = plans_of(question), bundles_of(question)
    return Outcome(
        plans=measured,
        groups=[unmeasured(plan) for plan in measured],
        certificate=certificate(
            text=question.text,
            analyst=None,  # nobody is charged for it
            version=version,
            entry=None,
            questions=[plan.canonical for plan in asked],
            plans=[plan.to_dict() for plan in asked],
            cost=Cost().to_json(),
        ),
        entry=0,
        reused=False,
    )


def _certificate(plan: Plan, version: int, origins: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """What vouches for an answer that follows from others: their certificates. It cost nothing, and has no plan."""
    return certificate(
        text=plan.text,
        analyst=None,  # nobody is charged for it
        version=version,
        entry=None,
        questions=[plan.canonical],
        plans=[],
        cost=Cost().to_json(),
        follows_from=origins,
    )
