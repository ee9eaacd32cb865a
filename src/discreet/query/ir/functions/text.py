"""Text: letters, lengths, parts and patterns. Only || makes texts longer, and only so many times."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import Unsupported
from discreet.query.ir.expressions import Call, Column, Expr, Function, Literal, Type
from discreet.query.ir.functions.application import Args, condition, constant, joined, nothing, of_kind, strict, taking
from discreet.query.ir.functions.casts import typed
from discreet.query.ir.ranges import hull
from discreet.tables import Kind

_BLANKS = " \t\n\r\v\f"
"""What TRIM removes."""

_MOST_PARTS = 100
"""Engines parse a chain of || as a tree of that depth, and limit depth."""

_MOST_GROWTH = 16
"""A row with a long text may not grow so far beyond other rows that an engine runs out of memory on it."""

_ALL = 2**31 - 1
"""A length that leaves nothing out."""

_LONGEST = 10**6
"""The furthest character SUBSTRING can be asked for."""


def matches(text: str, pattern: str) -> bool:
    """Whether the text is like the pattern: % stands for any text, _ for any character, and nothing escapes them.

    It takes steps in proportion to the product of both lengths at the worst, whatever the pattern.

    Examples:
        >>> matches("Bachelors", "B%ors"), matches("Bachelors", "_a%x")
        (True, False)
    """
    at, seen = 0, 0
    star, resume = -1, 0
    while at < len(text):
        if seen < len(pattern) and pattern[seen] == "%":
            star, resume = seen, at
            seen += 1
        elif seen < len(pattern) and pattern[seen] in ("_", text[at]):
            at, seen = at + 1, seen + 1
        elif star >= 0:
            resume += 1
            at, seen = resume, star + 1
        else:
            return False
    return not pattern[seen:].strip("%")


def _text(args: Args) -> Type:
    """A text, NULL if an argument is."""
    return Type(Kind.TEXT, nullable=any(arg.type.nullable for arg in args), values=nothing(args))


def _ascii(*values: object) -> bool:
    """Engines differ in the case of letters beyond ASCII."""
    return all(value.isascii() for value in values if isinstance(value, str))


def _letters(name: str, compute: Callable[[str], str]) -> Function:
    """UPPER or LOWER."""
    return Function(
        name,
        _text,
        lambda value: getattr(value, name)(),
        strict(compute),
        taking(name.upper(), Kind.TEXT),
        agrees=_ascii,
    )


def _trimming(name: str, method: str) -> Function:
    """TRIM, LTRIM or RTRIM, of blanks."""
    return Function(
        name,
        _text,
        lambda value: getattr(value, method)(),
        strict(lambda value: getattr(value, method)(_BLANKS)),
        taking(name.upper(), Kind.TEXT),
    )


def _infer_length(args: Args) -> Type:
    """Known to be short only if the texts are."""
    known = args[0].type.values
    lo, hi = hull(*((Fraction(len(str(value))),) * 2 for value in known)) if known else (Fraction(0), None)
    return Type(Kind.INTEGER, lo, hi, args[0].type.nullable, nothing(args))


def _prepare_substring(args: Args) -> Args:
    """A text, and the constants where to begin and how much to take."""
    constant("the start of SUBSTRING", args[1], 1, _LONGEST)
    for length in args[2:]:
        constant("the length of SUBSTRING", length, 0, _LONGEST)
    return *of_kind("SUBSTRING", args[:1], Kind.TEXT), *args[1:]


@lru_cache(maxsize=1)
def _engine_substring() -> Callable[..., Any]:
    """SUBSTRING by its name, which all engines know."""
    import ibis

    def substring(text, start, length):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 — the signature says it
        """The body is the engine's."""

    declared: Callable[..., Any] = ibis.udf.scalar.builtin(
        substring, signature=(("string", "int64", "int64"), "string")
    )
    return declared


def _compile_substring(value: Any, start: Any, *length: Any) -> Any:  # noqa: ANN401 — Ibis values
    """The engine's own, which counts characters from 1; Ibis's would write the text out twice."""
    return _engine_substring()(value, start, *(length or (_ALL,)))


def _substring(value: str, start: int, length: int | None = None) -> str:
    """What `_compile_substring` computes."""
    return value[start - 1 :] if length is None else value[start - 1 : start - 1 + length]


def _prepare_concat(args: Args) -> Args:
    """Texts; joined ones are taken apart, so grouping is no matter."""
    flat: list[Expr] = []
    for arg in of_kind("||", args, Kind.TEXT):
        flat.extend(arg.args if isinstance(arg, Call) and arg.function.name == "concat" else (arg,))
    if len(flat) > _MOST_PARTS or sum(map(_growth, flat)) > _MOST_GROWTH:
        raise Unsupported(f"|| joins {_MOST_PARTS} texts at the most, {_MOST_GROWTH} of them columns")
    return tuple(flat)


def _growth(expr: Expr) -> int:
    """How many texts of rows may be joined in the expression's value."""
    if not isinstance(expr, Call):
        return 1 if isinstance(expr, Column) else 0
    sizes = map(_growth, expr.args)
    return sum(sizes) if expr.function.name == "concat" else max(sizes)


def _pattern(name: str, fold: Callable[[str], str], agrees: Callable[..., bool]) -> Function:
    """LIKE or ILIKE, of a constant pattern."""

    def prepare(args: Args) -> Args:
        checked = of_kind(name.upper(), args, Kind.TEXT)
        if not isinstance(checked[1], Literal):
            raise Unsupported(f"the pattern of {name.upper()} must be written out")
        return checked

    return Function(
        name,
        condition,
        lambda value, pattern: getattr(value, name)(pattern),
        strict(lambda value, pattern: matches(fold(value), fold(pattern))),
        prepare,
        agrees,
    )


TEXT = (
    _letters("upper", str.upper),
    _letters("lower", str.lower),
    _trimming("trim", "strip"),
    _trimming("ltrim", "lstrip"),
    _trimming("rtrim", "rstrip"),
    Function(
        "length",
        _infer_length,
        lambda value: typed(value.length()),
        strict(len),
        taking("LENGTH", Kind.TEXT),
    ),
    Function("substring", _text, _compile_substring, strict(_substring), _prepare_substring),
    Function(
        "concat",
        _text,
        lambda *values: joined(operator.add, values),
        strict(lambda *values: "".join(values)),
        _prepare_concat,
    ),
    _pattern("like", str, lambda *_values: True),
    _pattern("ilike", str.lower, _ascii),
)
