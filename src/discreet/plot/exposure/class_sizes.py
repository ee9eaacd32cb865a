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


def class_sizes(rows: Mapping[int, int], *, columns: Sequence[str]) -> Figure:
    """How many rows hide among how many: the histogram of uniqueness.

    Args:
        rows: size of a class → how many rows are in classes of that size; both at least 1.
        columns: the quasi-identifiers that make the classes.

    Raises:
        InvalidArgument: there are no rows, or a number is below 1.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> figure = class_sizes({1: 3, 2: 4, 40: 40}, columns=["age", "zip"])
        >>> figure.get_suptitle()
        '6.4 % of the rows are unique by age, zip'
    """
    if not rows or min(*rows.keys(), *rows.values()) < 1:
        raise InvalidArgument("class sizes are a mapping from sizes to numbers of rows, all of them 1 or more")
    total = sum(rows.values())
    bars = binned(rows.items(), _EDGES)
    alone = rows.get(1, 0) / total
    with house_style():
        figure = sheet(
            _title(f"{_exact(alone)} of the rows are unique by ", columns),
            f"Share of {total:,} rows by how many rows, their own included, agree with them on these columns.",
            height=3.7,
        )
        axes = axes_in(figure, left=1.05)
        level_bars(axes, list(bars), list(bars.values()), STROKES[0])
        by_percent(axes)
        axes.set_ylabel("rows that agree")
        axes.set_xlabel("share of the rows")
        words = "; ".join(f"{name} rows: {percent(share)}" for name, share in bars.items())
        describe(figure, f"Bars of the share of rows by the size of their class. {words}.")
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
