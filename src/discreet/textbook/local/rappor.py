"""RAPPOR: noise that stays, and noise on top of it that doesn't, for a value that doesn't change."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.exact import log
from discreet.exact.rational import rational
from discreet.noise.bernoulli import draw_packed
from discreet.privacy import PureDP, PureEvent
from discreet.textbook.local.estimates import Estimate, frequencies
from discreet.textbook.local.reports import PackedReports, Values, checked_size, indices, randomised
from discreet.textbook.local.unary_encoding import bits_up, byte_count, one_hot

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_LIST = 1 << 16
_GRID = 1 << 16
_WORK = 1 << 17  # bytes of reports at a time


@dataclass(frozen=True, slots=True)
class Rappor(PackedReports):
    """Basic RAPPOR: a one-hot vector is randomised once and kept; each report randomises the kept bits afresh.

    The **permanent** step flips each bit with probability f/2; its outcome, the *memo*, stays on the person's device
    and must be made once per value. The **instantaneous** step reports a bit that is up in the memo as up with
    probability q, one that is down with probability p.

    Guarantee: `loss_if_unchanged` for any number of reports together, between two people whose values each stay the
    same for good; `once` for any single report on its own.

    **It doesn't hold for values that change.** Reports tell on which days the memo was the same, the better the more of
    them there are. Where a memo is kept for each value, `loss_if_unchanged` times the number of different values holds
    between two people whose values are equal on the same days, and not between others: for these nothing is stated.
    With p = 0 or q = 1 some reports are possible from one and impossible from the other, whatever ε.

    Args:
        size: how many different values there are; 2 to 2^16. Values are 0, …, size − 1.
        f: of the permanent step, in (0, 1); f/2 is rounded up to a multiple of 2^-16.
        p: of the instantaneous step, in [0, 1); rounded to a multiple of 2^-16.
        q: the same, above p and at most 1.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Erlingsson, Pihur, Korolova (2014), sections 2 and 3: for one hash function, Theorem 1 gives
    ε∞ = 2·ln((1 − f/2)/(f/2)), and section 3.2 the ε of a single report.

    Examples:
        >>> rappor = Rappor(size=8, f="0.5", p="0.5", q="0.75")
        >>> print(rappor.loss_if_unchanged), print(rappor.once)
        ε = 2.19722
        ε = 0.537143
        (None, None)
        >>> memos = rappor.memorise_all([3] * 10_000)
        >>> monday, tuesday = rappor.report_all(memos), rappor.report_all(memos)
        >>> bool(abs(rappor.estimate(tuesday).values[3] - 10_000) < 2500)
        True
    """

    size: int
    f: Fraction
    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        checked_size(self.size, most=_LONGEST_LIST)
        f, p, q = (rational(value, name) for value, name in ((self.f, "f"), (self.p, "p"), (self.q, "q")))
        object.__setattr__(self, "f", 2 * Fraction(ceil(f / 2 * _GRID), _GRID))
        object.__setattr__(self, "p", Fraction(round(p * _GRID), _GRID))
        object.__setattr__(self, "q", Fraction(round(q * _GRID), _GRID))
        if not (0 < self.f < 1 and 0 <= self.p < self.q <= 1):
            raise InvalidArgument("RAPPOR needs 0 < f < 1 and 0 ≤ p < q ≤ 1")

    @property
    def own(self) -> Fraction:
        """The probability that the bit of the value a person holds is reported as up."""
        return self.q + self.f / 2 * (self.p - self.q)

    @property
    def other(self) -> Fraction:
        """The probability that another bit is reported as up."""
        return self.p + self.f / 2 * (self.q - self.p)

    @property
    def event_if_unchanged(self) -> PureEvent:
        """The event of all reports together, if the value never changes; wrong for any other value."""
        return PureEvent(epsilon=self.loss_if_unchanged.epsilon)

    @property
    def loss_if_unchanged(self) -> PureDP:
        """The proved bound on what all reports give away together, if the value never changes; rounded up."""
        return PureDP(2 * log((1 - self.f / 2) / (self.f / 2), round_up=True))

    @property
    def once(self) -> PureDP:
        """The proved bound on what a single report gives away to someone who sees no other; rounded up."""
        own, other = self.own, self.other
        return PureDP(log(own * (1 - other) / (other * (1 - own)), round_up=True))

    def randomise_all(self, values: Values) -> NDArray[np.uint8]:
        """A single report for each value, memos thrown away; for one collection only.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1.
        """
        return self.report_all(self.memorise_all(values))

    def memorise_all(self, values: Values) -> NDArray[np.uint8]:
        """The permanent step: a memo for each value, rows of bytes. Secret; it is for the person's device to keep.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1.
        """
        return randomised(indices(values, self.size), self.permanent, chunk=max(_WORK // byte_count(self.size), 1))

    def permanent(self, values: NDArray[np.int64], source: Words) -> NDArray[np.uint8]:
        """Memos from a source of words of 8 bits or more."""
        return one_hot(values, self.size, 1 - self.f / 2, self.f / 2, source)

    def report_all(self, memos: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The instantaneous step: a fresh report of each memo."""
        source, step = Keystream(), max(_WORK // byte_count(self.size), 1)
        starts = range(0, max(len(memos), 1), step)
        return np.concatenate([self.instantaneous(memos[start : start + step], source) for start in starts])

    def instantaneous(self, memos: NDArray[np.uint8], source: Words) -> NDArray[np.uint8]:
        """Reports from a source of words of 8 bits or more."""
        up = draw_packed(self.q, memos.size, source).reshape(memos.shape)
        down = draw_packed(self.p, memos.size, source).reshape(memos.shape)
        reports: NDArray[np.uint8] = memos & up | ~memos & down
        reports[:, -1] &= 0xFF >> (8 * byte_count(self.size) - self.size)
        return reports

    def masses(self, value: int) -> list[Fraction]:
        """For each bit of a single report the probability that it is up; bits are independent."""
        return [self.own if i == value else self.other for i in range(self.size)]

    def estimate(self, reports: NDArray[np.uint8]) -> Estimate:
        """How many of those who reported hold each value; unbiased, for one report of each person.

        Raises:
            InvalidArgument: there are no reports, or they aren't rows of as many bytes as the bits need.
        """
        return frequencies(bits_up(reports, self.size), len(reports), self.own, self.other)
