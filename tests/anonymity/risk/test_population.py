"""Estimates for a population: their defining equations exactly, and the truth of populations that were drawn."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, exp, fsum, gamma, lgamma, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.anonymity.class_sizes import ClassSizes, class_sizes
from discreet.anonymity.risk.pitman import Pitman, fit_pitman, log_gamma_ratio
from discreet.anonymity.risk.population import estimated, population_uniqueness, unique_in_population
from discreet.anonymity.risk.slide_negative_binomial import (
    SlideNegativeBinomial,
    classes_in_population,
    fit_snb,
    solved,
)
from discreet.census.pseudorandom import pick, uniform
from discreet.errors import InvalidArgument
from support.examples import examples

STANDARD_ERRORS = 6.2
"""A normal variable is farther off once in 1.8·10⁹ times: a false alarm below 1e-9, where the law is normal.

The two errors of estimate and truth are added up here as if they always came together, so that in simulated examples
the difference has 0.8 of what is taken for a standard error, or less. It is 7.7 of its own off with a chance below
1e-12, for all examples together.
"""

counts = st.lists(st.integers(1, 8), min_size=1, max_size=30)


def sample(sizes: list[int]) -> ClassSizes:
    """A sample with classes of these sizes."""
    return class_sizes(np.array(sizes, dtype=np.int64), np.array(sizes, dtype=np.int64))


# Zayatz


@given(counts, st.integers(0, 200))
def test_zayatz_is_bayes(sizes: list[int], others: int) -> None:
    """P(F = 1 | f = 1), from hypergeometric chances as whole numbers."""
    rows = sum(sizes)
    people = rows + others
    shares = Counter(sizes)

    def one(size: int) -> Fraction:
        """The chance that a class of so many people sends one."""
        return Fraction(size * comb(people - size, rows - 1), comb(people, rows))

    found = unique_in_population(sample(sizes), people)
    if not shares[1]:
        assert found == 0
        return
    stays = shares[1] * one(1) / sum(number * one(size) for size, number in shares.items())
    assert found == pytest.approx(float(shares[1] * stays * people / rows), rel=1e-9)


# The slide negative binomial model


def chances(model: SlideNegativeBinomial, fraction: float) -> dict[int, float]:
    """The chance that a class sends so many rows, summed over the class's size; 0, 1 and 2 only."""
    found = {0: 0.0, 1: 0.0, 2: 0.0}
    for x in range(4_000):
        a = model.alpha
        mass = exp(lgamma(a + x) - lgamma(a) - lgamma(x + 1) + a * log(model.beta) + x * np.log1p(-model.beta))
        for seen in found:
            found[seen] += mass * comb(x + 1, seen) * fraction**seen * (1 - fraction) ** (x + 1 - seen)
    return found


