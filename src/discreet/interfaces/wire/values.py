"""Values: results as PostgreSQL writes them, in text and in binary, and parameters as SQL's literals."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import inf, isfinite, isnan, nan
from types import MappingProxyType
from typing import Any

from discreet.errors import InvalidArgument, TypeMismatch
from discreet.interfaces.wire.replies import Field

BOOL, INT8, INT2, INT4, TEXT, OID = 16, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE = 700, 701, 705, 1042, 1043, 1082
TIMESTAMP, TIMESTAMPTZ, NUMERIC = 1114, 1184, 1700

_FIELDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "integer": (INT8, 8),
        "real": (FLOAT8, 8),
        "text": (TEXT, -1),
        "boolean": (BOOL, 1),
        "date": (DATE, 4),
        "timestamp": (TIMESTAMP, 8),
    }
)
"""OID and size of the type for each kind of values."""

ARRAY_OF: Mapping[int, int] = MappingProxyType(
    {
        BOOL: 1000, INT2: 1005, INT4: 1007, TEXT: 1009, VARCHAR: 1015, INT8: 1016, FLOAT4: 1021, FLOAT8: 1022,
        OID: 1028, TIMESTAMP: 1115, DATE: 1182, TIMESTAMPTZ: 1185, NUMERIC: 1231,
    }
)  # fmt: skip
"""OIDs of arrays, by those of their elements."""

_ELEMENT_OF: Mapping[int, int] = MappingProxyType({array: oid for oid, array in ARRAY_OF.items()})

OID_OF: Mapping[str, int] = MappingProxyType({kind: oid for kind, (oid, _) in _FIELDS.items()} | {"decimal": NUMERIC})
"""The OID of the type for each kind."""

KIND_OF: Mapping[int, str] = MappingProxyType({oid: kind for kind, oid in OID_OF.items()})
"""And the other way about."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_EPOCH = datetime(2000, 1, 1)  # noqa: DTZ001 — a timestamp without time zone
_LONGEST_NUMBER = 400
_INT8 = 2**63
_BASE, _DIGITS = 10_000, 4
_NEGATIVE, _SPECIAL = 0x4000, 0xC000


_OF_DUCKDB: Mapping[str, int] = MappingProxyType(
    {
        "BOOLEAN": BOOL, "SMALLINT": INT2, "INTEGER": INT4, "BIGINT": INT8, "UINTEGER": OID, "DOUBLE": FLOAT8,
        "FLOAT": FLOAT8, "HUGEINT": NUMERIC, "DATE": DATE, "TIMESTAMP": TIMESTAMP, "VARCHAR[]": 1009,
        "SMALLINT[]": 1005, "UINTEGER[]": 1028, "INTEGER[]": 1007, "BIGINT[]": 1016,
    }
)  # fmt: skip
"""OIDs of the types that the catalogue gives, by their names in DuckDB; of any other, that of text."""


def oid_of(kind: str) -> int:
    """The OID of a type of DuckDB's."""
    return NUMERIC if kind.startswith("DECIMAL") else _OF_DUCKDB.get(kind, TEXT)


def field_of(name: str, kind: str) -> Field:
    """A column of an answer, as it is described.

    Examples:
        >>> field_of("n", "integer"), field_of("price", "decimal(38,2)").modifier == (38 << 16) + 2 + 4
        (Field(name='n', oid=20, size=8, modifier=-1), True)
    """
    if (found := _DECIMAL.fullmatch(kind)) is not None:
        return Field(name, NUMERIC, -1, (int(found[1]) << 16) + int(found[2]) + 4)
    oid, size = _FIELDS.get(kind, (TEXT, -1))
    return Field(name, oid, size)


