"""Requests: what an analyst offers for an answer, or the accuracy they want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import positive, probability

_ONE_OF = "say what the question may cost, or how accurate it must be: one of epsilon, rho and within"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an analyst offers for an answer: exactly one of ε, ρ and an accuracy; and δ where groups are private.

    Args:
        epsilon: for Laplace noise; shared by all columns of the answer.
        rho: for Gaussian noise; shared by all columns of the answer.
        within: the half width wanted of a column's 95 % interval, by column name; `"*"` stands for every other.
        delta: for the private selection of groups; unused, and not charged, where the groups are public.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    within: tuple[tuple[str, Fraction], ...] = ()
    delta: Fraction | None = None

    @classmethod
    def of(
        cls,
        *,
        epsilon: Rationalizable | None = None,
        rho: Rationalizable | None = None,
        within: Rationalizable | Mapping[str, Rationalizable] | None = None,
        delta: Rationalizable | None = None,
    ) -> Self:
        """Read a user's numbers exactly.

        Raises:
            InvalidArgument: not exactly one of ε, ρ and `within`, or a number out of range.

        Examples:
            >>> Request.of(epsilon=0.1).epsilon
            Fraction(1, 10)
        """
        if sum(offer is not None for offer in (epsilon, rho, within)) != 1:
            raise InvalidArgument(_ONE_OF, hint="epsilon=0.5, for example")
        if within is not None and not isinstance(within, Mapping):
            within = {"*": within}
        widths = {} if within is None else within
        if within is not None and not widths:
            raise InvalidArgument("within names no column")
        return cls(
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
            rho=None if rho is None else positive(rho, "rho"),
            within=tuple((name, positive(width, "within")) for name, width in widths.items()),
            delta=None if delta is None else probability(delta, "delta"),
        )
