"""The text forms of values: what a release shows of them, what a hierarchy file lists them by, what they look like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Mask
from discreet.anonymity.encode import encode
from discreet.anonymity.records import Records
from discreet.errors import SchemaMismatch
from discreet.tables.schema.source import DateOrder
from discreet.tables.spelled_dates import SpelledDates, days_of

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = "(missing)"
"""Shown in a release for a missing value that has a group of its own."""
TOP = "*"
"""Shown in a release where nothing of the value is left."""
_LARGEST = 400
"""No column holds a number of more digits; a text that could be one, such as 1E99999999, isn't written out."""


def are_stars(column: Coded) -> Mask:
    """For each value, whether it is a text of nothing but stars: a cell of which nothing is left.

    Examples:
        >>> from discreet.anonymity.records import read
        >>> are_stars(read({"zip": ["**", "1*", None]}).column("zip")).tolist()
        [True, False, False]
    """
    import pyarrow.compute as pc

    if not is_text(column.values):
        return np.zeros(column.size, dtype=np.bool_)
    found = pc.fill_null(pc.match_substring_regex(column.values, r"^\*+$"), False)  # noqa: FBT003 — Arrow's
    return np.asarray(found, dtype=np.bool_)


def present(column: Coded) -> pa.Array:
    """The values of a column without the missing one."""
    return column.values[: column.size - 1] if column.has_missing else column.values


def numbers(column: Coded, hint: str = "") -> pa.Array:
    """The values of a column of numbers without the missing one; a column without values may be of any kind.

    Raises:
        SchemaMismatch: they aren't numbers.
    """
    import pyarrow as pa

    values = present(column)
    if len(values) and not is_number(values):
        raise SchemaMismatch(f"column {column.name!r} holds no numbers", hint=hint)
    return values if len(values) else pa.array([], pa.int64())


def times(column: Coded, hint: str = "") -> pa.Array:
    """The values of a column of dates or timestamps without the missing one; one without values may be of any kind.

    Raises:
        SchemaMismatch: they are neither.
    """
    import pyarrow as pa

    values = present(column)
    if len(values) and not is_time(values):
        raise SchemaMismatch(f"column {column.name!r} holds no dates", hint=hint)
    return values if len(values) else pa.array([], pa.date32())


def texts(values: pa.Array) -> pa.Array:
    """The values as texts, different ones for different values.

    Whole numbers have no decimal point, also among floats: a library that turned 39 into 39.0 to make room for a
    missing value changes nothing. Dates are ISO 8601; so are timestamps, with a space and without zero microseconds.

    Examples:
        >>> import pyarrow as pa
        >>> texts(pa.array([39.0, 39.5])).to_pylist(), texts(pa.array([True])).to_pylist()
        (['39', '39.5'], ['true'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = pc.cast(values, pa.string())
    return pc.replace_substring_regex(written, r"\.0+(Z?)$", r"\1") if pa.types.is_timestamp(values.type) else written


def text_of(value: object) -> str:
    """One value as `texts` writes it; the empty text for None."""
    import pyarrow as pa

    if value is None or isinstance(value, str):
        return value or ""
    return str(texts(pa.array([value]))[0].as_py())


def is_number(values: pa.Array) -> bool:
    """Whether the values are numbers; truth values aren't."""
    import pyarrow as pa

    kind = values.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_time(values: pa.Array) -> bool:
    """Whether the values are dates or timestamps."""
    import pyarrow as pa

    return bool(pa.types.is_date(values.type) or pa.types.is_timestamp(values.type))


def is_text(values: pa.Array) -> bool:
    """Whether the values are texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def are_whole(values: pa.Array) -> bool:
    """Whether all of some numbers are whole; a missing one says nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(values.type):  # Arrow has no floor of 0.5 if its type has no digit before the point
        return all(number is None or number == int(number) for number in values.to_pylist())
    return bool(pa.types.is_integer(values.type) or pc.all(pc.equal(values, pc.floor(values))).as_py() is not False)


