"""Quantiles and their intervals: the law of the choice by its definition, sensitivities by brute force, what is held.

Where the law is known, coverage and ranks are sums over it, and nothing is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, pairwise, product
from math import ceil, exp, floor, lcm, log
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet import noise
from discreet.accounting import charge_of
from discreet.errors import InvalidArgument
from discreet.mechanisms import Contribution, Quantile
from discreet.mechanisms import quantile as code
from discreet.mechanisms.quantile import nested
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency
from discreet.stats import likelihood_ratio, likelihood_ratio_critical, upper_bound
from support.choices import bins_of, distances_in_rank, plus, slack, spread, tables, units

ALONE = Contribution(each=1, total=1)
FRACTIONS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
ALARM = Fraction(1, 10**9)
LEVEL = Fraction(19, 20)

Option = tuple[int, int]
"""A bin, and the place of an interval about it."""


intervals = cache(nested)
"""The intervals about a bin, which don't depend on what is in it."""


def scores(quantile: Quantile, table: tuple[int, ...], wanted: Fraction | None = None) -> dict[Option, Fraction]:
    """The score of each option, by its definition.

    Args:
        quantile: the mechanism.
        table: the counts of all bins.
        wanted: T; what the mechanism says if None, rounded up as it does.
    """
    scale = quantile.fraction.denominator if 0 < quantile.fraction < 1 else 2
    wanted = Fraction(ceil(scale * quantile.slack), scale) if wanted is None else wanted
    inside = min(Fraction(quantile.inset), Fraction(sum(table), 2))
    ends = {Fraction(0): inside, Fraction(1): sum(table) - inside}
    off = distances_in_rank(table, ends.get(quantile.fraction, quantile.fraction * sum(table)))
    fine = lcm(2, quantile.fraction.denominator, wanted.denominator)  # all that follows is in whole parts of a row
    below = [0, *accumulate(fine * count for count in table)]
    rank, owed = int(quantile.fraction * below[-1]), int(wanted * fine)
    found: dict[Option, Fraction] = {}
    for number in range(len(table)):
        before: int | None = None
        distance = int(off[number] * fine)
        for place, interval in enumerate(intervals(number, quantile.size, quantile.fraction)):
            here = slack(below, rank, *interval)
            over = 0 if before is None else before - owed
            under = 0 if here is None else owed - here
            found[number, place] = Fraction(-max(distance, over, under, 0), fine)
            before = here
    return found


def says_none(quantile: Quantile, table: tuple[int, ...]) -> Fraction:
    """The score of saying that there are no rows."""
    return -max(quantile.fraction, 1 - quantile.fraction) * sum(table)


def all_drawn(quantile: Quantile, bins: Mapping[int, int]) -> dict[Option, list[Fraction]]:
    """Each option with its score times the rate, once for each way in which `choose` can come to it."""
    seen: dict[str, Any] = {}
    found: dict[Option, list[Fraction]] = {}

    def level_of(values: Any, rate: Fraction, *, weights: Any) -> int:
        seen.update(scores=[int(value) * rate for value in values.tolist()], weights=weights.tolist())
        return int(seen["level"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "categorical", level_of)
        seen["level"], level = 0, 0
        patch.setattr(noise, "uniform", lambda below: seen.get("among", 0) if below else 0)
        quantile.choose(bins)
        for level, weight in enumerate(seen["weights"]):
            for among in range(weight):
                seen.update(level=level, among=among)
                found.setdefault(quantile.choose(bins), []).append(seen["scores"][level])
    return found


@pytest.mark.parametrize("points", [0, 10**6], ids=["sorted", "listed"])
@pytest.mark.parametrize("levels", [0, 3_000], ids=["each", "counted"])
@example(counts=[0], fraction=Fraction(1, 10**30), by=1)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=7),
    st.sampled_from([*FRACTIONS, Fraction(3, 7), Fraction(999, 1000), Fraction(1, 10**30)]),
    st.sampled_from([1, 7, 10**18, 10**40]),
)
def test_options_are_drawn_by_the_scores_of_the_definition(
    points: int, levels: int, counts: list[int], fraction: Fraction, by: int
) -> None:
    """Each option can be come to in one way, at its score; to say that there are none in 20 ways for each bin."""
    table = tuple(count * by for count in counts)
    quantile = Quantile.calibrate(fraction, len(table), ALONE, 1, confidence="0.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "_POINTS", points)
        patch.setattr(code, "_FEW_LEVELS", levels)
        drawn = all_drawn(quantile, bins_of(table))
    rate = quantile.selection.rate
    none = [number for number in range(len(table)) if (number, len(nested(number, len(table), fraction))) in drawn]
    for number in none:
        ways = drawn.pop((number, len(nested(number, len(table), fraction))))
        assert ways == [says_none(quantile, table) * rate] * 20
    assert none == list(range(len(table)))
    assert drawn == {option: [score * rate] for option, score in scores(quantile, table).items()}


@given(st.integers(1, 3_000), st.sampled_from(FRACTIONS), st.data())
def test_each_interval_lies_within_the_next_up_to_all_bins(size: int, fraction: Fraction, data: st.DataObject) -> None:
    """From the chosen bin on, or for an extreme from the end of the bins on."""
    centre = data.draw(st.integers(0, size - 1))
    found = nested(centre, size, fraction)
    for (first, last), (low, high) in pairwise(found):
        assert low <= first <= last <= high
        assert (low, high) != (first, last)
    assert found[-1] == (0, size - 1)
    assert all(0 <= first <= last < size for first, last in found)
    if 0 < fraction < 1:
        assert found[0] == (centre, centre)


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 14, (1 << 15) + 1, code.MOST_BINS])
def test_all_options_can_be_drawn_from_a_full_table(size: int) -> None:
    """A draw is from at most 2²¹ entries; there is one for each bin and step, and one for no rows."""
    for fraction in ("0.5", 0):
        assert Quantile.calibrate(fraction, size, ALONE, 1)._options < 1 << 21


