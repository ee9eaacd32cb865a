"""Everyday forms of numbers and times, as SQL: read where a column declares them, and NULL where a cell isn't so.

None is guessed, and none can fail on a value. What fits a declared form in part only is no value: under `thousands =
","` 1,23 is NULL, and not 123.
"""

from __future__ import annotations

from discreet.duckdb.sql_text import string
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source

_MINUS = "chr(8722)"
_SPACES = "[\\x{00A0}\\x{2009}\\x{202F}]"
"""Non-breaking and thin spaces, which separate thousands."""


def number_text(column: Column, value: str, source: Source) -> str:
    """A number's text with a decimal point and nothing else that isn't of the number.

    Where the decimal mark is a comma, a point means something else: NULL. A minus sign of typesetters is one.

    Args:
        column: with the signs that are stripped, and the one between thousands.
        value: the text, in SQL.
        source: with the decimal mark.
    """
    text = value
    for sign in column.strip:
        text = f"replace({text}, {string(sign)}, '')"
    text = f"replace({text}, {_MINUS}, '-')"
    if column.strip:
        text = f"trim({text})"
    if column.thousands is not None:
        text = _without_thousands(column.thousands, text, source.decimal)
    if source.decimal == ".":
        return text
    return f"CASE WHEN NOT contains({text}, '.') THEN replace({text}, ',', '.') END"


def _without_thousands(mark: str, text: str, decimal: str) -> str:
    """A number without the marks between its thousands, if they stand nowhere else."""
    if mark == " ":
        text = f"regexp_replace({text}, '{_SPACES}', ' ', 'g')"
    if mark == "'":
        text = f"replace({text}, chr(8217), {string(mark)})"
    escaped = "".join(f"[{each}]" for each in (mark, decimal))
    grouped = f"[+-]?[0-9]{{1,3}}({escaped[:3]}[0-9]{{3}})+({escaped[3:]}[0-9]*)?"
    is_grouped = f"regexp_full_match({text}, {string(grouped)})"
    return (
        f"CASE WHEN NOT contains({text}, {string(mark)}) THEN {text} "
        f"WHEN {is_grouped} THEN replace({text}, {string(mark)}, '') END"
    )


def time_of_format(column: Column, value: str, *, identifies: bool) -> str:
    """A date or time from a text of the column's format; of a date that identifies, no hour is dropped.

    Args:
        column: with its format.
        value: the text, in SQL.
        identifies: whether the column tells units, or rows that links lead to, from each other.
    """
    # Words such as infinity are times to DuckDB, whatever the format.
    found = f"CASE WHEN regexp_matches({value}, '[0-9]') THEN try_strptime({value}, {string(column.format or '')}) END"
    if column.kind is Kind.TIMESTAMP:
        return found
    day = f"TRY_CAST({found} AS DATE)"
    return f"CASE WHEN {found} = {day} THEN {day} END" if identifies else day


_TICKS = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds of what points in time are counted in."""
_FIRST_DAY = {"days": "DATE '1970-01-01'", "excel": "DATE '1899-12-30'"}
_DAY = 86_400_000_000
_FAR = 253_402_300_800_000_000
"""Microseconds from 1970 to the year 10000."""
_MOST_DAYS = 3_000_000
"""More than there are between 1899 and either end of the calendar; what is beyond an end is found afterwards."""
_BEFORE_MARCH_1900 = 61
"""Excel counts a 29th of February 1900, so that its smaller numbers don't say which day they are."""


def time_of_epoch(column: Column, value: str, *, identifies: bool) -> str:
    """A date or time from a number, in SQL: counted from 1970, or as spreadsheets do. Points in time are in UTC.

    Args:
        column: with its epoch.
        value: the number, or its text, in SQL.
        identifies: whether the column tells units, or rows that links lead to, from each other.
    """
    epoch = column.epoch or ""
    if epoch in _TICKS:
        number = f"TRY_CAST({value} AS DECIMAL(28, 6))"  # times a million it has 38 digits, which fit
        ticks = f"TRY_CAST(floor({number} * {_TICKS[epoch]}) AS BIGINT)"
        exact = f" AND {number} * {_TICKS[epoch]} = {ticks}" if identifies else ""
        return f"CASE WHEN {ticks} BETWEEN -{_FAR} AND {_FAR}{exact} THEN TRY(make_timestamptz({ticks})) END"
    number = f"TRY_CAST({value} AS DOUBLE)"
    within = f"{number} BETWEEN {_BEFORE_MARCH_1900 if epoch == 'excel' else -_MOST_DAYS} AND {_MOST_DAYS}"
    if column.kind is Kind.DATE:
        exact = f" AND {number} = floor({number})" if identifies else ""
        return f"CASE WHEN {within}{exact} THEN TRY({_FIRST_DAY[epoch]} + TRY_CAST(floor({number}) AS INTEGER)) END"
    # A double of days doesn't hold microseconds, and spreadsheets mean no more than milliseconds.
    ticks = f"1000 * TRY_CAST(round({number} * {_DAY // 1_000}) AS BIGINT)"
    start = f"epoch_us(CAST({_FIRST_DAY[epoch]} AS TIMESTAMP))"
    return f"CASE WHEN {within} THEN TRY(make_timestamp({start} + {ticks})) END"
