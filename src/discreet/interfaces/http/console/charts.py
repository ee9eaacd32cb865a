"""Charts: where the marks of a picture stand; a template draws them as SVG, without script or style of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Any

from discreet.interfaces.http.console.pages import number

_MOST_ROWS = 40
_LEFT, _RIGHT, _ROW, _TOP = 140, 20, 26, 8
WIDTH, HEIGHT = 460, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of an answer.

    Args:
        label: its groups.
        y: where it stands.
        x, end: from zero to the value.
        low, high: where its interval begins and ends; None if it has none.
        words: the value and its interval.
    """

    label: str
    y: float
    x: float
    end: float
    low: float | None
    high: float | None
    words: str

    @property
    def left(self) -> float:
        """The left end of the bar, whatever its sign."""
        return min(self.x, self.end)

    @property
    def width(self) -> float:
        """The length of the bar, always positive."""
        return abs(self.end - self.x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A column of an answer as bars, each with its interval.

    Args:
        column: its name.
        bars: from the top down.
        ticks: of the axis: where, and what they say.
        height: of the picture.
    """

    column: str
    bars: Sequence[Bar]
    ticks: Sequence[tuple[float, str]]
    height: int


def charts(answer: Mapping[str, Any], shown: Sequence[Mapping[str, str]]) -> list[Chart]:
    """A chart for each noisy number of an answer; none where there are too many rows, or none.

    A value of which nothing is known has its label and no bar.

    Args:
        answer: as JSON has it.
        shown: its cells, as they are written in the table.
    """
    rows, intervals = answer["rows"], answer["intervals"]
    if not 0 < len(rows) <= _MOST_ROWS:
        return []
    keys = [name for name in answer["columns"] if name not in intervals]
    labels = [" · ".join("NULL" if row[key] is None else str(row[key]) for key in keys) or "all" for row in rows]
    told = {name: answer.get("informative", {}).get(name, [True] * len(rows)) for name in intervals}
    return [
        _chart(
            name,
            [row[name] if known else None for row, known in zip(rows, told[name], strict=True)],
            [each if known else None for each, known in zip(ends, told[name], strict=True)],
            labels,
            [cells[name] for cells in shown],
        )
        for name, ends in intervals.items()
        if all(row[name] is None or _is_number(row[name]) for row in rows)
        and all(each is None or all(end is None or _is_number(end) for end in each) for each in ends)
    ]


def _is_number(value: object) -> bool:
    """Whether a value can stand on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _chart(name: str, values: Sequence[Any], ends: Sequence[Any], labels: Sequence[str], words: Sequence[str]) -> Chart:
    """The chart of one column."""
    known = [end for each in ends if each is not None for end in each if end is not None]
    reach = [0.0, *map(float, known), *(float(value) for value in values if value is not None)]
    low, high = min(reach), max(reach)
    scale = (WIDTH - _LEFT - _RIGHT) / ((high - low) or 1.0)

    def at(value: float | None, otherwise: float) -> float:
        return round(_LEFT + ((otherwise if value is None else float(value)) - low) * scale, 1)

    bars = [
        Bar(
            label=label,
            y=_TOP + place * _ROW,
            x=at(0.0, 0.0),
            end=at(value, 0.0),
            low=None if each is None else at(each[0], low),
            high=None if each is None else at(each[1], high),
            words=text,
        )
        for place, (label, value, each, text) in enumerate(zip(labels, values, ends, words, strict=True))
    ]
    ticks = [(at(tick, 0.0), number(tick)) for tick in ticks_between(low, high)]
    return Chart(column=name, bars=bars, ticks=ticks, height=2 * _TOP + len(bars) * _ROW + 24)


def ticks_between(low: float, high: float) -> list[float]:
    """Round numbers along an axis, some four of them.

    Examples:
        >>> ticks_between(0, 950)
        [0.0, 200.0, 400.0, 600.0, 800.0]
    """
    if not high > low:
        return [low]
    power = 10.0 ** floor(log10((high - low) / 4))
    step = next(power * each for each in (1, 2, 5, 10) if (high - low) / (power * each) <= 5)  # noqa: PLR2004 — ticks
    first = -floor(-low / step)
    return [round(each * step, 12) for each in range(first, floor(high / step) + 1)]


def steps(amounts: Sequence[float], moments: Sequence[float], total: float) -> str:
    """The spending over time, as the points of a line that climbs towards the total.

    Args:
        amounts: what was spent by each moment.
        moments: in seconds, none before the one before it.
        total: of the budget.

    Examples:
        >>> steps([0, 3], [10, 10], total=6)
        '20.0,180.0 20.0,180.0 20.0,100.0'
    """
    across = (WIDTH - 2 * _RIGHT) / ((moments[-1] - moments[0]) or 1.0)
    up = (HEIGHT - 40) / (total or 1.0)
    points = [
        (_RIGHT + (at - moments[0]) * across, HEIGHT - 20 - amount * up)
        for at, amount in zip(moments, amounts, strict=True)
    ]
    corners = [points[0]] + [corner for (_, low), (x, y) in pairwise(points) for corner in ((x, low), (x, y))]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
