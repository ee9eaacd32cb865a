"""DP-SGD: noise, rate, steps, ε or δ of training from the others.

Each step adds continuous Gaussian noise to the sum of a Poisson sample's gradients, each clipped to length 1, and σ is
the *noise multiplier*. In any number of dimensions, a step's pair is (1 − q)·N(0, σ²) + q·N(1, σ²) against N(0, σ²). It
isn't that of a count on the integers, whose noise has fewer outcomes to tell by: at σ = 0.5, q = 0.5 and δ = 10⁻³ one
step has ε = 6.45, and such a count 5.29.

Noise and gradients on a grid with g steps to the clipping length are `GaussianEvent(sigma=g*σ, l2_squared=g**2)`. By
`discreet.accounting.gaussian_dp`, that is as hard to tell apart as continuous noise less by a factor of about
1 + 1/24(gσ)².

Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang (2016), Algorithm 1; Mironov, Talwar, Zhang (2019),
Section 3, for the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.accounting.loss_arithmetic import greatest, least
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.privacy import GaussianEvent, SampledEvent
from discreet.textbook.accounting.calibration import most, within
from discreet.textbook.accounting.guarantee import Accountant, Guarantee
from discreet.textbook.accounting.renyi_curve import renyi_curve_of

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
        """The event of one step."""
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
    """Find whichever is left out; noise, ε and δ are rounded up, steps and rate down.

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
