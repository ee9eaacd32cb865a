"""Margins: variances against linear algebra, and splits of an offer against the best that anybody can do."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, product
from math import prod, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from discreet.query.planner.margins import Keys, Margins, subsets
from support.examples import examples

CUBE = tuple(subsets(frozenset("abc")))
ROLLUP = tuple(map(frozenset, ("", "a", "ab", "abc")))
ADULT = dict(zip("abcdefghijklmn", (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2), strict=True))


def of_size(*numbers: int) -> tuple[Keys, ...]:
    """All tables by so many of Adult's keys."""
    return tuple(map(frozenset, chain.from_iterable(combinations(ADULT, number) for number in numbers)))


def sums(sizes: dict[str, int], table: Keys) -> NDArray[np.float64]:
    """The matrix that sums the table by all keys up to one by some."""
    cells = list(product(*(range(size) for size in sizes.values())))
    places = [place for place, name in enumerate(sizes) if name in table]
    groups = list(product(*(range(sizes[name]) for name in sizes if name in table)))
    return np.array([[tuple(cell[place] for place in places) == group for cell in cells] for group in groups], float)


@given(st.data())
@examples(40)
def test_variances_are_those_of_least_squares(data: st.DataObject) -> None:
    """Of any tables of which each says something of the others, measured with any noise: by the normal equations."""
    sizes = {name: data.draw(st.integers(1, 4)) for name in "abc"}
    tables = tuple(data.draw(st.sets(st.sampled_from(CUBE), min_size=1)))
    margins = Margins(sizes, tables)
    precisions = [data.draw(st.sampled_from([0.1, 1.0, 7.0])) for _ in tables]
    rows = np.vstack([precise**0.5 * sums(sizes, table) for precise, table in zip(precisions, tables, strict=True)])
    spread = np.linalg.pinv(rows.T @ rows)
    for table, variance in zip(tables, margins.variances(precisions), strict=True):
        matrix = sums(sizes, table)
        assert np.diag(matrix @ spread @ matrix.T) == pytest.approx(variance)


def test_components_taken_for_each_other_are_noticed() -> None:
    """The comparison above tells a variance from one that forgets what a total adds."""
    margins = Margins({"a": 4}, (frozenset(), frozenset("a")))
    both, alone = margins.variances([1, 1]), margins.variances([0, 1])
    assert both[1] == pytest.approx(0.8)
    assert alone[1] == pytest.approx(1)


def least(sizes: dict[str, int], tables: tuple[Keys, ...]) -> float:
    """The least sum of variances, over all cells, that a linear mechanism with Gaussian noise has at ρ = 1/2.

    Xiao, He, Zhang, Kifer (2023): the residual basis, with its closed form for sums of variances.
    """
    margins = Margins(sizes, tables)
    costs = margins._costs([1.0] * len(tables))
    steps = [prod(sizes[name] - 1 for name in one) for one in margins.components]
    return float(np.sum(np.sqrt(np.array(costs) * steps))) ** 2


def total(sizes: dict[str, int], tables: tuple[Keys, ...], split: tuple[Fraction, ...], power: int) -> float:
    """The sum of variances over all cells, where all of an offer buys noise of variance 1."""
    margins = Margins(sizes, tables)
    variances = margins.variances([float(share) ** power for share in split])
    return sum(margins.cells(table) * variance for table, variance in zip(tables, variances, strict=True))


