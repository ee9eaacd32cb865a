"""The log: JSON lines with a closed list of events and fields, none of which depends on a row.

No text of a question, no token, no subject, no duration and no number of rows. A request is logged when its reply
leaves, and times are told to the second, as the history of an account tells them.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from threading import Lock
from typing import TextIO

FIELDS = ("time", "event", "route", "status", "token", "entry")
"""All fields that a line may have, in order."""


class Event(StrEnum):
    """What may be logged."""

    READY = "ready"
    """The server takes questions."""

    REQUEST = "request"
    """A reply left: `route` as it is declared, `status`, the `token`'s id, and the `entry` of an answer."""

    DEFECT = "defect"
    """Something went wrong that isn't an error of discreet's own; no more is said, since it might quote anything."""

    STOPPING = "stopping"
    """The server takes no more questions."""

    STOPPED = "stopped"
    """All that was paid for has its answer, and the server ends."""


class EventLog:
    """A log.

    Args:
        stream: where lines go; None for nowhere.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """Keep the stream."""
        self._stream = stream
        self._lock = Lock()

    def write(self, event: Event, *, route: str = "", status: int = 0, token: str = "", entry: int = 0) -> None:
        """Write a line; a stream that is full or gone is no reason to serve nobody.

        Args:
            event: what happened.
            route: the path of the API, as it is declared.
            status: of HTTP.
            token: the id of a token, as `discreet token list` has it.
            entry: the number of a question in its account.
        """
        if self._stream is None:
            return
        said = {"route": route, "status": status, "token": token, "entry": entry}
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "event": str(event),
            **{name: value for name, value in said.items() if value},
        }
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()

    def tame(self) -> None:
        """Let libraries log nothing but that there was an error: their messages and tracebacks may quote anything."""
        handler = _Tamed(self)
        logging.captureWarnings(capture=True)
        root = logging.getLogger()
        root.handlers[:] = [handler]
        for name in list(logging.Logger.manager.loggerDict):
            found = logging.getLogger(name)
            found.handlers[:] = []
            found.propagate = True


class _Tamed(logging.Handler):
    """A handler that hands on that there was an error, and none of its words."""

    def __init__(self, log: EventLog) -> None:
        """Take errors, and nothing below."""
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, _record: logging.LogRecord) -> None:
        """Say that there was one."""
        self._log.write(Event.DEFECT)
