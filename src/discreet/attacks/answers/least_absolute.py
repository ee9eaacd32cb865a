"""Least absolute error: the values between 0 and 1 that fit noisy sums of them best, by linear programming.

    minimise Σ|Az − y|  over z in [0, 1]^n

Discrete Laplace noise makes this the likeliest z. It is solved by a primal-dual interior point method, whose steps
solve one n × n system each, and the result is certified by duality: for every u in [−1, 1]^m,

    Σ|Az − y| ≥ u'(Az − y) ≥ −u'y + Σ_i min(0, (A'u)_i)

for all z in the box. The difference between a left side and a right side that were found is the gap: the fit may miss
the least error by no more.

Source: Portnoy, Koenker (1997), "The Gaussian Hare and the Laplacian Tortoise", the section on interior point methods,
for the idea. The certificate is written out above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.attacks.answers.linear_systems import Reals
from discreet.errors import InvalidArgument

_CLOSE = 1e-7
"""The gap that is good enough, per equation: no value moves by as much as a rounding to 0 or 1 would notice."""

_MOST_STEPS = 200

_SHORTENED = 0.995
"""The part of the longest step that keeps everything above 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Values that fit, and how far from the best fit they may be.

    Args:
        values: z, in [0, 1].
        error: Σ|Az − y|.
        gap: no values in [0, 1] have an error below `error` − `gap`.
    """

    values: Reals
    error: float
    gap: float


def least_absolute(matrix: Reals, sums: Reals) -> Fit:
    """Values in [0, 1] with the least sum of absolute errors.

    Args:
        matrix: A: sums × values.
        sums: y.

    Raises:
        InvalidArgument: the shapes don't fit together, or a number isn't finite.

    Examples:
        >>> fit = least_absolute(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.9]))
        >>> fit.values.round(3).tolist(), fit.gap < 1e-6
        ([0.9, 0.1], True)
    """
    if matrix.ndim != 2 or sums.shape != matrix.shape[:1] or 0 in matrix.shape:  # noqa: PLR2004 — sums and values
        raise InvalidArgument("a matrix of sums × values needs one sum for each of its lines")
    if not (np.isfinite(matrix).all() and np.isfinite(sums).all()):
        raise InvalidArgument("sums must be finite")
    state = _State.start(matrix, sums)
    best = _certified(matrix, sums, state.values, state.dual)
    for _ in range(_MOST_STEPS):
        if best.gap <= _CLOSE * len(sums):
            break
        state = state.stepped(matrix, sums)
        here = _certified(matrix, sums, state.values, state.dual)
        best = min(best, here, key=lambda fit: fit.gap)
    return best


def _certified(matrix: Reals, sums: Reals, values: Reals, dual: Reals) -> Fit:
    """A fit with its certificate; `dual` is moved into [−1, 1] first, so that it is one whatever rounding did."""
    inside, weights = np.clip(values, 0.0, 1.0), np.clip(dual, -1.0, 1.0)
    error = float(np.abs(matrix @ inside - sums).sum())
    below = float(-(weights @ sums) + np.minimum(0.0, matrix.T @ weights).sum())
    return Fit(values=inside, error=error, gap=error - below)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _State:
    """A point inside: all of it is above 0, but for `dual`, which is within (−1, 1).

    With over − under for Az − y: the multipliers are 1 − dual of over ≥ 0, 1 + dual of under ≥ 0, `low` of z ≥ 0 and
    `high` of z ≤ 1. At the optimum A'dual = low − high, and each pair of number and multiplier has the product 0.
    """

    values: Reals
    over: Reals
    under: Reals
    dual: Reals
    low: Reals
    high: Reals

    @classmethod
    def start(cls, matrix: Reals, sums: Reals) -> _State:
        """All values ½."""
        values = np.full(matrix.shape[1], 0.5)
        missed = matrix @ values - sums
        room = 1.0 + np.abs(missed).mean()
        return cls(
            values=values,
            over=np.maximum(missed, 0) + room,
            under=np.maximum(-missed, 0) + room,
            dual=np.zeros(len(sums)),
            low=np.full(len(values), room),
            high=np.full(len(values), room),
        )

    @property
    def centre(self) -> float:
        """The mean product of number and multiplier."""
        total = self.over @ (1 - self.dual) + self.under @ (1 + self.dual)
        total += self.values @ self.low + (1 - self.values) @ self.high
        return float(total / (2 * (len(self.over) + len(self.values))))

    def stepped(self, matrix: Reals, sums: Reals) -> _State:
        """One step of Newton's method towards products that are a tenth of what they are."""
        target = self.centre / 10
        left, right = 1 - self.dual, 1 + self.dual
        width = self.over / left + self.under / right
        missing = sums - matrix @ self.values + self.over - self.under
        missing += target / left - self.over - target / right + self.under
        slope = self.low - self.high - matrix.T @ self.dual
        slope += target / self.values - self.low - target / (1 - self.values) + self.high
        bend = self.low / self.values + self.high / (1 - self.values)
        scaled = matrix / width[:, np.newaxis]
        step = np.linalg.solve(matrix.T @ scaled + np.diag(bend), slope + scaled.T @ missing)
        move = np.asarray(step, dtype=np.float64)
        turn = (matrix @ move - missing) / width
        over = target / left - self.over + self.over / left * turn
        under = target / right - self.under - self.under / right * turn
        low = target / self.values - self.low - self.low / self.values * move
        high = target / (1 - self.values) - self.high + self.high / (1 - self.values) * move
        far = _longest((self.values, move), (1 - self.values, -move), (self.over, over), (self.under, under))
        turned = _longest((left, -turn), (right, turn), (self.low, low), (self.high, high))
        return _State(
            values=self.values + far * move,
            over=self.over + far * over,
            under=self.under + far * under,
            dual=self.dual + turned * turn,
            low=self.low + turned * low,
            high=self.high + turned * high,
        )


def _longest(*pairs: tuple[Reals, Reals]) -> float:
    """How far all may move and stay above 0; 1 at most."""
    ends = [np.min(here[move < 0] / -move[move < 0], initial=np.inf) for here, move in pairs]
    return float(min(1.0, _SHORTENED * min(ends)))
