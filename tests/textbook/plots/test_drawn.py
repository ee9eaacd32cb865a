"""What is drawn equals the numbers: read back from the artists of each figure."""

from __future__ import annotations

import statistics
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import pytest

from discreet import plot
from discreet.textbook.plots.numbers import shown
from support.figures import (
    COLUMNS,
    ENDLESS,
    EPSILONS,
    EXACT,
    NARROW,
    OUTCOMES,
    POINTS,
    PRIVATE,
    RESPONSE,
    TOTALS,
    USES,
    WIDE,
    KnownColumn,
    KnownNoise,
    Tail,
)


def texts(axes: Any) -> list[str]:
    """What is written in axes."""
    return [text.get_text() for text in axes.texts]


def points(line: Any) -> list[tuple[float, float]]:
    """The points of a line."""
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def test_neighbours_shows_both_laws() -> None:
    """Each panel has the masses of the noise around both answers, over nearly all of their weight."""
    figure = plot.neighbours({"wide": WIDE, "narrow": NARROW}, answers=(5, 10))
    assert len(figure.axes) == 4
    for noise, axes in ((WIDE, figure.axes[0]), (NARROW, figure.axes[2])):
        for line, answer in zip(axes.lines, (5, 10), strict=True):
            drawn = points(line)
            assert drawn == [(x, noise.mass(int(x) - answer)) for x, _ in drawn]
            assert sum(y for _, y in drawn) > 0.98


def test_neighbours_shows_each_draw_once() -> None:
    """The dots, put back on whole numbers, are the draws; those on D above the line, those on D′ below it."""
    figure = plot.neighbours({"narrow": NARROW}, answers=(5, 10), draws=20)
    first, second = figure.axes[1].lines[:2]
    for line, answer, side in ((first, 5, 1), (second, 10, -1)):
        assert sorted(round(x) for x, _ in points(line)) == sorted(NARROW.release([answer] * 20))
        assert all(side * y > 0 and abs(x - round(x)) < 0.5 for x, y in points(line))
        assert len(set(points(line))) == 20


def test_neighbours_asks_for_draws_of_the_exact_answers() -> None:
    """A noise without any is drawn at the answers themselves."""
    figure = plot.neighbours({"none": KnownNoise(2.0, steps=(0,))}, answers=(-4, 9), draws=3)
    assert [{round(x) for x, _ in points(line)} for line in figure.axes[1].lines[:2]] == [{-4}, {9}]


@pytest.mark.parametrize("scale", [0.7, 2.0, 14.0])
def test_neighbours_states_how_well_one_can_guess(scale: float) -> None:
    """The share is (1 + TV)/2 by the closed form of Laplace noise: TV of laws 2 apart is Pr[−1 < noise ≤ 1] in half."""
    noise = KnownNoise(scale)
    above = sum(noise.mass(n) - noise.mass(n - 2) for n in range(-300, 1)) + 0.0
    figure = plot.neighbours({"x": noise}, answers=(0, 2))
    written = next(text for text in texts(figure.axes[0]) if text.startswith("best guess"))
    assert float(written.removeprefix("best guess right: ").removesuffix(" %")) == pytest.approx(
        50 + 50 * above, abs=0.51
    )


def test_loss_shows_every_loss_with_its_probability() -> None:
    """The bars of a law add up to its masses, each in the bar that its loss falls in."""
    law = plot.LossLaw.of_noise(WIDE, 7)
    bars = plot.loss({"Laplace": law}, epsilon=0.5).axes[0].patches[0]
    heights, edges, _ = bars.get_data()
    assert sum(heights) == pytest.approx(1, abs=1e-9)
    for low, high, height in zip(edges, edges[1:], heights, strict=False):
        inside = [mass for loss, mass in zip(law.losses, law.masses, strict=True) if low <= loss < high]
        assert height == pytest.approx(sum(inside), rel=1e-9)


