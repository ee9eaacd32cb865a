"""Intervals of quantiles: the law of the choice, what neighbours can tell, coverage and width; all of it summed up.

Nothing is drawn here but in one test: the law of a choice is known, so its coverage and its widths are sums over it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, exp, floor, log
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms import Contribution, Quantile, QuantileInterval
from discreet.mechanisms.quantile_interval import nested
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency
from support.choices import bins_of, plus, softmax, spread, tables, units

ALONE = Contribution(each=1, total=1)
FRACTIONS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
LEVEL = Fraction(19, 20)


def about(fraction: Fraction, size: int, of: Contribution = ALONE, epsilon: Any = 1, **more: Any) -> QuantileInterval:
    """The mechanism, at 95 %."""
    return QuantileInterval.calibrate(fraction, size, of, epsilon, **{"confidence": LEVEL, **more})


def drawn_from(mechanism: QuantileInterval, table: tuple[int, ...], centre: int) -> list[Fraction]:
    """The score of each option times the rate, as `choose` draws one."""
    seen: list[Fraction] = []

    def spy(values: Any, rate: Fraction) -> int:
        seen.extend(Fraction(value) * rate for value in values)
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "categorical", spy)
        mechanism.choose(bins_of(table), centre)
    return seen


def slack(table: tuple[int, ...], fraction: Fraction, first: int, last: int) -> Fraction | None:
    """By how much an interval holds the rank; None for all bins, which hold it."""
    below, through, rank = sum(table[:first]), sum(table[: last + 1]), fraction * sum(table)
    sides = [rank - below] * (first > 0) + [through - rank] * (last < len(table) - 1)
    return min(sides, default=None)


def expected(mechanism: QuantileInterval, table: tuple[int, ...], centre: int) -> list[float]:
    """The same by the definition, but for the rounding of bonus and target."""
    rate, fraction = mechanism.selection.rate, mechanism.fraction
    most = max(fraction, 1 - fraction)
    near = mechanism.row * most + Fraction(log(4 * 19)) / rate
    found, before = [], None
    for place, (first, last) in enumerate(mechanism.nested(centre)):
        here = slack(table, fraction, first, last)
        away = max(0 if before is None else before - near, 0 if here is None else near - here, 0)
        found.append(place * log(1.25) - float(rate * away))
        before = here
    return [*found, (len(found) - 1 + 14) * log(1.25) - float(rate * most * sum(table))]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.sampled_from([*FRACTIONS, Fraction(3, 7), Fraction(999, 1000)]),
    st.sampled_from([1, 10**18, 10**40]),
    st.data(),
)
def test_intervals_are_drawn_by_the_scores_of_the_definition(
    counts: list[int], fraction: Fraction, row: int, data: st.DataObject
) -> None:
    """Of counts of any size; rows of as many steps as a unit has."""
    table = tuple(count * row for count in counts)
    mechanism = about(fraction, len(table), Contribution(each=row, total=row), row=row)
    centre = data.draw(st.integers(0, len(table) - 1))
    drawn = drawn_from(mechanism, table, centre)
    found = expected(mechanism, table, centre)
    assert [float(one - drawn[0]) for one in drawn] == pytest.approx([one - found[0] for one in found], abs=0.05)


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


@pytest.mark.parametrize("fraction", FRACTIONS, ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_scores_move_by_the_declared_spread_at_most(fraction: Fraction, adjacency: Adjacency) -> None:
    """Over all small tables and all units, wherever the target lies; and half of it is reached."""
    contribution = Contribution(each=2, total=2, groups=1, adjacency=adjacency)
    mechanism = about(fraction, 3, contribution, epsilon=10)
    scale = mechanism._scale  # the target is moved to where small tables reach it
    worst = Fraction(0)
    for rows in (1, 2):
        object.__setattr__(mechanism, "_target", rows * scale)
        scores = {table: drawn_from(mechanism, table, 1) for table in tables(3, 4)}
        for table in tables(3, 2):
            for unit in units(3, 2):
                for other in units(3, 2) if adjacency is SUBSTITUTION else [(0, 0, 0)]:
                    worst = max(worst, spread(scores[plus(table, unit)], scores[plus(table, other)]))
    assert mechanism.epsilon / 2 <= worst <= mechanism.epsilon


def test_what_is_offered_is_what_it_costs() -> None:
    """In ε exactly, in ρ to nine digits and never more."""
    assert about(Fraction(1, 2), 100, epsilon="0.7").event.epsilon == Fraction(7, 10)
    by_rho = QuantileInterval.for_rho("0.5", 100, ALONE, "0.02", confidence=LEVEL)
    assert Quantile.for_rho("0.5", 100, ALONE, "0.02").epsilon == by_rho.epsilon


def law_of(table: NDArray[np.int64], fraction: float, rates: tuple[float, float], target: float) -> tuple[Any, Any]:
    """For each bin the chance that it is chosen, and for each interval about it its half width and its chance."""
    size, total = len(table), int(table.sum())
    held, rank = np.concatenate(([0], np.cumsum(table))), fraction * int(table.sum())
    away = np.maximum(np.maximum(held[:-1] - rank, rank - held[1:]), 0)
    chosen = np.exp(-rates[0] * away)
    chosen /= chosen.sum()
    centres = np.flatnonzero(chosen > 1e-9)
    steps = [0, 1, *(step << power for power in range(size.bit_length()) for step in (2, 3))]
    reach = np.array(sorted({min(step, size - 1) for step in steps}))
    low, high = np.maximum(centres[:, None] - reach, 0), np.minimum(centres[:, None] + reach, size - 1)
    sides = [np.where(low > 0, rank - held[low], np.inf), np.where(high < size - 1, held[high + 1] - rank, np.inf)]
    slacks = np.minimum(*sides)
    before = np.concatenate((np.full((len(centres), 1), -np.inf), slacks[:, :-1]), axis=1)
    distance = np.maximum(np.maximum(before - target, target - slacks), 0)
    scores = np.arange(len(reach)) * log(1.25) - rates[1] * np.where(np.isfinite(slacks), distance, before - target)
    scores = np.where(np.isinf(before), -np.inf if total else 0, scores)
    scores[:, 0] = np.where(np.isinf(slacks[:, 0]), 0, -rates[1] * np.maximum(target - slacks[:, 0], 0))
    scores = np.where(np.isnan(scores), -np.inf, scores)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances *= (chosen[centres] / chosen[centres].sum())[:, None] / chances.sum(axis=1, keepdims=True)
    return (centres, chosen[centres] / chosen[centres].sum()), (low, high, chances)


SIZE = 1 << 14
SHAPES: dict[str, Callable[[float], float]] = {
    "uniform": lambda part: part,
    "normal": lambda part: 0.5 + 0.1 * NormalDist().inv_cdf(part),
    "log-normal": lambda part: 0.05 * exp(NormalDist().inv_cdf(part)),
    "heavy tail": lambda part: 0.02 * ((1 - part) ** (-1 / 1.5) - 1),
    "ages": lambda part: (40 + 15 * NormalDist().inv_cdf(part)) / 111,
}


def table_of(shape: str, rows: int, shift: float) -> NDArray[np.int64]:
    """Rows at the law's own quantiles, all of them moved by a part of the distance to the next."""
    size = 111 if shape == "ages" else SIZE
    values = [SHAPES[shape]((row + shift) / rows) for row in range(rows)]
    return np.bincount([min(max(floor(size * value), 0), size - 1) for value in values], minlength=size)


