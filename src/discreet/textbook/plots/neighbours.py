"""The figure of two neighbours: what a mechanism answers on each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from discreet.errors import InvalidArgument
from discreet.textbook.plots.loss_law import AdditiveNoise
from discreet.textbook.plots.marks import STROKES, stacked
from discreet.textbook.plots.numbers import percent, shown
from discreet.textbook.plots.sheet import FAINT, INK, WIDTH, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SHOWN = 0.99
"""How much of each law the axis covers."""

_MOST_VALUES = 4_000
_MOST_DRAWS = 200
_MOST_PANELS = 3

_MOST_STEPS = 60
"""With more values, a step each would be a blur."""

_FEWEST_LEVELS = 6

_DOT = 5.0
"""Points: the size of a draw."""


def neighbours(noises: Mapping[str, AdditiveNoise], *, answers: tuple[int, int] = (5, 10), draws: int = 20) -> Figure:
    """The probabilities of what is released on D and on D′, with some draws, side by side for several ε.

    The draws are made by the noise that is handed in, afresh each time.

    Args:
        noises: from 1 to 3, each by its name, such as `"ε = 0.5"`.
        answers: the exact answers on D and on D′.
        draws: how many to make on each dataset; from 0 to 200.

    Raises:
        InvalidArgument: the answers are the same, there are too many draws or noises, or the noise is too wide.
        ExtraMissing: Matplotlib isn't installed.

    Source: Dwork, Roth (2014), Definition 2.4.

    Examples:
        >>> figure = neighbours({"ε = 0.5": noise, "ε = 10": less_noise})  # doctest: +SKIP
    """
    if not 1 <= len(noises) <= _MOST_PANELS or not 0 <= draws <= _MOST_DRAWS or answers[0] == answers[1]:
        raise InvalidArgument(
            f"the figure shows two different answers, up to {_MOST_PANELS} noises and up to {_MOST_DRAWS} draws of each"
        )
    pairs = {name: _Pair.of(noise, answers, draws) for name, noise in noises.items()}
    exact = f"Exact answers: {shown(answers[0])} on D, {shown(answers[1])} on D′."
    drawn = f"Dots: {draws} answers drawn on each."
    panel = (WIDTH - 0.25) / len(pairs)
    with house_style():
        figure = sheet(_neighbours_title(pairs), f"{exact} {drawn} Guesses are from even odds.", height=4.8)
        for number, (name, pair) in enumerate(pairs.items()):
            left, right = number * panel + 0.72, (len(pairs) - 1 - number) * panel
            upper = axes_in(figure, left=left, right=right, bottom=2.0, top=0.42)
            lower = axes_in(figure, left=left, right=right, bottom=0.55, top=2.3)
            _laws(upper, pair)
            _dots(lower, pair)
            upper.set_title(name, loc="left", fontweight="bold", pad=19)
            upper.text(
                0, 1.02, f"best guess right: {percent(pair.guess)}", transform=upper.transAxes, color=FAINT, va="bottom"
            )
            if number == 0:
                upper.set_ylabel("probability")
                lower.set_ylabel("draws")
        describe(figure, _neighbours_words(pairs, answers))
    return figure


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two laws on the same values, and draws of each.

    Args:
        answers: the exact ones.
        values: what may be released, in order.
        masses: the probability of each, on D and on D′.
        drawn: on D and on D′.
        guess: how often the best guess is right.
    """

    answers: tuple[int, int]
    values: range
    masses: tuple[list[float], list[float]]
    drawn: tuple[list[int], list[int]]
    guess: float

    @classmethod
    def of(cls, noise: AdditiveNoise, answers: tuple[int, int], draws: int) -> _Pair:
        """Ask the noise for its probabilities, and for draws.

        From even odds the best guess is right with probability (1 + TV)/2; the total variation TV is what D has above
        D′, summed.
        """
        reach, far = noise.radius(_SHOWN), noise.radius(1 - 1e-6)
        if 2 * far + abs(answers[0] - answers[1]) > _MOST_VALUES:
            raise InvalidArgument(
                "there are too many values to show one by one", hint="a smaller sensitivity, or a larger epsilon"
            )
        drawn = tuple(sorted(map(int, noise.release([answer] * draws))) for answer in answers)
        ends = [answer + side * reach for answer in answers for side in (-1, 1)] + drawn[0] + drawn[1]
        spare = 1 + (max(ends) - min(ends)) // 40
        values = range(min(ends) - spare, max(ends) + spare + 1)
        masses = tuple([noise.mass(value - answer) for value in values] for answer in answers)
        outcomes = range(min(answers) - far, max(answers) + far + 1)
        above = sum(max(noise.mass(n - answers[0]) - noise.mass(n - answers[1]), 0.0) for n in outcomes)
        return cls(answers, values, (masses[0], masses[1]), (drawn[0], drawn[1]), (1 + above) / 2)


