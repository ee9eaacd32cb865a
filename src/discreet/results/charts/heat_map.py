"""Heat maps: groups of two keys as cells, the darker the larger their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isfinite

from discreet.results.charts.axes import Scale
from discreet.results.charts.drawing import STYLES, Anchor, Drawing, Mark, Point, Words, rectangle
from discreet.results.charts.heading import TOP, below, heading
from discreet.results.charts.lettering import told_apart, typeset, width_of
from discreet.results.charts.series import Key, Series

MOST_CELLS = 3_600
_LEAST, _LETTERED, _MOST = 2, 12, 72
"""Widths of cells: the least; the least with a label each; the most."""

_HIGH, _LOW = 24, 13
_MANY_ROWS = 30
_GAP, _LEGEND, _LEGEND_WIDTH, _SIDE, _TICK_ROOM, _TURNED = 10, 34, 200, 22, 60, 96
_LABELS = 0.34
"""The part of the width that labels of rows take, at most."""

_HUNDRED = 100
_CELL_GAP, _GAPLESS = 1, 6
_STEPS = 5
_FAINT, _FULL = 0.08, 0.8
"""How strongly the least and the greatest value are shaded: letters upon either can be read."""

_SIZE = STYLES["label"].size
_NUMBER = STYLES["number"].size


def fits(down: Key, across: Key, width: float) -> bool:
    """Whether cells of these keys are wide enough to be told apart, and none is there twice."""
    room = width * (1 - _LABELS)
    least = _LEAST if across.is_ordered else _LETTERED
    cells = len(across.names) * len(down.names)
    is_once = len(set(zip(down.codes, across.codes, strict=True))) == len(down.codes)
    return is_once and len(across.names) * least <= room and cells <= MOST_CELLS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Where cells stand.

    Args:
        left: of the first column.
        top: of the first row.
        wide: from one column to the next.
        high: from one row to the next.
    """

    left: float
    top: float
    wide: float
    high: float

    def corner(self, row: int, column: int) -> Point:
        """The upper left corner of a cell."""
        return self.left + column * self.wide, self.top + row * self.high

    @property
    def size(self) -> Point:
        """Width and height of a cell; narrow ones have no gap, which would be a pattern of its own."""
        return self.wide - (_CELL_GAP if self.wide > _GAPLESS else 0), self.high - _CELL_GAP


def heat_map(series: Series, down: Key, across: Key, width: float) -> Drawing:
    """A row for each of one key, a column for each of the other, in their orders."""
    rows = [down.names[code] for code in down.in_order]
    labels = told_apart(rows, width * _LABELS - _GAP, _SIZE)
    left = max(width_of(label, _SIZE) for label in labels) + _GAP
    wide = min((width - left) / len(across.names), _MOST)
    numbered = not series.is_time and max(width_of(each, _NUMBER) for each in series.numbers) + 8 <= wide
    over, room = _over(across, left, wide)
    high = _HIGH if numbered or len(rows) <= _MANY_ROWS else _LOW
    cells = _Cells(left=left, top=TOP + room, wide=wide, high=high)
    bottom = cells.top + len(rows) * cells.high
    marks: list[Mark] = [*heading(series.title, _around(series), width), *over]
    for place, (label, name) in enumerate(zip(labels, rows, strict=True)):
        at = (0, cells.top + (place + 0.5) * cells.high + 4)
        marks.append(Words(kind="label", at=at, text=label, says=name))
    marks += _filled(series, down, across, cells, numbered=numbered)
    marks += _legend(series, left, bottom + 14)
    least = max(width_of(series.title, STYLES["title"].size, bold=True), left + _LEGEND_WIDTH)
    return Drawing(
        title=series.title,
        finding=series.finding,
        width=min(width, max(left + len(across.names) * wide, least)),
        height=bottom + _LEGEND,
        marks=marks,
    )


def _filled(series: Series, down: Key, across: Key, cells: _Cells, *, numbered: bool) -> list[Mark]:
    """The cells, and the numbers in them if there is room; of what isn't known, an outline."""
    rows, columns = ({code: place for place, code in enumerate(key.in_order)} for key in (down, across))
    most = _greatest(series)
    wide, high = size = cells.size
    found: list[Mark] = []
    numbers: list[Mark] = []
    for row, value in enumerate(series.values):
        x, y = cells.corner(rows[down.codes[row]], columns[across.codes[row]])
        if value is None:
            found.append(rectangle("cell unknown", (x + 1, y + 1), (wide - 2, high - 2), says=series.said(row)))
            continue
        kind = "cell below" if value < 0 and series.may_be_negative else "cell"
        shade = _shade(abs(value) if series.may_be_negative else max(value, 0.0), most)
        found.append(rectangle(kind, (x, y), size, says=series.said(row), shade=shade))
        if numbered:
            at = (x + wide / 2, y + high / 2 + 4)
            numbers.append(Words(kind="number", at=at, text=series.numbers[row], anchor="middle"))
    return [*found, *numbers]


