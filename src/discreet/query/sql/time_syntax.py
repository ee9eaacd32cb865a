"""Time syntax: how SQL writes parts of dates, their periods, the time between them, and later or earlier ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import TypeMismatch, UnknownFunction, Unsupported
from discreet.query import ir
from discreet.query.ir import call, cast, literal, moment
from discreet.query.sql.bind import Bind
from discreet.query.sql.dialect_semantics import MEANING, meaning_of
from discreet.query.sql.interval_text import FORMS, PLAIN, UNITS, amounts_of
from discreet.query.sql.refusals import said
from discreet.query.sql.truths import numbered
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


_PARTS = {
    **{name: name for name in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    **dict.fromkeys(("dow", "dayofweek", "weekday"), "day_of_week"),
    **dict.fromkeys(("isodow", "dayofweek_iso"), "iso_day_of_week"),
    **dict.fromkeys(("doy", "dayofyear"), "day_of_year"),
    "dayofmonth": "day",
    "weekofyear": "week",
}

LATER = (
    *("DateAdd", "DateSub", "TsOrDsAdd", "DatetimeAdd", "DatetimeSub", "TimestampAdd", "TimestampSub"),
    *("AddMonths",),
)
"""The parser's classes for what `later` understands."""

_ADDING_MONTHS = {"ADD_MONTHS", "MONTHS_ADD"}
"""Functions that in some dialects move the last day of a month to the last day of another."""

ALONE = "alone"
"""Where an INTERVAL keeps its whole text, if no unit follows it."""

_ORDER = ("months", "days", "seconds")
"""The order in which a mixed interval is added."""

_NUMBER = re.compile(r"\s*[+-]?\d{1,12}\s*", re.ASCII)


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


def truncated_time(node: Node, bind: Bind) -> ir.Expr:
    """DATE_TRUNC: a date for periods from a day on."""
    unit = node.args["unit"].name.casefold() if node.args.get("unit") else ""
    if unit not in {"year", "quarter", "month", "week", "day", "hour", "minute", "second"}:
        raise UnknownFunction(
            f"{said(node) or 'DATE_TRUNC'} doesn't know the period {unit!r}",
            hint="year, quarter, month, week, day, hour",
        )
    return call(f"trunc_{unit}", bind(node.this))


def date_diff(node: Node, bind: Bind) -> ir.Expr:
    """How many boundaries of the unit lie between two dates."""
    end, start = dated(bind(node.this)), dated(bind(node.expression))
    named, called = node.args.get("unit"), said(node) or "DATE_DIFF"
    unit = "day" if named is None else "week" if type(named).__name__ == "WeekStart" else named.name.casefold()
    if node.args.get("whole_units") and (unit != "day" or {start.type.kind, end.type.kind} != {Kind.DATE}):
        raise Unsupported(
            f"{called} in {unit}s counts whole ones in this dialect, and boundaries here",
            hint=f"{called} in days, between dates",
        )
    if unit == "day":
        return call("days_between", start, end)
    per_year = {"year": 1, "quarter": 4, "month": 12}.get(unit)
    if per_year is None:
        raise Unsupported(f"{called} in {unit}s isn't supported", hint="day, month, quarter or year")
    years = call("subtract", call("year", end), call("year", start))
    if per_year == 1:
        return years
    rest = call("subtract", call(unit, end), call(unit, start))
    return call("add", call("multiply", years, literal(per_year)), rest)


_PLACES = {"Y": (1, 4), "m": (6, 2), "d": (9, 2)}
"""Where the parts of a date stand in its text, 2024-12-31: the first character, and how many there are."""