def encoded(value: Any, oid: int, form: int) -> bytes | None:  # noqa: ANN401 — a value of an answer
    """A value in the format that is wanted: 0 for text, 1 for binary.

    Raises:
        TypeMismatch: it has no binary form, such as a whole number beyond 64 bits.
    """
    if value is None:
        return None
    if form == 0 or oid == TEXT:
        return as_text(value).encode("utf-8", "replace")
    try:
        return _BINARY[oid](value)
    except (KeyError, OverflowError, TypeError, ValueError, struct.error):
        raise TypeMismatch(
            "a value is beyond what its type can hold in binary", hint="ask for text results, or CAST it"
        ) from None


def as_text(value: Any) -> str:  # noqa: ANN401, PLR0911 — a value of an answer; a table of kinds
    """A value as PostgreSQL writes it.

    Raises:
        TypeMismatch: it is of a kind that has no form here.

    Examples:
        >>> as_text(True), as_text(float("inf")), as_text(1e20), as_text([1, None])
        ('t', 'Infinity', '1e+20', '{1,NULL}')
    """
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            shown = repr(value).removesuffix(".0")
            return shown if isfinite(value) else "NaN" if isnan(value) else f"{'-' * (value < 0)}Infinity"
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat(" ")
        case list():
            return f"{{{','.join('NULL' if each is None else _element(as_text(each)) for each in value)}}}"
        case str():
            return value
        case int():
            return str(value)
        case date():
            return value.isoformat()
        case _:
            raise TypeMismatch(f"a value of type {type(value).__name__} can't be sent", hint="CAST it to text")


_BARE = re.compile(r"(?!null\Z)[^\s{}\",\\]+", re.IGNORECASE)


def _element(said: str) -> str:
    """A text within an array."""
    return said if _BARE.fullmatch(said) else '"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _numeric(value: Decimal | float) -> bytes:
    """A number in base 10,000, as PostgreSQL sends it."""
    sign, digits, exponent = Decimal(str(value)).as_tuple()
    if not isinstance(exponent, int):
        return struct.pack("!HhHH", 0, 0, _SPECIAL, 0)
    scale = max(-exponent, 0)
    whole = int("".join(map(str, digits))) * 10 ** max(exponent, 0) * 10 ** (-scale % _DIGITS)
    places = (scale + _DIGITS - 1) // _DIGITS
    groups: list[int] = []
    while whole:
        whole, rest = divmod(whole, _BASE)
        groups.insert(0, rest)
    weight = len(groups) - places - 1
    return struct.pack(f"!HhHH{len(groups)}H", len(groups), weight, _NEGATIVE * sign, scale, *groups)


def _microseconds(value: date) -> int:
    """From 2000 to a time."""
    time = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001 — the same
    return (time - _EPOCH) // timedelta(microseconds=1)


_BINARY: Mapping[int, Callable[[Any], bytes]] = MappingProxyType(
    {
        BOOL: lambda value: struct.pack("!?", value),
        INT8: lambda value: struct.pack("!q", value),
        INT4: lambda value: struct.pack("!i", value),
        INT2: lambda value: struct.pack("!h", value),
        OID: lambda value: struct.pack("!I", value),
        FLOAT8: lambda value: struct.pack("!d", value),
        DATE: lambda value: struct.pack("!i", (value - _EPOCH.date()).days),
        TIMESTAMP: lambda value: struct.pack("!q", _microseconds(value)),
        NUMERIC: _numeric,
    }
)
"""Values in binary, by the OID of their type."""


