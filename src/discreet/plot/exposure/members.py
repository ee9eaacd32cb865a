"""The figure of tracing: members found, against strangers taken for members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from discreet.errors import InvalidArgument
from discreet.plot.drawing.lines import key
from discreet.plot.drawing.numbers import finite, percent, shown
from discreet.plot.drawing.sheet import axes_in, describe, house_style, sheet
from discreet.plot.drawing.strokes import INK, STROKES, strokes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Traced(Protocol):
    """What a tracing attack came to; `discreet.attacks` makes such."""

    @property
    def false_alarms(self) -> Sequence[float]:
        """Of each threshold, the share of strangers who are taken for members."""

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
        key(axes, list(curves), chosen)
        words = "; ".join(f"{name} leads by {percent(value)} at the most" for name, value in lead.items())
        forbidden = "".join(
            f" What is dotted leads by more than {shown(bound)}, which ε forbids on average." for bound in bounds
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
