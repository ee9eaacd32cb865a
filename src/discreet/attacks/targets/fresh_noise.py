"""Fresh noise for every question, and no account: a mechanism called by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, sqrt

import numpy as np

from discreet.anonymity.columns import Whole
from discreet.attacks.targets.answering import Answering, Reply
from discreet.attacks.targets.exact_answers import Exact
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.mechanisms import Laplace
from discreet.noise import discrete_laplace, uniform
from discreet.privacy import Sensitivity


class Bare(Answering):
    """Exact whole numbers with fresh Laplace noise each time.

    Guarantee: each answer is ε-DP on its own. Nothing limits how many there are, and that is what averaging lives on.

    Args:
        exact: knows the exact answers.
        epsilon: of each answer; above 0.
        sensitivity: how far one unit can move an answer; 1 for counts of units, and so of rows
            where each is a unit of its own.

    Raises:
        InvalidArgument: a number out of range.

    Examples:
        >>> noisy = Bare(Exact({"pay": [70, 56]}, name="staff"), epsilon="0.5")
        >>> replies = [noisy.aggregate("COUNT(*)") for _ in range(3)]
        >>> noisy.bill.epsilon, noisy.bill.reused
        (1.5, 0)
    """

    def __init__(self, exact: Exact, *, epsilon: Rationalizable, sensitivity: int = 1) -> None:
        super().__init__(exact.table, unit=exact.unit)
        self.exact = exact
        self.epsilon = positive(epsilon, "epsilon")
        self.mechanism = Laplace.calibrate(Sensitivity.scalar(sensitivity), self.epsilon)

    @property
    def against(self) -> str:
        """The target in words, for results."""
        return f"answers with fresh noise at ε = {float(self.epsilon):.4g} each, and no account"

    def _reply(self, sql: str) -> Reply:
        """The exact answer with noise."""
        value = self.exact.ask(sql).value
        if not isinstance(value, int):
            raise InvalidArgument("bare noise is added to whole numbers", hint="COUNT, or SUM of a whole column")
        (noisy,) = self.mechanism.release([value])
        return Reply(value=noisy, deviation=laplace_deviation(float(self.mechanism.scale)), epsilon=float(self.epsilon))


def laplace_deviation(scale: float) -> float:
    """The standard deviation of discrete Laplace noise: √(2q)/(1 − q) with q = e^(−1/scale).

    Source: Inusah, Kozubowski (2006), the proposition on the moments of the discrete Laplace law.

    Examples:
        >>> round(laplace_deviation(2), 3)
        2.799
    """
    return sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """One kind of noise.

    Args:
        label: its name.
        deviation: its standard deviation.
        epsilon: of each answer; None if it is no private one.
        draw: makes a number of them, independent.
    """

    label: str
    deviation: float
    epsilon: float | None
    draw: Callable[[int], Whole]


def within(most: int) -> Noise:
    """Whole numbers from −most to most, all alike: no privacy, however large; 0 for exact answers.

    Examples:
        >>> within(2).label, round(within(2).deviation, 3)
        ('±2', 1.414)
    """
    if most < 0:
        raise InvalidArgument("noise can't be within less than 0")
    label = f"±{most}" if most else "exact"
    deviation = sqrt(most * (most + 1) / 3)
    return Noise(label=label, deviation=deviation, epsilon=None, draw=lambda count: uniform(2 * most + 1, count) - most)


def laplace(epsilon: Rationalizable) -> Noise:
    """Discrete Laplace noise, as a count gets it at ε.

    Examples:
        >>> laplace("0.1").label
        'ε = 0.1'
    """
    exact = positive(epsilon, "epsilon")
    return Noise(
        label=f"ε = {float(exact):.4g}",
        deviation=laplace_deviation(float(1 / exact)),
        epsilon=float(exact),
        draw=lambda count: np.asarray(discrete_laplace(1 / exact, count), dtype=np.int64),
    )
