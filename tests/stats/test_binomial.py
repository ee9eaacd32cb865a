"""Clopper–Pearson: what scipy says, on the outer side, and covering the truth as often as promised."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta  # type: ignore[import-untyped]  # scipy ships no types

from discreet.errors import InvalidArgument
from discreet.stats import clopper_pearson, confidence_bounds, lower_bound, upper_bound


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    """Successes and trials."""
    trials = draw(st.integers(1, 10**4))
    return draw(st.integers(0, trials)), trials


@given(counts(), st.sampled_from([0.5, 0.9, 0.95, 0.999, 1 - 1e-9]))
def test_bounds_are_scipys(count: tuple[int, int], confidence: float) -> None:
    """The bounds are quantiles of beta distributions, as scipy finds them in floats."""
    successes, trials = count
    low, high = clopper_pearson(successes, trials, confidence)
    side = (1 - confidence) / 2
    assert low == pytest.approx(beta.ppf(side, successes, trials - successes + 1) if successes else 0.0, rel=1e-6)
    assert high == pytest.approx(
        beta.isf(side, successes + 1, trials - successes) if successes < trials else 1.0, rel=1e-6
    )
    assert low <= successes / trials <= high


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("trials", [1, 2, 5, 12])
def test_intervals_cover_as_often_as_promised(trials: int, confidence: float) -> None:
    """Summed over all outcomes, no probability is missed more often than stated, by one-sided bounds or by intervals.

    Bounds that may miss twice as often do miss more often than stated.
    """
    truths = [i / 200 for i in range(201)]

    def worst_miss(confidence: float) -> tuple[float, float, float]:
        lows = [lower_bound(k, trials, confidence) for k in range(trials + 1)]
        highs = [upper_bound(k, trials, confidence) for k in range(trials + 1)]
        both = [clopper_pearson(k, trials, confidence) for k in range(trials + 1)]
        misses = [
            (
                sum(c * (lows[k] > p) for k, c in chances),
                sum(c * (highs[k] < p) for k, c in chances),
                sum(c * (not both[k][0] <= p <= both[k][1]) for k, c in chances),
            )
            for p in truths
            for chances in [[(k, comb(trials, k) * p**k * (1 - p) ** (trials - k)) for k in range(trials + 1)]]
        ]
        return tuple(max(column) for column in zip(*misses, strict=True))

    assert max(worst_miss(confidence)) <= 1 - confidence + 1e-12
    assert max(worst_miss(1 - 2 * (1 - confidence) * 0.999 if confidence > 0.5 else 0.01)) > 1 - confidence


@given(counts())
def test_sides_mirror_each_other(count: tuple[int, int]) -> None:
    """The upper bound of successes is one minus the lower bound of failures."""
    successes, trials = count
    mirrored = 1 - lower_bound(trials - successes, trials, 0.99)
    assert upper_bound(successes, trials, 0.99) == pytest.approx(mirrored, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize(
    ("successes", "trials"), [(1, 1), (3, 10), (500, 1_000), (1, 10**4), (100, 10**4), (9_999, 10**4)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.99, 1 - 1e-9])
def test_two_exact_probabilities_are_all_it_takes(
    successes: int, trials: int, confidence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floats find the bound, and one on each side prove it; a bad guess takes longer and ends in the same place."""
    asked: list[float] = []
    for name in ("at_least", "at_most"):
        tail = getattr(confidence_bounds, name)
        monkeypatch.setattr(confidence_bounds, name, lambda k, n, p, tail=tail: (asked.append(p), tail(k, n, p))[1])
    found = clopper_pearson(successes, trials, confidence)
    assert len(set(asked)) <= 4
    monkeypatch.setattr(confidence_bounds, "_guess", lambda successes, trials, *_, **__: successes / trials / 2)
    assert clopper_pearson(successes, trials, confidence) == pytest.approx(found, rel=2.0**-38)
    assert len(set(asked)) > 8


def test_bounds_tighten_with_trials_and_loosen_with_confidence() -> None:
    """More trials at the same rate narrow the interval; more confidence widens it."""
    widths = [high - low for low, high in (clopper_pearson(n // 4, n, 0.95) for n in (4, 40, 400, 4000))]
    assert widths == sorted(widths, reverse=True)
    widths = [high - low for low, high in (clopper_pearson(10, 40, c) for c in (0.5, 0.9, 0.99, 1 - 1e-9))]
    assert widths == sorted(widths)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    """Counts that contradict each other are refused by a typed error."""
    with pytest.raises(InvalidArgument):
        clopper_pearson(successes, trials, 0.95)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_impossible_confidences_are_refused(confidence: float) -> None:
    """Confidence lies strictly between 0 and 1; 95 isn't 95 %."""
    with pytest.raises(InvalidArgument, match="confidence"):
        clopper_pearson(5, 10, confidence)