@pytest.mark.parametrize(
    ("sizes", "tables", "most"),
    [
        ({"a": 2, "b": 9, "c": 10}, CUBE, 1.001),
        ({"a": 10, "b": 10, "c": 10}, ROLLUP, 1.001),
        ({"a": 2, "b": 10, "c": 10}, tuple(map(frozenset, ("", "a", "b", "c", "ab"))), 1.001),
        (ADULT, of_size(1, 2), 1.04),
        (ADULT, of_size(1, 2, 3), 1.06),
    ],
)
def test_gaussian_splits_are_the_best_or_near(sizes: dict[str, int], tables: tuple[Keys, ...], most: float) -> None:
    """Plain tables do next to as well as any linear mechanism; and no split does better than the theory allows."""
    ones = [1.0] * len(tables)
    split = Margins(sizes, tables).shares(ones, ones, power=1)[0]
    found = total(sizes, tables, split, power=1)
    assert sum(split) == 1
    assert 1 - 1e-9 <= found / least(sizes, tables) <= most


@pytest.mark.parametrize(
    ("sizes", "tables", "power", "gain"),
    [
        ({"a": 2, "b": 9, "c": 10}, CUBE, 2, 3.5),
        ({"a": 10, "b": 10, "c": 10}, ROLLUP, 2, 2.3),
        ({"a": 10, "b": 10, "c": 10}, ROLLUP, 1, 1.58),
        ({"a": 2, "b": 9, "c": 10}, CUBE, 1, 1.8),
        ({"a": 2, "b": 10, "c": 10}, tuple(map(frozenset, ("", "a", "b", "c", "ab"))), 1, 1.4),
        (ADULT, of_size(1, 2), 1, 1.45),
        (ADULT, of_size(1, 2, 3), 1, 1.75),
    ],
)
def test_errors_against_equal_shares(sizes: dict[str, int], tables: tuple[Keys, ...], power: int, gain: float) -> None:
    """The root of the mean square over all cells, against measuring each table by itself with an equal share."""
    ones = [1.0] * len(tables)
    split = Margins(sizes, tables).shares(ones, ones, power=power)[0]
    cells = sum(Margins(sizes, tables).cells(table) for table in tables)
    apart = cells * len(tables) ** power
    assert sqrt(apart / total(sizes, tables, split, power)) >= gain


@given(st.data())
@examples(40)
def test_splits_are_better_than_others(data: st.DataObject) -> None:
    """Than equal shares, and than the widest tables alone; each split is whole and tells of every table."""
    sizes = {name: data.draw(st.integers(1, 9)) for name in "abc"}
    tables = tuple(data.draw(st.sets(st.sampled_from(CUBE), min_size=2)))
    margins, power = Margins(sizes, tables), data.draw(st.sampled_from([1, 2]))
    wanted = [data.draw(st.sampled_from([0.01, 1.0, 30.0])) for _ in tables]
    found = margins.shares(wanted, [1.0] * len(tables), power)
    equal = (Fraction(1, len(tables)),) * len(tables)
    losses = []
    for split in (*found, equal):
        assert sum(split) == 1
        variances = margins.variances([float(share) ** power for share in split])
        losses.append(sum(map(prod, zip(map(margins.cells, tables), wanted, variances, strict=True))))
    assert losses[0] <= min(losses) * (1 + 1e-9)


def test_a_key_of_one_value_does_no_harm() -> None:
    """What depends on it alone is nothing, however little is measured of it."""
    tables = (frozenset("a"), frozenset("c"))
    margins = Margins({"a": 1, "b": 1, "c": 2}, tables)
    for split in margins.shares([0.01, 0.01], [1.0, 1.0], power=2):
        assert sum(split) == 1
        assert all(split)
        assert all(np.isfinite(margins.variances([float(share) ** 2 for share in split])))


@pytest.mark.parametrize("power", [1, 2])
def test_the_worst_error_is_made_least(power: int) -> None:
    """Where widths are wanted of all groups alike, no group errs much more than others that could give."""
    margins = Margins({"a": 10, "b": 10, "c": 10}, ROLLUP)
    ones = [1.0] * len(ROLLUP)
    split = margins.shares(ones, ones, power, by_worst=True)[0]
    worst, equal = (max(margins.variances([float(share) ** power for share in one])) for one in (split, [0.25] * 4))
    assert worst <= equal * (1 + 1e-9)
