"""Outcomes: what questions released, as it is stored with its debit, read again, and given again for nothing.

An entry of the ledger holds a certificate, the groups that were released for each bundle, and the request: what was
asked, as exact JSON, so that its plan can be made again. What is read back is believed no further than this: the plan
made from it has the digest under which it was paid for.

One question is stored as a workload of one. Entries of before that have `groups` instead of a list of `parts`, and
`plan` in their certificates instead of `plans`; they are read all the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.gateway.answers import (
    Group,
    Released,
    Workload,
    conditions,
    derive,
    held,
    how_shown,
    least,
    reuse_key,
    unmeasured,
    wanted,
)
from discreet.privacy import KeyValue
from discreet.query.estimates import Noisy
from discreet.query.planner import Plan, Request, cost_to_dict
from discreet.results import Cost, certificate

if TYPE_CHECKING:
    from discreet.ledger import Account, Reservation, Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was released for a question, or for the bundles of a workload.

    Args:
        plans: of what was measured, with the noise that the numbers have.
        groups: the released groups of each.
        certificate: what was done, as JSON-ready data.
        entry: the number of the debit.
        reused: whether it was released before, so that this time it cost nothing.
        origin: the entries that it follows from, where it was worked out from others.
    """

    plans: tuple[Plan, ...]
    groups: Sequence[Sequence[Group]]
    certificate: Mapping[str, object]
    entry: int
    reused: bool
    origin: tuple[int, ...] = ()

    @classmethod
    def stored(cls, plans: tuple[Plan, ...], stored: Stored, analyst: str | None) -> Self:
        """An outcome of before, for the plans that it was released for, as an analyst may see it."""
        groups = [groups_from_json(part["groups"]) for part in parts_of(stored)]
        return cls(plans=plans, groups=groups, certificate=seen_by(analyst, stored), entry=stored.entry, reused=True)


def seen_by(analyst: str | None, stored: Stored) -> Mapping[str, object]:
    """The certificate of a stored answer as somebody may see it.

    Another analyst sees what was asked in its canonical form, and by which entry of the chain the answer was released,
    but neither who asked nor in which words: they may hold what is nobody else's affair.

    Args:
        analyst: who sees it; None for whoever asks without a name, at the machine that holds the ledger.
        stored: the answer.
    """
    if analyst is None or stored.certificate.get("analyst") == analyst:
        return stored.certificate
    shown = {name: said for name, said in stored.certificate.items() if name not in {"text", "analyst"}}
    return {**shown, "hash": stored.hash}


def bundles_of(question: Plan | Workload) -> tuple[Plan, ...]:
    """What is measured for a question: itself, or the bundles of a workload."""
    return question.bundles if isinstance(question, Workload) else (question,)


def plans_of(question: Plan | Workload) -> tuple[Plan, ...]:
    """The plan of each question that is asked."""
    return question.plans if isinstance(question, Workload) else (question,)


def certificate_of(question: Plan | Workload, reservation: Reservation) -> dict[str, object]:
    """What was done for an answer, or for all answers of a workload, as JSON-ready data: all of it public."""
    return certificate(
        text=question.text,
        analyst=reservation.analyst,
        version=reservation.version,
        entry=reservation.entry,
        questions=[plan.canonical for plan in plans_of(question)],
        plans=[plan.to_dict() for plan in bundles_of(question)],
        cost=cost_to_dict(question.event),
    )


def recorded(question: Plan | Workload, released: Sequence[Sequence[Group]]) -> dict[str, object]:
    """An outcome as it is stored, with all that is needed to let others follow from it."""
    plans = bundles_of(question)
    filtered = frozenset[str].intersection(*(conditions(level.draft) for plan in plans for level in plan.levels))
    return {
        "parts": [{"groups": groups_to_json(groups)} for groups in released],
        "asked": StoredRequest.of(question).to_json(question.text),
        "holds": least(held(level.draft) for plan in plans for level in plan.levels),
        "filters": sorted(filtered),
    }


def parts_of(stored: Stored) -> Sequence[Mapping[str, Any]]:
    """What was released for each plan; entries of one question have had no list of them."""
    parts: Sequence[Mapping[str, Any]] = stored.part("parts") or [stored.answer]
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """One question, or several that were planned together, with what was offered.

    Args:
        questions: each with its dialect.
        request: what was offered for all of them.
        together: whether they are a workload.
    """

    questions: tuple[tuple[str, str], ...]
    request: Request
    together: bool

    @classmethod
    def of(cls, question: Plan | Workload) -> Self:
        """What was asked, and offered for it."""
        together = isinstance(question, Workload)
        asked = question.questions if isinstance(question, Workload) else (question.question,)
        return cls(
            questions=tuple((each.text, each.dialect) for each in asked), request=question.request, together=together
        )

    def to_json(self, text: str) -> dict[str, object]:
        """What was asked, as JSON-ready data.

        Args:
            text: of the debit, in which the text of each question is: where it begins and ends there is all that is
                said of it.
        """
        places, end = list[tuple[int, int]](), 0
        for each, _ in self.questions:
            begin = text.index(each.strip(), end)
            end = begin + len(each.strip())
            places.append((begin, end))
        return {
            "questions": [
                {"text": list(place), "dialect": dialect}
                for place, (_, dialect) in zip(places, self.questions, strict=True)
            ],
            "request": self.request.to_json(),
            "together": self.together,
        }

    @classmethod
    def of_stored(cls, stored: Stored) -> StoredRequest | None:
        """Read back what `to_json` wrote; None for anything else, such as what a later version writes."""
        data = stored.part("asked")

        def text_of(said: Any) -> str:  # noqa: ANN401 — JSON from the ledger; versions of before wrote the text itself
            return stored.text[said[0] : said[1]] if isinstance(said, list) else str(said)

        try:
            return cls(
                questions=tuple((text_of(one["text"]), str(one["dialect"])) for one in data["questions"]),
                request=Request.from_json(data["request"]),
                together=bool(data["together"]),
            )
        except (TypeError, LookupError, InvalidArgument):
            return None


def groups_to_json(groups: Sequence[Group]) -> list[dict[str, object]]:
    """Released groups as JSON-ready data, to be stored with their debit."""
    return [
        {
            "level": group.level,
            "key": [_key_to_json(value) for value in group.key],
            "noisy": _noisy_to_json(group.noisy),
        }
        for group in groups
    ]


def groups_from_json(data: Any) -> list[Group]:  # noqa: ANN401 — JSON from the ledger, whose hash was checked
    """Read back what `groups_to_json` wrote."""
    return [
        Group(tuple(_key_from_json(value) for value in one["key"]), _noisy_from_json(one["noisy"]), one["level"])
        for one in data
    ]


def _noisy_to_json(noisy: Noisy) -> dict[str, object]:
    """What was released of one group; what was chosen several times as a list."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in noisy.items()}


def _noisy_from_json(data: Mapping[str, Any]) -> Noisy:
    """What was released of one group, as it was."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}


def _key_to_json(value: KeyValue) -> object:
    """A key; a date as an object, so that it isn't taken for a string."""
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _key_from_json(value: Any) -> KeyValue:  # noqa: ANN401 — JSON
    """A key as it was."""
    return date.fromisoformat(value["date"]) if isinstance(value, dict) else value


# ── Reuse ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
