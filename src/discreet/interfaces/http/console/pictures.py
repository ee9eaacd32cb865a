"""Pictures: charts as pages have them, once as wide as a desk and once as a phone; the style sheet shows one."""

from __future__ import annotations

from collections.abc import Callable

from discreet.results.charts import NARROW, WIDE, Drawing, svg


def picture(drawing: Callable[[float], Drawing], wide: float = WIDE) -> str:
    """A drawing in both widths, as markup: all that isn't ours in it is text, as `svg` escapes it.

    Args:
        drawing: at a width.
        wide: the width on a desk.
    """
    both = ((wide, "wide"), (NARROW, "narrow"))
    return "".join(svg(drawing(width), kind=f"chart {kind}") for width, kind in both)
