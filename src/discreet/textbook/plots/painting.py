"""Painting: a chart of an answer in pixels, mark by mark as its SVG has them."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from discreet.results.charts import Drawing, drawn
from discreet.results.charts.drawing import INK, PAPER, STYLES, Dot, Mark, Shape, Style, Words
from discreet.textbook.plots.sheet import house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.results import Answer, Summary

_MARGIN = 16
_INCH, _DENSITY = 100, 2
"""Pixels of a drawing to an inch, and of the picture to one of the drawing."""

_POINT = 72 / _INCH


def png(answer: Answer | Summary) -> bytes:
    """A picture of an answer as PNG: the marks of `answer.to_svg()`, on white paper, twice as dense as a screen.

    Its title and what it shows stand in words beside the pixels. Needs Matplotlib.

    Raises:
        ExtraMissing: Matplotlib isn't installed.
        InvalidArgument: there is no number with noise to draw.

    Examples:
        >>> Path("ward.png").write_bytes(png(answer))                        # doctest: +SKIP
    """
    drawing = drawn(answer.charts())
    buffer = BytesIO()
    with house_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        wide, high = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN
        figure = Figure(figsize=(wide / _INCH, high / _INCH), facecolor=PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(-_MARGIN, wide - _MARGIN), ylim=(high - _MARGIN, -_MARGIN))
        _paint_all(axes, drawing)
        words = {"Software": "discreet", "Title": drawing.title, "Description": drawing.finding}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ", UserWarning)  # a script that no font here has shows as boxes
            figure.savefig(buffer, format="png", metadata=words, dpi=_INCH * _DENSITY)
    return buffer.getvalue()


def _paint_all(axes: Axes, drawing: Drawing) -> None:
    """Each mark above those before it."""
    for order, mark in enumerate(drawing.marks):
        _paint(axes, mark, STYLES[mark.kind], order)


def _paint(axes: Axes, mark: Mark, style: Style, order: int) -> None:
    """One mark."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    fill, stroke = _colour(style.fill), _colour(style.stroke)
    match mark:
        case Shape():
            for line in mark.lines:
                shape = PathPatch(
                    Path(line), facecolor=fill, edgecolor=stroke, linewidth=style.width * _POINT,
                    alpha=style.opacity * mark.shade, linestyle="--" if style.dashed else "-", joinstyle="round",
                    capstyle="butt", zorder=order,
                )  # fmt: skip
                axes.add_patch(shape)
        case Dot():
            x, y = mark.at
            size = 2 * mark.radius * _POINT
            axes.plot([x], [y], "o", markersize=size, color=fill, markeredgewidth=0, alpha=style.opacity, zorder=order)
        case Words():
            axes.text(
                *mark.at, mark.text, color=fill, alpha=style.opacity, fontsize=style.size * _POINT, zorder=order,
                fontweight="bold" if style.bold else "normal", va="baseline", rotation=90 if mark.turned else 0,
                ha={"start": "left", "middle": "center", "end": "right"}[mark.anchor], rotation_mode="anchor",
            )  # fmt: skip


def _colour(paint: str | None) -> str:
    """A colour as Matplotlib has it."""
    return "none" if paint is None else INK if paint == "ink" else paint
