"""The same question both ways: both answers near the truth, the local ± wider by what theory says."""

from __future__ import annotations

from fractions import Fraction
from math import e, log
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.local import (
    CountMeanSketch,
    HadamardResponse,
    LocalHashing,
    LocalLaplace,
    OneBitMean,
    PiecewiseMean,
    RandomisedResponse,
    UnaryEncoding,
    side_by_side,
)
from discreet.privacy import PureDP

FAR = 1 - Fraction(1, 10**13)
"""For fewer than a hundred intervals: one misses its truth with 1e-11; those of sums of reports are nearly normal."""

AGES = np.arange(40_000) % 91


@pytest.mark.parametrize(
    "protocol",
    [
        RandomisedResponse(5, 1),
        RandomisedResponse(2, 1),
        UnaryEncoding(5, 1),
        LocalHashing(5, 1),
        HadamardResponse(5, 1),
        LocalLaplace(0, 90, 1),
        OneBitMean(0, 90, 1),
        PiecewiseMean(0, 90, 1),
    ],
    ids=lambda protocol: type(protocol).__name__,
)
def test_both_sides_hold_the_truth(protocol: Any) -> None:
    """Intervals hold the exact answer on both sides; the loss is twice ε; the central one is narrower.

    False alarm below 1e-9 over all protocols.
    """
    counts = hasattr(protocol, "size")
    values = AGES % protocol.size if counts else AGES
    truth = np.bincount(values, minlength=protocol.size) if counts else np.array(AGES.mean())
    both = side_by_side(protocol, values)
    assert (np.abs(both.local.values - truth) <= both.local.radius(FAR)).all()
    intervals = np.atleast_2d(np.array(both.central.interval(FAR)))
    assert ((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).all()
    assert both.loss == PureDP(2)
    assert both.central.loss == PureDP(1)
    assert both.ratio() > 10
    assert str(both).count("±") >= 3
    assert "\n" not in repr(both)


def test_the_ratio_grows_with_the_root_of_n() -> None:
    """T29: four times the people make a count's local ± twice as wide, and the central one stays."""
    coin = RandomisedResponse(2, 1)
    few, many = (side_by_side(coin, np.arange(n) % 2) for n in (10_000, 40_000))
    assert many.ratio() / few.ratio() == pytest.approx(2, rel=0.02)
    assert many.central.interval()[0][1] - many.central.value[0] == few.central.interval()[0][1] - few.central.value[0]
    deviation = 1.96 * (e / (e + 1) ** 2 * 40_000) ** 0.5 / ((e - 1) / (e + 1))
    assert many.local.radius()[0] == pytest.approx(deviation, rel=0.01)
    assert few.central.mechanism.radius("0.95") == pytest.approx(log(20), abs=1)


def test_a_local_mean_of_laplace_noise_has_the_root_of_n_times_the_central_error() -> None:
    """Noise of scale (upper − lower)/ε on each value has √n times the deviation of one such noise over n."""
    both = side_by_side(LocalLaplace(0, 90, 1), AGES)
    assert float(both.local.errors) == pytest.approx(2**0.5 * 90 / 200, rel=1e-3)
    assert both.ratio() == pytest.approx(200 * 1.96 * 2**0.5 / log(20), rel=0.02)


def test_values_are_clamped_alike() -> None:
    """A value out of bounds counts as the bound on both sides. False alarm below 1e-9."""
    both = side_by_side(OneBitMean(0, 10, 4), [10**9] * 100_000)
    low, high = both.central.interval(FAR)
    assert low <= 10 <= high
    assert abs(float(both.local.values) - 10) <= float(both.local.radius(FAR))


def test_questions_without_two_sides_are_refused() -> None:
    """A sketch counts no fixed values; nobody is no one to ask."""
    sketch: Any = CountMeanSketch(1)
    with pytest.raises(InvalidArgument, match="can't be compared"):
        side_by_side(sketch, [1])
    with pytest.raises(InvalidArgument, match="no reports"):
        side_by_side(RandomisedResponse(2, 1), [])
