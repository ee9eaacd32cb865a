"""The likelihood-ratio test of fit: its proved false alarm holds when every sample is enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, factorial, inf, prod

import numpy as np
import pytest
from scipy.special import rel_entr  # type: ignore[import-untyped]  # scipy ships no types

from discreet.errors import InvalidArgument
from discreet.stats import likelihood_ratio, likelihood_ratio_critical, likelihood_ratio_p_value


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to spread `total` over `parts` categories."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def alarm(law: tuple[float, ...], draws: int, critical: float) -> float:
    """The exact probability that the statistic of `draws` draws from `law` exceeds a value."""
    claimed = np.array(law)
    total = 0.0
    for counts in compositions(draws, len(law)):
        ways = factorial(draws) // prod(factorial(count) for count in counts)
        chance = ways * prod(p**count for p, count in zip(law, counts, strict=True))
        total += chance * (likelihood_ratio(np.array(counts), claimed) > critical)
    return total


@pytest.mark.parametrize(
    "law", [(0.5, 0.5), (0.01, 0.99), (1 / 3, 1 / 3, 1 / 3), (0.02, 0.08, 0.9), (0.4, 0.3, 0.2, 0.1)]
)
@pytest.mark.parametrize("draws", [1, 5, 20])
def test_false_alarms_are_as_rare_as_proved(law: tuple[float, ...], draws: int) -> None:
    """Over every possible sample, a true claim is rejected with probability at most the stated one."""
    for level in (0.5, 0.1, 1e-3, 1e-9):
        critical = likelihood_ratio_critical(len(law), level)
        assert alarm(law, draws, critical) <= level


def test_the_bound_isnt_empty() -> None:
    """A fourth of the critical value would be exceeded more often than stated."""
    assert alarm((1 / 3, 1 / 3, 1 / 3), 20, likelihood_ratio_critical(3, 0.1) / 4) > 0.1


@pytest.mark.parametrize("categories", [2, 3, 20, 1000])
@pytest.mark.parametrize("level", [0.5, 0.01, 1e-9, 1e-100])
def test_critical_values_undo_p_values(categories: int, level: float) -> None:
    """The critical value's bound is at most the level, and a hair below it is larger."""
    critical = likelihood_ratio_critical(categories, level)
    assert likelihood_ratio_p_value(critical, categories) <= level
    assert likelihood_ratio_p_value(critical * (1 - 1e-9), categories) > level


def test_the_bound_is_the_theorems() -> None:
    """e^(-t)·(e·t/(k−1))^(k−1) beyond t = k − 1, and 1 before."""
    assert likelihood_ratio_p_value(10.0, 4) == pytest.approx(exp(-10) * (exp(1) * 10 / 3) ** 3, rel=1e-12)
    assert likelihood_ratio_p_value(3.0, 4) == 1.0
    assert likelihood_ratio_p_value(1e300, 4) == 5e-324
    assert likelihood_ratio_p_value(inf, 4) == 0.0


def test_the_statistic_is_relative_entropy() -> None:
    """It is n times scipy's relative entropy; a category that can't occur makes it infinite if it does."""
    counts, claimed = np.array([7, 0, 3]), np.array([0.5, 0.2, 0.3])
    assert likelihood_ratio(counts, claimed) == pytest.approx(10 * rel_entr(counts / 10, claimed).sum())
    assert likelihood_ratio(np.array([1, 1]), np.array([1.0, 0.0])) == inf


def test_impossible_arguments_are_refused() -> None:
    """Probabilities that don't sum to 1, no counts, one category, levels outside (0, 1)."""
    for counts, claimed in [([1, 1], [0.5, 0.6]), ([0, 0], [0.5, 0.5]), ([1, 1], [1.5, -0.5]), ([1], [0.5, 0.5])]:
        with pytest.raises(InvalidArgument):
            likelihood_ratio(np.array(counts), np.array(claimed))
    with pytest.raises(InvalidArgument):
        likelihood_ratio_critical(1, 0.1)
    with pytest.raises(InvalidArgument):
        likelihood_ratio_critical(3, 1)
