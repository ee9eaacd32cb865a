"""Asking: a question and what is offered for it; its plan, which is free; its answer, when it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated, from_dict
from discreet.interfaces.http.console.charts import WIDTH, charts
from discreet.interfaces.http.console.pages import download, page, said, see
from discreet.interfaces.http.console.visits import Fields, Filled, Queried, Visit, Visiting
from discreet.results import Answer, cell_text, to_csv, with_ends
from discreet.service import Action, Ticket, check_allowed, fresh_name, is_elsewhere

ROUTES = APIRouter()

OFFERS = ("within", "epsilon", "rho")
"""How somebody may say what a question is worth to them: by its accuracy, or by its cost."""

CONFIDENCES = {"80": "0.8", "90": "0.9", "95": "0.95", "99": "0.99", "99.9": "0.999"}
"""What intervals may hold with, in percent."""

FUNCTIONS = (
    "COUNT(*)", "COUNT(DISTINCT ", "COUNT_IF(", "SUM(", "AVG(", "MEDIAN(", "MIN(", "MAX(", "STDDEV(", "VARIANCE(",
    "QUANTILE_CONT(", "MODE(", "CORR(", "COVAR_SAMP(", "ABS(", "ROUND(", "FLOOR(", "CEIL(", "SQRT(", "GREATEST(",
    "LEAST(", "COALESCE(", "NULLIF(", "UPPER(", "LOWER(", "TRIM(", "LENGTH(", "SUBSTRING(", "YEAR(", "MONTH(", "DAY(",
    "DATE_TRUNC(", "DATE_DIFF(", "CAST(", "TRY_CAST(", "EXTRACT(",
)  # fmt: skip
"""Functions that the editor proposes; there are more."""

WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AND", "OR", "NOT", "IN", "IS NULL",
    "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "JOIN", "LEFT JOIN", "ON", "DISTINCT", "DESC",
)  # fmt: skip
"""Words of SQL that it proposes."""


@ROUTES.get("/ask")
def ask(visit: Visiting, queried: Queried) -> Response:
    """The editor, and beside it the plan of what the address asks."""
    check_allowed(visit.caller.role, Action.PLAN)
    offered = offered_in(queried)
    return page("ask", visit, **_planned(visit, offered))


@ROUTES.post("/ask/plan")
def plan(visit: Visiting, fields: Filled) -> Response:
    """The plan of what is in the editor, while somebody types."""
    offered = offered_in(fields)
    return page("plan", visit, **_planned(visit, offered))


@ROUTES.get("/ask/words")
def words(visit: Visiting) -> list[dict[str, str]]:
    """What the editor proposes: names of tables and columns, functions, and words of SQL."""
    tables = visit.service.dataset(visit.caller)["tables"]
    found = [{"text": quoted(table["name"]), "note": "table"} for table in tables]
    found += [
        {"text": quoted(column["name"]), "note": f"{table['name']}, {column['kind']}"}
        for table in tables
        for column in table["columns"]
    ]
    found += [{"text": name, "note": "function"} for name in FUNCTIONS]
    return [*found, *({"text": name, "note": ""} for name in WORDS)]


@ROUTES.post("/ask")
def asked(visit: Visiting, fields: Filled) -> Response:
    """Ask what was planned; its answer has a page of its own."""
    offered = offered_in(fields)
    try:
        ticket = visit.service.ask(
            visit.caller,
            offered["question"],
            terms_of(offered),
            key=fields.get("key") or None,  # a form that is sent twice is paid for once
            digest=fields.get("digest") or None,  # what was shown is carried out, or nothing
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        problem = said(error)
        return page("ask", visit, problem["status"], **{**_unplanned(offered), "problem": problem})
    return see(f"/answers/{ticket.id}")


@ROUTES.get("/answers/{name}")
def answer(name: str, visit: Visiting) -> Response:
    """An answer; until it is there, when it will be; or that there is none."""
    ticket = _ticket(visit, name)
    again = urlencode(_again(ticket))
    if ticket.outcome is None or is_elsewhere(ticket):
        due = ticket.release
        left = 2 if due is None else max(1, ceil((due - datetime.now(UTC)).total_seconds()))
        found = page("pending", visit, ticket=ticket, due=due, left=left, again=again)
        found.headers["Refresh"] = str(left)
        return found
    if "error" in ticket.outcome:
        return page("failed", visit, ticket=ticket, again=again, problem=said(from_dict(ticket.outcome["error"])))
    data = ticket.outcome["answer"]
    cells = _cells(data)
    pictures = charts(data, cells)
    return page(
        "answer", visit, ticket=ticket, answer=data, cells=cells, charts=pictures, width=WIDTH, again=again,
        cost=Answer.from_json(data).cost,
    )  # fmt: skip


@ROUTES.get("/answers/{name}/{file}")
def file(name: str, file: str, visit: Visiting) -> Response:
    """An answer to keep; as JSON with its certificate, signed."""
    ticket = _ticket(visit, name)
    data = (ticket.outcome or {}).get("answer")
    if data is None:
        raise InvalidArgument("this question has no answer yet")
    stem = f"answer-{data['entry']}"
    match file:
        case "answer.csv":
            return download(to_csv(*with_ends(Answer.from_json(data))), "text/csv; charset=utf-8", f"{stem}.csv")
        case "answer.json":
            return download(json.dumps(data, indent=1, ensure_ascii=False), "application/json", f"{stem}.json")
    raise InvalidArgument("there is no such file of an answer", hint="answer.csv, or answer.json")


def quoted(name: str) -> str:
    """A name as SQL has it: in quotes, so that it may be any.

    Examples:
        >>> quoted("age")
        '"age"'
    """
    return '"' + name.replace('"', '""') + '"'


def terms_of(offered: Mapping[str, str]) -> dict[str, Any]:
    """What is offered for a question, as the service takes it.

    Raises:
        InvalidArgument: it isn't offered in a way that there is.
    """
    if offered["offer"] not in OFFERS or offered["confidence"] not in CONFIDENCES:
        raise InvalidArgument("an offer is an accuracy, an ε or a ρ", hint="choose one of them")
    amount = offered["amount"]
    found: dict[str, Any] = {offered["offer"]: accuracies(amount) if offered["offer"] == "within" else amount}
    if offered["delta"]:
        found["delta"] = offered["delta"]
    if offered["confidence"] != "95":
        found["confidence"] = CONFIDENCES[offered["confidence"]]
    return found


def accuracies(text: str) -> str | dict[str, str]:
    """The accuracies that somebody wants: of all columns, or of each by name.

    Examples:
        >>> accuracies("50"), accuracies("2% @ 1000"), accuracies("n = 50; income = 2% @ 1000")
        ('50', '2% @ 1000', {'n': '50', 'income': '2% @ 1000'})
    """
    if "=" not in text:
        return text
    named = [part.rpartition("=") for part in text.split(";")]
    return {name.strip(): wanted.strip() for name, _, wanted in named}


def offered_in(fields: Fields) -> dict[str, str]:
    """A question and what is offered for it, with what is offered where nothing is said."""
    usual = {"question": "", "offer": "within", "amount": "", "confidence": "95", "delta": ""}
    return {name: fields.get(name, otherwise).strip() for name, otherwise in usual.items()}


def _unplanned(offered: Mapping[str, str]) -> dict[str, Any]:
    """What the editor shows of a question that has no plan."""
    return {**offered, "confidences": tuple(CONFIDENCES), "plan": None, "problem": None, "key": ""}


def _planned(visit: Visit, offered: Mapping[str, str]) -> dict[str, Any]:
    """The plan, or why there is none; neither, where nothing is asked yet."""
    found = _unplanned(offered)
    if not offered["question"] or not offered["amount"]:
        return found
    try:
        plan = visit.service.plan(visit.caller, offered["question"], terms_of(offered))
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return {**found, "problem": said(error)}
    return {**found, "plan": _readable(plan), "key": fresh_name()}


def _readable(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan with its words cut into headings and lines."""
    expected = [each["words"].partition(" at ") for each in plan["expected"]]
    lines = [(line[:10].strip(), line[10:].strip()) for line in plan["words"].splitlines()]
    return {
        **plan,
        "lines": [line for line in lines if line[0] not in {"question", "cost", "error", "warning"}],
        "expected": [
            (half, f"{each['column']}{', at ' if rest else ''}{rest}")
            for each, (half, _, rest) in zip(plan["expected"], expected, strict=True)
        ],
        "cost_words": next((text for head, text in lines if head == "cost"), ""),
        "warnings": _under(lines, "warning"),
        "seconds": plan["step"] * plan["steps"],
        "remaining_like_this": plan.get("remaining_like_this"),
    }


