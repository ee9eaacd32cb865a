"""Calendars: parts of dates, weeks, shifts and differences, as dialects name and number them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from discreet.errors import TypeMismatch, Unsupported
from discreet.query.sql.dialect_semantics import DialectSemantics, Node, Rule
from discreet.query.sql.refusals import SAID, said

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
    *("Hour", "Minute", "Second", "TimeToStr", "DateDiff", "DateAdd", "DateSub", "TsOrDsAdd", "TsOrDsDiff"),
}
"""Functions that take a date or a timestamp as it is. The parser puts the conversion around it, not the question."""

_MOST_STEPS = 60

_WHOLE = re.compile(r"[1-9]\d{0,8}", re.ASCII)

_STARTS = {"start of day": "DAY", "start of month": "MONTH", "start of year": "YEAR"}

_FORMS = set("YmdHMSfj")
"""Parts that a format may name: those that read the same everywhere."""

_TIMES = set("HMSf")

_LONGEST_DATE = 60


def _extract(node: Node, semantics: DialectSemantics) -> Node:  # noqa: C901, PLR0911 — a table of parts
    """EXTRACT, whose names of parts differ, as do the numbers of weekdays."""
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
        if name == "EPOCH" and _is_bucketed(node):
            return _seconds_since_1970(of)
        raise Unsupported(
            "EXTRACT doesn't give a whole number in this dialect, so it isn't clear what this division means",
            hint="CAST(EXTRACT(…) AS INTEGER)",
        )
    return _field("DOY", of) if name == "DAY_OF_YEAR" else None


def _field(name: str, of: Node) -> Node:
    """EXTRACT of this part."""
    from sqlglot import exp

    return exp.Extract(this=exp.Var(this=name), expression=of)


def _weekday(of: Node, semantics: DialectSemantics) -> Node:
    """The day of the week, numbered as the dialect does."""
    from sqlglot import exp

    if semantics.sunday is None:
        raise Unsupported(
            "this dialect doesn't settle which number a day of the week has",
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


def _is_bucketed(node: Node) -> bool:
    """Whether it is of the form FLOOR(EXTRACT(EPOCH FROM column) / 300), in which fractions of seconds make no odds."""
    quotient = node.parent
    above = quotient and (quotient.parent.parent if type(quotient.parent).__name__ == "Paren" else quotient.parent)
    divisor = quotient and quotient.expression
    return (
        type(quotient).__name__ == "Div"
        and type(above).__name__ == "Floor"
        and type(divisor).__name__ == "Literal"
        and not divisor.is_string
        and _WHOLE.fullmatch(divisor.name) is not None
        and type(node.expression).__name__ == "Column"  # which is written four times
    )


def _seconds_since_1970(of: Node) -> Node:
    """The whole seconds from 1970 to a time, as a number that is divided as a real one."""
    from sqlglot import exp

    days = exp.DateDiff(
        this=exp.cast(of.copy(), "date"),
        expression=exp.cast(exp.Literal.string("1970-01-01"), "date"),
        unit=exp.Var(this="DAY"),
    )
    found: Node = days
    for name, times in (("HOUR", 24), ("MINUTE", 60), ("SECOND", 60)):
        part = exp.func(name, exp.cast(of.copy(), "timestamp"))
        found = exp.Paren(this=exp.Add(this=exp.Mul(this=found, expression=exp.Literal.number(times)), expression=part))
    return exp.cast(found, "double")


def _weekday_of(node: Node, semantics: DialectSemantics) -> Node:
    """WEEKDAY(x)."""
    from sqlglot import exp

    if len(node.expressions) != 1 or semantics.monday == 1:
        return None
    (of,) = (arg.this if type(arg).__name__ in _WRAPPERS else arg for arg in node.expressions)
    if semantics.monday is None:
        return _weekday(of, DialectSemantics())
    return exp.Paren(this=exp.Sub(this=_field("ISODOW", of), expression=exp.Literal.number(1)))


def _part_of(node: Node, semantics: DialectSemantics) -> Node:
    """DATE_PART, where the parser doesn't know it."""
    from sqlglot import exp

    args = node.expressions
    if len(args) != 2 or type(args[0]).__name__ not in {"Literal", "Column", "Var"}:  # noqa: PLR2004 — the part, and of what
        return None
    return _extract(exp.Extract(this=exp.Var(this=args[0].name), expression=args[1]), semantics)


def _first_of_year(node: Node, _semantics: DialectSemantics) -> Node:
    """MAKEDATE(YEAR(x), 1)."""
    args = node.expressions
    is_first = [type(arg).__name__ for arg in args] == ["Year", "Literal"] and args[1].name == "1"
    return _first_day(args[0].this, "YEAR") if is_first else None


