"""Moments: how SQL's syntax says parts of dates, the periods they lie in, and the time between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import TypeMismatch, UnknownFunction, Unsupported
from discreet.query import ir
from discreet.query.ir import call, literal, moment
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression

Bind: TypeAlias = Callable[[Any], ir.Expr]
"""From a syntax node to the expression it means."""

_PARTS = {
    **{name: name for name in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    **dict.fromkeys(("dow", "dayofweek", "weekday"), "day_of_week"),
    **dict.fromkeys(("isodow", "dayofweek_iso"), "iso_day_of_week"),
    **dict.fromkeys(("doy", "dayofyear"), "day_of_year"),
    "dayofmonth": "day",
    "weekofyear": "week",
}


def dated(value: ir.Expr) -> ir.Expr:
    """A date or timestamp; a text constant is read as one.

    Raises:
        TypeMismatch: the text isn't a date.
    """
    if not isinstance(value, ir.Literal) or not isinstance(value.value, str):
        return value
    found = moment(value.value, Kind.DATE)
    if found is None:
        raise TypeMismatch(f"{value.value[:40]!r} isn't a date", hint="write it as '2024-12-31'")
    return found


def part(field: Node, moment_: Node, bind: Bind) -> ir.Expr:
    """EXTRACT(field FROM moment)."""
    name = _PARTS.get(field.name.casefold())
    if name is None:
        raise UnknownFunction(f"there is no part {field.name!r} of a date", hint=f"one of {', '.join(_PARTS)}")
    return call(name, bind(moment_))


def truncated(node: Node, bind: Bind) -> ir.Expr:
    """DATE_TRUNC: a date for periods from a day on."""
    unit = node.args["unit"].name.casefold() if node.args.get("unit") else ""
    if unit not in {"year", "quarter", "month", "week", "day", "hour", "minute", "second"}:
        raise UnknownFunction(
            f"DATE_TRUNC doesn't know the period {unit!r}", hint="year, quarter, month, week, day, hour"
        )
    return call(f"trunc_{unit}", bind(node.this))


def date_diff(node: Node, bind: Bind) -> ir.Expr:
    """How many boundaries of the unit lie between two dates."""
    end, start = dated(bind(node.this)), dated(bind(node.expression))
    unit = node.args["unit"].name.casefold() if node.args.get("unit") else "day"
    if node.args.get("whole_units") and (unit != "day" or {start.type.kind, end.type.kind} != {Kind.DATE}):
        raise Unsupported(
            f"DATE_DIFF in {unit}s counts whole ones in this dialect, and boundaries here",
            hint="DATE_DIFF in days, between dates",
        )
    if unit == "day":
        return call("days_between", start, end)
    per_year = {"year": 1, "quarter": 4, "month": 12}.get(unit)
    if per_year is None:
        raise Unsupported(f"DATE_DIFF in {unit}s isn't offered", hint="day, month, quarter or year")
    years = call("subtract", call("year", end), call("year", start))
    if per_year == 1:
        return years
    rest = call("subtract", call(unit, end), call(unit, start))
    return call("add", call("multiply", years, literal(per_year)), rest)