@pytest.mark.parametrize("alpha", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("fraction", [0.02, 0.3, 0.9])
def test_the_slide_models_expectations_are_sums(alpha: float, beta: float, fraction: float) -> None:
    """Classes of one and of two in a sample: the closed forms, and the sums over all sizes of classes."""
    model = SlideNegativeBinomial(classes=500, alpha=alpha, beta=beta)
    found = chances(model, fraction)
    assert model.seen_once(fraction) == pytest.approx(500 * found[1], rel=1e-9)
    assert model.seen_twice(fraction) == pytest.approx(500 * found[2], rel=1e-9)
    assert model.seen_once(1.0) == pytest.approx(model.unique, rel=1e-12)


@given(st.floats(0.05, 20), st.floats(0.01, 0.97), st.floats(0.01, 0.95))
def test_the_slide_models_parameters_are_found_again(alpha: float, beta: float, fraction: float) -> None:
    """From what it makes expected, and the number of classes."""
    model = SlideNegativeBinomial(classes=1_000.0, alpha=alpha, beta=beta)
    once, twice = model.seen_once(fraction), model.seen_twice(fraction)
    assume(once > 1e-3 and twice > 1e-3)
    found = solved(once, twice, 1_000.0, fraction)
    assume(found is not None)  # where several models explain it
    assert found is not None
    assert found.seen_once(fraction) == pytest.approx(once, rel=1e-6)
    assert found.seen_twice(fraction) == pytest.approx(twice, rel=1e-6)
    assert found.unique == pytest.approx(model.unique, rel=1e-4, abs=1e-6)


@given(counts, st.floats(0.01, 0.99))
def test_what_the_slide_model_fits_it_explains(sizes: list[int], fraction: float) -> None:
    """Its expected classes of one and of two are those of the sample; or it says that there is no such model."""
    found = fit_snb(sample(sizes), fraction)
    if found is not None:
        assert found.alpha > 0
        assert 0 < found.beta < 1
        assert found.seen_once(fraction) == pytest.approx(sizes.count(1), rel=1e-6)
        assert found.seen_twice(fraction) == pytest.approx(sizes.count(2), rel=1e-6)


@given(counts, st.fractions("1/50", "49/50"))
def test_the_number_of_classes_is_the_modified_estimate(sizes: list[int], fraction: Fraction) -> None:
    """Haas and Stokes's formula, in fractions."""
    left = 1 - fraction
    unseen = sum(left**size for size in sizes)
    once = sum(size * fraction * left ** (size - 1) for size in sizes)
    again = sum(left**size * ((1 + fraction) ** size - 1) for size in sizes)
    thinned = sum(size * fraction**2 * (1 - fraction**2) ** (size - 1) for size in sizes)
    expected = len(sizes) + sizes.count(1) * thinned / again * (unseen / once) ** 2
    assert classes_in_population(sample(sizes), float(fraction)) == pytest.approx(float(expected), rel=1e-9)


def slide_population(label: str, model: SlideNegativeBinomial) -> list[int]:
    """Class sizes of a population of the model, by inverting the distribution of X."""
    masses, mass = [], model.beta**model.alpha
    for x in range(400):
        masses.append(mass)
        mass *= (model.alpha + x) / (x + 1) * (1 - model.beta)
    drawn = pick(label, np.array(masses), int(model.classes))
    return [int(x) + 1 for x in drawn]


def thinned(label: str, sizes: list[int], fraction: float) -> list[int]:
    """The class sizes of a sample of about this fraction."""
    people = np.repeat(np.arange(len(sizes)), sizes)
    kept = people[uniform(label, len(people)) < fraction]
    return [size for size in np.bincount(kept, minlength=len(sizes)).tolist() if size]


CLASSES = 40_000


@examples(10)
@given(st.integers(0, 10**9), st.sampled_from([0.2, 0.4, 0.7]))
def test_the_slide_model_is_near_the_truth(name: int, fraction: float) -> None:
    """A population of the model, 40,000 classes of which the number is known.

    The classes of one and of two are counts of independent classes, so their covariance is known, and the estimate's
    standard error follows by its slope in both (taken numerically); the truth's own is binomial. The estimate is
    within 6.2 standard errors. Twin: that unique rows are as frequent in the population as in the sample isn't: it is
    10.4 of them off or more, with a deviation of 0.3 (0.9 where it is 35 off), by 300 simulated examples each.
    """
    model = SlideNegativeBinomial(classes=CLASSES, alpha=0.8, beta=0.25)
    population = slide_population(f"slide {name}", model)
    seen = thinned(f"sample {name}", population, fraction)
    once, twice = seen.count(1), seen.count(2)
    found = solved(once, twice, CLASSES, fraction)
    assert found is not None
    truth, p, q = population.count(1), model.seen_once(fraction) / CLASSES, model.seen_twice(fraction) / CLASSES
    step = 1e-3 * twice
    by_one = (unique_of(once + step, twice, fraction) - unique_of(once - step, twice, fraction)) / (2 * step)
    by_two = (unique_of(once, twice + step, fraction) - unique_of(once, twice - step, fraction)) / (2 * step)
    variance = CLASSES * (by_one**2 * p * (1 - p) + by_two**2 * q * (1 - q) - 2 * by_one * by_two * p * q)
    share = model.unique / CLASSES
    room = STANDARD_ERRORS * (sqrt(variance) + sqrt(CLASSES * share * (1 - share)))
    assert abs(found.unique - truth) < room
    naive = once / len(seen) * CLASSES
    assert abs(naive - truth) > room


def unique_of(once: float, twice: float, fraction: float) -> float:
    """The estimate from other counts."""
    found = solved(once, twice, CLASSES, fraction)
    assert found is not None
    return found.unique


# Pitman's sampling formula


def partitions(theta: Fraction, alpha: Fraction, people: int) -> dict[tuple[int, ...], Fraction]:
    """The chance of each multiset of class sizes, one person after the other."""
    found = {(1,): Fraction(1)}
    for n in range(1, people):
        grown: Counter[tuple[int, ...]] = Counter()
        for sizes, chance in found.items():
            opens = (theta + alpha * len(sizes)) / (theta + n)
            grown[tuple(sorted((*sizes, 1)))] += chance * opens  # type: ignore[assignment]  # counts in fractions
            for place, size in enumerate(sizes):
                joined = tuple(sorted((*sizes[:place], size + 1, *sizes[place + 1 :])))
                grown[joined] += chance * (size - alpha) / (theta + n)  # type: ignore[assignment]  # the same
        found = dict(grown)  # type: ignore[arg-type]  # the same
    return found


@pytest.mark.parametrize(
    ("theta", "alpha"),
    [(Fraction(1), Fraction(0)), (Fraction(7, 2), Fraction(2, 5)), (Fraction(-1, 5), Fraction(1, 2))],
)
def test_what_pitman_expects_is_the_mean_over_all_partitions(theta: Fraction, alpha: Fraction) -> None:
    """Seven people, every partition with its chance."""
    everything = partitions(theta, alpha, 7)
    assert sum(everything.values()) == 1
    model = Pitman(theta=float(theta), alpha=float(alpha))
    for size in range(1, 9):
        mean = sum((sizes.count(size) * chance for sizes, chance in everything.items()), Fraction(0))
        assert model.expected_of_size(size, 7) == pytest.approx(float(mean), rel=1e-12)


@given(st.floats(0.5, 2_000), st.floats(0.01, 0.95), st.integers(1, 300))
def test_pitmans_identities(theta: float, alpha: float, people: int) -> None:
    """People add up; classes are ((θ+α)…(θ+α+n−1)/((θ+1)…(θ+n−1)) − θ)/α."""
    model = Pitman(theta=theta, alpha=alpha)
    expected = [model.expected_of_size(size, people) for size in range(1, people + 1)]
    assert fsum(size * value for size, value in enumerate(expected, start=1)) == pytest.approx(people, rel=1e-9)
    product = fsum(log((theta + alpha + i) / (theta + i)) for i in range(people))
    classes = theta * np.expm1(product) / alpha
    assert fsum(expected) == pytest.approx(classes, rel=1e-8)


def test_without_alpha_it_is_ewenss_formula() -> None:
    """E(S_j) → θ/j among many."""
    model = Pitman(theta=3.0, alpha=0.0)
    for size in (1, 2, 5):
        assert model.expected_of_size(size, 10**8) == pytest.approx(3 / size, rel=1e-6)


def test_among_very_many_the_asymptote_is_reached() -> None:
    """E(S₁) ≈ Γ(θ+1)/Γ(θ+α) · N^α, as Hoshino has it."""
    model = Pitman(theta=20.0, alpha=0.4)
    assert model.expected_of_size(1, 10**9) == pytest.approx(gamma(21) / gamma(20.4) * 10**3.6, rel=1e-6)


@given(st.floats(1, 1e9), st.floats(-0.999, 40))
def test_ratios_of_gamma_functions(x: float, shift: float) -> None:
    """Against ball arithmetic of 200 bits."""
    from flint import arb

    from discreet.exact.ball import precision

    with precision(200):
        exact = float((arb(x) + arb(shift)).lgamma() - arb(x).lgamma())
    assert log_gamma_ratio(x, shift) == pytest.approx(exact, rel=1e-10, abs=1e-10)


def slopes(sizes: list[int], theta: float, alpha: float) -> tuple[float, float]:
    """The derivatives of the logarithm of Pitman's formula, term by term."""
    rows, classes = sum(sizes), len(sizes)
    in_theta = fsum(1 / (theta + i * alpha) for i in range(1, classes)) - fsum(1 / (theta + i) for i in range(1, rows))
    in_alpha = fsum(i / (theta + i * alpha) for i in range(1, classes)) - fsum(
        1 / (j - alpha) for size in sizes for j in range(1, size)
    )
    return in_theta, in_alpha


@given(st.lists(st.integers(1, 12), min_size=2, max_size=60))
def test_where_pitman_converges_the_slopes_are_nought(sizes: list[int]) -> None:
    """The equations of the maximum hold, α is inside (0, 1), and no neighbour is likelier."""
    found = fit_pitman(sample(sizes))
    if found is None:
        return
    assert 0 < found.alpha < 1
    assert found.theta > -found.alpha
    in_theta, in_alpha = slopes(sizes, found.theta, found.alpha)
    assert in_theta * max(found.theta, 1) == pytest.approx(0, abs=1e-6)
    assert in_alpha == pytest.approx(0, abs=1e-6)
    assert found.score(sample(sizes)) == pytest.approx((in_theta, in_alpha), abs=1e-9)
    height = found.log_likelihood(sample(sizes))
    for way in ((1.02, 1.0), (0.98, 1.0), (1.0, 1.02), (1.0, 0.98)):
        near = Pitman(theta=found.theta * way[0], alpha=found.alpha * way[1])
        assert near.log_likelihood(sample(sizes)) <= height


@pytest.mark.parametrize("sizes", [[1], [5], [1, 1, 1], [2, 2, 2, 2], [1, 1, 1, 1, 1, 1, 1, 1, 2]])
def test_samples_that_dont_settle_it_have_no_estimate(sizes: list[int]) -> None:
    """One class, only unique rows, only pairs: the likelihood has no peak inside, and nothing is made up."""
    assert fit_pitman(sample(sizes)) is None


def arrivals(label: str, model: Pitman, people: int) -> list[int]:
    """The class of each person, one after the other.

    With probability (θ + kα)/(θ + n) a class is opened; else somebody who is there is drawn, and their class of j is
    joined with probability 1 − α/j, or somebody else is drawn: so classes are chosen in proportion to j − α.
    """
    dropped = iter(uniform(label, 12 * people).tolist())
    sizes: list[int] = []
    of: list[int] = []
    for n in range(people):
        if next(dropped) * (model.theta + n) < model.theta + model.alpha * len(sizes):
            of.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            chosen = of[int(next(dropped) * n)]
            if next(dropped) >= model.alpha / sizes[chosen]:
                break
        of.append(chosen)
        sizes[chosen] += 1
    return of


def spread_of_unique(model: Pitman, people: int) -> float:
    """The standard deviation of the number of unique people.

    Two given people are both alone with probability (θ+α)/(θ+1) · (θ+2α)…(θ+2α+N−3)/((θ+2)…(θ+N−1)).
    """
    mean = model.expected_of_size(1, people)
    theta, alpha = model.theta, model.alpha
    alone = log((theta + alpha) / (theta + 1)) + fsum(
        log((theta + 2 * alpha + i) / (theta + 2 + i)) for i in range(people - 2)
    )
    return sqrt(people * (people - 1) * exp(alone) + mean - mean * mean)


@examples(6)
@given(st.integers(0, 10**9))
def test_pitman_is_near_the_truth(name: int) -> None:
    """20,000 people of the model, the first 5,000 as the sample: who comes first is no different from the others.

    The estimate's standard error follows from the curvature of the likelihood, by its slope in both parameters; the
    truth's own spread is known exactly. The estimate is within 6.2 of both together. Twin: that unique people are as
    frequent as unique rows isn't, by far: 13.9 of both, with a deviation of 0.4 (60 simulated examples).
    """
    model, people, rows = Pitman(theta=400.0, alpha=0.35), 20_000, 5_000
    of = arrivals(f"people {name}", model, people)
    seen, truth = list(Counter(of[:rows]).values()), list(Counter(of).values()).count(1)
    found = fit_pitman(sample(seen))
    assert found is not None
    step = 1e-4
    by_theta = (expected(found.theta * (1 + step), found.alpha) - expected(found.theta * (1 - step), found.alpha)) / (
        2 * step * found.theta
    )
    by_alpha = (expected(found.theta, found.alpha + step) - expected(found.theta, found.alpha - step)) / (2 * step)
    curvature = np.array(
        [
            differences(seen, found, (found.theta * step, 0.0)),
            differences(seen, found, (0.0, step)),
        ]
    )
    slope = np.array([by_theta, by_alpha])
    variance = float(slope @ np.linalg.solve(-(curvature + curvature.T) / 2, slope))
    room = STANDARD_ERRORS * (sqrt(variance) + spread_of_unique(model, people))
    estimate = found.expected_of_size(1, people)
    assert abs(estimate - truth) < room
    assert room < truth
    naive = seen.count(1) / rows * people
    assert abs(naive - truth) > room


def expected(theta: float, alpha: float) -> float:
    """Unique people among 20,000."""
    return Pitman(theta=theta, alpha=alpha).expected_of_size(1, 20_000)


def differences(sizes: list[int], model: Pitman, step: tuple[float, float]) -> list[float]:
    """A row of the likelihood's curvature: how its slopes change along a step."""
    ahead = slopes(sizes, model.theta + step[0], model.alpha + step[1])
    behind = slopes(sizes, model.theta - step[0], model.alpha - step[1])
    return [(after - before) / (2 * (step[0] + step[1])) for after, before in zip(ahead, behind, strict=True)]


# The rule between them


def test_the_rule_picks_by_fraction_and_by_size() -> None:
    """Small samples are Pitman's; larger ones the lesser of the others; whoever doesn't converge isn't picked."""
    sizes = sample([1] * 300 + [2] * 60 + [3] * 30 + [5] * 15 + [10] * 10 + [40] * 4)
    small, large = estimated(sizes, "1/10"), estimated(sizes, "1/2")
    assert small.pitman is not None
    assert (small.chosen, small.estimate) == ("pitman", small.pitman)
    assert large.snb is not None
    assert large.estimate == min(large.snb, large.zayatz)
    assert large.chosen == ("snb" if large.snb <= large.zayatz else "zayatz")
    lonely = sample([1] * 9)
    assert (estimated(lonely, 0.05).chosen, estimated(lonely, 0.05).pitman) == ("zayatz", None)
    assert (estimated(lonely, 0.5).chosen, estimated(lonely, 0.5).snb) == ("zayatz", None)


@given(counts, st.fractions("1/100", 1))
def test_estimates_are_possible(sizes: list[int], fraction: Fraction) -> None:
    """Between nobody and everybody; none where the sample has no unique rows; exact where it is the population."""
    found = estimated(sample(sizes), fraction)
    for value in (found.zayatz, found.snb, found.pitman, found.estimate):
        assert value is None or -1e-9 <= value <= found.people * (1 + 1e-9)
    assert 0 <= found.stays <= 1
    if not sizes.count(1):
        assert (found.estimate, found.stays) == (0, 0)
    if fraction == 1:
        assert (found.chosen, found.estimate) == ("census", sizes.count(1))
    assert found.to_dict()["estimate"] == found.estimate


def test_a_table_is_read() -> None:
    """Its quasi-identifiers make the classes; missing values are values."""
    table = {"age": [1, 1, 2, None, 3, 3, 3], "zip": ["x", "x", "y", "y", "z", "z", "z"]}
    found = population_uniqueness(table, ["age"], fraction=0.5, missing="wildcard")
    assert (found.units, found.unique, found.people) == (7, 2, 14)


@pytest.mark.parametrize("fraction", [0, 1.5, -1, float("nan")])
def test_fractions_are_shares(fraction: float) -> None:
    """Above 0 and at most 1."""
    with pytest.raises(InvalidArgument):
        population_uniqueness({"a": [1, 2]}, ["a"], fraction=fraction)
