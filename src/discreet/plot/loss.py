"""Privacy losses of integer noise as numbers, and their figure.

Figures ask little of what they draw: numbers and two small protocols, so that this room knows no mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, floor, inf, log
from typing import TYPE_CHECKING, Protocol, SupportsFloat

from discreet.errors import InvalidArgument
from discreet.plot.marks import FAINT, INK, Stroke, strokes
from discreet.plot.numbers import by_powers, finite, shown
from discreet.plot.sheet import axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
            _title(beyond, bound),
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
        describe(figure, _words(beyond, bound))
    return figure


def _bar(value: float, width: float) -> int:
    """The number of the bar that a loss falls in; bar 0 is around 0."""
    return floor(value / width + 0.5)


def _panel(axes: Axes, law: LossLaw, stroke: Stroke, *, width: float, reach: int) -> None:
    """The bars of one law."""
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


def _title(beyond: Mapping[str, float], epsilon: float) -> str:
    """The message."""
    if not any(beyond.values()):
        return f"No outcome tells more than ε = {shown(epsilon)}"
    if all(beyond.values()):
        return f"Losses above ε = {shown(epsilon)} are possible"
    return f"Losses above ε = {shown(epsilon)}: impossible with some noise, rare with other"


def _words(beyond: Mapping[str, float], epsilon: float) -> str:
    """What the figure shows, in words."""
    each = "; ".join(f"{name}: {shown(share) if share else 'never'}" for name, share in beyond.items())
    return (
        "Bars show how likely each privacy loss is, on a logarithmic scale. "
        f"Probability that the loss exceeds ε = {shown(epsilon)}: {each}."
    )
