"""Bare noise: a mechanism called by hand, afresh for each question, with no account kept."""

from __future__ import annotations

from math import exp, expm1, sqrt

from discreet.attacks.targets.answering import Answering, Reply
from discreet.attacks.targets.exact import Exact
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity


class Bare(Answering):
    """Exact whole numbers with fresh Laplace noise each time.

    Guarantee: each answer is ε-DP on its own. Nothing limits how many there are, and that is what averaging lives on.

    Args:
        exact: who knows the exact answers.
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
        """Calibrate the noise."""
        super().__init__(exact.table, unit=exact.unit)
        self.exact = exact
        self.epsilon = positive(epsilon, "epsilon")
        self.mechanism = Laplace.calibrate(Sensitivity.scalar(sensitivity), self.epsilon)

    @property
    def against(self) -> str:
        """What it is."""
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
