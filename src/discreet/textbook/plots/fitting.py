"""Names that fit: of columns, shortened to the room there is for them."""

from __future__ import annotations

from discreet.textbook.plots.sheet import WIDTH

_LONGEST = 200
"""Letters of a name that are looked at."""

_POINTS = 72

_TITLE, _TICK = 11.5, 8.5
"""The sizes of titles and of labels at axes, in points."""

_SIDES = 0.5
"""Inches at the sides of a title that stay empty."""


def in_title(name: str, rest: str) -> str:
    """A name, cut so that it fits into a title together with the rest of it. Call it in the house's style.

    Args:
        name: of a column.
        rest: all other words of the title.
    """
    return fitted(name, WIDTH - _SIDES - inches(rest, size=_TITLE, bold=True), size=_TITLE, bold=True)


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
