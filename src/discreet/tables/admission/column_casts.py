"""Column casts: how each value of a source's column becomes one of the declared kind, or NULL.

Guarantee: no value makes an expression of this file raise, and what comes out has the kind's one type: BIGINT; DOUBLE
without NaN, infinities or −0; VARCHAR of at most `max_length` characters; DATE and TIMESTAMP from year 1 to 9999, in
the wall time of the declared zone. A value is a function of its own cell alone. Bounds and keys aren't enforced here
but when a question is answered, so that they may change without another admission; only where a number is beyond 64
bits do bounds decide whether it counts as the nearer end or as NULL.

Columns that identify are cast without loss, or to NULL: 7, 07 and 7.0 are one id, but 7.4 isn't 7, nor a day and an
hour a day; of two instants that a clock shows alike, only one is an id. A text with a wrong byte in it, or a longer one
than `max_length`, identifies nobody: two might be one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.duckdb.sql_text import CALENDAR, SQL_TYPES, string
from discreet.errors import unforeseen
from discreet.tables.admission.declared_forms import number_text, time_of_epoch, time_of_format
from discreet.tables.arrow_kinds import is_text, kind_of
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.sources import Field

if TYPE_CHECKING:
    import pyarrow as pa

_GREATEST = 2**63 - 1
_DIGITS = 15
"""Every whole number of this many digits is a double."""
_ZONED = ":[0-9]{2}.*([A-Za-z]|[+-][0-9]{2}(:?[0-9]{2})?)$"
"""A time of day, and behind it a zone, or how far it is ahead of UTC."""
_FINE = "[.][0-9]{6}[0-9]*[1-9]"
"""A fraction of a second that microseconds don't hold."""
_ORDERS = {"dmy": "%d{0}%m{0}%Y", "mdy": "%m{0}%d{0}%Y"}
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")


def cast(column: Column, value: str, field: Field, source: Source, *, identifies: bool) -> str:
    """The SQL of a column's values, cast.

    Args:
        column: as declared.
        value: the name of the source's column in SQL; times in it are microseconds already, see `microseconds`.
        field: what the source says of it.
        source: how it is written: the decimal mark, and the order of dates.
        identifies: whether the column tells units, or rows that links lead to, from each other.
    """
    match column.kind:
        case Kind.INTEGER:
            return f"TRY_CAST({_whole(column, value, field, source, identifies=identifies)} AS BIGINT)"
        case Kind.REAL:
            number = number_text(column, value, source) if _is_texts(field) else _nearest(value, field)
            real = f"TRY_CAST({number} AS DOUBLE)"
            return f"CASE WHEN {real} = 0 THEN CAST(0 AS DOUBLE) WHEN isfinite({real}) THEN {real} END"
        case Kind.TEXT:
            written = f"CAST({value} AS VARCHAR)"
            if identifies:
                whole = f"length({written}) <= {column.max_length} AND NOT contains({written}, chr(65533))"
                return f"CASE WHEN {whole} THEN {written} END"
            most = column.max_length
            return f"CASE WHEN strlen({written}) > {most} THEN left({written}, {most}) ELSE {written} END"
        case Kind.DATE | Kind.TIMESTAMP:
            time = _time(column, value, field, source, identifies=identifies)
            first, last = CALENDAR[column.kind]
            return f"CASE WHEN {time} BETWEEN {first} AND {last} THEN {time} END"
        case Kind.BOOLEAN:
            return f"TRY_CAST({value} AS {SQL_TYPES[column.kind]})"
        case _:
            raise unforeseen(column.kind)


def passed_as(stored: pa.DataType) -> pa.DataType:
    """The Arrow type in which values of a type are handed to DuckDB: as texts where it has none like it.

    Examples:
        >>> import pyarrow as pa
        >>> passed_as(pa.timestamp("ns", "Europe/Paris")), passed_as(pa.decimal256(76, 2))
        (TimestampType(timestamp[us, tz=Europe/Paris]), DataType(string))
    """
    import pyarrow as pa

    if pa.types.is_dictionary(stored):
        return passed_as(stored.value_type)
    if pa.types.is_timestamp(stored):
        return pa.timestamp("us", stored.tz)
    if pa.types.is_date(stored):
        return pa.date32()
    if pa.types.is_float16(stored):
        return pa.float32()
    if pa.types.is_null(stored) or pa.types.is_decimal256(stored) or (pa.types.is_decimal(stored) and stored.scale < 0):
        return pa.string()
    return pa.large_string() if is_text(stored) else stored


