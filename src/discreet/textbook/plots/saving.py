"""Figures as files.

Files in SVG and PNG are the same for the same figure, on every day and machine.
"""

from __future__ import annotations

import re
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from discreet.textbook.plots.sheet import FAINT, GRID, INK, PAPER, house_style, title_of, words_of

_MAKER = "discreet"
"""The maker that files name; they don't say which version of what."""

DARK = {
    PAPER: "#1b2024",
    GRID: "#323a41",
    INK: "#e6e9eb",
    FAINT: "#a6b0b8",
    "#BBBBBB": "#5b646b",
    "#000000": "#ffffff",
    "#0072B2": "#56b4e9",
    "#0067A1": "#7cc4ee",
    "#D55E00": "#e69f00",
    "#AD4C00": "#edb53c",
    "#009E73": "#00a87b",
    "#007556": "#3cc79e",
    "#CC79A7": "#cc79a7",
    "#9C4675": "#dd9bc0",
}
"""What each colour becomes where the reader's system is dark. A PNG is light everywhere."""

_IN_THE_DARK = "@media (prefers-color-scheme: dark) {{ svg {{ fill: {}; background: {} }} {} }}".format(
    DARK["#000000"],  # which Matplotlib leaves out
    DARK[PAPER],
    " ".join(
        f'[style*="{kind}: {light.lower()}"] {{ {kind}: {dark} !important }}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    ),
)


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
    """A figure as SVG, with a title and a description that screen readers read, light or dark as its reader has it."""
    buffer = StringIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": _MAKER})
    opening = re.compile(r"<svg\b[^>]*(?=>)")
    title, words = escape(title_of(figure)), escape(words_of(figure))
    named = (
        ' role="img" aria-labelledby="title description">\n'
        f' <title id="title">{title}</title>\n <desc id="description">{words}</desc>\n <style>{_IN_THE_DARK}</style'
    )
    return opening.sub(lambda found: found[0] + named, buffer.getvalue(), count=1)


def png(figure: Figure) -> bytes:
    """A figure as PNG, with its words as text beside the pixels."""
    buffer = BytesIO()
    words = {"Software": _MAKER, "Title": title_of(figure), "Description": words_of(figure)}
    with house_style():
        figure.savefig(buffer, format="png", metadata=words)
    return buffer.getvalue()
