"""From the pairs of a frequency table to figures of its classes, and comparisons that no rounding decides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Codes, Mask, Whole
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.models.model import MOST
from discreet.errors import InvalidArgument
from discreet.hints import Hint

Exact: TypeAlias = NDArray[Any]
"""Whole numbers of any size: int64 where they fit, else Python's own in an array of objects."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Counts:
    """The counts of a sensitive attribute, class by class, with what is worked out of them again and again.

    A unit with several values in a class counts for each of them. Models then take it to have the one that gives most
    away, so that a class never looks more diverse than it is.

    Args:
        sizes: for each class, among how many units one of its units hides: what the counts of its pairs add up to, or
            less where units have several values.
        starts: for each class, its first pair; every class has a pair.
        lengths: for each class, how many pairs it has.
        values: for each pair, the code of the value; ascending within a class.
        counts: for each pair, how many units have the value; at least 1.
        totals: for each value, how many units of the whole table have it.
        whole: how many units there are; with `totals` at most 2^31, so that products of two counts fit in 63
            bits.

    Raises:
        InvalidArgument: there are more.
    """

    sizes: Exact
    starts: Whole
    lengths: Whole
    values: Codes
    counts: Exact
    totals: Whole
    whole: int

    def __post_init__(self) -> None:
        if max(self.held, self.whole) > MOST:
            raise InvalidArgument("tables of more than 2^31 rows can't be measured")

    @property
    def held(self) -> int:
        """How many pairs of a unit and a value the whole table has."""
        return int(self.totals.sum())

    @property
    def uneven(self) -> bool:
        """Whether some unit has several values, so that shares needn't add up to 1."""
        return self.held > self.whole

    @property
    def several(self) -> bool:
        """Whether some unit has several values in a class."""
        return self.uneven and bool((self.sums(self.counts) > self.sizes).any())

    def spread(self, of_classes: Exact) -> Exact:
        """To each pair, the number of its class."""
        return np.repeat(of_classes, self.lengths)

    def sums(self, of_pairs: Exact) -> Exact:
        """For each class, the sum over its pairs."""
        added: Exact = np.add.reduceat(of_pairs, self.starts)
        return added

    def most(self, of_pairs: Exact) -> Exact:
        """For each class, the largest over its pairs."""
        largest: Exact = np.maximum.reduceat(of_pairs, self.starts)
        return largest

    def least(self, of_pairs: Exact) -> Exact:
        """For each class, the smallest over its pairs."""
        smallest: Exact = np.minimum.reduceat(of_pairs, self.starts)
        return smallest

    def every(self, of_pairs: Mask) -> Mask:
        """For each class, whether it holds for all of its pairs."""
        all_of_them: Mask = np.logical_and.reduceat(of_pairs, self.starts)
        return all_of_them

    def gains(self) -> tuple[Whole, Whole]:
        """For each pair, n·N and s·T: by their ratio the value is more frequent in the class than in the table.

        Both are at most 2^62, as no count exceeds 2^31.
        """
        return self.counts * self.whole, self.spread(self.sizes) * self.totals[self.values]

    def covered(self, number: int) -> Exact:
        """For each class, how many units its `number` most frequent values hold at most: their counts, added up."""
        if number < 1:
            return np.zeros_like(self.sizes)
        if number == 1:
            return self.most(self.counts)  # no need to sort
        ordered, rank = self._ranked()
        return self.sums(np.where(rank < number, ordered, 0))

    def fewest(self) -> Whole:
        """For each class, the least number of values whose counts add up to all of its units."""
        ordered, rank = self._ranked()
        reached = np.cumsum(ordered)
        before = reached - ordered
        short = before - self.spread(before[self.starts]) < self.spread(self.sizes)  # without it, some unit is left
        return np.asarray(self.most(np.where(short, rank + 1, 0)), dtype=np.int64)

    def _ranked(self) -> tuple[Exact, Whole]:
        """The counts of each class, the largest first, and the places that they have there.

        They are sorted within classes as one number each, class · 2^31 − count, which is below 2^62.
        """
        keys = self.spread(np.arange(1, len(self.sizes) + 1)) << 31
        ordered = keys - np.sort(keys - self.counts, kind="stable")
        return ordered, np.arange(len(ordered)) - self.spread(self.starts)

    def only(self, classes: Mask, kind: type) -> Counts:
        """The same of some classes, in numbers of another kind: np.int64, or object for numbers of any size."""
        lengths = self.lengths[classes]
        pairs = np.repeat(classes, self.lengths)
        return Counts(
            sizes=self.sizes[classes].astype(kind),
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
            values=self.values[pairs],
            counts=self.counts[pairs].astype(kind),
            totals=self.totals,
            whole=self.whole,
        )


