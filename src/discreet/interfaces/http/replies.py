"""Replies with answers, in the media type that `Accept` asks for; CSV and Arrow have the command line's shapes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated

from fastapi import Depends, Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from discreet.interfaces.http.problems import problem_of
from discreet.results import Answer, to_arrow_stream, to_csv, with_ends
from discreet.service import EncodedAnswer, Ticket

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"

RAW_CSV = f"{CSV}; raw"
"""CSV for programs: nothing stands before texts that a spreadsheet takes for formulas. It leaves as CSV."""

_PATIENCE = 3600.0
"""A reply waits no longer than this many seconds for its answer, which can be fetched later by its address."""

_MOST_VALUES = 2000
"""How many values are written as CSV or Arrow in the event loop, which takes at most some milliseconds in which nobody
else is answered. With more, the cost of a thread is small in comparison.
"""


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
    """The preference for a media type, by the most specific range that it is in; 0 if it is in none."""
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
    """The form in which the answer to one question is wanted."""
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
    """Reply with the answer to a question, or with the problem; while it waits or runs, say where to ask again."""
    headers = {"Location": f"/v1/answers/{ticket.id}", "Cache-Control": "no-store"}
    if ticket.release is not None:
        headers["Release-Time"] = ticket.release.isoformat()
    found = ticket.reply  # once: another server's answer may come meanwhile
    if found is not None and (answer := found.answer) is not None:
        if answer.entry:
            headers["Discreet-Entry"] = str(answer.entry)
        return _written(ticket.id, answer, media, headers)
    if found is None or found.error is None or found.is_elsewhere:
        return JSONResponse({"id": ticket.id, "state": "pending"}, 202, headers)
    response = problem_of(found.error).reply()
    response.headers.update(headers)
    return response
