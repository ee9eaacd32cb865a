"""Answers: when they will be there, what they are as tables and charts, what vouches for them, and as files to keep.

Charts are where the marks of a picture stand; a template draws them as SVG, without script or style of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response

from discreet.errors import InvalidArgument, from_dict
from discreet.interfaces.http.console.asking import CONFIDENCES, OFFERS
from discreet.interfaces.http.console.pages import download, number, page
from discreet.interfaces.http.console.problems import said
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.results import Answer, cell_texts, to_csv, with_ends
from discreet.service import Ticket, is_elsewhere

_MOST_ROWS = 40
_LEFT, _RIGHT, _ROW, _TOP = 140, 20, 26, 8
WIDTH, HEIGHT = 460, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of an answer.

    Args:
        label: its groups.
        y: where it stands.
        x, end: from zero to the value.
        low, high: where its interval begins and ends; None if it has none.
        words: the value and its interval.
    """

    label: str
    y: float
    x: float
    end: float
    low: float | None
    high: float | None
    words: str

    @property
    def left(self) -> float:
        """Where the bar begins, whatever its sign."""
        return min(self.x, self.end)

    @property
    def width(self) -> float:
        """How long the bar is."""
        return abs(self.end - self.x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A column of an answer as bars, each with its interval.

    Args:
        column: its name.
        bars: from the top down.
        ticks: of the axis: where, and what they say.
        height: of the picture.
    """

    column: str
    bars: Sequence[Bar]
    ticks: Sequence[tuple[float, str]]
    height: int


def charts(answer: Mapping[str, Any], shown: Sequence[Mapping[str, str]]) -> list[Chart]:
    """A chart for each noisy number of an answer; none where there are too many rows, or none.

    A value of which nothing is known has its label and no bar.

    Args:
        answer: as JSON has it.
        shown: its cells, as they are written in the table.
    """
    rows, intervals = answer["rows"], answer["intervals"]
    if not 0 < len(rows) <= _MOST_ROWS:
        return []
    keys = [name for name in answer["columns"] if name not in intervals]
    labels = [" · ".join("NULL" if row[key] is None else str(row[key]) for key in keys) or "all" for row in rows]
    told = {name: answer.get("informative", {}).get(name, [True] * len(rows)) for name in intervals}
    return [
        _chart(
            name,
            [row[name] if known else None for row, known in zip(rows, told[name], strict=True)],
            [each if known else None for each, known in zip(ends, told[name], strict=True)],
            labels,
            [cells[name] for cells in shown],
        )
        for name, ends in intervals.items()
        if all(row[name] is None or _is_number(row[name]) for row in rows)
        and all(each is None or all(end is None or _is_number(end) for end in each) for each in ends)
    ]


def _is_number(value: object) -> bool:
    """Whether a value can stand on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _chart(name: str, values: Sequence[Any], ends: Sequence[Any], labels: Sequence[str], words: Sequence[str]) -> Chart:
    """The chart of one column."""
    known = [end for each in ends if each is not None for end in each if end is not None]
    reach = [0.0, *map(float, known), *(float(value) for value in values if value is not None)]
    low, high = min(reach), max(reach)
    scale = (WIDTH - _LEFT - _RIGHT) / ((high - low) or 1.0)

    def at(value: float | None, otherwise: float) -> float:
        return round(_LEFT + ((otherwise if value is None else float(value)) - low) * scale, 1)

    bars = [
        Bar(
            label=label,
            y=_TOP + place * _ROW,
            x=at(0.0, 0.0),
            end=at(value, 0.0),
            low=None if each is None else at(each[0], low),
            high=None if each is None else at(each[1], high),
            words=text,
        )
        for place, (label, value, each, text) in enumerate(zip(labels, values, ends, words, strict=True))
    ]
    ticks = [(at(tick, 0.0), number(tick)) for tick in ticks_between(low, high)]
    return Chart(column=name, bars=bars, ticks=ticks, height=2 * _TOP + len(bars) * _ROW + 24)


def ticks_between(low: float, high: float) -> list[float]:
    """Round numbers along an axis, some four of them.

    Examples:
        >>> ticks_between(0, 950)
        [0.0, 200.0, 400.0, 600.0, 800.0]
    """
    if not high > low:
        return [low]
    power = 10.0 ** floor(log10((high - low) / 4))
    step = next(power * each for each in (1, 2, 5, 10) if (high - low) / (power * each) <= 5)  # noqa: PLR2004 — ticks
    first = -floor(-low / step)
    return [round(each * step, 12) for each in range(first, floor(high / step) + 1)]


def steps(amounts: Sequence[float], moments: Sequence[float], total: float) -> str:
    """What was spent over time, as the points of a line that climbs towards the total.

    Args:
        amounts: what was spent by each moment.
        moments: in seconds, none before the one before it.
        total: of the budget.

    Examples:
        >>> steps([0, 3], [10, 10], total=6)
        '20.0,180.0 20.0,180.0 20.0,100.0'
    """
    across = (WIDTH - 2 * _RIGHT) / ((moments[-1] - moments[0]) or 1.0)
    up = (HEIGHT - 40) / (total or 1.0)
    points = [
        (_RIGHT + (at - moments[0]) * across, HEIGHT - 20 - amount * up)
        for at, amount in zip(moments, amounts, strict=True)
    ]
    corners = [points[0]] + [corner for (_, low), (x, y) in pairwise(points) for corner in ((x, low), (x, y))]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


ROUTES = APIRouter()


@ROUTES.get("/answers/{name}")
def answer(name: str, visit: Visiting) -> Response:
    """An answer; until it is there, when it will be; or that there is none."""
    ticket = _ticket(visit, name)
    again = urlencode(_as_offered(ticket.question, ticket.terms))
    questions = [ticket.question] if isinstance(ticket.question, str) else ticket.question
    shown: dict[str, Any] = {"ticket": ticket, "questions": questions, "again": again}
    if ticket.outcome is None or is_elsewhere(ticket):
        due = ticket.release
        left = 2 if due is None else max(1, ceil((due - datetime.now(UTC)).total_seconds()))
        found = page("pending", visit, due=due, left=left, **shown)
        found.headers["Refresh"] = str(left)
        return found
    if "error" in ticket.outcome:
        return page("failed", visit, problem=said(from_dict(ticket.outcome["error"])), **shown)
    parts = [_shown(text, data) for text, data in zip(questions, _answers(ticket), strict=True)]
    return page("answer", visit, parts=parts, width=WIDTH, **shown)


def _as_offered(question: str | Sequence[str], terms: Mapping[str, Any]) -> dict[str, str]:
    """What the address of a question says of it, to ask it again; the reverse of `asking.terms_of`."""
    offer = next((name for name in OFFERS if name in terms), "epsilon")
    percent = next((name for name, value in CONFIDENCES.items() if value == terms.get("confidence")), "95")
    found = {
        "question": question if isinstance(question, str) else ";\n".join(question),
        "offer": offer,
        "amount": _as_typed(terms.get(offer, "")),
        "confidence": percent,
    }
    return found | {name: str(terms[name]) for name in ("delta", "expecting") if name in terms}


def _as_typed(amount: object) -> str:
    """An amount as somebody types it."""
    if isinstance(amount, Mapping):
        return "; ".join(f"{name} = {wanted}" for name, wanted in amount.items())
    return str(amount)


@ROUTES.get("/answers/{name}/{place}/{file}")
def file(name: str, place: int, file: str, visit: Visiting) -> Response:
    """An answer to keep, by its place among those that were asked together; as JSON with its certificate, signed."""
    answers = _answers(_ticket(visit, name))
    if not 1 <= place <= len(answers):
        raise InvalidArgument("this question has no answer yet" if not answers else "there is no such answer")
    data = answers[place - 1]
    stem = f"answer-{data['entry'] or 'free'}{f'-{place}' if len(answers) > 1 else ''}"
    match file:
        case "answer.csv":
            return download(to_csv(*with_ends(Answer.from_json(data))), "text/csv; charset=utf-8", f"{stem}.csv")
        case "answer.json":
            return download(json.dumps(data, indent=1, ensure_ascii=False), "application/json", f"{stem}.json")
    raise InvalidArgument("there is no such file of an answer", hint="answer.csv, or answer.json")


def _ticket(visit: Visit, name: str) -> Ticket:
    """A question of the visitor's own.

    Raises:
        InvalidArgument: there is none of that name.
    """
    ticket = visit.service.ticket(visit.caller, name)
    if ticket is None:
        raise InvalidArgument("there is no such question of yours", hint="ask it again: what was answered is free")
    return ticket


def _answers(ticket: Ticket) -> Sequence[Mapping[str, Any]]:
    """The answers to what was asked, in order; none as long as there are none."""
    data = {"answers": []} if ticket.answer is None else ticket.answer.read()
    found: Sequence[Mapping[str, Any]] = data.get("answers", [data])
    return found


def _shown(question: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of one answer."""
    answer = Answer.from_json(data)
    columns = [cell_texts(answer.column(name), answer.interval(name)) for name in answer.names]
    cells = [dict(zip(answer.names, row, strict=True)) for row in zip(*columns, strict=True)]
    return {
        "question": question,
        "answer": data,
        "cells": cells,
        "charts": charts(data, cells),
        "cost": answer.cost,
        "notes": [each for each in answer.notes() if each.title not in {"cost", "warning"}],
        "unknown": {name: {n for n, told in enumerate(answer.informative(name)) if not told} for name in answer.names},
        "certificate": readable(data["certificate"]),
    }


def readable(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate says, as a page shows it.

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
        "cost": [f"{signs.get(name, name)} = {value}" for name, value in exact.items() if value and value != "0"],
        "noise": [_noise(each.get("mechanism") or {}) for each in measures],
        "units": sorted({f"{plan['unit']}, {str(plan['adjacency']).replace('_', '-')}" for plan in plans}),
        "follows": [each.get("entry") for each in certificate.get("follows_from") or ()],
        "whole": json.dumps(certificate, indent=1, ensure_ascii=False),
    }


def _noise(mechanism: Mapping[str, Any]) -> str:
    """The noise of one measured number, with its exact parameters."""
    kind, *said = (f"{value}" if name == "event" else f"{name} {value}" for name, value in mechanism.items())
    return f"{kind}: {', '.join(said)}" if said else kind
