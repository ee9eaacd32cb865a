"""Calibration: noise, accuracy, uses, ε or δ from the others, for noise that is used many times and for DP-SGD.

Accuracy is how far noise strays at a confidence.

**DP-SGD.** Each step adds continuous Gaussian noise to the sum of a Poisson sample's gradients, each clipped to length
1, and σ is the *noise multiplier*. In any number of dimensions, a step's pair is (1 − q)·N(0, σ²) + q·N(1, σ²) against
N(0, σ²). It isn't that of a count on the integers, whose noise has fewer outcomes to tell by: at σ = 0.5, q = 0.5 and δ
= 10⁻³ one step has ε = 6.45, and such a count 5.29.

Noise and gradients on a grid with g steps to the clipping length are `GaussianEvent(sigma=g*σ, l2_squared=g**2)`. By
`discreet.accounting.gaussian_dp`, that is as hard to tell apart as continuous noise less by a factor of about
1 + 1/24(gσ)².

Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang (2016), Algorithm 1; Mironov, Talwar, Zhang (2019),
Section 3, for the curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt

from discreet.accounting.loss_arithmetic import greatest, least
from discreet.errors import AccuracyUnreachable, InvalidArgument, LossNotAccepted
from discreet.exact.rational import Rationalizable, positive, probability, rational, shorten
from discreet.privacy import Event, GaussianEvent, LaplaceEvent, SampledEvent
from discreet.textbook.accounting.guarantee import Accountant, Guarantee, best_of, renyi_curve_of

# ── Accuracy ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_WORKING_BITS = 128
_FINEST = Fraction(1, 2**10)


class Noise(StrEnum):
    """Which noise; its size is `scale` for Laplace and `sigma` for Gaussian noise."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


def radius_of(noise: Noise, scale: Rationalizable, confidence: Rationalizable) -> int:
    """An r with Pr[|noise| ≤ r] ≥ confidence, for discrete noise on one number.

    The least one for Laplace noise, from Pr[|noise| ≥ k] = 2p^k/(1 + p), p = e^(−1/scale). For Gaussian noise at most
    one more than it, if the confidence is 90 % or more: from Pr[noise ≥ k] ≤ Φ(−(k − ½)/σ) for k ≥ σ + ½, where the
    weights e^(−y²/2σ²) are convex, so at most their means over [y − ½, y + ½], and add up to σ√(2π) at least.

    Args:
        noise: which.
        scale: of the noise (σ for Gaussian noise), in steps of the grid; above 0.
        confidence: in (0, 1).

    Examples:
        >>> radius_of(Noise.LAPLACE, 10, 0.95), radius_of(Noise.GAUSSIAN, 10, 0.95)
        (30, 20)
    """
    return _radius(noise, positive(scale, "scale"), 1 - probability(confidence, "confidence"))


def scale_within(noise: Noise, radius: int, confidence: Rationalizable) -> Fraction:
    """The greatest scale found at which noise stays within the radius at the confidence; rounded down, to 30 bits.

    Raises:
        AccuracyUnreachable: no scale from 2⁻¹⁰ on does.

    Examples:
        >>> float(round(scale_within(Noise.LAPLACE, 30, 0.95), 2))
        10.19
    """
    chance = 1 - probability(confidence, "confidence")
    if radius < 0 or _radius(noise, _FINEST, chance) > radius:
        raise AccuracyUnreachable(f"no noise stays within ±{radius} at this confidence")
    return greatest(
        lambda scale: scale <= _FINEST or _radius(noise, scale, chance) <= radius,
        start=Fraction(radius + 1),
        ceiling=Fraction(2**80),
        bits=30,
    )


