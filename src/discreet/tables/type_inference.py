"""Guessing what texts mean: one set of rules for everybody who has to, and the values that the texts stand for.

Guarantee: texts that are guessed to be of a kind are read by admission as these very values, none as NULL.

Dates that people spell otherwise, such as 9/7/1967 or Sep 7, 1967, `days_of` reads for those who look at a table. In
9/7/1967 the month stands first or second. One date of a column that can only be read in one way settles it for all;
where all can be read in both ways, nothing does, and only years are known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.tables.schema.source import DateOrder, DecimalMark, Source
from discreet.tables.schema.table import Kind

if TYPE_CHECKING:
    import pyarrow as pa

_Whole: TypeAlias = NDArray[np.int64]

USUAL_NULLS = ("?", "NA", "N/A", "NULL", "NaN")
"""What is often written for NULL. It doesn't make a text of a column: as a number or date it is read as NULL anyway."""

_WIDENING: dict[Kind | None, tuple[Kind, ...]] = {
    None: (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP),
    Kind.BOOLEAN: (Kind.BOOLEAN,),
    Kind.INTEGER: (Kind.INTEGER, Kind.REAL),
    Kind.REAL: (Kind.REAL,),
    Kind.DATE: (Kind.DATE, Kind.TIMESTAMP),
    Kind.TIMESTAMP: (Kind.TIMESTAMP,),
    Kind.TEXT: (),
}
"""Of which kinds texts may be, narrowest first, if earlier ones were of a kind."""

_WHOLE = "(?:-?(?:0|[1-9][0-9]{0,17})|[+](?:0|[1-9][0-9]{0,6}))"
"""A leading zero says that it is a code, such as a ZIP, and so do more digits than 64 bits always hold. A plus before
eight digits or more says that it is a telephone number, which is one no more without it."""
_POWER = "(?:[eE][+-]?[0-9]{1,3})?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = "(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_CLOCK = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,%d})?)?"
_TIME = f"{_DAY}(?:[ T]{_CLOCK % 9}{_ZONE}?)?"
_PIECES = "^(?P<first>[0-9]{1,2})[./-](?P<second>[0-9]{1,2})[./-](?P<year>[0-9]{4})(?P<rest>.*)$"
"""A date in the order that dates are spoken in, taken apart."""
_HEAD = 8
"""So many texts are tried before all are: of most kinds, none is."""


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
        case _:
            form = "|".join((_TIME, *(f"{day}(?: {_CLOCK % 6})?" for day in _spoken(dates))))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpelledDates:
    """Texts as dates.

    Args:
        days: of each text; missing where it is no date.
        order: how most of them are to be read.
        settled: whether some text shows that; if not, day and month may be exchanged, and only the years are sure.
        clock: whether some text has a time of day, which isn't read.

    Examples:
        >>> import pyarrow as pa
        >>> found = days_of(pa.array(["9/7/1967", "9/17/1967"]))
        >>> found.order, found.settled, found.days.to_pylist()
        ('mdy', True, [datetime.date(1967, 9, 7), datetime.date(1967, 9, 17)])
        >>> days_of(pa.array(["9/7/1967", "1/2/1967"])).settled
        False
    """

    days: pa.Array
    order: DateOrder
    settled: bool
    clock: bool = False


