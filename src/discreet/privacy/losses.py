"""Losses, proved bounds on what a release gives away about one unit; and budgets, which say what is allowed in all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self, TypeAlias

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, rational
from discreet.exact.rounding import shorten, shown
from discreet.hints import Hint
from discreet.notebook import framed, notes

_BITS = 128
"""Working precision; results keep half of it."""


def _delta(value: Rationalizable) -> Fraction:
    """Read δ, which lies in [0, 1)."""
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, not {value}")
    return delta


@taking_known
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
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    @classmethod
    def zero(cls) -> Self:
        """The loss of what is said without a look at the data; no mechanism has it.

        Examples:
            >>> print(PureDP.zero())
            ε = 0
        """
        nothing = cls(1)
        object.__setattr__(nothing, "epsilon", Fraction(0))
        return nothing

    def __str__(self) -> str:
        return f"ε = {shown(self.epsilon)}"


@taking_known
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
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _delta(delta))

    def __str__(self) -> str:
        return f"ε = {shown(self.epsilon)}, δ = {shown(self.delta, 3)}"


@taking_known
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
        object.__setattr__(self, "rho", positive(rho, "rho"))
        object.__setattr__(self, "delta", _delta(delta))

    def __str__(self) -> str:
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
        order = positive(alpha, "alpha")
        if order <= 1:
            raise InvalidArgument(f"alpha must be above 1, not {alpha}")
        object.__setattr__(self, "alpha", order)
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def __str__(self) -> str:
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
        object.__setattr__(self, "mu", positive(mu, "mu"))

    def __str__(self) -> str:
        return f"μ = {shown(self.mu)}"


Loss: TypeAlias = PureDP | ApproxDP | ZCDP
"""A proved guarantee of a kind that accounts keep. Different guarantees are different types."""

AnyLoss: TypeAlias = Loss | RenyiDP | GaussianDP
"""A proved guarantee of any kind."""


@taking_known
@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """The loss allowed over all questions of all analysts, who are assumed to collude.

    Three kinds: `Budget(epsilon=3)` is pure; `Budget(epsilon=3, delta=1e-6)` and `Budget(rho=0.2, delta=1e-6)`
    also admit Gaussian noise and private selection of groups.

    Args:
        epsilon: above 0; not together with `rho`.
        delta: in (0, 1).
        rho: above 0; needs `delta`.

    Raises:
        InvalidArgument: neither or both of `epsilon` and `rho`, or a value out of range.

    Examples:
        >>> print(Budget(epsilon=3, delta=1e-6))
        ε = 3, δ = 1e-06
    """

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction

    def __init__(
        self,
        epsilon: Rationalizable | None = None,
        delta: Rationalizable | None = None,
        *,
        rho: Rationalizable | None = None,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise InvalidArgument("a budget needs either epsilon or rho, not both")
        if rho is not None and delta is None:
            raise InvalidArgument(
                "a budget in rho needs a delta",
                hint=Hint("Budget(rho=0.2, delta=1e-6)", cli="rho = 0.2, delta = 1e-6", file="rho = 0.2, delta = 1e-6"),
            )
        exact_delta = rational(0 if delta is None else delta, "delta")
        if delta is not None and not 0 < exact_delta < 1:
            raise InvalidArgument(f"delta must be strictly between 0 and 1, not {delta}")
        object.__setattr__(self, "epsilon", None if epsilon is None else positive(epsilon, "epsilon"))
        object.__setattr__(self, "rho", None if rho is None else positive(rho, "rho"))
        object.__setattr__(self, "delta", exact_delta)

    @property
    def is_pure(self) -> bool:
        """Whether no δ is allowed."""
        return self.delta == 0

    def __repr__(self) -> str:
        """The same, in short: the exact amounts are its attributes."""
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return framed(notes([("budget", str(self))]))

    def __str__(self) -> str:
        main = f"ε = {shown(self.epsilon)}" if self.epsilon is not None else f"ρ = {shown(self.rho or Fraction(0))}"
        return main + ("" if self.is_pure else f", δ = {shown(self.delta, 3)}")


class MonthlyShare(Budget):
    """One analyst's share of each calendar month, in UTC, under the overall budget, which never renews.

    It bounds how fast someone spends, not what is lost: the months of a year add up to twelve shares, and the
    overall budget alone says where that ends.

    Args:
        epsilon: of each month, as for `Budget`; so for `delta` and `rho`.

    Raises:
        InvalidArgument: as for `Budget`.

    Examples:
        >>> print(MonthlyShare(epsilon="1/2"))
        ε = 0.5 a month
        >>> MonthlyShare(epsilon=1) == Budget(epsilon=1)
        False
    """

    __slots__ = ()

    def __str__(self) -> str:
        return f"{super().__str__()} a month"


NEAR = Fraction(1, 2**16)
"""The ε from which the least amount is worth computing: below it, a simple bound is at most 0.3 % larger."""

FAR = 2**12
"""The ε up to which it is, likewise."""


@lru_cache(maxsize=1024)
def rho_of_range(epsilon: Fraction) -> Fraction:
    """The least ρ such that every release whose privacy loss has a range of ε is ρ-zCDP; rounded up.

    Calibration and accounting go by the same number; `discreet.accounting.bounded_range_to_zcdp` has the proof.

    Args:
        epsilon: the range; above 0.

    Examples:
        >>> round(float(rho_of_range(Fraction(4))), 4)
        1.6698
    """
    simple = min(epsilon**2 / 8, epsilon)
    if not NEAR < epsilon < FAR:
        return simple
    from discreet.exact.ball import ball, fraction, precision

    with precision(_BITS):
        share = ball(epsilon) / -(-ball(epsilon)).expm1()
        rho = share - 1 - share.log()
        return min(simple, shorten(fraction(rho.upper()), bits=_BITS // 2, round_up=True))
