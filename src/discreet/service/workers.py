"""Workers: processes of their own that plan and ask, so that one that takes too long can be killed.

The service sends a job and hears of it in messages, in this order:

    ready      the tables are open, and a question of each was carried out and dropped: it is warm
    planned    a question is planned as it was before, and no row was read for it; the service answers "go"
    held       it was paid for and measured, or has failed, and isn't stored yet; the service answers "go"
    done       with what became of it

A worker holds the tables; the service, which speaks to strangers, doesn't. Each has its own share of the machine, so
that how long one takes doesn't depend on what others do; the system ends one that plans for too long.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from discreet.errors import DiscreetError, EngineUnavailable, InvalidArgument, PlanChanged, QuestionFailed, Unsupported
from discreet.service.allowances import check_values, in_bytes
from discreet.service.release_times import ReleaseTimes, check_memory, longest, work_in_step
from discreet.service.shares import Share
from discreet.tables.session import sweep, take_share

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext

    from discreet.gateway import Protected, Size, Workload
    from discreet.ledger import Attempt
    from discreet.query.planner import Plan
    from discreet.results import Answer

_PRELOADED = (
    "discreet.gateway",
    "discreet.ledger.store",
    "discreet.query.sql",
    "duckdb",
    "flint",
    "ibis.backends.sql.compilers.duckdb",
    "pyarrow.parquet",
)
"""What every worker loads first."""


def _context() -> ForkServerContext | SpawnContext:
    """How processes are started: forked from one that has loaded what they need, and nothing else, so that it's quick.

    A fork of the service itself would inherit its threads and sockets. Where there is no fork, they start from nothing;
    so where the folder of temporary files is so deep that the process couldn't be reached by a socket in it.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods() or len(gettempdir()) > _DEEPEST:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


_MOST_TOGETHER = 100
"""How many questions a workload may have: each of its answers repeats the certificate, with the texts of all."""

_DEEPEST = 60
"""Of the 104 bytes that a socket's path may have on some systems, `multiprocessing` adds some 35."""

CONTEXT = _context()


def load_ahead() -> None:
    """Begin to load what workers need, beside whatever else there is to do before they are started."""
    if CONTEXT.get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        ensure_running()


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedAnswer:
    """An answer, or those to a workload, as JSON that a worker wrote.

    The service passes it on as it is. A million values as lists would take five times the memory, and the service would
    stand while they are written, read, counted or looked through for garbage, and reply to others too late.

    Args:
        content: UTF-8; an object.
        values: how many the answers have, about.
        entry: the number of its debit in the ledger; 0 where there is none, or one for each part.
    """

    content: bytes
    values: int
    entry: int = 0

    @classmethod
    def of(cls, answers: Answer | list[Answer]) -> Self:
        """An answer, or those to a workload."""
        if isinstance(answers, list):
            every, entry, data = answers, 0, {"answers": [each.to_json() for each in answers]}
        else:
            every, entry, data = [answers], answers.entry, answers.to_json()
        content = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        return cls(content=content, values=sum(len(each) * len(each.columns) for each in every), entry=entry)

    def read(self) -> dict[str, Any]:
        """As JSON-ready data."""
        found: dict[str, Any] = json.loads(self.content)
        return found


