"""Figures of exposure in a table: among how few each person hides, and what each column adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from discreet.errors import InvalidArgument
from discreet.textbook.plots.marks import STROKES, binned, by_percent, legend_above, level_bars
from discreet.textbook.plots.numbers import percent
from discreet.textbook.plots.sheet import FAINT, INK, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
from discreet.textbook.plots.fitting import at_axis, in_title

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
            _sizes_title(f"{_exact(alone)} of the {noun} are unique by ", columns),
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


def _sizes_title(says: str, columns: Sequence[str]) -> str:
    """The message, with as many columns as a title holds, and part of one if it holds none."""
    for most in (3, 2, 1):
        more = "" if len(columns) <= most else f" and {len(columns) - most} more"
        names = ", ".join(columns[:most])
        if in_title(names, says + more) == names:
            break
    return f"{says}{in_title(names, says + more)}{more}"


_MOST = 20
"""How many columns fit on a page. Those that add least are left out, and the subtitle says so."""

_SHORTEST = 0.001
"""The axis goes at least as far, so that its numbers are short."""
_LEFT, _ROOM = 1.85, 1.5
"""Inches left of the axes, and those of them that names have."""


class ColumnLike(Protocol):
    """A column and what it adds; `discreet.anonymity` makes such."""

    @property
    def name(self) -> str:
        """The name of the column."""

    @property
    def alone(self) -> int:
        """How many rows are unique by this column alone."""

    @property
    def without(self) -> int:
        """How many rows are unique by all columns but this."""


def column_risks(columns: Sequence[ColumnLike], *, total: int, unique: int, noun: str = "rows") -> Figure:
    """The part that each column adds: how many rows are unique by it alone, and how many would be without it.

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
            _columns_title(columns[order[0]].name, without[order[0]], together, noun),
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


def _columns_title(name: str, without: float, together: float, noun: str) -> str:
    """The effect of leaving out the column that adds most."""
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
