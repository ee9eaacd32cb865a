"""Rankings: more groups than there is room for labels, from the largest to the smallest, the first few named."""

from __future__ import annotations

from discreet.results.charts.axes import Scale, number_ticks, reach
from discreet.results.charts.drawing import STYLES, Drawing, Mark, Shape, Words
from discreet.results.charts.heading import TOP, below, heading
from discreet.results.charts.lettering import told_apart, width_of
from discreet.results.charts.lines import Spot, drawn
from discreet.results.charts.series import Series

_HEIGHT, _AXIS, _RIGHT = 190, 40, 14
_NAMED = 5
_TICK = STYLES["tick"].size
_SIZE = STYLES["label"].size


def ranking(series: Series, width: float) -> Drawing:
    """Values in their order, with a band as wide as their intervals; the largest are told in the corner above."""
    known = [(value, row) for row, value in enumerate(series.values) if value is not None]
    ranked = [row for _, row in sorted(known, key=lambda one: (-one[0], one[1]))]
    y = Scale(*reach(series.values, series.ends, zero=series.from_zero), TOP + _HEIGHT, TOP)
    ticks = series.ticks(y, 5)
    left = max(width_of(text, _TICK) for _, text in ticks) + 8
    x = Scale(0.5, max(len(ranked), 1) + 0.5, left, width - _RIGHT)
    marks: list[Mark] = [
        *heading(series.title, series.subtitle, width),
        Shape(kind="grid", lines=tuple(((left, y(at)), (width - _RIGHT, y(at))) for at, _ in ticks if at)),
        Shape(kind="zero", lines=(((left, y(0.0)), (width - _RIGHT, y(0.0))),) if y.holds(0.0) else ()),
        *(Words(kind="tick", at=(left - 8, y(at) + 4), text=text, anchor="end") for at, text in ticks),
    ]
    spots = [
        Spot(place, series.values[row] or 0.0, series.ends[row], series.said(row))
        for place, row in enumerate(ranked, 1)
    ]
    marks += drawn(spots, 1, x, y, dotted=False)
    ranks = number_ticks(1, max(len(ranked), 2), max(2, int(width / 110)), whole=True)
    marks += below(((x(at), text) for at, text in ranks), TOP + _HEIGHT, width)
    marks.append(
        Words(
            kind="subtitle", at=((left + width - _RIGHT) / 2, TOP + _HEIGHT + 34), anchor="middle",
            text=f"{len(ranked):,} groups, from the largest to the smallest",
        )
    )  # fmt: skip
    first = ranked[:_NAMED]
    values = max((width_of(series.words[row], _SIZE) for row in first), default=0.0)
    room = (width - left) * 0.72 - values - 24
    names = told_apart([series.labels[row] for row in first], room, _SIZE)
    widest = max((width_of(name, _SIZE) for name in names), default=0.0)
    for place, (row, name) in enumerate(zip(first, names, strict=True)):
        base = TOP + 14 + place * 18
        end = width - _RIGHT
        marks.append(Words(kind="value", at=(end, base), text=series.words[row], anchor="end"))
        marks.append(Words(kind="label", at=(end - values - 12 - widest, base), text=name, says=series.labels[row]))
    return Drawing(title=series.title, finding=series.finding, width=width, height=TOP + _HEIGHT + _AXIS, marks=marks)
