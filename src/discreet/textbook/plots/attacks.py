"""The figures of attacks: how often they are right, and what linkage, reconstruction and tracing find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from discreet.errors import InvalidArgument
from discreet.textbook.plots.marks import STROKES, binned, by_percent, key_beside, legend_above, level_bars, strokes
from discreet.textbook.plots.numbers import finite, percent, shown
from discreet.textbook.plots.sheet import FAINT, INK, axes_in, describe, house_style, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST = 12
_WIDE = 26
"""Letters of a label on one line."""
_LINES = 3
"""Lines of a label."""
_NEAR = 36
"""Points between marks whose names would collide if both stood at the same side."""


class Outcome(Protocol):
    """The result of an attack; `discreet.attacks` makes such."""

    @property
    def attack(self) -> str:
        """Its name."""

    @property
    def against(self) -> str:
        """The target of the attack."""

    @property
    def success(self) -> float | None:
        """Share of guesses that are right."""

    @property
    def baseline(self) -> float | None:
        """The same without what was released."""


def outcomes(results: Sequence[Outcome], *, people: str = "people") -> Figure:
    """How often attacks are right, beside an attacker without the release.

    Args:
        results: one or more, at most 12: one attack against several releases, or several attacks. Results whose success
            is unknown are left out.
        people: what they are: units, or rows where it isn't known whose these are; the title says so of these.

    Raises:
        InvalidArgument: there is nothing to draw, or more than fits.
        ExtraMissing: Matplotlib isn't installed.
    """
    known = [(result, result.success) for result in results if result.success is not None]
    if not 1 <= len(known) <= _MOST:
        raise InvalidArgument(f"a figure shows from 1 to {_MOST} attacks whose success is known, not {len(known)}")
    one = len({result.attack for result, _ in known}) == 1
    best, share = max(known, key=lambda pair: pair[1])
    most = "up to " if len(known) > 1 else ""
    guesses = "rows" if people == "rows" else "guesses"
    title = f"{best.attack.capitalize()} is right in {most}{percent(share)} of {guesses}"
    labels = [_broken(result.against if one else f"{result.attack}: {result.against}") for result, _ in known]
    lines = max(label.count("\n") + 1 for label in labels)
    with house_style():
        figure = sheet(
            title,
            "Share of guesses that are right, and of those made without what was released.",
            height=1.9 + (0.1 + 0.16 * lines) * len(known),
        )
        axes = axes_in(figure, left=2.3, right=0.45, top=0.25)
        _marks(axes, [success for _, success in known], [result.baseline for result, _ in known])
        axes.set_yticks(range(len(known)), labels)
        axes.set_ylim(len(known) - 0.5, -0.5)
        axes.set_ylabel("attack on" if one else "attack")
        axes.set_xlabel("share of guesses that are right")
        words = "; ".join(
            f"{result.attack} against {result.against}: {percent(success)}"
            + ("" if result.baseline is None else f", baseline {percent(result.baseline)}")
            for result, success in known
        )
        describe(figure, f"Two marks for each attack, joined by a line. {words}.")
    return figure


def _marks(axes: Axes, successes: Sequence[float], baselines: Sequence[float | None]) -> None:
    """A mark for what was achieved, one for the baseline, and a line between."""
    from matplotlib.ticker import FuncFormatter

    lines = [
        (place, low, high)
        for place, (high, low) in enumerate(zip(successes, baselines, strict=True))
        if low is not None
    ]
    axes.hlines(
        [place for place, _, _ in lines],
        [min(low, high) for _, low, high in lines],
        [max(low, high) for _, low, high in lines],
        color=INK,
        linewidth=1.0,
    )
    with_it, without = STROKES[1], STROKES[0]
    axes.plot(
        successes,
        range(len(successes)),
        linestyle="None",
        marker=with_it.marker,
        color=with_it.colour,
        markersize=8,
        label="with the release",
    )
    axes.plot(
        [low for _, low, _ in lines],
        [place for place, _, _ in lines],
        linestyle="None",
        marker=without.marker,
        color=without.colour,
        markersize=6,
        label="without it",
    )
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    legend_above(axes)


def _broken(label: str) -> str:
    """A label on as many lines as it needs; a sign and its number stay together."""
    from textwrap import wrap

    return "\n".join(wrap(label.replace(" = ", "\u00a0=\u00a0"), _WIDE, max_lines=_LINES, placeholder=" …"))


_EDGES = (0, 1, 2, 3, 5, 10, 20, 50, 100)
"""Where a bar begins; the last has no end."""


def candidates(counts: Sequence[tuple[int, int]], *, against: str, people: str = "people") -> Figure:
    """How many candidates people have: one is a match, and few are nearly one.

    Args:
        counts: pairs of a number of candidates (0 or more) and how many people have that many (1 or more).
        against: what was linked with, in words.
        people: what they are: units, or rows where it isn't known whose these are.

    Raises:
        InvalidArgument: there is nobody, or a number is out of range.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> candidates([(0, 1), (1, 6), (30, 3)], against="raw rows").get_suptitle()
        '60 % of the people have a single candidate in raw rows'
    """
    if not counts or min(number for number, _ in counts) < 0 or min(many for _, many in counts) < 1:
        raise InvalidArgument("candidates are pairs of a number from 0 and how many people have it, from 1")
    total = sum(many for _, many in counts)
    bars = binned(counts, _EDGES)
    found = "units" if people == "units" else "rows"
    with house_style():
        figure = sheet(
            f"{percent(bars['1'])} of the {people} have a single candidate in {against}",
            f"Share of {total:,} {people} by how many {found} agree with what is known of them.",
            height=3.9,
        )
        axes = axes_in(figure, left=1.05)
        level_bars(axes, list(bars), list(bars.values()), STROKES[1], fill="////")
        by_percent(axes)
        axes.set_ylabel("candidates")
        axes.set_xlabel(f"share of the {people}")
        words = "; ".join(f"{name}: {percent(share)}" for name, share in bars.items())
        describe(figure, f"Bars of the share of {people} by how many candidates they have. {words}.")
    return figure


class NoisePoint(Protocol):
    """One kind of noise and what was found through it; `discreet.attacks` makes such."""

    @property
    def noise(self) -> str:
        """The name of the noise."""

    @property
    def deviation(self) -> float:
        """Its standard deviation."""

    @property
    def success(self) -> float:
        """The share of people whose secret was found."""


def recovery(points: Sequence[NoisePoint], *, people: int, questions: int, baseline: float) -> Figure:
    """How many people's secrets random counts give away, by how much noise is in each.

    Args:
        points: two or more kinds of noise.
        people: how many there are.
        questions: how many counts were asked for.
        baseline: the share that is right by guessing the commoner value.

    Raises:
        InvalidArgument: there are fewer than two points, or a number is out of range.
        ExtraMissing: Matplotlib isn't installed.
    """
    deviations = finite([point.deviation for point in points], "deviations", least=0)
    shares = finite([point.success for point in points], "shares", least=0)
    if len(points) < 2 or max(*shares, baseline) > 1 or baseline < 0 or min(people, questions) < 1:  # noqa: PLR2004 — a line has two ends
        raise InvalidArgument("the figure takes two points or more, shares between 0 and 1, people and questions")
    order = sorted(range(len(points)), key=lambda place: deviations[place])
    xs, ys = [deviations[place] for place in order], [shares[place] for place in order]
    with house_style():
        figure = sheet(
            f"Answers with little noise give {percent(ys[0])} of the people away",
            f"{questions:,} random counts over {people:,} people, by how much noise is in each.",
            height=3.9,
        )
        axes = axes_in(figure, right=1.0)
        _line(axes, xs, ys, [points[place].noise for place in order])
        axes.axhline(baseline, color=INK, linewidth=1.2, dashes=(4, 2))
        axes.annotate(
            "by guessing",
            (1.0, baseline),
            xycoords=axes.get_yaxis_transform(),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=FAINT,
        )
        words = "; ".join(f"{points[place].noise}: {percent(shares[place])}" for place in order)
        describe(
            figure,
            f"A line that falls from left to right: share of people found, by noise. {words}. "
            f"By guessing: {percent(baseline)}.",
        )
    return figure


def _line(axes: Axes, xs: Sequence[float], ys: Sequence[float], names: Sequence[str]) -> None:
    """The line, with the name of each kind of noise beside its mark."""
    from matplotlib.ticker import FuncFormatter

    stroke = STROKES[0]
    axes.plot(xs, ys, color=stroke.colour, linestyle=stroke.pattern, marker=stroke.marker, markersize=6)
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_xlim(-0.15, 3 * max(xs[-1], 1.0))
    axes.set_ylim(min(0.4, *ys) - 0.05, 1.12)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %" if share <= 1 else ""))
    places = axes.transData.transform(list(zip(xs, ys, strict=True))) * 72 / axes.figure.dpi
    above = True
    for number, name in enumerate(names):
        right, up = places[number] - places[number - 1] if number else (_NEAR, 0)
        above = not (above and right < _NEAR and abs(up) < _NEAR)  # else its name would lie on the one before
        axes.annotate(
            name,
            (xs[number], ys[number]),
            xytext=(3, 7) if above else (-3, -7),
            textcoords="offset points",
            ha="left" if above else "right",
            va="bottom" if above else "top",
            color=stroke.ink,
            fontsize=8.5,
        )
    axes.set_xlabel("standard deviation of the noise in each count")
    axes.set_ylabel("people whose secret is found")


class Traced(Protocol):
    """The result of a tracing attack; `discreet.attacks` makes such."""

    @property
    def false_alarms(self) -> Sequence[float]:
        """The share of strangers who are taken for members, at each threshold."""

    @property
    def found(self) -> Sequence[float]:
        """The share of members who are found."""

    @property
    def bound(self) -> float | None:
        """The most by which `found` may lead, by the release's guarantee; None if it has none."""