def test_loss_of_pure_noise_ends_at_epsilon() -> None:
    """Laplace noise made for ε has bars at ±ε, and none beyond."""
    figure = plot.loss({"Laplace": plot.LossLaw.of_noise(WIDE, 7)}, epsilon=0.5)
    heights, edges, _ = figure.axes[0].patches[0].get_data()
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    filled = [middle for middle, height in zip(middles, heights, strict=True) if height > 0]
    assert (min(filled), max(filled)) == (pytest.approx(-0.5), pytest.approx(0.5))
    assert "above ε: never" in texts(figure.axes[0])


def test_loss_says_how_much_lies_beyond() -> None:
    """The share above ε and δ(ε) are written beside the law."""
    figure = plot.loss({"response": RESPONSE}, epsilon=1)
    assert f"above ε: 0.75; δ(ε) = {shown(0.75 - 0.25 * exp(1))}" in texts(figure.axes[0])
    marks = [line.get_xdata()[0] for line in figure.axes[0].lines]
    assert marks == [1, -1]


def test_delta_shows_the_curves() -> None:
    """Each line has what its curve says, down to the floor of the figure."""
    curves = {"tail": Tail(20, 5), "response": RESPONSE}
    lines = plot.delta(curves, most=2).axes[0].lines
    for line, curve in zip(lines, curves.values(), strict=True):
        assert [y for _, y in points(line)] == pytest.approx([max(curve.delta(x), 1e-101) for x, _ in points(line)])
    assert (lines[0].get_xdata()[0], lines[0].get_xdata()[-1]) == (0, 2)


def test_delta_draws_a_cliff_as_one() -> None:
    """Where a curve falls to 0 at once, the points before and after are next to each other."""
    line = plot.delta({"cliff": Tail(0.1, 1.234)}, most=2).axes[0].lines[0]
    last = max(x for x, y in points(line) if y > 1e-12)
    first = min(x for x, y in points(line) if y <= 1e-12)
    assert last < 1.234 <= first
    assert first - last < 2e-4 * 2


def test_composition_shows_the_totals() -> None:
    """Each line has the totals it was given, and its last one is written at its end."""
    axes = plot.composition(USES, TOTALS).axes[0]
    for line, (name, totals) in zip(axes.lines, TOTALS.items(), strict=True):
        assert points(line) == list(zip(map(float, USES), totals, strict=True))
        assert f"{name}: {shown(totals[-1])}" in texts(axes)


def test_accuracy_shows_the_errors_and_the_risk() -> None:
    """Above, the errors as they were given; below, e^ε/(1 + e^ε), with e^ε at the textbooks' places."""
    errors = [3 / epsilon for epsilon in EPSILONS]
    upper, lower = plot.accuracy(EPSILONS, {"Laplace": errors}).axes
    assert points(upper.lines[0]) == list(zip(EPSILONS, errors, strict=True))
    for x, y in points(lower.lines[0]):
        assert y == pytest.approx(100 * exp(x) / (1 + exp(x)))
    assert {"odds × 7.389", "odds × 22,026", "odds × 2.718"} <= set(texts(lower))


def test_averaging_shows_the_running_mean() -> None:
    """The mean of the first n answers, for each n."""
    axes = plot.averaging([3, 6, 4, 4], truth=4, epsilon=0.5).axes[0]
    assert points(axes.lines[0]) == [(1, 3), (2, 4.5), (3, 13 / 3), (4, 4.25)]


def test_averaging_is_the_textbooks_figure() -> None:
    """Count 4 at ε = 0.5: the 95 % band is within [3.5, 4.5] from n = 8·1.96²/ε² ≈ 123 on, at a cost of 61.5."""
    figure = plot.averaging(WIDE.release([4] * 200), truth=4, epsilon=0.5)
    axes = figure.axes[0]
    low, high = axes.lines[1], axes.lines[2]
    assert points(high)[:2] == [(1, 4 + 1.96 * sqrt(8)), (2, 4 + 1.96 * 2)]
    inside = [x for (x, y), (_, z) in zip(points(low), points(high), strict=True) if y >= 3.5 and z <= 4.5]
    assert inside == list(range(123, 201))
    assert 122 < 8 * 1.96**2 / 0.5**2 < 123
    assert sorted(line.get_ydata()[0] for line in axes.lines[3:5]) == [3.5, 4.5]
    assert axes.lines[5].get_xdata()[0] == 123
    assert figure.get_suptitle() == "Averaging 123 answers gives away the exact one, and costs ε = 61.5"
    cost = figure.axes[1].get_xlim()
    assert cost == (0.5, 100)


