"""Models of the population that a sample was drawn from, fitted to the sizes of the sample's classes.

Pitman's sampling formula: people come one after another, and each joins a class or opens one. The slide negative
binomial model: a class has 1 + X people, X negative binomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, sqrt

import numpy as np

from discreet.anonymity.anonymity_sets import ClassSizes
from discreet.anonymity.columns import Reals

# ── Pitman's sampling formula ─────────────────────────────────────────────────────────────────────────────────────────

_STEPS = 200
_HALVINGS = 30
_BORDER = 1e-6
"""Nearer to α = 0 or 1 than this, the likelihood has its peak at the border, if it has one."""
_NEAR = 1e-10
"""Newton's method has arrived when its next step gains no more than this: it is a hundred-thousandth of a standard
error long, and the error after it is the square of that."""
_FLAT = 1e-12
"""Curvature, in units in which each parameter's own is 1, that can't be told from none."""
_ROUNDING = 1e-14
"""What rounding leaves open of a likelihood, relative to its size."""
_LARGE = 1e4
"""From here on ratios of gamma functions come from their series, which errs by less than 10⁻¹³."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pitman:
    """The random partition with parameters θ and α.

    The next of n people joins a class of j with probability (j − α)/(θ + n) and opens a new one with the rest. Who is
    drawn from such a population forms such a partition again, with the same parameters; so what a sample tells holds
    for the population.

    Args:
        theta: θ, above −α: how readily classes are opened.
        alpha: α, in [0, 1): 0 is Ewens's formula; more makes more unique rows.

    Source: Pitman (1995), "Exchangeable and partially exchangeable random partitions", the definition of the
    two-parameter sampling formula; Hoshino (2001), "Applying Pitman's sampling formula to microdata disclosure risk
    assessment", the section on the model.

    Examples:
        >>> model = Pitman(theta=1.0, alpha=0.0)
        >>> round(model.expected_of_size(1, 100), 6), round(model.expected_of_size(2, 100), 6)
        (1.0, 0.5)
    """

    theta: float
    alpha: float

    def expected_of_size(self, size: int, people: int) -> float:
        """How many classes of this size are expected among so many people.

        C(N, j)·(1−α)_{j−1}·(θ+α)_{N−j} / (θ+1)_{N−1}, where (x)_m = x(x+1)…(x+m−1): the chance that j given people form
        a class and nobody joins them.
        """
        if not 1 <= size <= people:
            return 0.0
        theta, alpha, rest = self.theta, self.alpha, people - size
        choose = log_gamma_ratio(people - size + 1, size) - lgamma(size + 1)
        formed = lgamma(size - alpha) - lgamma(1 - alpha)
        # (θ+α)_rest / (θ+1)_{N−1} = Γ(θ+1)/Γ(θ+α) · Γ(θ+α+rest)/Γ(θ+N)
        begun = log_gamma_ratio(theta + alpha, 1 - alpha) - log_gamma_ratio(theta + alpha + rest, size - alpha)
        return exp(choose + formed + begun)

    def log_likelihood(self, sizes: ClassSizes) -> float:
        """The logarithm of the probability of a partition with these sizes, without terms free of θ and α."""
        counted = _Counted.of(sizes)
        return counted.likelihood(self.theta, self.alpha)

    def score(self, sizes: ClassSizes) -> tuple[float, float]:
        """The slope of the logarithm of the likelihood in θ and in α; both are 0 where it is largest."""
        slope, _ = _Counted.of(sizes).slopes(self.theta, self.alpha)
        return float(slope[0]), float(slope[1])


def fit_pitman(sizes: ClassSizes) -> Pitman | None:
    """The parameters that make a sample's class sizes likeliest, by Newton's method.

    Args:
        sizes: of the sample's classes.

    Returns:
        The model; None if the method doesn't settle inside 0 < α < 1 and θ > −α: the likelihood has no peak there.

    Source: Hoshino (2001), the section on the maximum likelihood estimate.
    """
    if sizes.number < 2 or sizes.number == sizes.total:  # noqa: PLR2004 — one class, or only unique rows: no peak
        return None
    counted = _Counted.of(sizes)
    theta, alpha = counted.start()
    height = counted.likelihood(theta, alpha)
    for _ in range(_STEPS):
        slope, bend = counted.slopes(theta, alpha)
        direction, gain = _direction(slope, bend)
        if gain < max(_NEAR, _ROUNDING * abs(height)):
            last = theta + float(direction[0]), alpha + float(direction[1])
            return Pitman(theta=last[0], alpha=last[1]) if counted.likelihood(*last) > -inf else None
        step = _step(counted, (theta, alpha), direction, height)
        if step is None:
            return None
        theta, alpha = theta + step * float(direction[0]), alpha + step * float(direction[1])
        if not _BORDER < alpha < 1 - _BORDER:
            return None
        height = counted.likelihood(theta, alpha)
    return None


