"""Trees over ranges: what they cost, that their sums agree, how far off they are, and how fast they come."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import log, sqrt
from statistics import NormalDist
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.textbook import RangeTree
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, ZCDP, Adjacency, PureDP
from discreet.stats import lower_bound, upper_bound
from discreet.textbook.mechanisms.range_consistency import (
    consistent,
    gaussian_radius,
    laplace_radius,
    variance,
    weights,
)
from discreet.textbook.mechanisms.range_tree import covering, sensitivity_of
from support.examples import examples


def matrix(depth: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Which leaves each node sums, from the root down."""
    rows = []
    for level in range(depth + 1):
        width = 2 ** (depth - level)
        rows += [
            [float(place * width <= leaf < (place + 1) * width) for leaf in range(2**depth)]
            for place in range(2**level)
        ]
    return np.array(rows)


ranges = st.integers(0, 4).flatmap(
    lambda depth: st.tuples(st.just(depth), st.integers(0, 2**depth - 1), st.integers(1, 2**depth)).filter(
        lambda chosen: chosen[1] < chosen[2]
    )
)


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("leaves", [1, 2, 4])
def test_neighbours_stay_within_the_sensitivity(adjacency: Adjacency, rows: int, leaves: int) -> None:
    """All ways to add a unit's rows, or to put another's in their place: no norm of all nodes exceeds the declared."""
    nodes = matrix((leaves - 1).bit_length())
    units = [np.array(unit) for unit in product(range(rows + 1), repeat=leaves) if sum(unit) <= rows]
    others = units if adjacency is SUBSTITUTION else [np.zeros(leaves)]
    moves = [nodes @ (unit - other) for unit in units for other in others]
    declared = sensitivity_of(leaves, rows, adjacency)
    assert max(np.count_nonzero(move) for move in moves) <= declared.l0
    assert max(np.abs(move).max() for move in moves) <= declared.linf
    assert max(np.abs(move).sum() for move in moves) <= declared.l1
    assert max((move**2).sum() for move in moves) <= declared.l2_squared
    if adjacency is ADD_REMOVE:
        assert max(np.abs(move).sum() for move in moves) == declared.l1
        assert max((move**2).sum() for move in moves) == declared.l2_squared


@given(st.integers(0, 5), st.data())
def test_consistent_sums_are_the_least_squares_solution(depth: int, data: st.DataObject) -> None:
    """Against the solution of the normal equations; and each node is the sum of its children."""
    nodes = matrix(depth)
    noisy = np.array(data.draw(st.lists(st.integers(-1000, 1000), min_size=len(nodes), max_size=len(nodes))))
    levels = np.split(noisy, np.cumsum([2**level for level in range(depth)]))
    found = consistent(levels)
    expected = nodes @ np.linalg.lstsq(nodes, noisy.astype(float), rcond=None)[0]
    assert np.concatenate(found) == pytest.approx(expected, abs=1e-8)
    for above, below in pairwise(found):
        assert above == pytest.approx(below.reshape(-1, 2).sum(axis=1), abs=1e-8)


@given(ranges)
def test_the_variance_is_that_of_least_squares(chosen: tuple[int, int, int]) -> None:
    """Σw² of the weights from the normal equations; no weight exceeds 1; never above that of the fewest nodes."""
    depth, low, high = chosen
    nodes = matrix(depth)
    wanted = np.array([float(low <= leaf < high) for leaf in range(2**depth)])
    weights = nodes @ np.linalg.solve(nodes.T @ nodes, wanted)
    assert float(variance(depth, low, high)) == pytest.approx(float(weights @ weights), rel=1e-9)
    assert np.abs(weights).max() <= 1 + 1e-12
    assert float(variance(depth, low, high)) <= len(list(covering(depth, low, high))) + 1e-12


@given(ranges)
def test_the_fewest_nodes_make_up_the_range(chosen: tuple[int, int, int]) -> None:
    """Each leaf of the range once, no other, and at most two nodes per level."""
    depth, low, high = chosen
    parts = list(covering(depth, low, high))
    leaves = [leaf for level, at in parts for leaf in range(at << (depth - level), (at + 1) << (depth - level))]
    assert sorted(leaves) == list(range(low, high))
    assert all(sum(level == other for other, _ in parts) <= 2 for level, _ in parts)


@pytest.mark.parametrize("leaves", [1, 5, 8])
def test_calibration_is_exact(leaves: int) -> None:
    """One unit is in one node per level: with n levels Laplace noise has scale n/ε, Gaussian noise σ² = n/2ρ."""
    levels = {1: 1, 5: 4, 8: 4}[leaves]
    assert RangeTree.calibrate(leaves, "0.5").noise == Laplace(Fraction(2 * levels), sensitivity_of(leaves))
    assert RangeTree.calibrate(leaves, "0.5").loss == PureDP("0.5")
    gaussian = RangeTree.for_rho(leaves, 2)
    assert gaussian.noise == Gaussian.for_rho(sensitivity_of(leaves), 2)
    assert isinstance(gaussian.loss, ZCDP)
    assert Fraction(199, 100) < gaussian.loss.rho <= 2
    assert gaussian.event == gaussian.noise.event
    assert gaussian.mass(3) == gaussian.noise.mass(3)


