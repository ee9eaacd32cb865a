"""Telemetry: what an operator may count, and what is logged. Both are closed lists, and no value of a row is in them.

All that can depend on rows is what analysts see as well: how many questions failed, of which some may have missed their
time, and then a process was killed.

There are no durations of questions, no numbers of rows, no texts, no tokens and no subjects. A question counts when its
answer leaves, which is at a public time, and a request is logged then; so whoever reads them learns no sooner than
others what became of it. Times are told to the second, as the history of an account tells them. Memory and processor
time of the process aren't exported: they depend on how many rows a question met. Lines of the log are written by a
thread of their own: a disk that is slow, or a reader that sleeps, delays no reply. Of what was refused a line says why
and from where; of what was answered, no address.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from queue import SimpleQueue
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TextIO

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric


@dataclass(frozen=True, slots=True)
class Described:
    """What a metric says.

    Args:
        kind: a counter, which only grows, or a gauge.
        words: what it counts.
        labels: their names, each with the values that it may have; None for the paths of the API as they are declared.
    """

    kind: Literal["counter", "gauge"]
    words: str
    labels: Mapping[str, frozenset[str] | None] = field(default_factory=dict)


def _one_of(*values: str) -> frozenset[str]:
    """The values that a label may have."""
    return frozenset(values)


METRICS: Mapping[str, Described] = MappingProxyType(
    {
        "discreet_requests": Described(
            "counter",
            "Replies, by route and class of status, when they leave.",
            {"route": None, "status": _one_of("1xx", "2xx", "3xx", "4xx", "5xx")},
        ),
        "discreet_plans": Described(
            "counter", "Questions that were planned, to be shown or asked.", {"outcome": _one_of("planned", "refused")}
        ),
        "discreet_questions": Described(
            "counter",
            "Questions that were asked and accepted, by what became of them, when their answers leave.",
            {"outcome": _one_of("answered", "stored", "refused", "failed")},
        ),
        "discreet_slots": Described("gauge", "How many questions can run at a time."),
        "discreet_slots_busy": Described("gauge", "How many slots are taken, each until the answer's release time."),
        "discreet_questions_waiting": Described("gauge", "Questions that wait for a slot."),
        "discreet_ready": Described("gauge", "1 if questions are taken, 0 if not, as /readyz says."),
        "discreet_slot_seconds": Described(
            "counter", "Seconds of slots that questions were given, as their plans say."
        ),
        "discreet_ledger_bytes": Described("counter", "Bytes that questions put into the ledger, as their plans say."),
        "discreet_ledger_errors": Described("counter", "Requests that the ledger couldn't serve."),
        "discreet_witness_failures": Described("counter", "Heads that couldn't be sent to the ledger's witness."),
        "discreet_workers_restarted": Described("counter", "Processes that were replaced, at public times."),
    }
)
"""All metrics that there are. Counters end in `_total` where they are shown."""


class Metrics:
    """The metrics of one service. Counting takes no time to speak of, and asks nothing of anybody."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
        self._read: dict[str, Callable[[], float]] = {}
        self._lock = Lock()

    def count(self, name: str, by: float = 1, **labels: str) -> None:
        """Count one more, or so many.

        Raises:
            InvalidArgument: there is no such counter, or not with these labels.
        """
        described = METRICS.get(name)
        if described is None or described.kind != "counter" or described.labels.keys() != labels.keys():
            raise InvalidArgument(f"there is no counter {name!r} with labels {', '.join(labels)}")
        for label, said in labels.items():
            allowed = described.labels[label]
            if allowed is not None and said not in allowed:
                raise InvalidArgument(f"{label} of {name} is never {said[:20]!r}")
        with self._lock:
            self._counts[name, tuple(labels[label] for label in described.labels)] += by

    def watch(self, name: str, read: Callable[[], float]) -> None:
        """Read a metric without labels from now on by calling this.

        Raises:
            InvalidArgument: there is no such metric.
        """
        if name not in METRICS or METRICS[name].labels:
            raise InvalidArgument(f"there is no metric {name!r} without labels")
        self._read[name] = read

    def collect(self) -> Iterator[Metric]:
        """All metrics as Prometheus has them; needs `discreet[server]`."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        with self._lock:
            counts = dict(self._counts)
        for name, described in METRICS.items():
            family = (CounterMetricFamily if described.kind == "counter" else GaugeMetricFamily)(
                name, described.words, labels=tuple(described.labels)
            )
            found = {labels: float(value) for (counted, labels), value in counts.items() if counted == name}
            if not described.labels:
                found[()] = self._read[name]() if name in self._read else found.get((), 0.0)
            for labels, value in sorted(found.items()):
                family.add_metric(labels, value)
            yield family

    def registry(self) -> CollectorRegistry:
        """What a server of metrics asks: these and no others, none of the process or of Python."""
        from prometheus_client import CollectorRegistry

        found = CollectorRegistry(auto_describe=False)
        found.register(self)
        return found


FIELDS = ("time", "event", "route", "status", "token", "entry", "code", "address", "request")
"""All fields that a line may have, in order."""

_MOST = 10_000
"""How many lines may wait to be written; those beyond are dropped, for whoever sends many requests mustn't fill memory.
What was asked and paid for stands in the ledger, whatever the log has."""


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
        }
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "event": str(event),
            **{name: value for name, value in said.items() if value},
        }
        if self._lines.qsize() < _MOST:
            self._lines.put(json.dumps(line) + "\n")

    def flush(self, seconds: float = 5.0) -> None:
        """Wait until all lines are written, for so long at the most."""
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
