"""How reports say numbers and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.anonymity.records import Missing

_LEAST = 0.001


def percent(share: float) -> str:
    """A share in percent, with three digits; what isn't nothing or all never looks as if it were.

    Examples:
        >>> percent(0.5143), percent(0.99999), percent(1), percent(0.00001)
        ('51.4 %', '> 99.9 %', '100 %', '< 0.1 %')
    """
    if 0 < share < _LEAST:
        return f"< {100 * _LEAST:.3g} %"
    if 1 - _LEAST < share < 1:
        return f"> {100 * (1 - _LEAST):.3g} %"
    return f"{100 * share:.3g} %"


@dataclass(frozen=True, slots=True)
class Noun:
    """The noun for what is counted.

    Args:
        one: a single one.
        many: several.

    Examples:
        >>> Noun.of(()).counted(2), Noun.of(("patient",)).counted(1)
        ('2 rows', '1 unit')
    """

    one: str
    many: str

    @classmethod
    def of(cls, unit: Sequence[str]) -> Noun:
        """Rows, unless columns say whose a row is."""
        return cls("unit", "units") if unit else cls("row", "rows")

    def counted(self, count: int) -> str:
        """A number of them."""
        return f"{count:,} {self.one if count == 1 else self.many}"


def hide(count: int) -> str:
    """The verb for a number of rows or units.

    Examples:
        >>> hide(1), hide(2)
        ('hides', 'hide')
    """
    return "hides" if count == 1 else "hide"


def taken_as(missing: Missing) -> str:
    """How missing values were read.

    Examples:
        >>> taken_as(Missing.OWN_VALUE)
        'a value of their own'
    """
    return {Missing.OWN_VALUE: "a value of their own", Missing.WILDCARD: "any value", Missing.REFUSE: "an error"}[
        missing
    ]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    Examples:
        >>> listed(["a"]), listed(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
