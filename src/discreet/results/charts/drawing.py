"""Drawings: marks on a sheet, in pixels from the upper left. What a chart is, before anyone writes it to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

Point: TypeAlias = tuple[float, float]
Anchor: TypeAlias = Literal["start", "middle", "end"]

INK, DARK_INK = "#1c2227", "#e6e9eb"
"""Of letters and whiskers, on light and on dark paper."""

PAPER, DARK_PAPER = "#ffffff", "#1b2024"
"""Behind a drawing that stands alone."""

MAIN, OTHER = "#3d7fb8", "#c2663a"
"""What carries a value, and what carries one below zero; both stand out from light and from dark paper."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The look of a kind of mark.

    Args:
        fill: what a shape is filled with; "ink" is whatever letters around it are written with.
        stroke: what its line is drawn with.
        width: of that line.
        opacity: of both.
        dashed: whether the line is.
        size: of letters.
        bold: whether letters are.
    """

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False
    size: float = 12
    bold: bool = False


STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "grid": Style(stroke="ink", opacity=0.14),
        "zero": Style(stroke="ink", opacity=0.55),
        "bar": Style(fill=MAIN),
        "bar below": Style(fill=OTHER),
        "band": Style(fill=MAIN, opacity=0.25),
        "line": Style(stroke=MAIN, width=1.75),
        "dot": Style(fill=MAIN),
        "whisker": Style(stroke="ink", width=1.25),
        "total": Style(stroke="ink", opacity=0.55, dashed=True),
        "cell": Style(fill=MAIN),
        "cell below": Style(fill=OTHER),
        "cell unknown": Style(stroke="ink", opacity=0.22),
        "title": Style(fill="ink", size=13, bold=True),
        "subtitle": Style(fill="ink", size=11.5, opacity=0.72),
        "tick": Style(fill="ink", size=11, opacity=0.72),
        "label": Style(fill="ink", size=12),
        "group": Style(fill="ink", size=12, bold=True),
        "value": Style(fill="ink", size=12),
        "value unknown": Style(fill="ink", size=12, opacity=0.72),
        "number": Style(fill="ink", size=11),
    }
)
"""Each kind of mark, by the name that it has as a class in SVG."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Lines through points, or what they enclose.

    Args:
        kind: one of `STYLES`.
        lines: each through its points.
        says: what it stands for, to be read where a pointer rests on it.
        shade: how strongly it is filled, from 0 to 1.
    """

    kind: str
    lines: tuple[tuple[Point, ...], ...]
    says: str = ""
    shade: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point."""

    kind: str
    at: Point
    radius: float = 2.5
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A line of text.

    Args:
        kind: one of `STYLES`.
        at: where its baseline begins, has its middle or ends.
        text: of one line.
        anchor: which of these.
        turned: whether it is read from the bottom up.
        says: the whole text, where this is a part of it.
    """

    kind: str
    at: Point
    text: str
    anchor: Anchor = "start"
    turned: bool = False
    says: str = ""


Mark: TypeAlias = Shape | Dot | Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart, drawn.

    Args:
        title: what it is of.
        finding: what it shows, in words, for those who don't see it.
        width: of the sheet.
        height: of the sheet.
        marks: what lies below comes first.
    """

    title: str
    finding: str
    width: float
    height: float
    marks: Sequence[Mark]


def rectangle(kind: str, corner: Point, size: Point, *, says: str = "", shade: float = 1.0) -> Shape:
    """A rectangle, by its upper left corner."""
    (x, y), (width, height) = corner, size
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y))
    return Shape(kind=kind, lines=(corners,), says=says, shade=shade)


def stacked(drawings: Sequence[Drawing], gap: float = 24) -> Drawing:
    """Drawings below each other, as one."""
    if len(drawings) == 1:
        return drawings[0]
    marks: list[Mark] = []
    down = 0.0
    for each in drawings:
        marks += [_lowered(mark, down) for mark in each.marks]
        down += each.height + gap
    return Drawing(
        title=f"{len(drawings)} charts",
        finding=" ".join(f"{each.title}: {each.finding}" for each in drawings),
        width=max(each.width for each in drawings),
        height=down - gap,
        marks=marks,
    )


def _lowered(mark: Mark, down: float) -> Mark:
    """A mark, further down."""
    match mark:
        case Shape():
            return replace(mark, lines=tuple(tuple((x, y + down) for x, y in line) for line in mark.lines))
        case Dot() | Words():
            return replace(mark, at=(mark.at[0], mark.at[1] + down))
