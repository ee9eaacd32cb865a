"""Smooth sensitivity: noise for what this table's neighbours can do, which tells nobody what that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import checked_scale, short_enough
from discreet.privacy import ApproxDP, ApproxEvent

_BITS = 40
"""Weights are multiples of 2⁻⁴⁰."""


@dataclass(frozen=True, slots=True)
class SmoothSensitivity:
    """Adds discrete Laplace noise of scale 2S/ε to an integer, with S its smooth sensitivity at the table.

    Let A(k) bound how far the integer can move between neighbours, of any table within k steps of this one. S is the
    greatest of 1 and all w(k)·A(k). Here w(0) = 1 and w(k + 1) ≥ r·w(k), so S moves by a factor of at most 1/r.

    Guarantee: (ε, δ)-DP, for r ≥ 1/(1 + ε/(2·ln(2/δ))). Let x and x′ be neighbours with values f and f′, and scales
    s = 2S/ε and s′ = 2S′/ε.

    1. *S is smooth.* A(k) of x is at most A(k + 1) of x′, so w(k)·A(k) ≤ w(k + 1)·A′(k + 1)/r. Beyond the distances
       looked at, A is taken to be `most` for both, which keeps that. So S ≤ S′/r, and S′ ≤ S/r likewise.
    2. *The loss* at an output y, with n = y − f, is ln(tanh(1/2s)/tanh(1/2s′)) + |y − f′|/s′ − |n|/s. By the triangle
       inequality it is at most |f − f′|/s′, plus ln(tanh(1/2s)/tanh(1/2s′)) + |n|·(1/s′ − 1/s).
    3. *Sliding.* |f − f′| ≤ A′(0) ≤ S′, so |f − f′|/s′ ≤ ε/2.
    4. *Dilation, s′ ≥ s.* tanh(a)/a falls, so the logarithm is at most ln(s′/s) ≤ ln(1/r), which is at most ε/2 since
       ln(2/δ) ≥ 1; and the other term is at most 0.
    5. *Dilation, s′ < s.* The logarithm is at most 0, and the other term at most (|n|/s)·(1/r − 1). It is above ε/2
       only if |n|/s > ln(2/δ). As Pr[|noise| ≥ k] = 2q^k/(1 + q) for q = e^(−1/s), that is less likely than δ.

    But for an event of probability δ the loss is thus at most ε.

    The textbook takes r = e^(−β) with β = ε/(2·ln(2/δ)), for continuous noise; here 1/r = 1 + β, which is a little
    less than e^β. It prints the maximum from k = 1 on; it must begin with 0, as its code does.

    How much noise there is depends on the data and stays secret, so no error is stated.

    Args:
        epsilon: above 0. Above 2⁶ it is used as that.
        delta: in (0, 1). Above 1/2 it is used as 1/2.
        most: the most by which the integer can move between any neighbours at all, 1 or more.
        steps: how many distances k are looked at, from 0 on; public, 1 or more.

    Attributes:
        weights: w(0), w(1), …, w(steps).

    Raises:
        InvalidArgument: a number is out of range.

    Source: Nissim, Raskhodnikova, Smith (2007), the definition of smooth sensitivity and its lemma on admissible
    noise, for continuous noise; the proof above is for discrete noise.

    Examples:
        >>> from discreet.textbook.mechanisms.local_sensitivity import median_sensitivities
        >>> ages = [30 + each % 21 for each in range(1001)]
        >>> private = SmoothSensitivity.calibrate(epsilon=1, delta=1e-6, most=125, steps=400)
        >>> around = median_sensitivities(ages, lower=0, upper=125, steps=400)
        >>> median = private.release(40, around)
        >>> print(private.loss, "at a scale of", round(float(private.scale(around))), "instead of 125")
        ε = 1, δ = 1e-06 at a scale of 2 instead of 125
    """

    epsilon: Fraction
    delta: Fraction
    most: int
    steps: int
    weights: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the weights before there is any data."""
        from discreet.exact import log

        epsilon = min(short_enough(positive(self.epsilon, "epsilon"), "epsilon"), Fraction(64))
        delta = min(short_enough(probability(self.delta, "delta"), "delta"), Fraction(1, 2))
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        if any(type(number) is not int or number < 1 for number in (self.most, self.steps)):
            raise InvalidArgument("most and steps must be whole numbers of 1 or more")
        checked_scale(2 * self.most / epsilon, "most")
        shrink = 1 / (1 + epsilon / (2 * log(2 / delta, round_up=True)))
        weights = [1 << _BITS]
        for _ in range(self.steps):
            weights.append(-floor(-shrink * weights[-1]))  # up: a greater weight falls by less
        object.__setattr__(self, "weights", tuple(Fraction(weight, 1 << _BITS) for weight in weights))

    @classmethod
    def calibrate(cls, epsilon: Rationalizable, delta: Rationalizable, *, most: int, steps: int) -> Self:
        """The mechanism that is (ε, δ)-DP; arguments and errors are as in the class."""
        return cls(positive(epsilon, "epsilon"), probability(delta, "delta"), most, steps)

    @property
    def event(self) -> ApproxEvent:
        """The event that accounting counts for a release."""
        return ApproxEvent(epsilon=self.epsilon, delta=self.delta)

    @property
    def loss(self) -> ApproxDP:
        """The proved bound on what a release gives away."""
        return ApproxDP(self.epsilon, self.delta)

    def smooth(self, local: Sequence[int]) -> Fraction:
        """S, exactly: for tests and for pictures, not to be released.

        Args:
            local: A(0), A(1), …: `steps` integers; of one above `most`, as much as `most` counts.

        Raises:
            InvalidArgument: there are fewer or more.
        """
        if len(local) != self.steps:
            raise InvalidArgument("there must be as many local sensitivities as steps were declared")
        around = (*(min(int(each), self.most) for each in local), self.most)
        return max(Fraction(1), *(weight * each for weight, each in zip(self.weights, around, strict=True)))

    def scale(self, local: Sequence[int]) -> Fraction:
        """The noise's scale, 2S/ε: for tests and for pictures, not to be released.

        Args:
            local: as in `smooth`.
        """
        return 2 * self.smooth(local) / self.epsilon

    def release(self, value: int, local: Sequence[int]) -> int:
        """The integer with fresh noise.

        Args:
            value: the exact one.
            local: as in `smooth`, of the table that the value is from.

        Raises:
            InvalidArgument: there are fewer or more local sensitivities than steps.
        """
        from discreet.noise import discrete_laplace

        return value + discrete_laplace(self.scale(local))
