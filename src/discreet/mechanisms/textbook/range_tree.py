"""Range queries over an ordered domain: noisy sums over the nodes of a binary tree, made consistent, answer them all.

**Consistency.** A leaf has height 1. With βₕ = 2^(h−1)/(2^h − 1), so β₁ = 1, β₂ = 2/3 and so on down to 1/2, the
least-squares solution gives a node of height h the weight βₕ for its own noisy sum and 1 − βₕ for that of its children.

Source: Hay, Rastogi, Miklau, Suciu (2010), "Boosting the accuracy of differentially private histograms through
consistency", Theorem 3.

**Errors.** The error of the consistent sum over a range is S = Σw(v)·X(v), with the weights of `weights`, and V = Σw².
Two bounds on Pr[|S| > t] hold, and the lesser t is taken. All is in floats: an interval speaks of accuracy, and no
guarantee rests on it.

*Chernoff.* Let g(λ²) = log E exp(λX). For Gaussian noise g(x) ≤ σ²x/2. For Laplace noise of scale s,
exp(g) = (cosh(1/s) − 1)/(cosh(1/s) − cosh λ), and g is convex with g(0) = 0, because cosh √x is convex. No weight
exceeds 1, so g(w²λ²) ≤ w²g(λ²), and Pr[|S| > t] ≤ 2·exp(V·g(λ²) − λt) for any λ. It holds for any scale, and is wide.

*Real noise.* Discrete noise is real noise and a small rest, of which a 1/32 of the doubt takes care.

- Gaussian, σ ≥ 4: let Z be normal of variance 2. By Poisson's summation formula X + Z has at most 1 + 10⁻¹⁴ times the
  density of a normal of variance σ² + 2 (with v = 2σ²/(σ² + 2) ≥ 16/9, the factor is 1 + 2Σ exp(−2π²vj²)); over all
  nodes of any tree that makes 1 + 10⁻⁶. So S + Σw·Z is as good as normal, and S lies within Σw·Z of it.
- Laplace: with E a standard exponential, |X| = ⌊c + s·E⌋ for a c in (0, 1/2], see `discreet.noise.laplace_sampler`. So
  X = L + D with L = ±s·E real Laplace noise and D symmetric, |D| < 1. By Hoeffding |Σw·D| exceeds d with probability
  at most 2·exp(−d²/2V). The law of Σw·L has the characteristic function φ(u) = Π 1/(1 + s²w²u²), which is inverted by
  numbers.

Source: Canonne, Kamath, Steinke (2020), the lemma that a discrete Gaussian is subgaussian; Gil-Pelaez (1951), the
inversion theorem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, inf, log, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.additive_noise import Gaussian, Laplace
from discreet.privacy import ADD_REMOVE, ZCDP, Adjacency, GaussianEvent, LaplaceEvent, PureDP, Sensitivity

if TYPE_CHECKING:
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
        """What a release does, for accounting."""
        return self.noise.event

    @property
    def loss(self) -> PureDP | ZCDP:
        """What a release is proved to give away at the most."""
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
        `discreet.mechanisms.textbook.range_tree`.

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
        """Make them agree: post-processing, at no cost."""
        object.__setattr__(self, "sums", consistent(self.nodes))

    def sum(self, low: int, high: int) -> float:
        """The consistent estimate of the sum over leaves low to high − 1. It is off by `tree.radius` at the most.

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
    """How far all nodes of a tree can move together, if a unit adds at most so many rows to all leaves.

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


# ── Consistency ───────────────────────────────────────────────────────────────────────────────────────────────────────


def consistent(levels: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """The sums that agree, nearest to the noisy ones in least squares; in floats, as post-processing.

    Going up, a node's estimate is the weighted mean of its own sum and its children's; going down, what a node has more
    than its children is shared out between them.

    Args:
        levels: noisy sums from the root to the leaves: 1, 2, 4, … of them.
    """
    up = [levels[-1].astype(float)]
    for height, level in enumerate(reversed(levels[:-1]), start=2):
        own = float(share(height))
        up.append(own * level.astype(float) + (1 - own) * _pairs(up[-1]))
    down = [up[-1]]
    for level in reversed(up[:-1]):
        missing = (down[-1] - _pairs(level)) / 2
        down.append((level.reshape(-1, 2) + missing[:, None]).reshape(-1))
    return down


def share(height: int) -> Fraction:
    """βₕ."""
    return Fraction(1 << (height - 1), (1 << height) - 1)


@lru_cache(maxsize=4096)
def variance(depth: int, low: int, high: int) -> Fraction:
    """The variance of the consistent sum over leaves low to high − 1, in units of one node's variance; exactly.

    The consistent sum weighs the noise of each node v by some w(v). These weights form a consistent tree themselves
    (each is the sum of its children's), and on the path from the root to a leaf they add up to 1 if the leaf is in the
    range, else to 0; both follow from least squares. So Σw² is the sum of the leaves' weights over the range.

    Let c be what the path above a node of height h adds up to. Then w = α − βₕ·c, where α is βₕ for a node that lies
    in the range, 0 for one outside, and (α′ + α″)/(1 + 2βₕ₋₁) for one with children's α′ and α″. By induction
    0 ≤ α ≤ βₕ, so c stays within [0, 1], and **no weight exceeds 1**: |w| ≤ βₕ.

    Args:
        depth: of the tree; 2^depth leaves.
        low: the first leaf of the range.
        high: the one after its last.
    """
    return _solve(depth + 1, low, high)[1]


def weights(depth: int, low: int, high: int) -> list[tuple[float, int]]:
    """The sizes of the weights w(v) of `variance`, and how many nodes have each; nodes without weight aren't counted.

    In a subtree that lies within the range, or outside of it, all nodes of a height are alike. So there are some
    depth² sizes at most.
    """
    counted: Counter[float] = Counter()
    waiting = [(depth + 1, low, high, Fraction(0))]
    while waiting:
        height, start, end, path = waiting.pop()
        half = (1 << height) // 4
        if start < end and (start, end) != (0, 1 << (height - 1)):
            own = _solve(height, start, end)[0] - share(height) * path
            counted[abs(float(own))] += 1
            waiting.append((height - 1, start, min(end, half), path + own))
            waiting.append((height - 1, max(start - half, 0), end - half, path + own))
        else:
            for below in range(height, 0, -1):
                own = share(below) * (int(start < end) - path)
                counted[abs(float(own))] += 1 << (height - below)
                path += own
    del counted[0.0]
    return list(counted.items())


def _solve(height: int, low: int, high: int) -> tuple[Fraction, Fraction, Fraction]:
    """For a subtree: its root's α, and r, r′ such that its leaves in the range have weights that sum to r + r′·c."""
    size, own = 1 << (height - 1), share(height)
    if low >= high:
        return Fraction(0), Fraction(0), Fraction(0)
    if low == 0 and high == size:
        return own, own, -own
    half = size // 2
    left = _solve(height - 1, low, min(high, half))
    right = _solve(height - 1, max(low - half, 0), high - half)
    alpha = (left[0] + right[0]) / (1 + 2 * share(height - 1))
    constant, slope = left[1] + right[1], left[2] + right[2]
    return alpha, constant + slope * alpha, slope * (1 - own)


def _pairs(level: NDArray[Any]) -> NDArray[Any]:
    """The sums of neighbours, two by two."""
    sums: NDArray[Any] = level.reshape(-1, 2).sum(axis=1)
    return sums


# ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_REST = 1 / 32
"""What part of the doubt the rest gets."""

_SMOOTH = 4.0
"""From this σ on the Gaussian's rest is as stated; more of Z isn't needed."""

_VARIANCE = 2.0
_EXCESS = 1e-6

_FAR = 40
_MOST_STEPS = 1 << 14
_FOLLOWED = 1e-12
_BLOCK = 256


def gaussian_radius(sigma: float, depth: int, low: int, high: int, doubt: float) -> float:
    """A t with Pr[|S| > t] ≤ doubt, for Gaussian noise."""
    spread = float(variance(depth, low, high))
    chernoff = sigma * sqrt(2 * spread * log(2 / doubt))
    if sigma < _SMOOTH:
        return chernoff
    normal = -NormalDist().inv_cdf(doubt * (1 - _REST) / (1 + _EXCESS) / 2) * sqrt(spread * (sigma**2 + _VARIANCE))
    rest = -NormalDist().inv_cdf(doubt * _REST / 2) * sqrt(spread * _VARIANCE)
    return min(chernoff, normal + rest)


def laplace_radius(scale: float, depth: int, low: int, high: int, doubt: float) -> float:
    """A t with Pr[|S| > t] ≤ doubt, for Laplace noise."""
    spread = float(variance(depth, low, high))
    rest = sqrt(2 * spread * log(2 / (doubt * _REST)))
    return min(_chernoff(scale, spread, doubt), scale * _real_laplace(depth, low, high, doubt * (1 - _REST)) + rest)


def _chernoff(scale: float, spread: float, doubt: float) -> float:
    """The least (V·g(λ²) + log(2/doubt))/λ, over λ from 0 to 1/scale by golden section; any λ is sound."""

    def bound(share: float) -> float:
        top = 1 / scale
        moment = 2 * _log_sinh(top / 2) - _log_sinh(top * (1 + share) / 2) - _log_sinh(top * (1 - share) / 2)
        return (spread * moment + log(2 / doubt)) / (share * top)

    low, high, golden, best = 0.0, 1.0, (sqrt(5) - 1) / 2, inf
    for _ in range(80):
        first, second = high - golden * (high - low), low + golden * (high - low)
        at_first, at_second = bound(first), bound(second)
        best = min(best, at_first, at_second)
        low, high = (low, second) if at_first < at_second else (first, high)
    return best


def _log_sinh(x: float) -> float:
    """Log sinh x for x > 0, without overflow: x + log((1 − e^(−2x))/2)."""
    return x + log(-expm1(-2 * x) / 2)


@lru_cache(maxsize=1024)
def _real_laplace(depth: int, low: int, high: int, doubt: float) -> float:
    """The least t with Pr[|Σw·L| > t] ≤ doubt, for real Laplace noise of scale 1; or slightly more.

    Pr[|Σw·L| > t] = 1 − (2/π) ∫₀^∞ sin(ut) φ(u)/u du. The integral is a sum at the midpoints of steps of π/(40 sd) up
    to T. What that adds is at most Pr[|Σw·L| > 80 sd − t], beyond any digit here; what it leaves out is at most φ(T) if
    T is at least 1 over the largest weight, because φ(u)·(1 + w²u²) doesn't grow.
    """
    import numpy as np

    far = _FAR * sqrt(2 * float(variance(depth, low, high)))
    points = (np.arange(_MOST_STEPS) + 0.5) * pi / far
    values = _characteristic(weights(depth, low, high), points)
    kept = max(int(np.count_nonzero(values > _FOLLOWED)), _BLOCK)
    terms = 2 * values[:kept] / (np.arange(kept) + 0.5) / pi
    omitted = 2 / pi * float(values[min(kept, _MOST_STEPS - 1)])
    near, out = 0.0, far
    for _ in range(48):
        middle = (near + out) / 2
        outside = 1 - float(np.sum(np.sin(points[:kept] * middle) * terms)) + omitted
        near, out = (middle, out) if outside > doubt else (near, middle)
    return out


def _characteristic(counted: list[tuple[float, int]], points: NDArray[Any]) -> NDArray[np.float64]:
    """φ at points that rise, by weights and how often each occurs; 0 from where it is next to nothing."""
    import numpy as np

    values = np.zeros(len(points))
    sizes, numbers = (np.array(column) for column in zip(*counted, strict=True))
    for start in range(0, len(points), _BLOCK):
        piece = points[start : start + _BLOCK]
        decay = numbers @ np.log1p((sizes[:, None] * piece) ** 2)
        values[start : start + _BLOCK] = np.exp(-decay)
        if exp(-decay[-1]) < _FOLLOWED:
            break
    return values
