"""Certificates: what was done for one answer, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from discreet.version import __version__


def certificate(  # noqa: PLR0913 — what is vouched for, each by name
    *,
    text: str,
    analyst: str | None,
    version: int,
    entry: int | None,
    questions: Sequence[str],
    plans: Sequence[Mapping[str, object]],
    cost: Mapping[str, object],
    follows_from: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """The record of what was done for an answer, or for all answers of a workload: JSON-ready and public.

    Args:
        text: of the questions.
        analyst: who asked, if they said so.
        version: the number of the last admission of a table that was read; it says nothing of what they hold.
        entry: the number of the debit in the ledger; None where there was none, for an answer that follows from others
            or from public facts.
        questions: what was asked, in canonical form.
        plans: how what was measured was made: unit, adjacency, bounds, limits, mechanisms with exact parameters.
        cost: in every way of counting.
        follows_from: the certificates of the answers that it follows from.
    """
    return {
        "discreet": __version__,
        "text": text.strip(),
        "analyst": analyst,
        "data_version": version,
        "entry": entry,
        "questions": list(questions),
        "plans": list(plans),
        "cost": dict(cost),
        "follows_from": deepcopy(list(follows_from)),
    }


def said_once(certificate: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A certificate as it is kept beside the question's text: what that says, or another part of it, isn't said again.

    Args:
        certificate: as `certificate` makes it.
        text: the question as it was asked.
    """
    questions, plans = certificate.get("questions"), certificate.get("plans")
    found = dict(certificate)
    if found.get("text") == text.strip():
        found["text"] = None
    if isinstance(questions, list) and isinstance(plans, list):
        places = {question: place for place, question in enumerate(questions)}
        found["plans"] = [
            {**plan, "question": places[plan["question"]]} if plan.get("question") in places else plan for plan in plans
        ]
    return found


def said_in_full(kept: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A certificate of which `said_once` made this; one that was kept in full is as it is.

    Examples:
        >>> whole = {"text": "SELECT 1", "questions": ["1"], "plans": [{"question": "1"}]}
        >>> said_once(whole, " SELECT 1")
        {'text': None, 'questions': ['1'], 'plans': [{'question': 0}]}
        >>> said_in_full(said_once(whole, " SELECT 1"), " SELECT 1") == whole
        True
    """
    found = dict(kept)
    if "text" in found and found["text"] is None:
        found["text"] = text.strip()
    if isinstance(found.get("plans"), list):
        found["plans"] = [
            {**plan, "question": found["questions"][plan["question"]]} if type(plan.get("question")) is int else plan
            for plan in found["plans"]
        ]
    return found
