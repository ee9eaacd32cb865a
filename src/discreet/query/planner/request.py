"""Requests: what an analyst offers for an answer, or the accuracy they want.

Whatever may be said beside a question is a term. `Terms` documents them as a user says them, and `Request` holds them
as they were read: each of its fields says how that term is read, and how it is written as JSON and read again. `plan`,
`ask`, the command line and what is stored with an answer take the terms from here, so a new term is added here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from inspect import Parameter, signature
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_type_hints,
)

from discreet.errors import Hint, InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import confidence as read_confidence
from discreet.exact.rational import moderate, positive, probability
from discreet.privacy import Bounds, BoundValue, Limits
from discreet.query import ir
from discreet.query.ir import declared_limits
from discreet.query.planner.wanted_accuracy import (
    Accuracies,
    Accuracy,
    read_within,
    within_from_json,
    within_to_json,
)

if TYPE_CHECKING:
    from discreet.query.sql import Options

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PAIR = 2

_LONGEST = 100
"""How much of a name that nobody knows is looked at."""

_DAY = 10
"""The characters of a date; a time has more."""

Auto: TypeAlias = Literal["auto"]
"""Choose privately, for a stated share of the offer."""

CONFIDENCE = Fraction(19, 20)
"""At which errors are announced, and accuracies meant, unless another is asked for."""

_OFFERS = Hint(
    "epsilon=0.5, rho=0.01 or within=100, for example; epsilon or rho beside within is the most that it may cost",
    cli="--epsilon 0.5, --rho 0.01 or --within 100, for example; --epsilon or --rho beside --within is the most that "
    "it may cost",
    file="epsilon = 0.5, rho = 0.01 or within = 100, for example",
)


class Terms(TypedDict, total=False):
    """What may be said beside a question, each by its name.

    Args:
        epsilon: offer for Laplace noise; with `within`, the most that the question may cost.
        delta: offer for the private selection of groups, which is needed where their keys aren't public; beside
            `epsilon` for Gaussian noise as well, which is taken where it errs less, and is charged in ρ.
        rho: the same as `epsilon`, for Gaussian noise.
        within: half width wanted of the intervals, for all columns or by name, at the least cost that reaches it: a
            number, or a part of every value from some size on, as in `{"n": ("5%", 1000)}`. That of averages, variances
            and ratios is meant in a group of 1,000 rows.
        weights: by column, how much its relative error matters, 1 if nothing is said: the offer is shared so that the
            worst error, times its weight, is least.
        confidence: at which errors are announced, and `within` is meant; 0.95 if nothing is said.
        limits: how much a unit may contribute to this question, instead of what was declared. Lower ones cut off more
            and need less noise; all are private. "auto": a tenth of the offer goes into a private profile of how much
            units contribute, by which the limits are chosen that err least; the answer then says which, and about how
            much they cut off.
        bounds: of columns, instead of declared ones that are wider, or of none: `{"income": Bounds(0, 10**6)}`. "auto":
            another tenth of the offer goes into how many units have values how large, by which bounds are chosen that
            hold nearly all; the answer says which.
        consistent: whether the groups of ROLLUP are to add up to their totals: by least squares, for nothing. Each row
            of a total must be in one of its groups, so keys list all that a column holds, or WHERE leaves out what they
            don't.
        cut_off: whether to measure what limits cut off, also where they aren't chosen by it, and of how many units
            bounds move values that are added up; for a tenth of the offer.
        dialect: of the question, as sqlglot names it; "duckdb" if nothing is said.
        analyst: who asks, where analysts have budgets of their own.
    """

    epsilon: Rationalizable | None
    delta: Rationalizable | None
    rho: Rationalizable | None
    within: Accuracies | None
    weights: Mapping[str, Rationalizable] | None
    confidence: Rationalizable
    limits: Limits | Auto | None
    bounds: Mapping[str, Bounds | tuple[BoundValue, BoundValue] | Auto] | None
    consistent: bool
    cut_off: bool
    dialect: str
    analyst: str | None


class _Term(NamedTuple):
    """How a term is read.

    Args:
        read: from what a user says, and the term's name.
        to_json: JSON-ready data, with rationals as `"p/q"`.
        from_json: read back, with the term's name.
    """

    read: Callable[[Any, str], Any]
    to_json: Callable[[Any], object]
    from_json: Callable[[Any, str], Any]


def _term(
    read: Callable[[Any, str], Any],
    to_json: Callable[[Any], object] = lambda value: value,
    from_json: Callable[[Any, str], Any] | None = None,
) -> dict[str, _Term]:
    """What a field of a request knows of its term; what is read from JSON as from a user needs to be said once."""
    return {"term": _Term(read, to_json, from_json or read)}


def _by_column(given: object, name: str) -> Mapping[str, Any]:
    """What is said of columns, by their names."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"{name} are said by column, not by a {type(given).__name__}",
            hint=Hint(f'{name}={{"income": …}}', cli=f"--{name} income=…"),
        )
    return given