def counts_of(frequencies: Frequencies, sensitive: str) -> Counts:
    """The counts of the sensitive attribute of this name.

    Raises:
        InvalidArgument: the frequencies have no sensitive attribute, or another one, or too many rows.
    """
    held = frequencies.sensitive
    if held is None or held.name != sensitive:
        has = "no sensitive attribute" if held is None else f"{held.name!r}"
        raise InvalidArgument(
            f"the model is about the sensitive attribute {sensitive!r}, but the frequencies hold {has}",
            hint=Hint.of("count them with {sensitive}", sensitive=sensitive),
        )
    return Counts(
        sizes=frequencies.sizes,
        starts=frequencies.starts[:-1],
        lengths=np.diff(frequencies.starts),
        values=frequencies.values,
        counts=frequencies.counts,
        totals=frequencies.totals,
        whole=frequencies.whole,
    )


def population_of(frequencies: Frequencies) -> Whole:
    """For each class, how many units of the population have the same quasi-identifiers.

    Raises:
        InvalidArgument: there is no population.
    """
    if frequencies.population is None:
        raise InvalidArgument(
            "the model compares with a population, but the frequencies have none",
            hint=Hint.of("count them with {population}, a table of everyone the rows were drawn from", population=None),
        )
    return frequencies.population


_ROOM = (1 << 63) - 1
_Key = TypeVar("_Key", bound=Hashable)


def at_most(numerators: Exact, denominators: Exact, threshold: Fraction) -> Mask:
    """Which ratios are at most a threshold, exactly.

    Args:
        numerators: whole numbers of 0 or more.
        denominators: the same; where one is 0, the ratio is infinite, or 0 if the numerator is 0 too.
        threshold: 0 or more.

    Examples:
        >>> at_most(np.array([1, 2]), np.array([3, 3]), Fraction(1, 3)).tolist()
        [True, False]
    """
    return _cross(numerators, denominators, threshold, np.less_equal)


def below(numerators: Exact, denominators: Exact, threshold: Fraction) -> Mask:
    """Which ratios are below a threshold, exactly; arguments as for `at_most`.

    Examples:
        >>> below(np.array([1, 2]), np.array([3, 7]), Fraction(1, 3)).tolist()
        [False, True]
    """
    return _cross(numerators, denominators, threshold, np.less)


def _cross(numerators: Exact, denominators: Exact, threshold: Fraction, relation: Callable[..., Any]) -> Mask:
    """Compare the cross products: in 64 bits where they fit, else in Python's whole numbers."""
    up, down = threshold.numerator, threshold.denominator
    if max(up, down) > _ROOM or "O" in numerators.dtype.char + denominators.dtype.char:
        large = np.ones(len(numerators), dtype=np.bool_)
    else:
        large = (numerators > _ROOM // down) | (denominators > _ROOM // max(up, 1))
        if not large.any():
            return np.asarray(relation(numerators * down, denominators * up), dtype=np.bool_)
    found = np.empty(len(numerators), dtype=np.bool_)
    found[large] = relation(numerators[large].astype(object) * down, denominators[large].astype(object) * up)
    if not large.all():
        found[~large] = relation(numerators[~large] * down, denominators[~large] * up)
    return found


def settled(decide: Callable[[_Key], bool], doubtful: Iterable[_Key]) -> Mask:
    """Decide what rounding left in doubt, each different case once.

    Args:
        decide: decides a case exactly.
        doubtful: the cases.
    """
    cases = list(doubtful)
    known = {case: decide(case) for case in set(cases)}
    return np.array([known[case] for case in cases], dtype=np.bool_)


def log_at_most(number: Fraction, bound: Fraction) -> bool:
    """Whether ln(number) ≤ bound, exactly; `<` says the same unless both are 0.

    Proof. The logarithm of a rational other than 1 is no rational (Lindemann), so that ln(number) − bound is either
    ln(1) − bound, which is known, or not 0, and a ball of enough precision tells its sign.

    Args:
        number: above 0.
        bound: any rational.

    Examples:
        >>> log_at_most(Fraction(2), Fraction("0.6931471805599453")), log_at_most(Fraction(1), Fraction(0))
        (False, True)
    """
    if number == 1:
        return bound >= 0
    from discreet.exact.ball import ball, enclose

    try:
        return enclose(lambda: ball(number).log() - ball(bound), bits=8)[1] < 0
    except ArithmeticError:
        return False  # nearer than some 65,000 bits tell: doubt refuses
