"""The figure of attacks compared: how often each is right, and how often it would be without what was released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from discreet.errors import InvalidArgument
from discreet.plot.drawing.numbers import percent
from discreet.plot.drawing.sheet import axes_in, describe, house_style, sheet
from discreet.plot.drawing.strokes import INK, STROKES
from discreet.plot.exposure.legend import legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 12
_WIDE = 26
"""Letters of a label on one line."""
_LINES = 3
"""Lines of a label."""


class Outcome(Protocol):
    """What an attack came to; `discreet.attacks` makes such."""

    @property
    def attack(self) -> str:
        """Its name."""

    @property
    def against(self) -> str:
        """What was attacked."""

    @property
    def success(self) -> float | None:
        """Share of guesses that are right."""

    @property
    def baseline(self) -> float | None:
        """The same without what was released."""


def outcomes(results: Sequence[Outcome], *, people: str = "people") -> Figure:
    """How often attacks are right, beside an attacker who lacks what was released.

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
    most = " at the most" if len(known) > 1 else ""
    rows = " of rows" if people == "rows" else ""
    title = f"{best.attack.capitalize()} is right in {percent(share)}{rows}{most}"
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
