"""The noise of ranks: that of any edge of a tree stays within what is said, and bins and intervals with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms import Contribution, Laplace, NoisyRanks
from discreet.mechanisms.noisy_ranks import sensitivity_of, shape_of
from discreet.query.estimates import noisy_ranks, rank_noise
from discreet.query.estimates.discrete_sums import dominating_scale
from discreet.query.estimates.many_laplaces import repeated_tail
from discreet.query.estimates.rank_noise import rank_reach
from discreet.stats import upper_bound
from support.choices import bins_of, distances_in_rank
from support.crossed import crossed

ALONE = Contribution(each=1, total=1)
LEVEL = Fraction(19, 20)
FIVE = tuple(Fraction(per_cent, 100) for per_cent in (10, 25, 50, 75, 90))


def ranks_of(size: int, *, is_gaussian: bool = False, amount: Fraction = Fraction(1), **more: Any) -> NoisyRanks:
    """Five quantiles at 95 %."""
    said: dict[str, Any] = {"fractions": FIVE, "confidence": LEVEL, "row": 1} | more
    return noisy_ranks(size=size, contribution=ALONE, amount=amount, is_gaussian=is_gaussian, **said)


def factors(q: float, path: tuple[int, ...], branching: int) -> Counter[float]:
    """How many noises have each factor in S at an edge: by the numbers of the ranges on the way, the edge at last."""
    low: dict[tuple[int, int], float] = {(0, child): -q for child in range(branching)}
    high = {node: 1 + factor for node, factor in low.items()}
    for level, place in enumerate(path):
        edges = []
        for at in (place, place + 1) if level + 1 < len(path) else (place,):
            w = at / branching
            mixed = {node: (1 - w) * low.get(node, 0.0) + w * high.get(node, 0.0) for node in low.keys() | high.keys()}
            for child in range(branching):
                own = (level, child)
                mixed[own] = mixed.get(own, 0.0) if level else 0.0
                mixed[own] += ((1 - w) if child < at else -w) if level else ((1 - q) if child < at else -q)
            edges.append(mixed)
        low, high = edges[0], edges[-1]
    return Counter(round(abs(factor), 12) for factor in low.values() if factor)


@pytest.mark.parametrize("size", [111, 1 << 10, 1 << 14])
@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_no_edge_has_more_noise_than_is_reckoned_with(size: int, fraction: Fraction) -> None:
    """By the exact law of sums of real Laplace noises with the factors of each edge, for some ways through the tree."""
    depth, branching = shape_of(size, is_gaussian=False)
    noise = Laplace.calibrate(sensitivity_of(size, ALONE, is_gaussian=False), 1)
    scale, outside = dominating_scale(noise.scale), 0.05 / depth
    reach = rank_noise._radius(noise, size, fraction, outside)
    places = sorted({1, branching // 4, branching // 2, branching - 1})
    most = 0.0
    for path in product(places, repeat=depth):
        counted = factors(float(fraction), path, branching)
        scales, numbers = tuple(scale * each for each in counted), tuple(counted.values())
        most = max(most, repeated_tail(scales, numbers, reach))
    assert outside / 20 < most <= outside


def kinds(fraction: Fraction, held: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The bins of the first and the last row that some kind of a quantile lies between."""
    rank = fraction * (int(held[-1]) - 1)
    first, last = (int(np.searchsorted(held, row)) for row in (floor(rank) + 1, ceil(rank) + 1))
    return first, last


SIZE = 1 << 10
SHAPES = {
    "even": [3] * SIZE,
    "few": [1] * 30 + [0] * (SIZE - 30),
    "zeros": [600, *[1] * 400, *[0] * (SIZE - 401)],
    "halves": [500, *[0] * (SIZE - 2), 500],
}


def missed(ranks: NoisyRanks, table: list[int], draws: int) -> Iterator[tuple[int, int]]:
    """For each quantile how often its interval doesn't hold it, and its bin is further off than is said."""
    held, total = np.cumsum(table), sum(table)
    found = [ranks.choose(bins_of(table))[1:] for _ in range(draws)]
    for place, fraction in enumerate(ranks.fractions):
        low, high = kinds(fraction, held)
        off, reach = distances_in_rank(table, fraction * total), rank_reach(ranks, fraction, LEVEL)
        read = [each[3 * place : 3 * place + 3] for each in found]
        yield (
            sum(not first <= low <= high <= last for _, first, last in read),
            sum(off[bin_] > reach for bin_, _, _ in read),
        )


@pytest.mark.parametrize(("shape", "is_gaussian"), crossed(list(SHAPES), [False, True]))
def test_fresh_noise_leaves_quantiles_where_they_are_said_to_be(shape: str, is_gaussian: bool) -> None:
    """Of 400 draws at 95 % so few miss that a share of 14 % is excluded; false alarm below 1e-9 for a true 5 %."""
    amount = Fraction(1, 2) if is_gaussian else Fraction(1)
    for intervals, bins in missed(ranks_of(SIZE, is_gaussian=is_gaussian, amount=amount), SHAPES[shape], 400):
        assert upper_bound(intervals, 400, Fraction(999, 1000)) < 0.14
        assert upper_bound(bins, 400, Fraction(999, 1000)) < 0.14


def test_a_third_of_the_margin_would_miss_too_often() -> None:
    """The wrong twin: single rows on either side of wide gaps are then lost in more than 5 % of draws."""
    ranks = ranks_of(SIZE)
    twin = NoisyRanks(
        fractions=ranks.fractions,
        size=SIZE,
        contribution=ALONE,
        noise=ranks.noise,
        margins=tuple(margin / 3 for margin in ranks.margins),
        confidence=LEVEL,
    )
    table = [1, 0, 0, 0] * (SIZE // 4)
    assert max(intervals for intervals, _ in missed(twin, table, 400)) > 40


def test_five_quantiles_of_a_thousand_rows_are_known_to_eighty_ranks() -> None:
    """At ε = 1 on the grid of real numbers: the median to 56, p25 and p75 to 67, p10 and p90 to 75."""
    ranks = ranks_of(1 << 14)
    reached = [rank_reach(ranks, fraction, LEVEL) for fraction in FIVE]
    assert [ceil(each) for each in reached] == [75, 67, 56, 67, 75]


def test_more_is_known_for_more() -> None:
    """Of the offer, and of the doubt."""
    one, other = ranks_of(SIZE), ranks_of(SIZE, amount=Fraction(2))
    assert rank_reach(other, FIVE[0], LEVEL) == pytest.approx(rank_reach(one, FIVE[0], LEVEL) / 2, rel=0.1)
    assert rank_reach(one, FIVE[0], Fraction(1, 2)) < rank_reach(one, FIVE[0], LEVEL)
    assert ranks_of(SIZE, row=1 << 20).margins[0] > 0.9 * 2**20
