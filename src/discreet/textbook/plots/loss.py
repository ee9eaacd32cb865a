"""The figure of the privacy loss of what a mechanism answers."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import TYPE_CHECKING

from discreet.textbook.plots.loss_law import LossLaw
from discreet.textbook.plots.marks import Stroke, strokes
from discreet.textbook.plots.numbers import by_powers, finite, shown
from discreet.textbook.plots.sheet import FAINT, INK, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_BARS_TO_EPSILON = 20
"""Bars between 0 and ε; −ε, 0 and ε are the middles of bars, so that a loss of ε isn't cut in two by rounding."""

_MOST_BARS = 120
"""To either side of 0; what lies further out is counted in the outermost bar."""

_FLOOR = 1e-9
"""The least probability that is shown."""

_PANEL = 1.75
"""Inches, for each law."""


def loss(laws: Mapping[str, LossLaw], *, epsilon: float) -> Figure:
    """The law of the privacy loss, for one mechanism or several, below one another.

    Args:
        laws: each by its name; made by `LossLaw.of` or `LossLaw.of_noise`.
        epsilon: what the loss is compared with; above 0.

    Raises:
        InvalidArgument: ε isn't above 0, or there are too many laws.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> figure = loss({"randomised response": LossLaw.of([0.75, 0.25], [0.25, 0.75])}, epsilon=1.1)
        >>> figure.get_suptitle()
        'No outcome tells more than ε = 1.1'
    """
    bound = finite([epsilon], "epsilon", least=1e-6)[0]
    chosen = strokes(len(laws))
    beyond = {name: law.beyond(bound) for name, law in laws.items()}
    width = bound / _BARS_TO_EPSILON
    reach = min(max(_bar(max(map(abs, law.losses)), width) for law in laws.values()) + 2, _MOST_BARS)
    with house_style():
        figure = sheet(
            _loss_title(beyond, bound),
            f"How likely each loss is when the data are D, in bars {shown(width)} wide. Logarithmic scale.",
            height=1.2 + _PANEL * len(laws),
        )
        below = None
        for number, ((name, law), stroke) in enumerate(zip(laws.items(), chosen, strict=True)):
            place = len(laws) - 1 - number
            axes = axes_in(figure, bottom=0.58 + _PANEL * place, top=_PANEL * number + 0.25, left=0.85)
            _panel(axes, law, stroke, width=width, reach=reach)
            _mark(axes, bound, law)
            axes.set_title(name, loc="left", color=stroke.ink, fontweight="bold")
            axes.tick_params(labelbottom=place == 0)
            below = axes
        if below is not None:
            below.set_xlabel("privacy loss of the outcome, ln(Pr[A(D) = a] / Pr[A(D′) = a])")
        describe(figure, _loss_words(beyond, bound))
    return figure


def _bar(value: float, width: float) -> int:
    """The number of the bar that a loss falls in; bar 0 is around 0."""
    return floor(value / width + 0.5)


def _panel(axes: Axes, law: LossLaw, stroke: Stroke, *, width: float, reach: int) -> None:
    heights = [0.0] * (2 * reach + 1)
    for one, mass in zip(law.losses, law.masses, strict=True):
        heights[min(max(_bar(one, width), -reach), reach) + reach] += mass
    edges = [(number - 0.5) * width for number in range(-reach, reach + 2)]
    axes.stairs(
        [max(height, 0.0) for height in heights],
        edges,
        baseline=_FLOOR / 10,
        fill=True,
        facecolor=f"{stroke.colour}40",
        edgecolor=stroke.colour,
        linewidth=1.0,
    )
    by_powers(axes, "y")
    axes.set_ylim(_FLOOR, 2)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylabel("probability")


def _mark(axes: Axes, epsilon: float, law: LossLaw) -> None:
    """The bound, and how much lies beyond it."""
    beyond = law.beyond(epsilon)
    share = f"above ε: {shown(beyond)}; δ(ε) = {shown(law.delta(epsilon))}" if beyond else "above ε: never"
    axes.text(1.0, 1.03, share, transform=axes.transAxes, ha="right", va="bottom", fontsize=8.5, color=FAINT)
    for side, name, align in ((1, "ε", "left"), (-1, "−ε", "right")):
        axes.axvline(side * epsilon, color=INK, linewidth=1.2, dashes=(4, 2))
        axes.annotate(
            name,
            (side * epsilon, 0.86),
            xycoords=axes.get_xaxis_transform(),
            xytext=(side * 9, 0),
            textcoords="offset points",
            ha=align,
            color=INK,
        )


def _loss_title(beyond: Mapping[str, float], epsilon: float) -> str:
    if not any(beyond.values()):
        return f"No outcome tells more than ε = {shown(epsilon)}"
    if all(beyond.values()):
        return f"Losses above ε = {shown(epsilon)} are possible"
    return f"Losses above ε = {shown(epsilon)}: impossible with some noise, rare with other"


def _loss_words(beyond: Mapping[str, float], epsilon: float) -> str:
    each = "; ".join(f"{name}: {shown(share) if share else 'never'}" for name, share in beyond.items())
    return (
        "Bars show how likely each privacy loss is, on a logarithmic scale. "
        f"Probability that the loss exceeds ε = {shown(epsilon)}: {each}."
    )
