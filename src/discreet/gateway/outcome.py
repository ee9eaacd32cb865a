"""Outcomes: what questions released, as it is stored with its debit, read again, and given again for nothing.

An entry of the ledger holds a certificate, the groups that were released for each bundle, and the request: what was
asked, as exact JSON, so that its plan can be made again. What is read back is believed no further than this: the plan
made from it has the digest under which it was paid for.

One question is stored as a workload of one. Entries of before that have `groups` instead of a list of `parts`, and
`plan` in their certificates instead of `plans`; they can still be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.gateway.answers import (
    Group,
    conditions,
    held,
    least,
)
from discreet.privacy import KeyValue
from discreet.query.estimates import Noisy
from discreet.query.planner import Plan, Request, cost_to_dict
from discreet.results import certificate

if TYPE_CHECKING:
    from discreet.ledger import Reservation, Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The numbers that were released for a plan, with their certificate.

    Args:
        plan: that was carried out, with the noise that the numbers have.
        groups: the released groups of each of its bundles.
        certificate: what was done, as JSON-ready data.
        entry: the number of the debit.
        reused: whether it was released before, so that this time it cost nothing.
        origin: the entries that it follows from, where it was worked out from others.
    """

    plan: Plan
    groups: Sequence[Sequence[Group]]
    certificate: Mapping[str, object]
    entry: int
    reused: bool
    origin: tuple[int, ...] = ()

    @classmethod
    def stored(cls, plan: Plan, stored: Stored, analyst: str | None) -> Self:
        """An outcome of before, for the plan that it was released for, as an analyst may see it."""
        groups = [groups_from_json(part["groups"]) for part in parts_of(stored)]
        return cls(plan=plan, groups=groups, certificate=seen_by(analyst, stored), entry=stored.entry, reused=True)


def seen_by(analyst: str | None, stored: Stored) -> Mapping[str, object]:
    """The certificate of a stored answer, as an analyst may see it.

    Another analyst sees what was asked in its canonical form, and by which entry of the chain the answer was released,
    but neither who asked nor in which words: those may give away what the first analyst wants to know.

    Args:
        analyst: who sees it; None for the machine that holds the ledger, where questions need no name.
        stored: the answer.
    """
    if analyst is None or stored.certificate.get("analyst") == analyst:
        return stored.certificate
    shown = {name: said for name, said in stored.certificate.items() if name not in {"text", "analyst"}}
    return {**shown, "hash": stored.hash}


def certificate_of(plan: Plan, reservation: Reservation) -> dict[str, object]:
    """The certificate of an answer that was just paid for, as JSON-ready data; all of it is public."""
    return certificate(
        text=plan.text,
        analyst=reservation.analyst,
        version=reservation.version,
        entry=reservation.entry,
        questions=[each.canonical for each in plan.plans],
        plans=[each.to_dict() for each in plan.bundles],
        cost=cost_to_dict(plan.event),
    )


def recorded(outcome: Outcome) -> dict[str, object]:
    """An outcome as it is stored, with all that is needed to let others follow from it."""
    plan = outcome.plan
    filtered = frozenset[str].intersection(*(conditions(level.draft) for level in plan.levels))
    return {
        "parts": [{"groups": groups_to_json(groups)} for groups in outcome.groups],
        "asked": StoredRequest.of(plan).to_json(plan.text),
        "holds": least(held(level.draft) for level in plan.levels),
        "filters": sorted(filtered),
    }


def parts_of(stored: Stored) -> Sequence[Mapping[str, Any]]:
    """The stored parts of an answer, one for each bundle. Entries of one question once had no list of them."""
    parts: Sequence[Mapping[str, Any]] = stored.part("parts") or [stored.answer]
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A question, or several asked together, with what was offered for them.

    Args:
        questions: each with its dialect.
        request: what was offered for all of them.
        together: whether they came in a list.
    """

    questions: tuple[tuple[str, str], ...]
    request: Request
    together: bool

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The questions of a plan, and its request."""
        asked = tuple((each.text, each.dialect) for each in plan.questions)
        return cls(questions=asked, request=plan.request, together=plan.together)

    def to_json(self, text: str) -> dict[str, object]:
        """The request as JSON-ready data.

        Args:
            text: of the debit, which holds the text of each question: only where it begins and ends there is written.
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
    return {name: list(value) if isinstance(value, tuple) else value for name, value in noisy.items()}


def _noisy_from_json(data: Mapping[str, Any]) -> Noisy:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}


def _key_to_json(value: KeyValue) -> object:
    """A key; a date as an object, so that it isn't taken for a string."""
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _key_from_json(value: Any) -> KeyValue:  # noqa: ANN401 — JSON
    """A key as it was."""
    return date.fromisoformat(value["date"]) if isinstance(value, dict) else value
