"""Losses: what a release is proved to give away about one unit at the most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidArgument
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
        return f"ε = {float(self.epsilon):.6g}"


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
        return f"ε = {float(self.epsilon):.6g}, δ = {float(self.delta):.3g}"


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
        return f"ρ = {float(self.rho):.6g}" + (f", δ = {float(self.delta):.3g}" if self.delta else "")


Loss: TypeAlias = PureDP | ApproxDP | ZCDP
"""A proved guarantee; different guarantees are different types, and none is silently another."""
