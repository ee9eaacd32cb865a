"""Logic and comparison: three-valued, as in SQL; nothing here can fail on any row, bounded or not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.functions.arguments import Args, alike, condition, nothing, of_kind, taking
from discreet.query.functions.nulls import strict
from discreet.query.functions.physical import comparable, joined, typed
from discreet.query.literals import is_null
from discreet.tables import Kind


def _comparison(name: str, label: str, compare: Callable[[Any, Any], Any]) -> ir.Function:
    """A comparison of two values of one kind; never with a constant NULL, of which Ibis would make IS NULL."""
    return ir.Function(
        name,
        condition,
        lambda left, right: compare(comparable(left), comparable(right)),
        strict(compare),
        lambda args: alike(label, args),
    )


def _logical(args: Args) -> ir.Type:
    """A condition made of conditions: one NULL doesn't make it unknown if another one decides it."""
    return ir.Type(Kind.BOOLEAN, nullable=any(arg.type.nullable for arg in args))


def _sure(_args: Args) -> ir.Type:
    """A condition that is never unknown."""
    return ir.Type(Kind.BOOLEAN, nullable=False)


def _connective(name: str, decisive: bool, combine: Callable[[Any, Any], Any]) -> ir.Function:
    """AND or OR of any number of conditions; nested ones of the same name are taken apart, so grouping is no matter."""

    def prepare(args: Args) -> Args:
        flat: list[ir.Expr] = []
        for arg in of_kind(name.upper(), args, Kind.BOOLEAN):
            flat.extend(arg.args if isinstance(arg, ir.Call) and arg.function.name == name else (arg,))
        return tuple(flat)

    def compile_(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
        return joined(combine, values)

    def evaluate(*values: bool | None) -> bool | None:
        if decisive in values:
            return decisive
        return None if None in values else not decisive

    return ir.Function(name, _logical, compile_, evaluate, prepare)


def _prepare_in(args: Args) -> Args:
    """One kind for all; the list is of constants, each once, and NULL last."""
    first, *listed = alike("IN", args)
    if not listed or not all(isinstance(item, ir.Literal) for item in listed):
        raise Unsupported("IN takes a list of constants")
    known = {item: None for item in listed if not is_null(item)}
    nulls = tuple(item for item in listed if is_null(item))[:1]
    return first, *known, *nulls


def _infer_in(args: Args) -> ir.Type:
    """Unknown if the value is NULL, or if it isn't found beside a listed NULL."""
    nullable = args[0].type.nullable or any(map(is_null, args[1:]))
    return ir.Type(Kind.BOOLEAN, nullable=nullable, values=nothing(args[:1]))


def _compile_in(value: Any, *listed: Any) -> Any:  # noqa: ANN401 — Ibis values
    """SQL's own IN, which treats NULLs as `_infer_in` says."""
    # Whole numbers of any width compare well, and a list may be long.
    if value.type().is_integer():
        return typed(value).isin(listed)
    return comparable(value).isin([comparable(item) for item in listed])


def _in(value: Any, *listed: Any) -> bool | None:  # noqa: ANN401 — values of any kind
    """What `_compile_in` computes."""
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
    ir.Function(
        "distinct",
        _sure,
        lambda left, right: ~comparable(left).identical_to(comparable(right)),
        operator.ne,
        lambda args: alike("IS DISTINCT FROM", args),
    ),
    ir.Function("in", _infer_in, _compile_in, _in, _prepare_in),
    _connective("and", False, operator.and_),  # noqa: FBT003 — one false decides
    _connective("or", True, operator.or_),  # noqa: FBT003 — one true decides
    ir.Function("not", condition, operator.invert, strict(operator.not_), taking("NOT", Kind.BOOLEAN)),
    ir.Function("is_null", _sure, lambda value: comparable(value).isnull(), lambda value: value is None),
)
