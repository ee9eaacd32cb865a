"""Guessing what texts mean: one set of rules for all code that has to, and the values that the texts stand for.

Guarantee: texts that are guessed to be of a kind are read by admission as these very values, none as NULL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.errors import unforeseen
from discreet.tables.schema.column import Kind
from discreet.tables.schema.source import DateOrder, DecimalMark, Source

if TYPE_CHECKING:
    import pyarrow as pa

USUAL_NULLS = ("?", "NA", "N/A", "NULL", "NaN")
"""Words that are often written for NULL. They don't make a column text: as numbers or dates they are NULL anyway."""

_WIDENING: dict[Kind | None, tuple[Kind, ...]] = {
    None: (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP),
    Kind.BOOLEAN: (Kind.BOOLEAN,),
    Kind.INTEGER: (Kind.INTEGER, Kind.REAL),
    Kind.REAL: (Kind.REAL,),
    Kind.DATE: (Kind.DATE, Kind.TIMESTAMP),
    Kind.TIMESTAMP: (Kind.TIMESTAMP,),
    Kind.TEXT: (),
}
"""The kinds that texts may have, narrowest first, if earlier texts had a given kind."""

_WHOLE = "(?:-?(?:0|[1-9][0-9]{0,17})|[+](?:0|[1-9][0-9]{0,6}))"
"""A leading zero shows that it is a code, such as a ZIP, as do more digits than 64 bits always hold. A plus before
eight or more digits shows that it is a telephone number, which it wouldn't be without.
"""
_POWER = "(?:[eE][+-]?[0-9]{1,3})?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = "(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_CLOCK = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,%d})?)?"
_TIME = f"{_DAY}(?:[ T]{_CLOCK % 9}{_ZONE}?)?"
_PIECES = "^(?P<first>[0-9]{1,2})[./-](?P<second>[0-9]{1,2})[./-](?P<year>[0-9]{4})(?P<rest>.*)$"
"""The parts of a date written as it is spoken."""
_HEAD = 8
"""How many texts are tried first: they rule out most kinds."""


def narrowest(texts: pa.Array, source: Source, so_far: Kind | None = None) -> tuple[Kind | None, pa.Array]:
    """The narrowest kind that all texts are of, and the values that they mean.

    Whole numbers have at most 18 digits; dates are of the years 1 to 9999. A single text of no kind makes texts of all,
    unless it is one of those that are often written for NULL.

    Args:
        texts: the different texts of a column or of a part of it, without NULL.
        source: how it is written: the decimal mark, and the order of dates.
        so_far: the kind that other texts of the column are of.

    Returns:
        The kind, text if there is no other, and `so_far` if all texts stand for NULL; and the values, in the order of
        the texts. Those of times with a zone are in UTC, as their type says.

    Examples:
        >>> import pyarrow as pa
        >>> narrowest(pa.array(["+34", ".5", "NA"]), Source.of("t.csv"))[1].to_pylist()
        [34.0, 0.5, None]
        >>> narrowest(pa.array(["02139", "10001"]), Source.of("t.csv"))[0]
        <Kind.TEXT: 'text'>
    """
    import pyarrow.compute as pc

    kind, values = _narrowest(texts, source, so_far) if len(texts) else (so_far, texts)
    if kind is not Kind.TEXT or len(said := without_nulls(texts)) == len(texts):
        return kind, values
    kind, values = _narrowest(said, source, so_far) if len(said) else (so_far, said)
    return kind, texts if kind is Kind.TEXT else values.take(pc.index_in(texts, said))