def movements(adjacency: Adjacency, weight: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All neighbouring tables of three bins, with up to three rows of others in each."""
    for table in tables(3, 3):
        for unit in units(3, weight):
            for other in units(3, weight) if adjacency is SUBSTITUTION else [(0, 0, 0)]:
                yield plus(table, unit), plus(table, other)


Law = Callable[[tuple[int, ...]], dict[Any, Fraction]]


def with_none(quantile: Quantile, table: tuple[int, ...], wanted: Fraction) -> dict[Any, Fraction]:
    """The scores of all options, that of no rows among them."""
    return {**scores(quantile, table, wanted), "none": says_none(quantile, table)}


def worst_spread(law: Law, adjacency: Adjacency, weight: int) -> Fraction:
    """How far two options move against each other, over all neighbours of small tables."""
    known = cache(lambda table: list(law(table).values()))
    pairs = {(min(pair), max(pair)) for pair in movements(adjacency, weight)}  # it is the same either way
    return max(spread(known(one), known(other)) for one, other in pairs)


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize("wanted", [Fraction(1, 2), Fraction(1), Fraction(3)], ids=str)
def test_scores_move_by_the_declared_spread_and_reach_it(
    fraction: Fraction, adjacency: Adjacency, weight: int, wanted: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all small tables and all units: no two options move further against each other, and some move as far."""
    monkeypatch.setattr(Quantile, "inset", 1 if fraction in (0, 1) else 0)  # near enough for tables of so few rows
    contribution = Contribution(each=weight, total=weight, groups=1, adjacency=adjacency)
    quantile = Quantile.calibrate(fraction, 3, contribution, 1)
    worst = worst_spread(partial(with_none, quantile, wanted=wanted), adjacency, weight)
    assert worst <= quantile.selection.spread
    assert worst == quantile.selection.spread or fraction in (0, 1)
    assert worst > quantile.selection.spread / 2


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_scores_that_add_distances_or_count_rows_move_further(adjacency: Adjacency) -> None:
    """Two wrong twins: the sum of both distances, and slacks of twice as many steps."""
    contribution = Contribution(each=1, total=1, groups=1, adjacency=adjacency)
    quantile = Quantile.calibrate("0.5", 3, contribution, 1)

    def added(table: tuple[int, ...]) -> dict[Any, Fraction]:
        off = distances_in_rank(table, Fraction(sum(table), 2))
        near = scores(quantile, tuple(0 for _ in table), Fraction(1)) if not sum(table) else scores(quantile, table)
        return {option: score - off[option[0]] for option, score in near.items()}

    def doubled(table: tuple[int, ...]) -> dict[Any, Fraction]:
        return {option: 2 * score for option, score in scores(quantile, table, Fraction(1)).items()}

    for wrong in (added, doubled):
        assert worst_spread(wrong, adjacency, 1) > quantile.selection.spread


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("groups", [2, None])
def test_two_groups_give_away_no_more_than_the_loss(
    fraction: Fraction, adjacency: Adjacency, groups: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Choices from two groups between which a unit of three rows, two in a group, may move: log ratios of at most ε."""
    monkeypatch.setattr(Quantile, "inset", 1 if fraction in (0, 1) else 0)
    contribution = Contribution(each=2, total=3, groups=groups, adjacency=adjacency)
    quantile = Quantile.calibrate(fraction, 2, contribution, 1)
    shares = [(a, b) for a, b in product(units(2, 2), repeat=2) if sum(a) + sum(b) <= 3]
    others = shares if adjacency is SUBSTITUTION else [((0, 0), (0, 0))]
    worst = Fraction(0)
    for table in tables(2, 2):
        known = {unit: list(with_none(quantile, plus(table, unit), Fraction(1)).values()) for unit in units(2, 2)}
        ratios = {(unit, other): spread(known[unit], known[other]) for unit, other in product(known, repeat=2)}
        for (a, b), (c, d) in product(shares, others):
            worst = max(worst, ratios[a, c] + ratios[b, d])
    assert quantile.epsilon / 4 < worst * quantile.selection.rate <= quantile.epsilon


def chances(quantile: Quantile, table: tuple[int, ...], wanted: Fraction | None = None) -> dict[Any, float]:
    """The probability of each option, and that of no rows."""
    found = scores(quantile, table, wanted)
    rate, none = quantile.selection.rate, says_none(quantile, table)
    weights = {option: exp(float(rate) * float(score)) for option, score in found.items()}
    weights |= {"none": 20 * len(table) * exp(float(rate * none))}  # type: ignore[dict-item]  # no option
    total = sum(weights.values())
    return {option: weight / total for option, weight in weights.items()}


def test_probabilities_of_neighbours_differ_by_less_than_the_loss() -> None:
    """Summed over all options of small tables: every log ratio is at most ε, and with half the spread it isn't."""
    contribution = Contribution(each=2, total=2, groups=1)

    def worst(epsilon: int) -> float:
        quantile = Quantile.calibrate(Fraction(2, 3), 3, contribution, epsilon)
        known: dict[tuple[int, ...], dict[Any, float]] = {}
        for pair in movements(ADD_REMOVE, 2):
            for table in pair:
                known.setdefault(table, chances(quantile, table, Fraction(2)))
        return max(
            abs(log(known[one][option] / known[other][option]))
            for one, other in movements(ADD_REMOVE, 2)
            for option in known[one]
        )

    assert worst(1) <= 1
    assert worst(2) > 1


def test_a_median_costs_no_more_than_a_count() -> None:
    """A unit of one row spreads ranks around the median by 1, so the rate is ε; at q = 0.9, ε/1.8."""
    assert Quantile.calibrate("0.5", 10, ALONE, 1).selection.rate == 1
    assert Quantile.calibrate("0.9", 10, ALONE, 1).selection.rate == Fraction(5, 9)
    assert Quantile.calibrate(0, 10, ALONE, 1).selection.rate == Fraction(1, 2)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_rho_is_used_up_and_not_exceeded(adjacency: Adjacency) -> None:
    """The charge in ρ is what was asked for, to eleven digits; over five groups it allows nearly √5 times the ε."""
    apart, alone = (
        Quantile.for_rho("0.5", 100, Contribution(each=4, total=total, adjacency=adjacency), "0.02")
        for total in (20, 4)
    )
    charged = charge_of(apart.event).rho
    assert charged is not None
    assert Fraction(1, 50) * (1 - Fraction(1, 10**10)) <= charged <= Fraction(1, 50)
    assert float(apart.epsilon / alone.epsilon) == pytest.approx(5**0.5, rel=1e-3)


def test_what_is_offered_is_what_it_costs() -> None:
    """In ε exactly: the bin and its interval are one choice."""
    assert charge_of(Quantile.calibrate("0.5", 100, ALONE, "0.7").event).epsilon == Fraction(7, 10)


TABLE = (0, 0, 3, 1, 0, 0, 0, 6, 0, 2)


def test_choices_fit_and_those_at_another_epsilon_do_not() -> None:
    """Options have the stated probabilities: false alarm 1e-9, and a twin 50 % off is 360 nats away.

    Critical are 127, eleven standard deviations less: it fits with probability below 1e-12.
    """
    quantile, twin = (
        Quantile.calibrate("0.4", len(TABLE), ALONE, epsilon, confidence="0.3") for epsilon in ("0.8", "1.2")
    )
    claimed = chances(quantile, TABLE)

    def statistic(mechanism: Quantile) -> float:
        chosen = Counter(mechanism.choose(bins_of(TABLE)) for _ in range(1_500))
        none = sum(count for option, count in chosen.items() if option not in claimed)
        counts = [*(chosen[option] for option in claimed if option != "none"), none]
        return likelihood_ratio(np.array(counts), np.array([*claimed.values()]))

    critical = likelihood_ratio_critical(len(claimed), ALARM)
    assert statistic(quantile) <= critical
    assert statistic(twin) > critical


SIZE = 250
MISLEADING = [
    {100: 40, 125: 1000, 200: 40},
    {100: 3, 125: 1, 126: 3},
    {20: 24, 125: 15, 230: 24},
    {0: 30, 249: 30},
    {125: 400},
    {100: 40, 125: 21, 128: 40},
    dict.fromkeys(range(0, 250, 5), 1),
    dict.fromkeys(range(90, 110), 8),
]
"""Single rows in wide gaps, nearly all rows in one bin, halves at both ends: each with other options near the best."""


def held(quantile: Quantile, bins: Mapping[int, int], wanted: Fraction | None = None) -> tuple[float, float]:
    """With which chance the interval holds all kinds of the quantile, and the bin is within its radius in rank."""
    table = tuple(bins.get(number, 0) for number in range(SIZE))
    total, radius = sum(table), quantile.rank_radius(LEVEL)
    ends = [int(np.searchsorted(np.cumsum(table), rank)) for rank in kinds(quantile.fraction, total)]
    off = distances_in_rank(table, quantile.fraction * total)
    covered = near = 0.0
    for option, chance in chances(quantile, table, wanted).items():
        first, last = (0, SIZE - 1) if option == "none" else intervals(option[0], SIZE, quantile.fraction)[option[1]]
        covered += chance * (first <= min(ends) and max(ends) <= last)
        near += chance * (option == "none" or off[option[0]] <= radius)
    return covered, near


def kinds(fraction: Fraction, total: int) -> tuple[int, int]:
    """The first and the last row that some kind of quantile is, or lies between, in order from 1."""
    rank = fraction * (total - 1) + 1
    return floor(rank), ceil(rank)


@pytest.mark.parametrize(
    "fraction", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)], ids=str
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(8)], ids=str)
def test_intervals_and_ranks_hold_as_often_as_stated(fraction: Fraction, epsilon: Fraction) -> None:
    """By the exact law, of tables that are made to mislead: at 95 %, both."""
    quantile = Quantile.calibrate(fraction, SIZE, ALONE, epsilon)
    found = [held(quantile, bins) for bins in MISLEADING]
    assert min(covered for covered, _ in found) >= 0.95
    assert min(near for _, near in found) >= 0.95


