"""The pseudorandom numbers behind the census: even, unrelated by label, and no source of noise."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.census.pseudorandom import normal, pick, uniform


def test_uniform_fills_the_unit_interval_evenly() -> None:
    """A hundred bins hold what they should, to within five standard deviations; the numbers never change."""
    counts, _ = np.histogram(uniform("even", 1_000_000), bins=100, range=(0, 1))
    assert np.abs(counts - 10_000).max() < 5 * 100
    assert counts.sum() == 1_000_000
    assert uniform("even", 1_000_000).max() < 1


def test_streams_of_different_labels_are_unrelated() -> None:
    """No correlation between streams, nor between a stream and itself one place on."""
    one, other = uniform("one", 100_000), uniform("other", 100_000)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.02


def test_the_first_numbers_are_those_of_splitmix() -> None:
    """The stream is SplitMix64 over a counter, computed here with Python's own integers."""
    from hashlib import blake2b

    mask = 2**64 - 1
    key = int.from_bytes(blake2b(b"age", digest_size=8).digest(), "big")
    expected = []
    for place in range(1, 6):
        state = (place * 0x9E3779B97F4A7C15 + key) & mask
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(((state ^ (state >> 31)) >> 11) / 2**53)
    assert uniform("age", 5).tolist() == expected


def test_normal_has_the_moments_of_a_normal() -> None:
    """Mean 0, variance 1, no skew, kurtosis 3."""
    drawn = normal("bell", 200_000)
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.var() == pytest.approx(1, abs=0.02)
    assert (drawn**3).mean() == pytest.approx(0, abs=0.05)
    assert (drawn**4).mean() == pytest.approx(3, abs=0.1)


def test_pick_follows_its_weights() -> None:
    """Places come as often as their weights say, never where the weight is 0; one row of weights per draw works too."""
    picked = pick("weights", np.array([1.0, 0.0, 3.0]), 100_000)
    assert np.bincount(picked, minlength=3) / 100_000 == pytest.approx([0.25, 0, 0.75], abs=0.01)
    by_row = pick("weights", np.tile([1.0, 0.0, 3.0], (100_000, 1)), 100_000)
    assert (picked == by_row).all()