def log_gamma_ratio(x: float, shift: float) -> float:
    """The logarithm of Γ(x + shift) / Γ(x), without the cancellation of two large logarithms.

    Whole steps are products. What is left of the shift is below 1 in size; for large x the series
    a·ln x + a(a−1)/2x − a(a−1)(2a−1)/12x² + a²(a−1)²/12x³ is used.

    Args:
        x: above 0.
        shift: above −x.

    Examples:
        >>> round(log_gamma_ratio(5.0, 2.0), 12) == round(log(5 * 6), 12)
        True
    """
    if x < _LARGE or x + shift < _LARGE:
        return lgamma(x + shift) - lgamma(x)
    whole = int(shift)
    a = shift - whole
    if abs(whole) > _LARGE:
        return lgamma(x + shift) - lgamma(x)  # the difference is large itself
    steps = (
        sum(log(x + a + i) for i in range(whole)) if whole >= 0 else -sum(log(x + a - i) for i in range(1, -whole + 1))
    )
    b = a * (a - 1)
    return steps + a * log(x) + b / (2 * x) - b * (2 * a - 1) / (12 * x * x) + b * b / (12 * x**3)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Counted:
    """What the likelihood needs of a sample.

    Args:
        classes: u, how many there are.
        rows: n.
        places: 1, …, u − 1.
        people: 1, …, n − 1.
        larger: of j = 1, 2, …: how many classes have more than j rows.
    """

    classes: int
    rows: int
    places: Reals
    people: Reals
    larger: Reals

    @classmethod
    def of(cls, sizes: ClassSizes) -> _Counted:
        """Count a sample."""
        most = int(sizes.sizes.max(initial=1))
        ending = np.zeros(most + 1)
        ending[sizes.sizes] = sizes.classes
        return cls(
            classes=sizes.number,
            rows=sizes.total,
            places=np.arange(1, sizes.number, dtype=np.float64),
            people=np.arange(1, sizes.total, dtype=np.float64),
            larger=sizes.number - np.cumsum(ending)[1:most],
        )

    def likelihood(self, theta: float, alpha: float) -> float:
        """Σ ln(θ + iα) over classes − Σ ln(θ + i) over rows + Σⱼ (classes above j)·ln(j − α); −∞ where undefined."""
        if not (0 < alpha < 1 and theta > -alpha):
            return -inf
        opened = float(np.log(theta + alpha * self.places).sum())
        came = log_gamma_ratio(theta + 1, self.rows - 1)
        joined = float(self.larger @ np.log(np.arange(1, len(self.larger) + 1) - alpha))
        return opened - came + joined

    def slopes(self, theta: float, alpha: float) -> tuple[Reals, Reals]:
        """The first and second derivatives of the likelihood."""
        opened = 1 / (theta + alpha * self.places)
        placed = self.places * opened
        came = 1 / (theta + self.people)
        joined = 1 / (np.arange(1, len(self.larger) + 1) - alpha)
        slope = np.array([opened.sum() - came.sum(), placed.sum() - self.larger @ joined])
        cross = -(opened @ placed)
        bend = np.array(
            [
                [came @ came - opened @ opened, cross],
                [cross, -(placed @ placed) - self.larger @ (joined * joined)],
            ]
        )
        return slope, bend

    def start(self) -> tuple[float, float]:
        """Where to begin: the share of classes that are unique guesses α, and the number of classes then θ."""
        alone = self.classes - float(self.larger[0]) if len(self.larger) else float(self.classes)
        alpha = min(max(alone / self.classes, 0.05), 0.95)
        low, high = 1e-6, 1e12
        for _ in range(_STEPS):
            theta = (low * high) ** 0.5
            if _expected_classes(theta, alpha, self.rows) < self.classes:
                low = theta
            else:
                high = theta
        return low, alpha


def _expected_classes(theta: float, alpha: float, people: int) -> float:
    """How many classes are expected among so many people: ((θ+α)_n/(θ+1)_{n−1} − θ)/α; it grows with θ."""
    # the ratio is θ·∏(1 + α/(θ+i)) over i from 0 to n − 1
    grown = log_gamma_ratio(theta + people, alpha) - log_gamma_ratio(theta, alpha)
    return theta / alpha * (exp(min(grown, 700.0)) - 1)


