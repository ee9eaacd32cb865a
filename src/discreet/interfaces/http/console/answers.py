"""Answers: when they will be there, what they say as tables and charts, what vouches for them, and as files to keep."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from discreet.errors import InvalidArgument
from discreet.interfaces.http.console.asking import CONFIDENCES, OFFERS, editor_of
from discreet.interfaces.http.console.copying import in_markdown, in_python, limits_as_typed, on_command_line
from discreet.interfaces.http.console.pages import download, grouped, number, page
from discreet.interfaces.http.console.pictures import picture
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.interfaces.http.problems import problem_of
from discreet.results import Answer, Summary, cell_texts, is_summary, to_csv, with_ends
from discreet.service import EncodedAnswer, Ticket

ROUTES = APIRouter()

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}|/[1-9][0-9]{0,8})?", re.ASCII)
"""Amounts that are doubled."""

_SHORT = 16
"""Characters of an exact amount that is shown."""

_MOST_DRAWN = 5_000
"""Rows: a page is made in the server's process, which others wait for."""

_MOST_SHOWN = 1_000
"""Rows of an answer that its page shows, likewise; files have all of them."""


@ROUTES.get("/answers/{name}")
def answer(name: str, visit: Visiting, request: Request) -> Response:
    """An answer; until it is there, when it will be; or that there is none."""
    ticket = ticket_of(visit, name)
    question, reply = ticket.plan.text or ticket.asked.question, ticket.reply
    again = urlencode(as_offered(question, ticket.asked.terms))
    questions = [question] if isinstance(question, str) else question
    shown_beside: dict[str, Any] = {"ticket": ticket, "questions": questions, "again": again}
    if reply is None or reply.is_elsewhere:
        due = ticket.release
        left = 2 if due is None else max(1, ceil((due - datetime.now(UTC)).total_seconds()))
        found = page("pending", visit, due=due, left=left, **shown_beside)
        found.headers["Refresh"] = str(left)
        return found
    if reply.error is not None:
        return page("failed", visit, problem=problem_of(reply.error), **shown_beside)
    if len(questions) == 1 and is_summary(questions[0]):
        return page("summary", visit, **_summarized(visit, reply.answer), **shown_beside)
    over = visit.service.left(visit.caller)
    parts = [shown(text, data, over) for text, data in zip(questions, answers_of(reply.answer), strict=True)]
    more = _more_exactly(ticket.asked.terms)
    offered = as_offered(question, ticket.asked.terms)
    return page(
        "answer", visit, parts=parts, name=_name_of(visit, offered), **editor_of(visit, offered, plans=False),
        more="" if more is None else urlencode(as_offered(question, more)),
        python=in_python(_address(request), question, ticket.asked.terms),
        command=on_command_line(_address(request), question, ticket.asked.terms), **shown_beside,
    )  # fmt: skip


def _address(request: Request) -> str:
    """Where the browser says that the server is; it is shown to that browser alone."""
    return str(request.base_url).rstrip("/")


def _name_of(visit: Visit, offered: Mapping[str, str]) -> str:
    """What the visitor calls a question; empty if it has no name."""
    return next((each.name for each in visit.service.named(visit.caller) if dict(each.content) == dict(offered)), "")


def as_offered(question: str | Sequence[str], terms: Mapping[str, Any]) -> dict[str, str]:
    """The address by which a question is asked again; the reverse of `asking.terms_of`."""
    offer = next((name for name in OFFERS if name in terms), "epsilon")
    percent = next((name for name, value in CONFIDENCES.items() if value == str(terms.get("confidence"))), "95")
    found = {
        "question": question if isinstance(question, str) else ";\n".join(question),
        "offer": offer,
        "amount": _as_typed(terms.get(offer, "")),
        "confidence": percent,
    }
    found |= {name: str(terms[name]) for name in ("delta", "expecting") if name in terms}
    return found | ({"limits": limits_as_typed(terms["limits"])} if terms.get("limits") is not None else {})


def _as_typed(amount: object) -> str:
    """An amount as people type it."""
    if isinstance(amount, Mapping):
        return "; ".join(f"{name} = {wanted}" for name, wanted in amount.items())
    return str(amount)