@pytest.mark.parametrize("make", [RangeTree.calibrate, RangeTree.for_rho])
def test_all_sums_are_about_right(make: Any) -> None:
    """With next to no noise, every range of five leaves: the noisy sum and the consistent one are the exact one."""
    released = make(5, 1000).release([3, 1, 4, 1, 5])
    for low in range(5):
        for high in range(low + 1, 6):
            exact = sum([3, 1, 4, 1, 5][low:high])
            assert released.raw(low, high) == exact
            assert released.sum(low, high) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("make", [RangeTree.calibrate, RangeTree.for_rho])
def test_errors_have_the_stated_variance_and_stay_within_the_radius(make: Any) -> None:
    """Of 2,500 releases: the spread is right to a tenth or so, and at most as many lie beyond a radius as may.

    By the exact law of the error (Chernoff for its square, cut off where next to nothing is left) the mean square is
    off by more than 25 % with probability below 1e-11. At most 3.5 % lie beyond the radius, so that the bound is 10 %
    or more with probability below 1e-13; a radius a third as large is exceeded by 36 % or more, far above 10 %.
    """
    tree, runs, low, high = make(32, 1), 2500, 3, 26
    errors = np.array([tree.release([100] * 32).sum(low, high) - 100 * (high - low) for _ in range(runs)])
    unit = sum(n * n * tree.mass(n) for n in range(-300, 301))
    assert np.mean(errors**2) == pytest.approx(unit * float(variance(5, low, high)), rel=0.25)
    radius = tree.radius("0.9", low, high)
    beyond, near = (int((np.abs(errors) > limit).sum()) for limit in (radius, radius / 3))
    assert lower_bound(beyond, runs, 1 - 1e-9) <= 0.1
    assert lower_bound(near, runs, 1 - 1e-9) > 0.1
    assert upper_bound(beyond, runs, 1 - 1e-9) < 0.1


@pytest.mark.parametrize(("confidence", "quantile"), [("0.8", 1.28155), ("0.95", 1.95996), ("0.999", 3.29053)])
def test_the_radius_is_about_what_a_normal_error_would_have(confidence: str, quantile: float) -> None:
    """For wide noise and many nodes it is at most a tenth above the normal quantile for Gaussian noise, and not below.

    For Laplace noise a fifth, as its sum isn't quite normal.
    """
    for tree, slack in ((RangeTree.for_rho(2**10, "0.001"), 1.1), (RangeTree.calibrate(2**10, "0.01"), 1.2)):
        unit = float(tree.noise.sigma) if isinstance(tree.noise, Gaussian) else sqrt(2) * float(tree.noise.scale)
        deviation = unit * sqrt(variance(10, 100, 900))
        assert 0.97 * quantile < tree.radius(confidence, 100, 900) / deviation < slack * quantile


def test_radii_are_at_most_chernoffs_and_those_of_little_noise_are_his() -> None:
    """The bound as the docstring has it: Gaussian in closed form, Laplace as the least over a grid of λ."""
    depth, low, high, doubt = 7, 10, 53, 0.05
    spread = float(variance(depth, low, high))
    assert gaussian_radius(3.0, depth, low, high, doubt) == pytest.approx(3 * sqrt(2 * spread * log(2 / doubt)))
    for scale in (0.3, 5.0):
        top, steps = 1 / scale, np.arange(1, 20_000) / 20_000
        moments = np.log((np.cosh(top) - 1) / (np.cosh(top) - np.cosh(top * steps)))
        least = float(((spread * moments + log(2 / doubt)) / (top * steps)).min())
        assert laplace_radius(scale, depth, low, high, doubt) <= least * (1 + 1e-9)
        if scale < 1:
            assert laplace_radius(scale, depth, low, high, doubt) == pytest.approx(least, rel=1e-6)


def test_the_radius_of_much_gaussian_noise_is_that_of_a_normal_and_a_rest() -> None:
    """Normal of variance V(σ² + 2) with 31/32 of the doubt; what is too much of it, of variance 2V, with the rest."""
    depth, low, high, doubt = 7, 10, 53, 0.05
    spread = float(variance(depth, low, high))
    for sigma in (40.0, 1000.0):
        whole, rest = NormalDist(0, sqrt(spread * (sigma**2 + 2))), NormalDist(0, sqrt(2 * spread))
        expected = whole.inv_cdf(1 - doubt * 31 / 32 / 2) + rest.inv_cdf(1 - doubt / 32 / 2)
        assert gaussian_radius(sigma, depth, low, high, doubt) == pytest.approx(expected, rel=1e-6)
    with_less = NormalDist(0, sqrt(spread) * 40).inv_cdf(1 - doubt * 31 / 32 / 2)
    assert gaussian_radius(40.0, depth, low, high, doubt) > with_less * 1.01


