"""Applying a function: its arguments are brought together, its result gets a type, and constants are folded.

Arguments are brought to the kinds that a function takes, or refused with the reason. Python computes what engines
would: most functions give NULL for NULL, and none ever gives NaN.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite, isnan
from typing import Any

from discreet.errors import TypeMismatch, UnboundedColumn, Unsupported
from discreet.privacy import KeyValue
from discreet.query.ir.expressions import Call, Expr, Function, Literal, Type, columns_in, is_null
from discreet.query.ir.functions.casts import CASTS
from discreet.query.ir.literals import Value, literal, moment, null, python_value
from discreet.query.ir.ranges import REAL_LIMIT, Interval, outward
from discreet.tables import Kind

Args = tuple[Expr, ...]
Prepare = Callable[[Args], Args]

_MOST_BITS = 1_000

_EXACT: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def apply(function: Function, args: Args) -> Expr:
    """The function of these arguments, typed; of constants, the constant it gives; NULL if it can be nothing else.

    So whatever calls are left depend on a column or a released value.

    Raises:
        TypeMismatch: the function doesn't take arguments of these kinds.
        UnboundedColumn: a row could overflow.
        Unsupported: the result could be too large, or an argument must be a constant and isn't, or engines differ in
            what the constant is.
    """
    if not args:
        raise TypeMismatch(f"{function.name.upper()} lacks an argument here")
    prepared = function.prepare(args)
    inferred = function.infer(prepared)
    if inferred.values == ():
        return null(inferred.kind)
    written = [arg for arg in prepared if isinstance(arg, Literal)]
    if len(written) < len(prepared):
        return Call(function, prepared, inferred)
    exact = _exactly(function.name, [each.value for each in written], inferred.kind)
    if exact is not None:
        return literal(exact)
    constants = [python_value(each) for each in written]
    folded = from_python(function.evaluate(*constants), inferred.kind) if function.agrees(*constants) else None
    if folded is None:
        raise Unsupported("this constant can't be worked out in advance", hint="write its value instead")
    return folded


def from_python(value: Value, kind: Kind) -> Literal | None:
    """The literal of a value that `evaluate` gave, or None if it is a number that literals don't hold."""
    if value is None:
        return null(kind)
    if isinstance(value, float):
        return literal(value) if isfinite(value) and abs(value) <= 2.0**500 else None
    if isinstance(value, int) and kind is Kind.INTEGER and not -(2**63) <= value < 2**63:
        return None
    return literal(value)


def cast(expr: Expr, kind: Kind) -> Expr:
    """The expression as another kind; itself if it is of that kind already.

    Raises:
        TypeMismatch: no value of the one kind means one of the other.
    """
    if expr.type.kind is kind:
        return expr
    if is_null(expr):
        return null(kind)
    return apply(CASTS[kind], (expr,))


def _exactly(name: str, values: Sequence[object], kind: Kind) -> Fraction | None:
    """Arithmetic on numbers as they are written: 0.06 + 0.01 is 0.07, as in SQL's decimals, and not in floats.

    None if it is something else, or if the number would grow too long.
    """
    numbers = [Fraction(value) for value in values if isinstance(value, (int, Fraction))]
    compute = _EXACT.get(name)
    if compute is None or kind is not Kind.REAL or len(numbers) != len(values) or len(numbers) != 2:  # noqa: PLR2004 — two operands
        return None
    found = compute(*numbers)
    return found if max(found.numerator.bit_length(), found.denominator.bit_length()) <= _MOST_BITS else None


