"""The service's face for protocols: what is asked, planned and replied, as data that each of them writes in its way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, NamedTuple, Self

from discreet.errors import AskedAlready, Category, DiscreetError, InvalidArgument
from discreet.query.planner import Request
from discreet.results import Answer, Cost, is_summary
from discreet.service.public_error import PublicError


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to answer, with the terms beside it.

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


class PlannedError(NamedTuple):
    """How far off a column of an answer would be.

    Args:
        column: of the answer.
        error: half width of the interval; None where it depends on the noisy answer itself.
        rows: in a group of how many rows that is; None if it doesn't depend on the group.
        ranks: of a quantile, by how many rows its rank may be off.
        share: which part of the cost is for it.
        informative: whether the answer would say more than what is declared.
        words: the same in words.
    """

    column: str
    error: float | None
    rows: int | None
    ranks: float | None
    share: float
    informative: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan as an analyst may see it: it follows from the question, what is declared and what is stored.

    Args:
        digest: of the plan.
        cost: in each way of counting.
        together: whether it is of a list of questions, and so its answer a list.
        expected: how far off each column would be, for each question.
        columns: of the answer to each question, with their kinds; known before it is there.
        words: the plan, to read.
        warnings: likewise.
        noise: which was taken, where the offer left it open.
        answered_by: the entries by which it is answered already.
        step: how many seconds each of its steps has.
        steps: the most that it may have.
        rungs: at how many times each may end; see `ReleaseTimes`.
        seconds: the most that the answer takes.
        work: how far one unit can move it, in seconds.
        memory: and in bytes.
        values: how many numbers the answer releases; None where its groups are selected.
        ledger_bytes: by how much the ledger grows, about.
        affordable: what the budget still pays for, as JSON-ready data; empty unless it was looked up for its caller.
        text: of the question, with the values of its parameters; None where it has none, and stands as it was asked.
    """

    digest: str
    cost: Cost
    together: bool
    expected: Sequence[Sequence[PlannedError]]
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
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data, as the HTTP API replies it."""
        expected = [[each._asdict() for each in columns] for columns in self.expected]
        return {
            "digest": self.digest,
            "cost": self.cost.to_json(),
            "expected": expected if self.together else expected[0],
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to a question: its answer, or why there is none; exactly one of them is None.

    Args:
        answer: to the question, or those to a workload.
        error: as its caller is told.
    """

    answer: EncodedAnswer | None = None
    error: PublicError | None = None

    def __post_init__(self) -> None:
        if (self.answer is None) is (self.error is None):
            raise InvalidArgument("a reply has an answer, or an error")

    @classmethod
    def of(cls, error: DiscreetError) -> Self:
        """The reply that there is no answer, with as much of the reason as may be told."""
        return cls(error=PublicError.of(error))

    @property
    def is_elsewhere(self) -> bool:
        """Whether another server asks the question under its key, so that there may be another reply yet."""
        return self.error is not None and self.error.code == AskedAlready.code

    @property
    def kind(self) -> Literal["answered", "refused", "failed"]:
        """As replies are counted."""
        if self.error is None:
            return "answered"
        return "failed" if self.error.category is Category.FAILED else "refused"


def as_asked(question: str | list[str]) -> str | list[str]:
    """A question as it is answered: SUMMARIZE stands for several, so it is a workload.

    Examples:
        >>> as_asked("SUMMARIZE census"), as_asked("SELECT COUNT(*) FROM census")
        (['SUMMARIZE census'], 'SELECT COUNT(*) FROM census')
    """
    return [question] if isinstance(question, str) and is_summary(question) else question


def request_of(subject: str, terms: Mapping[str, Any]) -> Request:
    """The terms of a question as they were sent, read exactly, in the name of who asks.

    Raises:
        InvalidArgument: another analyst is named; or a term is out of range or unknown.
    """
    if terms.get("analyst", subject) != subject:
        raise InvalidArgument("a question is asked in the name of the token's holder", hint="leave the analyst out")
    return replace(Request.read(terms, as_sent=True), analyst=subject)
