"""Losses: what a release is proved to give away about one unit at the most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact.digits import shown
from discreet.exact.rational import Rationalizable, positive, rational


def _delta(value: Rationalizable) -> Fraction:
    """Read δ, which lies in [0, 1)."""
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, not {value}")
    return delta


@dataclass(frozen=True, slots=True)
class PureDP:
    """ε-differential privacy: Pr[M(x) ∈ S] ≤ e^ε Pr[M(x′) ∈ S] for all neighbours x, x′ and all S.

    Args:
        epsilon: above 0; kept as an exact rational.

    Source: Dwork, McSherry, Nissim, Smith (2006), Definition 1.

    Examples:
        >>> print(PureDP(0.1))
        ε = 0.1
    """

    epsilon: Fraction

    def __init__(self, epsilon: Rationalizable) -> None:
        """Make ε exact."""
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def __str__(self) -> str:
        """The loss in symbols."""
        return f"ε = {shown(self.epsilon)}"


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(ε, δ)-differential privacy: Pr[M(x) ∈ S] ≤ e^ε Pr[M(x′) ∈ S] + δ.

    Args:
        epsilon: above 0; kept as an exact rational.
        delta: in [0, 1); kept as an exact rational. It should be far below one over the number of units.

    Source: Dwork, Kenthapadi, McSherry, Mironov, Naor (2006), Definition 1.

    Examples:
        >>> print(ApproxDP(1, 1e-6))
        ε = 1, δ = 1e-06
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Rationalizable, delta: Rationalizable) -> None:
        """Make both exact."""
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _delta(delta))

    def __str__(self) -> str:
        """The loss in symbols."""
        return f"ε = {shown(self.epsilon)}, δ = {shown(self.delta, 3)}"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """ρ-zero-concentrated differential privacy: D_α(M(x) ‖ M(x′)) ≤ ρα for all α > 1; with δ, approximately.

    Args:
        rho: above 0; kept as an exact rational.
        delta: in [0, 1), 0 by default: the guarantee holds but for events of probability δ.

    Source: Bun, Steinke (2016), Definitions 1.1 and 8.1.

    Examples:
        >>> print(ZCDP(0.005))
        ρ = 0.005
    """

    rho: Fraction
    delta: Fraction

    def __init__(self, rho: Rationalizable, delta: Rationalizable = 0) -> None:
        """Make both exact."""
        object.__setattr__(self, "rho", positive(rho, "rho"))
        object.__setattr__(self, "delta", _delta(delta))

    def __str__(self) -> str:
        """The loss in symbols."""
        return f"ρ = {shown(self.rho)}" + (f", δ = {shown(self.delta, 3)}" if self.delta else "")


@dataclass(frozen=True, slots=True)
class RenyiDP:
    """(α, ε)-Rényi differential privacy: D_α(M(x) ‖ M(x′)) ≤ ε for all neighbours x, x′, at one order α.

    Args:
        alpha: the order, above 1; kept as an exact rational.
        epsilon: above 0; kept as an exact rational.

    Source: Mironov (2017), Definition 4.

    Examples:
        >>> print(RenyiDP(2, 0.5))
        ε = 0.5 of order 2
    """

    alpha: Fraction
    epsilon: Fraction

    def __init__(self, alpha: Rationalizable, epsilon: Rationalizable) -> None:
        """Make both exact."""
        order = positive(alpha, "alpha")
        if order <= 1:
            raise InvalidArgument(f"alpha must be above 1, not {alpha}")
        object.__setattr__(self, "alpha", order)
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def __str__(self) -> str:
        """The loss in symbols."""
        return f"ε = {shown(self.epsilon)} of order {shown(self.alpha)}"


@dataclass(frozen=True, slots=True)
class GaussianDP:
    """μ-Gaussian differential privacy: neighbours are as hard to tell apart as N(0, 1) and N(μ, 1) are.

    Args:
        mu: above 0; kept as an exact rational.

    Source: Dong, Roth, Su (2022), Definition 4.

    Examples:
        >>> print(GaussianDP(1))
        μ = 1
    """

    mu: Fraction

    def __init__(self, mu: Rationalizable) -> None:
        """Make μ exact."""
        object.__setattr__(self, "mu", positive(mu, "mu"))

    def __str__(self) -> str:
        """The loss in symbols."""
        return f"μ = {shown(self.mu)}"


Loss: TypeAlias = PureDP | ApproxDP | ZCDP
"""A proved guarantee, of a kind that accounts are kept in. Different guarantees are different types."""

AnyLoss: TypeAlias = Loss | RenyiDP | GaussianDP
"""A proved guarantee of any kind."""
