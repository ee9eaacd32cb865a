"""Words around a chart: its heading above it, and the labels of an axis below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discreet.results.charts.drawing import STYLES, Words
from discreet.results.charts.lettering import cut, width_of

TOP = 44
"""Where a chart begins, below its heading."""

_TICK_GAP = 8


def heading(title: str, subtitle: str, width: float) -> Iterator[Words]:
    """The two lines above a chart, each cut to the width."""
    yield Words(kind="title", at=(0, 13), text=cut(title, width, STYLES["title"].size, bold=True), says=title)
    if subtitle:
        yield Words(kind="subtitle", at=(0, 31), text=cut(subtitle, width, STYLES["subtitle"].size))


def below(ticks: Iterable[tuple[float, str]], y: float, width: float) -> Iterator[Words]:
    """Labels below an axis, within the sheet; one that would touch the one before it is left out.

    Args:
        ticks: where, in pixels, and what they say; from the left to the right.
        y: of the axis.
        width: of the sheet.
    """
    end = float("-inf")
    for at, text in ticks:
        half = width_of(text, STYLES["tick"].size) / 2
        middle = min(max(at, half), max(width, 2 * half) - half)
        if middle - half >= end:
            yield Words(kind="tick", at=(middle, y + 16), text=text, anchor="middle")
            end = middle + half + _TICK_GAP