def literal(value: bytes | None, oid: int, form: int) -> str:
    """A parameter's value as a literal of SQL, by its type.

    Guarantee: it is one literal, whatever its bytes are: digits, a keyword, or a text whose quotes are doubled.

    Args:
        value: as it was sent; None is NULL.
        oid: of its type.
        form: 0 for text, 1 for binary.

    Raises:
        InvalidArgument: it isn't a value of that type.
        TypeMismatch: there are no parameters of that type.

    Examples:
        >>> literal(b"-5", INT8, 0), literal(b"it's", TEXT, 0), literal(b"2020-02-29", DATE, 0), literal(None, INT4, 1)
        ('(-5)', "'it''s'", "DATE '2020-02-29'", 'NULL')
    """
    if form not in {0, 1}:
        raise InvalidArgument(f"there is no format {form} of parameters", hint="0 is text, and 1 is binary")
    if value is None:
        return "NULL"
    if oid in _ELEMENT_OF:
        return _array(value, _ELEMENT_OF[oid], form)
    if oid not in _LITERALS:
        raise TypeMismatch(
            f"parameters of the type with OID {oid} can't be used",
            hint="there are whole numbers, numeric, float8, text, boolean, date, timestamp and timestamptz",
        )
    try:
        read = _decoded(value, oid) if form else value.decode()
        return _LITERALS[oid](read)
    except (ArithmeticError, InvalidOperation, KeyError, TypeError, ValueError, struct.error):
        raise InvalidArgument("a parameter isn't a value of the type that it has") from None


_ELEMENTS = re.compile(r'(?:"((?:[^"\\]|\\.)*+)"|([^",{}\\]+))(?:,(?=.)|\Z)', re.DOTALL)


def _array(value: bytes, oid: int, form: int) -> str:
    """An array of one dimension.

    Examples:
        >>> print(_array(b'{a,"b,c",NULL}', TEXT, 0), _array(b"{}", INT8, 0))
        ARRAY['a', 'b,c', NULL] ARRAY[]
    """
    try:
        elements = _in_binary(value) if form else _in_text(value.decode())
    except (ValueError, struct.error):
        raise InvalidArgument("a parameter isn't a list of values, as PostgreSQL writes one") from None
    return f"ARRAY[{', '.join(literal(each, oid, form) for each in elements)}]"


def _in_text(said: str) -> list[bytes | None]:
    """The elements of an array that is written as a text.

    Raises:
        ValueError: it isn't one.
    """
    said = said.strip()
    if not (said.startswith("{") and said.endswith("}")):
        raise ValueError
    inner, at, found = said[1:-1].strip(), 0, list[bytes | None]()
    while at < len(inner):
        element = _ELEMENTS.match(inner, at)
        if element is None:
            raise ValueError
        quoted_text, bare = element.groups()
        is_null = bare is not None and bare.strip().upper() == "NULL"
        text = re.sub(r"\\(.)", r"\1", quoted_text, flags=re.DOTALL) if bare is None else bare.strip()
        found.append(None if is_null else text.encode())
        at = element.end()
    return found


def _in_binary(value: bytes) -> list[bytes | None]:
    """The elements of an array in binary: its dimensions, whether it has NULLs, its type; then each with its size.

    Raises:
        ValueError, struct.error: it has more than one dimension, or doesn't end where it says.
    """
    dimensions, _, _ = struct.unpack_from("!iiI", value)
    if dimensions not in {0, 1}:
        raise ValueError
    count, at = (struct.unpack_from("!i", value, 12)[0], 20) if dimensions else (0, 12)
    found: list[bytes | None] = []
    for _ in range(count):
        (size,) = struct.unpack_from("!i", value, at)
        at += 4 + max(size, 0)
        found.append(None if size < 0 else value[at - size : at])
    if at != len(value):
        raise ValueError
    return found


def _decoded(value: bytes, oid: int) -> Any:  # noqa: ANN401 — of any type
    """A value that was sent in binary."""
    if oid in {TEXT, VARCHAR, BPCHAR, UNKNOWN}:
        return value.decode()
    if oid == NUMERIC:
        return _numeric_text(value)
    (found,) = struct.unpack(_FORMS[oid], value)
    if oid == DATE:
        return (_EPOCH + timedelta(days=found)).date().isoformat()
    if oid in {TIMESTAMP, TIMESTAMPTZ}:  # the latter in UTC
        return (_EPOCH + timedelta(microseconds=found)).isoformat(" ")
    return as_text(found)


