"""Marks: lines, bars and their names, told apart by colour, by pattern and by marker, each alone enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from discreet.errors import InvalidArgument
from discreet.textbook.plots.numbers import percent
from discreet.textbook.plots.sheet import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Dashes: TypeAlias = tuple[float, ...]
"""Lengths of dashes and gaps in turn, in widths of the line; empty for an unbroken line."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """How one series is drawn.

    Args:
        colour: of its line, its areas and its markers; at least 3 to 1 against the paper.
        ink: the same hue for its label, dark enough to be read: at least 4.5 to 1.
        dashes: the pattern of its line.
        marker: what sits on its line, by Matplotlib's name.
    """

    colour: str
    ink: str
    dashes: Dashes
    marker: str

    @property
    def pattern(self) -> Literal["solid"] | tuple[float, Dashes]:
        """The pattern as Matplotlib takes it."""
        return (0, self.dashes) if self.dashes else "solid"


STROKES = (
    Stroke("#0072B2", "#0067A1", (), "o"),
    Stroke("#D55E00", "#AD4C00", (6, 2), "^"),
    Stroke("#000000", "#000000", (1, 1.2), "s"),
    Stroke("#009E73", "#007556", (7, 2, 1.5, 2), "D"),
    Stroke("#CC79A7", "#9C4675", (10, 3), "v"),
    Stroke("#000000", "#000000", (7, 2, 1.2, 2, 1.2, 2), "P"),
)
"""The colours of Okabe and Ito that can be seen on white. People who are blind to red or green can tell them apart.
Black is there twice, since two of the palette are too pale for lines.

Source: Okabe, Ito (2008), "Color Universal Design".
"""


def strokes(count: int) -> tuple[Stroke, ...]:
    """As many different strokes as there are series.

    Raises:
        InvalidArgument: there is nothing to draw, or more than can be told apart.

    Examples:
        >>> [stroke.marker for stroke in strokes(2)]
        ['o', '^']
    """
    if not 1 <= count <= len(STROKES):
        raise InvalidArgument(
            f"a figure shows from 1 to {len(STROKES)} series, not {count}", hint="more look alike in grey"
        )
    return STROKES[:count]


_APART = 0.14
"""How far markers of a line are from each other, as a share of the axes' diagonal."""

_SIZE = 5
"""Points: of a marker."""


def draw_lines(
    axes: Axes, xs: Sequence[float], series: Mapping[str, Sequence[float]], chosen: Sequence[Stroke]
) -> None:
    """Draw each series as a line. Markers are staggered, so that lines on top of each other are both seen.

    Args:
        axes: where to.
        xs: the same for all series.
        series: by name, a number for each x.
        chosen: how each is drawn.
    """
    for number, (ys, stroke) in enumerate(zip(series.values(), chosen, strict=True)):
        axes.plot(
            xs,
            ys,
            color=stroke.colour,
            linestyle=stroke.pattern,
            marker=stroke.marker,
            markersize=_SIZE,
            markevery=(_APART * number / len(series), _APART),
        )


def key_beside(axes: Axes, names: Sequence[str], chosen: Sequence[Stroke]) -> None:
    """List the lines to the right of the axes, each with a sample: where their ends have no room for names."""
    from matplotlib.lines import Line2D

    samples = [
        Line2D([], [], color=one.colour, linestyle=one.pattern, marker=one.marker, markersize=_SIZE) for one in chosen
    ]
    legend = axes.legend(
        samples,
        names,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        frameon=False,
        handlelength=4,
        labelspacing=0.9,
        borderaxespad=0.4,
        fontsize=8.5,
    )
    for text, stroke in zip(legend.get_texts(), chosen, strict=True):
        text.set_color(stroke.ink)


_POINTS = 8.5
_LEADING = 1.25
"""How high a line of text is, in its own size."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a line ends, and what it is called.

    Args:
        name: of the line; may have several lines of text.
        at: the line's last point, in the axes' numbers.
        stroke: how the line is drawn.
    """

    name: str
    at: tuple[float, float]
    stroke: Stroke