def test_the_radius_of_a_single_node_is_that_of_its_noise_or_little_more() -> None:
    """A tree of one leaf: the law of one discrete noise, whose radius is exact elsewhere."""
    for tree in (RangeTree.calibrate(1, "0.01"), RangeTree.for_rho(1, "0.0001")):
        for confidence in ("0.5", "0.95", "0.9999"):
            assert tree.noise.radius(confidence) <= tree.radius(confidence) <= 1.12 * tree.noise.radius(confidence)


@given(ranges)
def test_the_weights_are_those_of_the_variance(chosen: tuple[int, int, int]) -> None:
    """Their squares sum to it, and they are those of the normal equations, each as often."""
    depth, low, high = chosen
    nodes = matrix(depth)
    wanted = np.array([float(low <= leaf < high) for leaf in range(2**depth)])
    expected = np.sort(np.abs(nodes @ np.linalg.solve(nodes.T @ nodes, wanted)))
    found = np.sort(np.concatenate([[size] * number for size, number in weights(depth, low, high)]))
    zeros = np.zeros(len(expected) - len(found))
    assert np.concatenate([zeros, found]) == pytest.approx(expected, abs=1e-9)


@given(st.fractions(Fraction(1, 50), 5, max_denominator=50), st.integers(1, 999))
@examples(30)
def test_radii_grow_with_the_confidence(epsilon: Fraction, thousandths: int) -> None:
    """More confidence is never a smaller radius, whichever bound applies."""
    for make in (RangeTree.calibrate, RangeTree.for_rho):
        here = make(16, epsilon).radius(Fraction(thousandths, 1000), 3, 9)
        assert make(16, epsilon).radius(Fraction(thousandths + 1000, 2000), 3, 9) >= here


def test_consistency_helps() -> None:
    """A long range has less than half the variance of the fewest nodes that make it up."""
    assert variance(10, 1, 1023) < Fraction(len(list(covering(10, 1, 1023))), 2)


@pytest.mark.parametrize("make", [RangeTree.calibrate, RangeTree.for_rho])
def test_a_million_leaves_within_a_second(make: Any) -> None:
    """2²⁰ leaves, released, made consistent and asked: within 1 s of processor time, measured some 0.15 s.

    The quickest of three, as others use the machine too. Errors lie within a radius that each leaves one time in 10¹¹.
    """
    tree, counts = make(2**20, 1), np.ones(2**20, dtype=np.int64)
    radius, times = tree.radius("0.99999999999", 1000, 900_000), []
    for _ in range(3):
        started = process_time()
        found = tree.release(counts).sum(1000, 900_000)
        times.append(process_time() - started)
        assert abs(found - 899_000) <= radius
    assert min(times) < 1


def test_sums_beyond_64_bits_wrap_and_do_not_raise() -> None:
    """Errors would tell something of the counts; a number that wrapped around tells nothing that noise doesn't hide."""
    released = RangeTree.calibrate(2, 1).release([2**63 - 1, 2**63 - 1])
    assert abs(int(released.nodes[0][0]) + 2) < 1000


@pytest.mark.parametrize("leaves", [0, -1, 2**24 + 1, 8.0, True, "8"])
def test_other_trees_are_refused(leaves: Any) -> None:
    """The number of leaves is whole, and from 1 to 2²⁴."""
    with pytest.raises(InvalidArgument):
        RangeTree.calibrate(leaves, 1)


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, 4, 5], [1.0] * 4, [[1, 2], [3, 4]], ["a"] * 4, [2**70] * 4])
def test_other_counts_are_refused(counts: Any) -> None:
    """One whole number per leaf; the message quotes none."""
    with pytest.raises(InvalidArgument, match="one whole number for each leaf"):
        RangeTree.calibrate(4, 1).release(counts)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (2, 1), (-1, 2), (0, 6)])
def test_other_ranges_are_refused(low: int, high: int) -> None:
    """Within the leaves that were declared, even if the tree has more."""
    tree = RangeTree.calibrate(5, 1)
    released = tree.release([0] * 5)
    for ask in (released.sum, released.raw, lambda low, high: tree.radius("0.5", low, high)):
        with pytest.raises(InvalidArgument, match="range"):
            ask(low, high)
    with pytest.raises(InvalidArgument, match="rows"):
        RangeTree.calibrate(5, 1, rows=0)