def _step(counted: _Counted, at: tuple[float, float], direction: Reals, height: float) -> float | None:
    """How much of a direction to go so that the likelihood rises; None if no part of it makes it rise."""
    step = 1.0
    for _ in range(_HALVINGS):
        if counted.likelihood(at[0] + step * float(direction[0]), at[1] + step * float(direction[1])) > height:
            return step
        step /= 2
    return None


def _direction(slope: Reals, bend: Reals) -> tuple[Reals, float]:
    """Newton's step, and twice what it promises to gain; uphill, but without a promise, where the peak isn't near.

    Where the likelihood isn't concave, its curvatures are taken by their size, so that the step goes uphill still.
    """
    scale = np.sqrt(np.abs(np.diag(bend)))
    curvature, axes = np.linalg.eigh(-bend / np.outer(scale, scale))
    along = axes.T @ (slope / scale)
    direction = axes @ (along / np.maximum(np.abs(curvature), _FLAT)) / scale
    return direction, float(slope @ direction) if curvature[0] > _FLAT else inf


# ── The slide negative binomial model ─────────────────────────────────────────────────────────────────────────────────

_GRID = 256
"""Where a crossing is looked for before it is pinned down; the curve is smooth and bends at most a few times."""
_BISECTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideNegativeBinomial:
    """A population of K classes of 1 + X people each, where P(X = x) = Γ(α+x)/(Γ(α)·x!) · β^α · (1−β)^x.

    Args:
        classes: K; above 0.
        alpha: above 0.
        beta: in (0, 1).

    Examples:
        >>> model = SlideNegativeBinomial(classes=1000, alpha=1.0, beta=0.5)
        >>> model.unique, model.people
        (500.0, 2000.0)
    """

    classes: float
    alpha: float
    beta: float

    @property
    def unique(self) -> float:
        """How many classes of one are expected: K·β^α."""
        return self.classes * math.pow(self.beta, self.alpha)

    @property
    def people(self) -> float:
        """How many people are expected: K·(1 + α(1−β)/β)."""
        return self.classes * (1 + self.alpha * (1 - self.beta) / self.beta)

    def seen_once(self, fraction: float) -> float:
        """How many classes are expected to have one row in a sample of this fraction π.

        Each person is in the sample with probability π, so a class of F sends one with probability F·π·(1−π)^(F−1).
        With d = (1−π)(1−β) and the generating function of X that sums to K·π·(β/(1−d))^α·(1 + αd/(1−d)).
        """
        d = (1 - fraction) * (1 - self.beta)
        return self.classes * fraction * math.pow(self.beta / (1 - d), self.alpha) * (1 + self.alpha * d / (1 - d))

    def seen_twice(self, fraction: float) -> float:
        """The same of classes with two rows: K·α·β^α·π²·(1−β)·(2 − (1−α)d) / (2(1−d)^(α+2))."""
        d = (1 - fraction) * (1 - self.beta)
        height = self.classes * self.alpha * math.pow(self.beta, self.alpha) * fraction**2 * (1 - self.beta)
        return height * (2 - (1 - self.alpha) * d) / (2 * math.pow(1 - d, self.alpha + 2))


