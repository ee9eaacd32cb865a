"""Cut-offs: what limits and bounds took from an answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf
from typing import Any, Generic, TypeVar

from discreet.results.columns import Ends

_Words = TypeVar("_Words")

_NEARLY = 1e-9
"""Limits leave at least this part of what is counted."""


@dataclass(frozen=True, slots=True)
class CutOff(Generic[_Words]):
    """The amount that limits cut off.

    Noise hides units that are few, however much they have. So nothing but a bound on what one unit has gives the share
    an upper end. What is said of the ends holds in all but one of 10,000 draws of the noise.

    Args:
        share: of all rows, from 0 to 1: an estimate from the units that are seen; under limits on groups, as if a
            unit's rows were spread over its groups evenly.
        least: a lower bound on it.
        most: an upper bound on it; None where there is none.
        limits: those in force; in words, where the answer was read from JSON.

    Examples:
        >>> print(CutOff(0.07, 0.06, None, "5 rows"))  # doctest: +NORMALIZE_WHITESPACE
        limits (5 rows) cut off 7.0% of what is seen, at least 6.0% of all;
        a few units with very many rows wouldn't show
        >>> print(CutOff(0.0, 0.0, None, "24 rows"))
        limits (24 rows) cut off nothing that shows; a few units with very many rows wouldn't show
        >>> print(CutOff(0.01, 0.004, 0.071, "24 rows"))
        limits (24 rows) cut off 0.4% to 7.1% of the rows
    """

    share: float
    least: float
    most: float | None
    limits: _Words

    def __str__(self) -> str:
        said = f"limits ({self.limits}) cut off"
        if self.most is not None:
            return f"{said} {_range(self.least, self.most)} of the rows"
        least, seen = _percent_below(self.least), _percent_below(self.share)
        shown = f"{seen} of what is seen" if seen else "nothing that shows"
        shown += f", at least {least} of all" if least else ""
        return f"{said} {shown}; a few units with very many rows wouldn't show"


def _percent_below(share: float) -> str:
    """A share in per cent, rounded down; empty if that leaves nothing."""
    tenths = floor(1000 * share)
    return f"{tenths / 10:.1f}%" if tenths > 0 else ""


def _range(least: float, most: float) -> str:
    """Two shares in per cent, rounded outwards."""
    above = f"{min(ceil(1000 * most), 1000) / 10:.1f}%"
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
        bounds of visits.paid ([0, 100]) move values of 2.7% to 3.5% of the units, of at most 0.6% by more than their width; a few units with very large values wouldn't show
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


def with_cut_off(found: Ends, cut_off: CutOff[Any]) -> Ends:
    """An interval of a count that limits bound, with what they cut off.

    Args:
        found: of the count of rows within limits.
        cut_off: what limits cut off of these rows.

    Returns:
        That of all rows; its upper end is infinite where nothing bounds what is cut off.
    """
    if found is None:
        return None
    low, high = found
    above = inf if cut_off.most is None or cut_off.most >= 1 else max(high, 0) / (1 - cut_off.most)
    return floor(max(low, 0) / (1 - min(cut_off.least, 1 - _NEARLY))), above if above == inf else ceil(above)


def all_rows_in_words(name: str, found: Ends) -> str:
    """Such an interval, in words.

    Examples:
        >>> all_rows_in_words("n", (187400, 203000)), all_rows_in_words("n", (187400, inf))
        ('n with what limits cut off: 187,400 to 203,000', 'n with what limits cut off: at least 187,400')
    """
    low, high = found or (0, inf)
    ends = f"at least {low:,}" if high == inf else f"{low:,} to {high:,}"
    return f"{name} with what limits cut off: {ends}"
