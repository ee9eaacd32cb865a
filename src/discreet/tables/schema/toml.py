"""TOML in and out: the few words of it that a configuration needs, with every number exact."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import ConfigError

MOST_DIGITS = 400
"""Numbers with more digits, or beyond 10^±400, are refused: no declaration needs them, and exact arithmetic on
`1e999999999` would take memory without end."""

MOST_BYTES = 16 * 2**20
"""Files longer than this are refused unread: no configuration is, and a pipe or device never ends."""

Value: TypeAlias = "str | bool | int | Fraction | date | list[Value] | dict[str, Value] | None"
"""What the writer writes. None is NULL among keys, written `{ null = true }`, because TOML has no word for it."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WIDTH = 100
_SIGNIFICANT = 100
_PLAIN = range(-4, 16)
"""The powers of ten of a number that is written out, as 0.001; others are written as 1e-6."""


# ── In ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse(data: bytes) -> dict[str, object]:
    """Read TOML; numbers with a point or exponent become exact decimals.

    Guarantee: whatever the bytes, the outcome is a dictionary or a `ConfigError`.

    Raises:
        ConfigError: it isn't UTF-8 or isn't TOML; `place` says where.

    Examples:
        >>> parse(b"epsilon = 0.1")
        {'epsilon': Decimal('0.1')}
    """
    if len(data) > MOST_BYTES:
        raise ConfigError(f"the file is longer than {MOST_BYTES // 2**20} MiB, so it isn't a configuration")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ConfigError("the file isn't UTF-8 text", hint="save it as UTF-8", place=(line, column)) from None
    try:
        return tomllib.loads(text, parse_float=_exact)
    except RecursionError:
        raise ConfigError("the file isn't valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise _syntax(str(error), text) from None


def _exact(text: str) -> Decimal:
    """A TOML float as the decimal that was typed."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ConfigError(f"the number {text[:40]} is out of range") from None


def _syntax(message: str, text: str) -> ConfigError:
    """The parser's complaint, with its place taken out of the words."""
    match = _PLACE.search(message)
    if match is None:
        return ConfigError("the file isn't valid TOML: it holds a number of too many digits")
    if match["line"]:
        place = int(match["line"]), int(match["column"])
    else:
        place = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    words = printable(message[: match.start()])
    backslash = re.search("escape|hex", words)
    hint = "texts and odd names stand in double quotes" if not backslash else "in paths write / instead of \\"
    return ConfigError(f"the file isn't valid TOML: {words[:1].lower()}{words[1:]}", hint=hint, place=place)


# ── Out ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def quoted(text: str) -> str:
    r"""A text between double quotes; whatever doesn't print is escaped, so that a file shows all it says.

    Raises:
        ConfigError: half of a surrogate pair, which no UTF-8 file can hold.

    Examples:
        >>> print(quoted('say "hi"\u202e'))
        "say \"hi\"\u202e"
    """
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ConfigError("a name or text holds half of a surrogate pair, which can't be written to a file")
    return '"' + printable("".join(_SHORT.get(sign, sign) for sign in text)) + '"'


def printable(text: str) -> str:
    """The text with what doesn't print (line breaks, control signs, changes of direction) as escapes."""
    return "".join(
        sign if sign.isprintable() else f"\\u{ord(sign):04x}" if ord(sign) < 2**16 else f"\\U{ord(sign):08x}"
        for sign in text
    )


def comment(words: str) -> str:
    """A comment of one line, whatever the words: a column's name can't end it and go on as a declaration."""
    return f"# {printable(words)}".rstrip()


def key(name: str) -> str:
    """A key, quoted if it must be.

    Examples:
        >>> print(key("hours-per-week"), key("a.b"))
        hours-per-week "a.b"
    """
    return name if _BARE.fullmatch(name) else quoted(name)


def dotted(path: Iterable[str]) -> str:
    """The full name of a key, as it could stand in the file."""
    return ".".join(map(key, path))


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
    if len(line) <= _WIDTH:
        return line
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > _WIDTH:
            lines.append("")
        lines[-1] += f"{item}, "
    return "[\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "]"
