"""A server that misbehaves as it is told: what it says to each request is written down before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.results import Answer, AnswerColumn, Cost, PublicKey, certificate, signature_of
from support.http_server import listening

COUNT = "SELECT COUNT(*) AS n FROM people"
TOKEN = "dsc_" + "S" * 43

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
KEY = PublicKey(PRIVATE.public_key().public_bytes_raw())
"""By which the account signs."""


@dataclass(frozen=True)
class Said:
    """A reply.

    Args:
        status: of HTTP.
        body: bytes as they are, or data that is written as JSON.
        headers: beside those that it has anyway; None leaves one out.
        cut: after how many bytes of the body the connection is cut; None to send all of it.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    cut: int | None = None


class Hangup(Exception):
    """Cut the connection without a word."""


@dataclass
class Heard:
    """A request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Behaviour: TypeAlias = Callable[[Heard], Said]


@dataclass
class Broken:
    """A server that misbehaves.

    Args:
        address: of it.
        behave: what it says to a request; to be set by a test.
        key: what it says its public key is, whatever else it says; not written down.
        heard: what was sent to it.
    """

    address: str = ""
    key: Any = None
    behave: Behaviour = field(default=lambda _: Said(500))
    heard: list[Heard] = field(default_factory=list)

    def says(self, *replies: Said | type[Hangup]) -> None:
        """Reply with these, one after the other; the last of them for ever."""
        left = list(replies)

        def next_of(_: Heard) -> Said:
            one = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(one, Said):
                return one
            raise one

        self.behave, self.heard = next_of, []


def _heard_by(broken: Broken) -> type[BaseHTTPRequestHandler]:
    """What hands requests on to it, and writes what it says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            heard = Heard(self.command, self.path, dict(self.headers), json.loads(content) if content else None)
            if heard.path == "/v1/key":
                self.say(Said(200, broken.key))
                return
            if heard.path == "/v1/budget":  # asked once an answer is there, which isn't lost for want of it
                self.say(Said(200, {}))
                return
            broken.heard.append(heard)
            try:
                self.say(broken.behave(heard))
            except Hangup:
                self.close_connection = True

        do_POST = do_CONNECT = do_GET  # noqa: N815 — the standard library's names

        def say(self, said: Said) -> None:
            body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **said.headers}
            for name, value in headers.items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # a client that has had enough
                self.wfile.write(body[: said.cut])
            self.close_connection = self.close_connection or said.cut is not None

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def broken_server(certificate: Path | None = None) -> Iterator[Broken]:
    """It listens on a free port of this machine; with TLS, if there is a file with a certificate and its key."""
    broken = Broken()
    with listening(_heard_by(broken), certificate) as port:
        broken.address = f"{'http' if certificate is None else 'https'}://127.0.0.1:{port}"
        yield broken


def signed(content: dict[str, Any]) -> dict[str, Any]:
    """The same with the account's signature."""
    said = {"ledger": "l", "account": "people", "question": COUNT, "at": "2026-01-01T00:00:00"}
    return {**content, "signature": signature_of("answer", content, said, key=KEY, sign=PRIVATE.sign)}


def answer(**change: Any) -> dict[str, Any]:
    """An answer as a server writes it, signed as it was made, and changed afterwards."""
    cost = Cost(epsilon=Fraction(1))
    made = Answer(
        columns=(AnswerColumn("n", "integer", (1000,)),),
        intervals=lambda _name, _confidence: [(997, 1003)],
        confidence=Fraction(19, 20),
        cost=cost,
        certificate=certificate(
            text=COUNT, analyst="ann", version=1, entry=1, questions=[COUNT], plans=[], cost=cost.to_json()
        ),
        entry=1,
        reused=False,
    )
    return {"id": "a1", "state": "done", **signed(made.to_json()), **change}


def problem(code: str, status: int, title: str = "no", **more: Any) -> Said:
    """An error as a server writes it."""
    return Said(status, {"code": code, "title": title, "hint": "", "place": None, **more})
