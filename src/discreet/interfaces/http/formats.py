"""Formats: in which media type an answer is written, as `Accept` asks; the same shapes as on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Header, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from discreet.results import Answer, to_arrow_stream, to_csv, with_ends

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


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


def _wanted(accept: Annotated[str, Header(description="JSON, CSV or an Arrow stream.")] = "") -> str:
    """In which media type the answer to one question is wanted."""
    return chosen(accept, (JSON, CSV, ARROW))


Wanted = Annotated[str, Depends(_wanted)]


def written(answer: Mapping[str, Any], media: str, headers: Mapping[str, str]) -> Response:
    """A reply with an answer. CSV and Arrow hold the values, with the ends of their intervals as columns.

    Args:
        answer: as JSON-ready data.
        media: its media type.
        headers: of the reply.
    """
    if media == JSON:
        return JSONResponse(answer, 200, headers)
    names, rows = with_ends(Answer.from_json(answer))
    content = to_csv(names, rows).encode() if media == CSV else to_arrow_stream(names, rows)
    ending = "csv" if media == CSV else "arrow"
    attached = {**headers, "Content-Disposition": f'attachment; filename="answer.{ending}"'}
    return Response(content, 200, {**attached, "X-Content-Type-Options": "nosniff"}, media)