def _started(node: Node, _semantics: DialectSemantics) -> Node:
    """DATE(x, 'start of month'), as SQLite has it."""
    args = node.expressions
    is_started = [type(arg).__name__ for arg in args[1:]] == ["Literal"]
    period = _STARTS.get(args[1].name) if is_started else None
    return None if period is None else _first_day(args[0], period)


def _week(node: Node, semantics: DialectSemantics) -> Node:
    """WEEK(…), which means ISO's weeks in some dialects, and in MySQL's mode 3."""
    from sqlglot import exp

    mode = node.args.get("mode")
    if mode is not None and mode.name == "3" and not semantics.iso_weeks:
        return exp.WeekOfYear(this=node.this)
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
    if said(node) == "TRUNC" and semantics.trunc_periods is not None and name not in semantics.trunc_periods:
        raise Unsupported(f"TRUNC to {name[:40]!r} means something else in this dialect", hint="TRUNC(x, 'MM')")
    node.set("unit", exp.Var(this=_PERIODS.get(name, name)))
    return exp.TimestampTrunc(**node.args) if type(node).__name__ == "DatetimeTrunc" else None


def _unwrapped(node: Node, semantics: DialectSemantics) -> Node:
    """Remove what the parser puts around dates that may be written as texts; keep DATE(x), which drops the time of day.

    Both are one class of the parser's. The one that the question wrote has a name and changes the value, so it stays.
    """
    from sqlglot import exp

    if node.args.get("format") is not None:
        return _read(node, semantics)
    if SAID not in node.meta and type(node.parent).__name__ in _OF_DATES:
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


def _lasting(node: Node, _semantics: DialectSemantics) -> Node:
    """TIMESTAMPDIFF, which counts whole units."""
    from sqlglot import exp

    return exp.DateDiff(**node.args, whole_units=True)


def _read(node: Node, semantics: DialectSemantics) -> Node:
    """TO_DATE, STR_TO_DATE, TO_TIMESTAMP and their like: a text and its format, both written out."""
    from sqlglot import exp

    text, form = node.this, node.args.get("format")
    month = _month_of(text)
    if month is not None and form is not None and form.name == "%Y-%m-%d":
        return _first_day(month, "MONTH")
    if type(text).__name__ != "Literal" or type(form).__name__ != "Literal":
        raise Unsupported(
            f"{said(node)} takes a text and its format, both written out", hint="CAST(x AS DATE) reads 2024-12-31"
        )
    pattern = re.sub("(%[a-z])strict", r"\1", form.name, flags=re.IGNORECASE).replace("%-", "%").replace('"', "")
    pattern = re.sub(r"ff\d?$", "%f", pattern, flags=re.IGNORECASE)
    named, letters = set(re.findall("%(.)", pattern)), re.sub("%.", "", pattern)
    is_known = "Y" in named and named <= _FORMS and not re.search("[A-SU-Za-z]", letters)
    found = _moment(text.name, pattern) or _moment(text.name, pattern.removesuffix(".%f")) if is_known else None
    if found is None:
        raise TypeMismatch(
            f"{text.name[:40]!r} isn't a date in the format given to {said(node)}",
            hint="DATE '2024-12-31', or TIMESTAMP '2024-12-31 23:59:59'",
        )
    timed = type(node).__name__ == "StrToTime" or (semantics.timed_texts and bool(named & _TIMES))
    written = exp.Literal.string(found.isoformat(" ") if timed else found.date().isoformat())
    return exp.Cast(this=written, to=exp.DataType.build("datetime" if timed else "date"))


def _month_of(text: Node) -> Node:
    """The date x in MySQL's CONCAT(DATE_FORMAT(x, '%Y-%m'), '-01'); None for any other text."""
    parts = text.expressions if type(text).__name__ == "Concat" else []
    if [type(part).__name__ for part in parts] != ["TimeToStr", "Literal"] or parts[1].name != "-01":
        return None
    return parts[0].this if parts[0].args["format"].name == "%Y-%m" else None


def _first_day(of: Node, unit: str) -> Node:
    """The first day of the period that a date is in."""
    from sqlglot import exp

    return exp.TimestampTrunc(this=of, unit=exp.Var(this=unit))


