"""CAST: values of one kind as another, rounded and cut off as a question's dialect does.

Dialects differ in how they round real numbers to whole ones.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import TypeMismatch, Unsupported, unforeseen
from discreet.query import ir
from discreet.query.ir import MOST_DIGITS, call, cast, is_null, literal, moment, within
from discreet.query.sql.arithmetic_syntax import to_whole, to_whole_towards_zero
from discreet.query.sql.bind import Bind
from discreet.query.sql.dialect_semantics import DialectSemantics, Rounding, meaning_of
from discreet.query.sql.postgres_numbers import rounds_away
from discreet.query.sql.refusals import SAID, said
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


_KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "TEXT"), Kind.TEXT),
    **dict.fromkeys(("DATETIME", "TIMESTAMP", "TIMESTAMPNTZ"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
}


def casted(node: exp.Expression, bind: Bind) -> ir.Expr:
    """CAST and TRY_CAST, which are the same here. A constant that isn't a date is a slip, so it is an error."""
    target = node.args["to"]
    name = target.this.name if hasattr(target.this, "name") else str(target.this)
    if name == "DECIMAL" and "digits" in node.args:
        return _decimal(bind(node.this), *node.args["digits"])
    kind, sizes = _KINDS.get(name), [part.name for part in target.expressions]
    if len(sizes) > 1:
        kind = None
    called = str(target.meta.get(SAID, name))[:40]
    if kind is None or (sizes and (kind is not Kind.TEXT or name == "CHAR")):
        what = f"CAST to {called}" if SAID in target.meta else f"what {said(node) or 'this'} gives"
        raise Unsupported(f"{what} isn't supported", hint=f"one of {', '.join(Kind)}")
    value, meaning = bind(node.this), meaning_of(node)
    match kind:
        case Kind.TEXT:
            return _cut(_written(value, node), value.type, sizes, called, cuts=meaning.cuts_texts)
        case Kind.INTEGER:
            return _narrowed(value, node, name, bind)
        case Kind.REAL:
            value = cast(_readable(value, meaning), kind)
            return call("single", value) if called.upper() in meaning.singles else value
        case Kind.DATE | Kind.TIMESTAMP:
            return cast(_dated(value, kind, meaning), kind)
        case Kind.BOOLEAN:
            return cast(value, kind)
        case _:
            raise unforeseen(kind)


def _dated(value: ir.Expr, kind: Kind, meaning: DialectSemantics) -> ir.Expr:
    """A value about to become a date or timestamp; a text that is written out is read."""
    if kind is Kind.DATE and value.type.kind is Kind.TIMESTAMP and meaning.timed_dates:
        raise Unsupported("DATE has a time of day in this dialect", hint="TRUNC(x) is the day alone")
    if not isinstance(value, ir.Literal) or not isinstance(value.value, str):
        return value
    found = moment(value.value, kind)
    if found is None:
        raise TypeMismatch(f"{value.value[:40]!r} isn't a {kind}", hint="write '2024-12-31' or '2024-12-31 23:59:59'")
    return found


def _written(value: ir.Expr, node: Node) -> ir.Expr:
    """A value as a text, as the dialect writes it.

    Raises:
        Unsupported: its way isn't known, or can't be followed: decimals, which are reals here, keep zeros.
    """
    meaning, kind = meaning_of(node), value.type.kind
    if kind is Kind.BOOLEAN and meaning.numeric_truths:
        value = cast(value, Kind.INTEGER)
    is_known = kind not in meaning.other_texts
    if kind is Kind.REAL and not (is_known and isinstance(value, ir.Column)) and not is_null(value):
        raise Unsupported(
            "engines write a real number as text in different ways", hint="CAST(ROUND(x) AS BIGINT) inside it"
        )
    if not is_known:
        raise Unsupported(f"this dialect writes a {kind} as text in its own way", hint="compare it as it is")
    return cast(value, Kind.TEXT)


