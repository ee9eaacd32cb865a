"""Selected groups: intervals of what is shown because noisy numbers turned out as they did.

A group whose key is private is shown only if its noisy number of units reaches a threshold; HAVING shows groups whose
noisy numbers meet a condition. Of a group that is shown, noise in that number is therefore larger, or smaller, than
noise is in general: if 10 units reach a threshold of 15, it is at least 5. An interval that holds for 95 % of draws
may hold for no draw that shows the group. Those here hold for at least the stated share of the draws that show it.

*A number in a window.* Let m be the exact number, Y the noisy one, shown if a ≤ Y ≤ b, and S(k) = Pr[noise ≥ k]. Where
the group is shown, Pr[Y ≥ y] is (S(y − m) − S(b + 1 − m))/(S(a − m) − S(b + 1 − m)). It increases in m, since the noise
is log-concave; so the m for which it is at least α hold the exact one but for a share of α (`lower`; `upper` is its
mirror image). Without b, being shown makes no Y too small, so usual upper ends are right; without a, lower ones.

*Any other statistic in which such numbers are used.* Let the group be shown with the probability s. What fails with a
probability of at most α·s over all draws fails for at most α of those that show the group. As intervals grow with their
confidence, that of the usual kind for 1 − 49/50·α·s is wide enough, if s is at least what it is taken for but for
α/50 of the draws that show the group (`chance`).

*s for one number* is what it is for the least and greatest m by the above, of which s is a function that first grows
and then falls.

*s for combinations of numbers.* Let W₁, W₂, … be noisy combinations, w the exact ones, and the group be shown if each
reaches an end c. If w is what it is, W − w is at least as large as it was seen, d, with a probability of at most
Pr[noise ≥ d]/s over the draws that show the group. So but for a share of α, Pr[noise ≥ d] is at least α·s/K for all K
of them, and w at least a limit that falls with s; and s is at least 1 − Σ Pr[W < c], which grows with these limits.
From any lower bound on s, this makes another one, until it grows no more.

*What noise hardly ever shows.* Laplace noise has no memory: from 3 noise scales above a threshold nobody can tell how
far below it the exact number is. So what is shown with a probability of less than `RAREST` isn't reckoned with: if 10
units reach 300 in one draw of ten thousand million, that one draw misleads. What a threshold selects by δ has no such
exception, as an exact number of units is at least 1. Where nothing better is known of s, it is taken for `RAREST`.

What uses none of these numbers has noise that selection knows nothing of.

Sources: Fithian, Sun, Taylor (2014), "Optimal inference after model selection", for errors among the draws that select;
Lee, Sun, Sun, Taylor (2016), Section 5, for intervals given what was selected, by the truncated law.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, expm1, inf, log, prod
from typing import Protocol, Self

from discreet.mechanisms import Threshold
from discreet.query.estimates.discrete_tails import log_rest, log_tail
from discreet.query.estimates.intervals import SMALLEST, Joint
from discreet.query.estimates.noise import Noise

RAREST = 1e-9
"""Groups that HAVING shows less often than in this share of all draws may have intervals that don't hold."""

_FOR_CHANCE = 1 / 50
"""The part of the error that is spent on how probable it is that a group is shown."""

_ROUNDS = 30
"""Each gives a sound bound; the last ones hardly change it."""


