"""Workers: processes of their own that plan and ask, so that one that takes too long can be killed.

The service sends a job and hears of it in messages, in this order:

    ready      the tables are open
    held       it was paid for and measured, or has failed, and isn't stored yet; the service answers "go"
    done       with what became of it

A worker holds the tables; the service, which speaks to strangers, doesn't.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from discreet.errors import DiscreetError, InvalidArgument, QuestionFailed
from discreet.service.release_times import ReleaseTimes

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from discreet.gateway import Protected
    from discreet.query.planner import Plan

_CONTEXT = multiprocessing.get_context("spawn")  # a fork would inherit the service's threads and sockets

Message: TypeAlias = tuple[Literal["ready", "held", "done"], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker is to do.

    Args:
        kind: plan it; answer it from what is stored; or ask it.
        question: SQL.
        terms: what is offered for it; its analyst is the caller, whatever the question says.
        digest: of the plan that was made for it, if it is to be asked.
    """

    kind: Literal["plan", "stored", "ask"]
    question: str
    terms: Mapping[str, Any]
    digest: str = ""


class Worker:
    """A process that holds the tables of a configuration, and does one job at a time.

    Args:
        config: the path of `discreet.toml`.
        times: when answers leave.
    """

    def __init__(self, config: Path, times: ReleaseTimes) -> None:
        """Start the process; it opens the tables while the service goes on."""
        self._config, self._times = config, times
        self._start()

    def _start(self) -> None:
        """Start a process, in the place of one that was killed or of none."""
        self._connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(theirs, self._config, self._times), daemon=True)
        self._process.start()
        self._is_ready = False
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait until the tables are open, in a new process if the last one is gone.

        Raises:
            QuestionFailed: they can't be opened.
        """
        if not self._process.is_alive():
            self.restart()
        if not self._is_ready:
            self.receive()
            self._is_ready = True

    def send(self, job: Job) -> None:
        """Give it a job, once it is ready. Whether the process is gone by then, `receive` tells.

        Raises:
            QuestionFailed: the tables can't be opened.
        """
        self.wait_until_ready()
        with suppress(OSError):
            self._connection.send(job)

    def go(self) -> None:
        """Let it store what it measured."""
        with suppress(OSError):
            self._connection.send("go")

    def receive(self, until: float | None = None) -> Message | None:
        """The next message; None if there is none by then.

        Args:
            until: by `time.monotonic`; None to wait for as long as the process lives.

        Raises:
            QuestionFailed: the process is gone.
        """
        try:
            if until is None or self._connection.poll(max(0.0, until - monotonic())):
                message: Message = self._connection.recv()
                return message
        except (EOFError, OSError):
            raise QuestionFailed from None
        return None

    def restart(self) -> None:
        """Kill the process, whatever it does, and start another."""
        self.close()
        self._start()

    def close(self) -> None:
        """Kill the process. What it reserved stays spent; what it didn't store is gone."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _work(connection: Connection, config: Path, times: ReleaseTimes) -> None:
    """Do jobs until the service is gone."""
    from discreet.gateway import load

    def held() -> None:
        connection.send(("held", {}))
        connection.recv()

    with load(config) as tables:
        tables.hold(held)
        tables.warm_up()
        connection.send(("ready", {}))
        while True:
            try:
                job: Job = connection.recv()
            except (EOFError, OSError):
                return
            connection.send(("done", _done(tables, job, times)))


def _done(tables: Protected, job: Job, times: ReleaseTimes) -> Mapping[str, Any]:
    """What becomes of a job, as JSON-ready data; of an error that isn't ours, only that there was one."""
    try:
        match job.kind:
            case "plan":
                return {"plan": described(tables.plan(job.question, **job.terms), times)}
            case "stored":
                version = tables.admissions.current().version
                return {"answer": tables.ask(job.question, version=version, **job.terms).to_json()}
            case "ask":
                return {"answer": _asked(tables, job)}
    except DiscreetError as error:
        return {"error": error.to_dict()}
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        return {"error": QuestionFailed().to_dict()}


def _asked(tables: Protected, job: Job) -> Mapping[str, Any]:
    """The answer to a question, if it is planned here as it was before.

    Raises:
        InvalidArgument: it isn't: the configuration was changed, and this process read it later.
    """
    if tables.plan(job.question, **job.terms).digest != job.digest:
        raise InvalidArgument("the declarations have changed since this was planned", hint="ask again")
    return tables.ask(job.question, **job.terms).to_json()


def described(plan: Plan, times: ReleaseTimes) -> dict[str, Any]:
    """A plan as an analyst may see it: all of it follows from the question and from what is declared."""
    from discreet.gateway import cost_of

    return {
        "digest": plan.digest,
        "cost": cost_of([plan]).to_json(),
        "expected": [
            {name: getattr(each, name) for name in ("column", "error", "rows", "ranks", "share")} | {"words": str(each)}
            for each in plan.expected
        ],
        "words": plan.explain(),
        "noise": None if plan.choice is None else str(plan.choice),
        "warnings": list(plan.warnings),
        "step": times.step(plan),
        "steps": 1 + len(plan.profiles),
    }
