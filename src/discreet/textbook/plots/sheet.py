"""Sheets: empty figures with a message above, and words for those who can't see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from discreet.errors import ExtraMissing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#222222"
"""Text and axes."""

FAINT = "#595959"
"""Subtitles and remarks; still 7 to 1 against the paper."""

GRID = "#d9d9d9"
"""Lines that help the eye and say nothing."""

PAPER = "#ffffff"
"""The background, whatever the page around the figure looks like."""

WIDTH = 7.2
"""Inches: a column of text; at 100 dots an inch, a column of a page on a screen."""

_TOP, _MARGIN = 0.72, 0.25
"""Inches: the room of the message above, and what stays empty at the edges."""

_LETTERS, _LINE = 100, 0.16
"""Letters on a line of a note, and inches that a line takes."""

_STYLE: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.unicode_minus": True,
    "figure.dpi": 100,
    "figure.facecolor": PAPER,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # the first comes with Matplotlib; browsers may lack it
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "path.sketch": None,
    "savefig.bbox": "standard",
    "savefig.dpi": 200,
    "savefig.transparent": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "discreet",  # names inside of the file depend on what is drawn alone
    "text.color": INK,
    "text.parse_math": False,  # a name with dollar signs is a name
    "xtick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house's style, whatever Matplotlib's settings on this machine are; they come back afterwards.

    Raises:
        ExtraMissing: Matplotlib isn't installed.
    """
    try:
        from matplotlib import style
    except ModuleNotFoundError:
        raise ExtraMissing(
            "figures need Matplotlib, which isn't installed, or not all of it", hint="pip install 'discreet[plot]'"
        ) from None
    with style.context(["default", _STYLE]):
        yield


def sheet(title: str, subtitle: str, *, height: float) -> Figure:
    """An empty figure with its message. It belongs to no window and to no list of open figures.

    Args:
        title: what the figure says, in one sentence.
        subtitle: what is drawn, under which conditions.
        height: in inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasAgg(figure)
    left = _MARGIN / WIDTH
    figure.suptitle(title, x=left, y=1 - 0.16 / height, ha="left", va="top", fontsize=11.5, fontweight="bold")
    figure.text(left, 1 - 0.42 / height, subtitle, ha="left", va="top", color=FAINT, fontsize=9)
    return figure


def axes_in(figure: Figure, *, left: float = 0.75, right: float = 0.0, bottom: float = 0.55, top: float = 0.0) -> Axes:
    """Axes that fill a sheet below its message.

    Args:
        figure: the sheet.
        left: inches for the labels of the vertical axis.
        right: inches to leave free on the right, for the names of lines.
        bottom: inches for the labels of the horizontal axis, or for what else is below.
        top: inches to leave free below the message.
    """
    width, height = figure.get_size_inches()
    high = height - _TOP - top - bottom
    wide = width - left - right - _MARGIN
    return figure.add_axes((left / width, bottom / height, wide / width, high / height))


def note(figure: Figure, words: str) -> None:
    """Say at the foot of a figure what has to be known to read it, and add it to its description."""
    from textwrap import wrap

    lines = wrap(words, _LETTERS)
    width, height = figure.get_size_inches()
    more = _LINE * len(lines) + 0.1
    higher = height + more
    for axes in figure.axes:
        place = axes.get_position()
        axes.set_position((place.x0, (place.y0 * height + more) / higher, place.width, place.height * height / higher))
    figure.set_size_inches(width, higher)
    figure.text(_MARGIN / WIDTH, 0.1 / higher, "\n".join(lines), ha="left", va="bottom", color=INK, fontsize=8.5)
    describe(figure, f"{words_of(figure)} {words}".strip())


def describe(figure: Figure, words: str) -> None:
    """Say in words what a figure shows: what a screen reader reads out, and what `save` writes into the file."""
    figure.set_label(" ".join(words.split()))


def title_of(figure: Figure) -> str:
    """The message of a figure."""
    return figure.get_suptitle()


def words_of(figure: Figure) -> str:
    """A figure in words."""
    return str(figure.get_label())