def _more_exactly(terms: Mapping[str, Any]) -> dict[str, Any] | None:
    """The terms by which an answer errs half as much: twice the ε, four times the ρ, or half the width."""
    factors = {"epsilon": Fraction(2), "rho": Fraction(4), "within": Fraction(1, 2)}
    offer = next((name for name in OFFERS if name in terms), None)
    if offer is None or not _NUMBER.fullmatch(str(terms[offer])):
        return None
    amount = Fraction(str(terms[offer])) * factors[offer]
    return {**terms, offer: f"{float(amount):.10g}" if Fraction(f"{float(amount):.10g}") == amount else str(amount)}


@ROUTES.get("/answers/{name}/{place}/{file}")
def file(name: str, place: int, file: str, visit: Visiting) -> Response:
    """An answer to keep, by its place among those that were asked together; as JSON with its certificate, signed."""
    answers = answers_of(ticket_of(visit, name).answer)
    if not 1 <= place <= len(answers):
        raise InvalidArgument("this question has no answer yet" if not answers else "there is no such answer")
    data = answers[place - 1]
    stem = f"answer-{data['entry'] or 'free'}{f'-{place}' if len(answers) > 1 else ''}"
    match file:
        case "answer.csv":
            return download(to_csv(*with_ends(Answer.from_json(data))), "text/csv; charset=utf-8", f"{stem}.csv")
        case "answer.svg":
            return download(Answer.from_json(data).to_svg(), "image/svg+xml", f"{stem}.svg")
        case "answer.json":
            return download(json.dumps(data, indent=1, ensure_ascii=False), "application/json", f"{stem}.json")
    raise InvalidArgument("there is no such file of an answer", hint="answer.csv, answer.svg or answer.json")


def ticket_of(visit: Visit, name: str) -> Ticket:
    """A question of the visitor's own.

    Raises:
        InvalidArgument: there is none of that name.
    """
    ticket = visit.service.ticket(visit.caller, name)
    if ticket is None:
        raise InvalidArgument("you have no such question", hint="ask it again: what was answered is free")
    return ticket


def answers_of(answer: EncodedAnswer | None) -> Sequence[Mapping[str, Any]]:
    """The answers to what was asked, in order; none as long as there are none."""
    data = {"answers": []} if answer is None else answer.read()
    found: Sequence[Mapping[str, Any]] = data.get("answers", [data])
    return found


def shown(
    question: str, data: Mapping[str, Any], left: str, *, rows: int = _MOST_SHOWN, drawn: int = _MOST_DRAWN
) -> dict[str, Any]:
    """One answer, as pages show it.

    Args:
        question: to which it is.
        data: the answer, as JSON.
        left: of the budget, in words.
        rows: that are shown, at most.
        drawn: how many rows a picture is made of, at most.
    """
    answer = Answer.from_json(data).__replace__(left=left)
    cells = _cells(answer)[:rows]
    return {
        "question": question,
        "answer": data,
        "cells": cells,
        "unseen": len(answer) - len(cells),
        "markdown": in_markdown(answer.names, cells),
        "raw": [{name: _sorted_by(value) for name, value in row.items()} for row in answer.rows()[:rows]],
        "pictures": [picture(chart.drawing) for chart in answer.charts()] if 1 < len(answer) <= drawn else [],
        "version": data["certificate"].get("data_version"),
        "cost": answer.cost,
        "notes": [each for each in answer.notes() if each.title != "warning"],
        "unknown": {name: {n for n, told in enumerate(answer.informative(name)) if not told} for name in answer.names},
        "certificate": readable(data["certificate"]),
    }


def _summarized(visit: Visit, encoded: EncodedAnswer | None) -> dict[str, Any]:
    """The answers that a SUMMARIZE stands for, as one table; and a chart for each column whose keys are counted."""
    answers = answers_of(encoded)
    left, tables = visit.service.left(visit.caller), visit.service.dataset(visit.caller)["tables"]
    summary = Summary.of([Answer.from_json(each).__replace__(left=left) for each in answers], tables)
    if summary is None:
        raise InvalidArgument("the table of this summary isn't declared any more", hint="ask about those that are")
    names, rows = summary.sheet()
    return {
        "summary": summary,
        "names": names,
        "rows": rows,
        "pictures": [picture(chart.drawing) for chart in summary.charts()],
        "unlisted": [name for name, counts in summary.counts().items() if not counts],
        "notes": [each for each in summary.notes() if each.title != "warning"],
        "warnings": list(dict.fromkeys(warning for answer in summary for warning in answer.warnings)),
        "headline": [(name, cell) for name, cell in _cells(summary[0])[0].items()],
        "proof": readable(summary[0].certificate),
        "signed": "signature" in answers[0],
    }


