"""Groups whose list is private, named by how many units they have: as many as is possible, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import delta_share, short_enough
from discreet.textbook.mechanisms.group_naming import GroupNaming, Key, in_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.noise.finite import Finite


_BITS = 189
"""Probabilities are multiples of 2⁻¹⁸⁹: three words of randomness."""

_MOST_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class TruncatedGeometric(GroupNaming):
    """Names a group of n units with a probability π(n), 0 for n = 0; the greatest that (ε, δ)-DP allows for l0 = 1.

    Guarantee: (ε, δ)-DP for the list of all names together. With one group per unit, the announcement of a name is
    (ε, δ)-DP iff for all n both the name and its absence obey the inequality, in both directions. For a π that rises,
    two of the four can bind:

        π(n+1) ≤ e^ε·π(n) + δ   and   π(n+1) ≤ 1 − e^(−ε)·(1 − π(n) − δ).

    Here π(n+1) is the least of both and 1, rounded down to a multiple of 2⁻¹⁸⁹; so both hold exactly. As both bounds
    rise with π(n), no other π that is (ε, δ)-DP is greater anywhere (but for the rounding). Where neighbours' counts
    differ in l0 groups, each by 1, every group gets ε/l0 and a δ′ with 1 − (1−δ′)^l0 ≤ δ, and choices in different
    groups are independent; so they compose to (ε, δ). By other theorems of composition a greater π may hold then.

    The name is that of the noise which does the same: a group is named iff its count reaches a random number K with
    Pr[K ≤ n] = π(n). Below the middle of its range K is geometric and growing, above it geometric and falling.

    Args:
        epsilon: above 0. Above 2⁶ for one group it is used as that.
        delta: in (0, 1).
        l0: in how many groups the count of units can differ between neighbours, by 1 in each; 1 or more. If a unit can
            be in k groups that is k when it is added or removed, and 2k when it is substituted for another.

    Raises:
        InvalidArgument: a number is out of range, or so small that a million units in a group wouldn't be enough.

    Source: Desfontaines, Voss, Gipson, Mandayam (2022), "Differentially private partition selection", whose main
    theorem proves the recursion optimal. Kairouz, Oh, Viswanath (2015), Theorem 3.3 with i = 0, for l0 groups.

    Examples:
        >>> naming = TruncatedGeometric.calibrate(epsilon=1, delta=1e-6)
        >>> naming.radius(0.5), naming.mass(30), naming.release({"common": 100, "void": 0}), print(naming.loss)
        ε = 1, δ = 1e-06
        (14, 1.0, ['common'], None)
    """

    def __post_init__(self) -> None:
        """Check before there is any data."""
        object.__setattr__(self, "epsilon", short_enough(positive(self.epsilon, "epsilon"), "epsilon"))
        object.__setattr__(self, "delta", short_enough(probability(self.delta, "delta"), "delta"))
        if type(self.l0) is not int or self.l0 < 1:
            raise InvalidArgument(f"l0 must be a whole number of at least 1, not {self.l0!r}")
        _law_of(self.epsilon / self.l0, delta_share(self.delta, self.l0))  # refused now, or never

    def release(self, counts: Mapping[Key, int]) -> list[Key]:
        """The names of the groups selected, in an order that says nothing of the one in which they came.

        Args:
            counts: how many units each group holds; groups that aren't listed hold none.
        """
        import numpy as np

        names = in_order(counts)
        selected = self.choose_all(np.array([min(max(counts[name], 0), _MOST_STEPS) for name in names], dtype=np.int64))
        return [name for name, kept in zip(names, selected.tolist(), strict=True) if kept]

    def choose_all(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Which groups are selected.

        Args:
            counts: how many units each group holds, an integer array.
        """
        import numpy as np

        from discreet.noise.sampling import fill

        needed = fill(counts.shape, np.int64, self._law.draw)
        selected: NDArray[np.bool_] = counts >= needed
        return selected

    def chance(self, count: int) -> Fraction:
        """π(count), exactly.

        Args:
            count: how many units a group holds.
        """
        ends = self._law.ends
        return Fraction(ends[min(max(count, 0), len(ends) - 1)], 1 << _BITS)

    def mass(self, count: int) -> float:
        """π(count) as a float, for pictures, audits and tests."""
        return float(self.chance(count))

    def radius(self, confidence: Rationalizable) -> int:
        """The least count of units with which a group is named with at least this confidence.

        Args:
            confidence: in (0, 1).
        """
        from bisect import bisect_left

        sure = probability(confidence, "confidence") * (1 << _BITS)
        return bisect_left(self._law.ends, sure)

    @property
    def _law(self) -> Finite:
        """The law of K."""
        return _law_of(self.epsilon / self.l0, delta_share(self.delta, self.l0))


@lru_cache(maxsize=64)
def _law_of(epsilon: Fraction, delta: Fraction) -> Finite:
    """π(0), π(1), … until it is 1, in units of 2⁻ᵇ, each rounded down.

    e^ε is rounded down and e^(−ε) up, which both makes π less.

    Raises:
        InvalidArgument: there are too many steps.
    """
    from discreet.exact.rounding import exp
    from discreet.noise.finite import finite_law

    one = 1 << _BITS
    per_unit = min(epsilon, Fraction(64))
    growth = int(exp(per_unit, round_up=False, bits=_BITS) * one)
    decay = -int(-exp(-per_unit, round_up=True, bits=_BITS) * one // 1)
    slack = int(delta * one)
    ends = [0]
    while ends[-1] < one:
        last = ends[-1]
        rising = (growth * last >> _BITS) + slack
        falling = one + (-decay * max(one - last - slack, 0) >> _BITS)  # shifting rounds down
        ends.append(min(rising, falling, one))
        if ends[-1] == last or len(ends) > _MOST_STEPS:
            raise InvalidArgument("with this epsilon and delta no group would be named", hint="allow fewer groups each")
    return finite_law(ends, _BITS)