_FORMS: Mapping[int, str] = MappingProxyType(
    {
        BOOL: "!?", INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I", FLOAT4: "!f", FLOAT8: "!d", DATE: "!i",
        TIMESTAMP: "!q", TIMESTAMPTZ: "!q",
    }
)  # fmt: skip


def _numeric_text(value: bytes) -> str:
    """A number in base 10,000, as text."""
    count, weight, sign, scale = struct.unpack("!HhHH", value[:8])
    if sign not in {0, _NEGATIVE} or count > _LONGEST_NUMBER or abs(weight) > _LONGEST_NUMBER:
        raise ValueError
    whole = 0
    for group in struct.unpack(f"!{count}H", value[8:]):
        if group >= _BASE:
            raise ValueError
        whole = whole * _BASE + group
    digits = Decimal(f"{whole}e{_DIGITS * (weight + 1 - count)}")  # which rounds nothing, as `scaleb` does
    return f"{'-' * bool(sign)}{digits:.{min(scale, _LONGEST_NUMBER)}f}"


def _whole(said: str) -> str:
    """A whole number."""
    if not _WHOLE.fullmatch(said.strip()):
        raise ValueError
    return _signed(str(int(said)))


def _number(said: str) -> str:
    """A number with a point, or an exponent."""
    said = said.strip()
    if len(said) > _LONGEST_NUMBER or not _NUMBER.fullmatch(said) or float(said) in {inf, -inf, nan}:
        raise ValueError
    said = said.removeprefix("+")
    return _signed(f"{said}.0" if said.removeprefix("-").isdecimal() else said)  # 7 / 2 is 3, and 7 / 2.0 isn't


def _signed(said: str) -> str:
    """A number, so that no sign before it makes a comment of two."""
    return f"({said})" if said.startswith("-") else said


def _boolean(said: str) -> str:
    """A truth."""
    word = said.strip().lower()
    if word in {"t", "true", "on", "yes", "y", "1"}:
        return "TRUE"
    if word in {"f", "false", "off", "no", "n", "0"}:
        return "FALSE"
    raise ValueError


def quoted(said: str) -> str:
    """A text as a literal.

    Raises:
        ValueError: it has a zero byte, which no text can have.
    """
    if "\0" in said:
        raise ValueError
    return f"'{said.replace(chr(39), 2 * chr(39))}'"


_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))? ?(Z|[+-]\d\d(?::?\d\d){0,2})?", re.ASCII
)
"""A day, with or without a time and a zone: drivers send days as `2024-06-01 +00`."""


def _moment(said: str) -> datetime:
    """A day, or a time of it, in the zone that stands behind it, if one does."""
    if (found := _MOMENT.fullmatch(said.strip())) is None:
        raise ValueError
    day, time, zone = found.groups("")
    return datetime.fromisoformat(f"{day}T{time or '00:00'}{zone}")


def _day(said: str) -> str:
    """A day; what stands behind it is left out, as PostgreSQL does."""
    return f"DATE '{_moment(said).date().isoformat()}'"


def _time(said: str) -> str:
    """A time; a zone behind it is left out, as PostgreSQL does where a timestamp has none."""
    return f"TIMESTAMP '{_moment(said).replace(tzinfo=None).isoformat(' ')}'"


def _instant(said: str) -> str:
    """An instant, as the time that it is in UTC."""
    found = _moment(said)
    return _time((found.astimezone(UTC) if found.tzinfo else found).isoformat())


_LITERALS: Mapping[int, Callable[[str], str]] = MappingProxyType(
    {
        **dict.fromkeys((INT2, INT4, INT8, OID), _whole),
        **dict.fromkeys((FLOAT4, FLOAT8, NUMERIC), _number),
        **dict.fromkeys((TEXT, VARCHAR, BPCHAR, UNKNOWN), quoted),
        BOOL: _boolean,
        DATE: _day,
        TIMESTAMP: _time,
        TIMESTAMPTZ: _instant,
    }
)
"""How a value becomes a literal, by the OID of its type."""