def name_ends(axes: Axes, endings: Sequence[Ending]) -> None:
    """Write the name of each line to the right of where it ends. Call it when the axes' limits are final.

    A name that had to move away from its line is joined to it by a thin one.
    """
    box = axes.get_window_extent()
    unit = axes.figure.dpi / 72 / box.height  # one point, as a share of the axes' height
    where = [axes.transAxes.inverted().transform(axes.transData.transform(ending.at)) for ending in endings]
    lines = [ending.name.count("\n") + 1 for ending in endings]
    heights = [count * _POINTS * _LEADING * unit for count in lines]
    wanted = [min(max(float(y), 0.0), 1.0) for _, y in where]
    for ending, (x, _), y, placed in zip(endings, where, wanted, apart(wanted, heights), strict=True):
        axes.annotate(
            ending.name,
            xy=(float(x), y),
            xytext=(1.035, placed),
            xycoords="axes fraction",
            textcoords="axes fraction",
            ha="left",
            va="center",
            color=ending.stroke.ink,
            fontsize=_POINTS,
            linespacing=1.1,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": ending.stroke.ink,
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def apart(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Middles for labels that are near the wanted ones, in their order, and don't overlap.

    Labels that would touch form a block, which is put where its labels are off by least on average (pool adjacent
    violators).

    Examples:
        >>> [round(middle, 2) for middle in apart([0.5, 0.52, 0.9], [0.1, 0.1, 0.1])]
        [0.46, 0.56, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    blocks: list[tuple[list[int], float]] = []  # the labels of a block, and its lower end
    for place in order:
        members, low = [place], wanted[place] - heights[place] / 2
        while blocks and blocks[-1][1] + sum(heights[member] for member in blocks[-1][0]) > low:
            members = [*blocks.pop()[0], *members]
            offsets = [sum(heights[before] for before in members[:number]) for number in range(len(members))]
            lows = [wanted[one] - heights[one] / 2 - off for one, off in zip(members, offsets, strict=True)]
            low = sum(lows) / len(lows)
        blocks.append((members, low))
    middles = [0.0] * len(wanted)
    for members, low in blocks:
        for member in members:
            middles[member] = low + heights[member] / 2
            low += heights[member]  # noqa: PLW2901 — the block is walked upwards
    return middles


_CELL = 1.0
"""How much of a whole number's width its dots may take."""


def stacked(values: Sequence[int], room: float) -> list[tuple[float, int]]:
    """Where each dot goes, and on which level from 1 on, so that none hides another: as low as there is room.

    Args:
        values: whole numbers, in order.
        room: how wide a dot is, on the same scale.

    Examples:
        >>> stacked([1, 1, 1, 4], room=0.5)
        [(0.75, 1), (1.25, 1), (1.0, 2), (4.0, 1)]
    """
    across = max(int(_CELL / room), 1)
    ends: list[float] = []  # of each level
    placed = []
    for value, count in sorted(Counter(values).items()):
        level = 0
        for start in range(0, count, across):
            row = min(across, count - start)
            left = value - (row - 1) * room / 2
            level = next((place for place in range(level, len(ends)) if left - ends[place] >= room), len(ends))
            ends[level : level + 1] = [value + (row - 1) * room / 2]
            placed += [(left + number * room, level + 1) for number in range(row)]
            level += 1
    return placed


FILLS = ("", "////", "....")
"""Patterns that tell kinds of bars apart without colour."""

_ROOM = 1.14
"""The axis goes on behind the longest bar, so that its number has room."""


def binned(counts: Iterable[tuple[int, int]], edges: Sequence[int]) -> dict[str, float]:
    """The share of the whole in each bin, by what the bin is called.

    Args:
        counts: pairs of a number, none below the first edge, and how many have it; together above 0.
        edges: where a bin begins, rising; the last has no end.

    Examples:
        >>> binned([(1, 3), (4, 1)], (1, 2, 5))
        {'1': 0.75, '2 to 4': 0.25, '5 or more': 0.0}
    """
    listed = list(counts)
    total = sum(count for _, count in listed)
    shares = {}
    for low, end in zip(edges, [*edges[1:], None], strict=True):
        within = sum(count for number, count in listed if number >= low and (end is None or number < end))
        name = f"{low} or more" if end is None else str(low) if end - low == 1 else f"{low} to {end - 1}"
        shares[name] = within / total
    return shares


def level_bars(axes: Axes, names: Sequence[str], shares: Sequence[float], stroke: Stroke, *, fill: str = "") -> None:
    """Draw shares as bars from left to right, the first on top, each with its percentage at its end.

    Args:
        axes: where to.
        names: what each bar is.
        shares: in [0, 1].
        stroke: the bars' colour.
        fill: one of `FILLS`.
    """
    places = list(range(len(names)))
    axes.barh(
        places,
        list(shares),
        height=0.64,
        facecolor=f"{stroke.colour}33",
        edgecolor=stroke.colour,
        hatch=fill,
        linewidth=1.0,
    )
    for place, share in zip(places, shares, strict=True):
        axes.annotate(
            percent(share),
            (share, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize=8.5,
        )
    axes.set_yticks(places, list(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, _ROOM * max([*shares, 1e-9]))
    axes.grid(visible=False, axis="y")


def by_percent(axes: Axes) -> None:
    """Write the horizontal axis in percent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))


def legend_above(axes: Axes, *, right: bool = False) -> None:
    """Write the legend in one line above the axes, at their left end or at their right one."""
    axes.legend(
        loc="lower right" if right else "lower left",
        bbox_to_anchor=(1 if right else 0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=8.5,
        handletextpad=0.2,
        borderaxespad=0.1,
        columnspacing=1.5,
    )
