"""Admissions: the versions of the tables."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from discreet.interfaces.http.problems import problems
from discreet.interfaces.http.requests import (
    Admitting,
    Serving,
    Who,
)

ADMISSIONS = APIRouter(tags=["admissions"])


@ADMISSIONS.get(
    "/v1/admissions", responses=problems(), response_description="`versions`; `last` with its `state` and `report`."
)
def admissions(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The versions of the tables, and the last admission that this server made, with its report. For the custodian."""
    return service.admissions(who)


@ADMISSIONS.post(
    "/v1/admissions",
    status_code=202,
    response_description="It has begun; `Location` says where to look.",
    responses=problems(413, 422, 429),
)
def admit(asked: Admitting, service: Serving, who: Who, response: Response) -> Any:  # noqa: ANN401 — JSON
    """Begin to admit the tables as the next version. What is in force serves until that is done."""
    response.headers["Location"] = "/v1/admissions"
    return service.admit(who, group=asked.group, scheduled=asked.scheduled, at_most_unreadable=asked.at_most_unreadable)
