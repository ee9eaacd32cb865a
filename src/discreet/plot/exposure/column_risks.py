"""The figure of what each column gives away: alone, and beside all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from discreet.errors import InvalidArgument
from discreet.plot.drawing.bars import by_percent
from discreet.plot.drawing.numbers import percent
from discreet.plot.drawing.sheet import axes_in, describe, house_style, sheet
from discreet.plot.drawing.strokes import FAINT, INK, STROKES
from discreet.plot.exposure.legend import legend_above
from discreet.plot.exposure.names import at_axis, in_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 20
"""So many columns fit on a page; those that add least are left out, and the subtitle says so."""


_SHORTEST = 0.001
"""The axis goes at least as far, so that its numbers are short."""
_LEFT, _ROOM = 1.85, 1.5
"""Inches left of the axes, and those of them that names have."""


class ColumnLike(Protocol):
    """What a column adds; `discreet.anonymity` makes such."""

    @property
    def name(self) -> str:
        """Of the column."""

    @property
    def alone(self) -> int:
        """How many rows are unique by this column alone."""

    @property
    def without(self) -> int:
        """How many rows are unique by all columns but this."""


def column_risks(columns: Sequence[ColumnLike], *, total: int, unique: int, noun: str = "rows") -> Figure:
    """What each column adds: how many rows are unique by it alone, and how many would be without it.

    Args:
        columns: one or more.
        total: how many rows the table has; 1 or more.
        unique: how many of them are unique by all columns together.
        noun: what is counted, if it isn't rows: units, say.

    Raises:
        InvalidArgument: there is no column, or a number is out of range.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> from types import SimpleNamespace as column
        >>> columns = [column(name="age", alone=3, without=1), column(name="sex", alone=0, without=7)]
        >>> column_risks(columns, total=10, unique=8).get_suptitle()
        'Without age, 10 % of the rows are unique instead of 80 %'
    """
    counts = [count for column in columns for count in (column.alone, column.without)]
    if not columns or total < 1 or min(*counts, unique) < 0 or max(*counts, unique) > total:
        raise InvalidArgument(f"the figure takes one column or more, and numbers of {noun} between 0 and all of them")
    alone, without = ([count / total for count in part] for part in (counts[::2], counts[1::2]))
    together = unique / total
    order = sorted(range(len(columns)), key=lambda place: (without[place], -alone[place]))[:_MOST]
    left = f"; {len(columns) - _MOST} columns that add least aren't drawn" if len(columns) > _MOST else ""
    with house_style():
        figure = sheet(
            _title(columns[order[0]].name, without[order[0]], together, noun),
            f"{noun.capitalize()} that are unique by a column alone, and by all columns but that one{left}.",
            height=1.9 + 0.26 * len(order),
        )
        axes = axes_in(figure, left=_LEFT, right=0.3, top=0.25)
        _points(axes, [alone[place] for place in order], [without[place] for place in order], together)
        axes.set_yticks(range(len(order)), [at_axis(columns[place].name, _ROOM) for place in order])
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_ylabel("column")
        axes.set_xlabel(f"share of the {noun} that are unique")
        words = "; ".join(
            f"{columns[place].name}: alone {percent(alone[place])}, without it {percent(without[place])}"
            for place in order
        )
        describe(figure, f"Two marks for each column. By all columns {percent(together)} are unique. {words}.")
    return figure


def _title(name: str, without: float, together: float, noun: str) -> str:
    """What leaving out the column that adds most would do."""
    if not together:
        return f"None of the {noun} is unique, by one of these columns or by all of them"
    if without == together:
        return f"Whichever column is left out, {percent(together)} of the {noun} are unique"
    rest = f", {percent(without)} of the {noun} are unique instead of {percent(together)}"
    return f"Without {in_title(name, f'Without {rest}')}{rest}"


def _points(axes: Axes, alone: Sequence[float], without: Sequence[float], together: float) -> None:
    """A mark for the column alone, one for all the others, and a line at all of them."""
    places = range(len(alone))
    for shares, stroke, name in ((alone, STROKES[0], "by it alone"), (without, STROKES[1], "without it")):
        axes.plot(shares, places, linestyle="None", marker=stroke.marker, color=stroke.colour, markersize=7, label=name)
    axes.axvline(together, color=INK, linewidth=1.2, dashes=(4, 2))
    end = max(1.08 * together, *alone, *without, _SHORTEST)
    axes.set_xlim(-0.02 * end, end)
    by_percent(axes)
    axes.annotate(
        "by all",
        (together, 1),
        xycoords=axes.get_xaxis_transform(),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        color=FAINT,
    )
    legend_above(axes, right=together < end / 2)
