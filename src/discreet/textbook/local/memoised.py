"""Memoised one-bit means: the same number day after day, told by one bit that is drawn once and kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument
from discreet.exact import log
from discreet.exact.rational import rational
from discreet.noise import bernoulli, uniform
from discreet.privacy import PureDP, PureEvent
from discreet.textbook.local.estimates import Estimate, counted
from discreet.textbook.local.means import OneBitMean
from discreet.textbook.local.reports import Values, checked_bounds, clamped, indices

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_POINTS = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class OneBitMemos:
    """The memory of devices: where each rounds, and its answer at every grid point. Secret.

    Args:
        offsets: how far each device's rounding is shifted, 0 to step − 1.
        answers: a row of bits for each device, one for each grid point.
    """

    offsets: NDArray[np.int64]
    answers: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class MemoisedOneBit:
    """Microsoft's telemetry: one-bit means of values rounded by α-point rounding, with memoised answers.

    A device draws once a shift α of its own, uniform in 0, …, step − 1, and an answer of `OneBitMean` for each multiple
    of `step` that the value can be rounded to. From then on it rounds the value x to step·⌊(x + α)/step⌋, whose mean
    over α is x, and reports the answer kept for it. With `flip` each report is flipped afresh with that probability.

    Guarantee: `loss_if_unchanged` for any number of reports together, between two people whose values each stay the
    same for good; and, whatever their shifts, between two whose values keep rounding to one point each.

    **It doesn't hold for values that round to more than one point.** Equal points give equal answers, so reports tell
    on which days points were different. Between two people whose points are equal on the same days, `loss_if_unchanged`
    times the number of different points holds. Between people with other patterns only `flip` protects: `once` for each
    report, so r reports give away at most r times `once`. Without a flip some reports are possible from one and
    impossible from the other, whatever ε. A step of a single unit may change the point: a value that moves by d units,
    fewer than `step`, does so on d of `step` devices.

    Args:
        lower: the least value; a whole number.
        upper: the largest.
        step: the grid's, a divisor of upper − lower, which is at most 1,024 times it.
        epsilon: from 2^-10 to 20.
        flip: of each report; a rational in [0, 1/2).

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately", Theorem 3 in Section 3.1 for α-point
    rounding, Section 3.2 for permanent memoisation, Section 4 for output perturbation.

    Examples:
        >>> usage = MemoisedOneBit(lower=0, upper=1440, step=360, epsilon=1)
        >>> memos = usage.memorise_all(50_000)
        >>> monday, tuesday = (usage.report_all(memos, [600] * 50_000) for day in range(2))
        >>> bool((monday == tuesday).all()), bool(abs(usage.estimate(monday).values - 600) < 100)
        (True, True)
    """

    lower: int
    upper: int
    step: int
    epsilon: Fraction
    flip: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Check before there is any value."""
        checked_bounds(self.lower, self.upper)
        span = self.upper - self.lower
        if type(self.step) is not int or self.step < 1 or span % self.step or span // self.step > _MOST_POINTS:
            raise InvalidArgument(f"step must divide upper − lower into at most {_MOST_POINTS} steps")
        object.__setattr__(self, "flip", rational(self.flip, "flip"))
        if not 0 <= self.flip < Fraction(1, 2):
            raise InvalidArgument("flip must be at least 0 and below 1/2")
        object.__setattr__(self, "epsilon", OneBitMean(0, self.points - 1, self.epsilon).epsilon)

    @property
    def points(self) -> int:
        """How many points values are rounded to."""
        return (self.upper - self.lower) // self.step + 1

    @property
    def answer(self) -> OneBitMean:
        """The law that draws a memo's answers, on the numbers of the points."""
        return OneBitMean(0, self.points - 1, self.epsilon)

    @property
    def event_if_unchanged(self) -> PureEvent:
        """The event of all reports together, if values always round to one point; wrong for any others."""
        return PureEvent(epsilon=self.epsilon)

    @property
    def loss_if_unchanged(self) -> PureDP:
        """The proved bound on what all reports give away together, if values always round to one point."""
        return PureDP(self.epsilon)

    @property
    def once(self) -> PureDP:
        """The proved bound on what a report adds to those before it, however values change; rounded up.

        Raises:
            InvalidArgument: `flip` is 0: a second report shows whether the answer changed.
        """
        if not self.flip:
            raise InvalidArgument("without flips a single report has no guarantee of its own")
        return PureDP(log((1 - self.flip) / self.flip, round_up=True))

    def memorise_all(self, users: int) -> OneBitMemos:
        """The memos of that many devices; drawn without looking at any value."""
        offsets = uniform(self.step, users)
        points = np.tile(np.arange(self.points), users)
        return OneBitMemos(offsets, self.answer.randomise_all(points).reshape(users, self.points))

    def report_all(self, memos: OneBitMemos, values: Values) -> NDArray[np.uint8]:
        """A report of each device, of today's value.

        Raises:
            InvalidArgument: values aren't whole numbers, or not as many as devices.
        """
        today = clamped(values, self.lower, self.upper) - self.lower
        if len(today) != len(memos.offsets):
            raise InvalidArgument("there must be one value for each device")
        points = (today + memos.offsets) // self.step
        reports: NDArray[np.uint8] = memos.answers[np.arange(len(points)), points]
        reports ^= bernoulli(self.flip, len(reports)).view(np.uint8)
        return reports

    def estimate(self, reports: NDArray[np.uint8]) -> Estimate:
        """The mean of the (clamped) values, from one report of each device; unbiased over devices and their memos.

        The answer to a rounded value is up with a chance linear in it, and the rounded value is the value on average.
        So reports are as those of `OneBitMean` on the values themselves, but for the flips.

        Raises:
            InvalidArgument: there are no reports, or one isn't 0 or 1.
        """
        users = counted(len(reports))
        law, kept = self.answer.law, 1 - 2 * self.flip
        base, slope = (law.chance(0) * kept + self.flip), kept * (law.chance(1) - law.chance(0)) / self.step
        share = Fraction(int(indices(reports, 2).sum()), users)
        value = self.lower + float((share - base) / slope)
        spread = float(min(max(share, base), 1 - base))
        return Estimate(np.array(value), np.array((spread * (1 - spread) / users) ** 0.5 / float(slope)), users)
