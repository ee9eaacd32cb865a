"""Requests: what an analyst offers for an answer, or the accuracy they want.

A request holds the terms as they were read. Whatever takes terms takes them from here, so a new one is added here and
in `terms` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack, get_type_hints

from discreet.errors import InvalidArgument, OfferRequired
from discreet.exact.rational import moderate
from discreet.hints import Hint
from discreet.parameters import Value
from discreet.privacy import Bounds, Limits
from discreet.query import ir
from discreet.query.ir import declared_limits
from discreet.query.planner.terms import FORMS, Auto, Terms, read_delta
from discreet.query.planner.within import Accuracy
from discreet.suggestions import nearest

if TYPE_CHECKING:
    from discreet.query.sql import Options

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LONGEST = 100
"""At most this many characters of an unknown name are looked at."""

CONFIDENCE = Fraction(19, 20)
"""The confidence of the errors that are announced, and of the accuracies asked for, unless the request says another."""

_OFFERS = Hint(
    "epsilon=0.5, rho=0.01 or within=100, for example; epsilon or rho beside within is the most that it may cost",
    cli="--epsilon 0.5, --rho 0.01 or --within 100, for example; --epsilon or --rho beside --within is the most that "
    "it may cost",
    file="epsilon = 0.5, rho = 0.01 or within = 100, for example",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An analyst's offer for an answer: ε or ρ; or an accuracy, at the least cost that reaches it.

    Its fields are the `Terms`, read exactly: numbers as fractions, and what is said of columns as pairs. In `within`
    and `weights`, `"*"` stands for every column that isn't named.

    Examples:
        >>> Request.of(epsilon=0.1).epsilon
        Fraction(1, 10)
        >>> Request.of(within={"n": ("5%", 1000)}, epsilon=1).within[0][1].half_width(least=Fraction(0))
        Fraction(50, 1)
        >>> Request.from_json(Request.of(epsilon="1/3").to_json()).epsilon
        Fraction(1, 3)
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    within: tuple[tuple[str, Accuracy], ...] = ()
    weights: tuple[tuple[str, Fraction], ...] = ()
    confidence: Fraction = CONFIDENCE
    expecting: int | None = None
    limits: Limits | Auto | None = None
    bounds: tuple[tuple[str, Bounds | Auto], ...] = ()
    consistent: bool = False
    cut_off: bool = False
    dialect: str = "duckdb"
    parameters: tuple[Value, ...] = ()
    analyst: str | None = None

    @classmethod
    def of(cls, **terms: Unpack[Terms]) -> Self:
        """Read a user's terms exactly, and check that together they are an offer.

        Raises:
            InvalidArgument: neither ε nor ρ nor `within`, both ε and ρ, weights where there is nothing to share, a
                number out of range, or an unknown term.
        """
        return cls.read(terms).checked()

    @classmethod
    def read(cls, terms: Mapping[str, Any], *, as_sent: bool = False) -> Self:
        """Read each term by itself. Missing ones may stand in the question's own OPTIONS.

        Args:
            terms: as `Terms` has them.
            as_sent: whether they may come as JSON, which has other types for some.

        Raises:
            InvalidArgument: one is of the wrong type, out of range, or unknown.
        """
        defaults = {each.name: each.default for each in fields(cls)}
        found = {}
        for name, said in terms.items():
            if name not in defaults:
                raise unknown_term(name, list(defaults))
            if said is not None or defaults[name] not in {None, ()}:
                found[name] = (FORMS[name].received if as_sent else FORMS[name].read)(said, name)
        return cls(**found)

    def checked(self) -> Self:
        """The request, if its terms go together and are an offer.

        Raises:
            OfferRequired: they aren't.
            InvalidArgument: they don't.
        """
        if (wrong := self.contradiction()) is not None:
            raise wrong
        if self.epsilon is None and self.rho is None and not self.within:
            raise OfferRequired("nothing says what the question may cost, or how accurate it must be", hint=_OFFERS)
        return self

    def contradiction(self) -> InvalidArgument | None:
        """The refusal of two terms that contradict each other; None if no two do."""
        if self.epsilon is not None and self.rho is not None:
            return InvalidArgument("a question is paid for in ε or in ρ, not in both", hint=_OFFERS)
        if self.weights and self.within:
            return InvalidArgument("weights share an offer, and within shares it already", hint="give one of the two")
        if (self.cut_off or self.limits == "auto" or self.unknown_bounds) and self.within:
            return InvalidArgument(
                "'auto' and cut_off take a share of an offer, and within makes none",
                hint=Hint.of("{epsilon}", epsilon=0.5),
            )
        return None

    def with_options(self, options: Options, question: ir.Question) -> Self:
        """The request with what the question's own OPTIONS say.

        Args:
            options: of the question.
            question: for the limits on rows, of which BigQuery's clause has no word beside one on groups.

        Raises:
            InvalidArgument: OPTIONS and a term contradict each other.
        """
        from discreet.query.sql import Strategy

        rho = _agreed("rho", options.rho, self.rho)
        if rho is not None and options.group_selection_strategy is Strategy.LAPLACE_THRESHOLD:
            raise InvalidArgument("LAPLACE_THRESHOLD goes with epsilon, and rho offers Gaussian noise")
        limits = _limits(options, question)
        if limits is not None and self.limits not in {None, limits}:
            raise InvalidArgument(
                f"OPTIONS limit a unit to {limits}, and the argument says {self.limits}", hint="say it in one place"
            )
        epsilon, delta = _agreed("epsilon", options.epsilon, self.epsilon), _agreed("delta", options.delta, self.delta)
        return replace(
            self,
            epsilon=None if epsilon is None else moderate(epsilon, "epsilon"),
            delta=read_delta(delta, "delta") if delta else None,
            rho=None if rho is None else moderate(rho, "rho"),
            limits=self.limits if limits is None else limits,
        )

    def to_json(self) -> dict[str, object]:
        """The terms that were said, as JSON-ready data."""
        said = [(each, getattr(self, each.name)) for each in fields(self)]
        return {each.name: FORMS[each.name].to_json(value) for each, value in said if value != each.default}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` wrote, now or before: terms that aren't there, or null, have their defaults.

        Raises:
            InvalidArgument: it is anything else, such as what a later version writes.
        """
        try:
            return cls(**{name: FORMS[name].from_json(one, name) for name, one in data.items() if one is not None})
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise InvalidArgument("this isn't a stored request", hint="Request.to_json writes one") from None

    @property
    def takes_profile(self) -> bool:
        """Whether a share of the offer goes into how much units contribute."""
        return self.limits == "auto" or self.cut_off

    @property
    def unknown_bounds(self) -> tuple[str, ...]:
        """The columns whose bounds will be chosen privately."""
        return tuple(name for name, wanted in self.bounds if not isinstance(wanted, Bounds))

    def left(self, share: Fraction) -> Self:
        """The rest of the offer, without a share of it. δ stays whole: profiles, which take the share, need none.

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
        """An equal share of the offer for each of several parts. An accuracy isn't shared: each part must have it.

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


def taking_terms(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function that hands its `**terms` on show each of them, with its default, to `help` and to editors."""
    shown = signature(method)
    others = [each for each in shown.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    defaults = {each.name: each.default for each in fields(Request)}
    kinds = get_type_hints(Terms)
    terms = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None if default == () else default, annotation=kinds[name])
        for name, default in defaults.items()
    ]
    method.__signature__ = shown.replace(parameters=[*others, *terms])  # type: ignore[attr-defined]  # what `inspect` reads
    return method


def unknown_term(name: str, known: Sequence[str]) -> InvalidArgument:
    """The refusal of an unknown term, with the nearest one that exists."""
    close = nearest(name, known)
    hint = f"did you mean {close}?" if close else f"there are {', '.join(known)}"
    return InvalidArgument(f"there is no term {name[:_LONGEST]!r}", hint=hint)


def _agreed(name: str, option: Fraction | None, term: Fraction | None) -> Fraction | None:
    """The value that both give, or the only one given."""
    if option is None or term is None:
        return term if option is None else option
    if term != option:
        raise InvalidArgument(
            f"OPTIONS say {name} = {option}, and the argument says {term}", hint="say it in one place"
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
