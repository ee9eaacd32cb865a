"""Problems: errors as HTTP has them, in the form of RFC 9457, with our code, hint and place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi.responses import JSONResponse

from discreet.errors import (
    AskedAlready,
    AskedInPart,
    Category,
    DiscreetError,
    KeyReused,
    PlanChanged,
    ProviderBusy,
    Unauthenticated,
)
from discreet.service import PublicError
from discreet.service.public_error import Told

STATUS_OF: Mapping[Category, int] = MappingProxyType(
    {
        Category.REFUSED: 422,
        Category.BUDGET: 402,
        Category.ACCESS: 403,
        Category.BUSY: 429,
        Category.UNAVAILABLE: 503,
        Category.FAILED: 500,
    }
)
"""The status of each category of errors."""

_OF_THEIR_OWN: Mapping[str, int] = MappingProxyType(
    {
        Unauthenticated.code: 401,
        KeyReused.code: 409,
        PlanChanged.code: 409,
        AskedAlready.code: 409,
        AskedInPart.code: 409,
        ProviderBusy.code: 503,
    }
)
"""Errors with a status of their own, whatever their category, by their code."""

CODE = "discreet-code"
"""A header that tells the log the code of a problem. It is taken off before the reply leaves."""

SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "description": "What went wrong, as in RFC 9457.",
        "required": ["type", "title", "status", "code", "hint", "place"],
        "properties": {
            "type": {"type": "string", "description": "`urn:discreet:` and the code."},
            "title": {"type": "string", "description": "What is wrong."},
            "status": {"type": "integer", "description": "The status of HTTP."},
            "code": {"type": "string", "description": "The stable name of the kind of error."},
            "hint": {"type": "string", "description": "What to do about it; may be empty."},
            "place": {
                "type": ["array", "null"],
                "items": {"type": "integer"},
                "description": "A line and a column of the question, from 1.",
            },
        },
    }
)
"""The JSON schema of a problem."""

_WORDS: Mapping[int, str] = MappingProxyType(
    {
        401: "There is no token, or it isn't valid.",
        402: "The budget doesn't allow it. Nothing was charged, except for steps that the hint names.",
        403: "The token's role may not do this, or the question is above the token's ceiling.",
        404: "There is none, or it isn't yours.",
        406: "The answer can't be written in any of the accepted types. Nothing was charged.",
        409: "The plan isn't the one that was named, or the idempotency key belongs to another question.",
        413: "The body is too large.",
        422: "The request or the question is refused, with the place in it where possible. Nothing was charged.",
        429: "Too many of your questions wait or run, or they take too long to plan. `Retry-After` may say how long to "
        "wait.",
        500: "`question_failed`: something went wrong after the question was paid for; the reason isn't told.",
        503: "The service can't answer now. Nothing was charged.",
    }
)


def problems(*statuses: int, token: bool = True) -> dict[int | str, dict[str, Any]]:
    """The problems that a route declares, with those of every route that needs a token, unless it needs none."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found = sorted({503, *((401, 403) if token else ()), *statuses})
    return {status: {"description": _WORDS[status], "content": content} for status in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Told):
    """An error as data: the API writes it as JSON, and the console as a page.

    Args:
        status: of HTTP.
    """

    status: int

    def reply(self) -> JSONResponse:
        """The response in the form of RFC 9457."""
        content = {
            "type": f"urn:discreet:{self.code}",
            "title": self.message,
            "status": self.status,
            "code": self.code,
            "hint": self.hint,
            "place": self.place,
        }
        challenge = {"WWW-Authenticate": "Bearer"} if self.status == HTTPStatus.UNAUTHORIZED else {}
        return JSONResponse(content, self.status, self.head | challenge, "application/problem+json")

    @property
    def head(self) -> dict[str, str]:
        """Headers of every response that shows this problem, for the log and the client."""
        pause = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return {CODE: self.code, **pause}


def status_of(error: DiscreetError | PublicError) -> int:
    """The status of an error: its own, or that of its category."""
    return _OF_THEIR_OWN.get(error.code, STATUS_OF[error.category])


def problem_of(error: PublicError) -> Problem:
    """The problem that a caller is shown for an error."""
    return Problem(error.code, error.message, error.hint, error.place, error.retry_after, status=status_of(error))
