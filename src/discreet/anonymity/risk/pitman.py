"""Pitman's sampling formula, fitted to the sizes of a sample's classes.

People of the population come one after another, and each joins a class or opens one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, lgamma, log

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.columns import Reals

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
"""The error of a likelihood by rounding, relative to its size."""

_LARGE = 1e4
"""From here on ratios of gamma functions come from their series, which errs by less than 10⁻¹³."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pitman:
    """The random partition with parameters θ and α.

    The next of n people joins a class of j with probability (j − α)/(θ + n) and opens a new one with the rest. A sample
    from such a population forms such a partition again, with the same parameters; so what is learned from a sample
    holds for the population.

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
        """How many classes of this size are expected among this many people.

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

    Whole steps are products. The rest of the shift is below 1 in size; for large x the series a·ln x + a(a−1)/2x −
    a(a−1)(2a−1)/12x² + a²(a−1)²/12x³ is used.

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
    """The counts of a sample that the likelihood needs.

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
    """How many classes are expected among this many people: ((θ+α)_n/(θ+1)_{n−1} − θ)/α; it grows with θ."""
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
