"""The noise of ranks that are read from counts of ranges, and the mechanism whose intervals hold by it.

S at an edge is put together of noises with factors, see `mechanisms.NoisyRanks`: those of the first level have factors
of q or 1 − q, and at each further level branching·w noises have one of 1 − w and the others one of w. Taken for
largest, that is max(q, 1 − q) for all of the first level, and w = 1/2.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2, sqrt
from statistics import NormalDist

from discreet.mechanisms import Contribution, Gaussian, Laplace, NoisyRanks
from discreet.mechanisms.noisy_ranks import sensitivity_of, shape_of
from discreet.mechanisms.parameters import LEAST
from discreet.query.estimates.discrete_sums import dominating_scale
from discreet.query.estimates.many_laplaces import repeated_radius


def noisy_ranks(  # noqa: PLR0913 — what is read, what it costs, and what intervals promise
    fractions: tuple[Fraction, ...],
    size: int,
    contribution: Contribution,
    amount: Fraction,
    *,
    is_gaussian: bool,
    confidence: Fraction,
    row: int,
) -> NoisyRanks:
    """The mechanism with this cost: ρ if its noise is Gaussian, else ε.

    Args:
        fractions: of the quantiles.
        size: how many bins there are.
        contribution: of one unit, in steps of the counts.
        amount: above 0.
        is_gaussian: which noise it has.
        confidence: of each interval; in (0, 1).
        row: how many steps one row counts.
    """
    moved = sensitivity_of(size, contribution, is_gaussian=is_gaussian)
    noise: Laplace | Gaussian
    if is_gaussian:
        noise = Gaussian.for_rho(moved, min(amount, moved.l2_squared / (2 * LEAST**2)))
    else:
        noise = Laplace.calibrate(moved, min(amount, moved.l1 / LEAST))
    depth, _ = shape_of(size, is_gaussian=is_gaussian)
    outside = float(1 - confidence) / depth
    return NoisyRanks(
        fractions=fractions,
        size=size,
        contribution=contribution,
        noise=noise,
        margins=tuple(row * float(_most(each)) + _radius(noise, size, each, outside) for each in fractions),
        confidence=confidence,
    )


def rank_reach(ranks: NoisyRanks, fraction: Fraction, confidence: Fraction) -> float:
    """How far q·N lies from the ranks that the bin of one quantile covers, at most, with this confidence, in steps.

    Let e be the first edge with an exact S of R or more. The bin lies beyond it only if some edge from e on was taken
    for one with S of 0 or less. Until that happens, edges from e on are looked at only where the part that is kept
    holds e: on one way down, which depends on the data alone, with depth·⌈log₂ branching⌉ edges. Likewise on the other
    side. So each of these may err by R with its part of the doubt.

    Args:
        ranks: the mechanism.
        fraction: q.
        confidence: in (0, 1); over the noise, whatever the data.
    """
    looked_at = ranks.depth * ceil(log2(ranks.branching))
    return _radius(ranks.noise, ranks.size, fraction, float(1 - confidence) / looked_at)


def _radius(noise: Laplace | Gaussian, size: int, fraction: Fraction, outside: float) -> float:
    """How far the noise of S carries it but for this part of the draws, both sides together."""
    depth, branching = shape_of(size, is_gaussian=isinstance(noise, Gaussian))
    most, others = float(_most(fraction)), (depth - 1) * branching
    if isinstance(noise, Gaussian):
        deviation = float(noise.sigma) * sqrt(branching * most**2 + others / 4)
        return NormalDist().inv_cdf(1 - outside / 2) * deviation
    scale = dominating_scale(noise.scale)
    return repeated_radius((most * scale, scale / 2), (branching, others), outside)


def _most(fraction: Fraction) -> Fraction:
    return max(fraction, 1 - fraction)
