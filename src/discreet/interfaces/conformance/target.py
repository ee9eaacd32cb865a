"""The target: a server, those who may come in, and questions that it answers. Every reply is looked through."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import Any, TypeVar

from discreet.errors import InvalidArgument, NotTried
from discreet.interfaces.conformance.trial import Purse
from discreet.interfaces.conformance.wire import Headers, Reply, Stream, Wire

T = TypeVar("T")

_AGAIN = 0.1
_MOST_WAIT = 2.0
_BUSY = {429}
_PENDING = 202
_TIMES = 3
"""How many times a question that misses its time is asked, since that says nothing about what is tried."""

OK = 200
UNAUTHENTICATED = 401


@dataclass(frozen=True, slots=True)
class Holder:
    """Someone with a token.

    Args:
        token: its text.
        subject: whose it is.
        role: what it is for.
    """

    token: str
    subject: str
    role: str

    @property
    def headers(self) -> Headers:
        """The headers that carry the token."""
        return [("Authorization", f"Bearer {self.token}")]


class Target:
    """A server under test.

    Args:
        url: its address.
        tokens: of test accounts. Their roles are asked for; those that it doesn't take hold no more.
        purse: what may be spent.
        canaries: texts that must occur in no reply; tokens are among them.
        patience: how many seconds to wait for a reply, and for an answer.

    Attributes:
        written: files that the server writes; none unless they are given.
        postgres: `host:port` of its port for PostgreSQL's protocol; empty unless it is given.

    Raises:
        InvalidArgument: no server answers, or none of the tokens is an analyst's.
    """

    def __init__(
        self, url: str, tokens: Sequence[str], purse: Purse, *, canaries: Sequence[str] = (), patience: float = 60.0
    ) -> None:
        self.wire = Wire(url, patience)
        self.purse, self.patience = purse, patience
        self.canaries = [text.encode() for text in (*canaries, *tokens)]
        self.written: Sequence[Path] = ()
        self.postgres = ""
        self.leaks: list[str] = []
        self.seen = 0
        self.pages: list[tuple[str, Reply]] = []
        self._numbers: Iterator[int] = count(time_ns() // 1000 % 10**9)
        self.holders: list[Holder] = []
        self.dead: list[str] = []
        for token in tokens:
            reply = self.send("GET", "/v1/me", headers=[("Authorization", f"Bearer {token}")])
            if not reply.status:
                raise InvalidArgument("no server answers at this address", hint="https://host:8443")
            if reply.status == OK and isinstance(reply.data, dict):
                self.holders.append(Holder(token, str(reply.data.get("subject")), str(reply.data.get("role"))))
            else:
                self.dead.append(token)
        if not any(each.role == "analyst" for each in self.holders):
            raise InvalidArgument("none of the tokens is an analyst's here", hint="discreet token create conform")
        self.offer = purse.offer

    # ── Who ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def analyst(self) -> Holder:
        """The first analyst."""
        return self.one("analyst")

    @property
    def second(self) -> Holder:
        """An analyst by another name.

        Raises:
            NotTried: there is none.
        """
        first = self.analyst
        for each in self.holders:
            if each.role == "analyst" and each.subject != first.subject:
                return each
        raise NotTried("this needs the token of a second analyst")

    def one(self, role: str) -> Holder:
        """Someone of a role.

        Raises:
            NotTried: there is none.
        """
        for each in self.holders:
            if each.role == role:
                return each
        raise NotTried(f"this needs a token of role {role}")

    # ── Requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def send(
        self, method: str, path: str, who: Holder | None = None, body: object = None, headers: Headers = ()
    ) -> Reply:
        """Send a request in someone's name; a body that isn't bytes is written as JSON."""
        told = [*(() if who is None else who.headers), *headers]
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None and all(name.lower() != "content-type" for name, _ in told):
            told.append(("Content-Type", "application/json"))
        reply = self.wire.send(method, path, told, content)
        self.look(f"{method} {path}", reply.body + repr(reply.headers).encode())
        if reply.header("content-type").startswith("text/html"):
            self.pages.append((path, reply))
        return reply

    def raw(self, content: bytes, seconds: float = 1.0) -> Stream:
        """Send raw bytes."""
        found = self.wire.raw(content, seconds)
        self.look("raw bytes", found.raw)
        return found

    def look(self, what: str, content: bytes) -> None:
        """Look for what must be in no reply."""
        self.seen += 1
        if any(canary in content for canary in self.canaries):
            self.leaks.append(what)

    def described(self) -> Mapping[str, Any]:
        """The description of the API.

        Raises:
            NotTried: there is none.
        """
        found = self.send("GET", "/v1/openapi.json").data
        if not isinstance(found, dict) or not isinstance(found.get("paths"), dict):
            raise NotTried("the server doesn't describe its API at /v1/openapi.json")
        return found

    def at_once(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Do all of these at the same time."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return [each.result() for each in [pool.submit(call) for call in calls]]

    # ── Questions ────────────────────────────────────────────────────────────────────────────────────────────────────

    def number(self) -> int:
        """A number that wasn't used before."""
        return next(self._numbers)

    def questions(self, how_many: int) -> list[str]:
        """Questions whose plans all differ, and that weren't asked before.

        Raises:
            NotTried: no table has a column that such questions can be made of.
        """
        made, digests = list[str](), set[str]()
        for template in self._templates():
            for _ in range(2 * how_many):
                question = template.format(self.number())
                planned = self.plan(question)
                if planned.status != OK:
                    break
                if (digest := planned.data.get("digest")) not in digests:
                    digests.add(digest)
                    made.append(question)
                if len(made) == how_many:
                    return made
        raise NotTried("no table has a column that questions can be made of")

    def _templates(self) -> Iterator[str]:
        """Questions of a number, of which almost every one selects everyone."""
        for table in self.send("GET", "/v1/dataset", self.analyst).data.get("tables", []):
            for column in table["columns"]:
                name = f'"{column["name"]}"'.replace("{", "{{").replace("}", "}}")
                start = f'SELECT COUNT(*) AS n FROM "{table["name"]}" WHERE {name}'  # noqa: S608 — it is sent to be refused or planned
                # Of keys a server knows without looking that none is like this: what is then selected is nobody, for
                # nothing, and the answer is exact.
                if column["keys"] is not None:
                    continue
                if column["kind"] == "text":
                    yield f"{start} NOT LIKE '%conform-{{}}%'"
                elif column["bounds"] is None:
                    yield f"{start} <> {{}}"

    def plan(self, question: str, who: Holder | None = None, **terms: object) -> Reply:
        """Plan a question at the offer, as often as it takes until the server has time for it."""
        return self._patiently(lambda: self.send("POST", "/v1/plans", who or self.analyst, self.body(question, terms)))

    def body(self, question: str, terms: Mapping[str, object]) -> dict[str, object]:
        """A question at the offer, or at the terms given."""
        return {"question": question, "epsilon": str(self.offer), **terms}

    def ask(
        self, question: str, who: Holder | None = None, *, headers: Headers = (), amount: Fraction | None = None,
        times: int = _TIMES, **terms: object,
    ) -> Reply:  # fmt: skip
        """Ask a question, and wait for its answer; again if it wasn't there in time. What it may cost is set aside.

        Raises:
            NotTried: what may be spent doesn't suffice.
        """
        whose, cost = who or self.analyst, self.offer if amount is None else amount
        for _ in range(times):
            asked = self.body(question, {"epsilon": self.purse.take(cost), **terms})
            reply = self._patiently(partial(self.send, "POST", "/v1/answers", whose, asked, headers))
            end = monotonic() + self.patience
            while reply.status == _PENDING and monotonic() < end:
                sleep(_AGAIN)
                reply = self.send("GET", reply.header("location") or f"/v1/answers/{reply.data['id']}", whose)
            if reply.code != "question_failed":
                break
        return reply

    def rows(self, reply: Reply) -> str:
        """The values of an answer, whatever its columns are called.

        Raises:
            NotTried: nothing was: the server has too little time for questions, or nothing left to spend.
        """
        if reply.status != OK or not isinstance(reply.data, dict) or "rows" not in reply.data:
            raise NotTried(f"a question of the kind that is tried got no answer, but {reply.status} {reply.code}")
        return json.dumps([list(row.values()) for row in reply.data["rows"]])

    def _patiently(self, call: Callable[[], Reply]) -> Reply:
        """Call until the server isn't too busy."""
        end, wait = monotonic() + self.patience, _AGAIN
        while (reply := call()).status in _BUSY and monotonic() < end:
            sleep(wait)
            wait = min(2 * wait, _MOST_WAIT)  # many at once would otherwise keep it busy
        return reply

    # ── The account ──────────────────────────────────────────────────────────────────────────────────────────────────

    def paid(self, who: Holder | None = None) -> list[dict[str, Any]]:
        """The entries that someone paid for."""
        found = self.send("GET", "/v1/history", who or self.analyst).data
        return [each for each in found if each["kind"] == "question" and each["cost"]]

    def debits(self, who: Holder | None = None) -> list[dict[str, Any]]:
        """The same of questions that were answered, which they are by the time of their reply.

        One that missed its time may stay reserved for ever, and looks like one that is pending: neither is counted.
        """
        return [each for each in self.paid(who) if each.get("state") == "committed"]

    def spent(self, who: Holder | None = None) -> Mapping[str, Any]:
        """The spending of a token's holder, by the server's account."""
        own: Mapping[str, Any] = self.send("GET", "/v1/budget", who or self.analyst).data["own"]
        return own

    def is_well(self) -> bool:
        """Whether it still answers as it should."""
        return self.send("GET", "/v1/me", self.analyst).status == OK
