"""Texts that look like something else: dates with dots, and numbers with decimal commas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.anonymity.hierarchies.texts import is_text

if TYPE_CHECKING:
    import pyarrow as pa

_DOTTED = r"^(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>[1-9]\d{3})$"
_WITH_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"
_FIRST = 1000
"""So many texts nearly always tell that a column holds others."""


def dotted_days(values: pa.Array) -> pa.Array | None:
    """Texts such as 29.02.1984 or 1.3.1984 as dates, the day first; None unless all of them are such.

    Where dates are written with dots, the day stands first: no other reading is in use.

    Args:
        values: without a missing one.

    Examples:
        >>> import pyarrow as pa
        >>> dotted_days(pa.array(["29.02.1984", "1.3.1984"])).to_pylist()
        [datetime.date(1984, 2, 29), datetime.date(1984, 3, 1)]
        >>> dotted_days(pa.array(["30.02.1984"]))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _are_all(values, _DOTTED):
        return None
    parts = pc.extract_regex(values.cast(pa.string()), _DOTTED)
    year, month, day = (pc.utf8_lpad(parts.field(name), 2, padding="0") for name in ("year", "month", "day"))
    try:
        return pc.binary_join_element_wise(year, month, day, "-").cast(pa.date32())
    except pa.ArrowInvalid:  # the 30th of February, say
        return None


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
