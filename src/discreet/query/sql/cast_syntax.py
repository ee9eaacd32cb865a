"""Cast syntax: how SQL names types, and how dialects round on the way to them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_DIGITS, call, cast, is_exact, literal, moment, numbers, within
from discreet.query.sql.dialect_semantics import Rounding, meaning_of
from discreet.query.sql.refusals import SAID, said
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
    kind, sizes = _KINDS.get(name), [part.name for part in target.expressions]
    called = str(target.meta.get(SAID, name))[:40]
    if kind is None or (sizes and (kind is not Kind.TEXT or name == "CHAR")):
        what = f"CAST to {called}" if SAID in target.meta else f"what {said(node) or 'this'} gives"
        raise Unsupported(f"{what} isn't offered", hint=f"one of {', '.join(Kind)}")
    value, meaning = bind(node.this), meaning_of(node)
    if kind is Kind.TEXT:
        if value.type.kind is Kind.BOOLEAN and meaning.numeric_truths:
            value = cast(value, Kind.INTEGER)
        return _cut(cast(value, kind), value.type, sizes, called, cuts=meaning.cuts_texts)
    if kind is Kind.DATE and value.type.kind is Kind.TIMESTAMP and meaning.timed_dates:
        raise Unsupported("DATE has a time of day in this dialect", hint="TRUNC(x) is the day alone")
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


def _cut(text: ir.Expr, of: ir.Type, sizes: list[str], called: str, *, cuts: bool) -> ir.Expr:
    """A text of so many characters at the most.

    Args:
        text: not yet cut off.
        of: what it is made of.
        sizes: what stands in parentheses.
        called: the type, as the question calls it.
        cuts: whether a longer text is cut off.

    Raises:
        Unsupported: a longer text would be something else than cut off.
    """
    if not sizes or sizes[0].casefold() == "max":
        return text
    most = int(sizes[0]) if sizes[0].isdigit() and len(sizes[0]) < 7 else 0  # noqa: PLR2004 — a million characters
    if most and _longest(of) <= most:
        return text
    if not most or not cuts or of.kind is not Kind.TEXT:
        raise Unsupported(
            f"a CAST to {called} may be too short for some value", hint="without a length, and LEFT(x, 10) around it"
        )
    return call("substring", text, literal(1), literal(most))


def _longest(of: ir.Type) -> float:
    """How many characters a value has as a text, at the most."""
    if of.values is not None:
        return max((len(str(value)) for value in of.values if value is not None), default=0)
    if of.kind is Kind.INTEGER and of.lo is not None and of.hi is not None:
        return max(len(str(int(of.lo))), len(str(int(of.hi))))
    return {Kind.DATE: 10, Kind.TIMESTAMP: 26, Kind.BOOLEAN: 5, Kind.INTEGER: 20}.get(of.kind, math.inf)


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
