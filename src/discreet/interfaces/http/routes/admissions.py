"""Admissions: the custodian has the tables read again, while questions go on, and sees what couldn't be read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from discreet.interfaces.http.bodies import Admitting
from discreet.interfaces.http.callers import Serving, Who

ROUTES = APIRouter()


@ROUTES.get("/v1/admissions")
def admissions(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The versions of the tables, and the last admission that this server made, with its report. For the custodian."""
    return service.admissions(who)


@ROUTES.post("/v1/admissions", status_code=202)
def admit(asked: Admitting, service: Serving, who: Who, response: Response) -> Any:  # noqa: ANN401 — JSON
    """Begin to admit the tables as the next version. What is in force serves until that is done."""
    response.headers["Location"] = "/v1/admissions"
    return service.admit(who, group=asked.group, scheduled=asked.scheduled, at_most_unreadable=asked.at_most_unreadable)
