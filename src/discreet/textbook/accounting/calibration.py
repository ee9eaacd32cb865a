"""Calibration: noise, accuracy, uses, ε or δ from the others, for noise that is used many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.loss_arithmetic import least
from discreet.errors import AccuracyUnreachable, InvalidArgument, LossNotAccepted
from discreet.exact.rational import Rationalizable, positive, probability, rational
from discreet.exact.rounding import shorten
from discreet.privacy import Event, GaussianEvent, LaplaceEvent
from discreet.textbook.accounting.accuracy import Noise, radius_of, scale_within
from discreet.textbook.accounting.guarantee import Accountant, Guarantee, best_of

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
    """Find whichever is left out: scale or radius, ε, δ, uses.

    Scales, ε and δ are rounded up, uses and the scale of a given radius down, so the result holds.

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
        """The event of one release."""
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
    """`solve` for exact arguments, one of which is None."""
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
    """The greatest number of times that passes, up to a billion; the result has passed.

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
