"""Problems: errors as HTTP has them, in the form of RFC 9457, with our code, hint and place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fastapi.responses import JSONResponse

from discreet.errors import (
    AccessError,
    AskedAlready,
    BudgetError,
    DiscreetError,
    InvalidArgument,
    KeyReused,
    PlanChanged,
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
        AccessError: 403,
        BudgetError: 402,
        QueryError: 422,
        InvalidArgument: 422,
        QuestionFailed: 500,
    }
)
"""The first that an error is of; anything else is the service's own affair, and unavailable."""

_UNAVAILABLE = 503


def problem(error: DiscreetError) -> JSONResponse:
    """The response for an error.

    What isn't the caller's affair (sources, snapshots, the ledger) is said without its message: paths stay here.
    """
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), _UNAVAILABLE)
    if status == _UNAVAILABLE:
        return described(status, error.code, "the service can't answer now; nothing was charged", "try again later")
    response = described(status, error.code, error.message, error.hint, error.place)
    if isinstance(error, TooManyWaiting):
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
    headers = {"WWW-Authenticate": "Bearer"} if status == _STATUS[Unauthenticated] else {}
    content = {
        "type": f"urn:discreet:{code}",
        "title": message,
        "status": status,
        "code": code,
        "hint": hint,
        "place": place,
    }
    return JSONResponse(content, status, headers, "application/problem+json")
