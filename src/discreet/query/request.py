"""Requests: what an analyst offers for an answer, or the accuracy they want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import confidence as read_confidence
from discreet.exact.rational import moderate, probability
from discreet.privacy import Bounds, Limits
from discreet.query.wishes import Wish, Within, wishes

Auto: TypeAlias = Literal["auto"]
"""Choose privately, for a stated share of the offer."""

CONFIDENCE = Fraction(19, 20)
"""At which errors are announced, and wishes meant, unless another is asked for."""

_ONE_OF = "say what the question may cost or how accurate it must be: epsilon, rho, within, or within up to one of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an analyst offers for an answer: ε or ρ; or an accuracy, at the least cost that reaches it.

    Args:
        epsilon: for Laplace noise; shared by all columns of the answer. With `within`: the most it may cost.
        rho: for Gaussian noise, instead of ε.
        within: the half width wanted of a column's interval, by column name; `"*"` stands for every other.
        delta: for the private selection of groups; unused, and not charged, where the groups are public.
        weights: by column name, how much its relative error matters in sharing the offer; 1 for every other, or what
            `"*"` says.
        confidence: at which `within` is meant, and errors are announced.
        limits: how much a unit may contribute to this question, instead of what the tables declare. Any are private:
            they weigh what is cut off against noise. "auto": chosen privately, for a share of the offer.
        bounds: of columns, by name, instead of wider declared ones or none; "auto" as for limits.
        consistent: whether groups are to add up to those of the next grouping set, of which each row is in one of them.
        cut_off: whether to measure what limits cut off, also where they aren't chosen by it, and what bounds move;
            for a share of the offer.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    within: tuple[tuple[str, Wish], ...] = ()
    delta: Fraction | None = None
    weights: tuple[tuple[str, Fraction], ...] = ()
    confidence: Fraction = CONFIDENCE
    limits: Limits | Auto | None = None
    bounds: tuple[tuple[str, Bounds | Auto], ...] = ()
    consistent: bool = False
    cut_off: bool = False

    @property
    def takes_profile(self) -> bool:
        """Whether a share of the offer goes into how much units contribute."""
        return self.limits == "auto" or self.cut_off

    @property
    def unknown_bounds(self) -> tuple[str, ...]:
        """The columns whose bounds are to be chosen privately."""
        return tuple(name for name, wanted in self.bounds if not isinstance(wanted, Bounds))

    def left(self, share: Fraction) -> Self:
        """What is left of the offer once a share of it is taken away. δ stays: what takes a share has no use for it.

        Examples:
            >>> Request.of(epsilon=1).left(Fraction(1, 10)).epsilon
            Fraction(9, 10)
        """
        return replace(
            self,
            epsilon=None if self.epsilon is None else self.epsilon * (1 - share),
            rho=None if self.rho is None else self.rho * (1 - share),
        )

    def shared(self, parts: int) -> Self:
        """An equal share of the offer, for each of so many parts. An accuracy isn't shared: each part must have it.

        Examples:
            >>> Request.of(epsilon=1, delta=0.01).shared(4).epsilon
            Fraction(1, 4)
        """
        if parts == 1:
            return self
        return replace(
            self,
            epsilon=None if self.epsilon is None else self.epsilon / parts,
            rho=None if self.rho is None else self.rho / parts,
            delta=None if self.delta is None else self.delta / parts,
        )

    @classmethod
    def of(  # noqa: PLR0913 — what an analyst may offer, each by name
        cls,
        *,
        epsilon: Rationalizable | None = None,
        rho: Rationalizable | None = None,
        within: Within | None = None,
        delta: Rationalizable | None = None,
        weights: Mapping[str, Rationalizable] | None = None,
        confidence: Rationalizable = CONFIDENCE,
        limits: Limits | Auto | None = None,
        bounds: Mapping[str, Bounds | Auto] | None = None,
        consistent: bool = False,
        cut_off: bool = False,
    ) -> Self:
        """Read a user's numbers exactly.

        Raises:
            InvalidArgument: neither ε nor ρ nor `within`, both ε and ρ, weights where there is nothing to share, or a
                number out of range.

        Examples:
            >>> Request.of(epsilon=0.1).epsilon
            Fraction(1, 10)
            >>> Request.of(within={"n": ("5%", 1000)}, epsilon=1).within[0][1].half_width(least=Fraction(0))
            Fraction(50, 1)
        """
        if (epsilon is not None and rho is not None) or (epsilon is None and rho is None and within is None):
            raise InvalidArgument(_ONE_OF, hint="epsilon=0.5 in Python, --epsilon 0.5 on the command line")
        if weights is not None and within is not None:
            raise InvalidArgument("weights share an offer, and within shares it already", hint="give one of the two")
        if limits is not None and limits != "auto" and not isinstance(limits, Limits):
            raise InvalidArgument(
                f"limits must be Limits or 'auto', not {type(limits).__name__}", hint="Limits(rows=50)"
            )
        wanted = dict(bounds or {})
        for name, ends in wanted.items():
            if ends != "auto" and not isinstance(ends, Bounds):
                raise InvalidArgument(f"bounds of {name!r} must be Bounds or 'auto'", hint="Bounds(0, 100)")
        if (cut_off or "auto" in (limits, *wanted.values())) and within is not None:
            raise InvalidArgument(
                "'auto' and cut_off take a share of an offer, and within makes none", hint="epsilon=0.5"
            )
        return cls(
            epsilon=None if epsilon is None else moderate(epsilon, "epsilon"),
            rho=None if rho is None else moderate(rho, "rho"),
            within=wishes(within),
            delta=None if delta is None else probability(delta, "delta"),
            weights=tuple((name, moderate(weight, "a weight")) for name, weight in (weights or {}).items()),
            confidence=read_confidence(confidence),
            limits=limits,
            bounds=tuple(sorted(wanted.items())),
            consistent=consistent,
            cut_off=cut_off,
        )
