"""Choice: CASE, COALESCE, LEAST and GREATEST give one of their arguments; none can fail on any row.

So the range of the result comes from the ranges of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.errors import TypeMismatch
from discreet.query.ir.expressions import Function, Sizes, Type, is_null
from discreet.query.ir.functions.application import (
    Args,
    alike,
    of_kind,
    span_of,
)
from discreet.query.ir.functions.casts import typed
from discreet.query.ir.ranges import hull
from discreet.tables import Kind


def _one_of(args: Args, *, nullable: bool) -> Type:
    """The type of a value that is one of the arguments'."""
    some = [arg for arg in args if not is_null(arg)] or list(args)
    lo, hi = hull(*map(span_of, some))
    return Type(some[0].type.kind, lo, hi, nullable=nullable)


def _as_long_as_any(_args: Args, sizes: Sizes) -> int:
    """The length of the longest text that it may be."""
    return max(sizes)


def _prepare_if(args: Args) -> Args:
    """Conditions and results in turn, then the ELSE; results are brought to one kind."""
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
    """CASE WHEN. Each branch is total on its own, so it doesn't matter which of them an engine computes."""
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