def strict(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function on Python numbers that gives NULL for NULL, and for anything that isn't a number."""

    def evaluate(*values: Any) -> Any:  # noqa: ANN401 — values of any kind
        if any(value is None for value in values):
            return None
        try:
            result = compute(*values)
        except (OverflowError, ZeroDivisionError):  # a float of a released whole number beyond 2¹⁰²⁴
            return None
        return None if isinstance(result, float) and isnan(result) else result

    return evaluate


def joined(combine: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:  # noqa: ANN401 — Ibis values
    """Values combined by halves, so that many of them make no deep expression."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return combine(joined(combine, values[:middle]), joined(combine, values[middle:]))


def of_kind(label: str, args: Args, *kinds: Kind) -> Args:
    """The arguments, all of them of one of these kinds; NULL becomes one of the first.

    Raises:
        TypeMismatch: one isn't.
    """
    return tuple(null(kinds[0]) if is_null(arg) else _checked(label, arg, kinds) for arg in args)


def taking(label: str, *kinds: Kind) -> Prepare:
    """A preparation that lets arguments of these kinds through."""
    return lambda args: of_kind(label, args, *kinds)


def numbers(label: str, args: Args) -> Args:
    """The arguments as numbers, all real if one of them is.

    Raises:
        TypeMismatch: one isn't a number.
    """
    checked = of_kind(label, args, Kind.INTEGER, Kind.REAL)
    return reals(checked) if any(arg.type.kind is Kind.REAL for arg in checked) else checked


def reals(args: Args) -> Args:
    """Numbers as reals."""
    return tuple(cast(arg, Kind.REAL) for arg in args)


def alike(label: str, args: Args) -> Args:
    """The arguments as one kind: whole numbers as reals beside a real, dates as timestamps beside a timestamp.

    A text constant beside a date or timestamp is read as one, as SQL does.

    Raises:
        TypeMismatch: they have no kind in common, or the text isn't a date.
    """
    kinds = {arg.type.kind for arg in args if not is_null(arg) and not _is_text(arg)}
    if any(kind.is_time for kind in kinds):
        args = tuple(_as_moment(label, arg, kinds) for arg in args)
    kinds = {arg.type.kind for arg in args if not is_null(arg)}
    target = _common(kinds)
    if target is None:
        raise TypeMismatch(
            f"{label} takes values of one kind, not {' and '.join(sorted(kinds))}",
            hint="CAST one of them to the other's kind",
        )
    return tuple(cast(arg, target) for arg in args)


def demand_bounds(label: str, args: Args) -> None:
    """Refuse an argument whose range isn't known, if it is computed from rows: one of them could overflow.

    Released numbers need no bounds: what is computed from them is computed in Python, where nothing overflows.

    Raises:
        UnboundedColumn: naming the column and both ways to bound it.
    """
    for arg in args:
        if not arg.type.is_bounded and any(True for _ in columns_in(arg)):
            raise unbounded(arg, f"{label} could overflow on one of its rows")


def unbounded(expr: Expr, danger: str) -> UnboundedColumn:
    """The error that names what lacks bounds, and the fix."""
    loose = next(
        (column for column in columns_in(expr) if not column.type.is_bounded and column.type.kind.is_number), None
    )
    if loose is None:
        return UnboundedColumn(
            f"nothing bounds the values of this expression, so {danger}",
            hint="clamp it in the question: GREATEST(LEAST(…, 100), 0)",
        )
    name = loose.name if loose.name.isidentifier() else f'"{loose.name}"'
    skipped = "; NULLs would count as 100, so add WHERE … IS NOT NULL" if loose.type.nullable else ""
    return UnboundedColumn(
        f"column {loose.name!r} has no bounds, so {danger}",
        hint=f"declare bounds for {name} in the configuration, "
        f"or clamp it in the question: GREATEST(LEAST({name}, 100), 0){skipped}",
    )


def number_type(kind: Kind, span: Interval, args: Args, *, nullable: bool = False) -> Type:
    """The type of a number computed from `args`; NULL if one of them is.

    Raises:
        Unsupported: a row's result could be beyond 2⁵⁰⁰.
    """
    lo, hi = span
    if kind is Kind.REAL:
        sizes = [abs(end) for end in span if end is not None]
        if sizes and max(sizes) > REAL_LIMIT and any(True for arg in args for _ in columns_in(arg)):
            raise Unsupported(
                "a row's result could be larger than 2⁵⁰⁰",
                hint="tighter bounds, or GREATEST(LEAST(…, 100), 0) around a part, keep it small",
            )
        lo, hi = outward(span)
    return Type(kind, lo, hi, nullable or any(arg.type.nullable for arg in args), nothing(args))


def nothing(args: Args) -> tuple[KeyValue, ...] | None:
    """The values of a function that is NULL for NULL: none at all if an argument is the constant NULL."""
    return () if any(map(is_null, args)) else None


def constant(label: str, arg: Expr, least: int, most: int) -> int:
    """The value of an argument that must be a whole number known in advance.

    Raises:
        Unsupported: it isn't a constant, or is out of range.
    """
    if not isinstance(arg, Literal) or type(arg.value) is not int or not least <= arg.value <= most:
        raise Unsupported(f"{label} must be a whole number from {least} to {most}, written out")
    return arg.value


def span_of(arg: Expr) -> Interval:
    """The range of an argument."""
    return arg.type.lo, arg.type.hi


def counted(least: int, most: int, args: Args) -> Type:
    """The type of a whole number that lies between two ends whatever the arguments."""
    return number_type(Kind.INTEGER, (Fraction(least), Fraction(most)), args)


def condition(args: Args) -> Type:
    """The type of a condition on the arguments: unknown if one of them is NULL."""
    return Type(Kind.BOOLEAN, nullable=any(arg.type.nullable for arg in args), values=nothing(args))


def _checked(label: str, arg: Expr, kinds: tuple[Kind, ...]) -> Expr:
    if arg.type.kind not in kinds:
        hint = "CAST it, if its values mean that"
        if arg.type.kind is Kind.BOOLEAN and Kind.INTEGER in kinds:
            hint = "CAST(… AS INTEGER) makes it 0 or 1"
        elif kinds == (Kind.BOOLEAN,):
            hint = "write a condition, such as x <> 0"
        raise TypeMismatch(f"{label} takes {' or '.join(kinds)}, not {arg.type.kind}", hint=hint)
    return arg


def _is_text(arg: Expr) -> bool:
    """Whether the argument is a text constant."""
    return isinstance(arg, Literal) and isinstance(arg.value, str)


def _as_moment(label: str, arg: Expr, kinds: set[Kind]) -> Expr:
    """A text constant as the date or timestamp it is compared with."""
    if not isinstance(arg, Literal) or not isinstance(arg.value, str):
        return arg
    found = moment(arg.value, Kind.TIMESTAMP if Kind.TIMESTAMP in kinds else Kind.DATE)
    if found is None:
        raise TypeMismatch(f"{label}: {arg.value!r} isn't a date", hint="write it as '2024-12-31'")
    return found


def _common(kinds: set[Kind]) -> Kind | None:
    """The one kind that holds values of all of these, if there is one."""
    if len(kinds) <= 1:
        return next(iter(kinds), Kind.INTEGER)
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    return Kind.TIMESTAMP if kinds == {Kind.DATE, Kind.TIMESTAMP} else None
