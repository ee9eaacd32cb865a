"""Messages: what requests hold, the replies with answers, and errors as HTTP has them.

Bodies are JSON. Errors are problems in the form of RFC 9457, with our code, hint and place. Answers leave in the media
type that `Accept` asks for; the shapes of CSV and Arrow are those of the command line.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

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
    from_dict,
)
from discreet.privacy import Budget
from discreet.results import Answer, to_arrow_stream, to_csv, with_ends
from discreet.service import ALL, Caller, EncodedAnswer, Service, Ticket, is_elsewhere, share_of

# ── What requests hold ────────────────────────────────────────────────────────────────────────────────────────────────

_BEARER = HTTPBearer(
    scheme_name="token",
    description="A token that the custodian made, `dsc_…`; or the provider's, where people sign in by OpenID Connect.",
    auto_error=False,
)


async def _service(request: Request) -> Service:
    """The service that answers; looked up here and now, for a thread would take longer to come by."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(
    request: Request, service: Serving, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """Whoever sent the request."""
    if shown is None:
        raise Unauthenticated
    caller = service.caller(shown.credentials)
    request.state.token = caller.token  # for the log
    return caller


Who = Annotated[Caller, Depends(_who)]


Number = str | int | float


class Offered(BaseModel):
    """What is offered for a question, or for several together; numbers may be texts, which are read exactly."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: Number | None = Field(None, description="Offer ε: Laplace noise; 0.1 or '1/10'.")
    rho: Number | None = Field(None, description="Offer ρ (zCDP): Gaussian noise.")
    delta: Number | None = Field(None, description="Offer δ, for groups that aren't public.")
    within: Number | dict[str, Number] | None = Field(
        None, description="The half width wanted of intervals, for all columns or by name; the least cost reaches it."
    )
    weights: dict[str, Number] | None = Field(None, description="How the offer is shared, by column.")
    confidence: Number | None = Field(None, description="Of the intervals; 0.95 if left out.")
    expecting: int | None = Field(None, description="About how many rows a group has; errors are told for so many.")
    limits: dict[str, int] | str | None = Field(None, description="Of a unit's rows; or 'auto'.")
    bounds: dict[str, list[Number] | str] | None = Field(None, description="Of columns; or 'auto'.")
    consistent: bool | None = Field(None, description="Whether the groups of ROLLUP are to add up to their totals.")
    cut_off: bool | None = Field(None, description="Whether to measure what limits cut off, for a tenth of the offer.")
    dialect: str | None = Field(None, description="Of the SQL; 'duckdb' if left out.")

    def terms(self) -> dict[str, Any]:
        """What is offered, without what wasn't said."""
        named = self.model_dump(include=set(Offered.model_fields))
        return {name: value for name, value in named.items() if value is not None}


class Bound(Offered):
    """What is offered, and what it is offered for or else nothing."""

    digest: str | None = Field(None, description="Of the plan that it must be.")
    approval: str | None = Field(None, description="The id of a request, by whose approval it is asked.")
    version: int | None = Field(
        None,
        ge=1,
        lt=2**53,
        description="Of the tables: what is stored of this version is the answer, and nothing is asked or paid for. A "
        "certificate names it, as `data_version`.",
    )


class Asked(Bound):
    """A question, and what is offered for it."""

    question: str = Field(description="One SELECT, in SQL.")


class Requested(Offered):
    """A question that is to be approved, what will be offered for it, and why it is asked."""

    question: str = Field(description="One SELECT, in SQL.")
    purpose: str = Field(description="What the answer is for, for the custodian.")


class Approving(BaseModel):
    """What an approval is good for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    days: int = Field(7, description="For how many days it holds, from 1 to 366.")
    any_version: bool = Field(default=False, description="Of any version of the tables, not of the one in force alone.")


class Denying(BaseModel):
    """Why a request is denied."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field("", description="For who made it.")


class Share(BaseModel):
    """What somebody may spend in all."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: Number | None = Field(None, description="In ε.")
    rho: Number | None = Field(None, description="In ρ; with a δ.")
    delta: Number | None = Field(None, description="In δ.")


class AskedTogether(Bound):
    """A workload: questions that are planned and answered together, and what is offered for all of them."""

    questions: list[str] = Field(description="Each one SELECT, in SQL.")


class Issuing(BaseModel):
    """Whom a token is for, and what it allows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    subject: str = Field(description="Who will hold it: the analyst's name in the account.")
    role: str = Field("analyst", description="analyst, custodian, auditor or operator.")
    days: int = Field(90, description="For how many days it holds.")
    most_epsilon: Number | None = Field(None, description="The ceiling on what one question may cost in ε.")
    most_rho: Number | None = Field(None, description="The ceiling in ρ; it lets Gaussian noise in beside one in ε.")
    share: Share | Literal["all"] | None = Field(
        None,
        description="What all questions of the subject may cost together; for an analyst a tenth of the budget if it "
        "is left out, and `all` is all of it.",
    )
    renews: Literal["monthly"] | None = Field(
        None, description="`monthly`: the share is for each calendar month, in UTC, rather than in all."
    )
    datasets: list[str] = Field([], description="Whose tables it is for, by the names of accounts; else this one's.")

    def shared(self) -> Budget | Literal["all"] | None:
        """What the subject may spend, in all or in each month; None if nothing is said.

        Raises:
            InvalidArgument: it is no budget, or nothing renews.
        """
        if self.share == ALL and self.renews is None:
            return "all"
        return share_of(self.share.model_dump() if isinstance(self.share, Share) else None, self.renews)


