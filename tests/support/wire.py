"""PostgreSQL's protocol from the client's side: messages as bytes, replies read, and a stream without a socket."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from discreet.errors import Unauthenticated
from discreet.interfaces.wire.catalogue import Asked, Found
from discreet.interfaces.wire.catalogue_process import Catalogue
from discreet.interfaces.wire.connection import Connection
from discreet.interfaces.wire.held_rows import HeldRows
from discreet.interfaces.wire.stream import Gone
from discreet.interfaces.wire.unanswered_probes import UnansweredProbes
from discreet.results import Cost, Explanation
from discreet.service import (
    Ask,
    Caller,
    EncodedAnswer,
    Event,
    EventLog,
    Metrics,
    Planned,
    PlannedColumn,
    Reply,
    Role,
    Service,
    Ticket,
)
from support.served import PLANNED, ticket_of

TOKEN = "dsc_" + "t" * 43
"""The token that the service without tables knows."""

SCHEMA: dict[str, Any] = {
    "name": "people",
    "adjacency": "add_remove",
    "tables": [
        {
            "name": "people", "public": False, "unit": "id", "limits": "1 rows", "links": [],
            "columns": [
                {"name": "id", "kind": "integer", "nullable": True, "bounds": None, "keys": None},
                {"name": "k", "kind": "text", "nullable": True, "bounds": None, "keys": ["a", "b"]},
            ],
        }
    ],
}  # fmt: skip
"""The public schema of `support.served`."""


def text(said: str) -> bytes:
    """A text with its end."""
    return said.encode() + b"\0"


def message(kind: bytes, body: bytes = b"") -> bytes:
    """A message of a client."""
    return kind + struct.pack("!I", len(body) + 4) + body


def startup(version: int = 196608, **said: str) -> bytes:
    """The first message."""
    parts = b"".join(text(name) + text(value) for name, value in said.items())
    body = struct.pack("!I", version) + parts + b"\0"
    return struct.pack("!I", len(body) + 4) + body


def query(said: str) -> bytes:
    """A simple query."""
    return message(b"Q", text(said))


def parse(said: str, name: str = "", types: Sequence[int] = ()) -> bytes:
    """Prepare a statement."""
    return message(b"P", text(name) + text(said) + struct.pack(f"!H{len(types)}I", len(types), *types))


def bind(
    values: Sequence[bytes | None] = (), *, portal: str = "", name: str = "", binary: bool = False, results: int = 0
) -> bytes:
    """Put values into a statement."""
    parts = b"".join(b"\xff\xff\xff\xff" if each is None else struct.pack("!I", len(each)) + each for each in values)
    formats = struct.pack("!HH", 1, int(binary))
    body = formats + struct.pack("!H", len(values)) + parts + struct.pack("!HH", 1, results)
    return message(b"B", text(portal) + text(name) + body)


def describe(which: bytes = b"P", name: str = "") -> bytes:
    """Ask what a portal or a statement gives."""
    return message(b"D", which + text(name))


def execute(most: int = 0, portal: str = "") -> bytes:
    """Carry out a portal."""
    return message(b"E", text(portal) + struct.pack("!i", most))


SYNC, FLUSH, LEAVE = message(b"S"), message(b"H"), message(b"X")


def replies(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The messages of a server, by their types."""
    at = 0
    while at < len(data):
        (size,) = struct.unpack("!I", data[at + 1 : at + 5])
        assert at + 1 + size <= len(data)
        yield chr(data[at]), data[at + 5 : at + 1 + size]
        at += 1 + size


def parts(body: bytes) -> dict[str, str]:
    """The parts of an error or a notice."""
    return {each[:1].decode(): each[1:].decode() for each in body.split(b"\0") if each}


def cells(body: bytes) -> list[bytes | None]:
    """The values of a row."""
    found: list[bytes | None] = []
    (count,), at = struct.unpack("!H", body[:2]), 2
    for _ in range(count):
        (size,) = struct.unpack("!i", body[at : at + 4])
        at += 4
        found.append(None if size < 0 else body[at : at + size])
        at += max(size, 0)
    return found


@dataclass
class Bytes:
    """A stream without a socket: what a client sends, and what it is sent."""

    data: bytes
    at: int = 0
    out: bytearray = field(default_factory=bytearray)

    def read(self, size: int, seconds: float) -> bytes:
        """The next bytes; after the last, the client is gone."""
        assert seconds > 0
        if self.at + size > len(self.data):
            raise Gone
        self.at += size
        return self.data[self.at - size : self.at]

    def write(self, data: bytes) -> None:
        """Keep what is sent."""
        self.out += data

    def start_tls(self, seconds: float) -> None:
        """There is none here."""
        raise Gone(seconds)


class Flawless(EventLog):
    """A log that takes no defect."""

    def write(self, event: Event, **_: Any) -> None:  # type: ignore[override]  # whatever else a line says
        """Fail where something of ours failed."""
        assert event is not Event.DEFECT


@dataclass
class NoTables:
    """What stands in for a service: it answers every question with a text, and counts what was asked."""

    asked: list[Ask] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)
    log: EventLog = field(default_factory=Flawless)
    is_stopping: bool = False

    def caller(self, token: str) -> Caller:
        """Who shows a token."""
        if token != TOKEN:
            raise Unauthenticated
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        return Caller(token="1", subject="me", role=Role.ANALYST, most_epsilon=None, expires=tomorrow)  # noqa: S106 — its id

    def dataset(self, _: Caller) -> Any:
        """What is public."""
        return SCHEMA

    def plan(self, _: Caller, question: str, terms: Any) -> Planned:
        """A plan, of whatever it is."""
        assert isinstance(question, str)
        assert terms
        return replace(PLANNED, expected=[[]], columns=[[PlannedColumn("plan", "text")]])

    def left(self, _: Caller) -> str:
        """Nobody knows."""
        return ""

    def ask(self, caller: Caller, asked: Ask) -> Ticket:
        """An answer, at once."""
        self.asked.append(asked)
        ticket = ticket_of(str(asked.question), step=1.0)
        ticket.plan = self.plan(caller, str(asked.question), asked.terms)
        ticket.finish(Reply(answer=EncodedAnswer.of(Explanation.of("one\ntwo\nthree", Cost()))))
        return ticket


class NoCatalogue:
    """What stands in for the catalogue's process: it knows nothing."""

    def ask(self, asked: Asked, subject: str) -> Found:
        """One row, whatever is asked."""
        assert subject
        return Found([("user", "VARCHAR")], [(asked.user,)])


def spoken(
    data: bytes,
    service: NoTables | None = None,
    greet: Callable[[], bytes] | None = None,
    held: HeldRows | None = None,
) -> bytes:
    """What a client is sent for what it sends; after the greeting, unless it brings its own."""
    greeting = startup(user="me") + message(b"p", text(TOKEN)) if greet is None else greet()
    stream, service = Bytes(greeting + data), service or NoTables()
    connection = Connection(
        cast("Service", service),
        stream,
        catalogue=lambda _: cast("Catalogue", NoCatalogue()),
        offers_tls=False,
        needs_tls=False,
        probes=UnansweredProbes(service.metrics, service.log),
        held=held or HeldRows(),
    )
    with suppress(Gone):
        connection.serve()
    return bytes(stream.out)
