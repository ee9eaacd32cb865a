"""The service's face for protocols: what is asked and what is planned, as data that each of them writes in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from discreet.results import Cost


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that is to be answered, with what was said beside it.

    Args:
        question: SQL; a list of them is a workload.
        terms: what is offered for it.
        key: an idempotency key of the caller's: what is asked again under it is paid for once, and has the answer that
            it got then. 1 to 200 printable ASCII characters.
        digest: of the plan that it must be.
        approval: the id of a request, by whose approval it is asked.
        version: of the tables, whose stored answer is wanted by who may ask this question within their own ceiling.
            Nothing is paid for it, so no key is taken.
    """

    question: str | list[str]
    terms: Mapping[str, Any]
    _: KW_ONLY
    key: str | None = None
    digest: str | None = None
    approval: str | None = None
    version: int | None = None


class PlannedColumn(NamedTuple):
    """A column that an answer will have.

    Args:
        name: of the column.
        kind: of its values, as in `AnswerColumn`.
    """

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan as an analyst may see it: it follows from the question, what is declared and what is stored.

    Args:
        digest: of the plan.
        cost: in each way of counting.
        expected: how accurate each column would be, as JSON-ready data; of a workload, for each question.
        columns: of the answer to each question, with their kinds; known before it is there.
        words: the plan, to read.
        warnings: likewise.
        noise: which was taken, where the offer left it open.
        answered_by: the entries by which it is answered already.
        step: how many seconds each of its steps has.
        steps: how many it has at the most.
        rungs: at how many times each may end; see `ReleaseTimes`.
        seconds: how many the answer takes at the most.
        work: how far one unit can move it, in seconds.
        memory: and in bytes.
        values: how many numbers the answer releases; None where its groups are selected.
        ledger_bytes: by how much the ledger grows, about.
        affordable: what the budget still pays for, as JSON-ready data; empty unless it was looked up for its caller.
    """

    digest: str
    cost: Cost
    expected: Sequence[Any]
    columns: Sequence[Sequence[PlannedColumn]]
    words: str
    warnings: Sequence[str]
    noise: str | None
    answered_by: Sequence[int]
    step: float
    steps: int
    rungs: int
    seconds: float
    work: float
    memory: float
    values: int | None
    ledger_bytes: int
    affordable: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data, as the HTTP API replies it."""
        return {
            "digest": self.digest,
            "cost": self.cost.to_json(),
            "expected": self.expected,
            "words": self.words,
            "warnings": list(self.warnings),
            "noise": self.noise,
            "answered_by": list(self.answered_by),
            "step": self.step,
            "steps": self.steps,
            "rungs": self.rungs,
            "seconds": self.seconds,
            "work": {"seconds": self.work, "bytes": self.memory},
            "values": self.values,
            "ledger_bytes": self.ledger_bytes,
            **self.affordable,
        }
