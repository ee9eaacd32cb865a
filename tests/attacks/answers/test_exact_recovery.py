"""How many answers give away the exact one: against slow definitions, against draws, and the textbooks' figures.

Statistical tests: each draws as often as it takes to tell the claim from its twin, a law with 3 % less noise, at a
false alarm of 1e-9 (exact binomial intervals, of six cases together) and a miss below that (draws by the normal law,
with some to spare).
"""

from __future__ import annotations

from itertools import product
from math import ceil, exp

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.attacks.answers import answers_needed, chance, exact_recovery
from discreet.attacks.answers.exact_recovery import Estimator, Noise
from discreet.errors import InvalidArgument
from discreet.noise import discrete_laplace, uniform
from discreet.query.estimates import many_laplaces
from discreet.stats import clopper_pearson

CASES = 6
DOUBT = 1e-9 / CASES
WRONG = 1.03
"""The twin's ε: 3 % less noise."""


def law(rate: float, reach: int) -> NDArray[np.float64]:
    """The discrete Laplace law on −reach, …, reach, from its definition."""
    return np.array([(1 - exp(-rate)) / (1 + exp(-rate)) * exp(-rate * abs(n)) for n in range(-reach, reach + 1)])


@pytest.mark.parametrize("answers", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_the_mean_is_right_as_often_as_its_law_says(rate: float, answers: int) -> None:
    """Discrete noise, convolved number by number; a sum half way between two whole means counts half."""
    reach = ceil(45 / rate)
    summed = np.ones(1)
    for _ in range(answers):
        summed = np.convolve(summed, law(rate, reach))
    sums = np.arange(-answers * reach, answers * reach + 1)
    expected = summed[2 * abs(sums) < answers].sum() + summed[2 * abs(sums) == answers].sum() / 2
    assert chance(rate, answers, "mean") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("answers", [1, 2, 3, 4])
@pytest.mark.parametrize("rate", [2.0, 4.0])
def test_the_median_is_right_as_often_as_its_law_says(rate: float, answers: int) -> None:
    """Discrete noise, by all tuples of answers; of an even number, a coin picks one of the middle two."""
    reach = ceil(12 / rate) + 1
    masses = law(rate, reach)
    expected = 0.0
    for drawn in product(range(-reach, reach + 1), repeat=answers):
        middle = sorted(drawn)[(answers - 1) // 2 : answers // 2 + 1]
        expected += middle.count(0) / len(middle) * np.prod([masses[each + reach] for each in drawn])
    assert chance(rate, answers, "median") == pytest.approx(expected, abs=1e-4)  # what is beyond `reach` is missing


@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_the_median_is_the_likeliest_whole_number(rate: float) -> None:
    """Of three whole answers, the m with the least distance to all of them."""
    for drawn in product(range(-4, 5), repeat=3):
        distances = {m: sum(abs(each - m) for each in drawn) for m in range(-4, 5)}
        least = min(distances.values())
        assert [m for m, far in distances.items() if far == least] == [sorted(drawn)[1]]
    assert chance(rate, 3, "maximum likelihood") == chance(rate, 3, "median")


@pytest.mark.parametrize("answers", [1, 2, 5, 31, 124, 300])
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 5.0])
def test_the_mean_of_continuous_noise(rate: float, answers: int) -> None:
    """As the characteristic function says, inverted by numbers: another formula, which errs by 5e-8 on one side."""
    outside = many_laplaces.repeated_tail((1 / rate,), (answers,), answers / 2)
    assert chance(rate, answers, "mean", noise="continuous") == pytest.approx(1 - outside, abs=1e-7)


def test_one_continuous_answer() -> None:
    """Alone, each estimator rounds it: Pr[|noise| < ½] = 1 − e^(−ε/2)."""
    for estimator in ("mean", "median", "maximum likelihood"):
        assert chance(1, 1, estimator, noise="continuous") == pytest.approx(1 - exp(-0.5), abs=1e-6)


