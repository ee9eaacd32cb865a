"""Bars: few groups below each other, in the order of the table, each with its label, its interval and its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite

from discreet.results.charts.axes import Scale, reach
from discreet.results.charts.drawing import STYLES, Dot, Drawing, Mark, Shape, Words, rectangle
from discreet.results.charts.heading import TOP, below, heading
from discreet.results.charts.lettering import BOLD, told_apart, width_of
from discreet.results.charts.series import Series, together

_GAP, _AXIS, _CAP = 12, 22, 2.5
_PLOT, _LEAST_PLOT = 260, 150
_PITCH, _CLOSE, _STACKED, _MANY = 22, 18, 36, 24
_THICK, _GROUP_GAP, _INDENT = 11, 8, 12
_SIZE = STYLES["label"].size
_NARROW = 480


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the chart.

    Args:
        text: its label.
        row: of the answer; None for the name of a group.
        says: the whole label.
    """

    text: str
    row: int | None
    says: str


def bars(series: Series, width: float) -> Drawing:
    """Bars, at most so wide; groups of the first key have its name above them."""
    stack = width < _NARROW
    values = max(width_of(word, _SIZE) for word in series.words)
    lines, indent = _lines(series, width, values, stack=stack)
    if stack:
        left, right = 0.0, width
    else:
        left = indent + max(width_of(line.text, _SIZE) for line in lines if line.row is not None) + _GAP
        right = left + max(_LEAST_PLOT, min(_PLOT, width - left - _GAP - values))
    whole = right if stack else right + _GAP + values
    scale = Scale(*reach(series.values, series.ends, zero=series.from_zero), left + 2, right - 2)
    marks: list[Mark] = []
    strips = []
    pitch = _STACKED if stack else _CLOSE if len(lines) > _MANY else _PITCH
    y = float(TOP)
    for place, line in enumerate(lines):
        if line.row is None:
            y += _GROUP_GAP if place else 0
            marks.append(Words(kind="group", at=(0, y + 14), text=line.text, says=line.says))
            y += 20
            continue
        known = series.values[line.row] is not None
        base = y + (13 if stack else pitch / 2 + 4)
        marks += [
            Words(kind="label", at=(indent, base), text=line.text, says=line.says),
            Words(
                kind="value" if known else "value unknown",
                at=(whole, base), text=series.words[line.row], anchor="end",
            ),
            *_bar(series, line.row, scale, y + (24 if stack else pitch / 2)),
        ]  # fmt: skip
        strips.append((y + 17, y + 31) if stack else (y, y + pitch))
        y += pitch
    heads = [width_of(line.text, _SIZE, bold=True) for line in lines if line.row is None]
    widest = max(whole, width_of(series.title, STYLES["title"].size, bold=True), *heads)
    sheet = min(width, widest)
    return Drawing(
        title=series.title,
        finding=series.finding,
        width=sheet,
        height=y + _AXIS,
        marks=[
            *heading(series.title, series.subtitle, sheet),
            *_axis(series, scale, _joined(strips), whole),
            *sorted(marks, key=_depth),
        ],
    )


def _lines(series: Series, width: float, values: float, *, stack: bool) -> tuple[list[_Line], float]:
    """The rows of the chart with their labels as long as there is room, and how far they are indented."""
    keys = series.keys
    grouped = len(keys) > 1 and _are_runs(keys[0].codes)
    indent = _INDENT if grouped else 0
    room = width - (_GAP + values) if stack else width - _LEAST_PLOT - 2 * _GAP - values
    labels = together(keys[1:]).labels if grouped else series.labels
    shown = told_apart(labels, room - indent, _SIZE)
    if not grouped:
        return [_Line(text, row, label) for row, (text, label) in enumerate(zip(shown, labels, strict=True))], 0
    names = told_apart(keys[0].names, width / BOLD, _SIZE)
    lines: list[_Line] = []
    for code, rows in groupby(range(len(labels)), key=lambda row: keys[0].codes[row]):
        lines.append(_Line(names[code], None, keys[0].names[code]))
        lines += [_Line(shown[row], row, labels[row]) for row in rows]
    return lines, indent


def _are_runs(codes: Sequence[int]) -> bool:
    """Whether rows of one key stand together, and some key has several."""
    runs = [code for code, _ in groupby(codes)]
    return len(runs) == len(set(runs)) < len(codes)


def _bar(series: Series, row: int, scale: Scale, y: float) -> Iterator[Mark]:
    """The bar of a value from zero and the line of its interval; nothing where it isn't known."""
    value, ends = series.values[row], series.ends[row]
    if value is None:
        return
    if series.from_zero:
        low, high = sorted((scale(0.0), scale(value)))
        kind = "bar below" if value < 0 and series.may_be_negative else "bar"
        yield rectangle(kind, (low, y - _THICK / 2), (high - low, _THICK))
    else:
        yield Dot(kind="dot", at=(scale(value), y), radius=4)
    if ends is not None:
        yield Shape(kind="whisker", lines=whisker(scale, ends, y))


def whisker(scale: Scale, ends: tuple[float, float], y: float) -> tuple[tuple[tuple[float, float], ...], ...]:
    """A line as long as an interval, with a cap at each end that is within the picture."""
    low, high = (scale(end) for end in ends)
    caps = [at for at, end in ((low, ends[0]), (high, ends[1])) if isfinite(end) and scale.holds(end)]
    return (((low, y), (high, y)), *(((at, y - _CAP), (at, y + _CAP)) for at in caps))


def _joined(strips: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Strips of which none ends where another begins."""
    found: list[tuple[float, float]] = []
    for top, end in strips:
        if found and found[-1][1] == top:
            found[-1] = (found[-1][0], end)
        else:
            found.append((top, end))
    return found


def _axis(series: Series, scale: Scale, strips: Sequence[tuple[float, float]], width: float) -> Iterator[Mark]:
    """Lines at round numbers, as far as no letters are in their way, and these numbers below."""
    if series.unknown == len(series.values):
        return
    most = max(2, int((scale.end - scale.start) / 62))
    ticks = [(scale(at), at, text) for at, text in series.ticks(scale, most)]
    yield Shape(kind="grid", lines=tuple(((x, top), (x, end)) for x, at, _ in ticks if at for top, end in strips))
    if series.from_zero:
        yield Shape(kind="zero", lines=tuple(((scale(0.0), top), (scale(0.0), end)) for top, end in strips))
    yield from below(((x, text) for x, _, text in ticks), strips[-1][1], width)


def _depth(mark: Mark) -> int:
    """Bars lie below lines, and both below letters."""
    return ("bar", "bar below", "dot", "whisker").index(mark.kind) if not isinstance(mark, Words) else len(STYLES)