def _readable(value: ir.Expr, meaning: DialectSemantics) -> ir.Expr:
    """A value about to become a number, if the dialect reads texts to their end; STRFTIME's hold nothing else.

    Raises:
        Unsupported: it takes a text for the number that it begins with.
    """
    is_any = any(column.type.kind is Kind.TEXT for column in ir.columns_in(value))
    if value.type.kind is Kind.TEXT and is_any and meaning.reads_beginnings:
        raise Unsupported(
            "this dialect casts a text to the number it begins with; here a text that isn't a number becomes NULL",
            hint="compare it as a text",
        )
    return value


def _narrowed(value: ir.Expr, node: Node, name: str, bind: Bind) -> ir.Expr:
    """A whole number of a type; NULL beyond what the type holds.

    Args:
        value: of any kind.
        node: the cast's.
        name: of the type, as the parser calls it.
        bind: what names stand for.

    Raises:
        Unsupported: a number beyond it becomes another one in this dialect; or it can't be told how it is rounded.
    """
    meaning = meaning_of(node)
    found = _readable(value, meaning)
    if found.type.kind is Kind.REAL:
        found = _whole(found, node, bind)
    found = cast(found, Kind.INTEGER)
    limit = 2 ** (meaning.widths.get(name, 64) - 1)
    if (
        is_null(found)
        or within((found.type.lo, found.type.hi), (Fraction(-limit), Fraction(limit - 1)))
        or limit == 2**63
    ):
        return found
    if meaning.wraps and value.type.kind is not Kind.TEXT:
        raise Unsupported(
            "it isn't clear what this dialect makes of numbers that are too large for this type",
            hint="BIGINT, or GREATEST(LEAST(x, 100), 0) inside it",
        )
    fits = call("and", call("ge", found, literal(-limit)), call("le", found, literal(limit - 1)))
    return call("if", fits, found, literal(None))


def _cut(text: ir.Expr, of: ir.Type, sizes: list[str], called: str, *, cuts: bool) -> ir.Expr:
    """A text of at most a number of characters.

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
    """The most characters that a value has as a text."""
    if of.values is not None:
        return max((len(str(value)) for value in of.values if value is not None), default=0)
    if of.kind is Kind.INTEGER and of.lo is not None and of.hi is not None:
        return max(len(str(int(of.lo))), len(str(int(of.hi))))
    return {Kind.DATE: 10, Kind.TIMESTAMP: 26, Kind.BOOLEAN: 5, Kind.INTEGER: 20}.get(of.kind, math.inf)


def _whole(value: ir.Expr, node: Node, bind: Bind) -> ir.Expr:
    """A real number about to become a whole one, rounded as the dialect does.

    Args:
        value: the number.
        node: the cast's.
        bind: what names stand for.

    Raises:
        Unsupported: it isn't known how.
    """
    if isinstance(value, ir.Call) and value.function.name in {"floor_real", "ceil_real", "round_real"}:
        return value
    rounding = node.args.get("rounding")
    if meaning_of(node).exact_decimals and rounds_away(node.this, value, bind):
        rounding = Rounding.HALF_AWAY
    match rounding:
        case None | Rounding.HALF_EVEN:
            return value
        case Rounding.HALF_AWAY:
            return to_whole("round", value)
        case Rounding.TOWARDS_ZERO:
            return to_whole_towards_zero(value)
        case _:
            raise Unsupported(
                "it isn't known how this dialect rounds in a CAST to whole numbers",
                hint="say it: FLOOR, CEIL, ROUND or TRUNC",
            )


def _decimal(value: ir.Expr, digits: int, behind: int) -> ir.Expr:
    """A number rounded to `behind` digits after the point, as a real; NULL in rows with too many digits before it.

    Args:
        value: of any kind that can be a number.
        digits: in all.
        behind: the point; −1 for as many as there are.
    """
    value = cast(value, Kind.REAL)
    if behind < 0:
        return value
    if behind > digits:
        raise TypeMismatch(f"DECIMAL({digits}, {behind}) has more digits after the point than in total")
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
