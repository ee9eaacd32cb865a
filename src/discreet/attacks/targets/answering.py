"""Whoever answers, and what comes back: what attacks on answers are run against, exact or private."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from discreet.attacks.targets.wording import Conditions, question, quoted, where
from discreet.privacy import KeyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """What every reply says of itself.

    Args:
        deviation: the standard deviation of the noise in each number: 0 if it is exact, None where it is unknown.
        epsilon: what it cost in pure ε: 0 for what was released before, infinite for what no ε bounds.
        reused: whether it was released before, so that it holds no new noise.
        refusal: the code of the error that refused it; empty if it was answered.
    """

    deviation: float | None
    epsilon: float
    reused: bool = False
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Replied):
    """What came back for a question that asks for one number.

    Args:
        value: the number; None if it was refused.
    """

    value: float | None

    @classmethod
    def refused(cls, code: str) -> Reply:
        """A refusal, which costs nothing."""
        return cls(value=None, deviation=None, epsilon=0.0, refusal=code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Replied):
    """What came back for a question that asks for the number of people in each group.

    Args:
        counts: of each group, by its key; empty if it was refused.
    """

    counts: Mapping[tuple[KeyValue, ...], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What an attacker's questions came to.

    Args:
        asked: how many questions.
        fresh: how many answers held noise of their own, or none at all.
        reused: how many answers had been released before.
        refused: how many were refused.
        epsilon: what the answers cost together; infinite if some of them are exact, or bounded in other terms only.

    Examples:
        >>> exact = Reply(value=56, deviation=0.0, epsilon=float("inf"))
        >>> Bill.of([exact, exact, Reply.refused("budget_exhausted")])
        Bill(asked=3, fresh=2, reused=0, refused=1, epsilon=inf)
    """

    asked: int
    fresh: int
    reused: int
    refused: int
    epsilon: float

    @classmethod
    def of(cls, replies: Iterable[Replied]) -> Bill:
        """Add replies up."""
        listed = list(replies)
        refused = sum(1 for reply in listed if reply.refusal)
        reused = sum(1 for reply in listed if reply.reused)
        return cls(
            asked=len(listed),
            fresh=len(listed) - refused - reused,
            reused=reused,
            refused=refused,
            epsilon=sum((reply.epsilon for reply in listed), 0.0),
        )


class Answering(ABC):
    """Something that answers questions about a table, one number each.

    Where rows have units, people are units: whoever is counted counts once, however many rows they have.

    Attributes:
        table: what questions call the table.
        unit: the column that says whose a row is; None if each row is a unit of its own.
        replies: all that was replied so far, in order.
    """

    def __init__(self, table: str, *, unit: str | None = None) -> None:
        """Nothing was asked yet."""
        self.table = table
        self.unit = unit
        self.replies: list[Replied] = []

    @property
    @abstractmethod
    def against(self) -> str:
        """What it is, in the words of a result."""

    @property
    def counting(self) -> str:
        """What counts people, in SQL: units, or rows if each is a unit of its own."""
        return "COUNT(*)" if self.unit is None else f"COUNT(DISTINCT {quoted(self.unit)})"

    @property
    def overlaps(self) -> bool:
        """Whether somebody may be in several groups of one answer, so that groups don't add up to everybody."""
        return self.unit is not None

    @abstractmethod
    def _reply(self, sql: str) -> Reply:
        """Answer, or refuse."""

    def ask(self, sql: str) -> Reply:
        """Ask a question whose answer is one number.

        Raises:
            QueryError: the question isn't one that is answered here, whoever asks and whatever is left to spend.
        """
        reply = self._reply(sql)
        self.replies.append(reply)
        return reply

    def aggregate(self, measure: str, condition: str = "TRUE") -> Reply:
        """An aggregate, such as `SUM(income)`, of the rows that meet a condition in SQL."""
        return self.ask(question(measure, condition, self.table))

    def count(self, conditions: Conditions) -> Reply:
        """How many people meet these conditions: by any row of theirs, if they have several."""
        return self.aggregate(self.counting, where(conditions))

    def counts(self, conditions: Iterable[Conditions]) -> tuple[float | None, ...]:
        """How many people meet each of these; None for what was refused."""
        return tuple(self.count(each).value for each in conditions)

    def by_value(self, column: str, values: Sequence[object], conditions: Conditions) -> Histogram:
        """How many people that meet these conditions have each of these values of a column, by the same row.

        Args:
            column: its name.
            values: one or more, or lists of values; a count is called by its place.
            conditions: on other columns.
        """
        replies: list[Reply] = []
        for value in values:
            replies.append(self.count({**conditions, column: value}))
            if replies[-1].refusal:
                break
        return Histogram(
            counts={(place,): reply.value for place, reply in enumerate(replies) if reply.value is not None},
            deviation=replies[-1].deviation,
            epsilon=Bill.of(replies).epsilon,
            refusal=replies[-1].refusal,
        )

    @property
    def bill(self) -> Bill:
        """What all questions so far came to."""
        return Bill.of(self.replies)