def _read_weights(weights: Mapping[str, Rationalizable], name: str) -> tuple[tuple[str, Fraction], ...]:
    """The weights by column."""
    return tuple((column, moderate(weight, "a weight")) for column, weight in _by_column(weights, name).items())


def _read_limits(limits: object, _name: str) -> object:
    """Limits, or "auto"."""
    if limits != "auto" and not isinstance(limits, Limits):
        raise InvalidArgument(
            f"limits must be Limits or 'auto', not {type(limits).__name__}",
            hint=Hint("Limits(rows=50)", cli="--limits 50"),
        )
    return limits


def _read_bounds(bounds: Mapping[str, object], name: str) -> tuple[tuple[str, object], ...]:
    """Bounds by column, or "auto"; a pair is bounds, as where they are declared."""
    found: dict[str, object] = {}
    for column, ends in _by_column(bounds, name).items():
        is_pair = isinstance(ends, tuple) and len(ends) == _PAIR
        found[column] = Bounds(*ends) if is_pair else ends
        if found[column] != "auto" and not isinstance(found[column], Bounds):
            raise InvalidArgument(
                f"bounds of {column!r} must be Bounds, a pair or 'auto'",
                hint=Hint("Bounds(0, 100)", cli=f"--bounds {column}=0..100"),
            )
    return tuple(sorted(found.items()))


