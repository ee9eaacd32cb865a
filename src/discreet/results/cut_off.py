"""Cut-offs: what limits and bounds took from an answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf
from typing import Generic, TypeVar

from discreet.printable import limits_to_read
from discreet.results.columns import Ends

_Words = TypeVar("_Words")


@dataclass(frozen=True, slots=True)
class CutOff(Generic[_Words]):
    """The amount that limits cut off.

    Noise hides units that are few, however much they have. So nothing but a bound on what one unit has gives the share
    an upper end. What is said of the ends holds in all but one of 10,000 draws of the noise.

    Args:
        share: of all rows, from 0 to 1: an estimate from the units that are seen, and from how fast these get fewer;
            under limits on groups, as if a unit's rows were spread over its groups evenly.
        least: a lower bound on it.
        most: an upper bound on it; None where there is none.
        limits: those in force; in words, where the answer was read from JSON.
        ceiling: the most rows that one unit can have; None where nothing bounds them.
        shows: up to how many rows units show; None where intervals have nothing in them of what limits cut off.
        hidden: how many units may have more than that, at the confidence at which errors were announced.

    Examples:
        >>> print(CutOff(0.07, 0.06, None, "5 rows"))
        a limit of 5 rows cuts off about 7.0 %, at least 6.0 %; a few units with very many rows wouldn't show
        >>> print(CutOff(0.0, 0.0, None, "24 rows"))
        a limit of 24 rows cuts off nothing that shows; a few units with very many rows wouldn't show
        >>> print(CutOff(0.01, 0.004, 0.071, "24 rows"))
        a limit of 24 rows cuts off 0.4 % to 7.1 % of the rows
        >>> print(CutOff(0.01, 0.004, 0.071, "24 rows", ceiling=10_000, shows=96, hidden=60).upper_ends)
        ... # doctest: +NORMALIZE_WHITESPACE
        no unit with more than 96 rows shows, and up to 60 of them could hide:
        ends of intervals allow for as many, with up to 10,000 rows each
        >>> print(CutOff(0.01, 0.0, 1.0, "1 rows", ceiling=1_000, shows=0, hidden=3).upper_ends)
        ... # doctest: +NORMALIZE_WHITESPACE
        no unit shows, and up to 3 of them could hide: ends of intervals allow for as many, with up to 1,000 rows each
    """

    share: float
    least: float
    most: float | None
    limits: _Words
    ceiling: int | None = None
    shows: int | None = None
    hidden: int = 0

    def __str__(self) -> str:
        said = f"a limit of {limits_to_read(self.limits)} cuts off"
        if self.most is not None:
            return f"{said} {_range(self.least, self.most)} of the rows"
        least, about = _percent_below(self.least), _percent_below(self.share)
        shown = f"about {about}" if about else "nothing that shows"
        shown += f", at least {least}" if least else ""
        return f"{said} {shown}; a few units with very many rows wouldn't show"

    @property
    def upper_ends(self) -> str:
        """What ends of intervals rest on that many rows would move, in words; empty where nothing can hide."""
        if self.shows is None or self.hidden == 0 or (self.ceiling is not None and self.shows >= self.ceiling):
            return ""
        seen = f"no unit with more than {_rows(self.shows)} shows" if self.shows else "no unit shows"
        seen += f", and up to {self.hidden:,} of them could hide"
        if self.ceiling is None:
            return f"{seen}; nothing bounds how many rows one has, so intervals have no end on that side"
        return f"{seen}: ends of intervals allow for as many, with up to {_rows(self.ceiling)} each"


def _rows(number: int) -> str:
    """So many rows."""
    return f"{number:,} row{'' if number == 1 else 's'}"


def _percent_below(share: float) -> str:
    """A share in per cent, rounded down; empty if that leaves nothing."""
    tenths = floor(1000 * share)
    return f"{tenths / 10:.1f} %" if tenths > 0 else ""


def _range(least: float, most: float) -> str:
    """Two shares in per cent, rounded outwards."""
    above = f"{min(ceil(1000 * most), 1000) / 10:.1f} %"
    below = _percent_below(least)
    return f"{below} to {above}" if below else f"at most {above}"


@dataclass(frozen=True, slots=True)
class Moved(Generic[_Words]):
    """How many units have values that bounds move.

    Args:
        column: with its table.
        bounds: in force; in words, where the answer was read from JSON.
        share: the units with moved values among those with any values there, from 0 to 1: an estimate.
        far: the same, for values moved by more than the width of the bounds.
        margin: by how much either share may be off, in all but one of 10,000 draws of the noise.

    Examples:
        >>> print(Moved("visits.paid", "[0, 100]", share=0.031, far=0.002, margin=0.004))
        bounds of visits.paid ([0, 100]) move values of 2.7 % to 3.5 % of the units, of at most 0.6 % by more than their width; a few units with very large values wouldn't show
    """  # noqa: E501 — one line as it is printed

    column: str
    bounds: _Words
    share: float
    far: float
    margin: float

    def __str__(self) -> str:
        some, far = (_range(each - self.margin, each + self.margin) for each in (self.share, self.far))
        return (
            f"bounds of {self.column} ({self.bounds}) move values of {some} of the units, of {far} by more than their "
            "width; a few units with very large values wouldn't show"
        )


def unless_hidden_in_words(name: str, found: Ends, shows: int) -> str:
    """The interval that holds if no unit has more rows than those that show, in words.

    Examples:
        >>> unless_hidden_in_words("n", (187400, 203000), 96)
        'n if no unit has more than 96 rows: 187,400 to 203,000'
        >>> unless_hidden_in_words("n", (-5, 8), 0)  # a unit with one row is within any limit
        'n if no unit has more than 1 row: -5 to 8'
    """
    low, high = found or (0, inf)
    shown = [f"{end:,}" if isinstance(end, int) else f"{end:,.6g}" for end in (low, high)]
    return f"{name} if no unit has more than {_rows(max(shows, 1))}: {' to '.join(shown)}"
