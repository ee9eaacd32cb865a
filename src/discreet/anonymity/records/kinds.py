"""What the texts of a CSV column are: numbers, dates, truth values, or texts after all."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
"""Whole numbers as a person writes them. 00501 is a ZIP code, so a leading zero keeps a column text."""
_DECIMAL = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?$"
_DATE = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$"


def typed(column: pa.DictionaryArray, null_texts: Sequence[str]) -> pa.DictionaryArray:
    """The column with its texts read, if all of them can be read as one kind; else with the texts, trimmed.

    Only the different texts are looked at, never the rows.

    Args:
        column: dictionary-encoded texts.
        null_texts: which of them, once trimmed, stand for a missing value.

    Examples:
        >>> import pyarrow as pa
        >>> typed(pa.array([" 41", "7", "?"]).dictionary_encode(), ["?"]).to_pylist()
        [41, 7, None]
        >>> typed(pa.array(["02139", "10001"]).dictionary_encode(), [""]).to_pylist()
        ['02139', '10001']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column.dictionary)
    nulls = pc.is_in(texts, value_set=pa.array(list(null_texts), texts.type))
    texts = pc.if_else(nulls, pa.scalar(None, texts.type), texts)
    return pa.DictionaryArray.from_arrays(column.indices, _read(texts))


def _read(texts: pa.Array) -> pa.Array:
    """The texts as the narrowest kind that all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return texts
    for pattern, kind in ((_INTEGER, pa.int64()), (_DECIMAL, pa.float64()), (_DATE, pa.date32())):
        if bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py()):
            try:
                read = texts.cast(kind)
            except pa.ArrowInvalid:  # the 30th of February, say
                return texts
            return read if _kept_apart(texts, read) else texts
    lower = pc.utf8_lower(texts)
    truths = pc.is_in(lower, value_set=pa.array(["true", "false", None], lower.type))
    return pc.equal(lower, "true") if pc.all(truths).as_py() else texts


def _kept_apart(texts: pa.Array, read: pa.Array) -> bool:
    """Whether different numbers are still different once they are read.

    Doubles hold 15 digits, and not always more: rows would look alike that don't.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    real = pc.add(read, 0.0) if pa.types.is_floating(read.type) else read  # −0 + 0 is 0, as it is to `Decimal`
    few, many = pc.count_distinct(real).as_py(), pc.count_distinct(texts).as_py()
    return bool(few == many or few == len(set(map(Decimal, texts.drop_null().to_pylist()))))