_AT = (
    "(?:,? ?[ T] ?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?(?: ?[AaPp][.]?[Mm][.]?)?(?: ?Z| ?[+-][0-9:]{4,6})?)?"
)
_DAY_NUMBER = "(?P<day>[0-9]{1,2})"
_YEAR = "(?P<year>1[5-9][0-9]{2}|2[0-9]{3})"
_LETTER = r"[A-Za-z\x{80}-\x{10FFFF}]"
"""Or another character beyond ASCII, of which no form has any: RE2 takes 10 ms to compile a form of `\\pL{2,10}`, each
time that it is asked, and `_having` rules them out where a text has the form."""
_NAME = f"(?P<name>{_LETTER}{{3,10}})"
_WEEKDAY = f"^(?:{_LETTER}{{2,10}}[.]?,? )?"
_NUMBERS = "^(?P<first>[0-9]{1,2})(?P<mark>[./-]) ?(?P<second>[0-9]{1,2})[./-] ?"
_FORMS = (
    f"{_NUMBERS}(?P<year>[1-9][0-9]{{3}}){_AT}$",
    f"^(?P<year>[1-9][0-9]{{3}})[./-] ?(?P<month>[0-9]{{1,2}})[./-] ?{_DAY_NUMBER}[.]?{_AT}$",
    f"^(?P<year>[1-9][0-9]{{3}})[年년] ?(?P<month>[0-9]{{1,2}})[月월] ?{_DAY_NUMBER}[日일]{_AT}$",
    rf"{_WEEKDAY}{_DAY_NUMBER}(?:st|nd|rd|th|er|[.])?[ -]?(?:of |de |d')?{_NAME}[.]?,?[ -]?(?:de )?{_YEAR}{_AT}$",
    rf"{_WEEKDAY}{_NAME}[.]?[ -]{_DAY_NUMBER}(?:st|nd|rd|th)?,?[ -]{_YEAR}{_AT}$",
    "^(?P<year>1[89][0-9]{2}|20[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})$",
)
_SHORT = (
    f"{_NUMBERS}(?P<year>[0-9]{{2}}){_AT}$",
    f"{_WEEKDAY}{_DAY_NUMBER}[ -]{_NAME}[.]?[ -]'?(?P<year>[0-9]{{2}}){_AT}$",
)
_DIGITS = _FORMS[-1]
_MONTHS = (
    "jan january januar janvier enero ene gennaio gen janeiro januari tammikuu",
    "feb february februar février fev fevrier febrero febbraio fevereiro februari helmikuu",
    "mar march märz mrz mars marzo março maart mrt maaliskuu",
    "apr april avril avr abril abr aprile huhtikuu",
    "may mai mayo maggio mag maio mei maj toukokuu",
    "jun june juni juin junio giugno giu junho kesäkuu",
    "jul july juli juillet julio luglio lug julho heinäkuu",
    "aug august août aout agosto ago augustus augusti elokuu",
    "sep sept september septembre septiembre settembre set setembro syyskuu",
    "oct october oktober okt octobre octubre ottobre ott outubro lokakuu",
    "nov november novembre noviembre novembro marraskuu",
    "dec december dezember dez décembre decembre diciembre dic dicembre dezembro desember des joulukuu",
)
"""The names of months, in full and in short, in English and in the languages around it."""
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_TRIED = 1_000
"""So many texts nearly always tell that a column holds others."""
_FEW = 4
"""So many numbers of eight digits that all are dates are none by chance: one in 600 is."""


def days_of(
    texts: pa.Array, *, most: float = 0.0, digits: bool = False, order: DateOrder | None = None
) -> SpelledDates | None:
    """Texts as dates; None if too many of them aren't.

    Where dates are written with dots, the day stands first: no other reading is in use. Times of day are left out.

    Args:
        texts: without a missing one.
        most: the share that may be something else, in [0, 1). If it isn't 0, years of two digits count, too, as dates
            of whatever century.
        digits: whether they are numbers: then only those such as 19670907 are dates, and if there are several.
        order: in which day and month stand, if that is known; with dots the day stands first even so.

    Examples:
        >>> import pyarrow as pa
        >>> days_of(pa.array(["29.02.1984", "March 1st, 1984"])).days.to_pylist()
        [datetime.date(1984, 2, 29), datetime.date(1984, 3, 1)]
        >>> days_of(pa.array(["30.02.1984"]))
    """
    import pyarrow.compute as pc

    if not len(texts):
        return None
    # The first thousand nearly always tell that a column holds others; if some may be, the rest may be better.
    head = texts[:_TRIED]
    if not pc.any(pc.match_substring_regex(head, "[0-9]")).as_py():
        return None
    forms = (_DIGITS,) if digits else (*_FORMS, *_SHORT) if most else _FORMS
    if _formed(head, forms) < (1 - 2 * most) * len(head) or (
        len(texts) > len(head) and _formed(texts, forms) < (1 - most) * len(texts)
    ):
        return None
    found = _read(texts, forms, order)
    if found.days.null_count > most * len(texts):
        return None
    return None if _by_chance(texts, found.days) else found


