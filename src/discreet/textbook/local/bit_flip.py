"""Histograms by bit flips: the same value day after day, if it doesn't change.

Each device watches a few buckets of its own, and keeps its answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument
from discreet.noise import bernoulli
from discreet.privacy import PureDP, PureEvent
from discreet.textbook.local.estimates import Estimate, counted, spread
from discreet.textbook.local.reports import Values, checked_epsilon, checked_size, flip_probability, indices, randomised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.entropy import Words


_MOST_BUCKETS = 1 << 12
_MOST_BITS = 1 << 6
_CHUNK = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class BitFlipMemos:
    """The memory of devices: the buckets each watches (public), and its answers (secret).

    Args:
        watched: a row of `bits` different buckets for each device.
        answers: for each device bits + 1 rows of `bits` bits: one for the value being in none of the watched buckets,
            then one for its being in each of them.
    """

    watched: NDArray[np.int64]
    answers: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class BitFlip:
    """Microsoft's dBitFlip with permanent memoisation: a histogram over `size` buckets, from `bits` bits a device.

    A device picks `bits` of the buckets once, at random and in the open. Whether the value is in one of them it tells
    by a bit that is right with probability e^(ε/2)/(e^(ε/2) + 1). The bits for each case are drawn once and kept.

    Guarantee: `loss_if_unchanged` for any number of reports together, between two people whose values each stay in one
    bucket for good; two cases differ in at most two bits. The probability of a wrong bit is rounded up.

    **It doesn't hold for values that change**, and no other ε does. A device's case is which of its watched buckets the
    value is in, or none. Equal cases give equal answers, different ones nearly always different answers: so reports
    tell on which days the case was the same. Between two people whose cases, on the devices' same watched buckets, are
    equal on the same days, `loss_if_unchanged` times the number of different cases holds. Buckets that are equal on the
    same days aren't enough: which of them fall into one case depends on the device. Between people with other patterns
    some reports are possible from one and impossible from the other, whatever ε.

    Args:
        size: how many buckets; 2 to 4,096. Values are 0, …, size − 1.
        bits: how many of them a device watches; 1 to 64, at most `size`.
        epsilon: from 2^-10 to 20.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately", Section 2.2 for mechanism dBitFlip,
    Section 3.2 for permanent memoisation.

    Examples:
        >>> buckets = BitFlip(size=16, bits=4, epsilon=2)
        >>> memos = buckets.memorise_all(20_000)
        >>> monday = buckets.report_all(memos, [5] * 20_000)
        >>> int(buckets.estimate(memos.watched, monday).values.argmax())
        5
    """

    size: int
    bits: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_size(self.size, most=_MOST_BUCKETS)
        if type(self.bits) is not int or not 1 <= self.bits <= min(self.size, _MOST_BITS):
            raise InvalidArgument(f"bits must be a whole number from 1 to {min(self.size, _MOST_BITS)}")

    @property
    def other(self) -> Fraction:
        """The probability that a bit is wrong."""
        return flip_probability(self.epsilon / 2)

    @property
    def event_if_unchanged(self) -> PureEvent:
        """The event of all reports together, if the value always stays in one bucket; wrong for any other value."""
        return PureEvent(epsilon=self.epsilon)

    @property
    def loss_if_unchanged(self) -> PureDP:
        """The proved bound on what all reports give away together, if the value always stays in one bucket."""
        return PureDP(self.epsilon)

    def memorise_all(self, users: int) -> BitFlipMemos:
        """The memos of that many devices; drawn without looking at any value."""
        watched = randomised(np.zeros(users, dtype=np.int64), self.watch, chunk=_CHUNK)
        wrong = bernoulli(self.other, (users, self.bits + 1, self.bits)).view(np.uint8)
        right = np.eye(self.bits + 1, self.bits, -1, dtype=np.uint8)
        return BitFlipMemos(watched, wrong ^ right)

    def watch(self, users: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """The buckets devices watch: the places of the least of `size` words. A tie favours some by far below 2^-30."""
        words = source.words(len(users) * self.size).reshape(len(users), self.size)
        return np.argsort(words, axis=1)[:, : self.bits]

    def report_all(self, memos: BitFlipMemos, values: Values) -> NDArray[np.uint8]:
        """A report of each device, of today's value: a row of bits, one for each bucket it watches.

        Raises:
            InvalidArgument: a value isn't one of 0, …, size − 1, or there aren't as many as devices.
        """
        today = indices(values, self.size)
        if len(today) != len(memos.watched):
            raise InvalidArgument("there must be one value for each device")
        hits = memos.watched == today[:, None]
        case = (hits * np.arange(1, self.bits + 1)).sum(axis=1)  # 0 for none of them
        reports: NDArray[np.uint8] = memos.answers[np.arange(len(today)), case]
        return reports

    def estimate(self, watched: NDArray[np.int64], reports: NDArray[np.uint8]) -> Estimate:
        """How many of those who reported are in each bucket; unbiased over devices and their memos.

        A device adds size/bits·(bit − q)/(p − q) to each bucket it watches. It adds 1 on average to its own bucket,
        with second moment size/bits·(pq/(p − q)² + 1); it adds 0 to another, with second moment size/bits·pq/(p − q)².

        Args:
            watched: the buckets each device watches.
            reports: the bits, in the same order.

        Raises:
            InvalidArgument: there are no reports, or shapes or values don't fit.
        """
        users = counted(len(reports))
        if reports.shape != (users, self.bits) or watched.shape != reports.shape:
            raise InvalidArgument(f"reports and watched buckets must be rows of {self.bits}")
        buckets, bits = indices(watched.reshape(-1), self.size), indices(reports.reshape(-1), 2)
        watchers = np.bincount(buckets, minlength=self.size)
        ones = np.bincount(buckets[bits == 1], minlength=self.size)
        q, scale = float(self.other), self.size / self.bits
        values = scale * (ones - watchers * q) / (1 - 2 * q)
        noise = scale * q * (1 - q) / (1 - 2 * q) ** 2
        return Estimate(values, spread(values, users, noise + scale - 1, noise), users)
