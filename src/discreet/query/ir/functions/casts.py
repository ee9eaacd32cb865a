"""Casts: from one kind of value to another, and of engines' values to the types that discreet computes in.

Both CAST and TRY_CAST are total here: what can't be cast becomes NULL.

Ibis values have exactly the types discreet computes in: int64, float64, and no other numbers. A literal or a branch of
CASE may be an 8-bit integer or a decimal to an engine, whatever Ibis calls it; products of two such overflow. So every
numeric argument of a function goes through `typed`, which casts unless the type is already the widest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from math import isfinite
from struct import pack, unpack
from typing import Any

from discreet.errors import TypeMismatch, unforeseen
from discreet.query.ir.expressions import Expr, Function, Type
from discreet.query.ir.literals import Value, moment
from discreet.query.ir.ordinals import midnight
from discreet.query.ir.ranges import INT64, UNKNOWN, Interval, outward, within
from discreet.tables import Kind

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?", re.ASCII)
_TRUTHS = {"true": True, "false": False}
_LONGEST_WRITTEN = 400
"""No number, truth or time takes more bytes when it is written out."""
_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)
_DAY = 24 * 60 * 60 * 10**6

_TAKES = {
    Kind.INTEGER: {Kind.REAL, Kind.TEXT, Kind.BOOLEAN},
    Kind.REAL: {Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN},
    Kind.TEXT: {Kind.INTEGER, Kind.REAL, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP},
    Kind.BOOLEAN: {Kind.INTEGER, Kind.TEXT},
    Kind.DATE: {Kind.TEXT, Kind.TIMESTAMP},
    Kind.TIMESTAMP: {Kind.TEXT, Kind.DATE},
}


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


def _literal(constant: object, value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """A numeric constant whose cast Ibis can't leave out, since it starts from another type."""
    import ibis

    kind = value.type()
    if constant is None or not (kind.is_numeric() and not kind.is_boolean()):
        return value
    if kind.is_integer():
        return ibis.literal(int(constant)).cast("int64")  # type: ignore[call-overload]  # a whole number
    return ibis.literal(repr(float(constant))).cast("float64")  # type: ignore[arg-type]  # a real one


