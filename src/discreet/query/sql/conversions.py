"""Conversions: those that a question asks for with CAST, those that its dialect makes by itself, and arithmetic.

Here a truth is neither a number nor a text. Where a dialect takes truths for numbers, numbers for conditions, and texts
for truths, that is put into casts, comparisons and constants; what it refuses, or what is no more than a slip, is
refused. On the way from real numbers to whole ones, dialects round in different ways; and whether a quotient is a whole
number depends on the kinds of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import QueryError, TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_DIGITS, call, cast, is_exact, is_null, literal, moment, null, numbers, within
from discreet.query.sql.dialect_semantics import DialectSemantics, Rounding, meaning_of, undivided
from discreet.query.sql.refusals import SAID, said, unknown_part
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


Bind: TypeAlias = Callable[[Any], ir.Expr]
"""From a syntax node to the expression it means."""


# ── Truths beside numbers and texts ───────────────────────────────────────────────────────────────────────────────────


def met(node: Node, args: list[ir.Expr]) -> list[ir.Expr]:
    """Values that are compared: where the dialect compares truths with 1 and 0, or with texts, these are truths too.

    Raises:
        TypeMismatch: it compares truths with truths alone, or a text with a time of day stands beside a date.
    """
    args = dates_of(node, args)
    kinds = {arg.type.kind for arg in args if not is_null(arg)}
    if Kind.BOOLEAN not in kinds or kinds == {Kind.BOOLEAN}:
        return args
    meaning = meaning_of(node)
    said_so = [_truth(arg, meaning) for arg in args]
    ordered = type(node).__name__ in {"LT", "LTE", "GT", "GTE", "Between"}
    if not ordered and all(arg.type.kind is Kind.BOOLEAN or is_null(arg) for arg in said_so):
        return said_so
    if meaning.bits and kinds <= {Kind.BOOLEAN, Kind.INTEGER, Kind.REAL}:
        return numbered(args)
    truth = next(arg for arg in args if arg.type.kind is Kind.BOOLEAN)
    name = truth.name if isinstance(truth, ir.Column) else "x"
    others = " and ".join(sorted(f"{kind}" for kind in kinds - {Kind.BOOLEAN}))
    raise TypeMismatch(
        f"in this dialect a boolean isn't compared with {others} values",
        hint=f"{name} = TRUE or {name} = FALSE; CAST({name} AS INTEGER) is 1 or 0",
    )


def _truth(arg: ir.Expr, meaning: DialectSemantics) -> ir.Expr:
    """1, 0 and texts such as 'true', if the dialect takes them for truths beside one."""
    value = arg.value if isinstance(arg, ir.Literal) else None
    if meaning.bits and type(value) is int and value in {0, 1}:
        return literal(bool(value))
    found = _TRUTHS.get(value.casefold()) if meaning.truth_texts and isinstance(value, str) else None
    return arg if found is None else literal(found)


_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def as_condition(what: str, node: Node, value: ir.Expr) -> ir.Expr:
    """A value as a condition; where the dialect takes a number for one, whether it isn't 0.

    Args:
        what: takes it, as in "WHERE".
        node: the value's, or one that it is part of.
        value: what it was bound to.

    Raises:
        TypeMismatch: it isn't one.
    """
    if is_null(value):
        return null(Kind.BOOLEAN)
    if value.type.kind.is_number and meaning_of(node).numeric_conditions:
        return call("ne", value, literal(0))
    if value.type.kind is Kind.BOOLEAN:
        return value
    name = value.name if isinstance(value, ir.Column) else "x"
    raise TypeMismatch(
        f"{what} takes a condition, not {value.type.kind}",
        hint=f"compare it: {name} {'<> 0' if value.type.kind.is_number else '= …'}",
    )


def beside(node: Node, args: list[ir.Expr]) -> list[ir.Expr]:
    """Values of which one is chosen: truths are numbers where others are, if the dialect has it so."""
    args = dates_of(node, args)
    mixed = {arg.type.kind is Kind.BOOLEAN for arg in args if not is_null(arg)} == {True, False}
    return numbered(args) if mixed and meaning_of(node).bits else args


def numbered(args: Iterable[ir.Expr]) -> list[ir.Expr]:
    """Values with truths as 1 and 0."""
    return [cast(arg, Kind.INTEGER) if arg.type.kind is Kind.BOOLEAN else arg for arg in args]


# ── Texts beside dates ────────────────────────────────────────────────────────────────────────────────────────────────


def dates_of(node: Node, args: list[ir.Expr]) -> list[ir.Expr]:
    """Values that meet a date: where the dialect reads a text beside one as a date, its time of day is cut off.

    Args:
        node: where they meet.
        args: the values.

    Raises:
        TypeMismatch: a text says a time of day, and its manual doesn't say which of the two becomes the other's kind.
    """
    kinds = {arg.type.kind for arg in args if not is_null(arg) and not _is_text(arg)}
    timed = [arg for arg in args if _is_timed(arg)]
    if not timed or Kind.DATE not in kinds or Kind.TIMESTAMP in kinds:
        return args
    cuts = meaning_of(node).cuts_times
    if cuts is None:
        raise TypeMismatch(
            "a text with a time of day beside a date isn't settled in this dialect",
            hint="write DATE '2024-12-31' or TIMESTAMP '2024-12-31 23:59:59'",
        )
    return [cast(cast(arg, Kind.TIMESTAMP), Kind.DATE) if cuts and _is_timed(arg) else arg for arg in args]


def _is_text(arg: ir.Expr) -> bool:
    """Whether a value is a text that is written out."""
    return isinstance(arg, ir.Literal) and isinstance(arg.value, str)


def _is_timed(arg: ir.Expr) -> bool:
    """Whether it is a text that says a date and a time of day."""
    found = moment(arg.value, Kind.DATE) if isinstance(arg, ir.Literal) and isinstance(arg.value, str) else None
    return found is not None and found.type.kind is Kind.TIMESTAMP


# ── CAST ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    if len(sizes) > 1:
        kind = None
    called = str(target.meta.get(SAID, name))[:40]
    if kind is None or (sizes and (kind is not Kind.TEXT or name == "CHAR")):
        what = f"CAST to {called}" if SAID in target.meta else f"what {said(node) or 'this'} gives"
        raise Unsupported(f"{what} isn't offered", hint=f"one of {', '.join(Kind)}")
    value, meaning = bind(node.this), meaning_of(node)
    match kind:
        case Kind.TEXT:
            return _cut(_written(value, node), value.type, sizes, called, cuts=meaning.cuts_texts)
        case Kind.INTEGER:
            return _narrowed(value, node, name)
        case Kind.REAL:
            value = cast(_readable(value, meaning), kind)
            return call("single", value) if called.upper() in meaning.singles else value
        case Kind.DATE | Kind.TIMESTAMP:
            return cast(_dated(value, kind, meaning), kind)
        case Kind.BOOLEAN:
            return cast(value, kind)


def _dated(value: ir.Expr, kind: Kind, meaning: DialectSemantics) -> ir.Expr:
    """A value on its way to a date or timestamp; a text that is written out is read."""
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
        Unsupported: how it does isn't known, or can't be followed: decimals, which are reals here, keep zeros.
    """
    meaning, kind = meaning_of(node), value.type.kind
    if kind is Kind.BOOLEAN and meaning.numeric_truths:
        value = cast(value, Kind.INTEGER)
    is_known = kind not in meaning.other_texts
    if kind is Kind.REAL and not (is_known and isinstance(value, ir.Column)) and not is_null(value):
        raise Unsupported(
            "how a real number is written as a text differs", hint="CAST(ROUND(x) AS BIGINT) inside of it"
        )
    if not is_known:
        raise Unsupported(f"how a {kind} is written as a text differs in this dialect", hint="compare it as it is")
    return cast(value, Kind.TEXT)


