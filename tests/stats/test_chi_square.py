"""χ²: tails and critical values agree with scipy and are rounded to the safe side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc  # type: ignore[import-untyped]  # scipy ships no types
from scipy.stats import chi2, chisquare  # type: ignore[import-untyped]  # scipy ships no types

from discreet.errors import InvalidArgument
from discreet.stats import chi_square, chi_square_critical, chi_square_p_value


@given(st.floats(0, 3000), st.integers(1, 2000))
def test_p_values_are_scipys(statistic: float, freedom: int) -> None:
    """Tail probabilities agree with scipy's where floats hold them."""
    assert chi_square_p_value(statistic, freedom) == pytest.approx(chdtrc(freedom, statistic), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("freedom", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("alarm", [0.5, 0.05, 1e-9, 1e-30])
def test_critical_values_undo_p_values(freedom: int, alarm: float) -> None:
    """The critical value's tail is at most the level, a hair below it the tail is larger, and scipy agrees."""
    critical = chi_square_critical(freedom, alarm)
    assert chi_square_p_value(critical, freedom) <= alarm
    assert chi_square_p_value(critical * (1 - 1e-9), freedom) > alarm
    assert critical == pytest.approx(chi2.isf(alarm, freedom), rel=1e-6)


@pytest.mark.parametrize("statistic", [1e5, 1e12, 1e300])
def test_tails_below_all_floats_are_not_zero(statistic: float) -> None:
    """A probability too small for a float is rounded up to the least one, and never to 0."""
    assert 0 < chi_square_p_value(statistic, 3) == 5e-324


def test_two_degrees_have_a_closed_form() -> None:
    """With 2 degrees of freedom the tail is e^(-x/2)."""
    for x in (0, Fraction(1, 3), 10, 500):
        assert chi_square_p_value(x, 2) == pytest.approx(np.exp(-float(x) / 2), rel=1e-14)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=20))
def test_the_statistic_is_scipys(counts: list[int]) -> None:
    """Σ (observed − expected)²/expected, against equal expectations."""
    observed = np.array(counts) + 1
    expected = np.full(len(counts), observed.mean())
    assert chi_square(observed, expected) == pytest.approx(chisquare(observed, expected).statistic)


def test_impossible_arguments_are_refused() -> None:
    """Negative statistics, no degrees of freedom, categories nothing is expected of, and shapes that differ."""
    with pytest.raises(InvalidArgument):
        chi_square_p_value(-1, 3)
    with pytest.raises(InvalidArgument):
        chi_square_p_value(1, 0)
    with pytest.raises(InvalidArgument):
        chi_square_critical(3, 0)
    with pytest.raises(InvalidArgument):
        chi_square(np.array([1, 2]), np.array([1, 0]))
    with pytest.raises(InvalidArgument):
        chi_square(np.array([1, 2]), np.array([1, 2, 3]))