def _cells(answer: Answer) -> list[dict[str, str]]:
    """The rows of an answer as text; noisy numbers with their digits in groups."""
    columns = []
    for name in answer.names:
        intervals = answer.interval(name)
        texts = cell_texts(answer.column(name), intervals)
        columns.append([grouped(each) for each in texts] if any(intervals) and _is_numeric(answer, name) else texts)
    return [dict(zip(answer.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_numeric(answer: Answer, name: str) -> bool:
    """Whether a column has numbers, not dates."""
    return answer.column(name).kind not in {"date", "timestamp", "text", "boolean"}


def _sorted_by(value: object) -> str:
    """What a script sorts a value by: a number, or its text."""
    return "" if value is None else str(float(value)) if isinstance(value, int | float | Decimal) else str(value)


def readable(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate, as a page shows it.

    Args:
        certificate: as JSON-ready data, of this or an earlier version.
    """
    plans = [certificate["plan"]] if "plan" in certificate else certificate.get("plans") or []
    measures = [each for plan in plans for level in plan.get("levels", ()) for each in level.get("measures", ())]
    exact = certificate.get("cost", {}).get("exact", {})
    signs = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    return {
        "version": certificate.get("data_version"),
        "entry": certificate.get("entry"),
        "analyst": certificate.get("analyst"),
        "cost": [
            f"{signs.get(name, name)} = {_short(value)}" for name, value in exact.items() if value and value != "0"
        ],
        "noise": [_noise(each) for each in measures],
        "units": sorted({f"{plan['unit']}, {str(plan['adjacency']).replace('_', '-')}" for plan in plans}),
        "follows": [each.get("entry") for each in certificate.get("follows_from") or ()],
        "whole": json.dumps(certificate, indent=1, ensure_ascii=False),
    }


def _short(amount: str) -> str:
    """An exact amount as it is, or about as much where it takes too many digits.

    Examples:
        >>> _short("1/10"), _short("5711015199161149115/1180591620717411303424")
        ('1/10', '0.004837…')
    """
    return amount if len(amount) <= _SHORT else f"{float(Fraction(amount)):.4g}…"


def _noise(measure: Mapping[str, Any]) -> str:
    """The noise of one measured number, in the units of that number: rows, or what is added up.

    The certificate says it in steps of the measure's grid, which stay beside it, under *All of it*.

    Examples:
        >>> _noise({"step": "1/4", "mechanism": {"event": "laplace", "scale": "40", "l1": 4}})
        'Laplace noise of scale 10, for a sensitivity of 1'
        >>> _noise({"step": "1", "mechanism": {"event": "gaussian", "sigma": "20", "l2_squared": "4"}})
        'Gaussian noise of standard deviation 20, for a sensitivity of 2'
        >>> _noise({"mechanism": {"event": "threshold", "delta": "1/1000"}})
        'threshold: delta 1/1000'
    """
    step, mechanism = measure.get("step"), measure.get("mechanism") or {}
    match step, mechanism:
        case str(), {"event": "laplace", "scale": scale, "l1": moves}:
            return f"Laplace noise of scale {_in_units(scale, step)}, for a sensitivity of {_in_units(moves, step)}"
        case str(), {"event": "gaussian", "sigma": sigma, "l2_squared": moves}:
            sensitivity = number(sqrt(Fraction(moves)) * float(Fraction(step)), 4)
            return f"Gaussian noise of standard deviation {_in_units(sigma, step)}, for a sensitivity of {sensitivity}"
    kind, *said = (f"{value}" if name == "event" else f"{name} {value}" for name, value in mechanism.items())
    return f"{kind}: {', '.join(said)}" if said else kind


def _in_units(steps: str | int, step: str) -> str:
    """A number of steps of a grid, in units."""
    return number(float(Fraction(steps) * Fraction(step)), 4)
