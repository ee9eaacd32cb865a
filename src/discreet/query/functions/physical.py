"""Ibis values of exactly the types discreet computes in: int64, float64, and no other numbers.

A literal or a branch of CASE may be an 8-bit integer or a decimal to an engine, whatever Ibis calls it; products of
two such overflow. So every numeric argument of a function goes through `typed`, which casts unless the type is
already the widest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def typed(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The same value; an integer as int64, a real as float64, also to the engine."""
    from ibis.expr import operations

    if isinstance(value.op(), operations.Literal):
        return _literal(value.op().value, value)
    kind = value.type()
    if kind.is_integer() and not kind.is_int64():
        return value.cast("int64")
    if (kind.is_floating() and not kind.is_float64()) or kind.is_decimal():
        return value.cast("float64")
    return value


def comparable(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The same value; a condition as 0 or 1, because Ibis puts no parentheses around conditions that it compares."""
    return value.cast("int64") if value.type().is_boolean() else typed(value)


def joined(combine: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:  # noqa: ANN401 — Ibis values
    """Values combined by halves, so that many of them make no deep expression."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return combine(joined(combine, values[:middle]), joined(combine, values[middle:]))


def _literal(constant: object, value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """A numeric constant whose cast Ibis can't leave out, since it starts from another type."""
    import ibis

    kind = value.type()
    if constant is None or not (kind.is_numeric() and not kind.is_boolean()):
        return value
    if kind.is_integer():
        return ibis.literal(int(constant)).cast("int64")  # type: ignore[call-overload]  # a whole number
    return ibis.literal(repr(float(constant))).cast("float64")  # type: ignore[arg-type]  # a real one
