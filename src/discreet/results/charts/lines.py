"""Lines: values along an ordered key, with a band as wide as their intervals; one panel, or one for each other key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import Self

from discreet.results.charts.axes import Ends, Scale, reach
from discreet.results.charts.drawing import STYLES, Dot, Drawing, Mark, Shape, Words
from discreet.results.charts.heading import TOP, below, heading
from discreet.results.charts.lettering import BOLD, told_apart, width_of
from discreet.results.charts.series import Key, Series

_HEIGHT, _AXIS, _RIGHT = 170, 22, 14
_SMALL, _SMALLER, _FEW = 110, 78, 3
"""The height of a panel of a few, and of many."""

_NULL_ROOM = 40
_LEAST_PANEL, _PANEL_GAP, _PANEL_TOP, _PANEL_BELOW = 200, 18, 22, 10
_DOT_ROOM, _TICK_ROOM, _TIME_ROOM, _APART = 9, 42, 70, 6
_TICK, _NUMBER = STYLES["tick"].size, STYLES["number"].size
_CAP = 2.5


@dataclass(frozen=True, slots=True)
class Spot:
    """A value that is drawn.

    Args:
        place: along the axis.
        value: known.
        ends: of its interval.
        says: it in words.
    """

    place: float
    value: float
    ends: Ends
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """A place for a line.

    Args:
        series: what is drawn.
        key: along which order.
        x: of keys.
        y: of values, upwards.
        right: where lines at round values end; NULL stands between the end of `x` and there.
    """

    series: Series
    key: Key
    x: Scale
    y: Scale
    right: float

    @classmethod
    def of(cls, series: Series, key: Key, left: float, right: float, y: Scale) -> Self:
        """A panel from left to right, with half a step before the first key and after the last."""
        low, high = key.known_places[0], key.known_places[-1]
        spare = min(key.step / 2, (high - low) / 40)
        end = right - (_NULL_ROOM if None in key.places else 0)
        return cls(series=series, key=key, x=Scale(low - spare, high + spare, left, end), y=y, right=right)

    def grid(self, *, labelled: bool = True) -> Iterator[Mark]:
        """Lines at round values, with these beside them."""
        y, left, is_time = self.y, self.x.start, self.series.is_time
        ticks = self.series.ticks(y, _most(y))
        yield Shape(kind="grid", lines=tuple(((left, y(at)), (self.right, y(at))) for at, _ in ticks if at or is_time))
        if y.holds(0.0) and not is_time:
            yield Shape(kind="zero", lines=(((left, y(0.0)), (self.right, y(0.0))),))
        if labelled:
            yield from (Words(kind="tick", at=(left - 8, y(at) + 4), text=text, anchor="end") for at, text in ticks)

    def ticks(self, width: float) -> Iterator[Mark]:
        """Round keys below the axis, as many as there is room for; and NULL, if it has a value anywhere."""
        most = max(2, int((self.x.end - self.x.start) / (_TIME_ROOM if self.key.is_time else _TICK_ROOM)))
        ticks = [(self.x(at), text) for at, text in self.key.ticks(self.x, most)]
        bottom = self.y.start
        yield Shape(kind="zero", lines=tuple(((at, bottom), (at, bottom + 4)) for at, _ in ticks))
        if None in self.key.places:
            width = self._apart - width_of("NULL", _TICK) / 2 - _APART
            yield Words(kind="tick", at=(self._apart, bottom + 16), text="NULL", anchor="middle")
            ticks = [(at, text) for at, text in ticks if at + width_of(text, _TICK) / 2 <= width]
        yield from below(ticks, bottom, width)

    def values(self, rows: Sequence[int]) -> list[Mark]:
        """The values of some rows: a band and a line as far as keys follow each other, else dots; NULL apart."""
        known: list[Spot] = []
        apart: list[Mark] = []
        for row in rows:
            place, value, ends = self.key.place(row), self.series.values[row], self.series.ends[row]
            if value is not None and place is not None:
                known.append(Spot(place, value, ends, self.series.said(row)))
            elif value is not None:
                apart += [
                    Shape(kind="whisker", lines=tuple(_upright(self._apart, ends, self.y))),
                    Dot(kind="dot", at=(self._apart, self.y(value)), says=self.series.said(row)),
                ]
        dotted = len(known) * _DOT_ROOM <= self.x.end - self.x.start
        known.sort(key=lambda spot: spot.place)
        return [*drawn(known, self.key.step, self.x, self.y, dotted=dotted), *apart]

    def summit(self) -> Iterator[Mark]:
        """The greatest value, told above it."""
        series, places = self.series, [self.key.place(row) for row in range(len(self.series.values))]
        known = [(value, -row) for row, value in enumerate(series.values) if None not in {value, places[row]}]
        if not known:
            return
        value, row = max((value or 0.0, -row) for value, row in known)
        half = width_of(series.words[row], _NUMBER) / 2
        at, top = self.x(places[row] or 0.0), min(self.y(end) for end in (value, *(series.ends[row] or ())))
        yield Dot(kind="dot", at=(at, self.y(value)), radius=3.5, says=series.said(row))
        middle = min(max(at, self.x.start + half), self.right - half)
        yield Words(kind="number", at=(middle, top - 7), text=series.words[row], anchor="middle")

    @property
    def _apart(self) -> float:
        """Where NULL stands."""
        return self.right - _NULL_ROOM / 2


def line(series: Series, key: Key, width: float) -> Drawing:
    """One panel, with the greatest value told."""
    top = TOP + 14
    y = Scale(*_reach(series), top + _HEIGHT, top)
    panel = _Panel.of(series, key, _left(series, y), width - _RIGHT, y)
    marks: list[Mark] = [
        *heading(series.title, series.subtitle, width),
        *panel.grid(),
        *panel.ticks(width),
        *panel.values(range(len(series.values))),
        *panel.summit(),
    ]
    return Drawing(title=series.title, finding=series.finding, width=width, height=y.start + _AXIS, marks=marks)


def panels(series: Series, key: Key, other: Key, width: float) -> Drawing:
    """A panel for each other key, all on the same axes."""
    names = [other.names[code] for code in other.in_order]
    low, high = _reach(series)
    tall = _SMALL if len(names) <= _FEW else _SMALLER
    left = _left(series, Scale(low, high, tall, 0))
    across = min(len(names), max(2, int(width // _LEAST_PANEL)))
    wide = (width - left - _RIGHT - (across - 1) * _PANEL_GAP) / across
    shown = told_apart(names, wide / BOLD, STYLES["group"].size)
    marks: list[Mark] = list(heading(series.title, series.subtitle, width))
    rows: dict[int, list[int]] = {}
    for row, code in enumerate(other.codes):
        rows.setdefault(code, []).append(row)
    bottom = 0.0
    for place, code in enumerate(other.in_order):
        down, column = divmod(place, across)
        start, top = left + column * (wide + _PANEL_GAP), TOP + down * (_PANEL_TOP + tall + _PANEL_BELOW)
        bottom = top + _PANEL_TOP + tall
        panel = _Panel.of(series, key, start, start + wide, Scale(low, high, bottom, top + _PANEL_TOP))
        marks.append(Words(kind="group", at=(start, top + 14), text=shown[place], says=names[place]))
        marks += panel.grid(labelled=column == 0)
        if place + across >= len(names):
            marks += panel.ticks(start + wide + _PANEL_GAP / 2)
        marks += panel.values(rows[code])
    return Drawing(title=series.title, finding=series.finding, width=width, height=bottom + _AXIS, marks=marks)


def _reach(series: Series) -> tuple[float, float]:
    """From where to where values go: from zero, unless all are far from it and no counts."""
    sizes = [abs(value) for value in series.values if value is not None]
    far = not series.whole and bool(sizes) and min(sizes) > max(sizes) / 2
    return reach(series.values, series.ends, zero=series.from_zero and not far)


def _left(series: Series, y: Scale) -> float:
    """The room for labels beside the axis."""
    return max((width_of(text, _TICK) for _, text in series.ticks(y, _most(y))), default=0) + 8


def _most(y: Scale) -> int:
    """How many ticks there may be beside an axis."""
    return max(2, int((y.start - y.end) / 34))


def drawn(known: Sequence[Spot], step: float, x: Scale, y: Scale, *, dotted: bool) -> list[Mark]:
    """Spots as bands and lines, from the left to the right."""
    bands: list[tuple[tuple[float, float], ...]] = []
    lines: list[tuple[tuple[float, float], ...]] = []
    whiskers: list[tuple[tuple[float, float], ...]] = []
    dots: list[Mark] = []
    for run in _runs(known, step):
        for bounded, part in groupby(run, key=lambda spot: spot.ends is not None):
            inner = list(part)
            if bounded and len(inner) > 1:
                bands.append(_band(inner, x, y))
            elif bounded:
                whiskers += _upright(x(inner[0].place), inner[0].ends, y)
        if len(run) > 1:
            lines.append(_thinned([(x(spot.place), y(spot.value)) for spot in run]))
        if dotted or len(run) == 1:
            dots += [Dot(kind="dot", at=(x(spot.place), y(spot.value)), says=spot.says) for spot in run]
    found: list[Mark] = []
    if bands:
        found.append(Shape(kind="band", lines=tuple(bands)))
    if whiskers:
        found.append(Shape(kind="whisker", lines=tuple(whiskers)))
    if lines:
        found.append(Shape(kind="line", lines=tuple(lines)))
    return [*found, *dots]


def _runs(known: Sequence[Spot], step: float) -> list[list[Spot]]:
    """Spots whose keys follow each other; of two with the same key none follows."""
    runs: list[list[Spot]] = []
    for spot in known:
        if runs and 0 < spot.place - runs[-1][-1].place <= step:
            runs[-1].append(spot)
        else:
            runs.append([spot])
    return runs


def _band(run: Sequence[Spot], x: Scale, y: Scale) -> tuple[tuple[float, float], ...]:
    """What the intervals of a run cover."""
    lows = _thinned([(x(spot.place), y(spot.ends[0])) for spot in run if spot.ends is not None])
    highs = _thinned([(x(spot.place), y(spot.ends[1])) for spot in run if spot.ends is not None])
    return (*highs, *reversed(lows))


def _thinned(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Points with no more than four in a pixel across: the first, the last, the highest and the lowest."""
    found: list[tuple[float, float]] = []
    for _, part in groupby(points, key=lambda point: int(point[0])):
        inside = list(part)
        kept = {0, len(inside) - 1}
        kept |= {choose(range(len(inside)), key=lambda place: inside[place][1]) for choose in (min, max)}
        found += [inside[place] for place in sorted(kept)]
    return tuple(found)


def _upright(at: float, ends: Ends, y: Scale) -> list[tuple[tuple[float, float], ...]]:
    """The line of one interval, with a cap at each end that is within the picture; none where there is no interval."""
    if ends is None:
        return []
    low, high = y(ends[0]), y(ends[1])
    caps = [height for height, end in ((low, ends[0]), (high, ends[1])) if isfinite(end) and y.holds(end)]
    return [((at, low), (at, high)), *(((at - _CAP, cap), (at + _CAP, cap)) for cap in caps)]