def test_with_less_slack_they_would_not() -> None:
    """The wrong twin: with a third of the slack it owes, some table's interval holds less often than in 95 %."""
    quantile = Quantile.calibrate("0.5", SIZE, ALONE, 2)
    assert min(held(quantile, bins, quantile.slack / 3)[0] for bins in MISLEADING) < 0.95


def test_the_median_of_a_thousand_is_known_to_fifteen_ranks() -> None:
    """At ε = 1 on the grid of real numbers; p90 to 27, where a row counts nearly twice."""
    assert Quantile.calibrate("0.5", 1 << 14, ALONE, 1).rank_radius(LEVEL) < 15
    assert Quantile.calibrate("0.9", 1 << 14, ALONE, 1).rank_radius(LEVEL) < 27


def test_a_greater_confidence_has_a_greater_radius() -> None:
    """Beyond that of the interval it counts all options."""
    quantile = Quantile.calibrate("0.5", 1 << 10, ALONE, 1)
    radii = [quantile.rank_radius(each) for each in ("0.5", "0.9", "0.95", "0.974", "0.98", "0.999")]
    assert radii == sorted(radii)
    assert radii[-1] == quantile.selection.radius("0.999", quantile._options + 1)


def missed_by(quantile: Quantile, table: np.ndarray[Any, Any], chosen: int) -> float:
    """How far q·N lies from the ranks that the bin covers."""
    below, rank = int(table[:chosen].sum()), quantile.fraction * int(table.sum())
    return float(max(Fraction(0), below - rank, rank - below - int(table[chosen])))


