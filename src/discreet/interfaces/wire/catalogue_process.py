"""The catalogue's process: apart from the server, so that it can be killed, and stands in nobody's way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, EngineUnavailable, TooManyWaiting
from discreet.interfaces.wire.catalogue import Asked, Database, Found
from discreet.interfaces.wire.session_settings import DEFAULTS, VERSION
from discreet.service import workers

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_PATIENCE = 20.0
"""After how many seconds its process is replaced; it gives up by itself long before that."""

_STARTING = 120.0
"""How many seconds it has to be ready."""

_WAITING = 4
"""How many questions of one subject may wait for it."""

_NICE = 5
"""How far it stands behind what answers questions."""

_ANSWERING = 6.0
"""After how many seconds the system ends it: some of what DuckDB does can't be interrupted."""

_MEMORY = 768 << 20
"""How many bytes it may have beside those that it began with: DuckDB's own limit isn't for all that it takes."""


class Catalogue:
    """The catalogue of one server, in a process of its own, which is started when it is first asked.

    Args:
        schema: what is public of the tables.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._lock, self._counting = Lock(), Lock()
        self._waiting: Counter[str] = Counter()
        self._pipe: Connection | None = None
        self._process: Any = None

    def ask(self, asked: Asked, subject: str) -> Found:
        """Ask about the catalogue.

        Args:
            asked: what is asked.
            subject: who asks.

        Raises:
            TooManyWaiting: too many of theirs wait.
            EngineUnavailable: the process ended.
            DiscreetError: as `Database.ask` does.
        """
        with self._turn(subject), self._lock:
            try:
                pipe = self._started()
                pipe.send(asked)
                found = _received(pipe, _PATIENCE)
            except (EOFError, OSError):
                self._stop()
                raise EngineUnavailable("the catalogue's process ended", hint="ask again") from None
        if isinstance(found, DiscreetError):
            raise found
        assert isinstance(found, Found)  # noqa: S101 — it sends one of the two
        return found

    def close(self) -> None:
        """Stop the process."""
        with self._lock:
            self._stop()

    @contextmanager
    def _turn(self, subject: str) -> Iterator[None]:
        """Count who waits."""
        with self._counting:
            if self._waiting[subject] >= _WAITING:
                raise TooManyWaiting(f"{_WAITING} of your questions about the catalogue wait already")
            self._waiting[subject] += 1
        try:
            yield
        finally:
            with self._counting:
                self._waiting[subject] -= 1
                if not self._waiting[subject]:
                    del self._waiting[subject]

    def _started(self) -> Connection:
        """The pipe to the process, which is started if there is none."""
        if self._pipe is None:
            pipe, theirs = workers.CONTEXT.Pipe()
            process = workers.CONTEXT.Process(target=_serve, args=(theirs, self._schema), daemon=True)
            process.start()
            theirs.close()
            self._pipe, self._process = pipe, process
            _received(pipe, _STARTING)
        return self._pipe

    def _stop(self) -> None:
        """End the process, whatever it does."""
        if self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join(_PATIENCE)
            self._pipe = self._process = None


def _received(pipe: Connection, seconds: float) -> Any:  # noqa: ANN401 — whatever was sent
    """What the process sends within so many seconds.

    Raises:
        EOFError: nothing.
    """
    if not pipe.poll(seconds):
        raise EOFError
    return pipe.recv()


def _serve(pipe: Connection, schema: Mapping[str, Any]) -> None:
    """Answer until the pipe is closed; in the process of the catalogue."""
    seconds = 0.0
    with suppress(OSError, ValueError):  # in a thread, there are no signals to be had
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        seconds = _ANSWERING
        os.nice(_NICE)
    database = Database(schema, VERSION, DEFAULTS)
    if seconds:
        workers.limit_memory(workers.own_memory() + _MEMORY)
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            asked = pipe.recv()
            with _ended_after(seconds):
                found = _answered(database, asked)
            pipe.send(found)
    database.close()


def _answered(database: Database, asked: Asked) -> Found | DiscreetError:
    """What is there to say."""
    try:
        return database.ask(asked)
    except DiscreetError as error:
        return error


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Have the system end this process after so many seconds; 0 for never."""
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
