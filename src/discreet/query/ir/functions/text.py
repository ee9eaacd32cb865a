"""Text: letters, lengths, parts and patterns. Only || makes texts longer, and only a limited number of times."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import Unsupported
from discreet.query.ir.expressions import Call, Column, Effort, Expr, Function, Literal, Sizes, Type, reading
from discreet.query.ir.functions.application import Args, condition, constant, joined, nothing, of_kind, strict, taking
from discreet.query.ir.functions.casts import typed
from discreet.query.ir.ranges import hull
from discreet.tables import Kind

_BLANKS = " \t\n\r\v\f"
"""The characters that TRIM removes."""

_MOST_PARTS = 100
"""Engines parse a chain of || as a tree of that depth, and limit depth."""

_MOST_GROWTH = 16
"""A row with a long text may not grow so far beyond other rows that an engine runs out of memory on it."""

_ALL = 2**31 - 1
"""A length that leaves nothing out."""

_LONGEST = 10**6
"""The furthest character SUBSTRING can be asked for."""


BYTES_OF_CHARACTER = 4
"""The most bytes that a character takes in UTF-8."""

_CHARACTERS = 10.0
"""Nanoseconds for each byte of a text that is gone through character by character, as for case, blanks and patterns."""

_STEP = 4.0
"""Nanoseconds to compare one byte of a pattern with one of a text, where both are gone through for each other: a _ has
to find where a character of four bytes ends, and begins at each of its bytes."""

_WORDS = 0.15
"""Nanoseconds for the same, where a part of a pattern is compared in words."""


def matches(text: str, pattern: str) -> bool:
    """Whether the text is like the pattern: % stands for any text, _ for any character, and nothing escapes them.

    At worst it takes steps in proportion to the product of both lengths, whatever the pattern.

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
        longest=_twice_as_long,
        effort=_by_character,
    )


def _by_character(args: Args, sizes: Sizes) -> float:
    """The effort of going through a text once."""
    return reading(args, sizes) + _CHARACTERS * sizes[0]


def _twice_as_long(_args: Args, sizes: Sizes) -> int:
    """A letter of two bytes may have one of three in the other case; none of one byte has more than two."""
    return 2 * sizes[0]


def _as_long(_args: Args, sizes: Sizes) -> int:
    """The length of all texts together."""
    return sum(sizes)


def _trimming(name: str, method: str) -> Function:
    """TRIM, LTRIM or RTRIM, of blanks."""
    return Function(
        name,
        _text,
        lambda value: getattr(value, method)(),
        strict(lambda value: getattr(value, method)(_BLANKS)),
        taking(name.upper(), Kind.TEXT),
        longest=_as_long,
        effort=_by_character,
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
    """`_compile_substring` in Python."""
    return value[start - 1 :] if length is None else value[start - 1 : start - 1 + length]


def _longest_part(args: Args, sizes: Sizes) -> int:
    """The length of the characters that are asked for, at most."""
    return min(sizes[0], BYTES_OF_CHARACTER * _whole(args[2])) if len(args) > 2 else sizes[0]  # noqa: PLR2004 — with a length


def _to_the_end_of_it(args: Args, sizes: Sizes) -> float:
    """Characters are counted from the first to the last that is asked for."""
    read = sizes[0]
    if len(args) > 2:  # noqa: PLR2004 — with a length
        read = min(read, BYTES_OF_CHARACTER * (_whole(args[1]) + _whole(args[2])))
    return reading(args, (read,))


def _whole(arg: Expr) -> int:
    """The number that a constant is."""
    if isinstance(arg, Literal) and isinstance(arg.value, int):
        return arg.value
    raise TypeError("SUBSTRING takes constants")


def _prepare_concat(args: Args) -> Args:
    """Texts; joined ones are taken apart, so grouping is no matter."""
    flat: list[Expr] = []
    for arg in of_kind("||", args, Kind.TEXT):
        flat.extend(arg.args if isinstance(arg, Call) and arg.function.name == "concat" else (arg,))
    if len(flat) > _MOST_PARTS or sum(map(_growth, flat)) > _MOST_GROWTH:
        raise Unsupported(f"|| joins at most {_MOST_PARTS} texts, of which at most {_MOST_GROWTH} are columns")
    return tuple(flat)


def _growth(expr: Expr) -> int:
    """How many texts of rows may be joined in the expression's value."""
    if not isinstance(expr, Call):
        return 1 if isinstance(expr, Column) else 0
    sizes = map(_growth, expr.args)
    return sum(sizes) if expr.function.name == "concat" else max(sizes)


def _matching(args: Args, sizes: Sizes) -> float:
    """The effort of finding a pattern in a text: each part between two % may be tried at each place of the text.

    Engines take the bytes of a part one after the other as soon as the pattern has a _, and in words otherwise. The
    part before the first % is tried at one place; where nothing follows that %, no more of a text is looked at.
    """
    pattern = args[1].value if isinstance(args[1], Literal) and isinstance(args[1].value, str) else ""
    first, *parts = pattern.split("%")
    tried = (
        max((len(part.encode()) for part in parts), default=0) if "_" not in pattern else len("".join(parts).encode())
    )
    step = _STEP if "_" in pattern else _WORDS
    beginning = _STEP * len(first.encode())
    if parts == [""] and "_" not in pattern:
        return reading(args, (0, 0)) + beginning
    return _by_character(args, sizes) + step * sizes[0] * tried + beginning


def _matching_in_small_letters(args: Args, sizes: Sizes) -> float:
    """The effort of folding the case of a text, and of finding a pattern in the result."""
    return _by_character(args, sizes) + _matching(args, (_twice_as_long(args, sizes), *sizes[1:]))


def _compile_ilike(value: Any, pattern: Any) -> Any:  # noqa: ANN401 — Ibis values
    """LIKE of both in small letters, as engines define it: of a constant pattern they then look for whole parts."""
    return value.lower().like(pattern.lower())


def _pattern(
    name: str,
    compile_: Callable[..., Any],
    fold: Callable[[str], str],
    agrees: Callable[..., bool],
    effort: Effort,
) -> Function:
    """LIKE or ILIKE, of a constant pattern."""

    def prepare(args: Args) -> Args:
        checked = of_kind(name.upper(), args, Kind.TEXT)
        if not isinstance(checked[1], Literal):
            raise Unsupported(f"the pattern of {name.upper()} must be written out")
        return checked

    return Function(
        name,
        condition,
        compile_,
        strict(lambda value, pattern: matches(fold(value), fold(pattern))),
        prepare,
        agrees,
        effort=effort,
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
    Function(
        "substring",
        _text,
        _compile_substring,
        strict(_substring),
        _prepare_substring,
        longest=_longest_part,
        effort=_to_the_end_of_it,
    ),
    Function(
        "concat",
        _text,
        lambda *values: joined(operator.add, values),
        strict(lambda *values: "".join(values)),
        _prepare_concat,
        longest=_as_long,
    ),
    _pattern("like", lambda value, pattern: value.like(pattern), str, lambda *_values: True, _matching),
    _pattern("ilike", _compile_ilike, str.lower, _ascii, _matching_in_small_letters),
)
