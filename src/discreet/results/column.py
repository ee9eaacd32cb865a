"""Columns of an answer: values, and how far the noise may have carried each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

Ends: TypeAlias = tuple[End, End] | None
"""An interval; None where there is none."""


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of an answer.

    Args:
        name: of the column.
        kind: of its values, as in `dp.Kind`: "integer", "real", "text", "boolean", "date" or "timestamp".
        values: one for each row; None is NULL, and a list has several.
        deviation: the standard deviation of the noise in each value, where it is the same in all of them, and known.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = field(repr=False)
    deviation: float | None = None


class Intervals(Protocol):
    """Where an answer's intervals come from: the noise that was added, or the JSON that it was read from."""

    def __call__(self, name: str, confidence: Fraction) -> Sequence[Ends]:
        """The interval of each value of a column.

        Raises:
            InvalidArgument: they aren't known at this confidence.
        """
        ...
