"""Asking: a question, or several together, and what is offered; its plan, which is free; and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.interfaces.http.console.exactness import Ladder, ladder_of
from discreet.interfaces.http.console.examples import examples
from discreet.interfaces.http.console.forms import Fields, Filled, Queried
from discreet.interfaces.http.console.pages import grouped, number, page, see
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.console.standing import standings
from discreet.interfaces.http.problems import problem_of
from discreet.query.planner import SessionSettings
from discreet.results import PARTS, is_summary
from discreet.semicolons import statements
from discreet.service import Action, Ask, Planned, PlannedError, PublicError, check_allowed, check_ceiling, fresh_name

ROUTES = APIRouter()

OFFERS = ("within", "epsilon", "rho")
"""The ways to make an offer: by the accuracy wanted, or by the cost."""

_WHOLE = 1_000
"""From this size on, an error is told in whole numbers."""

BY_SLIDER = "exact"
"""The offer of a form whose slider says how much."""

CONFIDENCES = {"80": "0.8", "90": "0.9", "95": "0.95", "99": "0.99", "99.9": "0.999"}
"""The confidences to choose from, in percent."""


@ROUTES.get("/ask")
def ask(visit: Visiting, queried: Queried) -> Response:
    """The editor, and beside it the plan of what the address asks; or of an example, where it asks nothing."""
    check_allowed(visit.caller.role, Action.PLAN)
    if queried.get("offer") == BY_SLIDER:  # an address says the amount, as another's slider has other steps
        return see(f"/ask?{urlencode(offered_in(queried, _ladder(visit)))}")
    return page("ask", visit, **editor_of(visit, queried))


@ROUTES.post("/ask/plan")
def plan(visit: Visiting, fields: Filled) -> Response:
    """The plan of what is in the editor, while it is being typed."""
    ladder = _ladder(visit)
    return page("plan", visit, **_planned(visit, offered_in(fields, ladder), ladder))


def editor_of(visit: Visit, fields: Fields, *, plans: bool = True) -> dict[str, Any]:
    """What the editor shows.

    Args:
        visit: whose.
        fields: the question, and what is offered for it; where nothing is, an example and the slider.
        plans: whether its plan is made now, or once it is touched.
    """
    ladder = _ladder(visit)
    found = examples(visit.service.dataset(visit.caller)["tables"]) if "question" not in fields else []
    first = {"question": next((each.sql for each in found[1:2] or found), "")} if found else {}
    offered = offered_in({**first, **fields}, ladder)
    shown = _planned(visit, offered, ladder) if plans else _unplanned(offered, ladder)
    return {**shown, "examples": [(each, ladder.address(each.sql)) for each in found]}


def _ladder(visit: Visit) -> Ladder:
    """The steps of the visitor's slider."""
    found, _, own = standings(visit)
    return ladder_of(visit, found, own)


