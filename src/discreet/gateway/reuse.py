"""Reuse: the stored outcome of a question that is asked again, or one that follows from others, for nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from discreet.gateway.answers import (
    Released,
    answered_levels,
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
    groups_from_json,
    parts_of,
    seen_by,
)
from discreet.query.planner import Plan, keys_of
from discreet.results import Cost, certificate

if TYPE_CHECKING:
    from discreet.ledger import Account, Stored

_MOST_READ = 60
"""How many of the most expensive answers about the same rows are looked at; as many of the newest are."""

_MOST_MADE = 12
"""How many of their plans are made again; each takes some milliseconds."""

_MOST_KEPT = 256
"""How many plans that were made again are remembered."""


class ReuseIndex:
    """The outcomes of an account, for those who ask the same again, or what follows from them.

    Guarantee: an outcome is used only with the plans that the rules make of what was asked, and only if they have the
    digest under which it was paid for.

    Args:
        account: where they are kept.
        remake: from what was asked to its plans, by the rules as they are or, with `in_cells=False`, as they once were.
    """

    def __init__(self, account: Account, remake: Callable[..., Iterable[Plan]]) -> None:
        self._account = account
        self._remake = remake
        self._made: OrderedDict[str, Plan | None] = OrderedDict()

    def find(self, plan: Plan, version: int, analyst: str | None) -> Outcome | None:
        """The stored outcome of a plan, or one that follows from others of the same data; None if there is none.

        What public facts alone answer follows from nothing, and is stored nowhere.

        Of questions asked together their own is looked for, and no other: what all of them would follow from is rarely
        there.

        Args:
            plan: as it is paid for.
            version: of the data.
            analyst: who asks.
        """
        if plan.is_free:
            return _unmeasured(plan, version)
        if plan.together:
            stored = self._account.stored(plan.digest, version)
            return self._former(plan, version, analyst) if stored is None else Outcome.stored(plan, stored, analyst)
        known = self._account.about(reuse_key(plan.question.source), version, _MOST_READ, asked=plan.digest)
        if known and known[0].question == plan.digest:
            return Outcome.stored(plan, known[0], analyst)
        if not known:
            return None
        former = self._former(plan, version, analyst)
        if former is not None:
            return former
        return None if plan.profiles else self._derived(plan, version, known, analyst)

    def _former(self, plan: Plan, version: int, analyst: str | None) -> Outcome | None:
        """The stored outcome of a question that was planned otherwise when it was asked."""
        for former in self._formers(plan):
            stored = self._account.stored(former.digest, version)
            if stored is not None:
                return Outcome.stored(former, stored, analyst)
        return None

    def _formers(self, plan: Plan) -> Iterator[Plan]:
        """A plan with its levels measured apart, and with its numbers, and both."""
        if plan.apart is not None:
            yield plan.apart
        for made in self._remake(StoredRequest.of(plan), in_cells=False) if plan.reads_cells else ():
            if made.dataset.least_units == plan.dataset.least_units:
                yield from (each for each in (made, made.apart) if each is not None)

    def holds(self, plan: Plan, version: int) -> bool:
        """Whether a question was answered itself, of that version."""
        return any(
            each is not None and self._account.stored(each.digest, version) is not None for each in (plan, plan.apart)
        )

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
            plan=found.plan,
            groups=[found.groups()],
            certificate=_certificate(plan, version, [certificates[entry] for entry in found.entries]),
            entry=found.entries[0],
            reused=True,
            origin=found.entries,
        )

    def remember(self, plan: Plan) -> None:
        """Note a plan that was just carried out, so that it needn't be made again."""
        self._keep(plan.digest, plan)

    def _released(self, plan: Plan, known: Sequence[Stored]) -> Iterator[tuple[Stored, Released]]:
        """The levels of the answers that may serve."""
        needed = [part for draft in plan.drafts for part in wanted(draft).items()]
        filtered = frozenset[str]().union(*(conditions(draft) for draft in plan.drafts))
        tables = frozenset(map(keys_of, plan.drafts))
        made = 0
        for stored in known:
            if made == _MOST_MADE or not _may_serve(needed, filtered, stored):
                continue
            asked = self._asked(stored)
            made += 1
            if asked is not None:
                yield from ((stored, one) for one in _released(asked, stored, tables))

    def _asked(self, stored: Stored) -> Plan | None:
        """The plan of a stored answer, made again; None if the rules make none of its digest."""
        if stored.question not in self._made:
            asked = StoredRequest.of_stored(stored)
            ways = (
                each
                for in_cells in (None, False)
                for made in (() if asked is None else self._remake(asked, in_cells=in_cells))
                for each in (made, made.apart)
            )
            found = next((each for each in ways if each is not None and each.digest == stored.question), None)
            self._keep(stored.question, found)
        return self._made[stored.question]

    def _keep(self, digest: str, made: Plan | None) -> None:
        """Remember what was planned for a while."""
        self._made[digest] = made
        if len(self._made) > _MOST_KEPT:
            self._made.popitem(last=False)


def _released(asked: Plan, stored: Stored, tables: Collection[frozenset[str]]) -> Iterator[Released]:
    """The levels of an answer, each with how its groups came to be shown in it: those measured, and those wanted.

    Args:
        asked: its plan.
        stored: the answer.
        tables: the keys of the levels that are wanted: what was worked out for one is the same when it is asked alone.
    """
    groups = [groups_from_json(part["groups"]) for part in parts_of(stored)]
    for plan, some in zip(asked.bundles, groups, strict=True):
        shown = how_shown(asked, plan, some)
        for number, level in enumerate(plan.levels):
            own = [group for group in some if group.level == number]
            how = None if shown is None else partial(shown, number)
            yield Released(draft=level.draft, groups=own, entry=stored.entry, shown=how)
        if plan.reconstruction is not None and any(keys_of(draft) in tables for draft in plan.drafts):
            for number, one in enumerate(answered_levels(plan, some, stored.entry)):
                yield replace(one, shown=None if shown is None else partial(shown, number))


def _may_serve(needed: Sequence[tuple[str, float]], filtered: frozenset[str], stored: Stored) -> bool:
    """Whether some part of an answer means what a question needs, errs little enough, and isn't of fewer rows."""
    holds, filters = stored.part("holds"), stored.part("filters") or []
    if not isinstance(holds, dict) or not isinstance(filters, list) or not all(each in filtered for each in filters):
        return False
    return any(isinstance(holds.get(meaning), float) and holds[meaning] <= error for meaning, error in needed)


def _unmeasured(plan: Plan, version: int) -> Outcome:
    """The outcome that follows from public facts alone. Its certificate has no entry: nothing was paid."""
    return Outcome(
        plan=plan,
        groups=[unmeasured(each) for each in plan.bundles],
        certificate=certificate(
            text=plan.text,
            analyst=None,  # nobody is charged for it
            version=version,
            entry=None,
            questions=[each.canonical for each in plan.plans],
            plans=[each.to_dict() for each in plan.plans],
            cost=Cost().to_json(),
        ),
        entry=0,
        reused=False,
    )


def _certificate(plan: Plan, version: int, origins: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The certificate of an answer that follows from others: it holds theirs, costs nothing, and has no plan."""
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
