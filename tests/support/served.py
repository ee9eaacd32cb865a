"""A service that runs: over a table of a thousand people, with somebody of each role."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any, Self

import pytest

import discreet as dp
from discreet.errors import DiscreetError, QuestionFailed
from discreet.ledger import Attempt, State
from discreet.results import Cost
from discreet.service import (
    Ask,
    Caller,
    EncodedAnswer,
    Planned,
    PublicError,
    ReleaseTimes,
    Reply,
    Role,
    Service,
    Settings,
    Ticket,
    carrying_out,
    workers,
)
from discreet.service.tokens import issue
from support.accounts import declared, founded, of_each_role
from support.engines import keep_sessions

STEP = 3.0
"""How many seconds a question over the one table has."""

COUNT = "SELECT COUNT(*) AS n FROM people"

CONFIG = declared(
    "people",
    """
id = { kind = "integer" }
k = { kind = "text", keys = ["a", "b"] }
""",
)


@dataclass
class Served:
    """A service, and those who may come in.

    Args:
        service: itself.
        folder: of its configuration.
        tokens: the text of each one's token: one of each role, called like it, and the analyst bob, whose ceiling is 1.
    """

    service: Service
    folder: Path
    tokens: dict[str, str]

    @property
    def callers(self) -> dict[str, Caller]:
        """Who they are."""
        return {name: self.service.caller(text) for name, text in self.tokens.items()}

    def settled(self) -> Self:
        """The same, once no question is waiting or running."""
        for ticket in list(self.service._questions._tickets.values()):
            assert ticket.wait(120)
        return self

    def states(self) -> list[State | None]:
        """What became of all questions, as the ledger has it."""
        with dp.load(self.folder / "discreet.toml") as tables:
            return [entry.state for entry in tables.history() if entry.kind == "question"]


class ThreadWorker:
    """What stands in for a worker's process where nothing is killed: a thread, which is there at once."""

    pid: None = None

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> None:
        """Keep what is to be done; the end of the pipe that it is given is closed by who made it, as after a fork."""
        theirs, *others = args
        self._kept = Connection(os.dup(theirs.fileno()))

        def work() -> None:
            with suppress(OSError):  # it was killed, and told so by the pipe
                target(self._kept, *others)

        self._thread = Thread(target=work, daemon=daemon)
        self.start, self.is_alive, self.join = self._thread.start, self._thread.is_alive, self._thread.join

    def kill(self) -> None:
        """End the pipe, and so the thread, once it has done what it does."""
        with socket.socket(fileno=os.dup(self._kept.fileno())) as pipe:
            pipe.shutdown(socket.SHUT_RDWR)


def bearer(running: Served, name: str, **more: str) -> dict[str, str]:
    """The headers by which somebody comes in."""
    return {"Authorization": f"Bearer {running.tokens[name]}", **more}


@contextmanager
def unhurried() -> Iterator[None]:
    """Services wait meanwhile for what a question takes: its answer leaves at its time, or later on a busy machine.

    A service itself gives up at that time, which is what hides how long rows took. No test may depend on a machine that
    is quick enough for it; those about answers that are late or never come don't use this.
    """
    received = carrying_out._received
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(carrying_out, "_received", lambda slot, _: received(slot, None))
        yield


@contextmanager
def in_threads() -> Iterator[None]:
    """Services that are made meanwhile have threads for processes, keep sessions, and miss no time."""
    with unhurried(), pytest.MonkeyPatch.context() as patch:
        keep_sessions(patch)
        for name in ("_detach", "limit_memory", "_settle", "keep_quiet"):  # which are about a whole process
            patch.setattr(workers, name, lambda *_: None)
        patch.setattr(workers, "_limited", lambda *_: nullcontext())
        patch.setattr(os, "nice", lambda _: 0)
        patch.setattr(workers, "CONTEXT", SimpleNamespace(Pipe=Pipe, Process=ThreadWorker))
        yield


@contextmanager
def served_in_threads(folder: Path, *, rows: int = 1000, rare: str = "a", slots: int = 1) -> Iterator[Served]:
    """The same with threads for processes, and a second for each question."""
    with in_threads(), served(folder, rows=rows, step=1.0, rare=rare, slots=slots) as found:
        yield found


