"""Figures can be read: in grey, by eyes that lack a cone, and without words on top of each other."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from discreet.textbook.plots.marks import STROKES, apart, stacked
from discreet.textbook.plots.saving import DARK, svg
from discreet.textbook.plots.sheet import FAINT, INK, PAPER
from support.figures import EYES, FIGURES, contrast, difference

drawn = cache(lambda name: FIGURES[name]())
"""Each figure, drawn once for all tests that look at it."""

LINE, TEXT = 3.0, 4.5
"""The least contrast of lines and of text with what they are on: WCAG 2.1, 1.4.11 and 1.4.3."""

PLAINLY = 10.0
"""ΔE of colours that nobody mixes up."""


def test_every_line_and_label_stands_out() -> None:
    """Lines have a contrast of 3 to the paper, text of 4.5, whatever their colours are printed as."""
    assert [stroke for stroke in STROKES if contrast(stroke.colour, PAPER) < LINE] == []
    assert [ink for ink in (INK, FAINT, *(stroke.ink for stroke in STROKES)) if contrast(ink, PAPER) < TEXT] == []
    assert contrast("#F0E442", PAPER) < LINE  # the palette's yellow is what this would catch


def test_no_two_lines_look_alike_in_grey() -> None:
    """Any two differ in their pattern and in their marker, so that colour isn't needed."""
    for one, other in combinations(STROKES, 2):
        assert one.pattern != other.pattern
        assert one.marker != other.marker


def test_the_dark_has_a_colour_for_each_and_each_stands_out() -> None:
    """Lines and text have the same contrasts there, and look as different to all eyes."""
    colours = sorted({DARK[stroke.colour] for stroke in STROKES})
    inks = [DARK[ink] for ink in (INK, FAINT, *(stroke.ink for stroke in STROKES))]
    assert [colour for colour in colours if contrast(colour, DARK[PAPER]) < LINE] == []
    assert [ink for ink in inks if contrast(ink, DARK[PAPER]) < TEXT] == []
    pairs = combinations(colours, 2)
    assert [(pair, eyes) for pair in pairs for eyes in EYES if difference(*pair, eyes) < PLAINLY] == []


@pytest.mark.parametrize("name", FIGURES)
def test_no_colour_of_a_figure_is_left_light_in_the_dark(name: str) -> None:
    """Each that its file names has another there."""
    named = re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg(drawn(name)).partition("</style>")[2])
    assert set(named) <= {colour.lower() for colour in DARK}


@pytest.mark.parametrize("eyes", EYES)
def test_colours_differ_for_all_eyes(eyes: str) -> None:
    """Any two colours look plainly different to those who lack a kind of cone, too."""
    colours = sorted({stroke.colour for stroke in STROKES})
    alike = [pair for pair in combinations(colours, 2) if difference(*pair, eyes) < PLAINLY]
    assert alike == []


def test_colours_that_some_eyes_mix_up_are_noticed() -> None:
    """A red and a green that differ for most people and not for the red-blind are caught."""
    red, green = "#E00000", "#5F5F00"
    assert difference(red, green, "everybody") > PLAINLY
    assert difference(red, green, "protan") < PLAINLY


@pytest.mark.parametrize("name", FIGURES)
def test_every_series_has_its_own_pattern(name: str) -> None:
    """In the figure as it is drawn, lines that bear a label or a place in the key differ by more than colour."""
    for axes in drawn(name).axes:
        looks = [
            (line.get_linestyle(), getattr(line, "_unscaled_dash_pattern", None), line.get_marker())
            for line in axes.lines
            if line.get_linestyle() != "None" and len(line.get_xdata()) > 2
        ]
        bands = 2 if name == "averaging" and len(looks) == 3 else 1  # the band's two edges are one thing
        assert len(set(looks)) == len(looks) - bands + 1


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_off_and_nothing_collides(name: str) -> None:
    """Each text lies inside of the figure, and no two texts overlap."""
    figure: Any = drawn(name)
    figure.canvas.draw()
    texts = {
        f"{text.get_text()!r} {number}": Text.get_window_extent(text)  # of an annotation: without its line
        for number, text in enumerate(written(figure))
        if text.get_visible() and text.get_text().strip()
    }
    width, height = figure.canvas.get_width_height()
    outside = [words for words, box in texts.items() if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]
    assert outside == []
    assert [pair for pair in combinations(texts, 2) if overlap(texts[pair[0]], texts[pair[1]])] == []


def written(figure: Any) -> list[Any]:
    """All texts of a figure that can be seen: titles, labels, numbers at axes inside of their range."""
    ticks = {}
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                for label in (tick.label1, tick.label2):
                    ticks[label] = low <= tick.get_loc() <= high and label.get_visible()
    return [text for text in figure.findobj(Text) if ticks.get(text, True)]


def overlap(one: Any, other: Any) -> bool:
    """Whether two boxes share more than a hair."""
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 0.5 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1.5


def test_a_collision_is_noticed() -> None:
    """The measure above sees a text on top of another."""
    figure: Any = FIGURES["composition"]()
    figure.text(0.5, 0.5, "one")
    figure.text(0.5, 0.5, "other")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in written(figure) if text.get_text() in {"one", "other"}]
    assert overlap(*boxes)


@pytest.mark.parametrize("name", FIGURES)
def test_every_axis_says_what_it_measures(name: str) -> None:
    """The lowest axes name the horizontal axis, the leftmost the vertical one."""
    axes = drawn(name).axes
    lowest = min(one.get_position().y0 for one in axes)
    leftmost = min(one.get_position().x0 for one in axes)
    assert all(one.get_xlabel() for one in axes if one.get_position().y0 == lowest)
    assert all(one.get_ylabel() for one in axes[:1] if one.get_position().x0 == leftmost)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_message_and_words(name: str) -> None:
    """A title that is a statement, and a description for those who can't see it."""
    figure = drawn(name)
    assert len(figure.get_suptitle().split()) >= 6
    assert len(str(figure.get_label()).split()) >= 20
    assert "\n" not in str(figure.get_label())


HEIGHTS = st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.1)), min_size=1, max_size=6)


@given(HEIGHTS)
def test_labels_never_touch(labels: list[tuple[float, float]]) -> None:
    """However close lines end, their labels are at least their heights apart, in the order of the lines."""
    wanted, heights = [one for one, _ in labels], [one for _, one in labels]
    middles = apart(wanted, heights)
    order = sorted(range(len(labels)), key=lambda place: wanted[place])
    for low, high in pairwise(order):
        assert middles[high] - middles[low] >= (heights[low] + heights[high]) / 2 - 1e-9


@given(st.lists(st.integers(0, 20), min_size=1, max_size=20, unique=True))
def test_labels_with_room_stay_where_they_are(places: list[int]) -> None:
    """Nothing moves that needn't."""
    wanted = [place * 0.05 for place in places]
    assert apart(wanted, [0.04] * len(wanted)) == pytest.approx(wanted)


@given(st.lists(st.integers(-5, 5), max_size=30), st.sampled_from([0.1, 0.4, 1.0, 2.5]))
def test_dots_never_hide_each_other(values: list[int], room: float) -> None:
    """All draws are there, near their number, and those on a level are at least a dot apart."""
    dots = stacked(sorted(values), room)
    assert sorted(round(x) for x, _ in dots) == sorted(values)
    levels: dict[int, list[float]] = {}
    for x, level in dots:
        levels.setdefault(level, []).append(x)
    for row in levels.values():
        row.sort()
        assert all(b - a >= room - 1e-9 for a, b in pairwise(row))
