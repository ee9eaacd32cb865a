"""The figure of noise that averages out."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil, sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from discreet.errors import InvalidArgument
from discreet.textbook.plots.marks import STROKES, Ending, name_ends
from discreet.textbook.plots.numbers import finite, shown
from discreet.textbook.plots.sheet import INK, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Estimator: TypeAlias = Literal["mean", "median"]
"""The ways to make many answers into one."""

_VARIANCES: Mapping[Estimator, int] = MappingProxyType({"mean": 2, "median": 1})
"""The variance of an estimate from n answers with Laplace noise, in (Δ/ε)²/n."""

_Z = 1.96
"""Standard deviations that hold 95 % of a normal law, as textbooks round it; `averages_needed` is their formula."""


def averaging(  # noqa: PLR0913 — what is drawn, each by name
    answers: Sequence[float],
    *,
    truth: float,
    epsilon: float,
    sensitivity: float = 1,
    within: float = 0.5,
    estimator: Estimator = "mean",
    needed: int | None = None,
) -> Figure:
    """The running mean, or median, of noisy answers to one question, and when it gives the exact answer away.

    It is what happens where every repetition gets fresh noise. discreet answers the same question with the same
    number, and differently worded ones from a budget, so that the attack gains nothing or is refused.

    Args:
        answers: in the order in which they were given; two or more.
        truth: the exact answer.
        epsilon: of each answer; above 0.
        sensitivity: of the question; above 0.
        within: how near the mean must come: ½ tells a whole number from all others.
        estimator: "mean", as in textbooks, or "median", which needs half as many answers.
        needed: how many answers give the exact one away, where that is known better than by `averages_needed`.

    Raises:
        InvalidArgument: an argument is out of range.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> figure = averaging([3, 6, 4, 4], truth=4, epsilon=0.5)
        >>> figure.axes[0].lines[0].get_ydata().tolist()
        [3.0, 4.5, 4.333333333333333, 4.25]
    """
    read = finite(answers, "answers")
    exact, loss, near = finite([truth], "truth")[0], _above("epsilon", epsilon), _above("within", within)
    formula = averages_needed(loss, sensitivity=sensitivity, within=near, estimator=estimator)
    enough = formula if needed is None else needed
    if len(read) < 2:  # noqa: PLR2004 — one answer is no mean
        raise InvalidArgument("a running mean needs two or more answers")
    means = _running(read, estimator)
    spread = _Z * sqrt(_VARIANCES[estimator]) * _above("sensitivity", sensitivity) / loss
    with house_style():
        figure = sheet(
            _averaging_title(enough, len(read), loss),
            f"One question asked {len(read):,} times, answered with fresh noise at ε = {shown(loss)} each.",
            height=4.2,
        )
        axes = axes_in(figure, top=0.4, right=0.95)
        _mean(axes, means, exact, spread)
        _target(axes, exact, near, enough)
        axes.set_xlim(1, len(read))
        axes.set_ylim(exact - 6 * near, exact + 6 * near)
        _names(axes, means, exact, near, spread, estimator)
        axes.set_xlabel("answers averaged" if estimator == "mean" else "answers")
        axes.set_ylabel(f"{estimator} of the answers")
        _bill(axes, loss)
        describe(figure, _averaging_words(means, exact, enough, loss, estimator))
    return figure


def averages_needed(
    epsilon: float, *, sensitivity: float = 1, within: float = 0.5, estimator: Estimator = "mean"
) -> int:
    """How many answers put the 95 % band of their mean within ± `within`: n = 2·(1.96·Δ / (ε·within))², rounded up.

    For within = ½ and Δ = 1 it is the textbook's n = 8·1.96²/ε². It takes the variance of continuous Laplace noise,
    2(Δ/ε)²; that of the discrete noise is a little less (at ε = ½, 7.84 instead of 8). The median needs half as many:
    that holds of many answers, and of few it is rough.

    Proof. The mean of n answers has the variance 2(Δ/ε)²/n and is about normal; solve 1.96·√(2/n)·Δ/ε ≤ within for n.
    The median of many has about the variance 1/(4nf²) = (Δ/ε)²/n, where f = ε/(2Δ) is the density at the middle.

    Args:
        epsilon: of each answer; above 0.
        sensitivity: of the question; above 0.
        within: above 0.
        estimator: "mean" or "median".

    Raises:
        InvalidArgument: an argument isn't above 0, or there is no such estimator.

    Examples:
        >>> averages_needed(0.5)
        123
        >>> averages_needed(0.1), averages_needed(0.1, estimator="median")
        (3074, 1537)
    """
    if estimator not in _VARIANCES:
        raise InvalidArgument(f"unknown estimator {estimator!r}", hint="'mean' or 'median'")
    width = _above("within", within) * _above("epsilon", epsilon)
    return ceil(_VARIANCES[estimator] * (_Z * _above("sensitivity", sensitivity) / width) ** 2)


def _running(answers: Sequence[float], estimator: Estimator) -> list[float]:
    """The mean or the median of the first answer, of the first two, and so on."""
    if estimator == "mean":
        return [total / count for count, total in enumerate(accumulate(answers), start=1)]
    ordered: list[float] = []
    medians = []
    for count, answer in enumerate(answers, start=1):
        insort(ordered, answer)
        medians.append((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)
    return medians


def _above(name: str, value: float) -> float:
    """A finite number above 0.

    Raises:
        InvalidArgument: it isn't.
    """
    number = finite([value], name)[0]
    if number <= 0:
        raise InvalidArgument(f"{name} must be above 0, not {shown(number)}")
    return number


def _mean(axes: Axes, means: Sequence[float], exact: float, spread: float) -> None:
    """The running mean, in the band that it stays in."""
    counts = range(1, len(means) + 1)
    band, line = STROKES[1], STROKES[0]
    low = [exact - spread / sqrt(count) for count in counts]
    high = [exact + spread / sqrt(count) for count in counts]
    axes.plot(counts, means, color=line.colour, linewidth=1.8, zorder=3)
    axes.fill_between(counts, low, high, facecolor=f"{band.colour}22", edgecolor="none")
    for edge in (low, high):
        axes.plot(counts, edge, color=band.colour, linewidth=1.4, linestyle=band.pattern)


def _target(axes: Axes, exact: float, near: float, needed: int) -> None:
    """The attacker's target, and when they have it."""
    for edge in (exact - near, exact + near):
        axes.axhline(edge, color=INK, linewidth=1.0)
    axes.axvline(needed, color=INK, linewidth=1.2, dashes=(4, 2))
    axes.annotate(
        f"n = {needed:,}",
        (needed, 0.03),
        xycoords=axes.get_xaxis_transform(),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        color=INK,
        annotation_clip=True,
    )


