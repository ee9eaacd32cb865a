"""Logic, comparison and choice; nothing here can fail on any row, bounded or not.

Logic is three-valued, as in SQL. CASE, COALESCE, LEAST and GREATEST give one of their arguments, so the range of the
result comes from the ranges of the arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from discreet.errors import TypeMismatch, Unsupported
from discreet.query.ir.expressions import CALL, Call, Expr, Function, Literal, Sizes, Type, is_null
from discreet.query.ir.functions.application import (
    Args,
    alike,
    condition,
    joined,
    nothing,
    of_kind,
    span_of,
    strict,
    taking,
)
from discreet.query.ir.functions.casts import comparable, typed
from discreet.query.ir.ranges import hull
from discreet.tables import Kind


def _comparison(name: str, label: str, compare: Callable[[Any, Any], Any]) -> Function:
    """A comparison of two values of one kind; never with a constant NULL, of which Ibis would make IS NULL."""
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


def _one_of(args: Args, *, nullable: bool) -> Type:
    """The type of a value that is one of the arguments'."""
    some = [arg for arg in args if not is_null(arg)] or list(args)
    lo, hi = hull(*map(span_of, some))
    return Type(some[0].type.kind, lo, hi, nullable=nullable)


def _as_long_as_any(_args: Args, sizes: Sizes) -> int:
    """As long as the longest of the texts that it may be."""
    return max(sizes)


def _prepare_if(args: Args) -> Args:
    """Conditions and results by turns, and at the end what else; results become of one kind."""
    if len(args) % 2 == 0:
        raise TypeMismatch("CASE takes conditions with results, and one result more for ELSE")
    conditions = of_kind("CASE WHEN", args[:-1:2], Kind.BOOLEAN)
    results = alike("CASE", (*args[1::2], args[-1]))
    pairs = zip(conditions, results, strict=False)
    return *(part for pair in pairs for part in pair), results[-1]


def _infer_if(args: Args) -> Type:
    """One of the results."""
    results = (*args[1::2], args[-1])
    return _one_of(results, nullable=any(result.type.nullable for result in results))


def _compile_if(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
    """CASE WHEN; each branch is total by itself, so it doesn't matter which of them an engine computes."""
    import ibis

    *pairs, otherwise = values
    return ibis.cases(*((pairs[n], typed(pairs[n + 1])) for n in range(0, len(pairs), 2)), else_=typed(otherwise))


def _if(*values: Any) -> Any:  # noqa: ANN401 — values of any kind
    """The first result whose condition holds."""
    *pairs, otherwise = values
    return next((pairs[n + 1] for n in range(0, len(pairs), 2) if pairs[n] is True), otherwise)


def _infer_coalesce(args: Args) -> Type:
    """One of the arguments; NULL only if all can be."""
    return _one_of(args, nullable=all(arg.type.nullable for arg in args))


def _compile_coalesce(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The first that isn't NULL."""
    import ibis

    return ibis.coalesce(*map(typed, values))


def _extreme(name: str, pick: Callable[[Any], Any], *, least: bool) -> Function:
    """LEAST or GREATEST, which skip NULLs.

    For LEAST: the result is at least the least low end; and at most the high end of each argument that can't be
    NULL, or the greatest high end if all can be. GREATEST is its mirror image.
    """

    def infer(args: Args) -> Type:
        some = [arg for arg in args if not is_null(arg)] or list(args)
        sure = [arg for arg in some if not arg.type.nullable]
        lo, hi = hull(*map(span_of, some))
        ends = [end for arg in sure for end in [arg.type.hi if least else arg.type.lo] if end is not None]
        if ends and least:
            hi = min(ends) if hi is None else min(hi, *ends)
        elif ends:
            lo = max(ends) if lo is None else max(lo, *ends)
        return Type(some[0].type.kind, lo, hi, nullable=not sure)

    def compile_(*values: Any) -> Any:  # noqa: ANN401 — Ibis values
        import ibis

        return getattr(ibis, name)(*map(typed, values))

    def evaluate(*values: Any) -> Any:  # noqa: ANN401 — values of any kind
        return pick(value for value in values if value is not None) if any(v is not None for v in values) else None

    return Function(name, infer, compile_, evaluate, lambda args: alike(name.upper(), args), longest=_as_long_as_any)


CHOICE = (
    Function("if", _infer_if, _compile_if, _if, _prepare_if, longest=_as_long_as_any),
    Function(
        "coalesce",
        _infer_coalesce,
        _compile_coalesce,
        lambda *values: next((value for value in values if value is not None), None),
        lambda args: alike("COALESCE", args),
        longest=_as_long_as_any,
    ),
    _extreme("least", min, least=True),
    _extreme("greatest", max, least=False),
)