class Condition(Protocol):
    """A condition that noisy numbers of a group met, so that the group was shown."""

    @property
    def numbers(self) -> frozenset[str]:
        """The numbers that it rests on, by name."""
        ...

    @property
    def rarest(self) -> float:
        """How improbable it may be; what is rarer isn't reckoned with."""
        ...

    def chance(self, outside: float) -> float:
        """The least probability that noise meets it, but for this share of the draws that show the group."""
        ...

    def renamed(self, names: Mapping[str, str]) -> Condition:
        """The same with other names for numbers: all of them have one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The condition that one noisy number lies between two ends.

    Args:
        number: its name.
        noise: its law.
        seen: the noisy number, in steps.
        least: the least that it can be if the group is shown; None if there is no least.
        most: the most that it can be; None if there is no most.
        exact_least: the least that the exact number can be, as everyone knows; None if nothing says so.
        rarest: see `RAREST`.
    """

    number: str
    noise: Noise
    seen: int
    least: int | None = None
    most: int | None = None
    exact_least: int | None = None
    rarest: float = RAREST

    @classmethod
    def reaching(cls, threshold: Threshold, number: str, noise: Noise, seen: int) -> Self:
        """The window of a number of units that reached a threshold; a group without units isn't tried, so it is ≥ 1."""
        return cls(number=number, noise=noise, seen=seen, least=threshold.value, exact_least=1, rarest=0.0)

    @property
    def numbers(self) -> frozenset[str]:
        """The number."""
        return frozenset({self.number})

    def lower(self, outside: float) -> int | None:
        """The least exact number for which so large a one would be seen in at least this share of draws.

        The search takes the share to be larger than it is where it isn't computed exactly, so the limit is too low
        rather than too high.

        Args:
            outside: the share, over the draws that show the group; in (0, 1).

        Returns:
            The limit in steps; None if the usual one is right.

        Examples:
            >>> from fractions import Fraction
            >>> from discreet.mechanisms import Laplace
            >>> from discreet.privacy import Sensitivity
            >>> from discreet.query import ir
            >>> law = Noise(measure=ir.Units(name="u"), mechanism=Laplace.calibrate(Sensitivity.scalar(1), epsilon=1))
            >>> by_a_millionth = Threshold(law.mechanism, l0=1, linf=1, delta=Fraction(1, 10**6))
            >>> [Window.reaching(by_a_millionth, "u", law, seen).lower(0.025) for seen in (17, 40)]
            [1, 37]
        """
        if self.least is None:
            return None
        low = max(each for each in (self.exact_least, self._nearest(self.least)) if each is not None)
        high = max(self.seen, low)
        while low < high:
            middle = (low + high) // 2
            if self._share(middle) >= outside:
                high = middle
            else:
                low = middle + 1
        return high

    def upper(self, outside: float) -> int | None:
        """The greatest exact number, likewise."""
        found = self._mirrored.lower(outside)
        return None if found is None else -found

    def chance(self, outside: float) -> float:
        """The least probability that noise meets it, but for this share of the draws that show the group."""
        sides = [each for each in (self.lower(outside / 2), self.upper(outside / 2)) if each is not None]
        return max(min((self._shown(exact) for exact in sides), default=1.0), self.rarest)

    def renamed(self, names: Mapping[str, str]) -> Window:
        """The same with another name for the number."""
        return replace(self, number=names[self.number])

    def within(self, other: Window) -> Window:
        """The window of numbers that lie in another one as well."""
        leasts = [(each.least, -each.rarest) for each in (self, other) if each.least is not None]
        mosts = [each.most for each in (self, other) if each.most is not None]
        known = [each.exact_least for each in (self, other) if each.exact_least is not None]
        least, rarest = max(leasts, default=(None, -RAREST))
        return replace(
            self,
            least=least,
            most=min(mosts, default=None),
            exact_least=max(known, default=None),
            rarest=RAREST if mosts else -rarest,
        )

    @property
    def sides(self) -> tuple[HalfSpace, ...]:
        """The same as conditions on the number, or on what is left of 0 if it is taken off."""
        ends = ((1, self.least), (-1, self.most))
        return tuple(self._side(sign, end) for sign, end in ends if end is not None)

    def _side(self, sign: int, end: int) -> HalfSpace:
        """One of them."""
        step = sign * float(self.noise.step)
        return HalfSpace(
            names=(self.number,),
            noises=(self.noise,),
            factors=(float(sign),),
            seen=step * self.seen,
            least=step * end,
        )

    @property
    def _mirrored(self) -> Window:
        """The same of the number times −1: its noise has the same law."""
        least, most = (None if end is None else -end for end in (self.most, self.least))
        return replace(self, seen=-self.seen, least=least, most=most, exact_least=None)

    def _nearest(self, end: int) -> int | None:
        """The exact number from which an end is reached in one of so many draws as is reckoned with, or a lower one."""
        return None if not self.rarest else end - int(self.noise.radius(1 - 2 * self.rarest) / self.noise.step)

    def _share(self, exact: int) -> float:
        """The share of draws with as much as was seen, or more, among those that show a group of this exact number."""
        if self.least is None:
            raise AssertionError("only asked of what has a least end")
        seen, shown = (_log_tail(self.noise, end - exact) for end in (self.seen, self.least))
        if self.most is None:
            return exp(min(seen[1] - shown[0], 0.0))
        beyond = _log_tail(self.noise, self.most + 1 - exact)
        whole = _difference(shown[0], beyond[1])
        return min(_difference(seen[1], beyond[0]) / whole, 1.0) if whole > 0 else 1.0

    def _shown(self, exact: int) -> float:
        """The probability that a group of this exact number is shown, or less."""
        from_least = 0.0 if self.least is None else _log_tail(self.noise, self.least - exact)[0]
        if self.most is None:
            return exp(from_least)
        return max(_difference(from_least, _log_tail(self.noise, self.most + 1 - exact)[1]), 0.0)


