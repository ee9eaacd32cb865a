"""The spread of answers: noise that is as wide as it is said to be isn't called broken, and any other is."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb, exp, log

import pytest

from discreet.interfaces.conformance import noise
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity
from discreet.stats import lower_bound
from support.attacked import FEW_DRAWS

SCALE = 1000
STATED = Laplace.calibrate(Sensitivity.scalar(1), Fraction(1, SCALE))


def drawn(times: Fraction) -> list[float]:
    """Answers about 7, with noise that is so many times as wide as is stated."""
    return [float(ceil(times * each)) + 7 for each in STATED.release([0] * noise.DRAWS)]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_noise_that_is_what_it_says_is_not_called_broken(confidence: float) -> None:
    """At whatever confidence it is said; false alarm at most 1e-9."""
    radius = STATED.radius(confidence)
    assert not noise.lie_too_near(drawn(Fraction(1)), radius, confidence)
    assert not noise.lie_too_far(drawn(Fraction(1)), radius, confidence)


def test_noise_that_is_not_is_caught() -> None:
    """A tenth as wide, and a hundred times; the chance of a miss is below 1e-9 for both."""
    radius = STATED.radius(0.95)
    assert noise.lie_too_near(drawn(Fraction(1, 10)), radius, 0.95)
    assert noise.lie_too_far(drawn(Fraction(100)), radius, 0.95)


def missed(narrower: int) -> float:
    """At most the chance that noise so many times narrower than stated isn't found.

    It is found where all but a few values lie within so much of the middle that as many more wouldn't be expected.
    """
    size, surely = noise.DRAWS, 1 - Fraction(noise.FALSE_ALARM) / (2 * noise.DRAWS**2)
    found = []
    for others in range(size // 2, size):
        within = -log(1 - lower_bound(others, size - 1, surely)) - 4 / SCALE  # in scales, for what is rounded
        out = exp(-narrower * within)
        outside = range(size - others, size + 1)
        found.append(sum(comb(size, n) * out**n * (1 - out) ** (size - n) for n in outside))
    return min(found)


def test_the_power_is_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `DRAWS` says it, and `FEW_DRAWS`."""
    assert missed(10) < 1e-9
    assert missed(6) < 1e-3
    assert missed(1) > 1 - 1e-9  # it is the chance of what is wrong, and not of everything
    monkeypatch.setattr(noise, "DRAWS", FEW_DRAWS)
    assert missed(100) < 1e-17


def test_no_noise_has_a_smaller_error_than_the_least() -> None:
    """Laplace's is above what any noise could have; noise without loss of ε = 1 isn't."""
    for scale in (10, SCALE):
        stated = Laplace.calibrate(Sensitivity.scalar(1), Fraction(1, scale))
        assert stated.radius("0.95") >= noise.least_radius(0.95, Fraction(1, scale))
        assert stated.radius("0.95") / 2 < noise.least_radius(0.95, Fraction(1, scale))
