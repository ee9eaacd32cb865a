"""Sign-in for people in browsers, by a redirect to a provider of identities.

It is the authorization code flow of OpenID Connect, with PKCE:

    here ──▶ provider: who is it?  (state, nonce, challenge)      the browser goes there, and signs in
    here ◀── provider: a code      (state, iss)                   the browser comes back
    here ──▶ provider: the code    (verifier)                     the server itself asks, and gets an ID token

A code that was stolen, or put into someone else's browser, is of no use: it belongs to the verifier and the nonce of
one attempt, which stay here, and an attempt belongs to the cookie of one browser, and is good once. What the provider
says elsewhere than in the signed ID token isn't believed.

Anybody may begin as many attempts as they like, so none is remembered, and few codes are exchanged at a time. State,
nonce and verifier are HMACs of what the cookie says, under a key that this process alone has. Attempts that came back
are kept, until they would have ended.

Source: OpenID Connect Core 1.0; RFC 7636 (PKCE); RFC 9207 (`iss`); RFC 9700 (what goes wrong without them).
"""

from __future__ import annotations

import hmac
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from hmac import compare_digest
from math import ceil
from pathlib import Path
from threading import Lock, Semaphore
from time import monotonic
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote_plus, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from discreet.entropy import fresh_bytes
from discreet.errors import InvalidArgument, ProviderBusy, Unauthenticated
from discreet.loopback import is_loopback
from discreet.private_files import CLOSE, IS_OPEN, is_open
from discreet.service.sessions import fresh_name
from discreet.strict_json import strict_json

RETURN = "/sign-in/openid/return"
"""The path, on the server's own address, to which the provider sends people back."""

_SECONDS = 600.0
"""How many seconds signing in at the provider may take."""

_MOST_USED = 200_000
"""How many finished attempts are remembered, each until it would have expired; beyond that, none is accepted."""

MOST_ASKING = 8
"""How many calls may wait for the provider at once. Anyone may begin to sign in, and a waiting call holds a thread that
others need.
"""

