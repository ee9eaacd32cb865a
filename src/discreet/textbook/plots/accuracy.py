"""The figures of what answers are good for, and what they aren't: accuracy against ε, and noise that averages out."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil, exp, sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from discreet.errors import InvalidArgument
from discreet.textbook.plots.guarantees import odds
from discreet.textbook.plots.marks import STROKES, Ending, draw_lines, name_ends, strokes
from discreet.textbook.plots.sheet import (
    FAINT,
    INK,
    axes_in,
    by_powers,
    describe,
    finite,
    house_style,
    percent,
    rising,
    sheet,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TITLE = "More ε buys accuracy until there is nothing left to protect"
_MARKS = (0.1, 0.5, 1.0, 2.0, 10.0)
"""Where it is written out by how much the odds can move: by the factor e^ε."""


def accuracy(epsilons: Sequence[float], errors: Mapping[str, Sequence[float]], *, confidence: float = 0.95) -> Figure:
    """The error of an answer against ε, and below it how well an attacker can guess at the most.

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
    """How often a guess between two neighbours is right at the most, with the factor by which odds move."""
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
    """What is drawn."""
    return (
        f"Above: the ± that holds in {percent(confidence)} of answers. "
        "Below: how often a guess at even odds can be right."
    )


def _accuracy_words(xs: Sequence[float], read: Mapping[str, Sequence[float]]) -> str:
    """What the figure shows, in words."""
    each = "; ".join(f"{name}: from ± {shown(ys[0])} down to ± {shown(ys[-1])}" for name, ys in read.items())
    return (
        f"Above, the error of an answer from ε = {shown(xs[0])} to {shown(xs[-1])}; {each}. Below, how often the best "
        f"guess about one unit is right, at even odds: from {percent(odds(xs[0]))} to {percent(odds(xs[-1]))}."
    )


# ── Averaging ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Estimator: TypeAlias = Literal["mean", "median"]
"""What answers are made one by."""

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
    """What the attacker wants to know, and when they do."""
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
    """What is what, on the right; and the band where there is room above it."""
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
    """The message."""
    if needed > asked:
        return f"Averaging {asked:,} answers doesn't give away the exact one; {needed:,} would"
    return f"Averaging {needed:,} answers gives away the exact one, and costs ε = {shown(needed * epsilon)}"


def _averaging_words(means: Sequence[float], exact: float, needed: int, epsilon: float, estimator: Estimator) -> str:
    """What the figure shows, in words."""
    return (
        f"A line of the {estimator} of the first n noisy answers, up to n = {len(means)}, inside a 95 % band around "
        f"the exact answer {shown(exact)} that narrows like one over the root of n. It ends at {shown(means[-1])}. The "
        f"band lies within the two horizontal lines from n = {needed} on, at a cost of ε = {shown(needed * epsilon)}."
    )
