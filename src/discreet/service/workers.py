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

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from time import monotonic, process_time
from typing import TYPE_CHECKING, Literal, NamedTuple

from discreet.duckdb.spill import sweep
from discreet.errors import QuestionFailed
from discreet.machine import take_share
from discreet.service.jobs import BYTES_TO_READ, SECONDS_TO_READ, Done, Job, do
from discreet.service.release_times import ReleaseTimes
from discreet.service.shares import Share

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext


_PRELOADED = (
    "discreet.gateway",
    "discreet.ledger.store",
    "discreet.query.sql",
    "duckdb",
    "flint",
    "ibis.backends.sql.compilers.duckdb",
    "pyarrow.parquet",
)
"""The modules that every worker loads first."""


def _context() -> ForkServerContext | SpawnContext:
    """Start processes quickly: fork them from one that has loaded only what they need.

    A fork of the service itself would inherit its threads and sockets. Where there is no fork, they start from nothing;
    so where the folder of temporary files is so deep that the process couldn't be reached by a socket in it.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods() or len(gettempdir()) > _DEEPEST:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


_DEEPEST = 60
"""Some systems allow 104 bytes for the path of a socket, and `multiprocessing` adds about 35."""

CONTEXT = _context()


def load_ahead() -> None:
    """Begin to load what workers need, beside whatever else there is to do before they are started."""
    if CONTEXT.get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        ensure_running()


class Message(NamedTuple):
    """Something that a worker says.

    Args:
        reached: how far it has come.
        done: what became of its job, once it is done.
        took: seconds of the processor's time; 0 of a question that was asked, for that depends on rows.
    """

    reached: Literal["ready", "planned", "held", "done"]
    done: Done = None
    took: float = 0.0


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
        connection.send(Message(reached))
        connection.recv()

    _settle(share)
    _detach()
    Thread(target=sweep, args=(gone,), daemon=True).start()
    with suppress(EOFError, OSError), load(config) as tables:  # if the service is gone, nobody is there to be told
        tables.hold(partial(wait, "held"))
        tables.warm_up(reading=share.planning is None)
        own = own_memory()
        connection.send(Message("ready"))
        while True:
            job: Job = connection.recv()
            begun = process_time()
            with _limited(share, own, job.values):
                done = do(tables, job, times, share.slot, partial(wait, "planned"))
            took = 0.0 if job.kind == "ask" else process_time() - begun
            connection.send(Message("done", done, took))


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


def own_memory() -> int:
    """How many bytes the process has; 0 where the system doesn't say."""
    with suppress(ImportError, OSError, ValueError):  # not Linux
        import resource

        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
    return 0


def limit_memory(most: int) -> None:
    """Limit the process to this many bytes of memory, on systems that can."""
    with suppress(ImportError, OSError, ValueError):  # not Linux, or a lower limit is set already
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
        limit_memory(own + share.memory + values * BYTES_TO_READ)
    signal.setitimer(signal.ITIMER_PROF, share.planning + values * SECONDS_TO_READ)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _detach() -> None:
    """Leave Ctrl-C to the service, which lets a question come to its end, and say nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_quiet()