def _is_texts(field: Field) -> bool:
    """Whether a field's values come as texts."""
    return field.untyped or is_text(passed_as(field.type))


def _whole(column: Column, value: str, field: Field, source: Source, *, identifies: bool) -> str:
    """The SQL that is cast to an integer."""
    if _is_texts(field):
        return _whole_text(column, value, source, identifies=identifies)
    if kind_of(field.type) is Kind.REAL:
        return _whole_real(value, field)
    return _whole_number(column, value, identifies=identifies)


def _whole_number(column: Column, value: str, *, identifies: bool) -> str:
    """An integer of any width. Beyond 64 bits it is out of all bounds, where there are any, and nobody's id."""
    if column.bounds is None or identifies:
        return value
    least = f"(-{_GREATEST} - 1)"
    return f"CASE WHEN {value} > {_GREATEST} THEN {_GREATEST} WHEN {value} < {least} THEN {least} ELSE {value} END"


def _whole_real(value: str, field: Field) -> str:
    """An integer from a real number: NULL if it isn't whole, or so large that the reals next to it are whole, too.

    Of two ids above that, both may have become the real number that stands there.
    """
    from pyarrow import types

    digits = next((bits for is_type, bits in _WHOLE_BITS.items() if getattr(types, is_type)(field.type)), None)
    bound = "" if digits is None else f" AND abs({value}) <= {2**digits}"
    return f"CASE WHEN {value} = trunc({value}){bound} THEN {value} END"


_WHOLE_BITS = {"is_float16": 11, "is_float32": 24, "is_float64": 53}
"""The bits up to which a type of real numbers holds every whole number."""


def _whole_text(column: Column, value: str, source: Source, *, identifies: bool) -> str:
    """An integer from a text; numbers with places are rounded, unless they identify."""
    number = number_text(column, value, source)
    if identifies:
        return f"CASE WHEN regexp_full_match({number}, '[+-]?[0-9]+([.]0*)?') THEN TRY_CAST({number} AS BIGINT) END"
    whole = f"TRY_CAST({number} AS BIGINT)"
    if column.bounds is None:
        return whole
    real = f"TRY_CAST({number} AS DOUBLE)"
    # Words such as nan and inf are numbers to DuckDB, but no integers; 1e400 is one, though it is read as infinite.
    beyond = f"CASE WHEN {real} > 0 THEN {_GREATEST} WHEN {real} < 0 THEN -{_GREATEST} - 1 END"
    return f"CASE WHEN regexp_matches({number}, '[0-9]') THEN coalesce({whole}, {beyond}) END"


def _nearest(value: str, field: Field) -> str:
    """A number as it is cast to the nearest double. DuckDB rounds long decimals twice, but not their texts."""
    from pyarrow import types

    is_long = types.is_decimal(field.type) and field.type.precision > _DIGITS
    return f"CAST({value} AS VARCHAR)" if is_long else value


def _time(column: Column, value: str, field: Field, source: Source, *, identifies: bool) -> str:
    """A date, or the wall time of an instant in its column's zone."""
    if column.epoch is not None:
        time = time_of_epoch(column, value, identifies=identifies)
        return time if column.time_zone is None else _told(column, time, identifies=identifies)
    if column.format is not None:
        return time_of_format(column, value, identifies=identifies)
    if _is_texts(field):
        # Words such as epoch are times to DuckDB.
        text = _time_text(column, value, source, identifies=identifies)
        return f"CASE WHEN regexp_matches({value}, '[0-9]') THEN {text} END"
    if getattr(field.type, "tz", None) is not None:
        value = _told(column, value, identifies=identifies)
    return f"TRY_CAST({value} AS {SQL_TYPES[column.kind]})"


def _told(column: Column, instant: str, *, identifies: bool) -> str:
    """The wall time of an instant. Where the clock shows two instants alike, only one of them identifies."""
    zone = string(column.time_zone or "UTC")
    wall = f"TRY(timezone({zone}, {instant}))"
    return f"CASE WHEN TRY(timezone({zone}, {wall})) = {instant} THEN {wall} END" if identifies else wall