def same_number(text: str) -> str:
    """One spelling for all spellings of a number: `7`, `7.0`, `07` and `7e0` are one; other texts stay as they are.

    Examples:
        >>> same_number("07.50"), same_number("7e2"), same_number("seven")
        ('7.5', '700', 'seven')
    """
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST:
        return text
    digits = f"{number:f}"
    whole = digits.rstrip("0").removesuffix(".") if "." in digits else digits
    return whole if number else "0"


def same_day(text: str) -> str:
    """One spelling for a day and its midnight.

    Examples:
        >>> same_day("2024-02-29 00:00:00"), same_day("2024-02-29")
        ('2024-02-29', '2024-02-29')
    """
    return text.removesuffix(" 00:00:00").removesuffix("T00:00:00")


_WITH_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"
_FIRST_DAY, _LAST_DAY = 18_000_101, 20_991_231
_FIRST = 1000
"""How many texts are looked at first: they nearly always tell that a column holds other things."""


def spelled_dates(values: pa.Array, order: DateOrder | None = None) -> SpelledDates | None:
    """Texts such as 9/7/1967, 7.9.1967 or Sep 7, 1967, and numbers such as 19670907, as dates; None unless all are.

    Args:
        values: without a missing one.
        order: in which day and month stand, if that is known.

    Examples:
        >>> import pyarrow as pa
        >>> spelled_dates(pa.array(["29.02.1984", "1.3.1984"])).days.to_pylist()
        [datetime.date(1984, 2, 29), datetime.date(1984, 3, 1)]
        >>> spelled_dates(pa.array(["30.02.1984"]))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(values):
        return days_of(values, order=order)
    if not len(values) or not is_number(values) or not are_whole(values):
        return None
    least, greatest = pc.min_max(values).as_py().values()
    if not (least >= _FIRST_DAY and greatest <= _LAST_DAY):
        return None
    return days_of(values.cast(pa.int64()).cast(pa.string()), digits=True)


def dated(records: Records, names: Iterable[str]) -> tuple[Records, tuple[str, ...]]:
    """The table with those of some columns as dates that are texts and settled ones; and which these are.

    Times of day aren't read, so texts that have one stay texts. So do dates in either of two orders.

    Examples:
        >>> from discreet.anonymity import read
        >>> found, names = dated(read({"born": ["9/17/1967", None, "1/2/1967"]}), ["born"])
        >>> names, found.column("born").labels()
        (('born',), (datetime.date(1967, 1, 2), datetime.date(1967, 9, 17), None))
    """
    import pyarrow as pa

    columns, changed = dict(records.columns), []
    for name in names:
        column = records.column(name)
        found = None if is_time(column.values) else spelled_dates(present(column))
        if found is None or not found.settled or found.clock:
            continue
        days = pa.chunked_array([found.days, *([pa.nulls(1, pa.date32())] if column.has_missing else [])])
        cells = pa.DictionaryArray.from_arrays(pa.array(column.codes), days.combine_chunks())
        columns[name] = encode(name, cells)
        changed.append(name)
    return (replace(records, columns=columns) if changed else records), tuple(changed)


def has_decimal_commas(values: pa.Array) -> bool:
    """Whether all texts could be numbers such as 3,14 or 1.000,5, and one has a comma.

    It is no more than a likeness: 1,234 may be written for a thousand and more, and 1,2 for two answers.

    Args:
        values: without a missing one.

    Examples:
        >>> import pyarrow as pa
        >>> has_decimal_commas(pa.array(["3,14", "2"])), has_decimal_commas(pa.array(["3", "2"]))
        (True, False)
    """
    import pyarrow.compute as pc

    return _are_all(values, _WITH_COMMA) and bool(pc.any(pc.match_substring(values, ",")).as_py())


def _are_all(values: pa.Array, pattern: str) -> bool:
    """Whether there are texts, and each is of the pattern."""
    import pyarrow.compute as pc

    if not len(values) or not is_text(values):
        return False
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() for part in (values[:_FIRST], values))
