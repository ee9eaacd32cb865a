"""Servers to be attacked: a real one on a socket, and broken twins of it, each with one thing wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any, TextIO

import pytest
import uvicorn

from discreet.errors import NotTried
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.http.request_heads import PromptHeads, StrictHeads
from discreet.service import EventLog, PlanningLimits, ReleaseTimes, Role, Service, Settings
from discreet.service.tokens import digest_of, issue
from support.accounts import declared, founded, of_each_role
from support.served import in_threads

STEP = 0.5
"""How many seconds a question has."""

SETTINGS = Settings(
    times=ReleaseTimes(base=STEP / 2, scan=STEP / 2),
    planning=PlanningLimits(per_minute=3600, waiting=80),
    waiting=80,
)
"""How they are run: all that race at once get in."""

QUICK = replace(SETTINGS, times=ReleaseTimes(base=0.04, scan=0.04))
"""The same in less time, in which a question is still pending when it is asked again at once."""

FEW_DRAWS = 20
"""How many answers are enough to find noise that is a hundredth of what is stated: it is missed with probability below
1e-17.
"""

LATE = "dsc_" + "L" * 43
"""A token that has expired."""

CANARY = "Zebediah-0f3a"
"""A value of the table that no reply may have."""

SHARE = "1/50"
"""The share of the analyst second."""

SHARES = f"""
[analysts.analyst]
epsilon = 8

[analysts.second]
epsilon = "{SHARE}"
"""

COLUMNS = """
id = { kind = "integer" }
k = { kind = "text", keys = ["a", "b"] }
name = { kind = "text" }
"""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@contextmanager
def attacked(
    folder: Path, people: int = 1000, log: TextIO | None = None, settings: Settings = SETTINGS
) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service, and the tokens of one of each role, of the analyst second, and of one that has expired."""
    texts = prepared(folder, people)
    with in_threads(), closing(Service(folder / "discreet.toml", settings, EventLog(log))) as service:
        yield service, texts


