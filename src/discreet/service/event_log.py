"""The log: a closed list of events and of what a line may say, with no value of a row in it.

There are no texts of questions, no tokens and no subjects. A request is logged when its reply leaves, which is at a
public time where it has an answer. Times are told to the second, as the history of an account tells them. A thread of
its own writes the lines: a disk that is slow, or a reader that sleeps, delays no reply. Of what was refused a line says
why and from where; of what was answered, no address.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from queue import SimpleQueue
from typing import Any, TextIO

FIELDS = ("time", "event", "route", "status", "token", "entry", "code", "address", "request", "form", "times")
"""All fields that a line may have, in order."""

_MOST = 10_000
"""How many lines may wait to be written; those beyond are dropped, so that a flood of requests can't fill memory. The
ledger has what was asked and paid for, whatever the log misses.
"""


class Event(StrEnum):
    """The events that can be logged."""

    READY = "ready"
    """The server takes questions."""

    REQUEST = "request"
    """A reply left: `route` as it is declared, `status`, the `token`'s id, and the `entry` of an answer."""

    PROBE = "probe"
    """A tool looked for something in PostgreSQL's catalogue that isn't there: the `form` of it, without names and
    literals of its own, and how many `times` by now. There is a line at the first time, the tenth, the hundredth.
    """

    DEFECT = "defect"
    """An error that isn't one of discreet's own; no more is logged, since it might quote anything."""

    STOPPING = "stopping"
    """The server has stopped taking questions."""

    STOPPED = "stopped"
    """Everything that was paid for has its answer, and the server exits."""


class EventLog:
    """A log.

    Args:
        stream: where lines go; None for nowhere.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """Keep the stream, and start the thread that writes to it."""
        self._stream = stream
        self._lines: SimpleQueue[str | threading.Event] = SimpleQueue()  # what a hook may write to within a write
        if stream is not None:
            threading.Thread(target=self._write, args=(stream,), daemon=True).start()

    def write(  # noqa: PLR0913 — what a line may say, each by name
        self,
        event: Event,
        *,
        route: str = "",
        status: int = 0,
        token: str = "",
        entry: int = 0,
        code: str = "",
        address: str = "",
        request: str = "",
        form: str = "",
        times: int = 0,
    ) -> None:
        """Have a line written soon; a stream that is full or gone is no reason to serve nobody.

        Args:
            event: what happened.
            route: the path of the API, as it is declared.
            status: of HTTP.
            token: the id of a token, as `discreet token list` has it.
            entry: the number of a question in its account.
            code: why a request was refused.
            address: from where it came, if it was refused.
            request: what it is called, here and in its reply.
            form: of a probe: keywords, and names of functions and of PostgreSQL's catalogue.
            times: how often there was one of that form.
        """
        if self._stream is None:
            return
        said = {
            "route": route,
            "status": status,
            "token": token,
            "entry": entry,
            "code": code,
            "address": address,
            "request": request,
            "form": form,
            "times": times,
        }
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "event": str(event),
            **{name: value for name, value in said.items() if value},
        }
        if self._lines.qsize() < _MOST:
            self._lines.put(json.dumps(line) + "\n")

    def flush(self, seconds: float = 5.0) -> None:
        """Wait until all lines are written, but no longer than this."""
        if self._stream is None:
            return
        reached = threading.Event()
        self._lines.put(reached)
        reached.wait(seconds)

    def _write(self, stream: TextIO) -> None:
        """Write lines as they come."""
        while True:
            line = self._lines.get()
            if isinstance(line, threading.Event):
                line.set()
                continue
            with suppress(OSError, ValueError):
                stream.write(line)
                stream.flush()

    def tame(self) -> None:
        """Let libraries and Python say that there was an error, and no more: what they would say may quote anything."""
        for hook in ("excepthook", "unraisablehook"):
            setattr(sys, hook, self._defect)
        threading.excepthook = self._defect
        logging.raiseExceptions = False
        handler = _Tamed(self)
        logging.captureWarnings(capture=True)
        root = logging.getLogger()
        root.handlers[:] = [handler]
        for name in list(logging.Logger.manager.loggerDict):
            found = logging.getLogger(name)
            found.handlers[:] = []
            found.propagate = True

    def _defect(self, *_: Any) -> None:  # noqa: ANN401 — as Python's hooks are called
        """Say that there was an error, and none of its words."""
        self.write(Event.DEFECT)


class _Tamed(logging.Handler):
    """A handler that hands on that there was an error, and none of its words."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, _record: logging.LogRecord) -> None:
        """Say that there was one."""
        self._log.write(Event.DEFECT)
