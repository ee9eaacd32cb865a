"""Values as TOML writes them."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import ConfigError
from discreet.tables.schema.toml import MOST_DIGITS, key, quoted

Value: TypeAlias = "str | bool | int | Fraction | date | list[Value] | dict[str, Value] | None"
"""A value that can be written. None is NULL among keys, written `{ null = true }`, because TOML has no word for it."""

_ARRAY_WIDTH = 100

_SIGNIFICANT = 100

_PLAIN = range(-4, 16)
"""The powers of ten of a number that is written out, as 0.001; others are written as 1e-6."""


def value(item: Value) -> str:
    """Any value; tables are written inline.

    Examples:
        >>> print(value({"kind": "integer", "bounds": [Fraction(0), Fraction(110)]}))
        { kind = "integer", bounds = [0, 110] }
        >>> print(value(["Female", "Male", None]))
        ["Female", "Male", { null = true }]
    """
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{key(name)} = {value(entry)}" for name, entry in item.items()) + " }"
    if isinstance(item, list):
        return _array([value(entry) for entry in item])
    return _scalar(item)


def _scalar(item: str | bool | int | Fraction | date | None) -> str:
    """A value that holds no other."""
    if item is None:
        return "{ null = true }"
    if isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, int):
        return str(_bounded(item))  # an integer of any length stays one: among keys, 1e20 would be a real number
    if isinstance(item, Fraction):
        return number(item)
    return item.isoformat() if isinstance(item, date) else quoted(item)


def _array(items: list[str]) -> str:
    """An array on one line if it fits, else on as few lines as it takes."""
    line = "[" + ", ".join(items) + "]"
    if len(line) <= _ARRAY_WIDTH:
        return line
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > _ARRAY_WIDTH:
            lines.append("")
        lines[-1] += f"{item}, "
    return "[\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "]"


def number(value: Fraction) -> str:
    """An exact number: as an integer or decimal if it is one, else as a text such as "1/3".

    Raises:
        ConfigError: it takes more than `MOST_DIGITS` digits.

    Examples:
        >>> print(number(Fraction(110)), number(Fraction("0.1")), number(Fraction("1e-6")), number(Fraction(1, 3)))
        110 0.1 1e-6 "1/3"
    """
    if abs(_bounded(value.numerator)) < 2**63 and _bounded(value.denominator) == 1:
        return f"{value.numerator:_}" if abs(value) >= 10_000 else str(value)  # noqa: PLR2004 — years stay whole
    return _decimal(value) or quoted(str(value))


def _bounded(value: int) -> int:
    """The integer, unless it has more digits than can be read back."""
    if abs(value) >= 10**MOST_DIGITS:
        raise ConfigError(f"a number of more than {MOST_DIGITS} digits can't be written to a configuration")
    return value


def _decimal(value: Fraction) -> str | None:
    """The number in decimal notation; None if that never ends, or takes more than `_SIGNIFICANT` digits."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value) * 10**places)
    power = len(digits) - places - 1
    digits = digits.rstrip("0")
    if len(digits) > _SIGNIFICANT:
        return None
    sign = "-" if value < 0 else ""
    if power not in _PLAIN:
        return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{power}"
    digits = "0" * -power + digits.ljust(power + 1, "0")
    point = max(power, 0) + 1
    return f"{sign}{digits[:point]}.{digits[point:] or '0'}"