@lru_cache(maxsize=1024)
def _radius(noise: Noise, scale: Fraction, chance: Fraction) -> int:
    """The least k that is proved to be reached with no more than `chance`, less 1."""
    from discreet.exact.ball import ball, precision

    surprise = log(2) + log(chance.denominator) - log(chance.numerator)
    with precision(_WORKING_BITS):
        if noise is Noise.LAPLACE:
            both = 2 / (1 + ball(-1 / scale).exp())
            guess = float(scale) * surprise
            return _first(lambda k: bool(ball(-k / scale).exp() * both <= ball(chance)), guess) - 1
        spread = ball(scale) * ball(2).sqrt()
        convex = ceil(scale + Fraction(1, 2))
        guess = float(scale) * sqrt(2 * surprise)
        return (
            max(_first(lambda k: bool((ball(k - Fraction(1, 2)) / spread).erfc() <= ball(chance)), guess), convex) - 1
        )


def _first(passes: Callable[[int], bool], guess: float) -> int:
    """The least whole number from 1 on that passes; any that is returned has."""
    high = max(int(guess), 1)
    while not passes(high):
        high *= 2
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


# ── Any of them from the others ───────────────────────────────────────────────────────────────────────────────────────

_MOST_USES = 10**9
_LEAST_SCALE = Fraction(1, 2**10)
_DIGITS = 24
"""Scales are found to this many binary digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Five numbers that fit together: all but one were given.

    Guarantee: `uses` releases of a number that one unit moves by `sensitivity` steps, each with this noise, fixed in
    advance, are (ε, δ)-DP together; each is within `radius` of the truth with probability `confidence` or more.

    Args:
        noise: which.
        scale: of the noise (σ for Gaussian noise), in steps.
        epsilon: above 0.
        delta: 0 or more; 0 for pure releases.
        uses: how many releases.
        radius: in steps.
        confidence: of one release's radius.
        sensitivity: in steps.
    """

    noise: Noise
    scale: Fraction
    epsilon: Fraction
    delta: Fraction
    uses: int
    radius: int
    confidence: Fraction
    sensitivity: int