def test_averaging_draws_the_median_as_well() -> None:
    """What runs is the median, in a narrower band; how many it takes can be said."""
    answers = [3, 6, 4, 4, 9, -7]
    medians, means = (plot.averaging(answers, truth=4, epsilon=0.5, estimator=each) for each in ("median", "mean"))
    line, *band = (each.get_ydata() for each in medians.axes[0].lines[:3])
    assert list(line) == [statistics.median(answers[:count]) for count in range(1, 7)]
    wider = [each.get_ydata()[0] - 4 for each in means.axes[0].lines[1:3]]
    assert [each[0] - 4 for each in band] == pytest.approx([each / 2**0.5 for each in wider])
    assert "62 would" in medians.get_suptitle()
    told = plot.averaging(answers, truth=4, epsilon=0.5, estimator="median", needed=63)
    assert "63 would" in told.get_suptitle()


def test_averaging_says_when_answers_are_too_few() -> None:
    """With fewer answers than it takes, the message isn't that they suffice."""
    figure = plot.averaging(WIDE.release([4] * 20), truth=4, epsilon=0.5)
    assert figure.get_suptitle() == "Averaging 20 answers doesn't give away the exact one; 123 would"


def test_a_law_is_bounded_by_epsilon() -> None:
    """The loss of Laplace noise is at most ε and its δ is 0 there; below, δ is the sum of what D has above e^ε·D′."""
    law = plot.LossLaw.of_noise(WIDE, 7)
    assert law.greatest == pytest.approx(0.5)
    assert law.beyond(0.5) == 0
    assert law.delta(0.5) == pytest.approx(0, abs=1e-12)
    direct = sum(max(WIDE.mass(n) - exp(0.2) * WIDE.mass(n - 7), 0.0) for n in range(-500, 500))
    assert law.delta(0.2) == pytest.approx(direct, rel=1e-9)


def test_a_law_knows_impossible_outcomes() -> None:
    """What D′ never gives counts for every ε."""
    law = plot.LossLaw.of([0.5, 0.4, 0.1], [0.4, 0.6, 0.0])
    assert law.greatest == float("inf")
    assert law.beyond(5) == law.delta(5) == 0.1
    assert sorted(law.losses) == pytest.approx([log(0.4 / 0.6), log(0.5 / 0.4)])


