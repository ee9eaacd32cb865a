"""Arithmetic in SQL: division, powers, signs and rounding.

Whether a quotient is a whole number depends, in some dialects, on the kinds of its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import QueryError, Unsupported
from discreet.query import ir
from discreet.query.ir import call, cast, is_exact, is_null, literal, numbers
from discreet.query.sql.bind import Bind
from discreet.query.sql.dialect_semantics import meaning_of, undivided
from discreet.query.sql.refusals import unknown_part
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


MOST_POWER = 16
"""The most often that POWER multiplies its first argument."""


def divided(node: Node, bind: Bind) -> ir.Expr:
    """A real quotient; where the dialect says so, the whole quotient of whole numbers."""
    left, right = bind(node.this), bind(node.expression)
    whole = left.type.kind is Kind.INTEGER is right.type.kind
    typed = node.args.get("typed") and whole and not any(_is_real(part, bind) for part in (node.this, node.expression))
    return call("quotient" if typed else "divide", left, right)


def _is_real(node: Node, bind: Bind) -> bool:
    """Whether a whole number is real to a dialect that divides by kinds, as FLOOR of a real is.

    Raises:
        Unsupported: it can't be known here.
    """
    for inner in undivided(node):
        if type(inner).__name__ in {"Floor", "Ceil", "Round", "Trunc"}:
            try:
                kind = bind(inner.this).type.kind
            except QueryError:
                raise Unsupported(
                    "it isn't known whether this divides whole numbers",
                    hint="CAST one side AS FLOAT, or AS INTEGER",
                ) from None
            if kind is not Kind.INTEGER:
                return True
    return False


def power(node: Node, bind: Bind) -> ir.Expr:
    """A product of equal factors, by squaring; or a root."""
    base, exponent = cast(numbers("POWER", (bind(node.this),))[0], Kind.REAL), bind(node.expression)
    value = exponent.value if isinstance(exponent, ir.Literal) else None
    if not is_null(exponent) and not isinstance(value, int) and exponent.type.lo == exponent.type.hi == 0.5:  # noqa: PLR2004 — a square root
        return call("sqrt", base)
    if not isinstance(value, int) or not 1 <= value <= MOST_POWER:
        raise Unsupported(f"POWER takes an exponent from 1 to {MOST_POWER}, or 0.5, written out")
    found = base
    for bit in f"{value:b}"[1:]:
        found = call("multiply", found, found)
        found = call("multiply", found, base) if bit == "1" else found
    return found


def sign(node: Node, bind: Bind) -> ir.Expr:
    """−1, 0 or 1."""
    value, zero = numbers("SIGN", (bind(node.this),))[0], literal(0)
    above, below, at = (call(name, value, zero) for name in ("gt", "lt", "eq"))
    return call("if", above, literal(1), below, literal(-1), at, zero, literal(None))


def rounded(node: Node, bind: Bind) -> ir.Expr:
    """ROUND to a whole number, or to a number of digits."""
    value, decimals = bind(node.this), node.args.get("decimals")
    digits = None if decimals is None else bind(decimals)
    if digits is None or digits == literal(0):
        return to_whole("round", value)
    found = call("round_digits", value, digits)
    return cast(found, Kind.INTEGER) if value.type.kind is Kind.INTEGER and is_exact(value) else found


def truncated(node: Node, bind: Bind) -> ir.Expr:
    """TRUNC towards zero; in some dialects it cuts a timestamp to its day."""
    value, decimals = bind(node.this), node.args.get("decimals")
    if decimals is not None and bind(decimals) != literal(0):
        raise unknown_part(node, "decimals", decimals)
    if value.type.kind.is_time and meaning_of(node).truncates_dates:
        return call("trunc_day", value)
    return to_whole_towards_zero(value)


def to_whole(name: str, value: ir.Expr) -> ir.Expr:
    """FLOOR, CEIL or ROUND: a whole number if it fits, else a real without fraction."""
    value = numbers(name.upper(), (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call(name if is_exact(value) else f"{name}_real", value)


def to_whole_towards_zero(value: ir.Expr) -> ir.Expr:
    """TRUNC, towards zero: up below it, down above."""
    value = numbers("TRUNC", (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call("if", call("lt", value, literal(0)), to_whole("ceil", value), to_whole("floor", value))
