"""Charts: each kind has its marks where its numbers are; nothing that isn't known is drawn, and nothing is obeyed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from math import inf
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from discreet.errors import InvalidArgument
from discreet.plot import png
from discreet.results import AnswerColumn
from discreet.results.charts import NARROW, WIDE, Chart, Drawing, charts, drawn, spending, svg
from discreet.results.charts.axes import moment, number_ticks, time_ticks
from discreet.results.charts.drawing import STYLES, Dot, Shape, Words
from discreet.results.charts.lettering import told_apart, width_of

SVG = "{http://www.w3.org/2000/svg}"
LEVEL = Fraction(19, 20)
MONTHS = [date(2022 + number // 12, number % 12 + 1, 1) for number in range(36)]
WARDS = ("Cardiology", "Internal Medicine, general and acute", "Internal Medicine, geriatric", None)


def key(name: str, kind: str, values: Sequence[Any]) -> AnswerColumn:
    """A column of keys."""
    return AnswerColumn(name, kind, tuple(values))


def count(values: Sequence[int | None], **more: Any) -> AnswerColumn:
    """A column of counts."""
    return AnswerColumn("n", "integer", tuple(values), declared=(0, inf), **more)


def charted(keys: Sequence[AnswerColumn], noisy: AnswerColumn, ends: Sequence[Any] | float = 30) -> Chart:
    """The chart of one noisy column.

    Args:
        keys: of its groups.
        noisy: the column.
        ends: its intervals; or their half width.
    """
    if isinstance(ends, int | float):
        ends = [None if value is None else (value - ends, value + ends) for value in noisy.values]
    (found,) = charts([*keys, noisy], {**{one.name: [None] * len(ends) for one in keys}, noisy.name: ends}, LEVEL)
    return found


def crossed(*columns: tuple[str, str, Sequence[Any]]) -> list[AnswerColumn]:
    """Two columns of keys, each of one with each of the other."""
    (first, one, many), (second, other, more) = columns
    return [
        key(first, one, [each for each in many for _ in more]),
        key(second, other, [each for _ in many for each in more]),
    ]


HOURS, DAYS = range(24), [date(2024, 1, 1) + timedelta(each) for each in range(60)]
STAMPS = [datetime(2024, 3, 1) + timedelta(hours=each) for each in range(72)]
TOWNS = [f"Town of {each}" for each in range(412)]
MEANS = AnswerColumn("age", "real", tuple(38 + each / 4 for each in range(14)), declared=(0, 110))
FIRST = AnswerColumn("first", "date", (MONTHS[3], MONTHS[9]))
NOTHING = AnswerColumn("a", "real", (0.0, 5.0), declared=(0, 5))

SAMPLES: dict[str, Chart] = {
    "bars": charted([key("ward", "text", WARDS)], count([23_402, 20_311, 87, 12]), 600),
    "one": charted([], count([32_560]), 3),
    "grouped": charted(crossed(("ward", "text", WARDS), ("sex", "text", "fm")), count(range(0, 800, 100))),
    "line": charted([key("month", "date", MONTHS)], count([5_000 + 40 * place for place in range(36)])),
    "gaps": charted([key("age", "integer", (0, 1, 2, 3, 7, 8, 20, None))], count([40, 50, 45, 60, 30, 33, 90, 12])),
    "bins": charted([key("bin", "real", [place / 2 for place in range(12)])], count(range(12)), 1),
    "panels": charted(crossed(("month", "date", MONTHS), ("ward", "text", WARDS)), count(range(144))),
    "hours": charted(crossed(("h", "integer", HOURS), ("day", "integer", range(7))), count(range(168))),
    "cells": charted(crossed(("ward", "text", range(16)), ("pays", "text", (*"abcde", None))), count(range(96))),
    "days": charted(crossed(("h", "integer", HOURS), ("d", "date", DAYS)), count(range(1440))),
    "ranking": charted([key("town", "text", TOWNS)], count([90_000 // (each + 2) for each in range(412)])),
    "moments": charted([key("t", "timestamp", STAMPS)], count(range(72))),
    "weeks": charted([key("w", "text", [f"2024-W{each:02}" for each in range(1, 30)])], count(range(29))),
    "differences": charted([key("k", "text", "abc")], AnswerColumn("d", "real", (4.5, -3.25, 0.5)), 1),
    "dates": charted([key("k", "text", "ab")], FIRST, [(MONTHS[1], MONTHS[4]), (MONTHS[8], MONTHS[11])]),
    "averages": charted([key("year", "integer", range(2010, 2024))], MEANS, 0.5),
    "unknown": charted([key("k", "text", "ab")], NOTHING, [(0, 5), (0, 5)]),
}


def parsed(drawing: Drawing, **how: Any) -> ET.Element:
    """A drawing as XML."""
    return ET.fromstring(svg(drawing, **how))  # noqa: S314 — our own


def marks(found: ET.Element, kind: str) -> list[ET.Element]:
    """The elements of a kind of mark."""
    return [each for group in found.iter(f"{SVG}g") if group.get("class") == kind for each in group]


def texts(found: ET.Element, kind: str) -> list[str]:
    """What is written."""
    return [(list(each)[-1].tail if len(each) else each.text) or "" for each in marks(found, kind)]


def extent(path: ET.Element) -> tuple[float, float]:
    """From where to where a path goes, across."""
    across = [float(pair.split(" ")[0]) for pair in re.split("[ML]", path.get("d", "")) if pair]
    return min(across), max(across)


KINDS = {
    "bars": {"bar": 4, "whisker": 4, "label": 4, "value": 4},
    "one": {"bar": 1, "whisker": 1},
    "grouped": {"bar": 8, "whisker": 8, "group": 4, "label": 8},
    "line": {"line": 1, "band": 1, "bar": 0, "number": 1},
    "bins": {"line": 1, "band": 1},
    "panels": {"line": 4, "band": 4, "group": 4},
    "hours": {"cell": 168 + 5, "label": 7},
    "cells": {"cell": 96 + 5, "number": 96},
    "days": {"cell": 1440 + 5},
    "ranking": {"line": 1, "band": 1, "label": 5, "value": 5},
    "moments": {"line": 1},
    "weeks": {"line": 1},
    "differences": {"bar": 2, "bar below": 1, "whisker": 3},
    "dates": {"bar": 0, "dot": 2, "whisker": 2, "zero": 0},
    "averages": {"line": 1, "zero": 1},
    "unknown": {"bar": 0, "whisker": 0, "value unknown": 2, "tick": 0},
}


def test_each_kind_has_its_marks() -> None:
    """By the keys: an order is a line with a band, few are bars, two are panels or cells, many a ranking."""
    for name, kinds in KINDS.items():
        found = parsed(SAMPLES[name].drawing())
        assert {kind: len(marks(found, kind)) for kind in kinds} == kinds, name


def test_all_is_well_formed_within_the_sheet_and_the_same_again() -> None:
    """Whatever the kind and the width; no mark is cut off at an edge; a style sheet only where it stands alone."""
    for name, chart in SAMPLES.items():
        for width in (WIDE, NARROW):
            drawing = chart.drawing(width)
            assert drawing.width <= width + 0.01, name
            for mark in drawing.marks:
                for x, y in edges(mark):
                    assert -1 <= x <= drawing.width + 1, (name, width, mark)
                    assert -1 <= y <= drawing.height + 1, (name, width, mark)
            text = svg(drawing)
            assert text == svg(chart.drawing(width))
            assert "style" not in text
            found = parsed(drawing)
            assert (found.get("role"), found.get("aria-label")) == ("img", f"{drawing.title}: {drawing.finding}")
            assert [each.text for each in found[:2]] == [drawing.title, drawing.finding]
    assert "prefers-color-scheme:dark" in svg(SAMPLES["bars"].drawing(), alone=True)


def edges(mark: Shape | Dot | Words) -> list[tuple[float, float]]:
    """The points of a mark that are furthest out."""
    if isinstance(mark, Shape):
        return [point for line in mark.lines for point in line]
    if isinstance(mark, Dot):
        return [mark.at]
    long = width_of(mark.text, STYLES[mark.kind].size, bold=STYLES[mark.kind].bold)
    x, y = mark.at
    if mark.turned:
        return [(x, y), (x, y - long)]
    start = x - {"start": 0, "middle": long / 2, "end": long}[mark.anchor]
    return [(start, y), (start + long, y)]


def test_numbers_of_the_picture_are_those_of_the_answer() -> None:
    """Bars and whiskers are as long as values and intervals, on one scale; words beside them are the table's."""
    for width in (WIDE, NARROW):
        found = parsed(SAMPLES["bars"].drawing(width))
        bars, whiskers = (list(map(extent, marks(found, kind))) for kind in ("bar", "whisker"))
        zero, pixels = bars[0][0], (bars[0][1] - bars[0][0]) / 23_402
        for value, (start, end), (low, high) in zip([23_402, 20_311, 87, 12], bars, whiskers, strict=True):
            assert start == zero
            assert end == pytest.approx(zero + value * pixels, abs=0.2)
            assert low == pytest.approx(zero + (value - 600) * pixels, abs=0.2)
            assert high == pytest.approx(zero + (value + 600) * pixels, abs=0.2)
        assert texts(found, "value") == ["23,402 ± 600", "20,311 ± 600", "87 ± 600", "12 ± 600"]
        assert texts(found, "label")[-1] == "NULL"
    line = parsed(SAMPLES["bins"].drawing())
    heights = [float(dot.get("cy", "")) for dot in marks(line, "dot")[:12]]
    steps = [high - low for high, low in pairwise(heights)]
    assert steps == pytest.approx([steps[0]] * 11, abs=0.2)
    assert steps[0] > 10
    assert texts(parsed(SAMPLES["cells"].drawing()), "number") == [str(number) for number in range(96)]


