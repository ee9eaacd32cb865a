"""The choice of a chart: which picture a column of an answer has, by the keys of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.results.charts.bars import bars
from discreet.results.charts.drawing import Drawing, stacked
from discreet.results.charts.heat_map import fits, heat_map
from discreet.results.charts.lines import line, panels
from discreet.results.charts.ranking import ranking
from discreet.results.charts.series import Key, Series, series_of, together
from discreet.results.columns import AnswerColumn, Ends

WIDE, NARROW = 640, 326
"""Widths of a drawing in pixels: at most on a desk, and on a phone."""

_MOST_BARS = 60
_MOST_PANELS = 12
_MORE_PANELS = 40
"""If cells of a heat map would be too narrow."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of one noisy column of an answer.

    Args:
        series: what is drawn.
    """

    series: Series

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.series.name

    def drawing(self, width: float = WIDE) -> Drawing:
        """The picture, at most so wide."""
        axis = next((key for key in self.series.keys if key.is_ordered), None)
        others = [key for key in self.series.keys if key is not axis]
        if axis is None:
            return _of_categories(self.series, width)
        return _along(self.series, axis, together(others), width) if others else line(self.series, axis, width)


def _along(series: Series, axis: Key, other: Key, width: float) -> Drawing:
    """Values along one key, for each of another."""
    count = len(other.names)
    if count <= _MOST_PANELS and not other.is_ordered:
        return panels(series, axis, other, width)
    across, down = (other, axis) if other.is_ordered and count > len(axis.names) else (axis, other)
    if fits(down, across, width):
        return heat_map(series, down, across, width)
    return panels(series, axis, other, width) if count <= _MORE_PANELS else ranking(series, width)


def _of_categories(series: Series, width: float) -> Drawing:
    """Values by keys without an order."""
    if len(series.values) <= _MOST_BARS:
        return bars(series, width)
    if len(series.keys) > 1:
        first, rest = series.keys[0], together(series.keys[1:])
        down, across = (rest, first) if len(rest.names) > len(first.names) else (first, rest)
        if fits(down, across, width):
            return heat_map(series, down, across, width)
    return ranking(series, width)


def drawn(found: Sequence[Chart], width: float = WIDE) -> Drawing:
    """Charts below each other, as one drawing.

    Raises:
        InvalidArgument: there are none.
    """
    if not found:
        raise InvalidArgument("there is nothing to draw: the answer has no number with noise")
    return stacked([chart.drawing(width) for chart in found])


def charts(
    columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]], confidence: Fraction
) -> list[Chart]:
    """A chart for each noisy number of an answer; none where there are none, and none without rows.

    Args:
        columns: of the answer.
        intervals: of each of its columns.
        confidence: of these.

    Examples:
        >>> ward = AnswerColumn("ward", "text", ("A", None))
        >>> n = AnswerColumn("n", "integer", (1200, 40), declared=(0, float("inf")))
        >>> (chart,) = charts([ward, n], {"ward": [None, None], "n": [(1170, 1230), (10, 70)]}, Fraction(19, 20))
        >>> chart.drawing().title, chart.drawing().finding
        ('n by ward', 'largest A: 1,200 ± 30; smallest NULL: 40 ± 30; 2 groups.')
    """
    return [Chart(series) for series in series_of(columns, intervals, confidence)]
