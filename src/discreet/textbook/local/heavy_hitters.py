"""Heavy hitters: the values that many people hold, among more than anyone could list."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.noise.uniform import draw_uniform
from discreet.privacy.events import Pure
from discreet.stats import clopper_pearson
from discreet.textbook.local.estimates import CONFIDENCE, Estimate, Floats, counted
from discreet.textbook.local.hashing import EXCESS
from discreet.textbook.local.local_hashing import LocalHashing
from discreet.textbook.local.reports import TwoLevelLaw, Values, checked_epsilon, checked_rows, indices, randomised

_MOST_BITS = 62
_MOST_STEP = 12
_EVEN = Fraction(1, 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Holders(Estimate):
    """How many people hold each value that was found, with intervals that are proved at every confidence.

    Guarantee: for a value that was named before there were reports, `interval` holds the true count with at least the
    stated confidence, if everyone reports as the protocol says. Values that were **found** are those whose noise was
    lucky enough: of those near the threshold the estimates are too high on average, and fewer intervals hold.

    Args:
        values: the estimates; unbiased for a value that was named before, whatever the sizes of the levels.
        errors: their standard errors, at the estimates.
        users: how many people reported, on all levels.
        supports: how many of those on the last level support each value.
        reports: how many are on the last level.
        own: the probability that a holder's report supports the value.
        other: the least and greatest probability that anyone else's does.

    Given the sizes of levels, the people on the last one are drawn from all without replacement. So the support's
    generating function is an elementary symmetric polynomial of 1 − c + cz over everyone's chances c. It has real
    roots only, which makes the support a sum of independent coins. Beyond one from their mean its tails are below those
    of the binomial with the same mean, and there Clopper–Pearson's limits are, but for a support of 1 or of all but
    one.

    Source: Borcea, Brändén, Liggett (2009), the definition of strongly Rayleigh measures, for the roots; Pitman (1997),
    the proposition on real zeros, for the coins; Hoeffding (1956), Theorem 4, for the tails; Greenberg, Mohri (2014),
    Theorem 1, for the limits' side of the mean.
    """

    supports: NDArray[np.int64]
    reports: int
    own: Fraction
    other: tuple[Fraction, Fraction]

    def radius(self, confidence: Rationalizable = CONFIDENCE) -> Floats:
        """How far the further end of each interval is from its estimate."""
        low, high = self.interval(confidence)
        return np.maximum(self.values - low, high - self.values)

    def interval(self, confidence: Rationalizable = CONFIDENCE) -> tuple[Floats, Floats]:
        """The lower and the upper ends, within 0 and all who reported, each of this confidence for itself.

        Args:
            confidence: in (0, 1); below 1/2 the interval is that for 1/2.
        """
        sure = max(probability(confidence, "confidence"), _EVEN)
        ends = [self._ends(support, sure) for support in self.supports.tolist()]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return low, high

    def _ends(self, support: int, confidence: Fraction) -> tuple[float, float]:
        """From limits of the mean chance of support to limits of the count, by the other chances that widen it most."""
        low, high = clopper_pearson(support, self.reports, confidence)
        least, most = self.other
        lower = (Fraction(low) - most) / (self.own - most) if support > 1 else Fraction(0)
        upper = (Fraction(high) - least) / (self.own - least) if support < self.reports - 1 else Fraction(1)
        return self._count(lower), self._count(upper)

    def _count(self, share: Fraction) -> float:
        """A share of all users as a count, within what counts can be."""
        return float(self.users * min(max(share, Fraction(0)), Fraction(1)))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Values that many people hold, the most frequent first.

    Args:
        values: the values.
        estimate: how many people hold each.
    """

    values: NDArray[np.int64]
    estimate: Holders