def _by_chance(texts: pa.Array, days: pa.Array) -> bool:
    """Whether so few digits may be dates by chance."""
    import pyarrow.compute as pc

    bare = pc.match_substring_regex(texts, _DIGITS)
    return bool(0 < int(pc.sum(bare).as_py()) == len(days) - days.null_count < _FEW)


def _formed(texts: pa.Array, forms: tuple[str, ...]) -> int:
    """How many texts have one of the forms."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    return sum(int(pc.sum(_having(texts, form)).as_py() or 0) for form in forms)


def _having(texts: pa.Array, form: str) -> pa.Array:
    """Which texts have a form."""
    import pyarrow.compute as pc

    found = pc.match_substring_regex(texts, form)
    if _LETTER not in form or not pc.any(found).as_py():
        return found
    return pc.and_not(found, pc.match_substring_regex(texts, r"[^\x00-\x7F\pL]"))


def _read(texts: pa.Array, forms: tuple[str, ...], said: DateOrder | None) -> SpelledDates:
    """Texts as dates, those that are none as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = len(texts)
    year, month, day = (np.zeros(size, dtype=np.int64) for _ in range(3))
    order: DateOrder = "ymd"
    settled = True
    texts = pc.utf8_trim_whitespace(texts)
    for form in forms:
        places = np.flatnonzero(np.asarray(_having(texts, form)))
        if not len(places):
            continue
        parts = pc.extract_regex(texts.take(pa.array(places)), form)
        names = {field.name for field in parts.type}
        year[places] = _whole(pc.struct_field(parts, "year"))
        if "first" in names:
            first, second = (_whole(pc.struct_field(parts, name)) for name in ("first", "second"))
            dotted = np.asarray(pc.equal(pc.struct_field(parts, "mark"), "."))
            own, told = _order(first[~dotted], second[~dotted], "dmy" if dotted.all() else said)
            settled = settled and told
            order = own
            swapped = (own == "mdy") & ~dotted
            month[places], day[places] = np.where(swapped, first, second), np.where(swapped, second, first)
            continue
        order = order if order != "ymd" or "name" not in names else "dmy"
        day[places] = _whole(pc.struct_field(parts, "day"))
        month[places] = (
            [_MONTH_OF.get(name, 0) for name in pc.utf8_lower(pc.struct_field(parts, "name")).to_pylist()]
            if "name" in names
            else _whole(pc.struct_field(parts, "month"))
        )
    clock = bool(pc.any(pc.match_substring(texts, ":")).as_py())
    return SpelledDates(days=_days(year, month, day), order=order, settled=settled, clock=clock)


def _order(first: _Whole, second: _Whole, said: DateOrder | None) -> tuple[DateOrder, bool]:
    """Whether the day or the month stands first, by the texts that can be read in one way only; and if any can."""
    if said == "dmy" or said == "mdy":  # noqa: PLR1714 — so that the type is known
        return said, True
    days_first, months_first = int(np.count_nonzero(first > 12)), int(np.count_nonzero(second > 12))  # noqa: PLR2004 — months
    return ("mdy" if months_first > days_first else "dmy"), days_first != months_first


def _whole(texts: pa.Array) -> _Whole:
    """Digits as numbers."""
    import pyarrow as pa

    return np.asarray(texts.cast(pa.int64()))


def _days(year: _Whole, month: _Whole, day: _Whole) -> pa.Array:
    """Days of the calendar; missing where there is no such day."""
    import pyarrow as pa

    there = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)  # noqa: PLR2004 — the calendar
    months = (year - 1970) * 12 + np.where(there, month, 1) - 1
    starts = months.astype("datetime64[M]").astype("datetime64[D]")
    days = starts + (np.where(there, day, 1) - 1)
    there &= days.astype("datetime64[M]").astype(np.int64) == months
    return pa.array(days, mask=~there).cast(pa.date32())