_PREFIXES = {"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10}
"""Formats that the text of a date begins with, and their lengths."""

_MOST_PIECES = 12

_FORM = re.compile("%([Ymd])|([-/.:_, 0-9]+)")
"""A part of a date, or what stands between two. A letter that the parser left may be one that it doesn't know."""


def formatted(node: Node, bind: Bind) -> ir.Expr:
    """TO_CHAR, DATE_FORMAT, STRFTIME and their like, in forms of years, months and days."""
    value, form = bind(node.this), node.args["format"]
    pattern = form.name.replace("strict", "") if type(form).__name__ == "Literal" else ""
    pieces = list(_FORM.finditer(pattern))
    is_known = "".join(piece[0] for piece in pieces) == pattern
    called = said(node)
    if not value.type.kind.is_time or not pieces or not is_known or len(pieces) > _MOST_PIECES:
        raise Unsupported(
            f"{called} takes a date here, and a form of years, months and days", hint="DATE_TRUNC('month', x)"
        )
    text = cast(cast(value, Kind.DATE), Kind.TEXT)
    if pattern in _PREFIXES:
        return call("substring", text, literal(1), literal(_PREFIXES[pattern]))
    return call(
        "concat",
        *(
            literal(piece[2]) if piece[1] is None else call("substring", text, *map(literal, _PLACES[piece[1]]))
            for piece in pieces
        ),
    )


def is_interval(node: exp.Expression) -> bool:
    """Whether a node is an INTERVAL, or a text that is cast to one."""
    if type(node).__name__ == "Cast":
        to = node.args["to"]
        return to.this.name == "INTERVAL" and not to.expressions and type(node.this).__name__ == "Literal"
    return type(node).__name__ == "Interval"


def plus(node: exp.Expression, bind: Bind) -> ir.Expr:
    """A sum of numbers, or of a date and what it is moved by, in either order; of texts in T-SQL."""
    left, right = node.this, node.expression
    if is_interval(left) and not is_interval(right):
        left, right = right, left
    if is_interval(right):
        return _shifted(dated(bind(left)), _amounts(right), 1)
    first, second = bind(left), bind(right)
    if meaning_of(node).plus_joins and first.type.kind is Kind.TEXT is second.type.kind:
        return call("concat", first, second)
    if second.type.kind is Kind.DATE:
        first, second = second, first
    days = _days(node, first, second)
    return call("add", *_summands(node, first, second)) if days is None else _shifted(first, {"days": days}, 1)


def minus(node: exp.Expression, bind: Bind) -> ir.Expr:
    """A difference of numbers, a date less an interval, or the days between two dates."""
    if is_interval(node.expression):
        return _shifted(dated(bind(node.this)), _amounts(node.expression), -1)
    left, right = bind(node.this), bind(node.expression)
    if left.type.kind is Kind.DATE is right.type.kind:
        return call("days_between", right, left)
    days = _days(node, left, right)
    return call("subtract", *_summands(node, left, right)) if days is None else _shifted(left, {"days": days}, -1)


def _days(node: Node, left: ir.Expr, right: ir.Expr) -> int | None:
    """How many days a date is moved by a number beside it, where the dialect does that; None if it isn't such a sum."""
    if left.type.kind is not Kind.DATE or not isinstance(right, ir.Literal) or not meaning_of(node).plus_days:
        return None
    return right.value if type(right.value) is int else None


def _summands(node: Node, *args: ir.Expr) -> list[ir.Expr]:
    """Numbers, with truths as 1 and 0 where the dialect has it so."""
    return numbered(args) if meaning_of(node).numeric_truths else list(args)


def later(node: exp.Expression, bind: Bind) -> ir.Expr:
    """DATE_ADD, DATEADD and their like; those that subtract have SUB in their names."""
    called, meaning = type(node).__name__, meaning_of(node)
    sign = -1 if called.endswith("Sub") else 1
    amount, unit = node.expression, node.args.get("unit")
    if amount is None:
        raise TypeMismatch("the amount to add is missing here")
    if said(node) in _ADDING_MONTHS and meaning.month_ends is not False:
        what = "moves the last day of a month to the last day of another" if meaning.month_ends else "isn't known"
        raise Unsupported(f"{said(node)} {what} in this dialect", hint="x + INTERVAL '1' MONTH keeps the day")
    value = dated(bind(node.this))
    if called in meaning.day_shifts:
        value = cast(value, Kind.DATE)
        if is_interval(amount):
            raise Unsupported(f"{said(node)} takes a number of days in this dialect", hint="x + INTERVAL '5' HOUR")
    if is_interval(amount):
        if unit is not None:
            raise Unsupported(f"{said(node)} takes no unit here: the interval has one", hint="leave it out")
        amounts = _amounts(amount)
    else:
        name, size = _unit("month" if called == "AddMonths" else "day" if unit is None else unit.name)
        amounts = {name: size * _number(amount, bind)}
    return _shifted(value, amounts, sign)


def _shifted(value: ir.Expr, amounts: dict[str, int], sign: int) -> ir.Expr:
    for name in _ORDER:
        if name in amounts:
            value = call(f"add_{name}", value, literal(sign * amounts[name]))
    return value


def _amounts(interval: exp.Expression) -> dict[str, int]:
    """How many months, days and seconds an interval has.

    Raises:
        Unsupported: it isn't written out in whole numbers.
    """
    text = interval.this.name if type(interval).__name__ == "Cast" else interval.meta.get(ALONE)
    if text is not None:
        return amounts_of(text, FORMS.get(interval.meta.get(MEANING, "duckdb"), PLAIN))
    unit, number = interval.args.get("unit"), interval.this
    if number is None or unit is None:
        raise Unsupported("an interval is a whole number and a unit", hint="INTERVAL '90' DAY, INTERVAL '3' MONTH")
    if type(unit).__name__ != "Var" and type(unit.this).__name__ != "Literal":
        raise Unsupported("the unit of an interval is a word", hint="INTERVAL '90' DAY")
    name, size = _unit(unit.name if type(unit).__name__ == "Var" else type(unit).__name__)
    return {name: size * _written(number)}


def _unit(name: str) -> tuple[str, int]:
    """The base that a unit is counted in, and how many of these it has.

    Raises:
        Unsupported: there is no such unit.
    """
    folded = name.casefold()
    found = UNITS.get(folded) or UNITS.get(folded.removesuffix("s"))
    if found is None:
        raise Unsupported(f"an interval in {name[:40]!r} isn't supported", hint=", ".join(UNITS))
    return found


def _written(node: exp.Expression) -> int:
    """A whole number that is written out, perhaps as a text."""
    sign = 1
    while type(node).__name__ in {"Neg", "Paren"}:
        sign = -sign if type(node).__name__ == "Neg" else sign
        node = node.this
    if type(node).__name__ != "Literal" or not _NUMBER.fullmatch(node.name):
        raise Unsupported("the length of an interval is a whole number, written out", hint="INTERVAL '90' DAY")
    return sign * int(node.name)


def _number(node: exp.Expression, bind: Bind) -> int:
    """A whole number that is known in advance, perhaps written as a text."""
    if type(node).__name__ == "Literal":
        return _written(node)
    value = bind(node)
    if not isinstance(value, ir.Literal) or type(value.value) is not int:
        raise Unsupported("how far a date is moved is a whole number, written out")
    return value.value
