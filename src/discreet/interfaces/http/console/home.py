"""Home: what each role looks at first.

An analyst sees what they may spend and what they asked, a custodian who spent what and what waits for them, an auditor
whether the ledger held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

from fastapi import APIRouter, Response

from discreet.interfaces.http.console.account import again_of, by_analyst
from discreet.interfaces.http.console.exactness import ladder_of
from discreet.interfaces.http.console.examples import examples
from discreet.interfaces.http.console.pages import page
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.console.standing import amount_of, forecast, measure_of, questions_of, standings
from discreet.service import Role

if TYPE_CHECKING:
    from discreet.ledger import Entry


ROUTES = APIRouter()

_LATEST = 5
"""How many questions are shown."""


@ROUTES.get("/")
def home(visit: Visiting) -> Response:
    """The first page of the visitor's role."""
    match visit.caller.role:
        case Role.ANALYST:
            return page("home_analyst", visit, **_analyst(visit))
        case Role.CUSTODIAN:
            return page("home_custodian", visit, **_custodian(visit))
        case Role.AUDITOR:
            return page("home_auditor", visit, **_auditor(visit))
        case Role.OPERATOR:
            return page("operator", visit, metrics=_metrics(visit))
        case role:
            assert_never(role)


def _analyst(visit: Visit) -> dict[str, Any]:
    """What is left for the analyst, what they asked last, and what they might ask."""
    found, everyone, own = standings(visit)
    dataset, asked = visit.service.dataset(visit.caller), questions_of(visit)
    ladder = ladder_of(visit, found, own)
    requests = visit.service.requests(visit.caller)
    return {
        "budget": found,
        "everyone": everyone,
        "own": own,
        "dataset": dataset,
        "examples": [(each, ladder.address(each.sql)) for each in examples(dataset["tables"])],
        "asked": _latest(asked),
        "count": len(asked),
        "named": visit.service.named(visit.caller),
        "approved": [each for each in requests if each["state"] == "approved"],
        "open": [each for each in requests if each["state"] == "open"],
    }


def _custodian(visit: Visit) -> dict[str, Any]:
    """Who spent what, what waits for the custodian, when the tables were admitted, and what of them isn't read."""
    found, everyone, _ = standings(visit)
    measure, now = measure_of(found), datetime.now(UTC)
    asked = [(entry, amount_of(entry, measure)) for entry in questions_of(visit)]
    admissions = visit.service.admissions(visit.caller)
    return {
        "budget": found,
        "everyone": everyone,
        "forecast": forecast(asked, everyone.left, now),
        "analysts": by_analyst(asked),
        "open": [each for each in visit.service.requests(visit.caller) if each["state"] == "open"],
        "versions": admissions["versions"],
        "last": admissions["last"],
        "unread": _unread(admissions["last"]),
        "asked": _latest([entry for entry, _ in asked]),
    }


def _auditor(visit: Visit) -> dict[str, Any]:
    """Whether the ledger held when it was verified last, how many entries there are, and what was spent."""
    found, everyone, _ = standings(visit)
    asked = questions_of(visit)
    return {
        "budget": found,
        "everyone": everyone,
        "verified": visit.service.verified(visit.caller),
        "asked": _latest(asked),
        "count": len(asked),
    }


def _latest(asked: Sequence[Entry]) -> list[tuple[Entry, str, str]]:
    """The latest questions, each with the address that asks it again and with what became of it."""
    now = datetime.now(UTC)
    return [(entry, again_of(entry), entry.became(now)) for entry in reversed(asked[-_LATEST:])]


def _unread(last: Mapping[str, Any] | None) -> list[tuple[str, str, int]]:
    """What the last admission left out or couldn't read: the table, what it is, and of how many."""
    tables = (last or {}).get("report", {}).get("tables", {})
    return [
        (name, words, count)
        for name, table in tables.items()
        for words, count in (
            ("rows left out", table.get("left_out", 0)),
            ("rows malformed", table.get("malformed", 0)),
            *((f"values unreadable in {column}", count) for column, count in table.get("unreadable", {}).items()),
            *((f"texts cut in {column}", count) for column, count in table.get("cut", {}).items()),
        )
        if count
    ]


def _metrics(visit: Visit) -> list[tuple[str, str, float]]:
    """The metrics, each with its words, its labels and its value; those of single routes last."""
    found = [
        (family.documentation, ", ".join(sample.labels.values()), sample.value)
        for family in visit.service.health(visit.caller).collect()
        for sample in family.samples
    ]
    return sorted(found, key=lambda each: "/" in each[1] or each[1].startswith("none"))
