"""Laws of privacy loss: the losses that single events bring to a composition, exactly, and as masses on a grid.

A *dominating pair* of an event is a pair of laws (P, Q) such that for all neighbours x, x′ and all real ε

    sup_S (Pr[M(x) ∈ S] − e^ε Pr[M(x′) ∈ S]) ≤ δ(ε) := sup_S (P(S) − e^ε Q(S)).

Its *privacy loss* is L = ln(P(y)/Q(y)), with y drawn from P, and δ(ε) = E[(1 − e^(ε−L))₊]. Pairs of single events
multiply: the sum of their losses is the loss of a pair that dominates the composition.

For each kind of event, the laws of a dominating pair: at least as easy to tell apart as neighbours are. Each function
returns laws and how often each occurs. Where a pair is *tight*, some neighbours have it exactly.

Source: Zhu, Dong, Wang (2022), Definition 7 and Theorem 10; Sommer, Meiser, Mohammadi (2019), Definition 4.2 and
Theorem 1, for losses as random variables that add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import exp, expm1, floor, log, log1p, sinh, tanh
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LossNotAccepted
from discreet.exact.rounding import to_float
from discreet.privacy import ExponentialEvent, GaussianEvent, LaplaceEvent

Floats: TypeAlias = NDArray[np.float64]


_CANCELLED = 2.0**-48
"""More than a sum of masses can be off by; what is found by subtraction from 1 is raised by it."""


class Rounding(Enum):
    """Where a loss between two points of the grid goes.

    CONNECT splits it between both, so that its probabilities under P and under Q stay what they were. On the grid δ is
    then exact, and between the points linear in e^ε: connecting the dots, from above because δ is convex in e^ε. No
    other law on the grid that is never below comes closer. It moves a loss up and down, and what it adds has a second
    moment of at most step²/4; so over n events it costs about √n·step where UP costs n·step.
    UP moves it up: never below the truth. DOWN moves it down: never above it.

    Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (2022), "Connect the dots: tighter discrete approximations of
    privacy loss distributions", Algorithm 1; Meiser, Mohammadi (2018), "Tight on budget?", its definition of privacy
    buckets, for rounding up and down.
    """

    CONNECT = "connect"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """The masses of a pair between neighbouring grid points {i·step}: P-mass, split between the ends of each bin.

    For a loss l in [a, a + step], the share (1 − e^(a−l)) / (1 − e^(−step)) goes to the right end. That keeps the
    Q-mass, which is e^(−l) times the P-mass: s·e^(−a−step) + (1 − s)·e^(−a) = e^(−l).

    Args:
        step: of the grid; above 0.
        low: the first bin is from low·step to (low + 1)·step.
        left: P-mass of each bin that goes to its left end.
        right: P-mass of each bin that goes to its right end; as many.
        infinity: P-mass of outcomes that Q doesn't have: infinite losses.
        never: Q-mass of outcomes that P doesn't have.
        cut: a bound on the mass, under either law, that was left out because it is tiny.
    """

    step: float
    low: int
    left: Floats
    right: Floats
    infinity: float = 0.0
    never: float = 0.0
    cut: float = 0.0

    def flipped(self) -> Bins:
        """The pair (Q, P): each loss changes its sign, and Q-masses become P-masses."""
        edges = self.step * np.arange(self.low, self.low + len(self.left) + 1)
        return Bins(
            step=self.step,
            low=-(self.low + len(self.left)),
            left=(self.right * np.exp(-edges[1:]))[::-1],
            right=(self.left * np.exp(-edges[:-1]))[::-1],
            infinity=self.never,
            never=self.infinity,
            cut=self.cut,
        )

    def symmetric(self) -> Bins:
        """A pair with the same δ(ε) for ε ≥ 0 that is its own flip; for guarantees that are asked of both orders.

        If δ bounds D(ε) = sup_S (Pr[M(x) ∈ S] − e^ε Pr[M(x′) ∈ S]) for both orders of x and x′ where ε ≥ 0, then it
        follows that D(ε) ≤ 1 − e^ε + e^ε δ(−ε) where ε < 0. In losses: those above 0 stay, with their mirror images,
        and what is missing to 1 lies at 0. Should nothing be missing, the masses exceed 1, which errs upward.
        """
        high = max(self.low + len(self.left), 1)
        left, right = np.zeros(high), np.zeros(high)
        left[max(self.low, 0) :] = self.left[max(-self.low, 0) :]
        right[max(self.low, 0) :] = self.right[max(-self.low, 0) :]
        above = Bins(step=self.step, low=0, left=left, right=right)
        below = above.flipped()
        both = [np.concatenate(sides) for sides in ((below.left, left), (below.right, right))]
        both[0][high] += max(1 - self.infinity - float(both[0].sum() + both[1].sum()), 0.0) + _CANCELLED
        return Bins(
            step=self.step,
            low=-high,
            left=both[0],
            right=both[1],
            infinity=self.infinity,
            never=self.infinity,
            cut=self.cut,
        )

    def masses(self, rounding: Rounding) -> Floats:
        """P-masses at the points from low·step to (low + number of bins)·step."""
        total = np.zeros(len(self.left) + 1)
        match rounding:
            case Rounding.CONNECT:
                total[:-1] += self.left
                total[1:] += self.right
            case Rounding.UP:
                total[1:] += self.left + self.right
            case Rounding.DOWN:
                total[:-1] += self.left + self.right
        return total


_NEAR = 30.0
"""Up to this loss e^loss is handled as it is, beyond by its logarithm."""


class Law(Protocol):
    """A dominating pair (P, Q), by its privacy loss."""

    @property
    def variance(self) -> float:
        """About the loss's variance under P. It steers the choice of a grid; no bound depends on it."""

    @property
    def reach(self) -> float:
        """The greatest absolute value of a finite loss that isn't cut off."""

    @property
    def spacings(self) -> tuple[float, ...]:
        """Distances on whose multiples the losses lie, or the most of their mass; a grid does well to divide one."""

    @property
    def sided(self) -> bool:
        """Whether (Q, P) is another pair, which holds for neighbours in the other order."""

    def bins(self, step: float) -> Bins:
        """The law on the grid of all multiples of `step`, which is above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Atoms:
    """A pair of discrete laws, by number; any pair can be given so.

    Args:
        losses: ln(P/Q) of each outcome that both laws have; finite, in any order.
        chances: its probability under P; 0 or above.
        infinity: probability under P of all outcomes that Q doesn't have.
        never: probability under Q of all outcomes that P doesn't have.
        cut: a bound on what was left out, under either law.
        spacings: see `Law`; none are known by default.
        sided: see `Law`.
    """

    losses: Floats
    chances: Floats
    infinity: float = 0.0
    never: float = 0.0
    cut: float = 0.0
    spacings: tuple[float, ...] = ()
    sided: bool = False

    @property
    def variance(self) -> float:
        """See `Law`."""
        mean = float(self.chances @ self.losses)
        return float(self.chances @ (self.losses - mean) ** 2)

    @property
    def reach(self) -> float:
        """See `Law`."""
        return float(np.abs(self.losses).max())

    def bins(self, step: float) -> Bins:
        """See `Law`. If floats miss an atom's bin or share, it is as if its loss were off by 2⁻⁵⁰ of itself."""
        places = np.floor(self.losses / step).astype(np.int64)
        low = int(places.min())
        share = np.clip(np.expm1(places * step - self.losses) / expm1(-step), 0.0, 1.0)
        right = np.bincount(places - low, weights=self.chances * share).astype(np.float64)
        left = np.bincount(places - low, weights=self.chances * (1 - share)).astype(np.float64)
        return Bins(step=step, low=low, left=left, right=right, infinity=self.infinity, never=self.never, cut=self.cut)

    def sampled(self, rate: float) -> Atoms:
        """The pair (rate·P + (1 − rate)·Q, Q): a unit's data went in with probability `rate`; see `sampling`."""
        losses = np.append(diluted(self.losses, rate), log1p(-rate))
        q_masses = np.append(self.chances * np.exp(-self.losses), self.never)
        chances = q_masses * np.exp(losses)
        return Atoms(losses=losses, chances=chances, infinity=rate * self.infinity, cut=self.cut, sided=True)

    def joined(self, other: Atoms, limit: int = 2048) -> Atoms:
        """Both pairs, of independent events, as one with about `limit` atoms; no FFT, so all masses are exact to 2⁻⁴⁰.

        Before they are joined, both are put on a grid, which moves them upward only (`Rounding.CONNECT`).
        """
        step = (self.reach + other.reach) * 2 / limit or 1.0
        one, two = self.bins(step), other.bins(step)
        chances = np.convolve(one.masses(Rounding.CONNECT), two.masses(Rounding.CONNECT))
        losses = step * np.arange(one.low + two.low, one.low + two.low + len(chances), dtype=np.float64)
        return Atoms(
            losses=losses,
            chances=chances,
            infinity=self.infinity + (1 - self.infinity) * other.infinity,
            never=self.never + (1 - self.never) * other.never,
            cut=self.cut + other.cut,
            sided=self.sided or other.sided,
        )


