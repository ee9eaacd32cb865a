"""Reuse: answers that were released before, or follow from such, found in the account and given for nothing.

So is what an earlier attempt at the same question got: by its own debits, whatever was asked or admitted since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING

from discreet.gateway.answer_builder import answer_of, answers_of
from discreet.gateway.answers import Released, Workload, conditions, derive, reuse_key, unmeasured, wanted
from discreet.gateway.outcome import Outcome, StoredRequest, bundles_of, groups_from_json, parts_of, plans_of
from discreet.gateway.tuning import tuned
from discreet.query.planner import Plan, Request
from discreet.results import Cost, certificate
from discreet.tables import public_schema

if TYPE_CHECKING:
    from discreet.ledger import Account, Signing, Stored
    from discreet.results import Answer
    from discreet.tables import Dataset


_MOST_READ = 60
"""How many answers about the same rows are looked at: so many of the dearest, and of the newest."""

_MOST_MADE = 12
"""The plans of how many are made again; each takes some milliseconds."""

_MOST_KEPT = 256
"""How many plans that were made again are remembered."""

Remade = tuple[str, Sequence[Plan]]
"""A digest, and the plans whose groups were released under it."""


class ReuseIndex:
    """The outcomes of an account, for those who ask the same again, or what follows from them.

    Guarantee: an outcome is used only with the plans that the rules make of what was asked, and only if they have the
    digest under which it was paid for.

    Args:
        account: where they are kept.
        remake: from what was asked to the plans, as the rules make them now; None where they don't.
    """

    def __init__(self, account: Account, remake: Callable[[StoredRequest], Remade | None]) -> None:
        """Start with no plans remembered."""
        self._account = account
        self._remake = remake
        self._made: OrderedDict[str, Sequence[Plan]] = OrderedDict()

    def find(self, question: Plan | Workload, version: int) -> Outcome | None:
        """The stored outcome of a question, or one that follows from others of the same data; None if there is none.

        One that public facts alone answer follows from nothing, and is stored nowhere.

        A workload's own is looked for, and no other: what it would follow from is rarely there for all of it.

        Args:
            question: as it is paid for.
            version: of the data.
        """
        if question.is_free:
            return _unmeasured(question, version)
        if isinstance(question, Workload):
            stored = self._account.stored(question.digest, version)
            return None if stored is None else Outcome.stored(question.bundles, stored)
        known = self._account.about(reuse_key(question.question.source), version, _MOST_READ, asked=question.digest)
        if known and known[0].question == question.digest:
            return Outcome.stored((question,), known[0])
        return None if question.profiles else self._derived(question, version, known)

    def holds(self, plan: Plan, version: int) -> bool:
        """Whether a question was answered itself, of that version."""
        return self._account.stored(plan.digest, version) is not None

    def was_offered_delta(self, digest: str, version: int) -> bool:
        """Whether a question of that digest was answered, of that version, for an offer of ε and δ."""
        stored = self._account.stored(digest, version)
        if stored is None:
            return False
        asked = StoredRequest.from_json(stored.answer.get("asked"))
        return asked is None or asked.request.delta is not None

    def _derived(self, plan: Plan, version: int, known: Sequence[Stored]) -> Outcome | None:
        """The outcome of a question that follows from others."""
        served = list(self._released(plan, known))
        found = derive(plan, [one for _, one in served])
        if found is None:
            return None
        certificates = {one.entry: stored.certificate for stored, one in served}
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
        self._keep(question.digest, bundles_of(question))

    def _released(self, plan: Plan, known: Sequence[Stored]) -> Iterator[tuple[Stored, Released]]:
        """The levels of the answers that may serve."""
        needed = [part for level in plan.levels for part in wanted(level.draft).items()]
        filtered = frozenset[str]().union(*(conditions(level.draft) for level in plan.levels))
        made = 0
        for stored in known:
            if made == _MOST_MADE or not _may_serve(needed, filtered, stored):
                continue
            plans = self._plans(stored)
            made += 1
            for each, released in zip(plans, parts_of(stored) if plans else (), strict=True):
                groups = groups_from_json(released["groups"])
                for number, level in enumerate(each.levels):
                    own = [group for group in groups if group.level == number]
                    yield stored, Released(draft=level.draft, groups=own, entry=stored.entry)

    def _plans(self, stored: Stored) -> Sequence[Plan]:
        """The plans of an answer, made again; none if the rules make others now."""
        if stored.question not in self._made:
            asked = StoredRequest.from_json(stored.answer.get("asked"))
            made = None if asked is None else self._remake(asked)
            self._keep(stored.question, made[1] if made is not None and made[0] == stored.question else ())
        return self._made[stored.question]

    def _keep(self, digest: str, plans: Sequence[Plan]) -> None:
        """Remember plans for a while."""
        self._made[digest] = plans
        if len(self._made) > _MOST_KEPT:
            self._made.popitem(last=False)


def _may_serve(needed: Sequence[tuple[str, float]], filtered: frozenset[str], stored: Stored) -> bool:
    """Whether some part of an answer means what a question needs, errs little enough, and isn't of fewer rows."""
    holds, filters = stored.answer.get("holds"), stored.answer.get("filters", [])
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


class _Missing(Exception):
    """A step of the attempt has no answer."""


def answered(
    plans: Sequence[Plan | Workload],
    stored: Sequence[Stored],
    find: Callable[[Plan], Outcome | None],
    again: Callable[[Plan, Request], Plan],
    signing: Signing,
) -> Answer | list[Answer] | None:
    """The answer that an attempt got; None if it has none, or not yet.

    Nothing is paid for: each step has the answer that its own debit got or, where it had one for nothing, that one.

    Args:
        plans: that the attempt may have carried out; one of them.
        stored: the answers that its debits got.
        find: a stored outcome of the data that it was asked of.
        again: plans the same question for another request.
        signing: signs it, as it was signed then.
    """
    own = {each.question: each for each in stored}
    for plan in plans:
        if isinstance(plan, Workload):
            if plan.digest in own:
                return answers_of(plan, replace(Outcome.stored(plan.bundles, own[plan.digest]), reused=False), signing)
            continue
        met: set[str] = set()
        try:
            found = tuned(plan, lambda step, met=met: _step(step, own, met, find), again)  # type: ignore[misc]  # mypy infers no lambda with a default
        except _Missing:
            continue
        if met == own.keys():
            return answer_of(found, signing)
    return None


def _step(step: Plan, own: Mapping[str, Stored], met: set[str], find: Callable[[Plan], Outcome | None]) -> Outcome:
    """What one step got.

    Raises:
        _Missing: nothing.
    """
    if step.digest in own:
        met.add(step.digest)
        return replace(Outcome.stored((step,), own[step.digest]), reused=False)
    found = find(step)
    if found is None:
        raise _Missing
    return found


def declarations_digest(dataset: Dataset) -> str:
    """What is declared of the tables, hashed: another bound, key, limit or budget gives another digest."""
    shares = {name: str(share) for name, share in dataset.analysts.items()}
    declared = {**public_schema(dataset), "budget": str(dataset.budget), "analysts": shares}
    rest = [[table.name, str(table.row_ceiling), table.refresh, list(table.unique)] for table in dataset.tables]
    return sha256(dumps([declared, rest], sort_keys=True, default=str).encode()).hexdigest()
