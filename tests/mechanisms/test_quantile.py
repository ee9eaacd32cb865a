"""Quantiles: scores by their definition, sensitivities by brute force over small tables, ranks as near as stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet import noise
from discreet.accounting import charge_of
from discreet.errors import InvalidArgument
from discreet.mechanisms import Contribution, Quantile
from discreet.mechanisms.histogram import Runs
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency
from discreet.stats import likelihood_ratio, likelihood_ratio_critical, upper_bound
from support.choices import bins_of, plus, quantile_scores, softmax, spread, tables, units

ALONE = Contribution(each=1, total=1)
FRACTIONS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
ALARM = Fraction(1, 10**9)


def target(quantile: Quantile, table: tuple[int, ...]) -> Fraction:
    """τ, by its definition."""
    inside = min(Fraction(quantile.inset), Fraction(sum(table), 2))
    ends = {Fraction(0): inside, Fraction(1): sum(table) - inside}
    return ends.get(quantile.fraction, quantile.fraction * sum(table))


def scores(quantile: Quantile, table: tuple[int, ...]) -> list[Fraction]:
    """The score of each bin, by its definition."""
    return quantile_scores(table, target(quantile, table))


def drawn_from(quantile: Quantile, bins: dict[int, int]) -> tuple[list[Fraction], Fraction]:
    """The score of each bin and the rate with which `choose` draws one, less what is equal for all of them."""
    seen: list[Any] = []

    def spy(values: Any, rate: Fraction, *, weights: Any) -> int:
        seen.extend((values.tolist(), rate, weights.tolist()))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "categorical", spy)
        patch.setattr(noise, "uniform", lambda _below: 0)
        quantile.choose(bins)
    values, rate, weights = seen
    return [Fraction(value) for value, weight in zip(values, weights, strict=True) for _ in range(weight)], rate


@example(counts=[0], fraction=Fraction(1, 10**30), by=1)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.sampled_from([*FRACTIONS, Fraction(3, 7), Fraction(999, 1000), Fraction(1, 10**30)]),
    st.sampled_from([1, 10**9, 10**18, 10**40]),
)
def test_bins_are_drawn_by_the_scores_of_the_definition(counts: list[int], fraction: Fraction, by: int) -> None:
    """Each bin's score times the rate is, exactly, what the definition says: empty runs and counts of any size too."""
    table = tuple(count * by for count in counts)
    quantile = Quantile.calibrate(fraction, len(table), ALONE, 1)
    drawn, rate = drawn_from(quantile, bins_of(table))
    assert [score * rate for score in drawn] == [score * quantile.selection.rate for score in scores(quantile, table)]