Message: TypeAlias = tuple[Literal["ready", "planned", "held", "done"], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker is to do.

    Args:
        kind: plan it; answer it from what is stored; ask it; or say what it was answered with under its key.
        question: SQL; a list of them is a workload.
        terms: what is offered for it; its analyst is the caller, whatever the question says.
        digest: of the plan that was made for it, if it is to be asked.
        attempt: in which it is asked.
        values: how many numbers are read, of what is stored: that takes its time, and was paid for.
        most_values: how many an answer may release that isn't stored; None for any number.
        version: of the tables, whose stored answer is wanted; None for the one in force.
    """

    kind: Literal["plan", "stored", "ask", "retry"]
    question: str | list[str]
    terms: Mapping[str, Any]
    digest: str = ""
    attempt: Attempt | None = None
    values: int = 0
    most_values: int | None = None
    version: int | None = None


SECONDS_TO_READ, PATIENCE_TO_READ = 0.0004, 0.002
"""Of processor time, and in all, for each number of a stored answer: five times what it takes to read, sign and write
one, so that what was paid for is read, however large it is. Whose question it is, it counts as planning of theirs."""

_BYTES_TO_READ = 8192
"""And of memory."""


class Worker:
    """A process that holds the tables of a configuration, and does one job at a time.

    Args:
        config: the path of `discreet.toml`.
        times: when answers leave.
        share: what it has of the machine.
    """

    def __init__(self, config: Path, times: ReleaseTimes, share: Share) -> None:
        """Start the process; it opens the tables while the service goes on."""
        self._config, self._times, self._share = config, times, share
        self.restarts = 0
        self._start(None)

    def _start(self, gone: int | None) -> None:
        """Start a process, in the place of one that was killed or of none."""
        self._connection, theirs = CONTEXT.Pipe()
        arguments = (theirs, self._config, self._times, self._share, gone)
        self._process = CONTEXT.Process(target=_work, args=arguments, daemon=True)
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

    def is_warm(self) -> bool:
        """Whether the tables are open, or the process is gone; looked up without waiting."""
        with suppress(QuestionFailed):
            self._is_ready = self._is_ready or self.receive(monotonic()) is not None
            return self._is_ready
        return True

    def begin(self) -> None:
        """Let it ask what it planned."""
        with suppress(OSError):
            self._connection.send("go")

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

    def ran_out(self) -> bool:
        """Whether the system ended the process because it used more of the processor than it may."""
        self._process.join(1)
        return self._process.exitcode == -getattr(signal, "SIGPROF", 0)

    def restart(self) -> None:
        """Kill the process, whatever it does, and start another, which removes what it spilled.

        How long that takes depends on how much it was, so nobody waits for it.
        """
        self._end()
        self.restarts += 1
        self._start(self._process.pid)

    def kill(self) -> None:
        """Kill the process. What it reserved stays spent; what it didn't store is gone."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, and remove what it spilled."""
        self._end()
        sweep(self._process.pid)

    def _end(self) -> None:
        """Kill the process, and wait until it is gone."""
        self.kill()
        self._process.join()
        self._connection.close()


def _work(connection: Connection, config: Path, times: ReleaseTimes, share: Share, gone: int | None) -> None:
    """Do jobs until the service is gone."""
    from discreet.gateway import load

    def wait(reached: Literal["planned", "held"]) -> None:
        connection.send((reached, {}))
        connection.recv()

    _settle(share)
    _detach()
    Thread(target=sweep, args=(gone,), daemon=True).start()
    with suppress(EOFError, OSError), load(config) as tables:  # if the service is gone, nobody is there to be told
        tables.hold(partial(wait, "held"))
        tables.warm_up(reading=share.planning is None)
        own = _memory()
        connection.send(("ready", {}))
        while True:
            job: Job = connection.recv()
            begun = process_time()
            with _limited(share, own, job.values):
                done = _done(tables, job, times, share.slot, partial(wait, "planned"))
            if job.kind != "ask":  # what a question took depends on rows, and is nobody's affair
                done = {**done, "processor": process_time() - begun}
            connection.send(("done", done))


def _settle(share: Share) -> None:
    """Take its share of the machine, and no more."""
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):  # a container may forbid it
            os.sched_setaffinity(0, share.cores)
    take_share(len(share.cores) if share.planning is None else 1, share.memory)


def keep_quiet() -> None:
    """Say nothing more on standard error, and leave no memory on disk after a crash.

    What a library writes once rows are read, a traceback or a core may hold anything. Python's fault handler writes to
    standard error, too.
    """
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 — a number is what is needed of it
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
    with suppress(ImportError, OSError, ValueError):  # not everywhere
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # 0 would be no limit for a program that takes cores by a pipe


def _memory() -> int:
    """How many bytes the process has; 0 where the system doesn't say."""
    with suppress(ImportError, OSError, ValueError):  # not Linux
        import resource

        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
    return 0


def _limit_memory(most: int) -> None:
    """Let the process have so many bytes, where the system has such a limit."""
    with suppress(ImportError, OSError, ValueError):  # not Linux, or somebody has set a lower limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))


@contextmanager
def _limited(share: Share, own: int, values: int) -> Iterator[None]:
    """Have the system end the process if a job takes more processor time: a handler in Python might never be called.

    Args:
        share: of the process.
        own: how many bytes of memory it had when it was ready.
        values: how many numbers the job reads, for which it has more.
    """
    if share.planning is None or not hasattr(signal, "setitimer"):
        yield
        return
    if own:
        _limit_memory(own + share.memory + values * _BYTES_TO_READ)
    signal.setitimer(signal.ITIMER_PROF, share.planning + values * SECONDS_TO_READ)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _detach() -> None:
    """Leave Ctrl-C to the service, which lets a question come to its end, and say nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_quiet()


def _done(
    tables: Protected, job: Job, times: ReleaseTimes, memory: int, planned: Callable[[], None] = lambda: None
) -> Mapping[str, Any]:
    """What becomes of a job; of an error that isn't ours, only that there was one.

    Args:
        tables: that are asked about.
        job: what is to be done.
        times: when answers leave.
        memory: bytes that a slot has.
        planned: is called before a question is asked, once its plan is made.
    """
    try:
        match job.kind:
            case "plan":
                return {"plan": _planned(tables, job, times, memory)}
            case "stored":
                return _stored(tables, job)
            case "retry":
                return _retried(tables, job)
            case "ask":
                _check_plan(tables, job)
                planned()
                return _asked(tables, job)
    except DiscreetError as error:
        return {"error": error.to_dict()}
    except Exception as error:  # noqa: BLE001 — it may be anything
        return {"error": _unplanned(error).to_dict()}


def _unplanned(error: Exception) -> DiscreetError:
    """Why a question can't be planned, where nobody foresaw it; no row had a part in it."""
    if isinstance(error, MemoryError):
        return Unsupported("this question takes too much memory to plan", hint="ask a simpler one")
    return EngineUnavailable("this question can't be planned here", hint="ask otherwise")


