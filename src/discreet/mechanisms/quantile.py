"""Quantiles: choices from histograms by the exponential mechanism.

A quantile is a value of a public grid whose rank is near the one asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, rational
from discreet.mechanisms.exponential import Exponential, Selects, epsilon_for
from discreet.mechanisms.histogram import Contribution, Runs, checked_size
from discreet.mechanisms.parameters import short_enough

_SURE = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Selects):
    """Chooses a bin of each group's histogram, by how near the ranks of its rows are to the quantile's.

    Guarantee: what `selection` states, for the choices of all groups together.

    Let L and H be the sums of the counts strictly below bin b, and at or below it, and N the sum of all. Bin b covers
    the ranks from L to H (an empty one the point L = H), so that all bins together cover [0, N]. Its score is −d, with
    d(b) = max(0, L − τ, τ − H), the distance from b's ranks to the target τ = q·N. Some bin always has d = 0.

    *The ends.* At q = 0 the bins below the least value have d = 0 as well as the bin that holds it, since no rows lie
    between them; so one of them, at random, would be the answer. There the target is moved inwards by a public number
    of steps, `inset`: τ = min(inset, N/2), and N less that at q = 1. MIN and MAX are quantiles near the ends.

    *Sensitivity.* Add a unit that weighs A below b, A′ at or below it, and a in all, so 0 ≤ A ≤ A′ ≤ a. Then τ moves by
    θa, with θ = q inside, θ in [0, 1/2] at q = 0 and in [1/2, 1] at q = 1. So L − τ moves by A − θa, in [−θa, (1−θ)a],
    and τ − H by θa − A′, in [−(1−θ)a, θa]; hence d by at most max(θ, 1−θ)·a. Two bins spread by at most twice that:
    2·max(q, 1−q)·a, which is reached by a unit whose rows are all at one end. Now substitute a unit of weight a for one
    of weight r, both at most m. The number of rows moves by a − r, so τ by θ(a − r), and the same sums give L − τ a
    move from −θa − (1−θ)r to (1−θ)a + θr, within [−m, m], and τ − H likewise: two bins spread by at most 2m.

    *Many groups.* Both are linear in what a unit weighs in the group, so the spreads of all groups add up as
    `Contribution` says. At q = 1/2 the spread is what the unit weighs: a median costs no more than a count.

    Args:
        fraction: q, from 0 to 1.
        size: how many bins the grid has, 1 to 2²⁰.
        contribution: of one unit, in steps of the counts.
        epsilon: what the choices of all groups cost together; above 0.

    Attributes:
        selection: how a bin is chosen; its scores are in steps of the counts.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Smith (2011), Algorithm 2; what it costs with ties, units of many rows and many groups has the proof above.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> median = Quantile.calibrate("0.5", 100, alone, epsilon=1)
        >>> median.choose({17: 1000, 42: 1000, 99: 500})
        42
    """

    fraction: Fraction
    size: int
    contribution: Contribution
    epsilon: Fraction
    selection: Exponential = field(init=False)

    def __post_init__(self) -> None:
        """Find the rate before there is any data."""
        checked_size(self.size)
        object.__setattr__(self, "fraction", checked_fraction(self.fraction))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        spread, total = spreads_of_ranks(self.fraction, self.contribution)
        object.__setattr__(self, "selection", Exponential(self.epsilon / total, spread, total))

    @classmethod
    def calibrate(
        cls, fraction: Rationalizable, size: int, contribution: Contribution, epsilon: Rationalizable
    ) -> Self:
        """The mechanism that is ε-DP, over all groups together.

        Args:
            fraction: q, from 0 to 1.
            size: how many bins the grid has, 1 to 2²⁰.
            contribution: of one unit, in steps of the counts.
            epsilon: above 0.

        Raises:
            InvalidArgument: a number is out of range.
        """
        exact = positive(epsilon, "epsilon")
        return cls(fraction=rational(fraction, "fraction"), size=size, contribution=contribution, epsilon=exact)

    @classmethod
    def for_rho(cls, fraction: Rationalizable, size: int, contribution: Contribution, rho: Rationalizable) -> Self:
        """The mechanism that is ρ-zCDP, over all groups together; the arguments are as in `calibrate`.

        Raises:
            InvalidArgument: a number is out of range.
        """
        spread, total = spreads_of_ranks(checked_fraction(fraction), contribution)
        return cls.calibrate(fraction, size, contribution, epsilon_for(positive(rho, "rho"), spread / total))

    @property
    def inset(self) -> int:
        """By how many steps the target is inside of the end it was asked for; 0 unless q is 0 or 1.

        So many that of a group with at least twice as many rows, the bins beyond the end are chosen, all together, with
        probability at most 1/20. Of a smaller one the target is its middle, and they are chosen more often.
        """
        return 0 if 0 < self.fraction < 1 else floor(self.selection.radius(_SURE, self.size)) + 1

    def choose(self, bins: Mapping[int, int]) -> int:
        """The number of the bin chosen for one group.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        from discreet.noise import categorical, uniform

        runs = Runs.of(bins, self.size)
        scale = 2 if self.inset else self.fraction.denominator
        scores = -runs.distances(scale, int(scale * self._target(runs.total)))
        place = categorical(scores, self.selection.rate / scale, weights=runs.lengths)
        return int(runs.firsts[place]) + uniform(int(runs.lengths[place]))

    def rank_radius(self, confidence: Rationalizable) -> Fraction:
        """How far q·N lies from the ranks that the chosen bin covers, at most, with this confidence; for one group.

        Args:
            confidence: in (0, 1); over the draw, whatever the data.

        Returns:
            In steps of the counts, rounded up.
        """
        return self.selection.radius(confidence, self.size) + self.inset

    def _target(self, total: int) -> Fraction:
        """τ, the rank that is looked for among this many; a whole multiple of 1/2 or of one over q's denominator."""
        if not self.inset:
            return self.fraction * total
        inside = min(Fraction(self.inset), Fraction(total, 2))
        return total - inside if self.fraction else inside


def checked_fraction(fraction: Rationalizable) -> Fraction:
    """The fraction, exactly."""
    number = short_enough(rational(fraction, "fraction"), "fraction")
    if not 0 <= number <= 1:
        raise InvalidArgument(f"fraction must be from 0 to 1, not {fraction}", hint="0.5 is the median")
    return number


def spreads_of_ranks(fraction: Fraction, contribution: Contribution) -> tuple[Fraction, Fraction]:
    """How far the scores of two bins can move against each other: in one group, and in all."""
    return contribution.spreads(added=2 * max(fraction, 1 - fraction), replaced=Fraction(2))
