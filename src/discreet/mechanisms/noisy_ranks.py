"""Noisy ranks: counts of the rows in ranges of bins, with noise, from which any number of quantiles are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise

from discreet.errors import InvalidArgument, unforeseen
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.histogram import Contribution, Occupied, checked_size
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import checked_fraction
from discreet.privacy import ZCDP, Adjacency, GaussianEvent, LaplaceEvent, PureDP, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRanks:
    """Adds noise to the counts of ranges of bins, a tree of them, and reads quantiles and their intervals from these.

    Guarantee: what the noise guarantees, for the sensitivity of all ranges of all groups together. All that is read is
    post-processing (Dwork & Roth 2014, Proposition 2.1), so one more quantile costs nothing.

    *The tree.* All bins are cut into `branching` ranges, each of these into as many, and so on, `depth` times, down to
    the bins. Noise is drawn for those ranges that are looked at; that is as if it had been drawn for all.

    *Sensitivity.* A unit weighs at most `each` in one group and `total` in all. Of each level it is in ranges that are
    disjoint, so it adds numbers that aren't negative, `total` in sum over all groups, and at most `each` to one of
    them. Over all levels ℓ1 = depth·total, and ℓ2² ≤ ℓ∞·ℓ1 = depth·total·each. Substitution takes away one such vector
    u and adds another, v: no entry moves by more than `each`, ℓ1 doubles, and as neither has negative entries,
    |u − v|² ≤ |u|² + |v|², so that ℓ2² doubles as well. In g groups a unit has at most g·each in all.

    *Ranks.* By how much more than q·N rows lie below an edge between two ranges is S = (1 − q)·(those to its left) −
    q·(those to its right). At the edges of the first level it is read from the counts of that level; within a range
    whose edges have Sₐ and S_b, at the j-th of w = j/branching, as (1 − w)·(Sₐ + the counts to its left) + w·(S_b − the
    counts to its right). Let M be such that the noise of a read S is above M, or below −M, with probability at most
    (1 − c)/(2·depth) each, and r the most that a single row can be off, max(q, 1 − q).

    *The interval* begins at the last edge before the first one, from the left, of which S isn't below −r − M: at each
    level, within the range that was found at the one before. Let e be the first edge of a level of which the exact S is
    above −r, so that the quantile may lie to its left. The interval begins at e or beyond only if e was passed, and for
    that its noise must be below −M. That edge depends on the data alone. So over all levels it begins too far to the
    right with probability at most (1 − c)/2, and likewise for its end: the quantile lies in it with confidence c.

    *The bin* is found by halving: of the edges in the middle, the left or the right part is kept by the sign of S.

    Args:
        fractions: q of each quantile, in (0, 1).
        size: how many bins the grid has, 1 to 2²⁰.
        contribution: of one unit, in steps of the counts.
        noise: for the sensitivity of all ranges; see `sensitivity_of`.
        margins: for each quantile r + M, in steps; what is known of the law of sums of such noise.
        confidence: with which each interval holds its quantile, by the margins.

    Attributes:
        depth: how many levels the tree has.
        branching: how many ranges make up one of the level above.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Hay, Rastogi, Miklau, Suciu (2010), Section 4, for counts of ranges in a tree; the reading is ours.

    Examples:
        >>> alone = Contribution(each=1, total=1)
        >>> ranks = NoisyRanks(
        ...     fractions=(Fraction(1, 4), Fraction(3, 4)),
        ...     size=64,
        ...     contribution=alone,
        ...     noise=Laplace.calibrate(sensitivity_of(64, alone, is_gaussian=False), 1),
        ...     margins=(40.0, 40.0),
        ...     confidence=Fraction(19, 20),
        ... )
        >>> ranks.choose({10: 40_000, 42: 60_000})[1:]
        (10, 10, 10, 42, 42, 42)
    """

    fractions: tuple[Fraction, ...]
    size: int
    contribution: Contribution
    noise: Laplace | Gaussian
    margins: tuple[float, ...]
    confidence: Fraction
    depth: int = field(init=False)
    branching: int = field(init=False)

    def __post_init__(self) -> None:
        """Check before there is any data, and find the tree."""
        if not all(0 < checked_fraction(fraction) < 1 for fraction in self.fractions):
            raise InvalidArgument("noisy ranks tell no extremes: each fraction must be above 0 and below 1")
        if len(self.margins) != len(self.fractions):
            raise InvalidArgument("each fraction has its margin")
        depth, branching = shape_of(checked_size(self.size), is_gaussian=isinstance(self.noise, Gaussian))
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "branching", branching)
        if self.noise.sensitivity != sensitivity_of(
            self.size, self.contribution, is_gaussian=isinstance(self.noise, Gaussian)
        ):
            raise InvalidArgument("the noise isn't for the counts of this tree")

    @property
    def event(self) -> LaplaceEvent | GaussianEvent:
        """The event that accounting counts for all ranges of all groups together."""
        return self.noise.event

    @property
    def loss(self) -> PureDP | ZCDP:
        """The proved bound on what they give away together."""
        return self.noise.loss

    def choose(self, bins: Mapping[int, int]) -> tuple[int, ...]:
        """The noisy number of rows of one group; then of each quantile its bin, and its interval's first and last one.

        Args:
            bins: the counts of the bins that aren't empty, by their numbers from 0 to size − 1.

        Raises:
            InvalidArgument: it isn't a histogram of this size.
        """
        tree = _NoisyTree(self, Occupied.of(bins, self.size))
        found = [sum(tree.counts(0, 0))]
        for fraction, margin in zip(self.fractions, self.margins, strict=True):
            q = float(fraction)
            bin_ = self._descend(tree, q, _halved)
            first = self._descend(tree, q, partial(_from_left, most=-margin))
            last = self._descend(tree, q, partial(_from_right, least=margin))
            found += [bin_, min(first, bin_), max(last, bin_)]
        return tuple(found)

    def _descend(self, tree: _NoisyTree, q: float, choose: Callable[[Sequence[float]], int]) -> int:
        """The bin that one comes to by choosing one of the ranges at each level, by the ranks at their edges."""
        rows, node = sum(tree.counts(0, 0)), 0
        low, high = -q * rows, (1 - q) * rows
        for level in range(self.depth):
            ranks = _ranks_within(tree.counts(level, node), low, high)
            child = choose(ranks)
            low, high, node = ranks[child], ranks[child + 1], node * self.branching + child
        return min(node, self.size - 1)


class _NoisyTree:
    """The counts of ranges, each with its noise, drawn when it is first looked at.

    Args:
        of: whose noise it is.
        occupied: the bins.
    """

    def __init__(self, of: NoisyRanks, occupied: Occupied) -> None:
        self._of = of
        self._numbers = occupied.numbers
        self._held = [0, *accumulate(occupied.counts.tolist())]
        self._drawn: dict[tuple[int, int], list[int]] = {}

    def counts(self, level: int, node: int) -> list[int]:
        """The noisy counts of the ranges that make up one range, by its number, of a level; the root is of level 0."""
        if (level, node) not in self._drawn:
            import numpy as np

            branching = self._of.branching
            width = branching ** (self._of.depth - level - 1)
            edges = np.arange(node * branching, (node + 1) * branching + 1) * width
            held = [self._held[place] for place in np.searchsorted(self._numbers, edges).tolist()]
            exact = [end - start for start, end in pairwise(held)]
            self._drawn[level, node] = [int(each) for each in self._of.noise.release(exact)]
        return self._drawn[level, node]


def _ranks_within(counts: Sequence[int], low: float, high: float) -> list[float]:
    """S at all edges of the ranges that make up one, by S at both ends of it."""
    total, number = sum(counts), len(counts)
    left = [0, *accumulate(counts)]
    inner = [
        (1 - place / number) * (low + left[place]) + place / number * (high - (total - left[place]))
        for place in range(1, number)
    ]
    return [low, *inner, high]


def _halved(ranks: Sequence[float]) -> int:
    """The range in which S changes its sign, found by halving."""
    first, last = 0, len(ranks) - 1
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if ranks[middle] <= 0 else (first, middle)
    return first


def _from_left(ranks: Sequence[float], most: float) -> int:
    """The range before the first inner edge of which S is above this; the last one if there is none."""
    return next((place - 1 for place in range(1, len(ranks) - 1) if ranks[place] > most), len(ranks) - 2)


def _from_right(ranks: Sequence[float], least: float) -> int:
    """The range behind the last inner edge of which S is below this; the first one if there is none."""
    return next((place for place in range(len(ranks) - 2, 0, -1) if ranks[place] < least), 0)


@lru_cache(maxsize=1 << 10)
def shape_of(size: int, *, is_gaussian: bool) -> tuple[int, int]:
    """How many levels a tree over this many bins has, and how many ranges make up one, so that a median errs least.

    Noise that is split over d levels grows by d, Gaussian noise by √d, and the variance of a median's rank is that of
    branching·d/4 noises.

    Examples:
        >>> shape_of(1 << 14, is_gaussian=False), shape_of(1 << 14, is_gaussian=True), shape_of(111, is_gaussian=False)
        ((3, 26), (5, 7), (2, 11))
    """
    shapes = []
    for depth in range(1, 21):
        branching = 2
        while branching**depth < size:
            branching += 1
        shapes.append(((depth if is_gaussian else depth**2) * branching * depth, depth, branching))
    return min(shapes)[1:]


def sensitivity_of(size: int, contribution: Contribution, *, is_gaussian: bool) -> Sensitivity:
    """The sensitivity of the counts of all ranges of all groups together; proved at `NoisyRanks`."""
    depth, _ = shape_of(size, is_gaussian=is_gaussian)
    each, groups = contribution.each, contribution.groups
    total = contribution.total if groups is None else min(contribution.total, groups * each)
    match contribution.adjacency:
        case Adjacency.ADD_REMOVE:
            vectors = 1
        case Adjacency.SUBSTITUTION:
            vectors = 2
        case _:
            raise unforeseen(contribution.adjacency)
    most = depth * total * vectors
    return Sensitivity(l0=most, linf=each, l1=most, l2_squared=Fraction(most * each))