def _planned(tables: Protected, job: Job, times: ReleaseTimes, memory: int) -> dict[str, Any]:
    """A plan as an analyst may see it, if its answer isn't too large, or was given before.

    Raises:
        TooManyValues: it is, and wasn't.
    """
    plan = tables.plan(job.question, **job.terms)
    found = described(plan, times, memory)
    if job.most_values is not None and not tables.was_answered(plan):
        check_values(found["values"], job.most_values)
    return found


def _stored(tables: Protected, job: Job) -> Mapping[str, Any]:
    """The answer that is stored, or follows from what is; nothing if there is none for the version in force.

    Raises:
        InvalidArgument: there is none for the version that was named.
    """
    if job.version is not None:
        return {"answer": EncodedAnswer.of(tables.ask(job.question, version=job.version, **job.terms))}
    version = tables.admissions.current().version
    try:
        return {"answer": EncodedAnswer.of(tables.ask(job.question, version=version, **job.terms))}
    except InvalidArgument:  # it was planned before, so this says that nothing is stored
        return {}


def _check_plan(tables: Protected, job: Job) -> None:
    """Plan a question before its time runs, as it was planned before: that plan is carried out, or nothing.

    Another one, with other noise, might cost more than its caller may spend on one question. Asking plans once more,
    which is free where nothing changed: the last plan is remembered.

    Raises:
        PlanChanged: it isn't: the configuration was changed, and this process read it later.
    """
    if tables.plan(job.question, **job.terms).digest != job.digest:
        raise PlanChanged("this question has another plan than the one that was named", hint="plan it again")


def _asked(tables: Protected, job: Job) -> Mapping[str, Any]:
    """What becomes of a question that may read rows now: of an error that isn't ours, only that it failed."""
    under = tables if job.attempt is None else tables.during(job.attempt)
    try:
        return {"answer": EncodedAnswer.of(under.ask(job.question, digest=job.digest, **job.terms))}
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        raise QuestionFailed from None


def _retried(tables: Protected, job: Job) -> Mapping[str, Any]:
    """The answer that a question got under its key; nothing if there is none, or not yet."""
    tried = None if job.attempt is None else tables.tried(job.attempt.key)
    found = None if tried is None else tables.retried(tables.plan(job.question, **job.terms), tried)
    return {} if found is None else {"answer": EncodedAnswer.of(found)}


def described(plan: Plan | Workload, times: ReleaseTimes, memory: int) -> dict[str, Any]:
    """A plan as an analyst may see it: it follows from the question, what is declared and what is stored.

    Args:
        plan: of a question or a workload.
        times: when answers leave.
        memory: bytes that a slot has.

    Raises:
        Unsupported: one unit could move what it takes too far.
    """
    from discreet.gateway import Size, cost_of
    from discreet.query.planner import Plan

    expected: list[Any]
    step, work = times.step(plan), work_in_step(plan)
    check_memory(plan, memory)
    if isinstance(plan, Plan):
        measured, expected, words, steps = [plan], _expected(plan), plan.explain(step), 1 + len(plan.profiles)
    else:
        if len(plan.plans) > _MOST_TOGETHER:
            raise Unsupported(
                f"{len(plan.plans)} questions are asked together, and {_MOST_TOGETHER} may be",
                hint="ask for less at a time",
            )
        measured, expected, words, steps = list(plan.bundles), [_expected(each) for each in plan.plans], str(plan), 1
    size, seconds = Size.of(plan), longest(step, steps, times.rungs)
    return {
        "digest": plan.digest,
        "cost": cost_of(measured).to_json(),
        "expected": expected,
        "words": f"{words}\n{_resources(seconds, size)}",
        "warnings": list(plan.warnings),
        "noise": None if plan.choice is None else str(plan.choice),
        "answered_by": list(plan.answered_by),
        "step": step,
        "steps": steps,
        "rungs": times.rungs,
        "seconds": seconds,
        "work": {"seconds": work.seconds, "bytes": work.size},
        "values": size.values,
        "ledger_bytes": size.stored,
    }


def _resources(seconds: float, size: Size) -> str:
    """What a question takes beside its cost, in words."""
    values = "as many values as groups pass" if size.values is None else f"{size.values:,} values"
    return f"takes     {seconds:,.6g} s of a slot, {in_bytes(size.stored)} of the ledger; {values}"


def _expected(plan: Plan) -> list[dict[str, Any]]:
    """How accurate each column of an answer would be."""
    names = ("column", "error", "rows", "ranks", "share")
    return [
        {
            **{name: getattr(each, name) for name in names},
            "informative": each.is_informative,
            "words": str(each),
        }
        for each in plan.expected
    ]