def prepared(folder: Path, people: int = 1000) -> dict[str, str]:
    """The files of such a service, and the tokens."""
    names = [f"{CANARY}-{n}" for n in range(people)]
    table = {"id": range(people), "k": ["a", "b"] * (people // 2) + ["a"] * (people % 2), "name": names}
    with founded(folder, declared("people", COLUMNS, more=SHARES), table) as tables:
        texts = of_each_role(tables)
        texts["second"] = issue(tables.tokens, "second", Role.ANALYST, days=1).text
        tables.tokens.grant(digest_of(LATE), "late", {"role": "analyst", "expires": "2020-01-01T00:00:00+00:00"})
        texts["late"] = LATE
    return texts


class Hasty(StrictHeads):
    """As the real server reads requests, with little patience."""

    most_seconds = 2.0


class Lenient(PromptHeads):
    """As h11 reads requests, whose heads nobody looks at before."""

    most_seconds = 2.0


@contextmanager
def listening(app: App, read_by: type[PromptHeads] = Hasty) -> Iterator[str]:
    """The address at which an app listens, on a port of its own."""
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off", http=read_by, ws="none")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.01)
        assert thread.is_alive()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()


@contextmanager
def until_found(*words: str) -> Iterator[None]:
    """Families end meanwhile when they have found all of this, whatever else they would try."""
    check = Trial.check

    def checked(trial: Trial, holds: bool, otherwise: str) -> None:
        check(trial, holds, otherwise)
        if all(any(said in each for each in trial.evidence) for said in words):
            raise NotTried("it is found")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trial, "check", checked)
        yield


@dataclass
class Exchange:
    """A request, which may be changed before it is answered; and its reply, which may be changed before it leaves.

    Args:
        scope: of the request.
        body: of it.
        status: of the reply; if it is set before, the server isn't asked.
        headers: of the reply.
        reply: its body.
    """

    scope: Scope
    body: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    reply: bytes = b""

    @property
    def call(self) -> str:
        """Method and path."""
        return f"{self.scope['method']} {self.scope['path']}"

    @property
    def asked(self) -> Any:
        """What the request says in JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return {}

    @property
    def said(self) -> Any:
        """What the reply says in JSON."""
        try:
            return json.loads(self.reply)
        except (ValueError, RecursionError):
            return {}

    def header(self, name: str) -> str:
        """A header of the request."""
        found = {key.decode().lower(): value.decode("latin-1") for key, value in self.scope["headers"]}
        return found.get(name.lower(), "")

    def become(self, token: str) -> None:
        """Come in with another token."""
        kept = [(name, value) for name, value in self.scope["headers"] if name.lower() != b"authorization"]
        self.scope["headers"] = [*kept, (b"authorization", f"Bearer {token}".encode())]

    def answer(self, status: int, data: object, **headers: str) -> None:
        """Say something else."""
        kind = "application/problem+json" if status >= 400 else "application/json"
        told = {"Content-Type": kind, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **headers}
        self.status, self.reply = status, json.dumps(data).encode()
        self.headers = [(name.lower().encode(), value.encode()) for name, value in told.items()]


Change = Callable[[Exchange], None]


@dataclass
class Edited:
    """A server whose requests and replies are changed on their way: what a defect would look like from outside.

    Args:
        app: the sound one.
        before: changes a request, or answers it.
        after: changes a reply.
    """

    app: App
    before: Change = lambda _: None
    after: Change = lambda _: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, change, hand on, change, send."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message.get("body", b""), message.get("more_body", False)
        exchange = Exchange(scope, body)
        self.before(exchange)
        if not exchange.status:
            await self._ask(exchange, receive)
        self.after(exchange)
        kept = [(name, value) for name, value in exchange.headers if name.lower() != b"content-length"]
        size = [] if exchange.status == 204 else [(b"content-length", str(len(exchange.reply)).encode())]
        await send({"type": "http.response.start", "status": exchange.status, "headers": [*kept, *size]})
        await send({"type": "http.response.body", "body": exchange.reply})

    async def _ask(self, exchange: Exchange, receive: Receive) -> None:
        """Hand the request on, and keep the reply."""
        handed = False

        async def whole() -> MutableMapping[str, Any]:
            nonlocal handed
            if handed:
                return await receive()
            handed = True
            return {"type": "http.request", "body": exchange.body, "more_body": False}

        async def kept(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                exchange.status, exchange.headers = message["status"], list(message.get("headers", []))
            else:
                exchange.reply += message.get("body", b"")

        await self.app(exchange.scope, whole, kept)


def with_rows(exchange: Exchange, value: int) -> None:
    """Give another number, where one is given."""
    if exchange.call == "POST /v1/answers" and exchange.status == 200:
        said = exchange.said
        exchange.reply = json.dumps({**said, "rows": [dict.fromkeys(row, value) for row in said["rows"]]}).encode()


class Keyed:
    """Idempotency keys and digests kept in memory in front of a server; sound unless told otherwise.

    Args:
        by_key_alone: whose key it is isn't looked at.
        any_plan: neither the question nor the digest is compared.
    """

    def __init__(self, app: App, *, by_key_alone: bool = False, any_plan: bool = False) -> None:
        self._by_key_alone, self._any_plan = by_key_alone, any_plan
        self._digests: dict[str, str] = {}
        self._kept: dict[tuple[str, str], tuple[Mapping[str, Any], Any]] = {}
        self.app = Edited(app, self._before, self._after)

    def _name(self, exchange: Exchange) -> tuple[str, str]:
        """What a key is kept under."""
        return "" if self._by_key_alone else exchange.header("authorization"), exchange.header("idempotency-key")

    def _before(self, exchange: Exchange) -> None:
        """Answer what was asked under a key, refuse what isn't the plan that was named."""
        if exchange.call != "POST /v1/answers" or not isinstance(exchange.asked, dict):
            return
        asked = exchange.asked
        digest = asked.pop("digest", None)
        if digest is not None and digest != self._digests.get(json.dumps(asked)) and not self._any_plan:
            exchange.answer(409, {"code": "plan_changed"})
            return
        exchange.body = json.dumps(asked).encode()
        before = self._kept.get(self._name(exchange)) if exchange.header("idempotency-key") else None
        if before is not None and before[0] != asked and not self._any_plan:
            exchange.answer(409, {"code": "key_reused"})
        elif before is not None:
            exchange.answer(200, before[1])

    def _after(self, exchange: Exchange) -> None:
        """Keep what was planned and answered, and describe what is taken."""
        if exchange.call == "POST /v1/plans" and exchange.status == 200:
            self._digests[json.dumps(exchange.asked)] = exchange.said["digest"]
        elif exchange.call == "POST /v1/answers" and exchange.status == 200 and exchange.header("idempotency-key"):
            self._kept.setdefault(self._name(exchange), (exchange.asked, exchange.said))
        elif exchange.call == "GET /v1/openapi.json":
            said = exchange.said
            parameters = said["paths"]["/v1/answers"]["post"].setdefault("parameters", [])
            parameters.append({"name": "Idempotency-Key", "in": "header"})
            said["components"]["schemas"]["Asked"]["properties"]["digest"] = {"type": "string"}
            exchange.reply = json.dumps(said).encode()
