"""Groups whose list is private, named by weights: what frequent groups don't need helps the rare ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.parameters import delta_share, short_enough
from discreet.textbook.mechanisms.group_naming import GroupNaming, Key, in_order

if TYPE_CHECKING:
    from flint import arb

_MOST_GROUPS = 1 << 8
"""The most groups of a unit: weights have denominators up to the least common multiple of all numbers up to it."""

_SURPLUS = 2
"""Noise scales above the threshold from which on weight is passed on: below, some of it would be missed."""

Number = TypeVar("Number", Fraction, Any)


@dataclass(frozen=True, slots=True)
class AdaptiveWeights(GroupNaming):
    """Names the groups whose weight, with Laplace noise, reaches a threshold; weight that isn't needed is passed on.

    A unit has a weight of 1 and gives each of its d groups 1/d. A group that comes to a weight w above a cap gives back
    the share 1 − cap/w of what each unit gave it. Each unit then spreads what it got back evenly over its d groups.

    Guarantee: (ε, δ)-DP if a unit is added or removed. Add unit v with d groups.

    1. *Weights move by 1 in all.* Before anything is passed on, weights rise by 1/d in each of v's groups, by 1 in all.
       In each, the part below the cap rises by a, and what is given back by 1/d − a. As w rises, so does 1 − cap/w:
       no unit gets back less than before. So all parts of all weights only rise, and as whatever is given back is
       spread, the sum of all rises is the sum of the (1/d − a) and the a: 1. Laplace noise of scale 1/ε on every weight
       therefore costs ε.
    2. *A group that only v has stays below the threshold.* Let v have t such groups. They are below the cap, which is
       at least 1, so they give nothing back: v gets back at most (d − t)/d. Each weighs at most (1/d)·(1 + (d − t)/d),
       which falls as d grows from t on, so at most 1/t. With independent noises, all t stay below the threshold ρ with
       probability at least 1 − δ if Pr[noise ≥ ρ − 1/t] ≤ 1 − (1 − δ)^(1/t), and ρ is enough for each t up to l0.

    Unless one of the latter passes, what is released is about groups that both neighbours have, and costs ε.

    A group below the cap never weighs less than if nothing were passed on, and the noise is the same. Noise is on real
    numbers, of which nothing but a comparison is released: each is a coin, tossed exactly.

    Args:
        epsilon: above 0. Above 2⁶ it is used as that.
        delta: in (0, 1). Above 1/2 it is used as 1/2.
        l0: how many groups a unit can be in, from 1 to 256.

    Attributes:
        threshold: ρ, which a noisy weight must reach.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Chen, Cohen-Addad, Epasto, Zadimoghaddam (2025), the algorithm MaxAdaptiveDegree, which bounds ℓ2 for
    Gaussian noise and discounts what it passes on for that; the proof above needs no discount.

    Examples:
        >>> naming = AdaptiveWeights.calibrate(epsilon=1, delta=1e-6, l0=2)
        >>> naming.release([{"common", "rare"}] + [{"common"}] * 100), print(naming.loss)
        ε = 1, δ = 1e-06
        (['common'], None)
    """

    threshold: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Find the threshold before there is any data."""
        from discreet.exact import log

        object.__setattr__(
            self, "epsilon", min(short_enough(positive(self.epsilon, "epsilon"), "epsilon"), Fraction(64))
        )
        object.__setattr__(self, "delta", short_enough(probability(self.delta, "delta"), "delta"))
        if type(self.l0) is not int or not 1 <= self.l0 <= _MOST_GROUPS:
            raise InvalidArgument(f"l0 must be a whole number from 1 to {_MOST_GROUPS}, not {self.l0!r}")
        shares = ((t, delta_share(min(self.delta, Fraction(1, 2)), t)) for t in range(1, self.l0 + 1))
        needed = (Fraction(1, t) + log(1 / (2 * share), round_up=True) / self.epsilon for t, share in shares)
        object.__setattr__(self, "threshold", max(needed))

    @property
    def cap(self) -> Fraction:
        """The weight above which it is passed on."""
        return self.threshold + _SURPLUS / self.epsilon

    def weights(self, units: Iterable[Collection[Key]]) -> dict[Key, Fraction]:
        """The weight of each group, exactly: for tests and for pictures, not to be released.

        Args:
            units: the groups of each unit, of which `l0` count, the first in order.
        """
        return _spread(self._limited(units), self.cap, Fraction)

    def release(self, units: Iterable[Collection[Key]]) -> list[Key]:
        """The names of the groups selected, in an order that says nothing of the one in which they came.

        Args:
            units: the groups of each unit, of which `l0` count, the first in order.
        """
        from discreet.exact.ball import ball
        from discreet.noise.bernoulli import bernoulli_each

        limited = self._limited(units)
        names = in_order({name for held in limited for name in held})

        def chances() -> list[arb]:
            weights = _spread(limited, self.cap, lambda part, whole: ball(Fraction(part, whole)))
            return [self._chance(weights[name]) for name in names]

        return [name for name, is_named in zip(names, bernoulli_each(chances, len(names)), strict=True) if is_named]

    def mass(self, weight: Rationalizable) -> float:
        """The probability that a group of this weight is named, for pictures, audits and tests."""
        from discreet.exact.ball import ball, enclose

        return float(enclose(lambda: self._chance(ball(positive(weight, "weight"))), bits=64)[0])

    def _chance(self, weight: arb) -> arb:
        """Pr[weight + noise ≥ threshold] as a ball, near to 1/2 also where it can't tell which of both is greater."""
        from discreet.exact.ball import ball

        above = (weight - ball(self.threshold)) * ball(self.epsilon)
        return (1 - above.sgn() * (-abs(above)).expm1()) / 2

    def _limited(self, units: Iterable[Collection[Key]]) -> list[list[Key]]:
        """The groups of each unit that count."""
        return [in_order(set(names))[: self.l0] for names in units if names]


def _spread(units: Sequence[Sequence[Key]], cap: Fraction, ratio: Callable[[int, int], Number]) -> dict[Key, Number]:
    """The weight of each group, after what is above the cap was passed on.

    Args:
        units: the groups of each, at least one.
        cap: at least 1.
        ratio: makes a number of two integers.
    """
    one = lcm(*{len(names) for names in units}, cap.denominator)
    given: dict[Key, int] = {}
    for names in units:
        for name in names:
            given[name] = given.get(name, 0) + one // len(names)
    most = int(cap * one)
    kept = {name: ratio(min(weight, most), one) for name, weight in given.items()}
    back = {name: ratio(weight - most, weight) for name, weight in given.items() if weight > most}
    for names in units:
        returned = [back[name] for name in names if name in back]
        if returned:
            share = sum(returned[1:], returned[0]) * ratio(1, len(names) ** 2)
            for name in names:
                kept[name] += share
    return kept