@pytest.mark.parametrize("fraction", [0, Fraction(1, 10), Fraction(1, 2), 1])
def test_ranks_are_missed_as_rarely_as_stated(fraction: Fraction) -> None:
    """Where all rows but a few are in one bin and the rest of the grid is empty, the radius holds at 90 %.

    By the exact law at most 0.5 % miss it, so that a bound of 15 % from 400 is passed with probability below 1e-15. If
    15 % did, it wouldn't be with one of 1e-9.
    """
    table = np.zeros(500, dtype=np.int64)
    table[[100, 250, 400]] = 40, 1000, 40
    quantile = Quantile.calibrate(fraction, 500, ALONE, 1)
    radius = float(quantile.rank_radius("0.9"))
    bins = bins_of(tuple(table.tolist()))
    missed = sum(missed_by(quantile, table, quantile.choose(bins)[0]) > radius for _ in range(400))
    assert upper_bound(missed, 400, 1 - 1e-9) < 0.15


def test_extremes_are_near_the_ends_and_not_beyond() -> None:
    """MIN and MAX of a thousand rows inside the grid lie within some rows of the ends, nineteen times in twenty.

    False alarm 1e-13.
    """
    bins = {4000 + i: 1 for i in range(1000)}
    for fraction, low, high in ((0, 4000, 4090), (1, 4910, 5000)):
        quantile = Quantile.calibrate(fraction, 10_000, ALONE, 1)
        assert quantile.inset == 31
        inside = sum(low <= quantile.choose(bins)[0] < high for _ in range(100))
        assert inside > 70  # 0.95 or more is stated, 95; fewer than 70 has probability below 1e-13


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("bins", [{}, {3: 0}, {0: 1}, {9: 10**30}, dict.fromkeys(range(10), 1)], ids=repr)
def test_every_histogram_has_an_answer(fraction: Fraction, bins: dict[int, int]) -> None:
    """Nobody at all, one row, all rows in one bin, more than 64 bits hold: a bin's number and a place, plain ints."""
    number, place = Quantile.calibrate(fraction, 10, ALONE, 1).choose(bins)
    assert type(number) is type(place) is int
    assert 0 <= number < 10
    assert 0 <= place <= len(nested(number, 10, fraction))


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
def test_of_no_rows_it_says_so(fraction: Fraction) -> None:
    """In 95 % of draws, and of a hundred rows in less than one of a million."""
    quantile = Quantile.calibrate(fraction, 128, ALONE, 1)
    for rows, least, most in ((0, 0.95, 1.0), (100, 0.0, 1e-6)):
        assert least <= chances(quantile, (0,) * 60 + (rows,) + (0,) * 67)["none"] <= most