@dataclass(frozen=True, slots=True)
class HeavyHitters(Pure):
    """The prefix extending method (PEM): finds frequent values of `bits` bits by growing their frequent prefixes.

    Each person picks one of the levels at random and in the open, and reports the prefix of that level's length by
    local hashing, with the whole ε and a hash function of their own. The collector keeps the most frequent prefixes of
    a level, extends each by all combinations of `step` bits, and looks these up in the reports of the next level.

    Guarantee: ε-DP for each person against everyone: given the level, which doesn't depend on the value, the report is
    that of local hashing.

    Args:
        bits: length of the values, which are whole numbers below 2^bits; 1 to 62.
        epsilon: from 2^-10 to 20.
        step: by how many bits a level is longer than the one before; 1 to 12. Fewer levels leave more people for each;
            each needs 2^step times as much work.
        keep: how many prefixes are kept on the way; 1 to 4,096. Also the greatest number of values that are found.

    Raises:
        InvalidArgument: a parameter is out of range.

    Source: Wang, Li, Jha (2021), "Locally differentially private heavy hitter identification", the algorithm PEM;
    Bassily, Nissim, Stemmer, Thakurta (2017), the algorithm TreeHist, for the tree of prefixes.

    Examples:
        >>> words = HeavyHitters(bits=16, epsilon=4, step=8, keep=8)
        >>> held = np.concatenate([np.full(4000, 0xCAFE), np.full(3000, 0xBEEF), np.arange(3000)])
        >>> found = words.find(words.randomise_all(held), confidence=1 - 1e-9)
        >>> [hex(value) for value in found.values]
        ['0xcafe', '0xbeef']
    """

    bits: int
    epsilon: Fraction
    step: int = 4
    keep: int = 64

    def __post_init__(self) -> None:
        """Check before there is any value."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        for name, value, most in (
            ("bits", self.bits, _MOST_BITS),
            ("step", self.step, _MOST_STEP),
            ("keep", self.keep, 1 << 12),
        ):
            if type(value) is not int or not 1 <= value <= most:
                raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of prefixes, level by level; the last is that of the values."""
        return (*range(self.bits % self.step or self.step, self.bits, self.step), self.bits)

    @property
    def hashing(self) -> LocalHashing:
        """The protocol in which prefixes of all levels are reported."""
        return LocalHashing(1 << self.bits, self.epsilon)

    @property
    def law(self) -> TwoLevelLaw:
        """A report's law, given the level and the hash function."""
        return self.hashing.law

    @property
    def other(self) -> tuple[Fraction, Fraction]:
        """The least and greatest probability that a report supports a prefix its sender doesn't hold.

        It is 1/g but for what the hash functions deviate from ideal ones.
        """
        ideal, reach = Fraction(1, self.hashing.buckets), self.law.high - self.law.low
        return ideal - EXCESS * reach, ideal + EXCESS * reach

    def randomise(self, value: int) -> tuple[int, ...]:
        """One person's report: a level, a hash function in one or two numbers, and a bucket."""
        return tuple(self.randomise_all([value])[0].tolist())

    def randomise_all(self, values: Values) -> NDArray[np.int64]:
        """A report for each value: a row of three numbers, or four if `bits` is 31 or more.

        Raises:
            InvalidArgument: a value isn't a whole number below 2^bits.
        """
        return randomised(indices(values, 1 << self.bits), self.draw)

    def draw(self, values: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
        """Reports from a source of words."""
        levels = draw_uniform(len(self.lengths), len(values), source)
        prefixes = values >> (self.bits - np.array(self.lengths))[levels]
        return np.column_stack([levels, self.hashing.draw(prefixes, source)])

    def find(self, reports: NDArray[np.int64], confidence: Rationalizable = Fraction(19, 20)) -> Found:
        """The values that are frequent enough to be told from noise.

        A prefix that nobody holds is supported by each report of its level with the probability `other`, independently:
        each report has a hash function of its own, and reports of a level have no part in what was kept before.
        Prefixes go on only with more support than any such one has, on any level, with this confidence. People who
        hold a prefix that is dropped are lost to all longer ones.

        Args:
            reports: rows of numbers, as `randomise_all` makes them.
            confidence: that nothing is found which nobody holds, if everyone reports as the protocol says; in (0, 1).

        Raises:
            InvalidArgument: there are no reports, or one is malformed.
        """
        checked_rows(reports, self.hashing.words + 2, np.int64)
        counted(len(reports))
        doubt = 1 - probability(confidence, "confidence")
        levels = indices(reports[:, 0], len(self.lengths))
        prefixes, length = np.zeros(1, dtype=np.int64), 0
        here, supports = reports[:0], np.zeros(1, dtype=np.int64)
        chance = float(self.other[1])
        share = doubt / ((len(self.lengths) * self.keep) << self.step)
        for level, longer in enumerate(self.lengths):
            more = longer - length
            prefixes, length = ((prefixes[:, None] << more) + np.arange(1 << more)).reshape(-1), longer
            here = reports[levels == level, 1:]
            supports = self.hashing.supports(here, prefixes)
            best = np.argsort(-supports, kind="stable")[: self.keep]
            kept = best[supports[best] >= least_support(len(here), chance, float(share))]
            prefixes, supports = prefixes[kept], supports[kept]
        return Found(prefixes, self.counts(supports, len(here), len(reports)))

    def counts(self, supports: NDArray[np.int64], reports: int, users: int) -> Holders:
        """How many of all users hold each value, from its support in the reports of the last level.

        Those on the level are a sample of all, without replacement: of H holders among n people, r of them there,
        the holders on it have the mean rH/n and the variance r·H/n·(1 − H/n)·(n − r)/(n − 1).
        """
        own, other = float(self.law.high), 1 / self.hashing.buckets
        slope = own - other
        values = np.asarray(users * (supports / reports - other) / slope, dtype=np.float64)
        held = np.clip(values / users, 0, 1)
        noise = held * own * (1 - own) + (1 - held) * other * (1 - other)
        sampling = slope**2 * held * (1 - held) * (users - reports) / max(users - 1, 1)
        errors = users * np.sqrt((noise + sampling) / reports) / slope
        return Holders(values, errors, users, supports, reports, self.law.high, self.other)


def least_support(users: int, chance: float, doubt: float) -> int:
    """The least s for which Bin(users, chance) is s or more with a probability proved to be at most `doubt`.

    By Chernoff's bound e^(−users·KL(s/users ‖ chance)); users + 1 if no s will do.

    Source: Hoeffding (1963), Theorem 1, inequality (2.1).

    Examples:
        >>> least_support(100, 0.5, 1e-3), least_support(3, 0.5, 1e-3)
        (69, 4)
    """

    def rare(support: int) -> bool:
        share = support / users
        above = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
        return users * (share * log(share / chance) + above) >= -log(doubt)

    supports = range(int(users * chance) + 1, users + 1)
    return supports.start + bisect_left(supports, 1, key=rare)