def test_the_finding_says_the_largest_the_smallest_and_what_is_not_known() -> None:
    """In words, with their intervals."""
    assert SAMPLES["bars"].drawing().finding == "largest Cardiology: 23,402 ± 600; smallest NULL: 12 ± 600; 4 groups."
    assert SAMPLES["one"].drawing().finding == "32,560 ± 3."
    assert "first 0: 40 ± 30; last 20: 90 ± 30" in SAMPLES["gaps"].drawing().finding
    assert SAMPLES["unknown"].drawing().finding == "nothing is known of it."
    assert SAMPLES["grouped"].drawing().title == "n by ward and sex"


def test_what_is_not_known_is_not_drawn() -> None:
    """No bar where a value tells nothing, is withheld or NULL; no whisker without an interval; no cap at infinity."""
    cost = AnswerColumn("cost", "real", (50.0, 4.0, None, 6.0, 7.0), declared=(0, 50))
    chart = charted([key("k", "text", "abcde")], cost, [(0, 50), (3, 5), None, None, (6, inf)])
    found = parsed(chart.drawing())
    assert len(marks(found, "bar")) == 3
    assert [path.get("d", "").count("M") for path in marks(found, "whisker")] == [3, 2]
    assert texts(found, "value unknown") == ["not known", "NULL"]
    assert texts(found, "subtitle") == ["with 95 % intervals; 2 of 5 not known"]
    withheld = parsed(charted([key("k", "text", "ab")], count([40, None], withheld=(1,))).drawing())
    assert (len(marks(withheld, "bar")), texts(withheld, "value unknown")) == (1, ["withheld"])
    cells = charted(crossed(("a", "integer", range(9)), ("b", "integer", range(9))), count([None, *range(80)]))
    assert len(marks(parsed(cells.drawing()), "cell unknown")) == 1


