"""Sheets: empty figures with a message above, numbers that people can read, words for those who can't see, and files.

Files in SVG and PNG are the same for the same figure, on every day and machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO, StringIO
from itertools import pairwise
from math import floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discreet.errors import ExtraMissing, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#222222"
"""Text and axes."""

FAINT = "#595959"
"""Subtitles and remarks; still 7 to 1 against the paper."""

GRID = "#d9d9d9"
"""Lines that help the eye and say nothing."""

PAPER = "#ffffff"
"""What everything is drawn on, whatever the page around it looks like."""

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


# ── Numbers, and the axes that bear them ──────────────────────────────────────────────────────────────────────────────

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_LEAST, _MOST = 1e-3, 1e6
"""Numbers between these are written out."""


def shown(number: float, digits: int = 3) -> str:
    """A number to that many significant digits, without an exponent where people wouldn't use one.

    Examples:
        >>> shown(22026.4658), shown(0.25), shown(122.93), shown(4.33e-6), shown(-1e-9)
        ('22,026', '0.25', '123', '4.33·10⁻⁶', '−10⁻⁹')
    """
    sign, size = ("−" if number < 0 else ""), abs(number)
    if size == 0 or _LEAST <= size < _MOST:
        decimals = 0 if size == 0 else max(digits - 1 - floor(log10(size)), 0)
        text = f"{size:,.{decimals}f}"
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    bare = mantissa.rstrip("0").rstrip(".")
    return sign + (power if bare == "1" else f"{bare}·{power}")


def percent(share: float) -> str:
    """A share as a percentage, never as 0 % or 100 % unless it is.

    Examples:
        >>> percent(0.5817), percent(0.99996), percent(1.0)
        ('58 %', '99.996 %', '100 %')
    """
    for decimals in range(12):
        text = f"{100 * share:.{decimals}f}"
        if float(text) not in {0.0, 100.0} or share in {0.0, 1.0}:
            return f"{text} %"
    return f"{shown(100 * share)} %"


def finite(values: Sequence[object], name: str, *, least: float | None = None) -> list[float]:
    """Numbers read as floats, for drawing only.

    Args:
        values: numbers of any kind.
        name: what to call them in an error.
        least: the smallest that makes sense; None for any.

    Raises:
        InvalidArgument: there are none, one isn't a finite number, or one is too small.

    Examples:
        >>> from fractions import Fraction
        >>> finite([1, Fraction(1, 2)], "epsilons")
        [1.0, 0.5]
    """
    try:
        numbers = [float(value) for value in values]  # type: ignore[arg-type]  # whatever refuses is refused below
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} must be numbers") from None
    if not numbers:
        raise InvalidArgument(f"{name} must not be empty")
    if not all(map(isfinite, numbers)):
        raise InvalidArgument(f"{name} must be finite")
    if least is not None and min(numbers) < least:
        raise InvalidArgument(f"{name} must be at least {shown(least)}, not {shown(min(numbers))}")
    return numbers


def rising(values: Sequence[object], name: str) -> list[float]:
    """Positive numbers, each above the one before; two at least: an axis.

    Raises:
        InvalidArgument: they aren't.

    Examples:
        >>> rising([1, 10, 100], "uses")
        [1.0, 10.0, 100.0]
    """
    numbers = finite(values, name)
    if len(numbers) < 2 or numbers[0] <= 0 or any(a >= b for a, b in pairwise(numbers)):  # noqa: PLR2004 — two ends
        raise InvalidArgument(f"{name} must be two or more numbers above 0, in rising order")
    return numbers


def spaced(low: float, high: float, count: int) -> list[float]:
    """Numbers from `low` to `high`, each the same multiple of the one before.

    Examples:
        >>> [round(number, 6) for number in spaced(0.01, 100, 5)]
        [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    return [low * (high / low) ** (place / (count - 1)) for place in range(count)]


def by_powers(axes: Axes, which: Literal["x", "y"], *, linear_below: float | None = None) -> None:
    """Make an axis logarithmic, with numbers people can read.

    Args:
        axes: whose axis.
        which: of the two.
        linear_below: where the axis turns linear, so that it has a 0; None for nowhere.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    change = axes.set_xscale if which == "x" else axes.set_yscale
    if linear_below is None:
        change("log")
        axis.set_major_locator(LogLocator(base=10, numticks=9))
    else:
        change("symlog", linthresh=linear_below, linscale=0.5)
        axis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=linear_below))
    axis.set_major_formatter(FuncFormatter(lambda number, _: shown(number)))
    axis.set_minor_formatter(NullFormatter())


# ── Files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