def _difference(one: float, other: float) -> float:
    """e^one − e^other, without losing digits where both are near."""
    return exp(one) * -expm1(other - one) if other <= one else -exp(other) * -expm1(one - other)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfSpace:
    """The condition that a combination of noisy numbers reaches an end, or lies just at it.

    Args:
        names: of the numbers.
        noises: their laws.
        factors: of each, in units of its measure's values.
        seen: the noisy combination.
        least: the end; where it is reached, the group is shown.
    """

    names: tuple[str, ...]
    noises: tuple[Noise, ...]
    factors: tuple[float, ...]
    seen: float
    least: float

    def limit(self, outside: float) -> float:
        """The least that the exact combination is, except in this share of all draws."""
        if 2 * outside < SMALLEST:
            return -inf
        return self.seen - Joint.of(self.noises).radius(self.factors, 1 - 2 * outside)

    def chance(self, exact: float) -> float:
        """The probability that noise brings an exact combination to the end, or less.

        To reach far, it is enough that one noise does, and the others don't work against it.
        """
        distance, others = self.least - exact, len(self.names) - 1
        if distance == inf:
            return 0.0
        if distance <= 0:
            return 1 - Joint.of(self.noises).beyond(self.factors, -distance) / 2
        steps = [
            ceil(distance / (abs(factor) * float(noise.step)))
            for factor, noise in zip(self.factors, self.noises, strict=True)
        ]
        reached = [_log_tail(noise, step)[0] for noise, step in zip(self.noises, steps, strict=True)]
        return float(exp(max(reached)) / 2**others)