def movements(adjacency: Adjacency, weight: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All neighbouring tables of three bins, with up to three rows of others in each."""
    for table in tables(3, 3):
        for unit in units(3, weight):
            for other in units(3, weight) if adjacency is SUBSTITUTION else [(0, 0, 0)]:
                yield plus(table, unit), plus(table, other)


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("weight", [1, 2])
def test_scores_move_by_the_declared_spread_and_reach_it(
    fraction: Fraction, adjacency: Adjacency, weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all small tables and all units: no two bins move further against each other, and some move as far."""
    monkeypatch.setattr(Quantile, "inset", 1 if fraction in (0, 1) else 0)  # near enough for tables of so few rows
    contribution = Contribution(each=weight, total=weight, groups=1, adjacency=adjacency)
    quantile = Quantile.calibrate(fraction, 3, contribution, 1)
    worst = max(spread(scores(quantile, one), scores(quantile, other)) for one, other in movements(adjacency, weight))
    assert worst <= quantile.selection.spread
    assert worst == quantile.selection.spread or fraction in (0, 1)
    assert worst > quantile.selection.spread / 2


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
        ratios = {
            (unit, other): spread(scores(quantile, plus(table, unit)), scores(quantile, plus(table, other)))
            for unit, other in product(units(2, 2), repeat=2)
        }
        for (a, b), (c, d) in product(shares, others):
            worst = max(worst, ratios[a, c] + ratios[b, d])
    assert quantile.epsilon / 4 < worst * quantile.selection.rate <= quantile.epsilon


def test_probabilities_of_neighbours_differ_by_less_than_the_loss() -> None:
    """Summed over all bins of small tables: every log ratio is at most ε, and with half the spread it isn't."""
    contribution = Contribution(each=2, total=2, groups=1)
    quantile = Quantile.calibrate(Fraction(2, 3), 3, contribution, 1)

    def worst(rate: Fraction) -> float:
        return max(
            abs(log(p / q))
            for one, other in movements(ADD_REMOVE, 2)
            for p, q in zip(softmax(scores(quantile, one), rate), softmax(scores(quantile, other), rate), strict=True)
        )

    assert worst(quantile.selection.rate) <= 1
    assert worst(quantile.selection.rate * 2) > 1


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


TABLE = (0, 0, 3, 1, 0, 0, 0, 6, 0, 2)


def test_choices_fit_and_those_at_another_epsilon_do_not() -> None:
    """Bins have the stated probabilities, empty ones too: false alarm 1e-9, and a twin 50 % off is 400 nats away."""
    quantile, twin = (Quantile.calibrate("0.4", len(TABLE), ALONE, epsilon) for epsilon in ("0.8", "1.2"))
    claimed = np.array(softmax(scores(quantile, TABLE), quantile.selection.rate))

    def statistic(mechanism: Quantile) -> float:
        chosen = Counter(mechanism.choose(bins_of(TABLE)) for _ in range(15_000))
        return likelihood_ratio(np.array([chosen[bin_] for bin_ in range(len(TABLE))]), claimed)

    critical = likelihood_ratio_critical(len(TABLE), ALARM)
    assert statistic(quantile) <= critical
    assert statistic(twin) > critical


def missed_by(quantile: Quantile, table: np.ndarray[Any, Any], chosen: int) -> float:
    """How far q·N lies from the ranks that the bin covers."""
    below, rank = int(table[:chosen].sum()), quantile.fraction * int(table.sum())
    return float(max(Fraction(0), below - rank, rank - below - int(table[chosen])))


def test_the_median_of_ten_thousand_is_within_one_percent() -> None:
    """10,000 values on 4,096 bins, ε = 0.1: by the exact law one median in 10,000 or fewer misses by 1 % of ranks.

    And 800 medians have that law, by how far they miss: likelihood ratio, false alarm 1e-9. A twin at half of ε passes
    with probability below 1e-16. The values are fixed, since the law depends on how many share a bin.
    """
    table = np.diff(np.rint(-10_000 * np.expm1(-np.arange(4097) / 400))).astype(np.int64)  # geometric, of scale 400
    table[-1] += 10_000 - table.sum()
    quantile, twin = (Quantile.calibrate("0.5", 4096, ALONE, epsilon) for epsilon in ("0.1", "0.05"))
    bins, edges = bins_of(table.tolist()), [0, 10, 20, 30, 50, 100]
    classes = np.searchsorted(edges, [missed_by(quantile, table, bin_) for bin_ in range(4096)])
    claimed = np.bincount(classes, weights=softmax(scores(quantile, tuple(table.tolist())), quantile.selection.rate))
    assert claimed[-1] < 1e-4

    def statistic(mechanism: Quantile) -> float:
        chosen = [mechanism.choose(bins) for _ in range(800)]
        return likelihood_ratio(np.bincount(classes[chosen], minlength=len(claimed)), claimed)

    critical = likelihood_ratio_critical(len(claimed), ALARM)
    assert statistic(quantile) <= critical
    assert statistic(twin) > critical


@pytest.mark.parametrize("fraction", [0, Fraction(1, 10), Fraction(1, 2), 1])
def test_ranks_are_missed_as_rarely_as_stated(fraction: Fraction) -> None:
    """Where all rows but a few are in one bin and the rest of the grid is empty, the radius holds at 90 %.

    By the exact law at most 0.5 % miss it, so that a bound of 15 % from 3,000 is passed with probability below 1e-99.
    """
    table = np.zeros(500, dtype=np.int64)
    table[[100, 250, 400]] = 40, 1000, 40
    quantile = Quantile.calibrate(fraction, 500, ALONE, 1)
    radius = float(quantile.rank_radius("0.9"))
    bins = bins_of(tuple(table.tolist()))
    missed = sum(missed_by(quantile, table, quantile.choose(bins)) > radius for _ in range(3000))
    assert upper_bound(missed, 3000, 1 - 1e-9) < 0.15


def test_extremes_are_near_the_ends_and_not_beyond() -> None:
    """MIN and MAX of a thousand rows inside the grid lie within some rows of the ends, nineteen times in twenty.

    False alarm 1e-13.
    """
    bins = {4000 + i: 1 for i in range(1000)}
    for fraction, low, high in ((0, 4000, 4080), (1, 4920, 5000)):
        quantile = Quantile.calibrate(fraction, 10_000, ALONE, 1)
        assert quantile.inset == 25
        inside = sum(low <= quantile.choose(bins) < high for _ in range(400))
        assert inside > 340  # 0.95 or more is stated, 380; fewer than 340 has probability below 1e-13


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("bins", [{}, {3: 0}, {0: 1}, {9: 10**30}, dict.fromkeys(range(10), 1)], ids=repr)
def test_every_histogram_has_an_answer(fraction: Fraction, bins: dict[int, int]) -> None:
    """Nobody at all, one row, all rows in one bin, more than 64 bits hold: a bin's number, a plain int."""
    chosen = Quantile.calibrate(fraction, 10, ALONE, 1).choose(bins)
    assert type(chosen) is int
    assert 0 <= chosen < 10


def test_of_nobody_every_bin_is_as_likely() -> None:
    """No rows: 4,000 choices from ten bins differ from 400 each by less than eight deviations; false alarm 1e-12."""
    chosen = Counter(Quantile.calibrate("0.5", 10, ALONE, 1).choose({}) for _ in range(4000))
    assert all(abs(chosen[bin_] - 400) < 152 for bin_ in range(10))


def test_the_order_of_bins_says_nothing() -> None:
    """A mapping in any order gives the same runs."""
    one, other = Runs.of({7: 1, 2: 5, 4: 0}, 10), Runs.of({2: 5, 4: 0, 7: 1}, 10)
    assert one.firsts.tolist() == other.firsts.tolist() == [0, 2, 3, 7, 8]
    assert one.lengths.tolist() == other.lengths.tolist() == [2, 1, 4, 1, 2]


@pytest.mark.parametrize("bins", [{-1: 2}, {10: 2}, {10**30: 1}, {3: -987654321}], ids=repr)
def test_what_is_no_histogram_is_refused_without_being_quoted(bins: dict[int, int]) -> None:
    """Bins beyond the grid, and less than nothing in one."""
    with pytest.raises(InvalidArgument) as refused:
        Quantile.calibrate("0.5", 10, ALONE, 1).choose(bins)
    assert "987654321" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"fraction": -0.1}, {"fraction": 1.1}, {"fraction": None}, {"fraction": Fraction(1, 3**400)}),
        *({"size": 0}, {"size": 2**20 + 1}, {"size": 1.5}, {"size": True}, {"epsilon": 0}, {"epsilon": "nan"}),
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