_MOST_BYTES = 65_536
_TIMEOUT = 5.0
_MOST_HOURS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Sends people to the provider, and signs in those who come back.

    Guarantee: `finish` exchanges a code once, for the browser that was sent, with the verifier of that attempt. That
    the ID token is signed, for this client, of this attempt and not yet expired, `OpenID.signed_in` looks at.

    Args:
        client_id: what the provider calls this server.
        authorize: where browsers go.
        token: where codes are exchanged.
        address: of this server, as browsers have it; what a request says of it isn't believed.
        name: what the way in is called.
        hours: for how long who signed in stays so: the provider can't end it here.
        scope: what is asked for.
        secret: what this server shows the provider; empty if that takes none.
    """

    client_id: str
    authorize: str
    token: str
    address: str
    name: str
    hours: int = 1
    scope: str = "openid"
    secret: str = field(default="", repr=False)
    _key: bytes = field(default_factory=partial(fresh_bytes, 32), repr=False)
    _used: dict[bytes, float] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _asking: Semaphore = field(default_factory=partial(Semaphore, MOST_ASKING), repr=False)

    @classmethod
    def read(cls, said: dict[str, Any], folder: Path) -> SignIn:
        """Read what the configuration says under `[sign_in]`.

        Args:
            said: all of it.
            folder: where the path of the secret's file starts.

        Raises:
            InvalidArgument: an address isn't encrypted, the secret can be read by others, or hours are out of range.
        """
        secret, hours = said.pop("client_secret", None), said.pop("hours", 1)
        if isinstance(hours, bool) or not isinstance(hours, int) or not 1 <= hours <= _MOST_HOURS:
            raise InvalidArgument(f"a sign-in must last for 1 to {_MOST_HOURS} hours")
        places = ("authorize", "token", "address")
        authorize, token, address = (checked_address(_text(said.pop(name))) for name in places)
        return cls(
            client_id=_text(said.pop("client_id")),
            authorize=authorize,
            token=token,
            address=address.rstrip("/"),
            name=_text(said.pop("name", str(urlsplit(authorize).hostname))),
            hours=hours,
            scope=_text(said.pop("scope", "openid")),
            secret="" if secret is None else _secret_in(folder / _text(secret)),
            **said,  # nothing, unless a key is unknown
        )

    def begin(self) -> tuple[str, str]:
        """Begin an attempt: what its browser is given to keep, and where it is to go."""
        name = f"{fresh_name()}.{ceil(monotonic() + _SECONDS)}"
        state, nonce, verifier = (self._of(name, what) for what in ("state", "nonce", "verifier"))
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.address + RETURN,
            "scope": self.scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return name, f"{self.authorize}{'&' if '?' in self.authorize else '?'}{urlencode(asked)}"

    def finish(self, issuer: str, name: str, said: Mapping[str, str]) -> tuple[str, str]:
        """Exchange the code with which a browser comes back: the ID token, and the nonce that it must have.

        Args:
            issuer: who must have sent it back, if that is said.
            name: what the browser was given to keep.
            said: what the address says, to which the provider sent it.

        Raises:
            Unauthenticated: it wasn't sent there, has come back before, or has no good code. It isn't said which.
            ProviderBusy: too many codes are being exchanged; this one isn't used up.
        """
        if not compare_digest(said.get("state", "").encode(), self._of(name, "state").encode()):
            raise Unauthenticated  # and who was sent there can still come back: any site may lead a browser here
        with one_of(self._asking):
            self._use(name)  # good once, whatever comes of it
            if said.get("iss", issuer) != issuer or "error" in said or not said.get("code"):
                raise Unauthenticated
            return self._exchanged(said["code"], self._of(name, "verifier")), self._of(name, "nonce")

    def _of(self, name: str, what: str) -> str:
        """The secret of an attempt: nobody else can know it, or make an attempt that it fits."""
        return hmac.digest(self._key, f"{what} {name}".encode("utf-8", "surrogatepass"), "sha256").hex()

    def _use(self, name: str) -> None:
        """Note that an attempt, which is one of ours, came back.

        Raises:
            Unauthenticated: it did before, or it has ended.
        """
        used, now = sha256(name.encode()).digest(), monotonic()
        ends = float(name.partition(".")[2])
        with self._lock:
            while self._used and now >= next(iter(self._used.values())):
                self._used.pop(next(iter(self._used)))
            if ends <= now or used in self._used or len(self._used) >= _MOST_USED:
                raise Unauthenticated
            self._used[used] = now + _SECONDS  # no sooner than it ends, and in the order in which they come

    def _exchanged(self, code: str, verifier: str) -> str:
        """The ID token that the provider gives for a code.

        Raises:
            Unauthenticated: it gives none, or can't be asked.
        """
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.address + RETURN,
            "client_id": self.client_id,
            "code_verifier": verifier,
        }
        headers = {"Accept": "application/json"}
        if self.secret:
            shown = f"{quote_plus(self.client_id)}:{quote_plus(self.secret)}"
            headers["Authorization"] = f"Basic {b64encode(shown.encode()).decode()}"
        request = Request(self.token, urlencode(sent).encode(), headers, method="POST")  # noqa: S310 — as declared
        try:
            with build_opener(NoRedirects).open(request, timeout=_TIMEOUT) as reply:
                content = reply.read(_MOST_BYTES + 1)
            found = strict_json(content) if len(content) <= _MOST_BYTES else {}
            return _text(found["id_token"])
        except HTTPError as error:
            error.close()
        except (LookupError, OSError, RecursionError, TypeError, ValueError):
            pass
        raise Unauthenticated


@contextmanager
def one_of(few: Semaphore) -> Iterator[None]:
    """Be one of the few that may wait for the provider.

    Raises:
        ProviderBusy: as many do; nobody waits to wait.
    """
    if not few.acquire(blocking=False):
        raise ProviderBusy
    try:
        yield
    finally:
        few.release()


class NoRedirects(HTTPRedirectHandler):
    """Follows nothing: the address that was declared is the one that is believed."""

    def redirect_request(self, *_: object) -> None:
        """No other request."""


def checked_address(text: str) -> str:
    """An address that is encrypted, or of this machine.

    Raises:
        InvalidArgument: it is neither.

    Examples:
        >>> checked_address("https://login.example.org/token")
        'https://login.example.org/token'
    """
    found = urlsplit(text)
    if found.hostname and (found.scheme == "https" or (found.scheme == "http" and is_loopback(found.hostname))):
        return text
    raise InvalidArgument(f"what comes from {text[:70]} could be anyone's", hint="an address with https://")


def _secret_in(path: Path) -> str:
    """The secret in a file that its owner alone can read.

    Raises:
        InvalidArgument: others can.
    """
    with path.open("r", encoding="utf-8") as file:
        if is_open(file.fileno()):
            raise InvalidArgument(f"{path.name} {IS_OPEN}", hint=CLOSE)
        return file.read(_MOST_BYTES).strip()


def _text(said: object) -> str:
    """A text that isn't anything else, nor empty."""
    if not isinstance(said, str) or not said:
        raise TypeError("a string was expected")
    return said