def _readable(value: ir.Expr, meaning: DialectSemantics) -> ir.Expr:
    """A value on its way to a number, if the dialect reads texts to their end; STRFTIME's have nothing else in them.

    Raises:
        Unsupported: it takes a text for the number that it begins with.
    """
    is_any = any(column.type.kind is Kind.TEXT for column in ir.columns_in(value))
    if value.type.kind is Kind.TEXT and is_any and meaning.reads_beginnings:
        raise Unsupported(
            "a text is cast to the number that it begins with in this dialect, and to NULL here if it is none",
            hint="compare it as a text",
        )
    return value


def _narrowed(value: ir.Expr, node: Node, name: str) -> ir.Expr:
    """A whole number of a type; NULL beyond what the type holds.

    Args:
        value: of any kind.
        node: the cast's.
        name: of the type, as the parser calls it.

    Raises:
        Unsupported: a number beyond it becomes another one in this dialect.
    """
    meaning = meaning_of(node)
    found = _readable(value, meaning)
    found = _whole(found, node.args.get("rounding")) if found.type.kind is Kind.REAL else found
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
            "what becomes of numbers that are too large for this type depends on more in this dialect",
            hint="BIGINT, or GREATEST(LEAST(x, 100), 0) inside of it",
        )
    fits = call("and", call("ge", found, literal(-limit)), call("le", found, literal(limit - 1)))
    return call("if", fits, found, literal(None))


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
            return _to_whole_towards_zero(value)
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