def _read_flag(value: object, name: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be True or False, not {type(value).__name__}")
    return value


def _read_text(value: object, name: str) -> str:
    """A name."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} must be a text, not {type(value).__name__}")
    return value


def _limits_to_json(limits: Limits | Auto | None) -> object:
    """Limits by name; "auto" and None as they are."""
    if not isinstance(limits, Limits):
        return limits
    return {"groups": limits.groups, "rows_per_group": limits.rows_per_group, "rows": limits.rows}


def _limits_from_json(data: Any, name: str) -> object:  # noqa: ANN401 — JSON
    """Limits, or "auto"."""
    return _read_limits(Limits(**data) if isinstance(data, dict) else data, name)


def _bounds_to_json(bounds: Sequence[tuple[str, Bounds | Auto]]) -> object:
    """Bounds by column, as exact numbers or times; "auto" as it is."""
    return [[name, [str(ends.lo), str(ends.hi)] if isinstance(ends, Bounds) else ends] for name, ends in bounds]


def _bounds_from_json(data: Any, name: str) -> tuple[tuple[str, object], ...]:  # noqa: ANN401 — JSON
    """Bounds by column."""
    read = {column: Bounds(*map(_end, ends)) if isinstance(ends, list) else ends for column, ends in data}
    return _read_bounds(read, name)


def _end(text: str) -> Fraction | date:
    """An end of bounds: a number, a date or a time."""
    if text[1:].count("-") < _PAIR:
        return Fraction(text)
    return date.fromisoformat(text) if len(text) == _DAY else datetime.fromisoformat(text)


_LEAST_DELTA = Fraction(1, 10**30)
"""Accounts count δ in steps of 10⁻⁴⁰, upwards: of this one, no charge is off by more than a part in 10¹⁰."""


def _read_delta(said: Rationalizable, name: str) -> Fraction:
    """A δ that an account can charge as it is.

    Raises:
        InvalidArgument: it isn't within (0, 1), or is too small to be told from none.
    """
    delta = probability(said, name)
    if delta < _LEAST_DELTA:
        raise InvalidArgument(
            f"{name} must be at least 1e-30: accounts count it in steps of 1e-40",
            hint=Hint.of("{delta} is far below 1 / number of units for any table", delta=1e-15),
        )
    return delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an analyst offers for an answer: ε or ρ; or an accuracy, at the least cost that reaches it.

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

    epsilon: Fraction | None = field(default=None, metadata=_term(moderate, str, positive))
    delta: Fraction | None = field(default=None, metadata=_term(_read_delta, str, probability))
    rho: Fraction | None = field(default=None, metadata=_term(moderate, str, positive))
    within: tuple[tuple[str, Accuracy], ...] = field(
        default=(), metadata=_term(lambda said, _: read_within(said), within_to_json, within_from_json)
    )
    weights: tuple[tuple[str, Fraction], ...] = field(
        default=(),
        metadata=_term(
            _read_weights,
            lambda weights: [[name, str(weight)] for name, weight in weights],
            lambda data, name: _read_weights(dict(data), name),
        ),
    )
    confidence: Fraction = field(default=CONFIDENCE, metadata=_term(lambda said, _: read_confidence(said), str))
    limits: Limits | Auto | None = field(default=None, metadata=_term(_read_limits, _limits_to_json, _limits_from_json))
    bounds: tuple[tuple[str, Bounds | Auto], ...] = field(
        default=(), metadata=_term(_read_bounds, _bounds_to_json, _bounds_from_json)
    )
    consistent: bool = field(default=False, metadata=_term(_read_flag))
    cut_off: bool = field(default=False, metadata=_term(_read_flag))
    dialect: str = field(default="duckdb", metadata=_term(_read_text))
    analyst: str | None = field(default=None, metadata=_term(_read_text))

    @classmethod
    def of(cls, **terms: Unpack[Terms]) -> Self:
        """Read a user's terms exactly, and check that together they are an offer.

        Raises:
            InvalidArgument: neither ε nor ρ nor `within`, both ε and ρ, weights where there is nothing to share, a
                number out of range, or an unknown term.
        """
        return cls.read(terms).checked()

    @classmethod
    def read(cls, terms: Terms) -> Self:
        """Read each term by itself. What is missing may stand in the question's own OPTIONS.

        Raises:
            InvalidArgument: one is of the wrong type, out of range, or unknown.
        """
        known = {each.name: each for each in fields(cls)}
        found = {}
        for name, said in terms.items():
            if name not in known:
                raise _unknown(name, list(known))
            if said is not None or known[name].default not in {None, ()}:
                found[name] = known[name].metadata["term"].read(said, name)
        return cls(**found)

    def checked(self) -> Self:
        """The request, if its terms go together.

        Raises:
            InvalidArgument: they don't.
        """
        if self.epsilon is not None and self.rho is not None:
            raise InvalidArgument("a question is paid for in ε or in ρ, not in both", hint=_OFFERS)
        if self.epsilon is None and self.rho is None and not self.within:
            raise InvalidArgument("nothing says what the question may cost, or how accurate it must be", hint=_OFFERS)
        if self.weights and self.within:
            raise InvalidArgument("weights share an offer, and within shares it already", hint="give one of the two")
        if (self.cut_off or self.limits == "auto" or self.unknown_bounds) and self.within:
            raise InvalidArgument(
                "'auto' and cut_off take a share of an offer, and within makes none",
                hint=Hint.of("{epsilon}", epsilon=0.5),
            )
        return self

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
            delta=_read_delta(delta, "delta") if delta else None,
            rho=None if rho is None else moderate(rho, "rho"),
            limits=self.limits if limits is None else limits,
        )

    def to_json(self) -> dict[str, object]:
        """The terms that were said, as JSON-ready data."""
        said = [(each, getattr(self, each.name)) for each in fields(self)]
        return {each.name: each.metadata["term"].to_json(value) for each, value in said if value != each.default}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` wrote, now or before: terms that aren't there, or null, have their defaults.

        Raises:
            InvalidArgument: it is anything else, such as what a later version writes.
        """
        known = {each.name: each.metadata["term"] for each in fields(cls)}
        try:
            return cls(**{name: known[name].from_json(one, name) for name, one in data.items() if one is not None})
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise InvalidArgument("this isn't a request as it is written", hint="Request.to_json writes one") from None

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


def _unknown(name: str, known: Sequence[str]) -> InvalidArgument:
    """That there is no such term, with the nearest one."""
    close = get_close_matches(name[:_LONGEST].casefold(), known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    return InvalidArgument(f"there is no term {name[:_LONGEST]!r}", hint=hint)


def _agreed(name: str, option: Fraction | None, term: Fraction | None) -> Fraction | None:
    """What both say, or the one that says something."""
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
