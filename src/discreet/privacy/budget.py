"""Budgets: how much loss a custodian allows in all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.exact.digits import shown
from discreet.exact.rational import Rationalizable, positive, rational


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
        """Make each amount exact."""
        if (epsilon is None) == (rho is None):
            raise InvalidArgument("a budget is given in epsilon or in rho, and in one of them only")
        if rho is not None and delta is None:
            raise InvalidArgument("a budget in rho needs a delta", hint="Budget(rho=0.2, delta=1e-6)")
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

    def __str__(self) -> str:
        """The budget in symbols."""
        main = f"ε = {shown(self.epsilon)}" if self.epsilon is not None else f"ρ = {shown(self.rho or Fraction(0))}"
        return main + ("" if self.is_pure else f", δ = {shown(self.delta, 3)}")