def test_lines_end_where_keys_are_missing() -> None:
    """0 to 3 and 7 to 8 are lines, 20 is a dot with its whisker, and NULL stands apart, named."""
    found = parsed(SAMPLES["gaps"].drawing())
    (line,), (band,) = marks(found, "line"), marks(found, "band")
    assert line.get("d", "").count("M") == band.get("d", "").count("M") == 2
    assert len(marks(found, "whisker")) == 2
    assert all("NULL" in texts(parsed(SAMPLES["gaps"].drawing(width)), "tick") for width in (WIDE, NARROW))
    ranked = charted([key("year", "integer", (1990, 1950, 1963, 1971))], count([9, 8, 7, 6]), 1)
    assert marks(parsed(ranked.drawing()), "line") == []


def test_counts_below_zero_reach_across_it() -> None:
    """A bar to the left of zero, a whisker on both sides, and no other colour: it is noise."""
    found = parsed(charted([key("k", "text", "ab")], count([40, -1_305]), [(37, 43), (-2_788, 178)]).drawing())
    (zero,) = {extent(path)[0] for path in marks(found, "zero")}
    (_, below), (_, across) = (list(map(extent, marks(found, kind))) for kind in ("bar", "whisker"))
    assert below == (pytest.approx(below[0]), zero)
    assert across[0] < below[0] < zero < across[1]
    assert texts(found, "value") == ["40 ± 3", "fewer than 179"]


