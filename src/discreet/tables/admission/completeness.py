"""The completeness of an admitted table: what was left out, for its custodian alone, and how much may be.

Records are left out by an accident of writing or reading, and accidents are rare. Where many are, the declaration is
wrong: answers would be of another table than its custodian means, with a ± that says nothing of it, and be paid for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.errors import TooMuchUnreadable, unforeseen
from discreet.hints import Hint
from discreet.tables.schema.table import Table
from discreet.tables.sources import Malformed

_NOBODYS = Fraction(1, 2)
"""The largest part of rows that may be left out because they name nobody: the source says so, and nothing was
misread.
"""
_ALL = Fraction(99, 100)
"""A column of which this much can't be read is declared as something it isn't."""


def report_of(  # noqa: PLR0913 — what is counted, each by name
    *,
    rows: int,
    left_out: int = 0,
    unreadable_ids: int = 0,
    malformed: Malformed | None = None,
    present: Mapping[str, int] | None = None,
    unreadable: Mapping[str, int] | None = None,
    cut: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The report on one table as JSON-ready data."""
    broken = malformed or Malformed()
    by_column = {"present": present, "unreadable": unreadable, "cut": cut}
    return {
        "rows": rows,
        "left_out": left_out,
        "unreadable_ids": unreadable_ids,
        "beyond_most_rows_per_unit": {"units": 0, "rows": 0},
        "malformed": broken.count,
        "malformed_lines": list(broken.lines),
        "malformed_causes": broken.causes,
        **{what: {name: count for name, count in (found or {}).items() if count} for what, found in by_column.items()},
    }


def added_up(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The report on a table that was read in pieces, each with a report of its own."""
    found = report_of(rows=0)
    for name, before in found.items():
        each = [report[name] for report in reports]
        match before:
            case int():
                found[name] = sum(each)
            case list():
                found[name] = [line for lines in each for line in lines]
            case dict():
                found[name] = dict(sum(map(Counter, each), Counter[str]()))
            case _:
                raise unforeseen(before)
    return found


def check_read(table: Table, found: Mapping[str, Any], most: Fraction | None) -> None:
    """Refuse a table of which too much can't be read. One record or value may always be.

    Args:
        table: as declared.
        found: what is reported of it.
        most: the part of its records, or of a column's values, that may be unreadable; None for what it declares.

    Raises:
        TooMuchUnreadable: it has more.
    """
    beyond = found["beyond_most_rows_per_unit"]["rows"]
    lost = found["malformed"] + found["left_out"] + beyond
    records = found["rows"] + lost
    misread = found["malformed"] + found["unreadable_ids"] + beyond
    if most is None:
        one = 1 if found["rows"] else 0
        nobodys = max(table.most_left_out, _NOBODYS)
        is_too_much = misread > max(table.most_left_out * records, one) or lost > max(nobodys * records, one)
    else:
        is_too_much = lost > most * records
    if is_too_much:
        raise _left_out(table, found, records, lost)
    for column, count in found["unreadable"].items():
        present = found["present"][column]
        if count > most * records if most is not None else count > 1 and count >= _ALL * present:
            raise TooMuchUnreadable(
                f"of table {table.name!r}, {count:,} of {present:,} values of column {column!r} can't be read as "
                f"{table.column(column).kind}",
                hint=Hint(_OTHERWISE, cli=f"{_OTHERWISE}; or `discreet admit --at-most-unreadable 1`", file=_OTHERWISE),
            )


_OTHERWISE = "declare how they are written, declare the column as text, or leave it out"


def _left_out(table: Table, found: Mapping[str, Any], records: int, lost: int) -> TooMuchUnreadable:
    """The refusal of a table of which too many records would be left out."""
    causes = {
        "malformed": found["malformed"],
        "whose id can't be read": found["unreadable_ids"],
        "that name nobody": found["left_out"] - found["unreadable_ids"],
        "beyond most_rows_per_unit": found["beyond_most_rows_per_unit"]["rows"],
    }
    said = ", ".join(f"{count:,} {cause}" for cause, count in causes.items() if count)
    share = ceil(Fraction(100 * lost, records)) / 100
    mend = "correct the source, or declare how it is written; if the remaining rows are what you want, "
    return TooMuchUnreadable(
        f"of table {table.name!r}, {lost:,} of {records:,} records would be left out: {said}",
        hint=Hint(
            f"{mend}most_left_out={share}",
            cli=f"{mend}most_left_out = {share} of the table, or `discreet admit --at-most-unreadable {share}`",
            file=f"{mend}most_left_out = {share}",
        ),
    )