def measured(shape: str, rows: int, fraction: float, epsilon: float) -> tuple[float, float]:
    """The expected half width over the real error at 95 %, of some tables taken together; and the least coverage."""
    most, unit = max(fraction, 1 - fraction), 0.0 if shape == "ages" else 0.5  # a real value lies anywhere in its bin
    rates = 0.4 * epsilon / (2 * most), 0.6 * epsilon / (2 * most)
    target = most + log(4 * 19) / rates[1]
    errors, weights, widths, coverages = [], [], [], []
    for more, shift in product((0, 1), (0.1, 0.3, 0.5, 0.7, 0.9)):
        table = table_of(shape, rows + more, shift)
        truth = int(np.searchsorted(np.cumsum(table), ceil(fraction * (rows + more))))
        (centres, chosen), (low, high, chances) = law_of(table, fraction, rates, target)
        errors.append(np.abs(centres - truth) + unit)
        weights.append(chosen)
        widths.append(float(((high - low) / 2 * chances).sum()) + unit)
        coverages.append(float(chances[(low <= truth) & (truth <= high)].sum()))
    away, weight = np.concatenate(errors), np.concatenate(weights)
    order = np.argsort(away)
    error = float(away[order][np.searchsorted(np.cumsum(weight[order]), 0.95 * weight.sum())])
    return sum(widths) / len(widths) / max(error, 1.0), min(coverages)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("rows", "epsilon"), [(200, 0.1), (200, 1), (200, 5), (1_000, 0.3), (3_000, 10), (30_000, 0.1), (30_000, 10)]
)
def test_intervals_of_medians_are_at_most_twice_as_wide_as_the_error(shape: str, rows: int, epsilon: float) -> None:
    """Half their width in the mean, beside what 95 % of errors stay within, of a bin or a year at the least."""
    ratio, coverage = measured(shape, rows, 0.5, epsilon)
    assert ratio <= 2
    assert coverage >= 0.95


