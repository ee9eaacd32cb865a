"""Applying a function: its arguments are brought together, its result gets a type, and constants are folded.

Python computes what engines would: most functions give NULL for NULL, and none ever gives NaN.

Ibis values have exactly the types discreet computes in: int64, float64, and no other numbers. A literal or a branch of
CASE may be an 8-bit integer or a decimal to an engine, whatever Ibis calls it; products of two such overflow. So every
numeric argument of a function goes through `typed`, which casts unless the type is already the widest.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isnan
from typing import Any

from discreet.errors import TypeMismatch, Unsupported
from discreet.query.ir.expressions import Call, Expr, Function, Literal
from discreet.query.ir.literals import from_python, literal, null, python_value
from discreet.tables import Kind

_MOST_BITS = 1_000

_EXACT: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def apply(function: Function, args: tuple[Expr, ...]) -> Expr:
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
        raise Unsupported("this constant can't be worked out in advance", hint="write its value itself")
    return folded


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
    """A function on Python numbers that gives NULL for NULL, and for what is no number."""

    def evaluate(*values: Any) -> Any:  # noqa: ANN401 — values of any kind
        if any(value is None for value in values):
            return None
        try:
            result = compute(*values)
        except (OverflowError, ZeroDivisionError):  # a float of a released whole number beyond 2¹⁰²⁴
            return None
        return None if isinstance(result, float) and isnan(result) else result

    return evaluate


def typed(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The same value; an integer as int64, a real as float64, also to the engine."""
    from ibis.expr import operations

    if isinstance(value.op(), operations.Literal):
        return _literal(value.op().value, value)
    kind = value.type()
    if kind.is_integer() and not kind.is_int64():
        return value.cast("int64")
    if (kind.is_floating() and not kind.is_float64()) or kind.is_decimal():
        return value.cast("float64")
    return value


def comparable(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The same value; a condition as 0 or 1, because Ibis puts no parentheses around conditions that it compares."""
    return value.cast("int64") if value.type().is_boolean() else typed(value)


def joined(combine: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:  # noqa: ANN401 — Ibis values
    """Values combined by halves, so that many of them make no deep expression."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return combine(joined(combine, values[:middle]), joined(combine, values[middle:]))


def _literal(constant: object, value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """A numeric constant whose cast Ibis can't leave out, since it starts from another type."""
    import ibis

    kind = value.type()
    if constant is None or not (kind.is_numeric() and not kind.is_boolean()):
        return value
    if kind.is_integer():
        return ibis.literal(int(constant)).cast("int64")  # type: ignore[call-overload]  # a whole number
    return ibis.literal(repr(float(constant))).cast("float64")  # type: ignore[arg-type]  # a real one
