"""Truths beside numbers and texts, and texts beside dates, as a question's dialect has them.

Here a truth is neither a number nor a text. Where a dialect takes truths for numbers, numbers for conditions, and texts
for truths, that is put into casts, comparisons and constants; what it refuses, or what is no more than a slip, is
refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import TypeMismatch
from discreet.query import ir
from discreet.query.ir import call, cast, is_null, literal, moment, null
from discreet.query.sql.dialect_semantics import DialectSemantics, meaning_of
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


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
    """Values, one of which is chosen: truths become numbers beside numbers, if the dialect has it so."""
    args = dates_of(node, args)
    mixed = {arg.type.kind is Kind.BOOLEAN for arg in args if not is_null(arg)} == {True, False}
    return numbered(args) if mixed and meaning_of(node).bits else args


def numbered(args: Iterable[ir.Expr]) -> list[ir.Expr]:
    """Values with truths as 1 and 0."""
    return [cast(arg, Kind.INTEGER) if arg.type.kind is Kind.BOOLEAN else arg for arg in args]


def dates_of(node: Node, args: list[ir.Expr]) -> list[ir.Expr]:
    """Values that meet a date or a timestamp: of a text beside one, what the dialect passes over is cut off.

    That is the time of day beside a date, and in PostgreSQL the time zone beside either.

    Args:
        node: where they meet.
        args: the values.

    Raises:
        TypeMismatch: a text says a time of day, and its manual doesn't say which of the two becomes the other's kind.
    """
    kinds = {arg.type.kind for arg in args if not is_null(arg) and not _is_text(arg)}
    if kinds and kinds <= {Kind.DATE, Kind.TIMESTAMP} and meaning_of(node).drops_zones:
        args = [_without_zone(arg) for arg in args]
    timed = [arg for arg in args if _is_timed(arg)]
    if not timed or Kind.DATE not in kinds or Kind.TIMESTAMP in kinds:
        return args
    cuts = meaning_of(node).cuts_times
    if cuts is None:
        raise TypeMismatch(
            "this dialect doesn't settle how a text with a time of day compares with a date",
            hint="write DATE '2024-12-31' or TIMESTAMP '2024-12-31 23:59:59'",
        )
    return [cast(cast(arg, Kind.TIMESTAMP), Kind.DATE) if cuts and _is_timed(arg) else arg for arg in args]


def _is_text(arg: ir.Expr) -> bool:
    """Whether a value is a text that is written out."""
    return isinstance(arg, ir.Literal) and isinstance(arg.value, str)


_ZONED = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:Z|[+-]\d\d(?::\d\d)?)", re.ASCII)


def _without_zone(arg: ir.Expr) -> ir.Expr:
    """A time that is written out with a zone, without it."""
    found = _ZONED.fullmatch(arg.value) if isinstance(arg, ir.Literal) and isinstance(arg.value, str) else None
    return arg if found is None else literal(found[1])


def _is_timed(arg: ir.Expr) -> bool:
    """Whether it is a text that says a date and a time of day."""
    found = moment(arg.value, Kind.DATE) if isinstance(arg, ir.Literal) and isinstance(arg.value, str) else None
    return found is not None and found.type.kind is Kind.TIMESTAMP