@pytest.mark.parametrize("answers", [1, 3, 20, 72])
@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0, 20.0])
def test_the_grid_of_likelihoods_is_fine_enough(rate: float, answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as fine, and the chance moves by less than what the documentation says."""
    stated = chance(rate, answers, "maximum likelihood", noise="continuous")
    monkeypatch.setattr(exact_recovery, "_GRID", 4 * exact_recovery._GRID)
    assert abs(chance(rate, answers, "maximum likelihood", noise="continuous") - stated) < 1e-6


def test_what_is_left_out_of_the_mean_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as far, and the chance moves by less than 1e-9."""
    for rate, answers in [(0.01, 5), (0.1, 3000), (0.5, 121), (5.0, 2), (20.0, 1)]:
        stated = chance(rate, answers, "mean")
        monkeypatch.setattr(exact_recovery, "_DEVIATIONS", 24)
        assert abs(chance(rate, answers, "mean") - stated) < 1e-9
        monkeypatch.undo()


def drawn(rate: float, shape: tuple[int, int], noise: str) -> NDArray[np.float64]:
    """Noise: the exact sampler's, or a continuous one by inverting its distribution function."""
    if noise == "discrete":
        return discrete_laplace(1 / rate, shape).astype(np.float64)
    half = (uniform(1 << 30, shape) + 0.5) / (1 << 30) - 0.5
    return np.sign(half) * -np.log1p(-2 * abs(half)) / rate


def estimated(answers: NDArray[np.float64], estimator: str) -> NDArray[np.float64]:
    """The attacker's whole number, as the words have it; ½ is a coin's business, which the sign of another decides."""
    if estimator == "maximum likelihood":
        candidates = np.arange(-8, 9)
        distances = np.stack([abs(answers - m).sum(axis=1) for m in candidates])
        return candidates[distances.argmin(axis=0)].astype(np.float64)
    middle = answers.mean(axis=1) if estimator == "mean" else np.median(answers, axis=1)
    return np.rint(middle + 1e-9 * np.sign(uniform(2, len(middle)) - 0.5))


@pytest.mark.parametrize("noise", ["discrete", "continuous"])
@pytest.mark.parametrize("estimator", ["mean", "median", "maximum likelihood"])
def test_attackers_are_right_as_often_as_stated(estimator: Estimator, noise: Noise) -> None:
    """Nine answers at ε = 1 each; the twin's chance, with 3 % less noise, is refuted by the same draws."""
    stated = chance(1, 9, estimator, noise=noise)
    twin = chance(WRONG, 9, estimator, noise=noise)
    draws = ceil((14 * 0.5 / (twin - stated)) ** 2)  # 6 and 6 deviations, and two for the exact interval's caution
    right = sum(
        int((estimated(drawn(1.0, (size, 9), noise), estimator) == 0).sum())
        for size in np.diff(np.linspace(0, draws, draws // 200_000 + 2).astype(int)).tolist()
    )
    low, high = clopper_pearson(right, draws, 1 - DOUBT)
    assert low - 1e-6 <= stated <= high + 1e-6
    assert twin > high


@pytest.mark.parametrize(
    ("noise", "estimator", "textbook"),
    [
        ("continuous", "mean", (123, 125)),
        ("continuous", "median", (75, 77)),
        ("continuous", "maximum likelihood", (68, 73)),
    ],
)
def test_the_textbooks_figures(noise: Noise, estimator: Estimator, textbook: tuple[int, int]) -> None:
    """At ε = ½, 95 %: about 123 answers by the mean, 76 by the median, 70 by maximum likelihood."""
    low, high = textbook
    assert low <= answers_needed("0.5", estimator, noise=noise) <= high


def test_discrete_noise_hides_less_from_a_median() -> None:
    """A middle answer need not be rounded: the attacker needs 63 and no 77, and the mean gains two."""
    assert answers_needed("0.5", "median") < 0.85 * answers_needed("0.5", "median", noise="continuous")
    assert answers_needed("0.5", "mean") <= answers_needed("0.5", "mean", noise="continuous")


@pytest.mark.parametrize("noise", ["discrete", "continuous"])
@pytest.mark.parametrize("estimator", ["mean", "median"])
@pytest.mark.parametrize("epsilon", ["0.3", "0.5", "1", "3"])
def test_it_is_the_least_number(epsilon: str, estimator: Estimator, noise: Noise) -> None:
    """All smaller numbers are tried: none is enough."""
    needed = answers_needed(epsilon, estimator, noise=noise)
    chances = [chance(epsilon, n, estimator, noise=noise) for n in range(1, needed + 1)]
    assert chances[-1] >= 0.95 > max(chances[:-1], default=0)


def test_the_textbooks_formula_is_close_for_the_mean() -> None:
    """It says n = 8·1.96²/ε² (Gaussian, continuous) and is within 3 % of the exact number for small ε."""
    for epsilon in (0.1, 0.2, 0.5):
        assert answers_needed(epsilon, "mean", noise="continuous") == pytest.approx(8 * 1.96**2 / epsilon**2, rel=0.03)


@pytest.mark.parametrize(
    "wrong",
    [
        ("0", "mean", "0.95"),
        ("21", "mean", "0.95"),
        ("0.5", "mode", "0.95"),
        ("0.5", "mean", "1"),
        ("0.01", "mean", "0.999999999999"),
    ],
)
def test_nonsense_is_refused(wrong: tuple[str, Estimator, str]) -> None:
    """ε out of range, an unknown estimator, certainty, and what takes more than 400,000 answers."""
    epsilon, estimator, confidence = wrong
    with pytest.raises(InvalidArgument):
        answers_needed(epsilon, estimator, confidence)