@ROUTES.post("/ask")
def asked(visit: Visiting, fields: Filled) -> Response:
    """Ask what was planned; its answer has a page of its own."""
    ladder = _ladder(visit)
    offered = offered_in(fields, ladder)
    try:
        ticket = visit.service.ask(
            visit.caller,
            Ask(
                questions_in(offered["question"]),
                terms_of(offered),
                key=fields.get("key") or None,  # a form that is sent twice is paid for once
                digest=fields.get("digest") or None,  # what was shown is carried out, or nothing
            ),
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        problem = problem_of(PublicError.of(error))
        return page("ask", visit, problem.status, **{**_unplanned(offered, ladder), "problem": problem, "examples": []})
    return see(f"/answers/{ticket.id}")


def questions_in(text: str) -> str | list[str]:
    """The question in a text; or the questions, where semicolons stand between several: they are asked together.

    Examples:
        >>> questions_in("SELECT COUNT(*) AS n FROM people WHERE name = 'a;b';")
        "SELECT COUNT(*) AS n FROM people WHERE name = 'a;b';"
        >>> questions_in("SELECT 1; SELECT 2 -- ;")
        ['SELECT 1', 'SELECT 2 -- ;']
    """
    found = statements(text)
    return found if len(found) > 1 else text


def terms_of(offered: Mapping[str, str]) -> dict[str, Any]:
    """The terms of a question, as the service takes them.

    Raises:
        InvalidArgument: it isn't offered in a way that there is, or something in the form can't be read.
    """
    if offered["offer"] not in OFFERS or offered["confidence"] not in CONFIDENCES:
        raise InvalidArgument("an offer is an accuracy, an ε or a ρ", hint="choose one of them")
    beside = {name: offered[name] for name in ("delta", "expecting", "limits") if offered[name]}
    if offered["confidence"] != "95":
        beside["confidence"] = CONFIDENCES[offered["confidence"]]
    return SessionSettings.of({offered["offer"]: offered["amount"], **beside}).terms


def offered_in(fields: Fields, ladder: Ladder | None = None) -> dict[str, str]:
    """A question and what is offered for it, with what is offered where nothing is said.

    Args:
        fields: of a form or an address.
        ladder: of the slider, which says the amount where the offer is `exact`, and where nothing is offered.
    """
    usual = {"question": "", "offer": "", "amount": "", "confidence": "95"}
    usual |= {"delta": "", "expecting": "", "limits": "", "exact": ""}
    found = {name: fields.get(name, otherwise).strip() for name, otherwise in usual.items()}
    step = found.pop("exact")
    if ladder is not None and not found["amount"] and found["offer"] in {"", BY_SLIDER}:
        is_step = step.isascii() and step.isdecimal() and len(step) < 3 and int(step) < len(ladder.amounts)  # noqa: PLR2004 — digits
        found |= {"offer": ladder.offer, "amount": ladder.amounts[int(step) if is_step else ladder.usual]}
    return {**found, "offer": OFFERS[0] if found["offer"] in {"", BY_SLIDER} else found["offer"]}


def _unplanned(offered: Mapping[str, str], ladder: Ladder) -> dict[str, Any]:
    """The editor, with a question that has no plan."""
    together = isinstance(questions_in(offered["question"]), list)
    shown = {"confidences": tuple(CONFIDENCES), "plan": None, "problem": None, "key": "", "together": together}
    return {**offered, **shown, "ladder": ladder, "step": ladder.place(offered["offer"], offered["amount"])}


def _planned(visit: Visit, offered: Mapping[str, str], ladder: Ladder) -> dict[str, Any]:
    """The plan, or why there is none; neither, where nothing is asked yet."""
    found = _unplanned(offered, ladder)
    if not offered["question"] or not offered["amount"]:
        return found
    question = questions_in(offered["question"])
    try:
        plan = visit.service.plan(visit.caller, question, terms_of(offered))
        if is_summary(offered["question"]) and isinstance(question, str):
            readable = _readable_summary(plan)
        else:
            readable = _readable(plan) if isinstance(question, str) else _readable_together(plan, question)
        found |= {"plan": {**plan.to_json(), **readable}, "key": fresh_name()}
        check_ceiling(visit.caller, plan.cost)  # so that nobody is offered to pay what would be refused
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return {**found, "problem": problem_of(PublicError.of(error))}
    return found


def _readable(plan: Planned) -> dict[str, Any]:
    """A plan with its words cut into headings and lines."""
    lines = [(line[:10].strip(), line[10:].strip()) for line in plan.words.splitlines()]
    cost = next((text for head, text in lines if head == "cost"), "")
    return {
        "lines": [line for line in lines if line[0] not in {"question", "cost", "error", "warning"}],
        "parts": [("", _accuracy(plan.expected[0]))],
        "cost_words": cost.split(",")[0] or "nothing",
        "warnings": _under(lines, "warning"),
    }


def _readable_together(plan: Planned, questions: Sequence[str]) -> dict[str, Any]:
    """The plan of several questions: what all cost, and how accurate each is."""
    return {
        "lines": [("", line) for line in plan.words.splitlines()],
        "parts": [(text, _accuracy(each)) for text, each in zip(questions, plan.expected, strict=True)],
        "cost_words": str(plan.cost).split(",")[0] or "nothing",
    }


def _readable_summary(plan: Planned) -> dict[str, Any]:
    """The plan of a summary: what it costs, and the ± to expect of each column's parts, as a table.

    Of the quartiles the one that errs most stands for all; the error of a deviation comes with the answer.
    """
    found: dict[str, dict[str, str]] = {}
    for columns in plan.expected[1:]:
        for each in columns:
            column, _, part = each.column.rpartition(" ")
            if each.error is not None:
                found.setdefault(column, {})[part] = f"±\u00a0{_half(each.error)}"
        ranks = max((each.ranks for each in columns if each.ranks is not None), default=None)
        if ranks is not None:
            found.setdefault(column, {})["quartiles"] = f"{number(round(ranks))}\u00a0ranks"
    parts = [part for part in ("rows", *PARTS, "quartiles") if any(part in halves for halves in found.values())]
    return {
        "lines": [("", line) for line in plan.words.splitlines()],
        "parts": [("", _accuracy(plan.expected[0]))],
        "cost_words": str(plan.cost).split(",")[0] or "nothing",
        "summary": {
            "names": [PARTS.get(part, part) for part in parts],
            "rows": [(column, [halves.get(part, "") for part in parts]) for column, halves in found.items()],
        },
    }


def _half(error: float) -> str:
    """Half a width, with all its digits before the point."""
    return number(round(error)) if error >= _WHOLE else number(error, 3)


def _accuracy(expected: Sequence[PlannedError]) -> list[tuple[str, str]]:
    """The ± of each column, and of what it is."""
    words = [each.words.partition(" at ") for each in expected]
    return [
        (grouped(half), f"{each.column}{', at ' if rest else ''}{rest}")
        for each, (half, _, rest) in zip(expected, words, strict=True)
    ]


def _under(lines: list[tuple[str, str]], heading: str) -> list[str]:
    """The lines under a heading; a line without one belongs to the last that had one."""
    found, current = [], ""
    for head, text in lines:
        current = head or current
        if current == heading:
            found.append(text)
    return found
