"""Applying a function: bring its arguments together, find the result's type, and fold constants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.literals import from_python, literal, null, python_value
from discreet.tables import Kind

_MOST_BITS = 1_000


def apply(function: ir.Function, args: tuple[ir.Expr, ...]) -> ir.Expr:
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
    written = [arg for arg in prepared if isinstance(arg, ir.Literal)]
    if len(written) < len(prepared):
        return ir.Call(function, prepared, inferred)
    exact = _exactly(function.name, [each.value for each in written], inferred.kind)
    if exact is not None:
        return literal(exact)
    constants = [python_value(each) for each in written]
    folded = from_python(function.evaluate(*constants), inferred.kind) if function.agrees(*constants) else None
    if folded is None:
        raise Unsupported("this constant can't be worked out in advance", hint="write its value itself")
    return folded


_EXACT: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


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
