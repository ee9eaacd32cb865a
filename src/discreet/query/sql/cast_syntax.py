"""Cast syntax: how SQL names types, and how dialects round on the way to them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_DIGITS, call, cast, is_exact, literal, moment, numbers, within
from discreet.query.sql.dialect_semantics import Rounding
from discreet.query.sql.time_syntax import Bind
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp


_KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "TEXT"), Kind.TEXT),
    **dict.fromkeys(("DATETIME", "TIMESTAMP", "TIMESTAMPNTZ"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
}


def casted(node: exp.Expression, bind: Bind) -> ir.Expr:
    """CAST and TRY_CAST, which are the same here; a constant that says no date is a slip, so it is an error."""
    target = node.args["to"]
    name = target.this.name if hasattr(target.this, "name") else str(target.this)
    if name == "DECIMAL" and "digits" in node.args:
        return _decimal(bind(node.this), *node.args["digits"])
    kind = _KINDS.get(name)
    if kind is None or target.expressions:
        lengths = kind is Kind.TEXT
        hint = "without a length, and LEFT(x, 10) around it" if lengths else f"one of {', '.join(Kind)}"
        raise Unsupported(f"CAST to {name}{'(…)' if target.expressions else ''} isn't offered", hint=hint)
    value = bind(node.this)
    if kind.is_time and isinstance(value, ir.Literal) and isinstance(value.value, str):
        found = moment(value.value, kind)
        if found is None:
            raise TypeMismatch(
                f"{value.value[:40]!r} isn't a {kind}", hint="write '2024-12-31' or '2024-12-31 23:59:59'"
            )
        value = found
    if kind is Kind.INTEGER and value.type.kind is Kind.REAL:
        value = _whole(value, node.args.get("rounding"))
    return cast(value, kind)


def to_whole(name: str, value: ir.Expr) -> ir.Expr:
    """FLOOR, CEIL or ROUND: a whole number if it fits, else a real without fraction."""
    value = numbers(name.upper(), (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call(name if is_exact(value) else f"{name}_real", value)


def truncated_to_whole(value: ir.Expr) -> ir.Expr:
    """TRUNC, towards zero: up below it, down above."""
    value = numbers("TRUNC", (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call("if", call("lt", value, literal(0)), to_whole("ceil", value), to_whole("floor", value))


def _whole(value: ir.Expr, rounding: Rounding | str | None) -> ir.Expr:
    """A real number on its way to a whole one, rounded as the dialect does.

    Raises:
        Unsupported: how it does isn't known.
    """
    if isinstance(value, ir.Call) and value.function.name in {"floor_real", "ceil_real", "round_real"}:
        return value
    match rounding:
        case None | Rounding.HALF_EVEN:
            return value
        case Rounding.HALF_AWAY:
            return to_whole("round", value)
        case Rounding.TOWARDS_ZERO:
            return truncated_to_whole(value)
        case _:
            raise Unsupported(
                "how a CAST to whole numbers rounds isn't known of this dialect",
                hint="say it: FLOOR, CEIL, ROUND or TRUNC",
            )


def _decimal(value: ir.Expr, digits: int, behind: int) -> ir.Expr:
    """A number rounded to so many digits behind the point, as a real; NULL if a row's has too many before it.

    Args:
        value: of any kind that can be a number.
        digits: in all.
        behind: the point; −1 for as many as there are.
    """
    value = cast(value, Kind.REAL)
    if behind < 0:
        return value
    if behind > digits:
        raise TypeMismatch(f"DECIMAL({digits}, {behind}) has more digits behind the point than in all")
    if behind == 0:
        value = call("round_real", value)
    elif behind <= MOST_DIGITS:
        value = call("round_digits", value, literal(behind))
    limit = Fraction(10) ** (digits - behind)
    is_released = not any(True for _ in ir.columns_in(value))
    if is_released or within((value.type.lo, value.type.hi), (1 - limit, limit - 1)):
        return value
    fits = call("and", call("gt", value, literal(-limit)), call("lt", value, literal(limit)))
    return call("if", fits, value, literal(None))