def _laws(axes: Axes, pair: _Pair) -> None:
    """Both laws: a step for each whole number, as high as it is likely; a line through them where steps are tiny."""
    step: Literal["mid"] | None = "mid" if len(pair.values) <= _MOST_STEPS else None
    left = 0 if pair.answers[0] < pair.answers[1] else 1
    for number, (masses, stroke) in enumerate(zip(pair.masses, STROKES, strict=False)):
        axes.fill_between(pair.values, masses, step=step, facecolor=f"{stroke.colour}26", edgecolor="none")
        axes.plot(
            pair.values,
            masses,
            color=stroke.colour,
            linestyle=stroke.pattern,
            drawstyle=f"steps-{step}" if step else "default",
        )
        peak = max(range(len(masses)), key=masses.__getitem__)
        axes.annotate(
            ("D", "D′")[number],
            (pair.values[peak], masses[peak]),
            xytext=(-3 if number == left else 3, 2),
            textcoords="offset points",
            ha="right" if number == left else "left",
            va="bottom",
            color=stroke.ink,
            fontsize=10,
            fontweight="bold",
        )
    axes.set_xlim(pair.values[0] - 0.5, pair.values[-1] + 0.5)
    axes.set_ylim(0, 1.15 * max(*pair.masses[0], *pair.masses[1]))
    axes.tick_params(labelbottom=False)


def _dots(axes: Axes, pair: _Pair) -> None:
    """The draws as dots: those on D stacked upwards, those on D′ downwards.

    Equal draws stand beside each other within their whole number's own width, then on top of each other.
    """
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    room = len(pair.values) * _DOT / (box.width * points)
    placed = [stacked(drawn, room) for drawn in pair.drawn]
    most = max([_FEWEST_LEVELS, *(level for dots in placed for _, level in dots)])
    size = min(_DOT, 0.9 * box.height * points / (2 * most))
    for dots, stroke, side in zip(placed, STROKES, (1, -1), strict=False):
        axes.plot(
            [x for x, _ in dots],
            [side * (level - 0.4) for _, level in dots],
            linestyle="none",
            marker=stroke.marker,
            markersize=size,
            color=stroke.colour,
            markeredgewidth=0,
            clip_on=False,
        )
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_ylim(-most - 0.5, most + 0.5)
    axes.set_xlim(pair.values[0] - 0.5, pair.values[-1] + 0.5)
    axes.set_yticks([most / 2, -most / 2], ["on D", "on D′"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("released answer")


def _neighbours_title(pairs: Mapping[str, _Pair]) -> str:
    """The message: how well the best guess of the dataset does, from one answer."""
    guesses = [pair.guess for pair in pairs.values()]
    if len(guesses) == 1:
        return f"Anybody who sees one answer guesses D or D′ correctly in {percent(guesses[0])} of cases"
    return f"The best guess of D or D′ from one answer: right in {percent(min(guesses))} to {percent(max(guesses))}"


def _neighbours_words(pairs: Mapping[str, _Pair], answers: tuple[int, int]) -> str:
    each = "; ".join(f"with {name}, {percent(pair.guess)}" for name, pair in pairs.items())
    return (
        f"Two laws of released answers, one around {answers[0]} on dataset D, one around {answers[1]} on its neighbour "
        f"D′, with draws from each. How often the best guess of the dataset from one answer is right, from even odds: "
        f"{each}."
    )