def _prepare(kind: Kind) -> Callable[[tuple[Expr, ...]], tuple[Expr, ...]]:
    """The effort of a cast to this kind."""

    def prepare(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
        (source,) = args
        if source.type.kind not in _TAKES[kind]:
            raise TypeMismatch(
                f"no {source.type.kind} value can be cast to {kind}",
                hint=f"{kind} can be made of " + ", ".join(sorted(_TAKES[kind])),
            )
        return args

    return prepare


def _span(source: Type, kind: Kind) -> Interval:
    """The range of a value after the cast."""
    lo, hi = source.lo, source.hi
    match source.kind, kind:
        case Kind.BOOLEAN, Kind.INTEGER | Kind.REAL:
            return Fraction(0), Fraction(1)
        case Kind.INTEGER, Kind.REAL:
            return outward((lo, hi))
        case Kind.REAL, Kind.INTEGER:
            # Rounding never decreases, so the rounded ends hold all rounded values.
            return None if lo is None else Fraction(round(lo)), None if hi is None else Fraction(round(hi))
        case Kind.TIMESTAMP, Kind.DATE:
            return None if lo is None else Fraction(lo // _DAY), None if hi is None else Fraction(hi // _DAY)
        case Kind.DATE, Kind.TIMESTAMP:
            return None if lo is None else lo * _DAY, None if hi is None else hi * _DAY
        case _:  # no end is known
            return UNKNOWN


def _infer(kind: Kind) -> Any:  # noqa: ANN401 — a range rule
    """The range rule of the cast to a kind."""

    def infer(args: tuple[Expr, ...]) -> Type:
        source = args[0].type
        lo, hi = _span(source, kind)
        if kind is Kind.INTEGER and lo is not None and hi is not None:
            # What lies outside 64 bits becomes NULL; nothing is left if the whole range does.
            lo, hi = max(lo, INT64[0] or lo), min(hi, INT64[1] or hi)
            lo = min(lo, hi)
        sure = {
            Kind.INTEGER: source.kind is Kind.BOOLEAN or within(_span(source, kind), INT64),
            Kind.REAL: source.kind is not Kind.TEXT,
            Kind.TEXT: not source.kind.is_time or source.is_bounded,
            Kind.BOOLEAN: source.kind is Kind.INTEGER,
            Kind.DATE: source.is_bounded and source.kind is Kind.TIMESTAMP,
            Kind.TIMESTAMP: source.is_bounded and source.kind is Kind.DATE,
        }[kind]
        return Type(kind, lo, hi, nullable=source.nullable or not sure)

    return infer


def in_calendar(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """An Ibis date or timestamp; NULL outside the years 1 to 9999, where engines raise or say infinity."""
    import ibis

    first, last = ibis.literal(_FIRST), ibis.literal(_LAST)
    if value.type().is_timestamp():
        first, last = ibis.literal(midnight(_FIRST)), ibis.literal(datetime(9999, 12, 31, 23, 59, 59, 999999))  # noqa: DTZ001 — as in tables
    return ibis.cases((value.between(first, last), value))


def _compile_integer(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """Round half to even, NULL outside 64 bits."""
    value = typed(value)
    return value.cast("int64") if value.type().is_boolean() else value.try_cast("int64")


def _compile_real(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The nearest float64; a text that says NaN is NULL, since NaN is no number."""
    import ibis

    value = typed(value)
    if not value.type().is_string():
        return (value.cast("int64") if value.type().is_boolean() else value).cast("float64")
    found = value.try_cast("float64")
    return ibis.cases((~found.isnan(), found))


def _compile_text(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """As the engine writes it; dates outside the calendar are NULL."""
    value = typed(value)
    return (in_calendar(value) if value.type().is_temporal() else value).try_cast("string")


def _compile_boolean(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """Whether a number isn't 0; or what the text says."""
    return typed(value).try_cast("boolean")


def _compile_date(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The day of a timestamp, or what the text says."""
    if value.type().is_timestamp():
        return in_calendar(value).cast("date")
    return in_calendar(value.try_cast("date"))


def _compile_timestamp(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The midnight a date begins with, or what the text says."""
    if value.type().is_date():
        return in_calendar(value).cast("timestamp")
    return in_calendar(value.try_cast("timestamp"))


def _to_integer(value: Value) -> Value:
    """`_compile_integer` in Python."""
    if isinstance(value, str):
        value = value.strip(" ")
        return int(value) if _WHOLE.fullmatch(value) else None
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, float) or not isfinite(value):
        return None
    whole = round(value)
    return whole if -(2**63) <= whole < 2**63 else None


def _to_real(value: Value) -> Value:
    """`_compile_real` in Python; a whole number too large for a float becomes NULL."""
    if isinstance(value, str):
        value = value.strip(" ")
        return float(value) if _DECIMAL.fullmatch(value) else None
    if not isinstance(value, int):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _to_text(value: Value) -> Value:
    """`_compile_text` in Python."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ").rstrip("0").rstrip(".") if value.microsecond else value.isoformat(" ")
    return None if value is None else str(value)


def _to_boolean(value: Value) -> Value:
    """`_compile_boolean` in Python."""
    if isinstance(value, str):
        return _TRUTHS.get(value.strip(" ").lower())
    return None if value is None else bool(value)


def _to_date(value: Value) -> Value:
    """`_compile_date` in Python."""
    if isinstance(value, str):
        found = moment(value, Kind.DATE)
        return None if found is None else _to_date(found.value)  # type: ignore[arg-type]  # a date
    return value.date() if isinstance(value, datetime) else value


def _to_timestamp(value: Value) -> Value:
    """`_compile_timestamp` in Python."""
    if isinstance(value, str):
        found = moment(value, Kind.TIMESTAMP)
        return None if found is None else found.value  # type: ignore[return-value]  # a datetime
    return midnight(value) if isinstance(value, date) else None


def _agrees(kind: Kind) -> Callable[..., bool]:
    """Engines read more texts as numbers, truths and dates than Python's strict forms do."""

    def agrees(value: Value) -> bool:
        if not isinstance(value, str):
            return True
        match kind:
            case Kind.INTEGER:
                return _WHOLE.fullmatch(value) is not None
            case Kind.REAL:
                return _DECIMAL.fullmatch(value) is not None
            case Kind.BOOLEAN:
                return value in _TRUTHS
            case Kind.DATE | Kind.TIMESTAMP:
                return moment(value, kind) is not None
            case Kind.TEXT:
                return True
            case _:
                raise unforeseen(kind)

    return agrees


_MOST_SINGLE = 2.0**128 - 2.0**104
"""The greatest float32."""

_TOO_LARGE = 2.0**128 - 2.0**103
"""From here on, the nearest float32 is infinite."""


def _to_single(value: Value) -> Value:
    """`_compile_single` in Python."""
    if not isinstance(value, (int, float)):
        return None
    try:
        found: float = unpack("f", pack("f", value))[0]
    except OverflowError:
        return None
    return found if isfinite(found) else None


def _compile_single(value: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The nearest float32; NULL where there is none. The value is clamped before the cast, because casts raise."""
    import ibis

    value = typed(value)
    most = typed(ibis.literal(_MOST_SINGLE))
    within_range = ibis.least(ibis.greatest(value, -most), most)
    is_small = value.abs() < typed(ibis.literal(_TOO_LARGE))
    return ibis.cases((is_small, within_range.cast("float32").cast("float64")))


def _infer_single(args: tuple[Expr, ...]) -> Type:
    """Rounding never decreases, so the rounded ends hold all rounded values."""
    source = args[0].type
    most = Fraction(_MOST_SINGLE)
    lo, hi = (None if end is None else min(max(end, -most), most) for end in (source.lo, source.hi))
    lo, hi = (None if end is None else Fraction(unpack("f", pack("f", float(end)))[0]) for end in (lo, hi))
    return Type(Kind.REAL, lo, hi, nullable=source.nullable or not within((source.lo, source.hi), (-most, most)))


def _prepare_single(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """It takes what is real already."""
    if args[0].type.kind is not Kind.REAL:
        raise TypeMismatch(f"single precision is for real numbers, not for {args[0].type.kind} values")
    return args


SINGLE = Function("single", _infer_single, _compile_single, _to_single, _prepare_single, copies=2)
"""A real number rounded to single precision, as REAL and FLOAT hold it in many dialects."""


def _function(kind: Kind, compile_: Any, evaluate: Any) -> Function:  # noqa: ANN401 — as Function has them
    """The cast to a kind, which has its name."""
    copies = 2 if kind.is_time or kind in {Kind.REAL, Kind.TEXT} else 1
    longest = (lambda _args, _sizes: _LONGEST_WRITTEN) if kind is Kind.TEXT else None
    return Function(str(kind), _infer(kind), compile_, evaluate, _prepare(kind), _agrees(kind), copies, longest)


CASTS = {
    Kind.INTEGER: _function(Kind.INTEGER, _compile_integer, _to_integer),
    Kind.REAL: _function(Kind.REAL, _compile_real, _to_real),
    Kind.TEXT: _function(Kind.TEXT, _compile_text, _to_text),
    Kind.BOOLEAN: _function(Kind.BOOLEAN, _compile_boolean, _to_boolean),
    Kind.DATE: _function(Kind.DATE, _compile_date, _to_date),
    Kind.TIMESTAMP: _function(Kind.TIMESTAMP, _compile_timestamp, _to_timestamp),
}
