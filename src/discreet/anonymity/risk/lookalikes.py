"""Columns that were read as texts, and look like numbers or dates."""

from __future__ import annotations

from discreet.anonymity.hierarchies.lookalikes import dotted_days, has_decimal_commas
from discreet.anonymity.hierarchies.texts import present
from discreet.anonymity.records.records import Records

DATES, NUMBERS = "dates with dots", "numbers with decimal commas"


def lookalikes_of(records: Records) -> dict[str, str]:
    """What columns of texts look like that all seem to be dates or numbers, by column.

    Examples:
        >>> from discreet.anonymity import read
        >>> lookalikes_of(read({"born": ["29.02.1984", "1.3.1984"], "pay": ["1.200,50", None], "zip": ["1", "2"]}))
        {'born': 'dates with dots', 'pay': 'numbers with decimal commas'}
    """
    found = {}
    for name, column in records.columns.items():
        values = present(column)
        if dotted_days(values) is not None:
            found[name] = DATES
        elif has_decimal_commas(values):
            found[name] = NUMBERS
    return found
