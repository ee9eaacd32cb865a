"""Many calls of one caller at once, which would keep others from being answered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.interfaces.http.middleware.base import Middleware
from discreet.interfaces.http.problems import Problem
from discreet.service import digest_of

_MOST_CALLS = 32
"""How many calls one token, with its sessions, may have open at once. Each may keep a thread busy, and a due reply
waits for all of them in turn.
"""

_SESSION = re.compile("[0-9a-f]{64}", re.ASCII)
"""The name of a session, as `fresh_name` makes it; other cookies on the host may be anyone's."""


class LimitedCalls(Middleware):
    """Refuses further calls of a caller who has as many open as one may.

    Whose a call is follows from the token that it shows, or the session, whether or not that holds: nothing is looked
    up for it but whose session it is. A call stays open until its reply was taken.

    Args:
        app: what is protected.
        whose: the digest of the token that a session is of, by the session's name; None if there is no such session.
    """

    def __init__(self, app: ASGIApp, whose: Callable[[str], str | None]) -> None:
        super().__init__(app)
        self._whose = whose
        self._open: Counter[str] = Counter()

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on and count."""
        callers = self._callers(scope)
        if any(self._open[each] >= _MOST_CALLS for each in callers):
            said = f"{_MOST_CALLS} of your calls are already open"
            refusal = Problem("too_many_open", said, "wait for their replies", retry_after=1, status=429)
            await refusal.reply()(scope, receive, send)
            return
        self._open.update(callers)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open.subtract(callers)
            for each in callers:
                if not self._open[each]:
                    del self._open[each]

    def _callers(self, scope: Scope) -> set[str]:
        """Digests of the tokens and sessions that a call shows, however the headers around them are written."""
        found = set[str]()
        for name, value in scope["headers"]:
            text = value.decode("latin-1")
            if name.lower() == b"authorization":
                # Whatever spaces are around it: who reads it strips them, too.
                found.update(map(digest_of, text.split()[-1:]))
            elif name.lower() == b"cookie":
                shown = filter(_SESSION.fullmatch, cookie_parser(text).values())
                found.update(self._whose(each) or digest_of(each) for each in shown)
        return found