def atoms(law: Law, limit: int = 2048) -> Atoms:
    """Any law as atoms, about `limit` of them: itself, or what it is on a grid, which is never below."""
    if isinstance(law, Atoms):
        return law
    step = 2 * law.reach / limit
    bins = law.bins(step)
    chances = bins.masses(Rounding.CONNECT)
    losses = step * np.arange(bins.low, bins.low + len(chances), dtype=np.float64)
    return Atoms(
        losses=losses, chances=chances, infinity=bins.infinity, never=bins.never, cut=bins.cut, sided=law.sided
    )


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A law made its own flip, as `Bins.symmetric` has it."""

    law: Law

    @property
    def variance(self) -> float:
        """See `Law`."""
        return self.law.variance

    @property
    def reach(self) -> float:
        """See `Law`."""
        return self.law.reach

    @property
    def spacings(self) -> tuple[float, ...]:
        """See `Law`."""
        return self.law.spacings

    @property
    def sided(self) -> bool:
        """See `Law`."""
        return False

    def bins(self, step: float) -> Bins:
        """See `Law`."""
        return self.law.bins(step).symmetric()


def diluted(losses: Floats, rate: float) -> Floats:
    """ln(1 − rate + rate·e^l): the loss of an outcome of loss l, where a unit was in a sample with probability `rate`.

    Both forms are right to a few roundings of the result: the first for small losses, the second where e^l overflows.
    """
    near = np.log1p(rate * np.expm1(np.minimum(losses, _NEAR)))
    far = losses + log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(losses, _NEAR)))
    return np.where(losses < _NEAR, near, far)


def undiluted(losses: Floats, rate: float) -> Floats:
    """The inverse of `diluted`: ln((e^l − 1 + rate) / rate), and −∞ where no loss is diluted to as little as l."""
    inside = np.expm1(np.minimum(losses, _NEAR)) / rate
    near = np.log1p(np.maximum(inside, -1.0), out=np.full(len(losses), -np.inf), where=inside > -1)
    far = losses - log(rate) + np.log1p(-(1 - rate) * np.exp(-np.maximum(losses, _NEAR)))
    return np.where(losses < _NEAR, near, far)


Counted: TypeAlias = list[tuple[Law, int]]
"""Laws, and how often each occurs."""

_MOST_LOSSES = 4096
"""Where there are more losses, or a continuum of them, they are gathered into about this many, upward."""

_GREATEST = 500
"""No curve is made for an event with losses above this: it protects nobody, and its numbers would overflow."""

_LEAST = Fraction(1, 2**100)
"""Losses below this count as it."""

_REACH = 13.5
"""Discrete Gaussian noise is cut off beyond this many σ, where less than 10⁻³⁸ of it lies."""


def response(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Counted:
    """Randomised response, which dominates whatever is (ε, δ)-DP: with δ > 0 it tells the truth plainly so often.

    Source: Kairouz, Oh, Viswanath (2015), Theorem 2 and, with δ, Section 3.
    """
    loss, plain = _moderate(epsilon), to_float(delta, round_up=True)
    chances = _rest(plain) / (1 + np.exp([-loss, loss]))
    return [(Atoms(losses=np.array([loss, -loss]), chances=chances, infinity=plain, never=plain, spacings=(loss,)), 1)]


def selection(delta: Fraction) -> Counted:
    """A group that one neighbour lacks gives its unit away when it is released; else nothing is learned."""
    plain = to_float(delta, round_up=True)
    return [(Atoms(losses=np.zeros(1), chances=np.array([_rest(plain)]), infinity=plain, never=plain), 1)]


def bounded_range(event: ExponentialEvent) -> Counted:
    """The law that dominates every selection whose losses have a range of ε: P ∝ e^(l/2) on [−ε, ε].

    With losses in [t − ε, t], a pair is dominated by the one that has only these two losses, generalised randomised
    response, whose δ at x is (1 − e^(x−t))(1 − e^(t−ε)) / (1 − e^(−ε)) for t − ε ≤ x ≤ t. Which t in [0, ε] it is, is
    the neighbours' secret. Over t this is greatest at t = (x + ε)/2: δ(x) = (1 − e^((x−ε)/2))² / (1 − e^(−ε)) on
    [−ε, ε]. It is convex in e^x, so itself the δ of a pair, the least that dominates all t at once; its second
    derivative gives the density e^(l/2) / (4·sinh(ε/2)) of the losses l. Here it is brought to a grid as by connecting
    dots, in closed form.

    *Several selections.* Of ranges a ≥ b, the law of |l₁ + l₂| has density ∝ cosh(s/2)·(c − max(a − b, s)) on [0, c], c
    = a + b. Shifting range from b to a multiplies it by what increases in s, so |l₁ + l₂| grows, and with it δ, as a
    pair whose P-density is e^(l/2) times an even function is a mixture, over |l|, of randomised responses. Fully
    shifted, a single selection of range c dominates both. So with Σ ranges ≤ ε and each ≤ e, the worst are as many of e
    as fit, and one of the rest.

    Source: Dong, Durfee, Rogers (2020), "Optimal differential privacy composition for exponential mechanisms",
    Theorem 3, for the generalised randomised response; the envelope over t has the proof above.
    """
    each = event.each or event.epsilon
    full, rest = divmod(event.epsilon, each)
    found: Counted = [(_envelope(_moderate(each)), int(full))]
    return [*found, (_envelope(_moderate(rest)), 1)] if rest else found


def laplace(event: LaplaceEvent) -> Counted:
    """Discrete Laplace noise on integers that move by ℓ1 together, each by at most ℓ∞: as many moves of ℓ∞ as fit.

    On a coordinate that moves by s, with p = e^(−1/scale), the losses are (s − 2n)/scale, where n is the noise, cut off
    to [0, s]. This is the law itself, not a bound.

    *Lemma.* For a ≥ b ≥ 1, moves by a + 1 and b − 1 dominate moves by a and b. Proof. All these pairs are mixtures of
    randomised responses, because P/Q turns into its inverse where noise n turns into s − n; so what is to be shown is
    that |loss| is stochastically greater. Put s = a + b and let m be the sum of both noises, each cut off. For
    n < s/2, |loss| ≥ (s − 2n)/scale unless n < m < s − n. Summing geometric series, the probability of that is

        (p^(n+1)·(n + 2 − (n−1)p) − p^(s−n)·(n + 1 − np)) / (1 + p)²      if n < b,
        (p^(n+1) − p^(s−n))·(b + 1 − (b−1)p) / (1 + p)²                   if b ≤ n.

    If b falls by 1, the second is less, as b + 1 − (b−1)p increases in b; the first stays, but for n = b − 1, which
    changes sides: there the first exceeds what the second is for b − 1 = n by (p^(n+1) + p^(s−n+1)) / (1 + p)² > 0. ∎
    So moving a single coordinate is worst; it follows that moving it further is worse; and under ℓ∞, moves that are as
    unequal as possible.
    """
    furthest = event.linf or event.l1
    full, rest = divmod(event.l1, furthest)
    found: Counted = [(_one_coordinate(event.scale, furthest), full)]
    return [*found, (_one_coordinate(event.scale, rest), 1)] if rest else found


def small_gaussian(event: GaussianEvent) -> Counted:
    """Discrete Gaussian noise on integers of which one moves, by 1: losses (1 − 2n)/2σ², n the noise. Tight."""
    reach = floor(Fraction(_REACH) * event.sigma) + 1
    if 2 * reach + 1 > 2 * _GREATEST * event.sigma**2:
        raise _too_great()
    sigma = float(event.sigma)
    n = np.arange(-reach, reach + 2)
    weights = np.exp(-((n / sigma) ** 2) / 2)
    losses = (1 - 2 * n) / (2 * sigma**2)
    spacing = 1 / (2 * sigma**2)
    return [(Atoms(losses=losses, chances=weights / weights.sum(), cut=1e-38, spacings=(spacing,)), 1)]


def _one_coordinate(scale: Fraction, move: int) -> Atoms:
    """The law of Laplace noise on one coordinate; with too many losses, neighbouring ones are brought to the greatest.

    Then the Q-mass that is too much for that is set apart as an outcome that P doesn't have.
    """
    greatest, t = _moderate(move / scale), float(scale)
    s = float(move)
    inner = np.rint(np.linspace(1, s, min(move, _MOST_LOSSES + 1)))  # where blocks of noise begin, and the last ends
    starts, widths = inner[:-1], np.diff(inner)
    odds = 1 + exp(-1 / t)
    chances = np.exp(-starts / t) * -np.expm1(-widths / t) / odds
    losses = np.concatenate(([greatest], greatest * (1 - 2 * (starts / s)), [-greatest]))
    chances = np.concatenate(([1 / odds], chances, [exp(-s / t) / odds]))
    never = max(1 - float(chances @ np.exp(-losses)), 0.0) if move > _MOST_LOSSES else 0.0
    return Atoms(losses=losses, chances=chances, never=never, spacings=(1 / t, greatest))


def _envelope(epsilon: float) -> Atoms:
    """The law of `bounded_range` between dots: 4c·tanh(d/4)·e^(l/2) at each but the ends, d apart; half that there."""
    losses = np.linspace(-epsilon, epsilon, _MOST_LOSSES + 1)
    chances = tanh(epsilon / (2 * _MOST_LOSSES)) / sinh(epsilon / 2) * np.exp(losses / 2)
    chances[[0, -1]] /= 2
    return Atoms(losses=losses, chances=chances, spacings=(epsilon,))


def _rest(plain: float) -> float:
    """1 − δ; something of it is left even if δ is rounded up to 1, so that there is a law. It errs upward."""
    return max(1 - plain, 2.0**-60)


def _moderate(epsilon: Fraction) -> float:
    """ε as a float, rounded up; nothing below 2⁻¹⁰⁰."""
    if epsilon > _GREATEST:
        raise _too_great()
    return to_float(max(epsilon, _LEAST), round_up=True)


def _too_great() -> LossNotAccepted:
    return LossNotAccepted(f"an event whose losses exceed {_GREATEST} protects nobody, so it has no curve")
