"""The wire: what is sent to a server, as bytes or as requests, and what comes back."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import InvalidArgument

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
        """Its body as JSON; None if it isn't JSON."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.body)
        return None

    @property
    def code(self) -> str:
        """The code of a problem; empty if it is none."""
        return str(self.data.get("code", "")) if isinstance(self.data, dict) else ""

    @property
    def said(self) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """All that it says, but for the time of day."""
        kept = sorted((name, value) for name, value in self.headers if name not in _VOLATILE)
        return self.status, tuple(kept), self.body


@dataclass(frozen=True, slots=True)
class Stream:
    """Everything that came back for raw bytes.

    Args:
        raw: all of it.
        seconds: until it ended.
    """

    raw: bytes
    seconds: float

    @property
    def statuses(self) -> list[int]:
        """The status of each reply in it."""
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
            raise InvalidArgument("a server's address looks like https://host:8443")
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
        """Send raw bytes, and read what comes within some seconds, or until the server closes."""
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
