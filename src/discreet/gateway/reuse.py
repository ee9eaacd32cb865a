"""Reuse: answers that were released before, or follow from such, found in the account and given for nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from discreet.gateway.answer import Answer, groups_from_json, groups_to_json
from discreet.gateway.answers import Group, Released, conditions, derive, held, least, topic, wanted
from discreet.gateway.asked import Asked
from discreet.query.planner import Plan

if TYPE_CHECKING:
    from discreet.ledger import Account
    from discreet.ledger.account import Stored

_MOST_READ = 60
"""How many answers about the same rows are looked at: so many of the dearest, and of the newest."""

_MOST_MADE = 12
"""The plans of how many are made again; each takes some milliseconds."""

_MOST_KEPT = 256
"""How many plans that were made again are remembered."""

Remade = tuple[str, Sequence[Plan]]
"""A digest, and the plans whose groups were released under it."""


class Shelf:
    """The answers of an account, for whoever asks the same again, or what follows from them.

    Guarantee: an answer is used only with the plan that the rules make of what was asked, and only if that plan has
    the digest under which the answer was paid for.

    Args:
        account: where they are kept.
        remake: from what was asked to the plans, as the rules make them now; None where they don't.
    """

    def __init__(self, account: Account, remake: Callable[[Asked], Remade | None]) -> None:
        """Start with no plans remembered."""
        self._account = account
        self._remake = remake
        self._made: OrderedDict[str, Sequence[Plan]] = OrderedDict()

    def answer(self, plan: Plan, version: int) -> Answer | None:
        """The stored answer to a question, or one that follows from others of the same data; None if there is none.

        Args:
            plan: of the question.
            version: of the data.
        """
        known = self._account.about(topic_of(plan), version, _MOST_READ, asked=plan.digest)
        if known and known[0].question == plan.digest:
            return answer_of(plan, known[0])
        return None if plan.profiles else self._derived(plan, version, known)

    def _derived(self, plan: Plan, version: int, known: Sequence[Stored]) -> Answer | None:
        """The answer to a question that follows from others."""
        served = list(self._released(plan, known))
        found = derive(plan, [one for _, one in served])
        if found is None:
            return None
        certificates = {one.entry: stored.certificate for stored, one in served}
        return Answer(
            plan=found.plan,
            groups=found.groups(),
            certificate=_certificate(plan, version, [certificates[entry] for entry in found.entries]),
            entry=found.entries[0],
            reused=True,
            origin=found.entries,
        )

    def remember(self, plan: Plan) -> None:
        """Note the plan of a question that was just answered, so that it needn't be made again."""
        self._keep(plan.digest, (plan,))

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
            for each, released in zip(plans, _parts(stored, len(plans)), strict=True):
                groups = groups_from_json(released["groups"])
                for number, level in enumerate(each.levels):
                    own = [group for group in groups if group.level == number]
                    yield stored, Released(draft=level.draft, groups=own, entry=stored.entry)

    def _plans(self, stored: Stored) -> Sequence[Plan]:
        """The plans of an answer, made again; none if the rules make others now."""
        if stored.question not in self._made:
            asked = Asked.from_json(stored.answer.get("asked"))
            made = None if asked is None else self._remake(asked)
            self._keep(stored.question, made[1] if made is not None and made[0] == stored.question else ())
        return self._made[stored.question]

    def _keep(self, digest: str, plans: Sequence[Plan]) -> None:
        """Remember plans for a while."""
        self._made[digest] = plans
        if len(self._made) > _MOST_KEPT:
            self._made.popitem(last=False)


def answer_of(plan: Plan, stored: Stored) -> Answer:
    """A stored answer."""
    return Answer(
        plan=plan,
        groups=groups_from_json(stored.answer["groups"]),
        certificate=stored.certificate,
        entry=stored.entry,
        reused=True,
    )


def topic_of(plan: Plan) -> str:
    """What a question is about: equal for questions of which one may follow from the other."""
    return topic(plan.question.source)


def recorded(plan: Plan, groups: Sequence[Group]) -> dict[str, object]:
    """An answer as it is stored, with all that is needed to let others follow from it."""
    question = plan.question
    asked = Asked(questions=((question.text, question.dialect),), request=plan.request, together=False)
    filtered = frozenset[str].intersection(*(conditions(level.draft) for level in plan.levels))
    return {
        "groups": groups_to_json(groups),
        "asked": asked.to_json(),
        "holds": holding([plan]),
        "filters": sorted(filtered),
    }


def holding(plans: Sequence[Plan]) -> dict[str, float]:
    """What an answer holds, each with its error, for a first look."""
    return least(held(level.draft) for plan in plans for level in plan.levels)


def _parts(stored: Stored, number: int) -> Sequence[Mapping[str, Any]]:
    """What was released for each plan."""
    if not number:
        return ()
    parts: Sequence[Mapping[str, Any]] = stored.answer.get("parts") or [stored.answer]
    return parts


def _may_serve(needed: Sequence[tuple[str, float]], filtered: frozenset[str], stored: Stored) -> bool:
    """Whether some part of an answer means what a question needs, errs little enough, and isn't of fewer rows."""
    holds, filters = stored.answer.get("holds"), stored.answer.get("filters", [])
    if not isinstance(holds, dict) or not isinstance(filters, list) or not all(each in filtered for each in filters):
        return False
    return any(isinstance(holds.get(meaning), float) and holds[meaning] <= error for meaning, error in needed)


def _certificate(plan: Plan, version: int, origins: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """What vouches for an answer that follows from others: their certificates."""
    return {"text": plan.question.text.strip(), "data_version": version, "follows_from": deepcopy(list(origins))}