class Admitting(BaseModel):
    """How the tables are to be admitted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str | None = Field(None, description="Only the tables of this refresh group; '' is those that name none.")
    scheduled: bool = Field(
        default=False, description="Advance the version whatever happens; if nothing can be read, serve what there was."
    )
    at_most_unreadable: Number | None = Field(
        None,
        description="The part of a table's records, or of a column's values, that may be unreadable this time; "
        "unless given, what each table declares.",
    )


# ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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


# ── Replies with answers ──────────────────────────────────────────────────────────────────────────────────────────────

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"

RAW_CSV = f"{CSV}; raw"
"""CSV for programs: nothing stands before texts that a spreadsheet takes for formulas. It leaves as CSV."""

_PATIENCE = 3600.0
"""How many seconds a reply waits for its answer at the most; it can be fetched later by its own address."""

_MOST_VALUES = 2000
"""How many values are written as CSV or Arrow in the event loop, which takes some milliseconds at the most; nobody else
is answered meanwhile. With more, what a thread costs is little beside."""


def chosen(accept: str, offered: tuple[str, ...]) -> str:
    """The media type of a reply: of those that are offered the one that is liked best, and of equals the first.

    Args:
        accept: the header; empty for anything.
        offered: media types.

    Raises:
        HTTPException: none of them is accepted. So that nothing is paid for in vain, this comes before all else.

    Source: RFC 9110, section 12.5.1.

    Examples:
        >>> chosen("text/csv, application/json;q=0.5", (JSON, CSV)), chosen("*/*", (JSON, CSV))
        ('text/csv', 'application/json')
    """
    liked = {media: _quality(accept, media) for media in offered} if accept else dict.fromkeys(offered, 1.0)
    best = max(offered, key=lambda media: liked[media])
    if not liked[best]:
        raise HTTPException(406, f"answers are written as {', '.join(offered)}")
    return best


def _quality(accept: str, media: str) -> float:
    """How much a media type is liked: as the most specific range that it is in says, and 0 if it is in none."""
    ranges = {}
    for item in accept.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        said = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        ranges[name] = float(said) if said.replace(".", "", 1).isascii() and said.replace(".", "", 1).isdigit() else 0.0
    wider = f"{media.partition('/')[0]}/*"
    return next((ranges[name] for name in (media, wider, "*/*") if name in ranges), 0.0)


Raw = Annotated[
    bool, Query(description="In CSV, put no ' before texts that a spreadsheet takes for formulas; for programs.")
]


def _wanted(
    *, accept: Annotated[str, Header(description="JSON, CSV or an Arrow stream.")] = "", raw: Raw = False
) -> str:
    """In which form the answer to one question is wanted."""
    return as_said(chosen(accept, (JSON, CSV, ARROW)), raw=raw)


def as_said(media: str, *, raw: bool) -> str:
    """A media type, as it is written for programs or for people."""
    return RAW_CSV if raw and media == CSV else media


Wanted = Annotated[str, Depends(_wanted)]


def _written(name: str, answer: EncodedAnswer, media: str, headers: Mapping[str, str]) -> Response:
    """A reply with an answer. CSV and Arrow hold the values, with the ends of their intervals as columns.

    Args:
        name: of its question.
        answer: to it.
        media: its media type, or `RAW_CSV`.
        headers: of the reply.
    """
    if media == JSON:
        state = json.dumps({"id": name, "state": "done"}, separators=(",", ":")).encode()
        return Response(state[:-1] + b"," + answer.content[1:], 200, headers, JSON)
    read = Answer.from_json(answer.read())
    names, rows = with_ends(read)
    kinds = {column.name: column.kind for column in read.columns}
    if media == ARROW:
        content, ending = to_arrow_stream(names, rows, kinds), "arrow"
    else:
        content, ending, media = to_csv(names, rows, raw=media == RAW_CSV).encode(), "csv", CSV
    attached = {**headers, "Content-Disposition": f'attachment; filename="answer.{ending}"'}
    return Response(content, 200, {**attached, "X-Content-Type-Options": "nosniff"}, media)


async def reply_of(ticket: Ticket, media: str, prefer: str) -> Response:
    """The reply to a question, once it is done; or at once, for who doesn't wait."""
    if "respond-async" not in prefer:
        await _done(ticket)
    if media != JSON and ticket.answer is not None and ticket.answer.values > _MOST_VALUES:
        return await run_in_threadpool(reply, ticket, media)
    return reply(ticket, media)


async def _done(ticket: Ticket) -> None:
    """Wait until a question is done, or patience is. No thread waits: there are few, and others need them."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def call(what: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the server was stopped meanwhile
            loop.call_soon_threadsafe(what)

    ticket.when_woken(lambda: call(done.is_set))  # looking is enough to be awake
    ticket.when_done(lambda: call(done.set))
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await done.wait()


def reply(ticket: Ticket, media: str) -> Response:
    """What became of a question; while it waits or runs, where to ask again."""
    headers = {"Location": f"/v1/answers/{ticket.id}", "Cache-Control": "no-store"}
    if ticket.release is not None:
        headers["Release-Time"] = ticket.release.isoformat()
    if ticket.outcome is None or is_elsewhere(ticket):
        return JSONResponse({"id": ticket.id, "state": "pending"}, 202, headers)
    if ticket.answer is None:
        response = problem(from_dict(ticket.outcome["error"]))
        response.headers.update(headers)
        return response
    if ticket.answer.entry:
        headers["Discreet-Entry"] = str(ticket.answer.entry)
    return _written(ticket.id, ticket.answer, media, headers)
