"""Least absolute errors, against another solver of linear programs, and by their certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from discreet.attacks.answers.least_absolute import least_absolute
from discreet.attacks.answers.reconstruction import fitted
from discreet.errors import InvalidArgument
from discreet.noise import discrete_laplace, uniform
from support.examples import examples

Reals = NDArray[np.float64]


def least_error(matrix: Reals, sums: Reals) -> float:
    """The least Σ|Az − y| over the box, as SciPy's HiGHS has it."""
    many, few = matrix.shape
    costs = np.concatenate([np.zeros(few), np.ones(2 * many)])
    equations = np.hstack([matrix, -np.eye(many), np.eye(many)])
    bounds = [(0, 1)] * few + [(0, None)] * (2 * many)
    return float(linprog(costs, A_eq=equations, b_eq=sums, bounds=bounds, method="highs").fun)


@examples(60)
@given(st.integers(1, 12), st.integers(1, 30), st.sampled_from([0, 1, 5, 100]))
def test_the_error_is_the_least(values: int, sums: int, noise: int) -> None:
    """Random 0/1 sums of random bits with noise: the same least error as another solver, and a gap that says so."""
    matrix = uniform(2, (sums, values)).astype(np.float64)
    right = matrix @ uniform(2, values) + uniform(2 * noise + 1, sums) - noise
    fit = least_absolute(matrix, right)
    best = least_error(matrix, right)
    assert best - 1e-6 <= fit.error <= best + fit.gap + 1e-6
    assert fit.gap <= 1e-7 * sums
    assert fit.error == pytest.approx(abs(matrix @ fit.values - right).sum())
    assert ((fit.values >= 0) & (fit.values <= 1)).all()


@pytest.mark.parametrize("scale", [1, 10, 50])
def test_the_size_that_reconstruction_needs(scale: int) -> None:
    """A hundred people and 400 answers with Laplace noise."""
    matrix = uniform(2, (400, 100)).astype(np.float64)
    sums = matrix @ uniform(2, 100) + discrete_laplace(scale, 400)
    fit = least_absolute(matrix, sums)
    assert fit.error == pytest.approx(least_error(matrix, sums), abs=1e-4)
    assert fit.gap <= 4e-5


def test_a_twin_isnt_the_least() -> None:
    """Least squares in the same box has a larger error, and no certificate would hide it."""
    matrix = np.array([[1.0], [1.0], [1.0]])
    sums = np.array([0.0, 0.1, 1.0])
    fit = least_absolute(matrix, sums)
    assert fit.values == pytest.approx([0.1], abs=1e-5)
    squares = fitted(np.ones((3, 1), dtype=np.bool_), sums, "least squares").estimates
    assert squares == pytest.approx([1.1 / 3])
    assert abs(matrix @ squares - sums).sum() > fit.error + fit.gap


@pytest.mark.parametrize(
    ("matrix", "sums"),
    [
        (np.ones((2, 2)), np.ones(3)),
        (np.ones(3), np.ones(3)),
        (np.ones((0, 2)), np.ones(0)),
        (np.ones((1, 1)), np.array([np.inf])),
    ],
)
def test_nonsense_is_refused(matrix: Reals, sums: Reals) -> None:
    """Shapes that don't fit, nothing at all, and what isn't finite."""
    with pytest.raises(InvalidArgument):
        least_absolute(matrix, sums)
