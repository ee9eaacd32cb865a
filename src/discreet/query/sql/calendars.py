"""Calendars: parts of dates, weeks, shifts and differences, as dialects name and number them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from discreet.errors import Unsupported
from discreet.query.sql.dialect_semantics import DialectSemantics

Node: TypeAlias = Any
"""A node of the parser's; which parts it has follows from its class, which rules are chosen by."""

Rule: TypeAlias = Callable[[Node, DialectSemantics], Node]
"""What a node becomes; None leaves it as it is, or as the rule has marked it."""

_WEEKDAYS = {"DOW", "DAYOFWEEK", "WEEKDAY", "DAY_OF_WEEK", "DW"}
_ISO_WEEKDAYS = {"ISODOW", "DAYOFWEEK_ISO", "DAYOFWEEKISO", "DOW_ISO", "WEEKDAY_ISO", "ISOWEEKDAY"}
_WEEKS = {"WEEK", "WEEKOFYEAR", "WEEK_OF_YEAR", "W", "WEEKS"}
_ISO_WEEKS = {"ISOWEEK", "WEEKISO", "WEEK_ISO", "ISO_WEEK"}
_SECONDS = {"SECOND", "SECONDS"}
_PERIODS = {
    **dict.fromkeys(("YYYY", "YY", "YEAR", "YEARS"), "YEAR"),
    **dict.fromkeys(("MM", "MON", "MONTH", "MONTHS"), "MONTH"),
    **dict.fromkeys(("Q", "QUARTER", "QUARTERS"), "QUARTER"),
    **dict.fromkeys(("DD", "DAY", "DAYS"), "DAY"),
    **dict.fromkeys(_ISO_WEEKS, "WEEK"),
}
_WRAPPERS = {"TsOrDsToDate", "TsOrDsToTimestamp", "TimeStrToTime", "DateStrToDate"}
_OF_DATES = {
    *("Year", "Quarter", "Month", "Day", "DayOfMonth", "DayOfYear", "DayOfWeek", "DayOfWeekIso", "Week", "WeekOfYear"),
    *("Hour", "Minute", "Second", "DateDiff", "DateAdd", "DateSub", "TsOrDsAdd", "TsOrDsDiff"),
}
"""What takes a date or a timestamp as it is."""

_MOST_STEPS = 60


def _extract(node: Node, semantics: DialectSemantics) -> Node:
    """EXTRACT, whose names of parts differ, and the numbers of weekdays with them."""
    from sqlglot import exp

    field, of = node.this, node.expression
    if type(field).__name__ == "WeekStart":
        if field.name.upper() != "MONDAY":
            raise _other_weeks()
        return _field("WEEK", of)
    name = field.name.upper()
    if name == "DATE":
        return exp.Cast(this=of, to=exp.DataType.build("date"))
    if name in _WEEKDAYS:
        return None if semantics.sunday == 0 and name in {"DOW", "DAYOFWEEK"} else _weekday(of, semantics)
    if name in _ISO_WEEKDAYS:
        return _field("ISODOW", of)
    if name in _ISO_WEEKS or (name in _WEEKS and semantics.iso_weeks):
        return _field("WEEK", of)
    if name in _WEEKS:
        raise _other_weeks()
    if name in _SECONDS and semantics.fractions:
        raise Unsupported("the seconds of EXTRACT have a fraction here", hint="DATE_TRUNC('second', …) leaves it off")
    if semantics.real_parts and _is_divided(node):
        raise Unsupported(
            "EXTRACT gives no whole number in this dialect, so what this division means depends on more",
            hint="CAST(EXTRACT(…) AS INTEGER), or divide by 10.0",
        )
    return _field("DOY", of) if name == "DAY_OF_YEAR" else None


def _field(name: str, of: Node) -> Node:
    """EXTRACT of the part of this name."""
    from sqlglot import exp

    return exp.Extract(this=exp.Var(this=name), expression=of)


def _weekday(of: Node, semantics: DialectSemantics) -> Node:
    """The day of the week, numbered as the dialect does."""
    from sqlglot import exp

    if semantics.sunday is None:
        raise Unsupported(
            "which number a day of the week has isn't settled in this dialect",
            hint="ISODOW, or another dialect: in DuckDB's, Sunday is 0",
        )
    if semantics.sunday == 1:
        return exp.Paren(this=exp.Add(this=_field("DOW", of), expression=exp.Literal.number(1)))
    return _field("DOW" if semantics.sunday == 0 else "ISODOW", of)


def _other_weeks() -> Unsupported:
    """The error for weeks that aren't those of ISO 8601."""
    return Unsupported("weeks here are those of ISO 8601, which begin on Mondays", hint="ISOWEEK, or WEEK(MONDAY)")


