"""The term `within`: an accuracy that is wanted, as half a width of intervals, a number or a part of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import moderate, positive
from discreet.hints import Hint

_SPELLINGS = Hint(
    '50 for ± 50, "5%@1000" or ("5%", 1000) for ± 5 % of every value of at least 1,000',
    cli="50 for ± 50, 5%@1000 for ± 5 % of every value of at least 1,000",
)

_PAIR = 2

AccuracyLike: TypeAlias = Rationalizable | tuple[Rationalizable, Rationalizable]
"""How an accuracy can be written."""

Accuracies: TypeAlias = AccuracyLike | Mapping[str, AccuracyLike]
"""An accuracy of all columns, or by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The half width wanted of a column's interval: a number, or a part of the value.

    How large a value is nobody knows before it was paid for, so a part is of a public number: of every value that is
    at least the floor in size. Without a floor, it is of the least size that bounds allow.

    Args:
        width: of ± so much.
        part: of the value, instead.
        floor: the least size of the values that the part is meant of.
    """

    width: Fraction | None = None
    part: Fraction | None = None
    floor: Fraction | None = None

    @classmethod
    def of(cls, said: AccuracyLike) -> Self:
        """Read an accuracy exactly.

        Raises:
            InvalidArgument: it is neither a number nor a percentage, not above 0, or beyond what anyone means.

        Examples:
            >>> Accuracy.of(50).width, Accuracy.of("5%@1000") == Accuracy.of(("5%", 1000))
            (Fraction(50, 1), True)
        """
        if isinstance(said, tuple):
            if len(said) != _PAIR or not _is_percentage(said[0]):
                raise InvalidArgument(
                    "an accuracy in two parts is a percentage and the least value that it is meant for", hint=_SPELLINGS
                )
            return cls(part=_part(str(said[0])), floor=moderate(said[1], "the floor of within"))
        if isinstance(said, str) and "@" in said:
            part, _, floor = said.partition("@")
            if not floor.strip():
                raise InvalidArgument(
                    "the number after @ is the size from which on a percentage is meant", hint=_SPELLINGS
                )
            return cls.of((part.strip(), floor.strip()))
        if _is_percentage(said):
            return cls(part=_part(str(said)))
        return cls(width=moderate(said, "within"))

    def half_width(self, least: Fraction) -> Fraction | None:
        """The half width in the column's units; None if that isn't known.

        Args:
            least: the least size that the column's value can have, from public facts; 0 if it can be any.
        """
        if self.part is None:
            return self.width
        size = self.floor or least
        return self.part * size if size else None

    def __str__(self) -> str:
        if self.part is None:
            return f"± {float(self.width or 0):.4g}"
        floor = "" if self.floor is None else f" of values of at least {float(self.floor):,.6g}"
        return f"± {float(100 * self.part):.4g} %{floor}"


def read_within(within: Accuracies) -> tuple[tuple[str, Accuracy], ...]:
    """The accuracies wanted, by column; `"*"` stands for every column that isn't named.

    Raises:
        InvalidArgument: no column is named, or an accuracy can't be read.
    """
    if not isinstance(within, Mapping):
        return (("*", Accuracy.of(within)),)
    if not within:
        raise InvalidArgument(
            "within names no column", hint=Hint('within={"n": 50}, for example', cli="--within n=50, for example")
        )
    return tuple((name, Accuracy.of(said)) for name, said in within.items())


def _is_percentage(said: object) -> bool:
    """Whether it is written with a percent sign."""
    return isinstance(said, str) and said.strip().endswith("%")


def _part(text: str) -> Fraction:
    """A percentage as a part of 1."""
    return moderate(text.strip().removesuffix("%").strip(), "within") / 100


def within_to_json(within: Sequence[tuple[str, Accuracy]]) -> object:
    """Accuracies by column, as exact numbers."""
    parts = [(name, (one.width, one.part, one.floor)) for name, one in within]
    return [[name, *(None if each is None else str(each) for each in numbers)] for name, numbers in parts]


def within_from_json(data: Any, name: str) -> tuple[tuple[str, Accuracy], ...]:  # noqa: ANN401 — JSON
    """Accuracies by column."""
    found = []
    for column, *numbers in data:
        width, part, floor = (None if each is None else positive(each, name) for each in numbers)
        found.append((str(column), Accuracy(width=width, part=part, floor=floor)))
    return tuple(found)