@pytest.mark.parametrize("bins", [{-1: 2}, {10: 2}, {10**30: 1}, {3: -987654321}], ids=repr)
@pytest.mark.parametrize("fraction", [0.5, 1])
def test_what_is_no_histogram_is_refused_without_being_quoted(bins: dict[int, int], fraction: float) -> None:
    """Bins beyond the grid, and less than nothing in one."""
    with pytest.raises(InvalidArgument) as refused:
        Quantile.calibrate(fraction, 10, ALONE, 1).choose(bins)
    assert "987654321" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"fraction": -0.1}, {"fraction": 1.1}, {"fraction": None}, {"fraction": Fraction(1, 3**400)}),
        *({"size": 0}, {"size": 2**16 + 1}, {"size": 1.5}, {"size": True}, {"epsilon": 0}, {"epsilon": "nan"}),
        *({"confidence": 0}, {"confidence": 1}),
    ],
    ids=repr,
)
def test_other_quantiles_are_refused(wrong: dict[str, Any]) -> None:
    """Known before there is any data."""
    arguments: dict[str, Any] = {"fraction": "0.5", "size": 10, "contribution": ALONE, "epsilon": 1} | wrong
    with pytest.raises(InvalidArgument):
        Quantile.calibrate(**arguments)


@pytest.mark.parametrize(
    "wrong", [{"each": 0}, {"each": 5}, {"total": 0}, {"groups": 0}, {"each": 1.0}, {"groups": True}], ids=repr
)
def test_other_contributions_are_refused(wrong: dict[str, Any]) -> None:
    """Whole numbers of at least 1, and no less in all than in one group."""
    with pytest.raises(InvalidArgument):
        Contribution(**({"each": 2, "total": 3} | wrong))
