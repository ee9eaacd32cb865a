"""The same question asked twice: of a trusted collector, and of people who need to trust no one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.mechanisms import Laplace, Release
from discreet.privacy import PureDP, Sensitivity
from discreet.textbook.local.estimates import Estimate, counted
from discreet.textbook.local.hadamard import HadamardResponse
from discreet.textbook.local.local_hashing import LocalHashing
from discreet.textbook.local.means import LocalLaplace, OneBitMean, PiecewiseMean
from discreet.textbook.local.randomised_response import RandomisedResponse
from discreet.textbook.local.reports import Values, clamped, indices
from discreet.textbook.local.unary_encoding import UnaryEncoding

Counting: TypeAlias = RandomisedResponse | UnaryEncoding | LocalHashing | HadamardResponse
"""Protocols that count the holders of each value."""

Averaging: TypeAlias = OneBitMean | LocalLaplace | PiecewiseMean
"""Protocols for the mean of a number."""

_CONFIDENCE = Fraction(19, 20)
_PAIR = 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SideBySide:
    """One question's two answers: input perturbation beside output perturbation.

    Args:
        local: estimated from randomised reports.
        central: the exact answer with noise.
        loss: the proved bound on what both give away together about one person.
    """

    local: Estimate
    central: Release
    loss: PureDP

    def ratio(self, confidence: Rationalizable = _CONFIDENCE) -> float:
        """How many times wider the local ± is; where there are several values, the median of their ratios.

        Args:
            confidence: in (0, 1).
        """
        central = self.central.grid * self.central.mechanism.radius(probability(confidence, "confidence"))
        return float(np.median(self.local.radius(confidence)) / float(central))

    def __str__(self) -> str:
        return f"central {self.central}\nlocal   {self.local}\nlocal ± is {self.ratio():.3g} times as wide"

    def __repr__(self) -> str:
        return f"<SideBySide {'; '.join(str(self).splitlines())}>"


def side_by_side(protocol: Counting | Averaging, values: Values) -> SideBySide:
    """Ask the same question of the same people both ways, each time with the protocol's ε.

    Locally each report is randomised before it is sent, and the noise of n reports adds up: the ± of a count grows with
    √n. In the centre the exact answer gets noise once, and its ± is the same for any n. Neighbours are the same on
    both sides: one person's value is replaced by another.

    Guarantee: 2ε-DP for the person, towards those who see both results.

    Args:
        protocol: how people report; counts of each value, or a mean.
        values: what people hold, one value each.

    Raises:
        InvalidArgument: the protocol answers no question that the centre could, or a value isn't one of its.

    Source: Chan, Shi, Song (2012), the theorem on the lower bound of order √n locally; for the comparison any
    textbook's chapter on local differential privacy.

    Examples:
        >>> both = side_by_side(RandomisedResponse(size=2, epsilon=1), np.arange(10_000) % 2)
        >>> print(both.loss), bool(both.ratio() > 50)
        ε = 2
        (None, True)
    """
    if isinstance(protocol, Counting):
        held = indices(values, protocol.size)
        counted(len(held))
        central = _counts(protocol, held)
    elif isinstance(protocol, Averaging):
        held = clamped(values, protocol.lower, protocol.upper)
        central = _mean(protocol, held, counted(len(held)))
    else:
        raise InvalidArgument("this protocol neither counts fixed values nor takes a mean, so it can't be compared")
    reports: Any = protocol.randomise_all(held)  # each protocol's own kind
    return SideBySide(protocol.estimate(reports), central, PureDP(2 * protocol.epsilon))


def _counts(protocol: Counting, held: NDArray[np.int64]) -> Release:
    """The histogram with Laplace noise. With two values, one is counted and the other is the rest."""
    counts = np.bincount(held, minlength=protocol.size).tolist()
    if protocol.size == _PAIR:
        noise = Laplace.calibrate(Sensitivity.scalar(1), protocol.epsilon)
        ones = noise.release(counts[1:])[0]
        return _release((len(held) - ones, ones), Fraction(1), noise, protocol.epsilon)
    moved = Sensitivity(l0=2, linf=1, l1=2, l2_squared=Fraction(2))
    noise = Laplace.calibrate(moved, protocol.epsilon)
    return _release(tuple(noise.release(counts)), Fraction(1), noise, protocol.epsilon)


def _mean(protocol: Averaging, held: NDArray[np.int64], users: int) -> Release:
    """The sum with Laplace noise, over the number of people, which is public."""
    noise = Laplace.calibrate(Sensitivity.scalar(protocol.upper - protocol.lower), protocol.epsilon)
    return _release(tuple(noise.release([sum(held.tolist())])), Fraction(1, users), noise, protocol.epsilon)


def _release(steps: tuple[int, ...], grid: Fraction, noise: Laplace, epsilon: Fraction) -> Release:
    """The noisy numbers with what is known about their noise."""
    return Release(
        steps=steps,
        grid=grid,
        whole=grid == 1,
        rounded=False,
        is_vector=len(steps) > 1,
        mechanism=noise,
        loss=PureDP(epsilon),
    )
