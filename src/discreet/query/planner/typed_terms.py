"""Typed terms: each as it is written on a line, at a prompt, in a form or after SET."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.parameters import Value
from discreet.privacy import Bounds, Limits
from discreet.strict_json import strict_json

_LONGEST = 100
"""At most this many characters of what can't be read are repeated."""

_SHAPES = [
    re.compile(shape, re.ASCII | re.IGNORECASE)
    for shape in (
        r"(?P<rows>\d{1,10})",
        r"(?P<rows>\d{1,10})in(?P<groups>\d{1,10})",
        r"(?P<groups>\d{1,10})[x×](?P<rows_per_group>\d{1,10})",
    )
]

_BOUNDS = Hint("income = 0..100000, or income = auto", cli="income=0..100000, or income=auto")

_FLAGS = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


def typed_by_column(parts: Iterable[str]) -> dict[str, str]:
    """The text given for each column; `*` stands for those that aren't named.

    Raises:
        InvalidArgument: something is said twice of one.

    Examples:
        >>> typed_by_column(["n=5%@1000", "2"])
        {'n': '5%@1000', '*': '2'}
    """
    found: dict[str, str] = {}
    for one in parts:
        name, equals, said = (each.strip() for each in one.rpartition("="))
        column = name if equals else "*"
        if column in found:
            raise InvalidArgument(
                f"{column[:_LONGEST]!r} is said twice", hint="once for each column, and once for those without a name"
            )
        found[column] = said
    return found


def typed_bounds(parts: Iterable[str]) -> dict[str, Bounds | str]:
    """The bounds of columns, or "auto".

    Raises:
        InvalidArgument: one isn't `COLUMN=LO..HI` or `COLUMN=auto`.

    Examples:
        >>> print(typed_bounds(["age=0..110", "income=auto"])["age"])
        [0, 110]
    """
    found: dict[str, Bounds | str] = {}
    for name, ends in typed_by_column(parts).items():
        lo, dots, hi = ends.partition("..")
        if name in {"", "*"} or (ends.lower() != "auto" and not dots):
            raise InvalidArgument(f"bounds can't be {ends[:_LONGEST]!r}", hint=_BOUNDS)
        found[name] = Bounds(lo, hi) if dots else "auto"
    return found


def typed_limits(text: str) -> Limits | str:
    """Limits in one of their shapes, or "auto".

    Raises:
        InvalidArgument: they are in none of them.

    Examples:
        >>> for text in ("5x10", "50", "50in8"):
        ...     print(typed_limits(text))
        5 groups × 10 rows
        50 rows
        50 rows in 8 groups
    """
    if text.strip().lower() == "auto":
        return "auto"
    for shape in _SHAPES:
        if (found := shape.fullmatch(text.strip())) is not None:
            return Limits(**{name: int(number) for name, number in found.groupdict().items()})
    raise InvalidArgument(f"limits can't be {text[:_LONGEST]!r}", hint="50, 50in8, 5x10 or auto")


def typed_parameters(texts: Iterable[str]) -> list[Value]:
    """The values of parameters: numbers, true, false and null are what they look like in JSON, and the rest are texts.

    Examples:
        >>> typed_parameters(["40", "f", '"40"', "null", "2020-04-01"])
        [40, 'f', '40', None, '2020-04-01']
    """
    return [_typed_parameter(text.strip()) for text in texts]


def _typed_parameter(text: str) -> Value:
    """One value."""
    try:
        found = strict_json(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, bool | int | float | str | None) else text


def typed_accuracies(text: str) -> str | Mapping[str, str]:
    """The accuracies wanted: of all columns, or of each by name.

    Examples:
        >>> typed_accuracies("50"), typed_accuracies("2% @ 1000"), typed_accuracies("n = 50; income = 2% @ 1000")
        ('50', '2% @ 1000', {'n': '50', 'income': '2% @ 1000'})
    """
    return typed_by_column(text.split(";")) if "=" in text else text.strip()


def typed_flag(text: str) -> bool:
    """Yes or no, in the words that databases take for them.

    Raises:
        InvalidArgument: it is neither.
    """
    found = _FLAGS.get(text.strip().lower())
    if found is None:
        raise InvalidArgument(f"{text[:_LONGEST]!r} is neither on nor off", hint="on, or off")
    return found