def solve(  # noqa: PLR0913 — one keyword for each number
    noise: Noise,
    *,
    scale: Rationalizable | None = None,
    radius: int | None = None,
    epsilon: Rationalizable | None = None,
    delta: Rationalizable | None = None,
    uses: int | None = None,
    confidence: Rationalizable = "0.95",
    sensitivity: int = 1,
    accountant: Accountant = best_of,
) -> Solution:
    """Find the one that is left out of: scale or radius, ε, δ, uses.

    Scales, ε and δ are rounded up, uses and the scale of a given radius down, so what is returned holds.

    Args:
        noise: Laplace or Gaussian.
        scale: of the noise, in steps; above 0. Instead of a radius.
        radius: the greatest error that one release may have at the confidence, in steps; instead of a scale.
        epsilon: for all uses together; above 0.
        delta: for all uses together; in [0, 1), and 0 for Laplace noise only.
        uses: how many releases; 1 or more.
        confidence: of the radius; in (0, 1).
        sensitivity: how far one unit moves the number, in steps; 1 or more.
        accountant: how all uses are counted; by default the best of what needs no loss distribution.

    Raises:
        InvalidArgument: not exactly one is left out, or one is out of range.
        LossNotAccepted: δ is 0 for Gaussian noise.
        AccuracyUnreachable: nothing fits: not even one use is within ε and δ, or no noise within the radius.

    Examples:
        >>> found = solve(Noise.GAUSSIAN, epsilon=1, delta=1e-6, uses=100)
        >>> float(round(found.scale, 2)), found.radius
        (42.25, 83)
        >>> solve(Noise.LAPLACE, radius=30, epsilon=1, delta=0).uses
        10
    """
    if scale is not None and radius is not None:
        raise InvalidArgument("give scale or radius, not both")
    if noise is Noise.GAUSSIAN and delta is not None and not _delta(delta):
        raise LossNotAccepted("Gaussian noise is never pure", hint="delta=1e-6, or Laplace noise")
    if sensitivity < 1:
        raise InvalidArgument(f"the sensitivity must be at least 1 step, not {sensitivity}")
    size = None if scale is None else positive(scale, "scale")
    return _solve(
        _Task(noise, sensitivity, accountant),
        scale=size if radius is None else scale_within(noise, radius, confidence),
        epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
        delta=None if delta is None else _delta(delta),
        uses=None if uses is None else _uses(uses),
        confidence=probability(confidence, "confidence"),
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """A kind of noise on a number, and how it is counted."""

    noise: Noise
    sensitivity: int
    accountant: Accountant

    def guarantee(self, scale: Fraction, uses: int) -> Guarantee:
        """The guarantee of this many releases."""
        return self.accountant(self.event(scale), uses)

    def event(self, scale: Fraction) -> Event:
        """What one release does."""
        if self.noise is Noise.LAPLACE:
            return LaplaceEvent(scale=scale, l1=self.sensitivity)
        return GaussianEvent(sigma=scale, l2_squared=Fraction(self.sensitivity**2))

    def least_scale(self, epsilon: Fraction, delta: Fraction, uses: int) -> Fraction:
        """The least scale found at which this many uses are within ε and δ."""
        plain = uses * self.sensitivity / epsilon
        if not delta:
            return plain

        def passes(scale: Fraction) -> bool:
            return within(self.guarantee(scale, uses), epsilon, delta)

        return shorten(least(passes, start=plain, floor=_LEAST_SCALE, bits=_DIGITS), bits=2 * _DIGITS, round_up=True)

    def most_uses(self, scale: Fraction, epsilon: Fraction, delta: Fraction) -> int:
        """The greatest number of uses found that is within ε and δ."""
        return most(lambda uses: within(self.guarantee(scale, uses), epsilon, delta))


def _solve(  # noqa: PLR0913 — one keyword for each number
    task: _Task,
    *,
    scale: Fraction | None,
    epsilon: Fraction | None,
    delta: Fraction | None,
    uses: int | None,
    confidence: Fraction,
) -> Solution:
    """`solve` of exact arguments, of which one is None."""
    match scale, epsilon, delta, uses:
        case None, Fraction() as epsilon, Fraction() as delta, int() as uses:
            scale = task.least_scale(epsilon, delta, uses)
        case Fraction() as scale, None, Fraction() as delta, int() as uses:
            epsilon = Fraction(task.guarantee(scale, uses).epsilon(delta))
        case Fraction() as scale, Fraction() as epsilon, None, int() as uses:
            delta = Fraction(task.guarantee(scale, uses).delta(epsilon))
        case Fraction() as scale, Fraction() as epsilon, Fraction() as delta, None:
            uses = task.most_uses(scale, epsilon, delta)
        case _:
            raise InvalidArgument("leave out exactly one of scale (or radius), epsilon, delta and uses")
    return Solution(
        noise=task.noise,
        scale=scale,
        epsilon=epsilon,
        delta=delta,
        uses=uses,
        radius=radius_of(task.noise, scale, confidence),
        confidence=confidence,
        sensitivity=task.sensitivity,
    )


def within(guarantee: Guarantee, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a guarantee is at least as good as (ε, δ)."""
    return guarantee.delta(epsilon) <= delta


def most(passes: Callable[[int], bool]) -> int:
    """The greatest number of times that passes, up to a billion; what is returned has passed.

    Raises:
        AccuracyUnreachable: not even once does.
    """
    if not passes(1):
        raise AccuracyUnreachable("a single use already exceeds epsilon and delta")
    low, high = 1, 2
    while high <= _MOST_USES and passes(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _delta(value: Rationalizable) -> Fraction:
    """Read δ, which lies in [0, 1)."""
    number = rational(value, "delta")
    return number if number == 0 else probability(number, "delta")


def _uses(value: int) -> int:
    """Read a number of uses."""
    if not 1 <= value <= _MOST_USES:
        raise InvalidArgument(f"uses must be from 1 to {_MOST_USES:,}, not {value}")
    return value


# ── DP-SGD ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BITS = 16
"""Noise multipliers and rates are found to this many binary digits."""

_LEAST_NOISE = Fraction(1, 2**4)
_GREATEST_RATE = 1 - Fraction(1, 2**16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A training run: what it does, and what it is proved to give away.

    Guarantee: all steps together are (ε, δ)-DP about data sets with and without one example, for noise and gradients
    that are real numbers. Floats are not: what their last bits tell isn't covered.

    Args:
        noise: the noise multiplier, σ over the clipping length; above 0.
        steps: how many; 1 or more.
        rate: the probability of each example to be in a step's sample; in (0, 1).
        epsilon: above 0.
        delta: in (0, 1).
    """

    noise: Fraction
    steps: int
    rate: Fraction
    epsilon: Fraction
    delta: Fraction

    @property
    def event(self) -> SampledEvent:
        """What one step does."""
        return step(self.noise, self.rate)


def step(noise: Fraction, rate: Fraction) -> SampledEvent:
    """One step's event."""
    return SampledEvent(event=GaussianEvent(sigma=noise, l2_squared=Fraction(1), continuous=True), rate=rate)


def training(  # noqa: PLR0913 — one keyword for each number
    *,
    noise: Rationalizable | None = None,
    steps: int | None = None,
    rate: Rationalizable | None = None,
    epsilon: Rationalizable | None = None,
    delta: Rationalizable | None = None,
    accountant: Accountant = renyi_curve_of,
) -> Training:
    """Find the one that is left out; noise, ε and δ are rounded up, steps and rate down.

    Args:
        noise: the noise multiplier; above 0.
        steps: how many; 1 or more.
        rate: of sampling; in (0, 1).
        epsilon: for the whole run; above 0.
        delta: for the whole run; in (0, 1).
        accountant: how steps are counted; the Rényi curve unless told otherwise.

    Raises:
        InvalidArgument: not exactly one is left out, or one is out of range.
        AccuracyUnreachable: not even one step is within ε and δ.

    Examples:
        >>> run = training(noise=1, steps=10_000, rate="0.01", delta=1e-6)
        >>> float(round(run.epsilon, 1))
        7.4
    """
    known = {
        "noise": None if noise is None else positive(noise, "noise"),
        "rate": None if rate is None else probability(rate, "rate"),
        "epsilon": None if epsilon is None else positive(epsilon, "epsilon"),
        "delta": None if delta is None else probability(delta, "delta"),
    }
    if [steps, *known.values()].count(None) != 1 or (steps is not None and steps < 1):
        raise InvalidArgument(
            "leave out exactly one of noise, steps, rate, epsilon and delta; steps must be at least 1"
        )
    draft = Training(
        **{name: Fraction(1, 2) if value is None else value for name, value in known.items()}, steps=steps or 1
    )

    def guarantee(run: Training) -> Guarantee:
        return accountant(run.event, run.steps)

    def fits(run: Training) -> bool:
        return within(guarantee(run), run.epsilon, run.delta)

    if steps is None:
        return replace(draft, steps=most(lambda n: fits(replace(draft, steps=n))))
    if noise is None:
        return replace(
            draft,
            noise=least(
                lambda size: fits(replace(draft, noise=size)), start=Fraction(1), floor=_LEAST_NOISE, bits=_BITS
            ),
        )
    if rate is None:
        found = greatest(
            lambda share: fits(replace(draft, rate=share)), start=Fraction(1, 100), ceiling=_GREATEST_RATE, bits=_BITS
        )
        return replace(draft, rate=found)
    if epsilon is None:
        return replace(draft, epsilon=Fraction(guarantee(draft).epsilon(draft.delta)))
    return replace(draft, delta=Fraction(guarantee(draft).delta(draft.epsilon)))
