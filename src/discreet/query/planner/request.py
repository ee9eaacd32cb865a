"""Requests: what an analyst offers for an answer, or the accuracy they want.

What a question says in its own OPTIONS is brought together with what is said beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import confidence as read_confidence
from discreet.exact.rational import moderate, positive, probability
from discreet.privacy import Bounds, Limits
from discreet.query import ir
from discreet.query.ir import declared_limits

if TYPE_CHECKING:
    from discreet.query.sql import Options

_FORMS = '50 for ± 50, "5%@1000" or ("5%", 1000) for ± 5 % of every value of at least 1,000'

_PAIR = 2

WishLike: TypeAlias = Rationalizable | tuple[Rationalizable, Rationalizable]
"""How a wish can be written."""

Within: TypeAlias = WishLike | Mapping[str, WishLike]
"""A wish for all columns, or by name."""

Auto: TypeAlias = Literal["auto"]
"""Choose privately, for a stated share of the offer."""

CONFIDENCE = Fraction(19, 20)
"""At which errors are announced, and accuracies meant, unless another is asked for."""

_ONE_OF = "say what the question may cost or how accurate it must be: epsilon, rho, within, or within up to one of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The half width wanted of a column's interval: a number, or a part of the value.

    How large a value is nobody knows before it was paid for, so a part is of a public number: of every value that is
    at least the floor in size. Without a floor, it is of the least size that bounds allow.

    Args:
        width: of ± so much.
        part: of the value, instead.
        floor: the least size of the values that the part is meant of.
    """

    width: Fraction | None = None
    part: Fraction | None = None
    floor: Fraction | None = None

    @classmethod
    def of(cls, wish: WishLike) -> Self:
        """Read a wish exactly.

        Raises:
            InvalidArgument: it is neither a number nor a percentage, not above 0, or beyond what anybody means.

        Examples:
            >>> Wish.of(50).width, Wish.of("5%@1000") == Wish.of(("5%", 1000))
            (Fraction(50, 1), True)
        """
        if isinstance(wish, tuple):
            if len(wish) != _PAIR or not _is_percentage(wish[0]):
                raise InvalidArgument(
                    "an accuracy in two parts is a percentage and the least value that it is meant of", hint=_FORMS
                )
            return cls(part=_part(str(wish[0])), floor=moderate(wish[1], "the floor of within"))
        if isinstance(wish, str) and "@" in wish:
            part, _, floor = wish.partition("@")
            return cls.of((part.strip(), floor.strip()))
        if _is_percentage(wish):
            return cls(part=_part(str(wish)))
        return cls(width=moderate(wish, "within"))

    def half_width(self, least: Fraction) -> Fraction | None:
        """The half width in the column's units; None if that isn't known.

        Args:
            least: the least size that the column's value can have, from public facts; 0 if it can be any.
        """
        if self.part is None:
            return self.width
        size = self.floor or least
        return self.part * size if size else None

    def __str__(self) -> str:
        """The wish in words."""
        if self.part is None:
            return f"± {float(self.width or 0):.4g}"
        floor = "" if self.floor is None else f" of values of at least {float(self.floor):,.6g}"
        return f"± {float(100 * self.part):.4g} %{floor}"


def read_within(within: Within | None) -> tuple[tuple[str, Wish], ...]:
    """The accuracies wanted, by column; `"*"` stands for every column that isn't named.

    Raises:
        InvalidArgument: no column is named, or a wish can't be read.
    """
    if within is None:
        return ()
    if not isinstance(within, Mapping):
        return (("*", Wish.of(within)),)
    if not within:
        raise InvalidArgument("within names no column", hint='within={"n": 50}, for example')
    return tuple((name, Wish.of(wish)) for name, wish in within.items())


def _is_percentage(wish: object) -> bool:
    """Whether it is written with a percent sign."""
    return isinstance(wish, str) and wish.strip().endswith("%")


def _part(text: str) -> Fraction:
    """A percentage as a part of 1."""
    return moderate(text.strip().removesuffix("%").strip(), "within") / 100


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
            within=read_within(within),
            delta=None if delta is None else probability(delta, "delta"),
            weights=tuple((name, moderate(weight, "a weight")) for name, weight in (weights or {}).items()),
            confidence=read_confidence(confidence),
            limits=limits,
            bounds=tuple(sorted(wanted.items())),
            consistent=consistent,
            cut_off=cut_off,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is offered, and how much a unit may contribute, wherever it was said; as `Request.of` takes them."""

    epsilon: Rationalizable | None = None
    delta: Rationalizable | None = None
    rho: Rationalizable | None = None
    limits: Limits | Auto | None = None

    def with_options(self, options: Options, question: ir.Question) -> Offer:
        """The offer with what the question's own OPTIONS say.

        Args:
            options: of the question.
            question: for the limits on rows, of which BigQuery's clause has no word beside one on groups.

        Raises:
            InvalidArgument: OPTIONS and an argument contradict each other.
        """
        from discreet.query.sql import Strategy

        rho = _agreed("rho", options.rho, self.rho, positive)
        if rho is not None and options.group_selection_strategy is Strategy.LAPLACE_THRESHOLD:
            raise InvalidArgument("LAPLACE_THRESHOLD goes with epsilon, and rho offers Gaussian noise")
        limits = _limits(options, question)
        if limits is not None and self.limits not in {None, limits}:
            raise InvalidArgument(
                f"OPTIONS limit a unit to {limits}, and the argument says {self.limits}", hint="say it in one place"
            )
        return Offer(
            epsilon=_agreed("epsilon", options.epsilon, self.epsilon, positive),
            delta=_agreed("delta", options.delta, self.delta, probability) or None,
            rho=rho,
            limits=self.limits if limits is None else limits,
        )


def _agreed(
    name: str,
    option: Fraction | None,
    argument: Rationalizable | None,
    read: Callable[[Rationalizable, str], Fraction],
) -> Rationalizable | None:
    """What both say, or the one that says something."""
    if option is None or argument is None:
        return argument if option is None else option
    if read(argument, name) != option:
        raise InvalidArgument(
            f"OPTIONS say {name} = {option}, and the argument says {argument}", hint="say it in one place"
        )
    return option


def _limits(options: Options, question: ir.Question) -> Limits | None:
    """How much a unit may contribute, as OPTIONS say."""
    if options.max_rows_contributed is not None:
        return Limits(rows=options.max_rows_contributed)
    if options.max_groups_contributed is None:
        return None
    declared = declared_limits(question.source)
    if declared.rows is None:
        return Limits(groups=options.max_groups_contributed, rows_per_group=declared.rows_per_group)
    return Limits(rows=declared.rows, groups=options.max_groups_contributed)
