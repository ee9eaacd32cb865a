"""Sessions: callers who signed in, and are known afterwards by a name that their browser keeps.

A session knows the digest of its token, and not the token. Whose it is is looked up in the ledger at each request, so a
token that is revoked or has expired ends its sessions at once. Of who signed in at a provider it knows who that is, and
until when. Sessions are held by the process that began them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from discreet.entropy import fresh_bytes
from discreet.errors import Unauthenticated
from discreet.service.tokens import Caller, digest_of, recognise, recognise_digest

if TYPE_CHECKING:
    from discreet.ledger import Tokens


_SESSION_SECONDS = 8 * 3600.0
"""How long a session lasts."""

_MOST = 16
"""How many sessions one token may have at once; one more ends the oldest."""


def fresh_name() -> str:
    """A name that nobody guesses: 256 random bits, in hexadecimal."""
    return fresh_bytes(32).hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A caller who signed in.

    Args:
        token: the SHA-256 of the token that was shown; of who signed in at a provider, of their name.
        form: what each form of this session brings along, so that no other site sends one in its name.
        ends: by `time.monotonic`, which nobody sets back.
        caller: who signed in at a provider; None for who has a token of the ledger.
    """

    token: str
    form: str
    ends: float
    caller: Caller | None = None


class Sessions:
    """The sessions of one server process.

    Guarantee: a session's name is 256 random bits and is kept by its digest alone, as tokens are.

    Args:
        tokens: of the account.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._open: dict[str, Session] = {}
        self._lock = Lock()

    def begin(self, token: str) -> str:
        """Sign in; the name of the new session.

        Raises:
            Unauthenticated: this is no token, or it holds no more.
        """
        recognise(self._tokens, token)
        return self._begun(Session(token=digest_of(token), form=fresh_name(), ends=monotonic() + _SESSION_SECONDS))

    def begin_of(self, caller: Caller) -> str:
        """Sign in who a provider vouches for, until it does no more; the name of the new session."""
        left = min(_SESSION_SECONDS, (caller.expires - datetime.now(UTC)).total_seconds())
        whose = digest_of(f"openid {caller.subject}")
        return self._begun(Session(token=whose, form=fresh_name(), ends=monotonic() + left, caller=caller))

    def _begun(self, session: Session) -> str:
        """Keep a session, and end the oldest of the same token if there are too many."""
        name = fresh_name()
        with self._lock:
            self._open = {key: each for key, each in self._open.items() if each.ends > monotonic()}
            own = [key for key, each in self._open.items() if each.token == session.token]
            for key in own[: max(0, len(own) - _MOST + 1)]:
                del self._open[key]
            self._open[digest_of(name)] = session
        return name

    def resume(self, name: str) -> tuple[Session, Caller]:
        """A session, and whose it is.

        Raises:
            Unauthenticated: there is no such session, it has ended, or its token holds no more.
        """
        session = self._open.get(digest_of(name))
        if session is None or session.ends <= monotonic():
            raise Unauthenticated
        if session.caller is None:
            return session, recognise_digest(self._tokens, session.token)
        if session.caller.expires <= datetime.now(UTC):
            raise Unauthenticated
        return session, session.caller

    def whose(self, name: str) -> str | None:
        """The digest of the token that a session is of, whether or not it holds; None if there is no such session."""
        session = self._open.get(digest_of(name))
        return None if session is None else session.token

    def end(self, name: str) -> None:
        """Sign out; nothing happens where there is no such session."""
        with self._lock:
            self._open.pop(digest_of(name), None)
