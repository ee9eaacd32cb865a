"""Requests: questions that need the custodian's approval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.interfaces.http.problems import Problem, problems
from discreet.interfaces.http.requests import (
    Approving,
    Denying,
    Requested,
    Serving,
    Who,
)

_WHAT = "The request: its question, purpose and cost, what became of it, and who else may read its answer."

REQUESTS = APIRouter(tags=["requests"])


@REQUESTS.post("/v1/requests", status_code=201, responses=problems(413, 422, 429), response_description=_WHAT)
def request(asked: Requested, service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """Request approval for a question, with its plan as it is now and no other."""
    return service.request(who, asked.question, asked.terms(), asked.purpose)


@REQUESTS.get("/v1/requests", responses=problems(), response_description="A list of requests, oldest first.")
def requests(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The requests: an analyst's own; for custodians and auditors, all of them."""
    return service.requests(who)


@REQUESTS.get("/v1/requests/{name}", responses=problems(404, 422), response_description=_WHAT)
def requested(name: str, service: Serving, who: Who) -> Response:
    """One request, and what became of it."""
    return _shown(next((each for each in service.requests(who) if each["id"] == name), None))


@REQUESTS.post("/v1/requests/{name}/approval", responses=problems(404, 413, 422), response_description=_WHAT)
def approve(name: str, asked: Approving, service: Serving, who: Who) -> Response:
    """Approve a request: its analyst may ask the question once, at this plan, under these declarations."""
    return _shown(service.approve(who, name, days=asked.days, any_version=asked.any_version))


@REQUESTS.post("/v1/requests/{name}/denial", responses=problems(404, 413, 422), response_description=_WHAT)
def deny(name: str, asked: Denying, service: Serving, who: Who) -> Response:
    """Deny a request, or take back an approval that wasn't used."""
    return _shown(service.deny(who, name, asked.reason))


def _shown(found: Mapping[str, Any] | None) -> Response:
    """A request, or a problem if there is none; an analyst has only their own."""
    return (
        Problem("not_found", "there is no such request", status=404).reply()
        if found is None
        else JSONResponse(dict(found))
    )
