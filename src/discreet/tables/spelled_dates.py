"""Dates as people spell them, such as 9/7/1967 or Sep 7, 1967, for those who look at a table.

In 9/7/1967 the month stands first or second. One date of a column that can only be read in one way settles it for all;
where all can be read in both ways, nothing does, and only years are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.tables.schema.source import DateOrder

if TYPE_CHECKING:
    import pyarrow as pa


_Whole: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpelledDates:
    """Texts as dates.

    Args:
        days: of each text; missing where it is no date.
        order: the order that fits most of them.
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
"""Or any other character beyond ASCII, which no form has: RE2 would take 10 ms to compile `\\pL{2,10}`, each time, and
`_having` rules these out if a text has the form.
"""
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
"""The names of months, in full and abbreviated, in English and the languages around it."""
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_TRIED = 1_000
"""How many texts are nearly always enough to show that a column holds something else."""
_FEW = 4
"""This many numbers of eight digits aren't all dates by chance: one in 600 is."""


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
