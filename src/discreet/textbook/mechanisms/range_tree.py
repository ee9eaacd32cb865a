"""Range queries over an ordered domain: noisy sums over the nodes of a binary tree answer them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.privacy import ADD_REMOVE, ZCDP, Adjacency, GaussianEvent, LaplaceEvent, PureDP, Sensitivity
from discreet.textbook.mechanisms.range_consistency import consistent, gaussian_radius, laplace_radius

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray


MOST_LEAVES = 1 << 24


@dataclass(frozen=True, slots=True)
class RangeTree:
    """Adds noise to the sum of every node of a binary tree over the counts of an ordered domain.

    Any range is then the sum of a few nodes, at most two per level: over n leaves the error grows with a power of
    log n, where noise on each leaf would make it grow with √n.

    Guarantee: what the noise guarantees, for the sensitivity of all nodes together; see `sensitivity_of`.

    Args:
        leaves: how many counts there are; 1 to 2²⁴. If that isn't a power of two, empty ones are added at the end.
        noise: for the sensitivity of all nodes.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Hay, Rastogi, Miklau, Suciu (2010), "Boosting the accuracy of differentially private histograms through
    consistency", Theorem 3; Dwork, Naor, Pitassi, Rothblum (2010), "Differential privacy under continual observation",
    the theorem on its counter, for the same tree over time.

    Examples:
        >>> ages = RangeTree.calibrate(128, epsilon=1)
        >>> ages.noise.scale, print(ages.loss)
        ε = 1
        (Fraction(8, 1), None)
        >>> released = ages.release([1000] * 128)
        >>> abs(released.sum(18, 65) - 47_000) < 2 * ages.radius("0.999999", 18, 65)
        True
    """

    leaves: int
    noise: Laplace | Gaussian

    def __post_init__(self) -> None:
        """Check before there is any data."""
        _checked(self.leaves)

    @classmethod
    def calibrate(
        cls, leaves: int, epsilon: Rationalizable, *, rows: int = 1, adjacency: Adjacency = ADD_REMOVE
    ) -> Self:
        """The tree that is ε-DP, with Laplace noise.

        Args:
            leaves: how many counts there are; 1 to 2²⁴.
            epsilon: above 0.
            rows: how much a unit adds to all counts together; 1 or more.
            adjacency: how neighbours differ.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(leaves, Laplace.calibrate(sensitivity_of(leaves, rows, adjacency), positive(epsilon, "epsilon")))

    @classmethod
    def for_rho(cls, leaves: int, rho: Rationalizable, *, rows: int = 1, adjacency: Adjacency = ADD_REMOVE) -> Self:
        """The tree that is ρ-zCDP, with Gaussian noise: less of it over many levels; the arguments are as above.

        Raises:
            InvalidArgument: a number is out of range.
        """
        return cls(leaves, Gaussian.for_rho(sensitivity_of(leaves, rows, adjacency), positive(rho, "rho")))

    @property
    def depth(self) -> int:
        """How many levels lie below the root."""
        return (self.leaves - 1).bit_length()

    @property
    def event(self) -> LaplaceEvent | GaussianEvent:
        """The event that accounting counts for a release."""
        return self.noise.event

    @property
    def loss(self) -> PureDP | ZCDP:
        """The proved bound on what a release gives away."""
        return self.noise.loss

    def release(self, counts: Sequence[int] | NDArray[Any]) -> Ranges:
        """The noisy sums of all nodes.

        Args:
            counts: one for each leaf, whole numbers. Sums that exceed 64 bits wrap around, as noise is added to them:
                then they mean nothing, but they give nothing away.

        Raises:
            InvalidArgument: there aren't as many as there are leaves, or they aren't whole numbers.
        """
        import numpy as np

        given = np.asarray(counts)
        if given.shape != (self.leaves,) or given.dtype.kind not in "iu":
            raise InvalidArgument("there must be one whole number for each leaf, of at most 64 bits")
        level = np.zeros(1 << self.depth, dtype=np.int64)
        level[: self.leaves] = given
        levels = [level]
        while len(levels[-1]) > 1:
            levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
        noise = self._draws(2 * len(level) - 1)
        noisy = []
        for sums in levels:
            noisy.append(sums + noise[: len(sums)])
            noise = noise[len(sums) :]
        return Ranges(self, tuple(reversed(noisy)))

    def mass(self, n: int) -> float:
        """Pr[noise = n] for one node, for pictures, audits and tests."""
        return self.noise.mass(n)

    def radius(self, confidence: Rationalizable, low: int = 0, high: int | None = None) -> int:
        """How far the consistent sum over a range lies from the exact one, at most, with this confidence.

        It is above the least such number: by some 10 % where the noise is 20 steps wide, see
        `discreet.textbook.mechanisms.range_tree`.

        Args:
            confidence: in (0, 1).
            low: the first leaf of the range.
            high: the one after its last; None for the end.

        Raises:
            InvalidArgument: the range is empty, or out of bounds.
        """
        end = self.leaves if high is None else high
        _range(low, end, self.leaves)
        doubt = float(1 - probability(confidence, "confidence"))
        if isinstance(self.noise, Gaussian):
            return ceil(gaussian_radius(float(self.noise.sigma), self.depth, low, end, doubt))
        return ceil(laplace_radius(float(self.noise.scale), self.depth, low, end, doubt))

    def _draws(self, count: int) -> NDArray[Any]:
        """Noise for that many nodes."""
        from discreet.noise import discrete_gaussian, discrete_laplace

        if isinstance(self.noise, Gaussian):
            return discrete_gaussian(self.noise.sigma, size=count)
        return discrete_laplace(self.noise.scale, size=count)


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """The noisy sums of all nodes. All of it may be published.

    Args:
        tree: what made them.
        nodes: noisy sums from the root to the leaves, one array per level.

    Attributes:
        sums: the same made consistent, in floats.
    """

    tree: RangeTree
    nodes: tuple[NDArray[Any], ...]
    sums: list[NDArray[np.float64]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", consistent(self.nodes))

    def sum(self, low: int, high: int) -> float:
        """The consistent estimate of the sum over leaves low to high − 1. It is off by at most `tree.radius`.

        Raises:
            InvalidArgument: the range is empty, or out of bounds.
        """
        _range(low, high, self.tree.leaves)
        return float(sum(self.sums[level][place] for level, place in covering(self.tree.depth, low, high)))

    def raw(self, low: int, high: int) -> int:
        """The sum of the fewest noisy nodes that make up leaves low to high − 1: an exact integer, but noisier.

        Raises:
            InvalidArgument: the range is empty, or out of bounds.
        """
        _range(low, high, self.tree.leaves)
        return sum(int(self.nodes[level][place]) for level, place in covering(self.tree.depth, low, high))


def covering(depth: int, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The fewest nodes that make up leaves low to high − 1: the level of each, from 0 at the root, and its place in it.

    Examples:
        >>> list(covering(3, 1, 8))
        [(3, 1), (2, 1), (1, 1)]
    """
    level = depth
    while low < high:
        if low & 1:
            yield level, low
            low += 1
        if high & 1:
            high -= 1
            yield level, high
        low, high, level = low >> 1, high >> 1, level - 1


def sensitivity_of(leaves: int, rows: int = 1, adjacency: Adjacency = ADD_REMOVE) -> Sensitivity:
    """How far all nodes of a tree can move together, if a unit adds at most this many rows to all leaves.

    Proof. On each of the L levels, the unit's rows fall on nodes without overlap: a vector of counts a ≥ 0 that sum to
    at most m, so ℓ1 ≤ m, ℓ∞ ≤ m and Σaⱼ² ≤ m². Under substitution it moves by a − b, each of which is such: ℓ1 ≤ 2m,
    ℓ∞ ≤ m and Σ(aⱼ−bⱼ)² ≤ Σaⱼ² + Σbⱼ² ≤ 2m², as products of counts aren't negative. Levels add up.

    Args:
        leaves: 1 to 2²⁴.
        rows: m, 1 or more.
        adjacency: how neighbours differ.

    Raises:
        InvalidArgument: a number is out of range.
    """
    if type(rows) is not int or rows < 1:
        raise InvalidArgument(f"rows must be a whole number of at least 1, not {rows!r}")
    levels = (_checked(leaves) - 1).bit_length() + 1
    units = 1 if adjacency is ADD_REMOVE else 2
    l1 = levels * units * rows
    return Sensitivity(l0=l1, linf=rows, l1=l1, l2_squared=Fraction(levels * units * rows**2))


def _checked(leaves: int) -> int:
    """The number of leaves, if it is in range."""
    if type(leaves) is not int or not 1 <= leaves <= MOST_LEAVES:
        raise InvalidArgument(f"leaves must be a whole number from 1 to 2²⁴, not {leaves!r}")
    return leaves


def _range(low: int, high: int, leaves: int) -> None:
    """Refuse what isn't a range of leaves."""
    if not 0 <= low < high <= leaves:
        raise InvalidArgument(
            f"a range's ends must be from 0 to {leaves}, the first below the last, not {low} and {high}"
        )
