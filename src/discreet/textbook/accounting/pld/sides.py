"""δ(ε) of pairs, for neighbours in one order: from above or from below, by FFT or in closed form.

A bound on δ(ε) is solved for ε so that the answer errs to the same side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, inf, log, sqrt
from typing import ClassVar, Protocol

from discreet.exact.ball import ball, precision
from discreet.textbook.accounting.pld.convolution import Composition, Tilted
from discreet.textbook.accounting.pld.gaussian_pair import Gaussian
from discreet.textbook.accounting.pld.laws import Bins, Law
from discreet.textbook.accounting.pld.pairs import Pairs


def crossing(bound: Callable[[float], float], delta: float, guess: float, *, round_up: bool) -> float | None:
    """Where a falling bound on δ(ε) reaches δ: just above that, or just below.

    Bracketed from a guess, then narrowed by regula falsi on ln δ and, every third time, by halves. The result has been
    tried: the bound there is at most δ if rounding up, and above δ if rounding down.
    """

    def excess(epsilon: float) -> float:
        value = bound(epsilon)
        return log(value) - log(delta) if value > 0 else -inf

    low, over, high, under = _bracket(excess, max(guess, 1e-300))
    if over <= 0 or under > 0:
        return 0.0 if over <= 0 else None
    for turn in range(100):
        if high - low <= 1e-10 * high:
            break
        halve = turn % 3 == 0 or under == -inf
        middle = (low + high) / 2 if halve else (low * under - high * over) / (under - over)
        middle = min(max(middle, low + (high - low) / 1000), high - (high - low) / 1000)
        value = excess(middle)
        if value > 0:
            low, over = middle, value
        else:
            high, under = middle, value
    return high if round_up else low


def _bracket(excess: Callable[[float], float], guess: float) -> tuple[float, float, float, float]:
    """Two ε around the crossing, each with its excess: first steps down from the guess, or doublings up from it.

    Down in small steps, because far from the guess a lower bound may be of no use; 0 if it isn't found above.
    """
    low = high = guess
    over = under = excess(guess)
    for _ in range(60):
        if under <= 0:
            break
        low, over, high = high, under, 2 * high
        under = excess(high)
    for _ in range(60):
        if over > 0:
            return low, over, high, under
        high, under, low = low, over, low * 15 / 16
        over = excess(low)
    return 0.0, excess(0.0), high, under


_PRECISE = 2e-5
"""About what the grid may add to ε, relatively."""

_FINER = 8
"""How much finer the grid is for lower bounds."""

_MOST_POINTS = 2**21
"""A window has at most about this many points, whatever the precision would ask for."""

_ROUNDED = 1 + 2.0**-40
"""More than float arithmetic on results can be off by, relatively."""

_LOSS = 2.0**-44
"""More than floats can be off by when a loss is computed and put on grids, relative to the greatest."""

_MOST_BINS = 2**21
"""All laws together have at most about this many points."""

_FAR = 64.0
"""Further out than this a normal law has less than that: e^(−2048)."""

_LEAST = 5e-324
"""The least δ that is stated, but for 0: what is smaller isn't seen by floats."""