def without_nulls(texts: pa.Array) -> pa.Array:
    """Texts without those that are often written for NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return texts.filter(pc.invert(pc.is_in(texts, pa.array(USUAL_NULLS, texts.type))))


def _narrowest(texts: pa.Array, source: Source, so_far: Kind | None) -> tuple[Kind, pa.Array]:
    """The narrowest kind that all of one or more texts are of, and the values that they mean."""
    for kind in _WIDENING[so_far]:
        is_likely = so_far is kind or _match(texts.slice(0, _HEAD), kind, source)
        if not is_likely or not _match(texts, kind, source):
            continue
        values = values_of(texts, kind, source)
        if values is not None:
            return kind, values
    return Kind.TEXT, texts


def values_of(texts: pa.Array, kind: Kind, source: Source) -> pa.Array | None:
    """The values that texts of a kind's form mean; None if one of them means none, such as the 30th of February."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        match kind:
            case Kind.BOOLEAN:
                return pc.equal(pc.ascii_lower(texts), "true")
            case Kind.INTEGER:
                return pc.ascii_ltrim(texts, characters="+").cast(pa.int64())
            case Kind.REAL:
                pointed = texts if source.decimal == "." else pc.replace_substring(texts, source.decimal, ".")
                numbers = pointed.cast(pa.float64())
                return numbers if pc.all(pc.is_finite(numbers)).as_py() else None
            case Kind.DATE:
                return _within(_iso(texts, source.dates).cast(pa.date32()), _FIRST_DAY, _LAST_DAY)
            case Kind.TIMESTAMP:
                return _within(_times(_iso(texts, source.dates)), _FIRST_DAY * _TICKS, (_LAST_DAY + 1) * _TICKS - 1)
    except pa.ArrowInvalid:
        pass
    return None


_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_TICKS = 86_400_000_000


def _match(texts: pa.Array, kind: Kind, source: Source) -> bool:
    """Whether all texts have the form of a kind."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, _pattern(kind, source.decimal, source.dates))).as_py())


@lru_cache(maxsize=64)
def _pattern(kind: Kind, decimal: DecimalMark, dates: DateOrder) -> str:
    """The form of a kind's texts, as a regular expression of RE2."""
    match kind:
        case Kind.BOOLEAN:
            form = "(?i:true|false)"
        case Kind.INTEGER:
            form = _WHOLE
        case Kind.REAL:
            mark = re.escape(decimal)
            form = f"(?:{_WHOLE}(?:{mark}[0-9]*)?|[+-]?{mark}[0-9]+){_POWER}"
        case Kind.DATE:
            form = "|".join((_DAY, *_spoken(dates)))
        case Kind.TIMESTAMP:
            form = "|".join((_TIME, *(f"{day}(?: {_CLOCK % 6})?" for day in _spoken(dates))))
        case Kind.TEXT:
            raise TypeError("texts have any form")
        case _:
            raise unforeseen(kind)
    return f"^(?:{form})$"


def _spoken(dates: DateOrder) -> tuple[str, ...]:
    """The forms of dates in another order than that of ISO 8601."""
    return (
        () if dates == "ymd" else tuple(f"[0-9]{{1,2}}{mark}[0-9]{{1,2}}{mark}[0-9]{{4}}" for mark in ("[.]", "/", "-"))
    )


def _iso(texts: pa.Array, dates: DateOrder) -> pa.Array:
    """Dates and times as ISO 8601 has them."""
    import pyarrow.compute as pc

    if dates == "ymd":
        return texts
    found = pc.extract_regex(texts, _PIECES)
    first, second, year, rest = (pc.struct_field(found, name) for name in ("first", "second", "year", "rest"))
    day, month = (first, second) if dates == "dmy" else (second, first)
    two = (pc.ascii_lpad(piece, 2, "0") for piece in (month, day))
    return pc.coalesce(pc.binary_join_element_wise(pc.binary_join_element_wise(year, *two, "-"), rest, ""), texts)


def _times(texts: pa.Array) -> pa.Array:
    """Times in microseconds; in UTC if any of them says its zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.replace_substring_regex(texts, "([.][0-9]{6})[0-9]+", r"\1")
    zoned = pc.match_substring_regex(texts, f":[0-9.:]*{_ZONE}$")
    if not pc.any(zoned).as_py():
        return texts.cast(pa.timestamp("us"))
    nothing = pa.scalar(None, pa.string())
    instants = pc.if_else(zoned, texts, nothing).cast(pa.timestamp("us", "UTC"))
    return pc.coalesce(instants, pc.if_else(zoned, nothing, texts).cast(pa.timestamp("us")).cast(instants.type))


def _within(times: pa.Array, first: int, last: int) -> pa.Array | None:
    """The dates or times, if none is out of the calendar."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ticks = times.cast(pa.int32() if pa.types.is_date32(times.type) else pa.int64())
    least, greatest = pc.min_max(ticks).as_py().values()
    return times if least is None or (first <= least and greatest <= last) else None
