"""Literals: constants of a question, from Python's values, SQL's numbers and the texts of dates."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

from discreet.errors import SqlSyntax, TypeMismatch, Unsupported
from discreet.query.ir.expressions import Literal, Type
from discreet.query.ir.ordinals import midnight, ordinal
from discreet.tables import Kind

Value: TypeAlias = bool | int | float | str | date | None
"""A value that `evaluate` takes or gives: a real is a float here, and a datetime is a date."""

_MOST_DIGITS = 400
"""A float64 never needs more characters to be told from others, and longer numbers take time to read."""

_KINDS = {
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    str: Kind.TEXT,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
}

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?", re.ASCII)


def literal(value: object) -> Literal:
    """A constant of the kind that its Python type says; a float is a real.

    Args:
        value: None, bool, int, float, Fraction, str, date or datetime; finite.

    Raises:
        Unsupported: a number too large to compute with.

    Examples:
        >>> print(literal(1), literal(Fraction(1, 2)), literal("a"), literal(None))
        integer:1 real:1/2 text:'a' integer:None
    """
    if value is None:
        return null(Kind.INTEGER)
    kind = _KINDS.get(type(value))
    if isinstance(value, (float, Fraction)) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return _real(Fraction(value))
    if kind is None:
        raise TypeMismatch(f"{type(value).__name__} isn't a kind of value that questions have")
    place = ordinal(value) if isinstance(value, date) else None
    if isinstance(value, int) and kind is Kind.INTEGER:
        place = Fraction(value)
    values = (value,) if isinstance(value, (int, str, date)) and kind is not Kind.TIMESTAMP else None
    return Literal(value, Type(kind, place, place, nullable=False, values=values))


def null(kind: Kind) -> Literal:
    """NULL of a kind: it has no values, and any range holds it, so 0 does."""
    zero = None if kind in {Kind.BOOLEAN, Kind.TEXT} else Fraction(0)
    return Literal(None, Type(kind, zero, zero, values=()))


def numeral(text: str) -> Literal:
    """A number as SQL writes it; one with a point or an exponent is real.

    Raises:
        SqlSyntax: it isn't a number.
        Unsupported: it is too long, or too large to compute with.

    Examples:
        >>> print(numeral("40"), numeral("0.5"), numeral("1e3"))
        integer:40 real:1/2 real:1000
    """
    if len(text) > _MOST_DIGITS:
        raise Unsupported(f"a number of {len(text)} characters has more digits than numbers here have")
    if not _NUMBER.fullmatch(text):
        raise SqlSyntax(f"{text!r} isn't a number")
    if text.isdigit():
        return literal(int(text))
    if not isfinite(float(text)):
        raise Unsupported(f"the number {text} is too large to compute with")
    # A number below the least float64 is 0 to every engine, and its exact value might have 10⁵ digits.
    return _real(Fraction(Decimal(text)) if float(text) else Fraction(0))


def moment(text: str, kind: Kind) -> Literal | None:
    """A date or timestamp as ISO 8601 writes it, or None if the text isn't one.

    A text with a time of day is a timestamp, whatever was expected.

    Examples:
        >>> print(moment("2024-02-29", Kind.DATE), moment("2023-02-29", Kind.DATE))
        date:2024-02-29 None
    """
    text = text.strip(" ")
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            return literal(day if kind is Kind.DATE else midnight(day))
        if _TIMESTAMP.fullmatch(text):
            return literal(datetime.fromisoformat(text))
    except ValueError:
        return None
    return None


def python_value(constant: Literal) -> Value:
    """The literal's value as `evaluate` takes it: a real as the nearest float."""
    value = constant.value
    return float(value) if isinstance(value, Fraction) else value  # type: ignore[return-value]  # literals hold no other


def _real(value: Fraction) -> Literal:
    if abs(value) > 2**500:
        raise Unsupported("a number beyond 2⁵⁰⁰ is too large to compute with")
    nearest = Fraction(float(value))
    return Literal(value, Type(Kind.REAL, nearest, nearest, nullable=False))