def lengths(axes: Any) -> dict[str, float]:
    """The length of each bar, by what stands beside it."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    return dict(zip(names, [bar.get_width() for bar in axes.patches], strict=True))


def test_class_sizes_shows_the_rows_of_each_size() -> None:
    """Bars add up to all rows, and sizes at the edges of bars are on the right side of them."""
    rows = {1: 3, 2: 1, 4: 1, 5: 2, 9: 2, 10: 1, 99: 4, 100: 5, 10**6: 1}
    axes = plot.class_sizes(rows, columns=["age"]).axes[0]
    assert lengths(axes) == {
        "1": 0.15,
        "2": 0.05,
        "3 to 4": 0.05,
        "5 to 9": 0.2,
        "10 to 19": 0.05,
        "20 to 49": 0.0,
        "50 to 99": 0.2,
        "100 or more": pytest.approx(0.3),
    }
    assert "15 %" in texts(axes)


def test_candidates_shows_people_without_any_too() -> None:
    """They have a bar of their own."""
    axes = plot.candidates([(0, 1), (1, 2), (200, 1)], against="rows").axes[0]
    bars = lengths(axes)
    assert (bars["0"], bars["1"], bars["100 or more"], sum(bars.values())) == (0.25, 0.5, 0.25, 1.0)


def test_column_risks_puts_what_adds_most_first() -> None:
    """With its share alone and its share without, and a line at all columns together."""
    axes = plot.column_risks(list(reversed(COLUMNS)), total=1000, unique=760).axes[0]
    alone, without, together = axes.lines
    assert [x for x, _ in points(alone)] == [0.12, 0.09, 0.0, 0.0]
    assert [x for x, _ in points(without)] == [0.31, 0.42, 0.7, 0.752]
    assert {x for x, _ in points(together)} == {0.76}
    assert axes.get_yticklabels()[0].get_text() == "date of birth"


@pytest.mark.parametrize("unique", [0, 1, 4, 10, 1000, 10**6])
def test_the_axis_of_column_risks_begins_at_nothing(unique: int) -> None:
    """However few rows are unique: no share is below 0, and all marks are within the axis."""
    figure = plot.column_risks([KnownColumn("age", 0, unique // 2)], total=10**6, unique=unique)
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    assert -high / 20 < low < 0
    assert all(low < x < high for line in axes.lines for x, _ in points(line))
    figure.canvas.draw()
    assert [tick for tick in axes.get_xticks() if low <= tick < 0] == []
    assert all("e" not in label.get_text() for label in axes.get_xticklabels())


@pytest.mark.parametrize(
    ("unique", "without", "says"),
    [
        (0, 0, "None of the rows is unique, by one of these columns or by all of them"),
        (80, 80, "Whichever column is left out, 80 % of the rows are unique"),
        (80, 10, "Without age, 10 % of the rows are unique instead of 80 %"),
    ],
)
def test_column_risks_says_what_the_first_column_adds(unique: int, without: int, says: str) -> None:
    """And that none does, where that is so."""
    columns = [KnownColumn("age", 0, without), KnownColumn("sex", 0, unique)]
    assert plot.column_risks(columns, total=100, unique=unique).get_suptitle() == says


def test_long_names_are_cut_to_the_room_that_they_have() -> None:
    """Their ends stay, since names often begin alike; the words for those who can't see have them whole."""
    figure = plot.column_risks(ENDLESS[:2], total=100, unique=50)
    title, labels = figure.get_suptitle(), [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert title.startswith("Without a_name")
    assert "…" in title
    assert [label[-2:] for label in labels] == ["19", "20"]
    assert ENDLESS[0].name in str(figure.get_label())
    assert plot.class_sizes({1: 1}, columns=["age", "zip", "sex", "job"]).get_suptitle() == (
        "100 % of the rows are unique by age, zip, sex and 1 more"
    )


def test_outcomes_shows_what_is_known() -> None:
    """A mark for each success and baseline; a result whose truth is unknown has no place."""
    axes = plot.outcomes(OUTCOMES).axes[0]
    success, baseline = axes.lines
    assert points(success) == [(0.98, 0.0), (0.81, 1.0), (0.76, 2.0)]
    assert points(baseline) == [(0.75, 0.0), (0.75, 1.0), (0.75, 2.0)]


def test_recovery_goes_from_little_noise_to_much() -> None:
    """Whatever the order of the points."""
    axes = plot.recovery(POINTS[::-1], people=100, questions=400, baseline=0.52).axes[0]
    assert points(axes.lines[0]) == [(point.deviation, point.success) for point in POINTS]
    assert texts(axes)[: len(POINTS)] == [point.noise for point in POINTS]
    assert {y for _, y in points(axes.lines[1])} == {0.52}


def test_members_shows_curves_and_what_a_guarantee_forbids() -> None:
    """The lead in the title is the largest of any curve; what is dotted begins at the bound."""
    figure = plot.members({"exact": EXACT, "private": PRIVATE})
    assert "lead strangers by 87 %" in figure.get_suptitle()
    axes = figure.axes[0]
    assert points(axes.lines[1]) == list(zip(PRIVATE.false_alarms, PRIVATE.found, strict=True))
    corner = axes.collections[0].get_paths()[0].vertices
    assert PRIVATE.bound in [y for x, y in corner.tolist() if x == 0]