def fit_snb(sizes: ClassSizes, fraction: float) -> SlideNegativeBinomial | None:
    """The model by which as many classes of one and of two rows are expected as the sample has.

    Args:
        sizes: of the sample's classes.
        fraction: π: the share of the population that is in the sample; in (0, 1).

    Returns:
        The model; None if no such model exists, or several do: then the sample doesn't settle it.

    Source: Chen, Keller-McNulty (1998), "Estimation of identification disclosure risk in microdata", the definition of
    the slide negative binomial model; Dankar et al. (2012), appendix A. The equations are derived here.
    """
    return solved(sizes.unique, sizes.of(2) // 2, classes_in_population(sizes, fraction), fraction)


def solved(once: float, twice: float, classes: float, fraction: float) -> SlideNegativeBinomial | None:
    """The model of so many classes by which so many of one and of two rows are expected in a sample.

    With e = d/(1−d) and x = αe, dividing the equation of the classes of two by that of the classes of one leaves
    (2q/π)·s₂/s₁·(1+x) = x·(2 + x + e), q = 1−π, so e follows from x; what remains is one equation in x, solved by
    bisection.

    Args:
        once: s₁, classes of one row.
        twice: s₂, classes of two.
        classes: K, of the population.
        fraction: π; in (0, 1).

    Returns:
        The model; None if no such model exists, or several do.
    """
    if once <= 0 or twice <= 0 or classes <= 0:
        return None
    ratio = 2 * (1 - fraction) / fraction * twice / once
    curve = _Curve(ratio=ratio, scale=classes * fraction / once, odds=fraction / (1 - fraction))
    crossing = _crossing(curve)
    if crossing is None:
        return None
    e = curve.e(crossing)
    d = e / (1 + e)
    return SlideNegativeBinomial(classes=classes, alpha=crossing / e, beta=1 - d / (1 - fraction))


def classes_in_population(sizes: ClassSizes, fraction: float) -> float:
    """How many classes the population has, by Shlosser's estimate as modified by Haas and Stokes.

    Shlosser adds to the classes that were seen s₁·A/B, where A = Σ qⁱsᵢ estimates what is left unseen and
    B = Σ iπq^(i−1)sᵢ what is seen once. Thinning by π once more tells how far A/B goes wrong: its expectation for
    classes of size i is Σ qⁱ((1+π)ⁱ−1) / Σ iπ²(1−π²)^(i−1), so A/B is multiplied by A/B over that, with the sample's
    own sizes in it.

    Args:
        sizes: of the sample's classes; one row or more.
        fraction: π; in (0, 1).

    Source: Haas, Stokes (1998), "Estimating the number of classes in a finite population", the definition of
    the modified Shlosser estimator.
    """
    counts = sizes.classes.astype(np.float64)
    i = sizes.sizes.astype(np.float64)
    left = 1 - fraction
    unseen = float((left**i * counts).sum())
    once = float((i * fraction * left ** (i - 1) * counts).sum())
    again = float((np.exp(i * log1p(-(fraction**2))) - left**i) @ counts)
    thinned = float((i * fraction**2 * np.exp((i - 1) * log1p(-(fraction**2)))) @ counts)
    if not once or not again:
        return float(sizes.number)
    return sizes.number + sizes.of(1) * (unseen / once) ** 2 * thinned / again


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """The equation in x that is left: the logarithm of the expected classes of one over those there are.

    Args:
        ratio: (2q/π)·s₂/s₁.
        scale: K·π/s₁.
        odds: π/q.
    """

    ratio: float
    scale: float
    odds: float

    def e(self, x: float) -> float:
        """What e must be for the ratio of classes of two and of one to be right; it falls as x grows."""
        return self.ratio * (1 + x) / x - 2 - x

    def at(self, x: float) -> float:
        """Above 0 where too many classes of one are expected. (β/(1−d))^α = (1 − e·π/q)^(x/e)."""
        e = self.e(x)
        return log(self.scale * (1 + x)) + x / e * log1p(-e * self.odds)

    def ends(self) -> tuple[float, float]:
        """The x at which e is q/π, and that at which it is 0: solutions of x² + (2 + e − r)x − r = 0."""
        return self._where(1 / self.odds), self._where(0.0)

    def _where(self, e: float) -> float:
        """The x that belongs to an e; written so that nothing cancels."""
        half = (2 + e - self.ratio) / 2
        root = sqrt(half * half + self.ratio)
        return self.ratio / (half + root) if half > 0 else root - half


def _crossing(curve: _Curve) -> float | None:
    """The x at which the curve is 0, if there is exactly one."""
    low, high = curve.ends()
    inside = np.linspace(0, 1, _GRID + 2)[1:-1]
    # closer to both ends than an even grid would look: the curve falls to −∞ at the lower one
    points = [low + (high - low) * float(0.5 - 0.5 * np.cos(np.pi * share)) for share in inside]
    points = [x for x in points if 0 < curve.e(x) < 1 / curve.odds]
    heights = [curve.at(x) for x in points]
    turns = [place for place in range(1, len(points)) if (heights[place - 1] < 0) != (heights[place] < 0)]
    if len(turns) != 1:
        return None
    return _bisected(curve, points[turns[0] - 1], points[turns[0]])


def _bisected(curve: _Curve, below: float, above: float) -> float:
    """Where the curve is 0 between two points at which its sign differs."""
    rising = curve.at(below) < 0
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        if middle in {below, above}:
            break
        if (curve.at(middle) < 0) == rising:
            below = middle
        else:
            above = middle
    return (below + above) / 2