def _under(lines: list[tuple[str, str]], heading: str) -> list[str]:
    """What stands under a heading; a line without one belongs to the last that had one."""
    found, current = [], ""
    for head, text in lines:
        current = head or current
        if current == heading:
            found.append(text)
    return found


def _ticket(visit: Visit, name: str) -> Ticket:
    """A question of the visitor's own.

    Raises:
        InvalidArgument: there is none of that name.
    """
    ticket = visit.service.ticket(visit.caller, name)
    if ticket is None or not isinstance(ticket.question, str):  # a workload is asked through the API, and fetched there
        raise InvalidArgument("there is no such question of yours", hint="ask it again: what was answered is free")
    return ticket


def _again(ticket: Ticket) -> dict[str, str]:
    """What the address of a question says of it, to ask it again."""
    terms = ticket.terms
    offer = next((name for name in OFFERS if name in terms), "epsilon")
    percent = next((name for name, value in CONFIDENCES.items() if value == terms.get("confidence")), "95")
    found = {
        "question": str(ticket.question),
        "offer": offer,
        "amount": _as_typed(terms.get(offer, "")),
        "confidence": percent,
    }
    return found | ({"delta": str(terms["delta"])} if "delta" in terms else {})


def _as_typed(amount: object) -> str:
    """An amount as somebody types it."""
    if isinstance(amount, Mapping):
        return "; ".join(f"{name} = {wanted}" for name, wanted in amount.items())
    return str(amount)


def _cells(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """The cells of an answer's table, each noisy value with its ±."""
    answer = Answer.from_json(data)
    ends = {name: answer.interval(name) for name in answer.names}
    return [
        {name: cell_text(row[name], ends[name][place]) for name in answer.names}
        for place, row in enumerate(answer.rows())
    ]