HOSTILE = (
    "<script>alert(1)</script>", "\"'&]]>", "a\x00b\x1b[2J\ud800\ufffe", "\u202eevil", "שלום", "日本語", "$x^2$",
    "x" * 400, "x" * 399 + "y", "NULL",
)  # fmt: skip


def test_what_others_wrote_is_text() -> None:
    """As keys and names of columns, in each kind of chart: well-formed, no element of theirs, no sign obeyed."""
    many = [f"{text}{place}" for place in range(80) for text in HOSTILE[:1]]
    hostile = [
        charted([key('<b onload="x">', "text", [*HOSTILE, None])], AnswerColumn("<i>&\x07", "real", (1.5,) * 11), 1),
        charted(crossed(("a", "text", HOSTILE), ("b", "integer", range(5))), count(range(50))),
        charted(crossed(("a", "text", HOSTILE), ("b", "text", HOSTILE)), count(range(100))),
        charted([key("k", "text", many)], count(range(80))),
    ]
    allowed = {f"{SVG}{name}" for name in ("svg", "title", "desc", "g", "path", "circle", "text")}
    for chart in hostile:
        for width in (WIDE, NARROW):
            text, found = svg(chart.drawing(width)), parsed(chart.drawing(width))
            assert {each.tag for each in found.iter()} <= allowed
            names = {name for each in found.iter() for name in each.attrib}
            assert not any(name.startswith(("on", "href", "style")) for name in names)
            assert all(sign.isprintable() for sign in text)
    labels = texts(parsed(hostile[0].drawing()), "label")
    assert labels[0] == HOSTILE[0]
    assert labels[-2:] == ['"NULL"', "NULL"]
    assert len(set(labels)) == len(labels)
    assert Image.open(BytesIO(png(Answered(hostile)))).format == "PNG"


class Answered:
    """What `png` takes.

    Args:
        found: its charts.
    """

    def __init__(self, found: list[Chart]) -> None:
        self._found = found

    def charts(self) -> list[Chart]:
        """As an answer has them."""
        return self._found


def test_long_labels_are_told_apart() -> None:
    """Those with the same beginning, the same end, or both; none is wider than its room."""
    families = [
        [f"Department of Internal Medicine and Geriatrics, Building {each}, North Wing" for each in "ABCD"],
        [f"{each} of the Department of Internal Medicine" for each in ("North", "South", "South-east")],
        [f"{'x' * 60}{each}{'y' * 60}" for each in range(30)],
        ["short", "Internal Medicine, women", "Internal Medicine, men"],
    ]
    for labels in families:
        for room in (60, 90, 140, 400):
            shown = told_apart(labels, room, 12)
            assert len(set(shown)) == len(labels), (labels, room)
            assert all(width_of(text, 12) <= room for text in shown), (shown, room)
            assert all(text == label for text, label in zip(shown, labels, strict=True) if width_of(label, 12) <= room)


def test_ten_thousand_groups_are_a_small_picture() -> None:
    """Of any kind; and the same ones in two widths."""
    numbers = [place * 7_919 % 1_000 for place in range(10_000)]
    for keys in (
        [key("d", "integer", range(10_000))],
        [key("d", "text", [f"town {place}" for place in range(10_000)])],
        crossed(("a", "integer", range(100)), ("b", "integer", range(100))),
        crossed(("a", "text", [f"a{place}" for place in range(10)]), ("b", "integer", range(1_000))),
        crossed(("a", "text", range(500)), ("b", "text", range(20))),
    ):
        chart = charted(keys, count(numbers), 4)
        for width in (WIDE, NARROW):
            drawing = chart.drawing(width)
            assert len(svg(drawing)) < 300_000
            assert drawing.height < 2_000