def _is_divided(node: Node) -> bool:
    """Whether a number is, by way of arithmetic, part of a quotient."""
    above, steps = node.parent, 0
    while above is not None and type(above).__name__ in {"Add", "Sub", "Mul", "Paren", "Neg", "Mod"}:
        above, steps = above.parent, steps + 1
        if steps > _MOST_STEPS:
            return True
    return type(above).__name__ == "Div"


def _anonymous(node: Node, semantics: DialectSemantics) -> Node:
    """WEEKDAY, and DATE_PART where the parser doesn't know it."""
    from sqlglot import exp

    name, args = node.name.casefold(), node.expressions
    if name == "weekday" and len(args) == 1:
        of = args[0].this if type(args[0]).__name__ in _WRAPPERS else args[0]
        if semantics.monday != 0:
            return None if semantics.monday == 1 else _weekday(of, DialectSemantics())
        return exp.Paren(this=exp.Sub(this=_field("ISODOW", of), expression=exp.Literal.number(1)))
    if name in {"date_part", "datepart"} and len(args) == 2 and args[0].name:  # noqa: PLR2004 — the part, and of what
        return _extract(exp.Extract(this=exp.Var(this=args[0].name), expression=args[1]), semantics)
    return None


def _week(_node: Node, semantics: DialectSemantics) -> Node:
    """WEEK(…), which means ISO's weeks in some dialects."""
    if not semantics.iso_weeks:
        raise _other_weeks()
    return None


def _truncated(node: Node, semantics: DialectSemantics) -> Node:
    """DATE_TRUNC in all its spellings."""
    from sqlglot import exp

    unit = node.args.get("unit")
    if unit is None:
        return None
    name = unit.name.upper()
    if type(unit).__name__ == "WeekStart":
        name = "ISOWEEK" if name == "MONDAY" else "WEEK(SUNDAY)"
    if name == "WEEK(SUNDAY)" or (name in _WEEKS and not semantics.iso_weeks):
        raise _other_weeks()
    node.set("unit", exp.Var(this=_PERIODS.get(name, name)))
    return exp.TimestampTrunc(**node.args) if type(node).__name__ == "DatetimeTrunc" else None


def _unwrapped(node: Node, _semantics: DialectSemantics) -> Node:
    """What the parser puts around dates that may be written as texts."""
    from sqlglot import exp

    if type(node.parent).__name__ in _OF_DATES:
        return node.this
    return exp.Cast(
        this=node.this, to=exp.DataType.build("date" if type(node).__name__.endswith("Date") else "datetime")
    )


def _difference(node: Node, semantics: DialectSemantics) -> Node:
    """DATE_DIFF: boundaries, or whole units."""
    from sqlglot import exp

    new = exp.DateDiff(**node.args) if type(node).__name__ == "TsOrDsDiff" else node
    new.set("whole_units", node.args.get("unit") is not None and not semantics.counts_boundaries)
    return new


def _months(node: Node, _semantics: DialectSemantics) -> Node:
    """ADD_MONTHS, which may go from the end of a month to the end of another."""
    if node.args.get("preserve_end_of_month"):
        raise Unsupported("ADD_MONTHS moves ends of months to ends of months here", hint="DATEADD(month, …)")
    return None


def _from_parts(node: Node, _semantics: DialectSemantics) -> Node:
    """MAKE_DATE of numbers that are written out."""
    from sqlglot import exp

    parts = [node.args.get(name) for name in ("year", "month", "day")]
    if not all(type(part).__name__ == "Literal" and part.name.isdigit() for part in parts if part is not None):
        raise Unsupported("a date made of parts takes numbers that are written out", hint="DATE '2024-12-31'")
    year, month, day = (part.name.zfill(size) for part, size in zip(parts, (4, 2, 2), strict=True) if part is not None)
    return exp.Cast(this=exp.Literal.string(f"{year}-{month}-{day}"), to=exp.DataType.build("date"))


CALENDAR: Mapping[str, Rule] = {
    "Extract": _extract,
    "DayOfWeek": lambda node, semantics: None if semantics.sunday == 0 else _weekday(node.this, semantics),
    "Anonymous": _anonymous,
    "Week": _week,
    **dict.fromkeys(("DateTrunc", "TimestampTrunc", "DatetimeTrunc"), _truncated),
    **dict.fromkeys(_WRAPPERS, _unwrapped),
    **dict.fromkeys(("DateDiff", "TsOrDsDiff"), _difference),
    "AddMonths": _months,
    "DateFromParts": _from_parts,
}
"""By the names of the parser's classes."""
