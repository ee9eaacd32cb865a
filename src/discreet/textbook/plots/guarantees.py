"""Guarantees: the law of the privacy loss, δ as a function of ε, and what many uses cost together by each theorem.

Figures ask little of what they draw: numbers and two small protocols, so that this room knows no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, expm1, inf, log, log10
from typing import TYPE_CHECKING, Protocol, SupportsFloat

from discreet.errors import InvalidArgument
from discreet.textbook.plots.marks import Ending, draw_lines, key_beside, name_ends, strokes
from discreet.textbook.plots.sheet import axes_in, by_powers, describe, finite, house_style, rising, sheet, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class AdditiveNoise(Protocol):
    """Noise that a mechanism adds to an integer. All additive mechanisms of discreet are such."""

    def mass(self, n: int) -> float:
        """Pr[noise = n]."""

    def radius(self, confidence: float) -> int:
        """An r with Pr[|noise| ≤ r] ≥ confidence."""

    def release(self, values: Sequence[int]) -> Sequence[int]:
        """The values with fresh noise."""


class Curve(Protocol):
    """What a release gives away, as the least δ known for each ε."""

    def delta(self, epsilon: float) -> SupportsFloat:
        """A δ such that the release is (ε, δ)-DP."""


_NEARLY_ALL = 1 - 1e-12
"""How much of a law is looked at; a picture has no room for the rest."""

_MOST_OUTCOMES = 200_000
"""Beyond these a figure would take minutes."""


@dataclass(frozen=True, slots=True)
class LossLaw:
    """The law of the privacy loss ln(Pr[A(D) = a] / Pr[A(D′) = a]), with a drawn from A(D).

    For pictures: floats, rounded to the nearest. What accounts rest on is computed in `discreet.accounting`, with
    directed rounding.

    Args:
        losses: of each outcome that has a probability on both datasets.
        masses: the probability of each such outcome on D.
        impossible: the probability on D of outcomes that D′ never gives: there the loss is infinite.

    Source: Dwork, Roth (2014), Section 2.3.

    Examples:
        >>> response = LossLaw.of([0.75, 0.25], [0.25, 0.75])
        >>> [round(loss, 4) for loss in response.losses], response.masses
        ([1.0986, -1.0986], (0.75, 0.25))
    """

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    impossible: float = 0.0

    @classmethod
    def of(cls, here: Sequence[float], there: Sequence[float]) -> LossLaw:
        """The law for the probabilities of the same outcomes on D and on D′.

        Raises:
            InvalidArgument: they aren't probabilities, or not of the same outcomes.
        """
        first, second = finite(here, "probabilities", least=0), finite(there, "probabilities", least=0)
        if len(first) != len(second) or max(sum(first), sum(second)) > 1 + 1e-9:
            raise InvalidArgument("a privacy loss needs the probabilities of the same outcomes on D and on D′")
        both = [(log(p) - log(q), p) for p, q in zip(first, second, strict=True) if p > 0 and q > 0]
        if not both:
            raise InvalidArgument("no outcome is possible on both datasets, so there is no finite loss")
        return cls(
            losses=tuple(loss for loss, _ in both),
            masses=tuple(mass for _, mass in both),
            impossible=sum(p for p, q in zip(first, second, strict=True) if q == 0),
        )

    @classmethod
    def of_noise(cls, noise: AdditiveNoise, shift: int) -> LossLaw:
        """The law for noise on an integer that is greater by `shift` on D′.

        Args:
            noise: what is added.
            shift: 1 or more; the sensitivity for the worst case.

        Raises:
            InvalidArgument: the shift isn't positive, or the noise is too wide to be listed value by value.
        """
        if shift < 1:
            raise InvalidArgument(f"the shift must be 1 or more, not {shift}")
        reach = noise.radius(_NEARLY_ALL)
        if 2 * reach + shift > _MOST_OUTCOMES:
            raise InvalidArgument(
                "the noise is too wide to list its values one by one", hint="a coarser grid, or a smaller sensitivity"
            )
        masses = {n: noise.mass(n) for n in range(-reach - shift, reach + 1)}
        seen = range(-reach, reach + 1)
        return cls.of([masses[n] for n in seen], [masses[n - shift] for n in seen])

    def delta(self, epsilon: float) -> float:
        """The least δ for this pair: the expectation of 1 − e^(ε − loss) where the loss exceeds ε."""
        over = [(mass, epsilon - loss) for mass, loss in zip(self.masses, self.losses, strict=True) if loss > epsilon]
        return self.impossible - sum(mass * expm1(excess) for mass, excess in over)

    def beyond(self, epsilon: float) -> float:
        """The probability that the loss exceeds ε; what is above by rounding alone is not counted."""
        edge = epsilon + 1e-9 * max(epsilon, 1.0)
        return self.impossible + sum(mass for mass, loss in zip(self.masses, self.losses, strict=True) if loss > edge)

    @property
    def greatest(self) -> float:
        """The greatest loss; infinite if an outcome is impossible on D′."""
        return inf if self.impossible else max(self.losses)


def odds(epsilon: float) -> float:
    """How often a guess between D and D′ can be right at the most, under ε-DP and even odds: e^ε/(1 + e^ε).

    Examples:
        >>> odds(0.0), round(odds(2), 3)
        (0.5, 0.881)
    """
    return 1 / (1 + exp(-epsilon))


# ── Figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_TITLE = "A guarantee is a curve: a smaller ε goes with a larger δ"

_POINTS = 64
"""How many equal steps the axis is read in at first."""

_FINEST = 1e-4
"""Of the axis: no step is halved below this."""

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
    """What the figure shows, in words."""
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
    """What the figure shows, in words."""
    each = "; ".join(f"{name}: {shown(ys[-1])}" for name, ys in read.items())
    return (
        f"Lines of the total ε against the number of uses, from {shown(xs[0])} to {shown(xs[-1])}, both axes "
        f"logarithmic. At the right end: {each}."
    )