def _over(across: Key, left: float, wide: float) -> tuple[list[Words], float]:
    """What columns are, above them, and how high that is: round ones of an order, else all."""
    end = left + len(across.names) * wide
    if across.is_ordered:
        known = [code for code in across.in_order if across.places[code] is not None]
        labels = [(left + (place + 0.5) * wide, text) for place, text in _round(across, known, wide).items()]
        null = [Words(kind="tick", at=(end, TOP + 12), text="NULL", anchor="end")] if None in across.places else []
        return [*below(labels, TOP - 4, end), *null], 18
    names = list(across.names)
    turned = max(width_of(name, _SIZE) for name in names) + 6 > wide
    shown = told_apart(names, _TURNED if turned else wide, _SIZE)
    room = max(width_of(name, _SIZE) for name in shown) + 6 if turned else 18
    anchor: Anchor = "start" if turned else "middle"
    return [
        Words(
            kind="label",
            at=(left + (place + 0.5) * wide + (4 if turned else 0), TOP + room - 6),
            text=text,
            anchor=anchor,
            turned=turned,
            says=name,
        )
        for place, (text, name) in enumerate(zip(shown, names, strict=True))
    ], room


def _round(across: Key, known: Sequence[int], wide: float) -> dict[int, str]:
    """The columns that have a label: all, if there is room; else round ones."""
    every = ceil(max(width_of(across.names[code], STYLES["tick"].size) + _GAP for code in known) / wide)
    if every > 1:
        at = {across.places[code]: place for place, code in enumerate(known)}
        scale = Scale(across.known_places[0], across.known_places[-1], 0, 1)
        ticks = across.ticks(scale, max(2, int(len(known) * wide / _TICK_ROOM)))
        if found := {at[tick]: text for tick, text in ticks if tick in at}:
            return found
    return {place: across.names[code] for place, code in enumerate(known) if place % every == 0}


def _greatest(series: Series) -> float:
    """The value that is shaded most, whatever its sign."""
    return max((abs(value) for value in series.values if value is not None), default=0.0) or 1.0


def _shade(amount: float, most: float) -> float:
    """How strongly an amount is shaded."""
    return round(_FAINT + (_FULL - _FAINT) * amount / most, 2)


def _around(series: Series) -> str:
    """How far intervals reach, since no cell shows it; and how many values aren't known."""
    halves = [(each[1] - each[0]) / 2 for each in series.ends if each is not None and isfinite(each[1] - each[0])]
    if not halves or series.is_time:
        return series.subtitle
    least, most = (_told(series, one) for one in (min(halves), max(halves)))
    said = f"± {least}" if least == most else f"± {least} to ± {most}"
    return f"{said}, {series.subtitle}"


def _legend(series: Series, left: float, y: float) -> Iterator[Mark]:
    """What shades mean."""
    most = _greatest(series)
    low = min((value for value in series.values if value is not None), default=0.0)
    low = min(low, 0.0) if series.may_be_negative else 0.0
    below = [step for step in range(1, _STEPS) if step * most <= -low * (_STEPS - 1) + most / 2]
    amounts = [(most * step / (_STEPS - 1), "cell below") for step in reversed(below)]
    amounts += [(most * step / (_STEPS - 1), "cell") for step in range(_STEPS)]
    least = _told(series, low)
    start = left + width_of(least, STYLES["tick"].size) + 6
    yield Words(kind="tick", at=(left, y + 10), text=least)
    for place, (amount, kind) in enumerate(amounts):
        yield rectangle(kind, (start + place * _SIDE, y + 1), (_SIDE - 1, 11), shade=_shade(amount, most))
    yield Words(kind="tick", at=(start + len(amounts) * _SIDE + 6, y + 10), text=_told(series, most))


def _told(series: Series, value: float) -> str:
    """A number in a legend, with three digits if it isn't whole."""
    short = value if series.whole else float(f"{value:.3g}")
    return typeset(f"{short:.0f}" if series.whole or abs(short) >= _HUNDRED else f"{short:g}")
