"""Parameters: the values of a question's placeholders, in Python and in JSON, for who sends them and who reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, TypeAlias, assert_never

from discreet.errors import InvalidArgument

Value: TypeAlias = bool | int | float | Decimal | str | date | datetime | None
"""A value of a parameter; None is NULL."""

Sent: TypeAlias = bool | int | float | str | dict[str, str] | None
"""A value in JSON: itself, or what JSON has no form for under its kind, as a text: `{"date": "2020-04-01"}`,
`{"timestamp": "2020-04-01T12:00:00"}`, `{"decimal": "0.10"}`.
"""

_MOST_DIGITS = 40
"""How many digits a number may have before its point, and behind it."""


def read_parameters(given: object, name: str = "parameters") -> tuple[Value, ...]:
    """The values, as plain ones of the kinds that a question can hold.

    Args:
        given: a list or a tuple; NumPy's and pandas' scalars are read as Python's.
        name: of the argument.

    Raises:
        InvalidArgument: it is no list, or something in it is no such value. The error doesn't repeat values.

    Examples:
        >>> read_parameters([40, "f", Decimal("0.10"), date(2020, 4, 1), None])
        (40, 'f', Decimal('0.10'), datetime.date(2020, 4, 1), None)
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise InvalidArgument(
            f"{name} must be a list of values, one for each ? in the question", hint=f'{name}=[40, "f"]'
        )
    return tuple(_read(_plain(value), f"parameter {number}") for number, value in enumerate(given, 1))


def _read(value: Any, which: str) -> Value:  # noqa: ANN401 — whatever was given
    """One value."""
    match value:
        case None | bool():
            return value
        case str():
            return "" + value  # of a subclass, its plain text
        case int() | float() | Decimal():
            return _number(value, which)
        case datetime() if value == value and value.tzinfo is None:  # noqa: PLR0124 — pandas' NaT is no time
            return datetime.fromisoformat(value.isoformat(timespec="microseconds"))
        case datetime():
            raise InvalidArgument(f"{which} must be a time without a time zone", hint="tables have local times")
        case date():
            return date(value.year, value.month, value.day)
        case _:
            kind = type(value).__name__[:_MOST_DIGITS]
            raise InvalidArgument(
                f"{which} is of type {kind}, which no column is of",
                hint="a number, a text, a truth value, a date, a timestamp or NULL",
            )


def _plain(value: Any) -> Any:  # noqa: ANN401 — whatever was given
    """A scalar of NumPy's as Python's: finer times are cut off at microseconds, and what is no time is NULL."""
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != () or value.dtype.kind == "m":
        return value
    if value.dtype.kind != "M":
        return value.item()
    found = value.item()
    found = value.astype("datetime64[us]").item() if isinstance(found, int) else found
    return value if isinstance(found, int) else found  # a time that Python doesn't know is no number


def _number(value: float | Decimal, which: str) -> Value:
    """A number that can be written out."""
    if not (value.is_finite() if isinstance(value, Decimal) else isinstance(value, int) or isfinite(value)):
        raise InvalidArgument(f"{which} must be a finite number")
    if isinstance(value, float):
        return float(value)
    places = -int(value.as_tuple().exponent) if isinstance(value, Decimal) else 0
    if not -(10**_MOST_DIGITS) < value < 10**_MOST_DIGITS or places > _MOST_DIGITS:  # a Decimal's abs() would round
        raise InvalidArgument(f"{which} must have at most {_MOST_DIGITS} digits on each side of the point")
    return value if isinstance(value, Decimal) else int(value)


def parameters_to_json(values: Sequence[Value]) -> list[Sent]:
    """Values as JSON-ready data.

    Examples:
        >>> parameters_to_json(read_parameters([1, "1", date(2020, 4, 1)]))
        [1, '1', {'date': '2020-04-01'}]
    """
    return [_sent(value) for value in values]


def _sent(value: Value) -> Sent:
    """One value; of those that JSON lacks, a kind and a text."""
    match value:
        case Decimal():
            return {"decimal": format(value, "f")}
        case datetime():
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case None | bool() | int() | float() | str():
            return value
        case other:
            assert_never(other)


def parameters_from_json(data: object, name: str = "parameters") -> tuple[Value, ...]:
    """Values as they were sent.

    Raises:
        InvalidArgument: it is anything else.
    """
    if not isinstance(data, list):
        return read_parameters(data, name)
    try:
        values = [_received(one) if isinstance(one, dict) else one for one in data]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise InvalidArgument(
            f"{name} hold a value of a kind that isn't known, or that isn't one of its kind",
            hint='{"date": "2020-04-01"}, {"timestamp": "2020-04-01T12:00:00"} or {"decimal": "0.10"}',
        ) from None
    return read_parameters(values, name)


def _received(data: Mapping[str, Any]) -> Value:
    """A value that came as a kind and a text."""
    ((kind, text),) = data.items()
    readers: Mapping[str, Callable[[str], Value]] = {
        "decimal": Decimal,
        "date": date.fromisoformat,
        "timestamp": datetime.fromisoformat,
    }
    return readers[kind](text)