@dataclass(frozen=True, slots=True)
class Together:
    """The condition that several combinations of the same numbers each reach an end.

    Args:
        parts: these.
    """

    parts: tuple[HalfSpace, ...]

    @property
    def numbers(self) -> frozenset[str]:
        """All of them."""
        return frozenset(name for part in self.parts for name in part.names)

    @property
    def rarest(self) -> float:
        """See `RAREST`."""
        return RAREST

    def chance(self, outside: float) -> float:
        """The least probability that noise meets all, but for this share of the draws that show the group."""
        found = RAREST
        for _ in range(_ROUNDS):
            each = outside * found / len(self.parts)
            missed = sum(1 - part.chance(part.limit(each)) for part in self.parts)
            better = 1 - missed if len(self.parts) > 1 else self.parts[0].chance(self.parts[0].limit(each))
            if better <= found * (1 + 1e-6):
                break
            found = better
        return found

    def renamed(self, names: Mapping[str, str]) -> Together:
        """The same with other names for numbers."""
        return Together(tuple(replace(each, names=tuple(names[name] for name in each.names)) for each in self.parts))


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition that some numbers met, of which nothing more is known.

    Args:
        numbers: that it rests on.
    """

    numbers: frozenset[str]

    @property
    def rarest(self) -> float:
        """See `RAREST`."""
        return RAREST

    def chance(self, outside: float) -> float:  # noqa: ARG002 — whatever the error
        """The chance from which on anything is reckoned with."""
        return RAREST

    def renamed(self, names: Mapping[str, str]) -> Unknown:
        """The same with other names for numbers."""
        return Unknown(frozenset(names[number] for number in self.numbers))


@dataclass(frozen=True, slots=True)
class Apart:
    """Conditions on numbers of other groups, of which this group's numbers are sums.

    Args:
        numbers: these sums.
        parts: conditions that have nothing to do with each other.
    """

    numbers: frozenset[str]
    parts: tuple[Condition, ...]

    @property
    def rarest(self) -> float:
        """See `RAREST`."""
        return RAREST

    def chance(self, outside: float) -> float:
        """The least probability that noise meets all, but for this share of the draws that show the group."""
        return max(_all_of(self.parts, outside), RAREST)

    def renamed(self, names: Mapping[str, str]) -> Apart:
        """The same with other names for these sums."""
        return replace(self, numbers=frozenset(names[number] for number in self.numbers))


def joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The same, so that no two rest on one number."""
    found: list[list[Condition]] = []
    for one in conditions:
        near = [group for group in found if any(one.numbers & each.numbers for each in group)]
        found = [group for group in found if group not in near]
        found.append([*(each for group in near for each in group), one])
    return tuple(_joined(group) for group in found)


def _joined(conditions: Sequence[Condition]) -> Condition:
    """Several that share numbers as one."""
    if len(conditions) == 1:
        return conditions[0]
    windows = [each for each in conditions if isinstance(each, Window)]
    if len(windows) == len(conditions) and len({each.number for each in windows}) == 1:
        whole = windows[0]
        for each in windows[1:]:
            whole = whole.within(each)
        return whole
    spaces = [part for each in conditions if isinstance(each, Together) for part in each.parts]
    if all(isinstance(each, Window | Together) for each in conditions):
        return Together((*spaces, *(side for each in windows for side in each.sides)))
    return Unknown(frozenset[str]().union(*(each.numbers for each in conditions)))


def confidence_if_shown(conditions: Sequence[Condition], confidence: float) -> float | None:
    """Over all draws, the confidence of an interval that has the stated one over those that show a group.

    Args:
        conditions: that the group met, of which no two rest on one number.
        confidence: over the draws that show the group; in (0, 1).

    Returns:
        The confidence to use; None if none that can be had is enough.
    """
    outside = 1 - confidence
    used = outside * (1 - _FOR_CHANCE) * _all_of(conditions, outside * _FOR_CHANCE)
    return None if used < SMALLEST else 1 - used


def _all_of(conditions: Sequence[Condition], outside: float) -> float:
    """The least probability that noise meets all of independent conditions."""
    chances = [(each.chance(outside / len(conditions)), each.rarest) for each in conditions]
    by_threshold = prod(chance for chance, rarest in chances if not rarest)
    return by_threshold * max(prod(chance for chance, rarest in chances if rarest), RAREST)


def _log_tail(noise: Noise, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least], in steps."""
    if noise.number == 1:
        return log_tail(noise.mechanism, least)
    if least < 1:
        below, above = _log_tail(noise, 1 - least)
        return log_rest(above), log_rest(below)
    beyond = Joint.of([noise]).beyond([1.0], least * float(noise.step))
    return log_tail(noise.mechanism, least)[0] + log(0.5), log(max(beyond / 2, 1e-300))
