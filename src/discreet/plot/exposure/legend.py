"""What two kinds of marks mean, in a line above the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def legend_above(axes: Axes, *, right: bool = False) -> None:
    """Write the legend in one line above the axes, at their left end or at their right one."""
    axes.legend(
        loc="lower right" if right else "lower left",
        bbox_to_anchor=(1 if right else 0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=8.5,
        handletextpad=0.2,
        borderaxespad=0.1,
        columnspacing=1.5,
    )
