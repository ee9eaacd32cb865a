"""Forms: what they and addresses say. A form counts only if it came from a page of the same session."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, Request

from discreet.errors import Forbidden, InvalidArgument
from discreet.interfaces.http.console.session import Visiting

Fields = Mapping[str, str]
"""The fields of a form or an address, by name."""

_MOST_FIELDS = 50


def queried(request: Request) -> Fields:
    """The fields of the address."""
    return _fields(request.url.query)


Queried = Annotated[Fields, Depends(queried)]


async def sent(request: Request) -> Fields:
    """The fields of a form that one of our pages sent.

    Raises:
        Forbidden: a page of another site sent it.
        InvalidArgument: it can't be read.
    """
    check_same_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise InvalidArgument("this isn't a form")
    try:
        return _fields((await request.body()).decode("ascii"))
    except UnicodeDecodeError:
        raise InvalidArgument("this form isn't encoded as forms are") from None


Sent = Annotated[Fields, Depends(sent)]


def _filled(fields: Sent, visit: Visiting) -> Fields:
    """The fields of a form that belongs to this session.

    Raises:
        Forbidden: it is of another session, or not from one of our pages.
    """
    check_form(fields, visit.form)
    return fields


Filled = Annotated[Fields, Depends(_filled)]


def check_form(fields: Fields, expected: str) -> None:
    """Refuse a form that doesn't carry the secret of its page.

    Raises:
        Forbidden: it doesn't.
    """
    if not compare_digest(fields.get("form", "").encode(), expected.encode()):
        raise Forbidden("this form is of another session", hint="load the page again, and send it from there")


def check_same_origin(request: Request) -> None:
    """Refuse what a page of another site sent; browsers tell in two ways.

    Raises:
        Forbidden: it did, or the browser doesn't say.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "")
    host = _host(origin)
    foreign = origin not in {"", "null"} and (not host or host != request.headers.get("host"))
    # Our pages send no referrer, so browsers say "null" of where their forms come from, and are asked the other way.
    if foreign or site not in {None, "same-origin"} or (origin == "null" and site is None):
        raise Forbidden("this was sent from a page of another site", hint="open the console, and send it from there")


def _host(origin: str) -> str:
    """The host and port of an origin; empty if it isn't one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # a bracket that nothing closes
        return ""


def _fields(text: str) -> Fields:
    """The fields of a form or an address.

    Raises:
        InvalidArgument: they can't be read, or one is said twice.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidArgument("what was sent can't be read") from None
    found = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(found) != len(pairs):
        raise InvalidArgument("a field was sent twice")
    return found


def days_in(fields: Fields) -> int:
    """For how many days something holds, as a form says it.

    Raises:
        InvalidArgument: it isn't a whole number.
    """
    days = fields.get("days", "")
    if not (days.isascii() and days.isdecimal()) or len(days) > 4:  # noqa: PLR2004 — digits
        raise InvalidArgument("days is a whole number", hint="90, for example")
    return int(days)
