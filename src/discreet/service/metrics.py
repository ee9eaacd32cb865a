"""Metrics: what an operator may count, a closed list with no value of a row in it.

All that can depend on rows is what analysts see as well: how many questions failed, of which some may have missed their
time, and then a process was killed. There are no durations of questions and no numbers of rows. A question counts when
its answer leaves, which is at a public time, so metrics tell no sooner than replies what became of it. Memory and
processor time of the process aren't exported: they depend on how many rows a question met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric


@dataclass(frozen=True, slots=True)
class Described:
    """The description of a metric.

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
            "Replies sent, by route and class of status.",
            {"route": None, "status": _one_of("1xx", "2xx", "3xx", "4xx", "5xx")},
        ),
        "discreet_plans": Described(
            "counter",
            "Questions that were planned, whether only shown or asked as well.",
            {"outcome": _one_of("planned", "refused")},
        ),
        "discreet_questions": Described(
            "counter",
            "Questions that were accepted, by outcome, counted when their answers leave.",
            {"outcome": _one_of("answered", "stored", "refused", "failed")},
        ),
        "discreet_slots": Described("gauge", "How many questions can run at once."),
        "discreet_slots_busy": Described("gauge", "Slots in use, each until the release time of its answer."),
        "discreet_questions_waiting": Described("gauge", "Questions waiting for a slot."),
        "discreet_ready": Described("gauge", "1 if the server takes questions, else 0, as /readyz says."),
        "discreet_slot_seconds": Described("counter", "Seconds of slots that questions were given, by their plans."),
        "discreet_ledger_bytes": Described("counter", "Bytes that questions add to the ledger, by their plans."),
        "discreet_ledger_errors": Described("counter", "Requests that the ledger couldn't serve."),
        "discreet_probes_unanswered": Described(
            "counter", "What tools looked for in PostgreSQL's catalogue, and didn't find; the log tells its forms."
        ),
        "discreet_witness_failures": Described("counter", "Heads that couldn't be sent to the ledger's witness."),
        "discreet_workers_restarted": Described("counter", "Processes replaced, at public times."),
    }
)
"""All metrics. Counters end in `_total` when they are shown."""


class Metrics:
    """The metrics of one service. Counting takes no time to speak of, and waits for nothing."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
        self._read: dict[str, Callable[[], float]] = {}
        self._lock = Lock()

    def count(self, name: str, by: float = 1, **labels: str) -> None:
        """Count one more, or as many as `by` says.

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
        """A registry with these metrics and no others: none of the process or of Python."""
        from prometheus_client import CollectorRegistry

        found = CollectorRegistry(auto_describe=False)
        found.register(self)
        return found