def members(attacks: Mapping[str, Traced]) -> Figure:
    """How many members are found at each rate of false alarms: the further above the diagonal, the worse.

    Args:
        attacks: by the name of what was attacked; up to five.

    Raises:
        InvalidArgument: there is nothing to draw or too much, or a curve isn't one of shares.
        ExtraMissing: Matplotlib isn't installed.

    Examples:
        >>> from types import SimpleNamespace as curve
        >>> exact = curve(false_alarms=(0.0, 0.0, 1.0), found=(0.0, 0.9, 1.0), bound=None)
        >>> members({"exact shares": exact}).get_suptitle()
        'By exact shares, members lead strangers by 90 %'
    """
    chosen = strokes(len(attacks))
    if len(attacks) == len(STROKES):
        raise InvalidArgument("the figure shows up to five attacks")
    curves = {name: _curve(traced) for name, traced in attacks.items()}
    lead = {name: max(y - x for x, y in zip(*curve, strict=True)) for name, curve in curves.items()}
    worst = max(lead, key=lambda name: lead[name])
    bounds = [traced.bound for traced in attacks.values() if traced.bound is not None]
    with house_style():
        figure = sheet(
            f"By {worst}, members lead strangers by {percent(lead[worst])}",
            "Members found at each share of strangers taken for members."
            + (" Dotted: more than ε allows on average." if bounds else ""),
            height=4.4,
        )
        axes = axes_in(figure, right=2.3)
        for (xs, ys), stroke in zip(curves.values(), chosen, strict=True):
            axes.plot(
                xs, ys, color=stroke.colour, linestyle=stroke.pattern, marker=stroke.marker, markersize=5, markevery=0.2
            )
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8)
        for bound in bounds:
            axes.fill_between(
                [0, 1 - bound, 1], [bound, 1, 1], 1, facecolor="none", edgecolor="#bbbbbb", hatch="....", linewidth=0
            )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.005)
        axes.set_xlabel("strangers taken for members")
        axes.set_ylabel("members found")
        key_beside(axes, list(curves), chosen)
        words = "; ".join(f"{name} leads by at most {percent(value)}" for name, value in lead.items())
        forbidden = "".join(
            f" Dotted parts lead by more than {shown(bound)}, which ε forbids on average." for bound in bounds
        )
        describe(figure, f"Curves from the lower left to the upper right corner, and the diagonal. {words}.{forbidden}")
    return figure


def _curve(traced: Traced) -> tuple[list[float], list[float]]:
    """A curve's points.

    Raises:
        InvalidArgument: they aren't shares.
    """
    xs, ys = finite(traced.false_alarms, "false alarms", least=0), finite(traced.found, "found", least=0)
    if len(xs) != len(ys) or max(*xs, *ys) > 1:
        raise InvalidArgument("a curve has as many shares of members as of strangers, between 0 and 1")
    return xs, ys