# ── Arithmetic ────────────────────────────────────────────────────────────────────────────────────────────────────────


MOST_POWER = 16
"""POWER multiplies its first argument this often at the most."""


def divided(node: Node, bind: Bind) -> ir.Expr:
    """A real quotient; where the dialect says so, a whole one of whole numbers."""
    left, right = bind(node.this), bind(node.expression)
    whole = left.type.kind is Kind.INTEGER is right.type.kind
    typed = node.args.get("typed") and whole and not any(_is_real(part, bind) for part in (node.this, node.expression))
    return call("quotient" if typed else "divide", left, right)


def _is_real(node: Node, bind: Bind) -> bool:
    """Whether a whole number is, to a dialect that divides by kinds, a real one: what FLOOR gives of a real.

    Raises:
        Unsupported: it can't be known here.
    """
    for inner in undivided(node):
        if type(inner).__name__ in {"Floor", "Ceil", "Round", "Trunc"}:
            try:
                kind = bind(inner.this).type.kind
            except QueryError:
                raise Unsupported(
                    "whether this is divided as whole numbers are isn't known",
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
    """ROUND to a whole number, or to so many digits."""
    value, decimals = bind(node.this), node.args.get("decimals")
    digits = None if decimals is None else bind(decimals)
    if digits is None or digits == literal(0):
        return to_whole("round", value)
    found = call("round_digits", value, digits)
    return cast(found, Kind.INTEGER) if value.type.kind is Kind.INTEGER and is_exact(value) else found


def truncated(node: Node, bind: Bind) -> ir.Expr:
    """TRUNC towards zero; in some dialects, of a timestamp to its day."""
    value, decimals = bind(node.this), node.args.get("decimals")
    if decimals is not None and bind(decimals) != literal(0):
        raise unknown_part(node, "decimals", decimals)
    if value.type.kind.is_time and meaning_of(node).truncates_dates:
        return call("trunc_day", value)
    return _to_whole_towards_zero(value)


def to_whole(name: str, value: ir.Expr) -> ir.Expr:
    """FLOOR, CEIL or ROUND: a whole number if it fits, else a real without fraction."""
    value = numbers(name.upper(), (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call(name if is_exact(value) else f"{name}_real", value)


def _to_whole_towards_zero(value: ir.Expr) -> ir.Expr:
    """TRUNC, towards zero: up below it, down above."""
    value = numbers("TRUNC", (value,))[0]
    if value.type.kind is Kind.INTEGER:
        return value
    return call("if", call("lt", value, literal(0)), to_whole("ceil", value), to_whole("floor", value))