def _less_days(node: Node, _semantics: DialectSemantics) -> Node:
    """DATE(DATE_SUB(x, INTERVAL DAYOFMONTH(x) - 1 DAY)), a first day of the month in MySQL; of the year likewise."""
    days, unit = node.expression, node.args.get("unit")
    if type(days).__name__ == "Interval":
        days, unit = days.this, days.args.get("unit")
    less: Node = days.expression if type(days).__name__ == "Sub" else None
    if type(less).__name__ != "Literal" or less.name != "1" or unit is None or unit.name.upper() != "DAY":
        return None
    period = {"DayOfMonth": "MONTH", "Day": "MONTH", "DayOfYear": "YEAR"}.get(type(days.this).__name__)
    is_date = type(node.parent).__name__ in {"TsOrDsToDate", "Date"}
    return _first_day(node.this, period) if is_date and period and days.this.this == node.this else None


def _moment(text: str, pattern: str) -> datetime | None:
    """The time that a text in this format says."""
    if max(len(text), len(pattern)) > _LONGEST_DATE:
        return None
    try:
        return datetime.strptime(text, pattern)  # noqa: DTZ007 — times here have no zone
    except (ValueError, re.error):
        return None


def _from_day_zero(node: Node, _semantics: DialectSemantics) -> Node:
    """DATEADD(month, DATEDIFF(month, 0, x), 0), which is how older T-SQL writes the first day of the month."""
    from sqlglot import exp

    start, count, unit = node.this, node.expression, node.args.get("unit")
    is_zero = type(start).__name__ == "Literal" and start.name in {"0", "1900-01-01"}
    if not is_zero or type(count).__name__ != "DateDiff" or unit is None:
        return None
    since, name = count.expression, _PERIODS.get(unit.name.upper())
    same = count.args.get("unit") is not None and count.args["unit"].name.upper() == unit.name.upper()
    if not same or name in {None, "WEEK"} or type(since).__name__ != "Literal" or since.name not in {"0", "1900-01-01"}:
        return None
    return exp.TimestampTrunc(this=count.this, unit=exp.Var(this=name))


def _from_parts(node: Node, _semantics: DialectSemantics) -> Node:
    """MAKE_DATE of numbers that are written out."""
    from sqlglot import exp

    parts: list[Node] = [node.args.get(name) for name in ("year", "month", "day")]
    kinds = [type(part).__name__ for part in parts]
    if kinds[0] == "Year" and kinds[2] == "Literal" and parts[2].name == "1":
        if kinds[1] == "Month" and parts[0].this == parts[1].this:
            return _first_day(parts[0].this, "MONTH")
        if kinds[1] == "Literal" and parts[1].name == "1":
            return _first_day(parts[0].this, "YEAR")
    if kinds != ["Literal"] * 3 or not all(part.name.isdigit() for part in parts):
        raise Unsupported("a date made of parts takes numbers that are written out", hint="DATE '2024-12-31'")
    year, month, day = (part.name.zfill(size) for part, size in zip(parts, (4, 2, 2), strict=True))
    return exp.Cast(this=exp.Literal.string(f"{year}-{month}-{day}"), to=exp.DataType.build("date"))


def _from_more_parts(node: Node, semantics: DialectSemantics) -> Node:
    """A timestamp of numbers that are written out."""
    from sqlglot import exp

    day = _from_parts(node, semantics).this.name
    parts: list[Node] = [node.args.get(name) for name in ("hour", "min", "sec")]
    if not all(type(part).__name__ == "Literal" and part.name.isdigit() for part in parts):
        raise Unsupported(
            "a time made of parts takes numbers that are written out", hint="TIMESTAMP '2024-12-31 12:00'"
        )
    time = ":".join(part.name.zfill(2) for part in parts)
    return exp.Cast(this=exp.Literal.string(f"{day} {time}"), to=exp.DataType.build("datetime"))


NAMED: Mapping[str, Rule] = {
    "weekday": _weekday_of,
    **dict.fromkeys(("date_part", "datepart"), _part_of),
    "makedate": _first_of_year,
    **dict.fromkeys(("date", "datetime"), _started),
}
"""Rules by the names of functions that the parser has no class for, in small letters."""

CALENDAR: Mapping[str, Rule] = {
    "Extract": _extract,
    "DayOfWeek": lambda node, semantics: None if semantics.sunday == 0 else _weekday(node.this, semantics),
    "Week": _week,
    **dict.fromkeys(("DateTrunc", "TimestampTrunc", "DatetimeTrunc"), _truncated),
    **dict.fromkeys(_WRAPPERS, _unwrapped),
    **dict.fromkeys(("DateDiff", "TsOrDsDiff"), _difference),
    "TimestampDiff": _lasting,
    "DateAdd": _from_day_zero,
    "DateSub": _less_days,
    "DateFromParts": _from_parts,
    "TimestampFromParts": _from_more_parts,
    **dict.fromkeys(("StrToTime", "StrToDate"), _read),
}
"""Rules by the names of the parser's classes."""
