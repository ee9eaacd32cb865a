"""Sheets: empty figures with a message above, text that fits them, words for those who can't see them, and files.

Files in SVG and PNG are the same for the same figure, on every day and machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ExtraMissing, InvalidArgument
from discreet.plot.marks import FAINT, GRID, INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTH = 7.2
"""Inches: a column of text; at 100 dots an inch, a column of a page on a screen."""

_TOP, _MARGIN = 0.72, 0.25
"""Inches: the room of the message above, and what stays empty at the edges."""

_LETTERS, _LINE = 100, 0.16
"""Of a note: letters on a line, and inches that a line takes."""

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
    """What a figure shows, in words."""
    return str(figure.get_label())


_LONGEST = 200
"""Letters of a name that are looked at."""
_POINTS = 72
_TITLE, _TICK = 11.5, 8.5
"""The sizes of titles and of labels at axes, in points."""
_EDGES = 0.5
"""Inches at the sides of a title that stay empty."""


def in_title(name: str, rest: str) -> str:
    """A name, cut so that it fits into a title together with the rest of it. Call it in the house's style.

    Args:
        name: of a column.
        rest: all other words of the title.
    """
    return fitted(name, WIDTH - _EDGES - inches(rest, size=_TITLE, bold=True), size=_TITLE, bold=True)


def at_axis(name: str, room: float) -> str:
    """A name, cut so that it fits beside an axis that has that many inches for it. Call it in the house's style."""
    return fitted(name, room, size=_TICK)


def fitted(name: str, room: float, *, size: float, bold: bool = False) -> str:
    """A name, without letters of its middle where it is too long: names of a table often begin or end alike.

    Args:
        name: any text.
        room: in inches.
        size: of its letters, in points.
        bold: whether they are.
    """
    kept = min(len(name), _LONGEST)
    short = name if kept == len(name) else _without_middle(name, kept)
    while kept > 1 and inches(short, size=size, bold=bold) > room:
        kept -= 1
        short = _without_middle(name, kept)
    return short


def inches(text: str, *, size: float, bold: bool = False) -> float:
    """How wide a text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _POINTS


def _without_middle(name: str, kept: int) -> str:
    """The first and last letters of a name, `kept` in all, with a sign for those between.

    Examples:
        >>> _without_middle("household_income", 7)
        'hous…ome'
    """
    end = kept // 2
    return f"{name[: kept - end]}…{name[len(name) - end :]}"


_MAKER = "discreet"
"""What files say they were made by; not with which version of what."""


def save(figure: Figure, path: Path | str) -> Path:
    """Write a figure to a file, which is replaced if it is there.

    The file holds what is drawn and the figure's words, and nothing of the machine: no date, no path, no user. The
    same figure gives the same bytes with the same version of Matplotlib.

    Args:
        figure: one that a function of `discreet.plot` made.
        path: ends in `.svg` or `.png`.

    Returns:
        The path.

    Raises:
        InvalidArgument: the ending is another, or the file can't be written.

    Examples:
        >>> from discreet.plot import averaging
        >>> save(averaging([3, 6, 4, 4], truth=4, epsilon=0.5), "averaging.svg").name
        'averaging.svg'
    """
    file = Path(path)
    match file.suffix.lower():
        case ".svg":
            data = svg(figure).encode()
        case ".png":
            data = png(figure)
        case other:
            raise InvalidArgument(
                f"a figure can't be saved as {other or 'a file without ending'!r}", hint="a file in .svg or .png"
            )
    try:
        file.write_bytes(data)
    except OSError as error:
        raise InvalidArgument(f"the file {str(path)!r} can't be written: {error.strerror}") from None
    return file


def svg(figure: Figure) -> str:
    """A figure as SVG, with a title and a description that screen readers read."""
    buffer = StringIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": _MAKER})
    opening = re.compile(r"<svg\b[^>]*(?=>)")
    title, words = escape(title_of(figure)), escape(words_of(figure))
    named = (
        ' role="img" aria-labelledby="title description">\n'
        f' <title id="title">{title}</title>\n <desc id="description">{words}</desc'
    )
    return opening.sub(lambda found: found[0] + named, buffer.getvalue(), count=1)


def png(figure: Figure) -> bytes:
    """A figure as PNG, with its words as text beside the pixels."""
    buffer = BytesIO()
    words = {"Software": _MAKER, "Title": title_of(figure), "Description": words_of(figure)}
    with house_style():
        figure.savefig(buffer, format="png", metadata=words)
    return buffer.getvalue()
