"""Problems: errors as HTTP has them, in the form of RFC 9457, with our code, hint and place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi.responses import JSONResponse

from discreet.errors import (
    AccessError,
    AskedAlready,
    AskedInPart,
    BudgetError,
    DiscreetError,
    InvalidArgument,
    KeyReused,
    LedgerCorrupt,
    PlanChanged,
    ProviderBusy,
    QueryError,
    QuestionFailed,
    TooManyWaiting,
    Unauthenticated,
)

_STATUS: Mapping[type[DiscreetError], int] = MappingProxyType(
    {
        Unauthenticated: 401,
        TooManyWaiting: 429,
        KeyReused: 409,
        PlanChanged: 409,
        AskedAlready: 409,
        AskedInPart: 409,
        ProviderBusy: 503,
        AccessError: 403,
        BudgetError: 402,
        QueryError: 422,
        InvalidArgument: 422,
        QuestionFailed: 500,
    }
)
"""The first that an error is of; anything else is the service's own affair, and unavailable."""

_UNAVAILABLE = 503

CODE = "discreet-code"
"""A header by which the log hears of a problem's code. It is taken off before the reply leaves."""

SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "description": "What went wrong, as in RFC 9457.",
        "required": ["type", "title", "status", "code", "hint", "place"],
        "properties": {
            "type": {"type": "string", "description": "`urn:discreet:` and the code."},
            "title": {"type": "string", "description": "What is wrong."},
            "status": {"type": "integer", "description": "Of HTTP."},
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
"""What a problem looks like."""

_WORDS: Mapping[int, str] = MappingProxyType(
    {
        401: "No token, or none that holds.",
        402: "It can't be paid for. Nothing was charged, but for steps that the hint names.",
        403: "The token's role may not do this, or the question is above its ceiling.",
        404: "There is none, or none of yours.",
        406: "The answer isn't written in any type that is accepted. Nothing was charged.",
        409: "The plan is another than was named, or the idempotency key was used for another.",
        413: "The body is too large.",
        422: "The request or the question is refused, with the place where it can be told. Nothing was charged.",
        429: "Too many of yours wait or run, or planning them takes too long. `Retry-After` may say when to ask again.",
        500: "`question_failed`: something went wrong after it was paid for, and no more is said.",
        503: "The service can't answer now. Nothing was charged.",
    }
)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route declares of the problems that it may reply with, beside those of every route with a token."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found = sorted({401, 403, 503, *statuses})
    return {status: {"description": _WORDS[status], "content": content} for status in found}


def problem(error: DiscreetError) -> JSONResponse:
    """The response for an error.

    What isn't the caller's affair (sources, snapshots, the ledger) is said without its message: paths stay here.
    """
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), _UNAVAILABLE)
    if isinstance(error, LedgerCorrupt):
        said = "the ledger is damaged, so nothing is asked until it is restored; nothing was charged"
        return described(status, error.code, said, "custodians and auditors see in the history what is damaged")
    if status == _UNAVAILABLE and not isinstance(error, ProviderBusy):
        return described(status, error.code, "the service can't answer now; nothing was charged", "try again later")
    response = described(status, error.code, error.message, error.hint, error.place)
    if isinstance(error, TooManyWaiting | ProviderBusy):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def described(
    status: int, code: str, message: str, hint: str = "", place: tuple[int, int] | None = None
) -> JSONResponse:
    """A response in the form of RFC 9457.

    Args:
        status: of HTTP.
        code: stable name of the kind of error.
        message: what is wrong.
        hint: what to do about it.
        place: a one-based line and column of the question.
    """
    headers = {CODE: code} | ({"WWW-Authenticate": "Bearer"} if status == _STATUS[Unauthenticated] else {})
    content = {
        "type": f"urn:discreet:{code}",
        "title": message,
        "status": status,
        "code": code,
        "hint": hint,
        "place": place,
    }
    return JSONResponse(content, status, headers, "application/problem+json")
