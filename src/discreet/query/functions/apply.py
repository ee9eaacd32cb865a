"""Applying a function: bring its arguments together, find the result's type, and fold constants."""

from __future__ import annotations

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.literals import from_python, null, python_value


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
    constants = [python_value(arg) for arg in prepared if isinstance(arg, ir.Literal)]
    if len(constants) < len(prepared):
        return ir.Call(function, prepared, inferred)
    folded = from_python(function.evaluate(*constants), inferred.kind) if function.agrees(*constants) else None
    if folded is None:
        raise Unsupported("this constant can't be worked out in advance", hint="write its value itself")
    return folded