def test_ticks_are_round_few_and_within() -> None:
    """Of numbers of any size, and of times from minutes to millennia."""
    for low, high in ((0, 1), (0, 950), (-3e9, 8e9), (0.001, 0.0042), (-5, 5), (1e-9, 3e-9), (0, 1e15), (37.5, 42.4)):
        for most in (2, 4, 6):
            ticks = number_ticks(low, high, most)
            assert 0 < len(ticks) <= most, (low, high, most)
            assert all(low - 1e-9 <= at <= high + 1e-9 for at, _ in ticks)
            assert len({text for _, text in ticks}) == len(ticks)
    assert number_ticks(0, 3, 6, whole=True) == [(0, "0"), (1, "1"), (2, "2"), (3, "3")]
    start = moment(datetime(2019, 11, 27, 5, 3))
    for days in (0.02, 0.3, 1, 3, 10, 40, 100, 400, 1_500, 10_000, 300_000):
        ticks = time_ticks(start, start + days, 7)
        assert 0 < len(ticks) <= 7, days
        assert all(start <= at <= start + days for at, _ in ticks)
        assert sorted(at for at, _ in ticks) == [at for at, _ in ticks]
    assert [text for _, text in time_ticks(start, start + 0.3, 5)] == ["27 Nov 6:00", "9:00", "12:00"]


def test_values_at_the_ends_of_their_kind_are_drawn() -> None:
    """The whole calendar, and numbers between whose ends there is none: quickly, and in the sheet."""
    calendar = (datetime(1, 1, 1), datetime(2020, 2, 1), datetime(2020, 3, 1), datetime.max)
    seen = AnswerColumn("seen", "timestamp", calendar)
    reals = AnswerColumn("x", "real", (1.7e308, -1.7e308, 5e-324, -0.0))
    tiny = AnswerColumn("x", "real", (5e-324, -5e-324, 0.0, -0.0))
    wide: list[Any] = [(calendar[0], calendar[-1])] * 4
    for keys in ([], [key("at", "timestamp", calendar)], [key("on", "date", [each.date() for each in calendar])]):
        for noisy, ends in ((seen, wide), (reals, [(-1.7e308, 1.7e308)] * 4), (reals, 0.0), (tiny, 0.0)):
            chart = charted(keys, noisy, ends)
            for width in (WIDE, NARROW):
                drawing = chart.drawing(width)
                parsed(drawing)
                assert all(-1e4 < at < 1e4 for mark in drawing.marks for edge in edges(mark) for at in edge)
    for low, high in ((1, moment(calendar[-1])), (moment(calendar[-1]) - 0.5, moment(calendar[-1])), (-9, 4e6)):
        assert 0 < len(time_ticks(low, high, 7)) <= 7


def test_an_answer_without_noise_has_no_picture() -> None:
    """Nor has one without rows; and to draw them all is refused."""
    assert charts([key("plan", "text", ["a"])], {"plan": [None]}, LEVEL) == []
    assert charts([key("k", "text", []), count([])], {"k": [], "n": []}, LEVEL) == []
    with pytest.raises(InvalidArgument, match="nothing to draw"):
        drawn([])


def test_several_charts_are_one_picture_and_a_png_has_the_same_marks() -> None:
    """Below each other; PNG is twice as large, and says in words what it shows."""
    both = [SAMPLES["bars"], SAMPLES["hours"]]
    drawing = drawn(both)
    assert drawing.finding.startswith("n by ward: largest Cardiology")
    assert len(marks(parsed(drawing), "bar")) == 4
    painted = Image.open(BytesIO(png(Answered(both))))
    assert painted.size == (round(2 * (drawing.width + 32)), round(2 * (drawing.height + 32)))
    assert painted.info["Description"] == drawing.finding
    assert painted.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_what_was_spent_climbs_towards_the_budget() -> None:
    """In steps, below a line that is the whole; also if all was spent at once."""
    moments = [datetime(2024, 1, 1, 12) + timedelta(days=each) for each in (0, 0, 3, 9)]
    drawing = spending([0, 1, 2.5, 2.5], moments, 4, "ε")
    found = parsed(drawing)
    (line,), (total,) = marks(found, "line"), marks(found, "total")
    assert line.get("d", "").count("L") == 6
    assert extent(total) == extent(line)
    assert drawing.finding == "ε = 2.5 of 4 is spent."
    assert texts(found, "tick")[0] == "the whole budget: ε = 4"
    spending([0, 1], moments[:1] * 2, 1, "ρ", NARROW)