class Side(Protocol):
    """A bound on δ(ε), and the ε at which it reaches a δ, both on the same side of the truth."""

    def delta(self, epsilon: float) -> float:
        """The bound on δ, for ε ≥ 0."""

    def epsilon(self, delta: float) -> float | None:
        """The bound on ε, for δ in (0, 1); None if no ε is large enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """A single Gaussian pair: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).

    Source: Balle, Wang (2018), Theorem 8.
    """

    mu: float
    round_up: bool

    def delta(self, epsilon: float) -> float:
        """See `Side`."""
        if epsilon / self.mu - self.mu / 2 > _FAR:
            return _LEAST if self.round_up else 0.0
        with precision(160):
            x, mu, root = ball(Fraction(epsilon)), ball(Fraction(self.mu)), ball(2).sqrt()
            near, far = (x / mu - mu / 2) / root, (x / mu + mu / 2) / root
            bound = (near.erfc() - x.exp() * far.erfc()) / 2
            value = float(bound.upper() if self.round_up else bound.lower())
        return min(value * _ROUNDED + _LEAST, 1.0) if self.round_up else max(value / _ROUNDED, 0.0)

    def epsilon(self, delta: float) -> float | None:
        """See `Side`."""
        guess = self.mu**2 / 2 + self.mu * sqrt(2 * log(1 / delta))
        return crossing(self.delta, delta, guess, round_up=self.round_up)


@dataclass(slots=True, kw_only=True)
class _ByTransform:
    """The part that both bounds by FFT share: transforms, each made once, under tilts that suit what is asked.

    Args:
        composition: of the laws on the grid.
        slack: a bound on the error of all their losses together that comes from floats.
        most: the greatest finite loss, before any grid.
    """

    composition: Composition
    slack: float = 0.0
    most: float = inf
    _tilted: dict[float, Tilted] = field(default_factory=dict)
    _round_up: ClassVar[bool]

    def delta(self, epsilon: float) -> float:
        """See `Side`."""
        return self._bound(epsilon, self._at(self.composition.tilt_for(epsilon=epsilon)))

    def epsilon(self, delta: float) -> float | None:
        """See `Side`. A single tilt serves the whole search: far from the answer its bounds are loose, but bounds."""
        if delta <= self._floor:
            return None
        surprise = -log(delta - self._floor)
        tilted = self._at(self.composition.tilt_for(surprise=surprise))
        guess = (tilted.exponent + surprise) / tilted.theta if tilted.theta else self.composition.most
        return crossing(lambda epsilon: self._bound(epsilon, tilted), delta, guess, round_up=self._round_up)

    @property
    def _floor(self) -> float:
        """The floor of δ, rounded to the same side: the probability of infinite losses."""
        raise NotImplementedError

    def _bound(self, epsilon: float, tilted: Tilted) -> float:
        """The bound on δ(ε) by a given tilt."""
        raise NotImplementedError

    def _at(self, theta: float) -> Tilted:
        """The composition under a tilt."""
        if theta not in self._tilted:
            self._tilted[theta] = self.composition.tilted(theta)
        return self._tilted[theta]


@dataclass(slots=True, kw_only=True)
class Above(_ByTransform):
    """An upper bound by FFT. The mass that was cut off counts as an infinite loss."""

    _round_up = True

    @property
    def _floor(self) -> float:
        """See `_ByTransform`."""
        return min((self.composition.infinity + self.composition.cut) * _ROUNDED, 1.0)

    def _bound(self, epsilon: float, tilted: Tilted) -> float:
        """See `_ByTransform`."""
        x = epsilon - self.slack
        if x >= min(self.composition.most, self.most):
            return self._floor
        return min((exp(self.composition.growth) * tilted.above(x) + self._floor) * _ROUNDED + _LEAST, 1.0)


@dataclass(slots=True, kw_only=True)
class Below(_ByTransform):
    """A lower bound by FFT, from the same kind of composition as the upper one, with what the grid added taken back.

    `Rounding.CONNECT` adds to a loss l some r within a range of one step, with E[e^(−r) | l] = 1; so E[r] ≤ step²/8
    (Hoeffding's lemma for −r), and n of them exceed n·step²/8 + step·√(n·ln(1/η)/2) with probability at most η
    (Hoeffding's inequality). But for η, and for what was cut off, the sum on the grid is at most the true sum plus
    this: δ(ε) ≥ δ_grid(ε + r) − η − cut. Any η will do; it is chosen as a thousandth of δ.

    Source: Gopi, Lee, Wutschitz (2021), "Numerical composition of differential privacy", its definition of a
    coupling approximation.
    """

    _round_up = False

    @property
    def _floor(self) -> float:
        """See `_ByTransform`."""
        return exp(-self.composition.growth) * self.composition.infinity / _ROUNDED

    def _bound(self, epsilon: float, tilted: Tilted) -> float:
        """See `_ByTransform`."""
        c = self.composition
        doubt = max(min(tilted.above(epsilon), 1.0), 1e-300) / 1024
        moved = c.count * c.step**2 / 8 + c.step * sqrt(c.count * log(1 / doubt) / 2) + self.slack
        finite = exp(-c.growth) * tilted.below(epsilon + moved) - doubt - c.cut
        return self._floor + max(finite, 0.0) / _ROUNDED


def sides_of(pairs: Pairs, *, round_up: bool) -> list[Side]:
    """The bounds for neighbours in either order; one, if both have the same."""
    laws: list[tuple[Law, int]] = list(pairs.laws)
    if not laws:
        return [ClosedForm(mu=pairs.mu, round_up=round_up)]
    if pairs.mu:
        laws.append((Gaussian(mu=pairs.mu), 1))
    step = _step(laws) / (1 if round_up else _FINER)
    most = sum(law.reach * n for law, n in laws)
    forward: list[tuple[Bins, int]] = [(law.bins(step), n) for law, n in laws]
    orders = [forward]
    if any(law.sided for law, _ in laws):
        orders.append([(b.flipped() if law.sided else b, n) for (law, _), (b, n) in zip(laws, forward, strict=True)])
    side = Above if round_up else Below
    return [side(composition=Composition(parts), slack=most * _LOSS, most=most) for parts in orders]


def _step(laws: list[tuple[Law, int]]) -> float:
    """A grid on which what is added to ε is about `_PRECISE` of it; any grid is sound.

    Splitting adds up to step²/6 to the variance of each loss, on average, and ε follows the root of their sum. If the
    losses that matter most have a spacing, the grid divides it, and these losses aren't split at all.
    """
    count, variance = sum(n for _, n in laws), sum(n * law.variance for law, n in laws)
    if variance == 0:
        return 1.0
    room = 20 * sqrt(variance) / _MOST_POINTS + 2 * sum(law.reach for law, _ in laws) / _MOST_BINS
    step = max(sqrt(12 * _PRECISE * variance / count), room)
    weightiest, _ = max(laws, key=lambda part: part[1] * part[0].variance)
    spacing = next((each for each in sorted(weightiest.spacings) if each >= step), None)
    return step if spacing is None else spacing / ceil(spacing / step)
