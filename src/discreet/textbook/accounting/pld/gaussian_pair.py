"""The Gaussian pair: N(μ, 1) against N(0, 1), which dominates Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, erfc, exp, floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.textbook.accounting.pld.laws import (
    Bins,
    Floats,
    diluted,
    undiluted,
)

_REACH = 13.0
"""A normal law is cut off beyond this many standard deviations; each side holds less than 10⁻³⁸."""

_PANEL, _NARROW = 1 / 8, 1 / 64
"""Quadrature is by panels no wider than the first; with fewer points in those no wider than the second."""

_POINTS = {_PANEL: 10, _NARROW: 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian:
    """The pair (rate·N(μ, 1) + (1 − rate)·N(0, 1), N(0, 1)): Gaussian noise on a sample, or on all at rate 1.

    At x, drawn from either, the loss is ln(1 − rate + rate·e^b) with b = μx − μ²/2, which increases in x. So bins of
    losses are intervals of x, and what `Bins` asks for are integrals of positive functions over them,

        right: rate·∫ φ(x−μ)·(1 − e^(b₀−b)) dx / (1 − e^(−step)),   left: rate·∫ φ(x)·(e^(b₁) − e^b) dx / (e^step − 1),

    with b₀ and b₁ the values of b at the ends; nothing cancels, so small masses are as precise as great ones. (Where no
    x has the loss at the lower end, e^(b₀) is less than 0: −(1 − rate − e^loss)/rate.)

    Each integral is a Gauss–Legendre sum, of n points a panel. Its error is at most 64/15·M·ρ^(−2n)/(1 − ρ^(−2)) times
    half the panel's width, where M bounds the integrand on an ellipse around the panel (Trefethen, "Approximation
    Theory and Approximation Practice", chapter 19). The integrand is analytic everywhere. Take the ellipse that is
    about 1 long; then ρ is 16 − 1/16 or more where n is 10, and 128 or more where n is 5. Within |x| ≤ 14 it exceeds
    its mean over the panel by less than e^14 for the normal density and 2⁹ for the other factor. So the error is below
    10⁻¹³ of the integral, and of panels further out the mass is below 10⁻³⁶.

    Args:
        mu: how far the pair is apart, in standard deviations; above 0.
        rate: of sampling, in (0, 1]; 1 for none.
    """

    mu: float
    rate: float = 1.0

    @property
    def sided(self) -> bool:
        """See `Law`."""
        return self.rate < 1

    @property
    def spacings(self) -> tuple[float, ...]:
        """See `Law`: there are none."""
        return ()

    @property
    def reach(self) -> float:
        """See `Law`."""
        return float(np.abs(self._losses(self._ends())).max())

    @property
    def variance(self) -> float:
        """See `Law`."""
        x = np.linspace(-_REACH, _REACH + self.mu, 2001)
        weights = (1 - self.rate) * np.exp(-(x**2) / 2) + self.rate * np.exp(-((x - self.mu) ** 2) / 2)
        weights, losses = weights / weights.sum(), self._losses(x)
        return float(weights @ (losses - weights @ losses) ** 2)

    def bins(self, step: float) -> Bins:
        """See `Law`."""
        least, most = self._losses(self._ends())
        low, high = floor(least / step), ceil(most / step) + 1
        edges = step * np.arange(low, high + 1)
        inner = edges if self.rate == 1 else undiluted(edges, self.rate)
        cuts, owners = self._panels((inner + self.mu**2 / 2) / self.mu)
        right, left = np.zeros(high - low), np.zeros(high - low)
        widths = np.diff(cuts)
        for narrow in (True, False):
            chosen = (widths > 0) & ((widths <= _NARROW) == narrow)
            parts = self._integrals(cuts[:-1][chosen], widths[chosen], owners[chosen], inner, narrow=narrow)
            right += np.bincount(owners[chosen], weights=parts[0], minlength=high - low)
            left += np.bincount(owners[chosen], weights=parts[1], minlength=high - low)
        if np.isneginf(inner[0]):
            below = min(float(inner[1] + self.mu**2 / 2) / self.mu, _REACH + self.mu)
            right[0] += (1 - self.rate - exp(edges[0])) / self.rate * erfc(-below / sqrt(2)) / 2
        return Bins(
            step=step,
            low=low,
            left=self.rate * left / np.expm1(step),
            right=self.rate * right / -np.expm1(-step),
            cut=erfc(_REACH / sqrt(2)),
        )

    def _ends(self) -> Floats:
        """Where x is cut off: neither law has more than 10⁻³⁸ beyond on either side."""
        return np.array([-_REACH, _REACH + self.mu])

    def _losses(self, x: Floats) -> Floats:
        whole = self.mu * x - self.mu**2 / 2
        return whole if self.rate == 1 else diluted(whole, self.rate)

    def _panels(self, ends: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """The ends of all panels in order, and for each panel the bin that it lies in."""
        least, most = self._ends()
        inside = np.clip(ends, least, most)
        mesh = np.linspace(least, most, ceil((most - least) / _PANEL) + 1)
        cuts = np.sort(np.concatenate((inside, mesh)), kind="stable")
        return cuts, np.clip(np.searchsorted(inside, cuts[:-1], side="right") - 1, 0, len(ends) - 2)

    def _integrals(
        self, starts: Floats, widths: Floats, owners: NDArray[np.int64], inner: Floats, *, narrow: bool
    ) -> tuple[Floats, Floats]:
        """The mass that each panel adds to its bin on either side, without the factors that all bins share."""
        right, left = np.zeros(len(starts)), np.zeros(len(starts))
        lower, upper = inner[owners], inner[owners + 1]
        for node, weight in zip(*_rule(_POINTS[_NARROW if narrow else _PANEL]), strict=True):
            x = starts + widths * node
            b = self.mu * x - self.mu**2 / 2
            with np.errstate(under="ignore"):
                right += weight * np.exp(-((x - self.mu) ** 2) / 2) * -np.expm1(np.minimum(lower - b, 0))
                left += weight * np.exp(upper - x**2 / 2) * -np.expm1(np.minimum(b - upper, 0))
        scaled = widths / sqrt(2 * pi)
        return right * scaled, left * scaled


@cache
def _rule(points: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss–Legendre rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2
