"""Guarantees: δ as a function of ε, and what many uses cost together by each theorem.

Figures ask little of what they draw: numbers and two small protocols, so that this room knows no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING, Protocol, SupportsFloat

from discreet.errors import InvalidArgument
from discreet.textbook.plots.marks import Ending, draw_lines, key_beside, name_ends, strokes
from discreet.textbook.plots.numbers import by_powers, finite, rising, shown
from discreet.textbook.plots.sheet import axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curve(Protocol):
    """A bound on what a release gives away: the least δ known for each ε."""

    def delta(self, epsilon: float) -> SupportsFloat:
        """A δ such that the release is (ε, δ)-DP."""


_TITLE = "A guarantee is a curve: a smaller ε goes with a larger δ"

_POINTS = 64
"""How many equal steps the axis is read in at first."""

_FINEST = 1e-4
"""No step of the axis is halved below this."""

_DECADES = 0.5
"""A curve that falls by more than this within a step is read in the middle of it, too."""

_SMALLEST = 1e-100


def delta(curves: Mapping[str, Curve], *, most: float = 2, least: float = 1e-12) -> Figure:
    """The δ that goes with each ε, for one curve or several.

    Args:
        curves: each by its name: whatever has `.delta(epsilon)`, such as those of `discreet.accounting` and `LossLaw`.
        most: the largest ε on the axis; above 0.
        least: the smallest δ on the axis; from 10⁻¹⁰⁰ to 10⁻¹.

    Raises:
        InvalidArgument: an argument is out of range, or what a curve says isn't a probability.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> from discreet.plot import LossLaw
        >>> figure = delta({"randomised response": LossLaw.of([0.75, 0.25], [0.25, 0.75])}, most=1)
        >>> [round(float(y), 3) for y in figure.axes[0].lines[0].get_ydata()[[0, -1]]]
        [0.5, 0.07]
    """
    end, floor = finite([most], "most")[0], finite([least], "least")[0]
    if end <= 0 or not _SMALLEST <= floor <= 0.1:  # noqa: PLR2004 — an axis needs a decade
        raise InvalidArgument("the largest ε must be above 0, and the least δ between 1e-100 and 0.1")
    chosen = strokes(len(curves))
    xs = _steps([_reader(curve) for curve in curves.values()], end, floor)
    read = {name: [_reader(curve)(x) for x in xs] for name, curve in curves.items()}
    with house_style():
        figure = sheet(_TITLE, "What is released is (ε, δ)-DP for each point on or above its curve.", height=4.0)
        axes = axes_in(figure, left=0.85, right=1.75)
        by_powers(axes, "y")
        axes.set_xlim(0, end)
        axes.set_ylim(floor, 1)
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        draw_lines(axes, xs, {name: [max(y, _SMALLEST / 10) for y in ys] for name, ys in read.items()}, chosen)
        key_beside(axes, list(read), chosen)
        describe(figure, _delta_words(end, read))
    return figure


def _reader(curve: Curve) -> Callable[[float], float]:
    """Reads a curve, and refuses what isn't a probability; a rounding error below 0 is 0."""

    def read(epsilon: float) -> float:
        value = finite([curve.delta(epsilon)], "δ")[0]
        if not -1e-12 <= value <= 1 + 1e-9:  # noqa: PLR2004 — room for rounding
            raise InvalidArgument("a curve gave a δ that isn't between 0 and 1")
        return min(max(value, 0.0), 1.0)

    return read


def _steps(readers: Sequence[Callable[[float], float]], end: float, floor: float) -> list[float]:
    """Where the curves are read: closer together where one of them falls steeply.

    Pure differential privacy ends in a cliff; between points that stand apart it would be drawn as a slope.
    """

    def halved(low: float, high: float) -> list[float]:
        middle = (low + high) / 2
        falls = (log10(max(read(low), floor)) - log10(max(read(high), floor)) for read in readers)
        if high - low <= _FINEST * end or max(falls) <= _DECADES:
            return [high]
        return halved(low, middle) + halved(middle, high)

    edges = [end * place / _POINTS for place in range(_POINTS + 1)]
    return [0.0, *(x for low, high in pairwise(edges) for x in halved(low, high))]


def _delta_words(end: float, read: Mapping[str, Sequence[float]]) -> str:
    each = "; ".join(f"{name}: from {shown(ys[0])} to {shown(ys[-1])}" for name, ys in read.items())
    return f"Curves of δ against ε, from ε = 0 to {shown(end)}, δ on a logarithmic scale. Each falls. {each}."


def composition(
    uses: Sequence[int],
    totals: Mapping[str, Sequence[float]],
    *,
    subtitle: str = "The lowest is the truest: all are upper bounds.",
) -> Figure:
    """The total ε against the number of uses, for several theorems about the same mechanism.

    Args:
        uses: how often the mechanism is used; two or more, rising.
        totals: by the name of the theorem, the ε of that many uses, one for each.
        subtitle: what is composed, and for which δ.

    Raises:
        InvalidArgument: an argument is out of range, or the numbers of uses and of totals differ.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> figure = composition([1, 10, 100], {"basic": [0.1, 1, 10], "zCDP": [0.52, 1.69, 5.76]})
        >>> figure.get_suptitle()
        'After 100 uses, zCDP proves ε = 5.76 where basic says 10'
    """
    xs = rising(uses, "uses")
    chosen = strokes(len(totals))
    read = {name: finite(values, f"the totals of {name}") for name, values in totals.items()}
    if any(len(ys) != len(xs) or min(ys) <= 0 for ys in read.values()):
        raise InvalidArgument("each way of adding up needs one total above 0 for each number of uses")
    with house_style():
        figure = sheet(_composition_title(xs, read), subtitle, height=4.2)
        axes = axes_in(figure, right=1.7)
        by_powers(axes, "x")
        by_powers(axes, "y")
        draw_lines(axes, xs, read, chosen)
        axes.set_xlim(xs[0], xs[-1])
        axes.set_xlabel("number of uses")
        axes.set_ylabel("total ε")
        name_ends(
            axes,
            [
                Ending(f"{name}: {shown(ys[-1])}", (xs[-1], ys[-1]), stroke)
                for (name, ys), stroke in zip(read.items(), chosen, strict=True)
            ],
        )
        describe(figure, _composition_words(xs, read))
    return figure


def _composition_title(xs: Sequence[float], read: Mapping[str, Sequence[float]]) -> str:
    """The message: the best against the worst, at the end."""
    best = min(read, key=lambda name: read[name][-1])
    worst = max(read, key=lambda name: read[name][-1])
    if best == worst:
        return f"After {shown(xs[-1])} uses the total is ε = {shown(read[best][-1])}"
    return (
        f"After {shown(xs[-1])} uses, {best} proves ε = {shown(read[best][-1])} "
        f"where {worst} says {shown(read[worst][-1])}"
    )


def _composition_words(xs: Sequence[float], read: Mapping[str, Sequence[float]]) -> str:
    each = "; ".join(f"{name}: {shown(ys[-1])}" for name, ys in read.items())
    return (
        f"Lines of the total ε against the number of uses, from {shown(xs[0])} to {shown(xs[-1])}, both axes "
        f"logarithmic. At the right end: {each}."
    )