@pytest.mark.parametrize("fraction", [0.05, 0.25, 0.9, 0.99])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_other_quantiles_are_as_good(shape: str, fraction: float) -> None:
    """Where the rows at either side are some noise scales."""
    ratio, coverage = measured(shape, 5_000, fraction, 4)
    assert ratio <= 2
    assert coverage >= 0.95


def worst_coverage(confidence: float, rates: tuple[float, float]) -> float:
    """The least coverage of a median over tables that are made to mislead, for a target of that confidence."""
    target = 0.5 + log(4 * confidence / (1 - confidence)) / rates[1]
    worst = 1.0
    for one, other in ((2, 1), (8, 1), (40, 1), (200, 1)):
        for gap in (1, 30, 1_000, 8_000):
            table = np.zeros(SIZE, dtype=np.int64)
            table[8_000 - gap], table[8_000], table[8_003] = one * 3, 2 * other - 1, one * 3
            truth = int(np.searchsorted(np.cumsum(table), ceil(int(table.sum()) / 2)))
            _, (low, high, chances) = law_of(table, 0.5, rates, target)
            worst = min(worst, float(chances[(low <= truth) & (truth <= high)].sum()))
    return worst


def test_tables_made_to_mislead_are_covered_too() -> None:
    """Single rows in wide gaps. The wrong twin, with no more slack than a third of its due, isn't."""
    assert worst_coverage(0.95, (0.4, 0.6)) >= 0.95
    assert worst_coverage(0.3, (0.4, 0.6)) < 0.95


def test_of_no_rows_it_says_so() -> None:
    """In 95 % of draws, and of a hundred rows in less than one of a million."""
    mechanism = about(Fraction(1, 2), 128)
    for rows, least, most in ((0, 0.95, 1.0), (100, 0.0, 1e-6)):
        table = (0,) * 60 + (rows,) + (0,) * 67
        chances = softmax(drawn_from(mechanism, table, 60), Fraction(1))
        assert least <= chances[-1] <= most
    assert mechanism.choose({60: 10_000}, 60) == 0


@pytest.mark.parametrize("wrong", [{"confidence": 0}, {"confidence": 1}, {"epsilon": 0}, {"size": 0}, {"fraction": 2}])
def test_other_intervals_are_refused(wrong: dict[str, Any]) -> None:
    """With a typed error."""
    said = {"fraction": "0.5", "size": 10, "contribution": ALONE, "epsilon": 1, "confidence": LEVEL} | wrong
    with pytest.raises(InvalidArgument):
        QuantileInterval.calibrate(**said)
    assert ADD_REMOVE is ALONE.adjacency