def _names(  # noqa: PLR0913, PLR0917 — what is named
    axes: Axes, means: Sequence[float], exact: float, near: float, spread: float, estimator: Estimator
) -> None:
    """Names of the lines, on the right; and of the band, where there is room above it."""
    end = len(means)
    widest = min(max(end // 8, ceil((spread / (5 * near)) ** 2)), end)
    low, high = axes.get_ylim()
    last = min(max(means[-1], low), high)
    edges = [Ending(shown(exact + side * near), (end, exact + side * near), STROKES[2]) for side in (1, -1)]
    name_ends(axes, [Ending(f"{estimator}: {shown(means[-1])}", (end, last), STROKES[0]), *edges])
    axes.annotate(
        f"95 % of {estimator}s",
        (widest, exact + spread / sqrt(widest)),
        xytext=(3, 5),
        textcoords="offset points",
        color=STROKES[1].ink,
    )


def _bill(axes: Axes, epsilon: float) -> None:
    """A second axis above: what the answers cost together."""
    above = axes.twiny()
    low, high = axes.get_xlim()
    above.set_xlim(low * epsilon, high * epsilon)
    above.set_xlabel("ε they cost together", labelpad=4)
    above.grid(visible=False)
    above.spines["top"].set_visible(True)


def _averaging_title(needed: int, asked: int, epsilon: float) -> str:
    if needed > asked:
        return f"Averaging {asked:,} answers doesn't give away the exact one; {needed:,} would"
    return f"Averaging {needed:,} answers gives away the exact one, and costs ε = {shown(needed * epsilon)}"


def _averaging_words(means: Sequence[float], exact: float, needed: int, epsilon: float, estimator: Estimator) -> str:
    return (
        f"A line of the {estimator} of the first n noisy answers, up to n = {len(means)}, inside a 95 % band around "
        f"the exact answer {shown(exact)} that narrows like one over the root of n. It ends at {shown(means[-1])}. The "
        f"band lies within the two horizontal lines from n = {needed} on, at a cost of ε = {shown(needed * epsilon)}."
    )
