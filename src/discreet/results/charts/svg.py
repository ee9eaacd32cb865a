"""SVG: a drawing as text, without script, style attribute or anything that is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from discreet.results.charts.drawing import (
    DARK_INK,
    DARK_PAPER,
    FONT,
    INK,
    PAPER,
    STYLES,
    Dot,
    Drawing,
    Mark,
    Point,
    Shape,
    Style,
    Words,
)

_ALONE = (
    f"<style>:root{{color:{INK};background:{PAPER}}}"
    f"@media (prefers-color-scheme:dark){{:root{{color:{DARK_INK};background:{DARK_PAPER}}}}}</style>"
)
_MARGIN = 16


def svg(drawing: Drawing, *, alone: bool = False, kind: str = "chart") -> str:
    """A drawing as SVG: the same text for the same drawing.

    Letters and lines have the ink of the page around it, so that it is light in the dark. It is read out as an image
    by its title and its finding.

    Args:
        drawing: of `Chart.drawing`.
        alone: for a file of its own, with margins, and paper and ink for light and for dark.
        kind: its classes, for the style sheet of a page.
    """
    width, height = drawing.width, drawing.height
    margin = _MARGIN if alone else 2
    box = f"{-margin} {-margin / 2:g} {_at(width + 2 * margin)} {_at(height + margin)}"
    title, finding = escape(drawing.title), escape(drawing.finding)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" aria-label="{title}: {finding}" '
        f'viewBox="{box}" width="{_at(width + 2 * margin)}" height="{_at(height + margin)}" '
        f'font-family="{FONT}" font-variant="tabular-nums" fill="none">'
    )
    parts = [head, f"<title>{title}</title><desc>{finding}</desc>", _ALONE if alone else ""]
    for name, marks in groupby(drawing.marks, key=lambda mark: mark.kind):
        parts.append(f'<g class="{name}"{_look(STYLES[name])}>')
        parts += [element for mark in marks for element in _written(mark)]
        parts.append("</g>")
    return "".join([*parts, "</svg>"])


def _look(style: Style) -> str:
    """A style as attributes."""
    found = ""
    if style.fill is not None:
        found += f' fill="{_paint(style.fill)}"'
    if style.stroke is not None:
        found += f' stroke="{_paint(style.stroke)}" stroke-width="{style.width:g}" stroke-linejoin="round"'
    if style.opacity < 1:
        found += f' opacity="{style.opacity:g}"'
    if style.dashed:
        found += ' stroke-dasharray="4 4"'
    if style.fill == "ink":
        found += f' font-size="{style.size:g}"' + (' font-weight="600"' if style.bold else "")
    return found


def _paint(colour: str) -> str:
    """A colour; ink is what letters of the page are written with."""
    return "currentColor" if colour == "ink" else colour


def _written(mark: Mark) -> Iterator[str]:
    """A mark as an element."""
    match mark:
        case Shape():
            if mark.lines:
                shade = f' fill-opacity="{mark.shade:g}"' if mark.shade < 1 else ""
                yield _element("path", f' d="{"".join(map(_path, mark.lines))}"{shade}', mark.says)
        case Dot():
            x, y = mark.at
            yield _element("circle", f' cx="{_at(x)}" cy="{_at(y)}" r="{mark.radius:g}"', mark.says)
        case Words():
            at, down = map(_at, mark.at)
            anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
            turned = f' transform="rotate(-90 {at} {down})"' if mark.turned else ""
            says = mark.says if mark.says != mark.text else ""
            yield _element("text", f' x="{at}" y="{down}"{anchor}{turned}', says, escape(mark.text, quote=False))


def _element(name: str, attributes: str, says: str, content: str = "") -> str:
    """An element, with what is read where a pointer rests on it."""
    inside = (f"<title>{escape(says, quote=False)}</title>" if says else "") + content
    return f"<{name}{attributes}>{inside}</{name}>" if inside else f"<{name}{attributes}/>"


def _path(points: tuple[Point, ...]) -> str:
    """Lines through points."""
    return "M" + "L".join(f"{_at(x)} {_at(y)}" for x, y in points)


def _at(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(number, 1) + 0.0:.1f}".removesuffix(".0")  # the sum is never −0
