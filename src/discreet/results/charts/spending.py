"""Spending: how a budget was used up over time, in steps towards the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from discreet.results.charts.axes import Scale, moment, number_ticks, time_ticks
from discreet.results.charts.choice import WIDE
from discreet.results.charts.drawing import STYLES, Drawing, Mark, Shape, Words
from discreet.results.charts.heading import below
from discreet.results.charts.lettering import width_of

_TOP, _HEIGHT, _AXIS, _RIGHT = 20, 150, 22, 14
_TICK = STYLES["tick"].size


def spending(  # noqa: PLR0913 — what is drawn, and how wide
    amounts: Sequence[float],
    moments: Sequence[datetime],
    total: float,
    sign: str,
    width: float = WIDE,
    *,
    of: str = "the whole budget",
) -> Drawing:
    """A line that climbs in steps from what was spent first to what is spent now, below the whole budget.

    Args:
        amounts: spent by each moment.
        moments: none before the one before it.
        total: of the budget.
        sign: of the measure: "ε" or "ρ".
        width: at most.
        of: what the total is.

    Examples:
        >>> spending([0, 1, 3], [datetime(2024, 1, day) for day in (1, 2, 9)], 4, "ε").finding
        'ε = 3 of 4 is spent.'
    """
    y = Scale(0, max(total, *amounts) or 1.0, _TOP + _HEIGHT, _TOP)
    ticks = number_ticks(y.low, y.high, 5)
    left = max(width_of(text, _TICK) for _, text in ticks) + 8
    first, last = moment(moments[0]), moment(moments[-1])
    x = Scale(first, last if last > first else first + 1 / 1440, left, width - _RIGHT)
    points = [(x(moment(at)), y(amount)) for at, amount in zip(moments, amounts, strict=True)]
    corners = [points[0]] + [corner for (_, low), (at, high) in pairwise(points) for corner in ((at, low), (at, high))]
    whole = f"{of}: {sign} = {total:,.4g}"
    marks: list[Mark] = [
        Words(kind="tick", at=(width - _RIGHT, y(total) - 6), text=whole, anchor="end"),
        Shape(kind="grid", lines=tuple(((left, y(at)), (width - _RIGHT, y(at))) for at, _ in ticks if at)),
        Shape(kind="total", lines=(((left, y(total)), (width - _RIGHT, y(total))),)),
        Shape(kind="zero", lines=(((left, y(0)), (width - _RIGHT, y(0))),)),
        *(Words(kind="tick", at=(left - 8, y(at) + 4), text=text, anchor="end") for at, text in ticks),
        Shape(kind="line", lines=(tuple(corners),)),
    ]
    times = time_ticks(x.low, x.high, max(2, int(width / 90)))
    marks += below(((x(at), text) for at, text in times), _TOP + _HEIGHT, width)
    return Drawing(
        title=f"{sign} spent over time",
        finding=f"{sign} = {amounts[-1]:,.4g} of {total:,.4g} is spent.",
        width=width,
        height=_TOP + _HEIGHT + _AXIS,
        marks=marks,
    )
