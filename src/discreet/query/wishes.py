"""Wishes: how accurate an analyst wants a column to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import moderate

_FORMS = '50 for ± 50, "5%@1000" or ("5%", 1000) for ± 5 % of every value of at least 1,000'

_PAIR = 2

WishLike: TypeAlias = Rationalizable | tuple[Rationalizable, Rationalizable]
"""How a wish can be written."""

Within: TypeAlias = WishLike | Mapping[str, WishLike]
"""A wish for all columns, or by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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
    def of(cls, wish: WishLike) -> Self:
        """Read a wish exactly.

        Raises:
            InvalidArgument: it is neither a number nor a percentage, not above 0, or beyond what anybody means.

        Examples:
            >>> Wish.of(50).width, Wish.of("5%@1000") == Wish.of(("5%", 1000))
            (Fraction(50, 1), True)
        """
        if isinstance(wish, tuple):
            if len(wish) != _PAIR or not _is_percentage(wish[0]):
                raise InvalidArgument("a wish in two parts is a percentage and the least value it is of", hint=_FORMS)
            return cls(part=_part(str(wish[0])), floor=moderate(wish[1], "the floor of within"))
        if isinstance(wish, str) and "@" in wish:
            part, _, floor = wish.partition("@")
            return cls.of((part.strip(), floor.strip()))
        if _is_percentage(wish):
            return cls(part=_part(str(wish)))
        return cls(width=moderate(wish, "within"))

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
        """The wish in words."""
        if self.part is None:
            return f"± {float(self.width or 0):.4g}"
        floor = "" if self.floor is None else f" of values of at least {float(self.floor):,.6g}"
        return f"± {float(100 * self.part):.4g} %{floor}"


def wishes(within: Within | None) -> tuple[tuple[str, Wish], ...]:
    """The wishes by column; `"*"` stands for every column that isn't named.

    Raises:
        InvalidArgument: no column is named, or a wish can't be read.
    """
    if within is None:
        return ()
    if not isinstance(within, Mapping):
        return (("*", Wish.of(within)),)
    if not within:
        raise InvalidArgument("within names no column", hint='within={"n": 50}, for example')
    return tuple((name, Wish.of(wish)) for name, wish in within.items())


def _is_percentage(wish: object) -> bool:
    """Whether it is written with a percent sign."""
    return isinstance(wish, str) and wish.strip().endswith("%")


def _part(text: str) -> Fraction:
    """A percentage as a part of 1."""
    return moderate(text.strip().removesuffix("%").strip(), "within") / 100
