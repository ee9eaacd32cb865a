"""The figure of linkage: how many rows could be each person's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.plot.drawing.bars import binned, by_percent, level_bars
from discreet.plot.drawing.numbers import percent
from discreet.plot.drawing.sheet import axes_in, describe, house_style, sheet
from discreet.plot.drawing.strokes import STROKES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EDGES = (0, 1, 2, 3, 5, 10, 20, 50, 100)
"""Where a bar begins; the last has no end."""


def candidates(counts: Sequence[tuple[int, int]], *, against: str, people: str = "people") -> Figure:
    """How many candidates people have: one is a match, and few are nearly one.

    Args:
        counts: pairs of a number of candidates (0 or more) and how many people have so many (1 or more).
        against: what was linked with, in words.
        people: what they are: units, or rows where it isn't known whose these are.

    Raises:
        InvalidArgument: there is nobody, or a number is out of range.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> candidates([(0, 1), (1, 6), (30, 3)], against="raw rows").get_suptitle()
        '60 % of the people have a single candidate in raw rows'
    """
    if not counts or min(number for number, _ in counts) < 0 or min(many for _, many in counts) < 1:
        raise InvalidArgument("candidates are pairs of a number from 0 and how many people have it, from 1")
    total = sum(many for _, many in counts)
    bars = binned(counts, _EDGES)
    found = "units" if people == "units" else "rows"
    with house_style():
        figure = sheet(
            f"{percent(bars['1'])} of the {people} have a single candidate in {against}",
            f"Share of {total:,} {people} by how many {found} agree with what is known of them.",
            height=3.9,
        )
        axes = axes_in(figure, left=1.05)
        level_bars(axes, list(bars), list(bars.values()), STROKES[1], fill="////")
        by_percent(axes)
        axes.set_ylabel("candidates")
        axes.set_xlabel(f"share of the {people}")
        words = "; ".join(f"{name}: {percent(share)}" for name, share in bars.items())
        describe(figure, f"Bars of the share of {people} by how many candidates they have. {words}.")
    return figure
