"""Expressions in the words of whoever asked: infix operators and plain column names, for reading only."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.query import ir
from discreet.tables import Kind

_INFIX = {
    "add": "+",
    "subtract": "−",
    "multiply": "×",
    "divide": "/",
    "quotient": "//",
    "remainder": "%",
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "AND",
    "or": "OR",
}


def wording(expr: ir.Expr) -> str:
    """The expression as a reader would write it; brackets around every operation but the outermost.

    Examples:
        >>> from discreet.tables import Kind
        >>> from discreet.query.ir import call, literal
        >>> age = ir.Released("age", ir.Type(Kind.INTEGER, nullable=True))
        >>> wording(call("multiply", call("subtract", age, literal(55)), literal(2)))
        '(age − 55) × 2'
    """
    match expr:
        case ir.Column(name=name) | ir.Released(name=name):
            return name
        case ir.Literal(value=None):
            return "NULL"
        case ir.Literal(value=str() as text):
            return "'" + text.replace("'", "''") + "'"
        case ir.Literal(value=value):
            return f"{float(value):g}" if expr.type.kind is Kind.REAL else str(value)  # type: ignore[arg-type]  # a real
        case ir.Margin(side=side, of=of):
            return f"{side.upper()}({wording(of)})"
        case ir.Call(function=function, args=args):
            return _call(function.name, args)


def _call(name: str, args: Sequence[ir.Expr]) -> str:
    """A function of other expressions."""
    if name == "multiply" and args[0] == args[1]:
        return f"{_part(args[0])}²"
    if name in _INFIX:
        return f" {_INFIX[name]} ".join(map(_part, args))
    if name == "real":  # a whole number read as a real one: nothing a reader would miss
        return wording(args[0])
    if name == "is_null":
        return f"{_part(args[0])} IS NULL"
    if name == "if":
        return _case(args)
    return f"{name.upper()}({', '.join(map(wording, args))})"


def _case(args: Sequence[ir.Expr]) -> str:
    """CASE, with its conditions and results."""
    *pairs, otherwise = args
    whens = " ".join(f"WHEN {wording(pairs[n])} THEN {wording(pairs[n + 1])}" for n in range(0, len(pairs), 2))
    return f"CASE {whens} ELSE {wording(otherwise)} END"


def _part(expr: ir.Expr) -> str:
    """An operand: in brackets if it is itself an operation."""
    text = wording(expr)
    bare = not isinstance(expr, ir.Call) or (expr.function.name not in _INFIX and expr.function.name != "is_null")
    return text if bare or (isinstance(expr, ir.Call) and text.endswith("²")) else f"({text})"
