"""The figure of class sizes: among how few each person hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.plot.drawing.bars import binned, by_percent, level_bars
from discreet.plot.drawing.numbers import percent
from discreet.plot.drawing.sheet import axes_in, describe, house_style, sheet
from discreet.plot.drawing.strokes import STROKES
from discreet.plot.exposure.names import in_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where a bar begins; the last has no end."""


def class_sizes(counts: Mapping[int, int], *, columns: Sequence[str], noun: str = "rows") -> Figure:
    """How many rows hide among how many: the histogram of uniqueness.

    Args:
        counts: size of a class, at least 1 → how many rows are in classes of that size; one or more in all.
        columns: the quasi-identifiers that make the classes.
        noun: what is counted, if it isn't rows: units, say.

    Raises:
        InvalidArgument: nothing is counted, or a number is out of range.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> figure = class_sizes({1: 3, 2: 4, 40: 40}, columns=["age", "zip"])
        >>> figure.get_suptitle()
        '6.4 % of the rows are unique by age, zip'
    """
    total = sum(counts.values())
    if not total or min(counts) < 1 or min(counts.values()) < 0:
        raise InvalidArgument(
            f"class sizes are a mapping from sizes of 1 or more to numbers of {noun}, of which some occur"
        )
    bars = binned(counts.items(), _EDGES)
    alone = counts.get(1, 0) / total
    with house_style():
        figure = sheet(
            _title(f"{_exact(alone)} of the {noun} are unique by ", columns),
            f"Share of {total:,} {noun} by how many {noun}, their own included, agree with them on these columns.",
            height=3.7,
        )
        axes = axes_in(figure, left=1.05)
        level_bars(axes, list(bars), list(bars.values()), STROKES[0])
        by_percent(axes)
        axes.set_ylabel(f"{noun} that agree")
        axes.set_xlabel(f"share of the {noun}")
        words = "; ".join(f"{name} {noun}: {percent(share)}" for name, share in bars.items())
        describe(figure, f"Bars of the share of {noun} by the size of their class. {words}.")
    return figure


def _exact(share: float) -> str:
    """A share in percent with a digit more than bars have."""
    return f"{100 * share:.2g} %" if 0 < share < 0.1 else percent(share)  # noqa: PLR2004 — below it a digit is lost


def _title(says: str, columns: Sequence[str]) -> str:
    """What is said, and of which columns: as many of them as a title holds, and part of one if it holds none."""
    for most in (3, 2, 1):
        more = "" if len(columns) <= most else f" and {len(columns) - most} more"
        names = ", ".join(columns[:most])
        if in_title(names, says + more) == names:
            break
    return f"{says}{in_title(names, says + more)}{more}"
