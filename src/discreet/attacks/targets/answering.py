"""What attacks on answers are run against: what is asked, what comes back, and how sure an attacker may be of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from math import erf, hypot, isfinite, sqrt
from typing import TypeAlias

from discreet.errors import InvalidArgument
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

    Where rows have units, people are units: who is counted counts once, however many rows they have.

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
        """What all questions so far came to."""
        return Bill.of(self.replies)


HALF = 0.5
"""Within this distance a whole number is told from all others."""


def deviation_of(replies: Iterable[Reply], factors: Iterable[Fraction] | None = None) -> float | None:
    """The standard deviation of the noise in a combination of replies; None if that of one is unknown.

    Noise of different answers is independent, so the squares add up.

    Args:
        replies: what is combined.
        factors: by which each is multiplied; all 1 or −1, as in a sum or a difference, if left out. What is multiplied
            by 0 doesn't count.

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


# ── Questions, and conditions on rows, as SQL ─────────────────────────────────────────────────────────────────────────

Conditions: TypeAlias = Mapping[str, object]
"""Column → the value that a row must have, or a list, set or range of values; all must agree."""


@dataclass(frozen=True, slots=True)
class Between:
    """Values from one to another, both included.

    Args:
        low: the smallest.
        high: the largest.

    Examples:
        >>> print(where({"age": Between(39, 41)}))
        "age" BETWEEN 39 AND 41
    """

    low: object
    high: object


def where(conditions: Conditions) -> str:
    """Conditions as SQL; the empty ones hold of every row.

    Args:
        conditions: values are texts, numbers, booleans, dates, `Between` two of them, and None for a missing value.

    Raises:
        InvalidArgument: a value that SQL can't write, or an empty list of them.

    Examples:
        >>> print(where({"sex": "Female", "age": range(40, 42)}))
        "sex" = 'Female' AND "age" IN (40, 41)
        >>> print(where({"age": [39, None]}))
        ("age" IN (39) OR "age" IS NULL)
    """
    return " AND ".join(_condition(quoted(column), value) for column, value in conditions.items()) or "TRUE"


def question(measure: str, condition: str, table: str) -> str:
    """One aggregate of the rows that meet a condition.

    Args:
        measure: an aggregate in SQL, such as `COUNT(*)`.
        condition: in SQL.
        table: its name.

    Examples:
        >>> print(question("COUNT(*)", "age >= 40", "census"))
        SELECT COUNT(*) AS value FROM "census" WHERE age >= 40
    """
    return f"SELECT {measure} AS value FROM {quoted(table)} WHERE {condition}"  # noqa: S608 — attackers word their questions freely, and what they are asked through decides


def which(column: str, values: Sequence[object]) -> str:
    """The place of a column's value among some values, as an expression: nobody needs to have said which there are.

    Args:
        column: its name.
        values: one or more; others get the place behind them.

    Examples:
        >>> print(which("ill", ["flu", None]))
        CASE WHEN "ill" = 'flu' THEN 0 WHEN "ill" IS NULL THEN 1 ELSE 2 END
    """
    cases = " ".join(f"WHEN {_condition(quoted(column), value)} THEN {place}" for place, value in enumerate(values))
    return f"CASE {cases} ELSE {len(values)} END"


def _condition(column: str, value: object) -> str:
    """One column's condition."""
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, Between):
        return f"{column} BETWEEN {_literal(value.low)} AND {_literal(value.high)}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        values = list(value)
        listed = ", ".join(_literal(each) for each in values if each is not None)
        if not values:
            raise InvalidArgument(f"the condition on {column} lists no value")
        known = f"{column} IN ({listed})" if listed else ""
        missing = f"{column} IS NULL" if None in values else ""
        return f"({known} OR {missing})" if known and missing else known or missing
    return f"{column} = {_literal(value)}"


def quoted(name: str) -> str:
    """A name of a column or table as SQL writes it, whatever it holds.

    Examples:
        >>> print(quoted('the "zip" code'))
        "the ""zip"" code"
    """
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    """A value as SQL writes it."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case int() | Decimal():
            return str(value)
        case float() if isfinite(value):
            return repr(value)
    raise InvalidArgument(f"a condition can't be on a {type(value).__name__}", hint="texts, numbers, dates and flags")
