"""Expressions: what is computed within a row, or from released numbers, each with the type and range of its value.

*Constants* are exact: None, bool, int, Fraction (a real), str, date or datetime. The type of one has the value itself
as its range; for a real that is the nearest float64 number, because that is what engines compute with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import unforeseen
from discreet.privacy import KeyValue
from discreet.tables import Kind


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an expression's value, with what is known in public about its range.

    Args:
        kind: the kind of value.
        lo: least value, or None if unknown. Numbers as they are; dates as days and timestamps as microseconds since
            1970-01-01.
        hi: greatest value, or None if unknown.
        nullable: whether it can be NULL.
        values: all non-NULL values it can take, if that is a short public list; in the order to answer them.
        hidden: whether NULL, where it occurs, stands for a value that isn't listed, and so makes no group.
    """

    kind: Kind
    lo: Fraction | None = None
    hi: Fraction | None = None
    nullable: bool = True
    values: tuple[KeyValue, ...] | None = field(default=None, hash=False)
    hidden: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether both ends of the range are known."""
        return self.lo is not None and self.hi is not None


def _as_given(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Arguments that need no bringing together."""
    return args


def _always(*_values: object) -> bool:
    """Python and the engine agree on all values."""
    return True


Sizes: TypeAlias = tuple[int, ...]
"""The most bytes that each argument's text can have; 0 if it is no text."""

Longest: TypeAlias = Callable[[tuple["Expr", ...], Sizes], int]
Effort: TypeAlias = Callable[[tuple["Expr", ...], Sizes], float]

CALL = 15.0
"""The most nanoseconds that an engine takes to apply a function to the values of one row, texts aside."""

BYTE = 2.0
"""Nanoseconds for each byte of a text that is compared, hashed, copied or read as a number or time."""


def reading(args: tuple[Expr, ...], sizes: Sizes) -> float:
    """The effort of looking once at each argument, and at each byte of texts."""
    return CALL * len(args) + BYTE * sum(sizes)


@dataclass(frozen=True, slots=True)
class Function:
    """One allowed function: its types, its range rule, and how it runs, on rows and on released numbers.

    Args:
        name: canonical name; two functions of one name are the same function.
        infer: the result's type and range from the arguments' types; raises `TypeMismatch` for kinds it doesn't
            take and `UnboundedColumn` where a missing bound would let a row overflow. Arguments are the bound
            expressions, because some rules need a literal's value.
        compile: from Ibis values to an Ibis value; total, so no row can make the engine raise.
        evaluate: the same on Python values, with None for NULL; used on released numbers, to work out public values,
            and by tests to check `compile`.
        prepare: brings the arguments to the kinds that `infer`, `compile` and `evaluate` expect, by casts that show
            in the expression; raises `TypeMismatch` where it can't.
        agrees: whether `evaluate` is known to give, on these Python values, what an engine gives. Where it isn't
            (upper case of exotic letters, say), no public value is worked out through the function.
        copies: how often the compiled text repeats an argument, so that its size can be limited at plan time.
        longest: the most bytes of a text that it gives; None where it gives no text.
        effort: the most nanoseconds that one row takes, its arguments already there.
    """

    name: str
    infer: Callable[[tuple[Expr, ...]], Type] = field(compare=False, repr=False)
    compile: Callable[..., Any] = field(compare=False, repr=False)
    evaluate: Callable[..., Any] = field(compare=False, repr=False)
    prepare: Callable[[tuple[Expr, ...]], tuple[Expr, ...]] = field(default=_as_given, compare=False, repr=False)
    agrees: Callable[..., bool] = field(default=_always, compare=False, repr=False)
    copies: int = field(default=1, compare=False, repr=False)
    longest: Longest | None = field(default=None, compare=False, repr=False)
    effort: Effort = field(default=reading, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column, as a scan gives it: of its kind, within its bounds, one of its keys."""

    table: str
    name: str
    type: Type

    def __str__(self) -> str:
        return f"{quoted(self.table)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: None, bool, int, Fraction (a real), str, date or datetime."""

    value: object
    type: Type

    def __str__(self) -> str:
        """The constant with its kind, so that 1 and '1' and TRUE differ."""
        return f"{self.type.kind}:{self.value!r}" if isinstance(self.value, str) else f"{self.type.kind}:{self.value}"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions."""

    function: Function
    args: tuple[Expr, ...]
    type: Type

    def __str__(self) -> str:
        """The call in functional notation: canonical, since operators have names here."""
        return f"{self.function.name}({', '.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Released:
    """A number or key of the answer, by name: what HAVING, ORDER BY and arithmetic on results work on."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"released({self.name})"


class Side(StrEnum):
    """The three things that can be asked about the noise of a released value."""

    LOW = "dp_interval_low"
    """The lower end of its interval."""
    HIGH = "dp_interval_high"
    """The upper end of its interval."""
    DEVIATION = "dp_stddev"
    """The standard deviation of its noise."""


@dataclass(frozen=True, slots=True)
class Margin:
    """How far the noise may have carried a released value; NULL where that isn't known, or where there is no noise.

    It follows from what was released and from the plan, so it costs nothing.

    Args:
        side: what is asked.
        of: an expression over released values.
        confidence: of the interval, in (0, 1).
        type: of a number that may be NULL.
    """

    side: Side
    of: Expr
    confidence: Fraction
    type: Type

    def __str__(self) -> str:
        return f"{self.side}({self.of}, {self.confidence})"


Expr: TypeAlias = Column | Literal | Call | Released | Margin


def quoted(name: str) -> str:
    """A name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def columns_in(expr: Expr) -> Iterator[Column]:
    """The columns an expression reads, in order, with repetitions."""
    match expr:
        case Column():
            yield expr
        case Call(args=args):
            for arg in args:
                yield from columns_in(arg)
        case Literal() | Released() | Margin():
            return
        case _:
            raise unforeseen(expr)


def margins(expr: Expr) -> Iterator[Margin]:
    """The margins in an expression, from left to right, with repetitions."""
    match expr:
        case Margin():
            yield expr
        case Call(args=args):
            for arg in args:
                yield from margins(arg)
        case Column() | Literal() | Released():
            return
        case _:
            raise unforeseen(expr)


def changed(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with its outermost parts changed for which `change` gives something."""
    found = change(expr)
    if found is not None:
        return found
    match expr:
        case Call(args=args):
            return replace(expr, args=tuple(changed(arg, change) for arg in args))
        case Margin(of=of):
            return replace(expr, of=changed(of, change))
        case Column() | Literal() | Released():
            return expr
        case _:
            raise unforeseen(expr)


def is_null(expr: Expr) -> bool:
    """Whether the expression is the constant NULL."""
    return isinstance(expr, Literal) and expr.value is None


def uncast(expr: Expr) -> Expr:
    """The expression without a cast to real numbers around it."""
    match expr:
        case Call(function=Function(name="real"), args=(arg,)):
            return arg
        case _:  # there is none
            return expr


def nullif_zero(expr: Expr) -> Expr | None:
    """The x of NULLIF(x, 0); None if it is anything else."""
    match expr:
        case Call(
            function=Function(name="if"),
            args=(Call(function=Function(name="eq"), args=(one, Literal(value=0))), Literal(value=None), other),
        ) if uncast(one) == uncast(other):
            return other
        case _:  # it is anything else
            return None


def released_names(expr: Expr) -> set[str]:
    """The names of the released values an expression uses."""
    match expr:
        case Released(name=name):
            return {name}
        case Call(args=args):
            return set[str]().union(*map(released_names, args))
        case Column() | Literal() | Margin():
            return set()
        case _:
            raise unforeseen(expr)
