"""The figure of accuracy against ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.textbook.plots.loss_law import odds
from discreet.textbook.plots.marks import STROKES, Ending, draw_lines, name_ends, strokes
from discreet.textbook.plots.numbers import by_powers, finite, percent, rising, shown
from discreet.textbook.plots.sheet import FAINT, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TITLE = "More ε buys accuracy until there is nothing left to protect"
_MARKS = (0.1, 0.5, 1.0, 2.0, 10.0)
"""Where it is written out by how much the odds can move: by the factor e^ε."""


def accuracy(epsilons: Sequence[float], errors: Mapping[str, Sequence[float]], *, confidence: float = 0.95) -> Figure:
    """The error of an answer against ε, and below it how well an attacker can guess at best.

    Args:
        epsilons: two or more, rising, above 0.
        errors: by the name of the noise, the ± of an answer at each ε.
        confidence: with which the ± holds; in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range, or the numbers of ε and of errors differ.
        ExtraMissing: Matplotlib isn't installed.

    Source: for the lower part, Wasserman, Zhou (2010), Theorem 2.4; Kairouz, Oh, Viswanath (2015), Theorem 2.1.

    Examples:
        >>> figure = accuracy([0.1, 1, 10], {"Laplace": [30, 3, 0]})
        >>> figure.axes[0].lines[0].get_ydata().tolist()
        [30.0, 3.0, 0.0]
    """
    xs = rising(epsilons, "epsilons")
    chosen = strokes(len(errors))
    read = {name: finite(values, f"the errors of {name}", least=0) for name, values in errors.items()}
    if any(len(ys) != len(xs) for ys in read.values()) or not 0 < confidence < 1:
        raise InvalidArgument("each noise needs one error for each ε, and the confidence lies between 0 and 1")
    with house_style():
        figure = sheet(_TITLE, _subtitle(confidence), height=4.9)
        upper = axes_in(figure, left=0.85, bottom=2.4, right=1.15)
        lower = axes_in(figure, left=0.85, top=2.0, right=1.15)
        draw_lines(upper, xs, read, chosen)
        _set_up_error_axes(upper, xs, max(max(ys) for ys in read.values()))
        ends = zip(read.items(), chosen, strict=True)
        name_ends(upper, [Ending(name, (xs[-1], ys[-1]), stroke) for (name, ys), stroke in ends])
        _risk(lower, xs)
        describe(figure, _accuracy_words(xs, read))
    return figure


def _set_up_error_axes(axes: Axes, xs: Sequence[float], most: float) -> None:
    """The axes of the error: it can be 0, so they are linear below 1."""
    by_powers(axes, "x")
    by_powers(axes, "y", linear_below=1)
    axes.set_xlim(xs[0], xs[-1])
    axes.set_ylim(-0.15, max(1.5 * most, 2))
    axes.set_ylabel("± of an answer")
    axes.tick_params(labelbottom=False)


def _risk(axes: Axes, xs: Sequence[float]) -> None:
    """How often a guess between two neighbours can be right at best, with the factor by which odds move."""
    stroke = STROKES[2]
    axes.plot(xs, [100 * odds(x) for x in xs], color=stroke.colour, linewidth=1.8)
    for mark in _MARKS:
        if xs[0] <= mark <= xs[-1]:
            height = 100 * odds(mark)
            axes.plot([mark], [height], marker="o", color=stroke.colour, markersize=5, clip_on=False)
            axes.annotate(
                f"odds × {shown(exp(mark), 4)}",
                (mark, height),
                xytext=(-6, 3),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=8.5,
                color=FAINT,
            )
    by_powers(axes, "x")
    axes.set_xlim(xs[0], xs[-1])
    axes.set_ylim(48, 104)
    axes.set_yticks([50, 60, 70, 80, 90, 100], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])
    axes.set_ylabel("best guess right")
    axes.set_xlabel("ε of the answer")


def _subtitle(confidence: float) -> str:
    return (
        f"Above: the ± that holds in {percent(confidence)} of answers. "
        "Below: how often a guess at even odds can be right."
    )


def _accuracy_words(xs: Sequence[float], read: Mapping[str, Sequence[float]]) -> str:
    each = "; ".join(f"{name}: from ± {shown(ys[0])} down to ± {shown(ys[-1])}" for name, ys in read.items())
    return (
        f"Above, the error of an answer from ε = {shown(xs[0])} to {shown(xs[-1])}; {each}. Below, how often the best "
        f"guess about one unit is right, at even odds: from {percent(odds(xs[0]))} to {percent(odds(xs[-1]))}."
    )
