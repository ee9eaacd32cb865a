"""The targets of attacks on answers: what is asked, what comes back, and how sure an attacker may be of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import repeat
from math import erf, hypot, sqrt

from discreet.attacks.targets.sql_conditions import Conditions, question, quoted, where
from discreet.privacy import KeyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The facts that every reply has.

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
    """The reply to a question that asks for one number.

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
    """The reply to a question that asks for the number of people in each group.

    Args:
        counts: for each group, by its key; empty if it was refused.
    """

    counts: Mapping[tuple[KeyValue, ...], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The bill for an attacker's questions.

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

    Where rows have units, people are units: each counts once, however many rows they have.

    Attributes:
        table: what questions call the table.
        unit: the column that says whose a row is; None if each row is a unit of its own.
        replies: all that was replied so far, in order.
    """

    def __init__(self, table: str, *, unit: str | None = None) -> None:
        self.table = table
        self.unit = unit
        self.replies: list[Replied] = []

    @property
    @abstractmethod
    def against(self) -> str:
        """The target, in the words of a result."""

    @property
    def counting(self) -> str:
        """The SQL that counts people: units, or rows if each is a unit of its own."""
        return "COUNT(*)" if self.unit is None else f"COUNT(DISTINCT {quoted(self.unit)})"

    @property
    def overlaps(self) -> bool:
        """Whether one person may be in several groups of an answer, so that groups don't add up to everyone."""
        return self.unit is not None

    @abstractmethod
    def _reply(self, sql: str) -> Reply:
        """Answer, or refuse."""

    def ask(self, sql: str) -> Reply:
        """Ask a question whose answer is one number.

        Raises:
            QueryError: the question isn't one that is answered here, no matter who asks and what is left to spend.
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
        """The bill for all questions so far."""
        return Bill.of(self.replies)


HALF = 0.5
"""The distance within which a whole number is distinguished from all others."""


def deviation_of(replies: Iterable[Reply], factors: Iterable[Fraction] | None = None) -> float | None:
    """The standard deviation of the noise in a combination of replies; None if that of one is unknown.

    Noise of different answers is independent, so the squares add up.

    Args:
        replies: what is combined.
        factors: by which each is multiplied; all 1 or −1, as in a sum or a difference, if left out. A term with the
            factor 0 doesn't count.

    Examples:
        >>> both = [Reply(value=5, deviation=3.0, epsilon=1.0), Reply(value=7, deviation=4.0, epsilon=1.0)]
        >>> deviation_of(both), deviation_of(both, [Fraction(1, 3), Fraction(0)])
        (5.0, 1.0)
    """
    weights = repeat(Fraction(1)) if factors is None else factors
    used = [(reply.deviation, abs(factor)) for reply, factor in zip(replies, weights, strict=False) if factor]
    known = [deviation * float(factor) for deviation, factor in used if deviation is not None]
    return hypot(*known) if len(known) == len(used) else None


def sureness(deviation: float | None) -> float:
    """How often noise of this standard deviation stays within ±½; 0 where it is unknown. The noise is taken for normal.

    Examples:
        >>> sureness(0), round(sureness(0.25), 3), round(sureness(20), 3)
        (1.0, 0.954, 0.02)
    """
    if deviation is None:
        return 0.0
    return 1.0 if deviation == 0 else erf(HALF / (sqrt(2) * deviation))


def is_right(found: float | None, truth: float | None) -> bool | None:
    """Whether a number is the true one, to the nearest whole; None where either is unknown."""
    return None if found is None or truth is None else abs(found - truth) < HALF
