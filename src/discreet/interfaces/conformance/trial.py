"""Trials: what a family of attacks sends over the wire, what it found, and what of the budget it may have cost."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import Hint, InvalidArgument, NotTried
from discreet.exact import Rationalizable, positive

# ── The wire ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_VOLATILE = {"date", "server", "connection", "content-length", "request-id"}
_MOST_BYTES = 1 << 24
_RECEIVED = 1 << 16

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply.

    Args:
        status: of HTTP; 0 where the connection ended without a reply.
        headers: names in small letters, and values.
        body: its bytes.
        seconds: from the request's last byte to the reply's last.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    seconds: float = 0.0

    def header(self, name: str) -> str:
        """A header; empty if there is none."""
        return ", ".join(value for each, value in self.headers if each == name)

    @property
    def data(self) -> Any:  # noqa: ANN401 — JSON
        """What its body says as JSON; None if it isn't that."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.body)
        return None

    @property
    def code(self) -> str:
        """What a problem is called; empty if it is none."""
        return str(self.data.get("code", "")) if isinstance(self.data, dict) else ""

    @property
    def said(self) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """All that it says, but for the time of day."""
        kept = sorted((name, value) for name, value in self.headers if name not in _VOLATILE)
        return self.status, tuple(kept), self.body


@dataclass(frozen=True, slots=True)
class Stream:
    """What came back for raw bytes.

    Args:
        raw: all of it.
        seconds: until it ended.
    """

    raw: bytes
    seconds: float

    @property
    def statuses(self) -> list[int]:
        """Of each reply in it."""
        return [int(found) for found in _STATUS.findall(self.raw)]


class Wire:
    """Connections to one server, a new one for each request.

    Args:
        url: `http://host:port` or `https://host:port`.
        patience: how many seconds to wait for a reply.

    Raises:
        InvalidArgument: the address isn't one.
    """

    def __init__(self, url: str, patience: float) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or parts.path.strip("/"):
            raise InvalidArgument("a server's address is like https://host:8443")
        self.url, self._patience = url.rstrip("/"), patience
        self.host, self.is_tls = parts.hostname, parts.scheme == "https"
        self.port = port or (443 if self.is_tls else 80)
        self._context = ssl.create_default_context() if self.is_tls else None

    def send(self, method: str, path: str, headers: Headers = (), body: bytes | None = None) -> Reply:
        """Send a request, and read its reply; one without a status where there is none."""
        connection = (
            HTTPConnection(self.host, self.port, timeout=self._patience)
            if self._context is None
            else HTTPSConnection(self.host, self.port, timeout=self._patience, context=self._context)
        )
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            begun = monotonic()
            response = connection.getresponse()
            content = response.read(_MOST_BYTES)
            kept = tuple((name.lower(), value) for name, value in response.getheaders())
            return Reply(response.status, kept, content, monotonic() - begun)
        except (OSError, HTTPException):
            return Reply(0)
        finally:
            connection.close()

    def open(self) -> socket.socket:
        """A connection for raw bytes.

        Raises:
            OSError: there is none.
        """
        plain = socket.create_connection((self.host, self.port), timeout=self._patience)
        return plain if self._context is None else self._context.wrap_socket(plain, server_hostname=self.host)

    def raw(self, content: bytes, seconds: float = 1.0) -> Stream:
        """Send raw bytes, and read what comes within so many seconds, or until the server closes."""
        begun, found = monotonic(), b""
        try:
            with self.open() as connection:
                connection.settimeout(seconds)
                with suppress(OSError):
                    connection.sendall(content)
                while monotonic() - begun < seconds and len(found) < _MOST_BYTES:
                    received = connection.recv(_RECEIVED)
                    if not received:
                        break
                    found += received
        except OSError:
            pass  # closed without a word, or silent for as long as we wait
        return Stream(found, monotonic() - begun)


# ── What was tried, and found ─────────────────────────────────────────────────────────────────────────────────────────

_MOST_EVIDENCE = 5
_SHARES = 500
_LEAST_CERTAIN = Fraction(1, 1000)


class Verdict(StrEnum):
    """What became of a family."""

    HELD = "held"
    """Nothing that was tried worked."""

    BROKEN = "broken"
    """Something did; the evidence says what."""

    NOT_TRIED = "not tried"
    """What it takes wasn't given, or isn't there. It is never counted as held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A line of the table.

    Args:
        family: its name.
        tried: what was tried, in words.
        tries: how many times.
        verdict: what became of it.
        evidence: what broke, or why it wasn't tried; public words alone.
        offered: the most ε that it can have cost.
    """

    family: str
    tried: str
    tries: int
    verdict: Verdict
    evidence: tuple[str, ...]
    offered: Fraction

    def to_dict(self) -> dict[str, object]:
        """The same as JSON-ready data."""
        return {
            "family": self.family,
            "tried": self.tried,
            "tries": self.tries,
            "verdict": str(self.verdict),
            "evidence": list(self.evidence),
            "offered": str(self.offered),
        }


@dataclass(slots=True)
class Trial:
    """What a family notes while it tries. A family that checked nothing wasn't tried."""

    tries: int = 0
    evidence: list[str] = field(default_factory=list)

    def check(self, holds: bool, otherwise: str) -> None:
        """Count a try; note what it shows if something doesn't hold.

        Args:
            holds: whether the server did what it must.
            otherwise: what it did instead, in public words.
        """
        self.tries += 1
        if not holds and otherwise not in self.evidence and len(self.evidence) < _MOST_EVIDENCE:
            self.evidence.append(otherwise)

    def verdict(self) -> Verdict:
        """What is to be said of it."""
        if self.evidence:
            return Verdict.BROKEN
        return Verdict.HELD if self.tries else Verdict.NOT_TRIED


class Purse:
    """The ε that may be spent. Each offer is counted in full before it is made, and never given back.

    So even a server that charges what it should answer for nothing takes no more than was allowed.

    Args:
        limit: the most that may be offered, in ε.

    Raises:
        InvalidArgument: it isn't above 0.

    Examples:
        >>> purse = Purse("0.5")
        >>> purse.offer, purse.left
        (Fraction(1, 1000), Fraction(1, 2))
    """

    def __init__(self, limit: Rationalizable) -> None:
        self.left = positive(limit, "spend")
        self.offer = min(self.left / _SHARES, _LEAST_CERTAIN)
        self._lock = Lock()

    def take(self, amount: Fraction) -> str:
        """Set aside what a question is offered; how it is written.

        Raises:
            NotTried: there isn't as much left.
        """
        with self._lock:
            if amount > self.left:
                raise NotTried("what may be spent doesn't suffice", hint=Hint.of("{spend}", spend=None))
            self.left -= amount
        return str(amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What all families found.

    Args:
        url: of the server.
        findings: a line for each family.
        spent: what the server says that the analysts' accounts were charged, in its own words.
    """

    url: str
    findings: Sequence[Finding]
    spent: str

    @property
    def is_broken(self) -> bool:
        """Whether something broke."""
        return any(each.verdict is Verdict.BROKEN for each in self.findings)

    def to_dict(self) -> dict[str, object]:
        """The same as JSON-ready data."""
        return {
            "url": self.url,
            "families": [each.to_dict() for each in self.findings],
            "offered": str(sum((each.offered for each in self.findings), Fraction())),
            "spent": self.spent,
            "broken": self.is_broken,
        }
