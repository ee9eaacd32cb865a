"""Reading options: the decimal mark, the order of dates and the everyday forms in which a source is written.

The decimal mark and the order of dates are one for a whole source. So what two columns contradict each other in, or
what can be read in two ways, isn't guessed: its custodian is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from discreet.tables.schema.column import Kind
from discreet.tables.schema.source import Source
from discreet.tables.type_inference import narrowest, without_nulls
from discreet.tables.written_forms import format_of, number_form_of

if TYPE_CHECKING:
    import pyarrow as pa

_THOUSANDS = "^[+-]?[0-9]{1,3}(,[0-9]{3})+$"
_SPOKEN = "^[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}( .*)?$"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """A guess at how a source is written, beyond its declaration.

    Args:
        source: with what its cells leave no doubt about.
        doubts: what they leave in doubt, in words, by the option that would say it.
        forms: what reads the texts of a column if its declaration says it, by column.
    """

    source: Source
    doubts: Mapping[str, str]
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def reading_options(texts: Mapping[str, pa.Array], source: Source) -> ReadingOptions:
    """The decimal mark and the order of dates that cells show.

    Guarantee: what is declared stays. An option is set only if every text of some column needs it, and no column
    another one.

    Args:
        texts: different texts of each column, as many as were looked at.
        source: as it is declared.

    Examples:
        >>> import pyarrow as pa
        >>> cells = {"price": pa.array(["1,5", "20"]), "paid": pa.array(["31.12.2024", "01.02.2025"])}
        >>> found = reading_options(cells, Source.of("sales.csv", delimiter=";")).source
        >>> found.decimal, found.dates
        (',', 'dmy')
        >>> dict(reading_options({"paid": pa.array(["01/02/2025"])}, Source.of("sales.csv")).doubts)
        {'dates': 'the dates of paid can be read with the day first, or the month: --dates says which'}
        >>> dict(reading_options({"paid": pa.array(["31-OCT-2024"])}, Source.of("sales.csv")).forms)
        {'paid': {'format': '%d-%b-%Y'}}
    """
    said = {name: given for name, cells in texts.items() if len(given := without_nulls(cells))}
    plain = {name: narrowest(cells, source)[0] for name, cells in said.items()}
    unread = {name: cells for name, cells in said.items() if plain[name] is Kind.TEXT}
    doubts: dict[str, str] = {}
    if source.decimal == "." and source.delimiter != ",":
        source = _with_mark(source, unread, [name for name, kind in plain.items() if kind is Kind.REAL], doubts)
    if source.dates == "ymd":
        source = _with_order(source, unread, doubts)
    left = {name: cells for name, cells in unread.items() if narrowest(cells, source)[0] is Kind.TEXT}
    forms = {name: form for name, cells in left.items() if (form := _form_of(cells, source))}
    return ReadingOptions(source=source, doubts=doubts, forms=forms)


def _form_of(texts: pa.Array, source: Source) -> dict[str, str]:
    """A declaration with which all of a column's texts can be read; empty if there is none."""
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, "[0-9]")).as_py():
        return {}
    said = texts.to_pylist()
    form = format_of(said)
    return {"format": form} if form is not None else number_form_of(said, source.decimal) or {}


def _with_mark(source: Source, unread: Mapping[str, pa.Array], pointed: list[str], doubts: dict[str, str]) -> Source:
    """The source with a decimal comma, if columns need it and none needs a point."""
    by_comma = replace(source, decimal=",")
    grouped = [name for name, cells in unread.items() if _have_form(_with_commas(cells), _THOUSANDS)]
    commas = [name for name, cells in unread.items() if name not in grouped and _are(cells, by_comma, Kind.REAL)]
    if grouped:
        doubts["decimal"] = (
            f"the commas of {_listed(grouped)} may be decimal, as --decimal , reads them, or separate thousands, as "
            'thousands = "," in the declaration of a column does'
        )
    if commas and pointed:
        doubts["decimal"] = (
            f"{_listed(commas)} has decimal commas, and {_listed(pointed)} points: --decimal says which to read"
        )
    return by_comma if commas and not pointed else source


def _with_order(source: Source, unread: Mapping[str, pa.Array], doubts: dict[str, str]) -> Source:
    """The source with the order in which its dates are spoken, if there is one that reads them and no other does."""
    day_first, month_first = replace(source, dates="dmy"), replace(source, dates="mdy")
    ways = {
        name: (_are(cells, day_first, Kind.DATE, Kind.TIMESTAMP), _are(cells, month_first, Kind.DATE, Kind.TIMESTAMP))
        for name, cells in unread.items()
        if _have_form(cells, _SPOKEN)
    }
    either = [name for name, way in ways.items() if way == (True, True)]
    dmy = [name for name, way in ways.items() if way == (True, False)]
    mdy = [name for name, way in ways.items() if way == (False, True)]
    mixed = [name for name, way in ways.items() if way == (False, False) and not _form_of(unread[name], source)]
    says_which = "--dates says which"
    if mixed:
        doubts["dates"] = (
            f"the dates of {_listed(mixed)} are in different orders, or some don't exist, or their times of day are "
            "in another form: what can't be read is NULL"
        )
    if dmy and mdy:
        doubts["dates"] = (
            f"{_listed(dmy)} has dates with the day first, and {_listed(mdy)} with the month: {says_which}"
        )
    elif either and not dmy and not mdy:
        doubts["dates"] = f"the dates of {_listed(either)} can be read with the day first, or the month: {says_which}"
    if bool(dmy) == bool(mdy):
        return source
    return day_first if dmy else month_first


def _are(texts: pa.Array, source: Source, *kinds: Kind) -> bool:
    """Whether all texts are of one of the kinds, if they are so written."""
    return narrowest(texts, source)[0] in kinds


def _have_form(texts: pa.Array, form: str) -> bool:
    """Whether there are texts, and all of them have this form."""
    import pyarrow.compute as pc

    return len(texts) > 0 and bool(pc.all(pc.match_substring_regex(texts, form)).as_py())


def _with_commas(texts: pa.Array) -> pa.Array:
    """Those texts that have a comma, if the others are numbers at all; else none."""
    import pyarrow.compute as pc

    has = pc.match_substring(texts, ",")
    whole = _have_form(texts.filter(pc.invert(has)), "^[+-]?[0-9]+$") or bool(pc.all(has).as_py())
    return texts.filter(has) if whole else texts.slice(0, 0)


def _listed(names: list[str]) -> str:
    """The first few names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004 — what fits a line
