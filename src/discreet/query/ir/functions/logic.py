"""Logic and comparison, three-valued as in SQL; nothing here can fail on any row, bounded or not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from discreet.errors import Unsupported
from discreet.query.ir.expressions import CALL, Call, Expr, Function, Literal, Type, is_null
from discreet.query.ir.functions.application import (
    Args,
    alike,
    condition,
    joined,
    nothing,
    of_kind,
    strict,
    taking,
)
from discreet.query.ir.functions.casts import comparable, typed
from discreet.tables import Kind


def _comparison(name: str, label: str, compare: Callable[[Any, Any], Any]) -> Function:
    """A comparison of two values of one kind; never with a constant NULL, which Ibis would turn into IS NULL."""
    return Function(
        name,
        condition,
        lambda left, right: compare(comparable(left), comparable(right)),
        strict(compare),
        lambda args: alike(label, args),
    )


def _logical(args: Args) -> Type:
    """A condition made of conditions: one NULL doesn't make it unknown if another one decides it."""
    return Type(Kind.BOOLEAN, nullable=any(arg.type.nullable for arg in args))


def _sure(_args: Args) -> Type:
    """A condition that is never unknown."""
    return Type(Kind.BOOLEAN, nullable=False)


def _connective(name: str, decisive: bool, combine: Callable[[Any, Any], Any]) -> Function:
    """AND or OR of any number of conditions; nested ones of the same name are taken apart, so grouping is no matter."""

    def prepare(args: Args) -> Args:
        flat: list[Expr] = []
        for arg in of_kind(name.upper(), args, Kind.BOOLEAN):
            flat.extend(arg.args if isinstance(arg, Call) and arg.function.name == name else (arg,))
        return tuple(flat)

    def compile_(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
        return joined(combine, values)

    def evaluate(*values: bool | None) -> bool | None:
        if decisive in values:
            return decisive
        return None if None in values else not decisive

    return Function(name, _logical, compile_, evaluate, prepare)


def _prepare_in(args: Args) -> Args:
    """One kind for all; the list is of constants, each once, and NULL last."""
    first, *listed = alike("IN", args)
    if not listed or not all(isinstance(item, Literal) for item in listed):
        raise Unsupported("IN takes a list of constants")
    known = {item: None for item in listed if not is_null(item)}
    nulls = tuple(item for item in listed if is_null(item))[:1]
    return first, *known, *nulls


def _infer_in(args: Args) -> Type:
    """Unknown if the value is NULL, or if it isn't found beside a listed NULL."""
    nullable = args[0].type.nullable or any(map(is_null, args[1:]))
    return Type(Kind.BOOLEAN, nullable=nullable, values=nothing(args[:1]))


def _compile_in(value: Any, *listed: Any) -> Any:  # noqa: ANN401 — Ibis values
    """SQL's own IN, which treats NULLs as `_infer_in` says."""
    # Whole numbers of any width compare well, and a list may be long.
    if value.type().is_integer():
        return typed(value).isin(listed)
    return comparable(value).isin([comparable(item) for item in listed])


def _in(value: Any, *listed: Any) -> bool | None:  # noqa: ANN401 — values of any kind
    """`_compile_in` in Python."""
    if value is None:
        return None
    return True if value in [item for item in listed if item is not None] else None if None in listed else False


LOGIC = (
    _comparison("eq", "=", operator.eq),
    _comparison("ne", "<>", operator.ne),
    _comparison("lt", "<", operator.lt),
    _comparison("le", "<=", operator.le),
    _comparison("gt", ">", operator.gt),
    _comparison("ge", ">=", operator.ge),
    Function(
        "distinct",
        _sure,
        lambda left, right: ~comparable(left).identical_to(comparable(right)),
        operator.ne,
        lambda args: alike("IS DISTINCT FROM", args),
    ),
    Function("in", _infer_in, _compile_in, _in, _prepare_in),
    _connective("and", False, operator.and_),  # noqa: FBT003 — one false decides
    _connective("or", True, operator.or_),  # noqa: FBT003 — one true decides
    Function("not", condition, operator.invert, strict(operator.not_), taking("NOT", Kind.BOOLEAN)),
    Function(
        "is_null",
        _sure,
        lambda value: comparable(value).isnull(),
        lambda value: value is None,
        effort=lambda _args, _sizes: CALL,  # a mark beside the text tells it
    ),
)
