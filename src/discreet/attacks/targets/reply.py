"""Replies: what comes back for one question, and what all of them came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