def _time_text(column: Column, value: str, source: Source, *, identifies: bool) -> str:
    """A date or time from a text. One that says in which zone it is needs a declared zone to be told in."""
    found = f"TRY_CAST({value} AS {SQL_TYPES[column.kind]})"
    if source.dates in _ORDERS:
        clocks = _CLOCKS if column.kind is Kind.TIMESTAMP else _CLOCKS[:1]
        formats = ", ".join(string(_ORDERS[source.dates].format(mark) + clock) for mark in "./-" for clock in clocks)
        strict = f"TRY_CAST(try_strptime({value}, [{formats}]) AS {SQL_TYPES[column.kind]})"
        found = f"CASE WHEN regexp_matches({value}, '^[0-9]{{4}}-') THEN {found} ELSE {strict} END"
    if column.kind is Kind.DATE:
        if not identifies:
            return found
        whole = f"TRY_CAST({found} AS TIMESTAMP) = {_at(value, found)} AND NOT regexp_matches({value}, {string(_FINE)})"
        return f"CASE WHEN {whole} AND NOT regexp_matches({value}, {string(_ZONED)}) THEN {found} END"
    zoned = f"regexp_matches({value}, {string(_ZONED)})"
    instant = "NULL"
    if column.time_zone is not None:
        instant = _told(column, f"TRY_CAST({value} AS TIMESTAMP WITH TIME ZONE)", identifies=identifies)
    found = f"CASE WHEN {zoned} THEN {instant} ELSE {found} END"
    return f"CASE WHEN NOT regexp_matches({value}, {string(_FINE)}) THEN {found} END" if identifies else found


def _at(value: str, date: str) -> str:
    """The time that a text of a date says, if it says one; else the date's midnight."""
    return (
        f"CASE WHEN contains({value}, ':') THEN TRY_CAST({value} AS TIMESTAMP) ELSE TRY_CAST({date} AS TIMESTAMP) END"
    )


def microseconds(times: pa.Array, *, exactly: bool) -> pa.Array:
    """Timestamps of any unit, as microseconds; NULL where the year isn't from 1 to 9999.

    Engines convert a whole column, and raise where one value overflows.

    Args:
        times: of any unit and zone.
        exactly: whether a time between two microseconds is NULL, instead of the earlier one.

    Examples:
        >>> import pyarrow as pa
        >>> microseconds(pa.array([0, 9 * 10**18], pa.timestamp("ms")), exactly=False).to_pylist()
        [datetime.datetime(1970, 1, 1, 0, 0), None]
    """
    import numpy as np
    import pyarrow as pa

    unit = times.type.unit
    target = pa.timestamp("us", times.type.tz)
    missing = np.asarray(times.is_null())
    ticks = np.asarray(times.cast(pa.int64(), safe=False).fill_null(0))
    if unit == "ns":
        whole = ticks // 1_000
        wrong = ticks != whole * 1_000 if exactly else np.zeros(len(ticks), dtype=bool)
    else:
        factor = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
        wrong = (ticks < _FIRST // factor - 1) | (ticks > _LAST // factor + 1)
        whole = np.where(wrong, 0, ticks) * factor
    wrong = wrong | (whole < _FIRST) | (whole > _LAST)
    return pa.array(np.where(wrong, 0, whole), pa.int64(), mask=missing | wrong).cast(target)


def days(dates: pa.Array, *, exactly: bool) -> pa.Array:
    """Dates in milliseconds, as days; NULL where the year isn't from 1 to 9999.

    Args:
        dates: of 64 bits.
        exactly: whether a time within a day is NULL, instead of that day.
    """
    import numpy as np
    import pyarrow as pa

    missing = np.asarray(dates.is_null())
    ticks = np.asarray(dates.view(pa.int64()).fill_null(0))
    found = ticks // 86_400_000
    wrong = (found < _FIRST // _DAY) | (found > _LAST // _DAY) | (exactly & (ticks != found * 86_400_000))
    return pa.array(np.where(wrong, 0, found).astype(np.int32), pa.int32(), mask=missing | wrong).cast(pa.date32())


_DAY = 86_400_000_000
_FIRST = -719_162 * _DAY - _DAY
"""A day before year 1, in microseconds: in some time zone it may lie in year 1. If it doesn't, that is found
afterwards.
"""
_LAST = 2_932_897 * _DAY + _DAY
"""The same after year 9999."""
