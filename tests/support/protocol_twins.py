"""Broken twins of the protocol: the real server, with one thing wrong in how it reads heads, paths and bodies."""

from __future__ import annotations

import asyncio
import codecs
import json
import posixpath
import re
from time import sleep
from typing import Any
from urllib.parse import unquote

from discreet.interfaces.http import make_app
from discreet.interfaces.http.middleware.bodies import LimitedBodies
from discreet.interfaces.http.middleware.strict import Strict
from support.attacked import App, Edited, Exchange, Receive, Scope, Send


def real_app(real: Any) -> Any:
    """The real app, anew."""
    return make_app(real.service)


def lenient(real: Any) -> Any:
    """The real app without what makes it strict, as it was before the suite was tried on it."""
    app = real_app(real)
    app.user_middleware = [each for each in app.user_middleware if each.cls is not Strict]
    return app


def unlooked_at(real: Any) -> App:
    """Heads are looked at once they were tidied up, and not as they came."""
    return Edited(real_app(real))


def chunks_are_read(real: Any) -> App:
    """The same, which is said of bodies that come in small chunks."""
    return unlooked_at(real)


READ_BY_H11 = {lenient, unlooked_at, chunks_are_read}
"""Twins whose heads nobody looks at before h11 does."""


def letters_decoded(real: Any) -> App:
    """Letters of a path that are escaped are looked up as what they are."""

    def before(exchange: Exchange) -> None:
        path = exchange.scope["raw_path"].decode()
        plain = re.sub("%([46][0-9a-f]|[57][0-9a])", lambda found: unquote(found[0]), path, flags=re.IGNORECASE)
        exchange.scope |= {"path": plain, "raw_path": plain.encode()}

    return Edited(real_app(real), before)


def any_encoding(real: Any) -> App:
    """JSON is read in whatever encoding it seems to be."""

    def before(exchange: Exchange) -> None:
        if exchange.asked and (b"\0" in exchange.body or exchange.body.startswith(codecs.BOM_UTF8)):
            exchange.body = json.dumps(exchange.asked).encode()

    return Edited(real_app(real), before)


def packed_or_not(real: Any) -> App:
    """A body that says to be packed is read as it is."""

    def before(exchange: Exchange) -> None:
        kept = [each for each in exchange.scope["headers"] if each[0].lower() != b"content-encoding"]
        exchange.scope["headers"] = kept

    return Edited(real_app(real), before)


def slow_on_values(real: Any) -> App:
    """Of each value in a body that is wrong something is written down, while nobody else is answered."""

    def before(exchange: Exchange) -> None:
        sleep(exchange.body.count(b",") / 100_000)

    return Edited(real_app(real), before)


def simplified(real: Any) -> App:
    """Paths are simplified before they are looked up."""

    def before(exchange: Exchange) -> None:
        path = posixpath.normpath(unquote(exchange.scope["raw_path"].decode()).partition("?")[0]).replace("//", "/")
        exchange.scope |= {"path": path, "raw_path": path.encode()}

    return Edited(real_app(real), before)


def last_of_a_name(real: Any) -> App:
    """Of a name that is said twice, the last is taken."""

    def before(exchange: Exchange) -> None:
        if isinstance(exchange.asked, dict) and exchange.asked:
            exchange.body = json.dumps(exchange.asked).encode()

    return Edited(real_app(real), before)


def defects(real: Any) -> App:
    """What can't be read is a defect, with the library's own words."""

    def after(exchange: Exchange) -> None:
        if exchange.status == 422 and b"\\ud800" in exchange.body:
            exchange.answer(500, {"detail": "UnicodeEncodeError: surrogates not allowed"})

    return Edited(real_app(real), after=after)


def one_at_a_time(real: Any) -> App:
    """One body is read after the other."""
    app, lock = Edited(real_app(real)), asyncio.Lock()

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        read: list[Any] = []
        async with lock:
            while not read or read[-1].get("more_body"):
                read.append(await receive())

        async def again() -> Any:
            return read.pop(0) if read else await receive()

        await app(scope, again, send)

    return served


def endless(real: Any) -> App:
    """A body may take as long as it takes."""
    app = make_app(real.service)
    app.user_middleware = [each for each in app.user_middleware if each.cls is not LimitedBodies]
    return app