@contextmanager
def served(  # noqa: PLR0913 — how one server differs from another, each by name
    folder: Path,
    *,
    rows: int = 1000,
    step: float = STEP,
    rare: str = "a",
    ledger: str = "",
    hurried: bool = False,
    slots: int = 1,
) -> Iterator[Served]:
    """A service on a configuration in this folder; two questions of one caller may wait.

    Args:
        folder: of the configuration.
        rows: of the table.
        step: how many seconds a question over the one table has.
        rare: the value of the last person.
        ledger: a URL; a file in the folder if left out.
        hurried: whether a question fails that isn't measured at its time, as it does outside of tests.
        slots: how many questions are carried out at a time.
    """
    data = {"id": range(rows), "k": [*("ab"[n % 2] for n in range(rows - 1)), rare]}
    kept = f'ledger = "{ledger}"\nsnapshots = "snapshots"' if ledger else 'ledger = "people.ledger"'
    with founded(folder, CONFIG.replace('ledger = "people.ledger"', kept), data) as tables:
        texts = of_each_role(tables)
        texts["bob"] = issue(tables.tokens, "bob", Role.ANALYST, days=1, most_epsilon=1).text
    settings = Settings(times=ReleaseTimes(base=step / 2, scan=step / 2), waiting=2, slots=slots)
    with nullcontext() if hurried else unhurried(), closing(Service(folder / "discreet.toml", settings)) as service:
        yield Served(service, folder, texts)


PATIENCE = 120.0
"""For how many seconds a test waits for what must come."""

PLANNED = Planned(
    digest="", cost=Cost(epsilon=Fraction(0), rho=Fraction(0)), together=False, expected=[], columns=[], words="",
    warnings=[], noise=None, answered_by=[], step=1.0, steps=1, rungs=1, seconds=1.0, work=0.0, memory=0.0, values=0,
    ledger_bytes=0, affordable={},
)  # fmt: skip
"""A plan of nothing."""


def became(reply: Reply | None) -> Any:
    """What became of a question, as JSON-ready data."""
    assert reply is not None
    if reply.answer is not None:
        return {"answer": reply.answer.read()}
    assert reply.error is not None
    return {"error": reply.error.as_error().to_dict()}


FAILED = became(Reply.of(QuestionFailed()))
"""The outcome of every question that failed."""

_NUMBERS = count(1)


def ticket_of(  # noqa: PLR0913 — what differs from one to another, each by name
    question: str = "",
    *,
    subject: str = "",
    digest: str = "",
    step: float,
    steps: int = 1,
    rungs: int = 1,
    **terms: str,
) -> Ticket:
    """A question that nobody has taken."""
    return Ticket(
        id="x",
        subject=subject,
        asked=Ask(question, terms),
        plan=replace(PLANNED, digest=digest, step=step, steps=steps, rungs=rungs),
        attempt=Attempt(id="x", plan=digest, seconds=step),
    )


def encoded(data: Mapping[str, Any], values: int = 1) -> Reply:
    """An answer as a worker sends it."""
    return Reply(answer=EncodedAnswer(content=json.dumps(data).encode(), values=values))


def told(error: DiscreetError) -> PublicError:
    """An error that came from another process."""
    return PublicError.of(PublicError.of(error).as_error())


def asked(running: Served, service: Service | None = None) -> Ticket:
    """A question that nobody asked before, at ε = 0.1."""
    service = service or running.service
    return service.ask(running.callers["analyst"], Ask(f"{COUNT} WHERE id < {next(_NUMBERS)}", {"epsilon": "1/10"}))


def again(running: Served, ticket: Ticket) -> Ticket:
    """The same once more."""
    return running.service.ask(running.callers["analyst"], Ask(ticket.asked.question, {"epsilon": "1/10"}))


def until(reached: Callable[[], bool]) -> None:
    """Wait for something."""
    end = monotonic() + PATIENCE
    while not reached():
        assert monotonic() < end
        sleep(0.005)


def outcome(ticket: Ticket, within: float = PATIENCE) -> Any:
    """What became of it after so many seconds at the most, as JSON-ready data."""
    assert ticket.wait(within)
    return became(ticket.reply)


def answered(running: Served) -> Ticket:
    """A question that is answered; where times may be missed, the first of those that are asked that isn't."""
    ticket = asked(running)
    while outcome(ticket) == FAILED:
        ticket = asked(running)
    assert "answer" in outcome(ticket), outcome(ticket)
    return ticket


def spent(running: Served) -> Fraction:
    """What was spent, as the ledger has it; which holds, and is the sum of all debits."""
    with dp.load(running.folder / "discreet.toml") as tables:
        assert tables.verify().holds
        found = None
        while found is None or found != (tables.spent.epsilon or Fraction(0)):  # each look is a transaction of its own
            found = tables.spent.epsilon or Fraction(0)
            entries = [entry for entry in tables.history() if entry.kind == "question"]
    assert found == sum(entry.cost.epsilon or 0 for entry in entries if entry.cost)
    return found
