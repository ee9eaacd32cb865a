"""From coded columns to a table that may leave the house: sorted by all its columns, so that no order is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records.column import Codes, Whole
from discreet.anonymity.records.grouping import group
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


def released(columns: Mapping[str, tuple[Codes, Sequence[str] | pa.Array]], *, encoded: bool = False) -> pa.Table:
    """A table of these columns, its rows sorted by all of them, first column first.

    Guarantee: it is a function of the multiset of rows and of the order of the labels. Rows that look alike are alike,
    so nothing of the order they came in is left; there is no index; and a label that no row has is nowhere in it.

    Proof. Rows are sorted by where each label stands first in its list. Rows that tie agree in every cell.

    Args:
        columns: name → a code for each row, and what each code is shown as, in the order to sort by: texts, or an Arrow
            array whose type the column then has. One or more columns, of the same length.
        encoded: whether texts stay dictionary-encoded: 4 bytes a cell, and a category for pandas and Polars.

    Raises:
        InvalidArgument: no column, columns of different lengths, or too few labels.

    Examples:
        >>> table = released({
        ...     "age": (np.array([1, 0, 1], np.int32), ["20–29", "30–39"]),
        ...     "sex": (np.array([1, 0, 0], np.int32), ["F", "M"]),
        ... })
        >>> table.to_pylist()
        [{'age': '20–29', 'sex': 'F'}, {'age': '30–39', 'sex': 'F'}, {'age': '30–39', 'sex': 'M'}]
    """
    return released_in_order(columns, encoded=encoded)[0]


def released_in_order(
    columns: Mapping[str, tuple[Codes, Sequence[str] | pa.Array]], *, encoded: bool = False
) -> tuple[pa.Table, Callable[[], Whole]]:
    """The same, and what says of each row of the table one that it was made from: for whoever makes it, not a reader.

    Raises:
        InvalidArgument: as `released`.
    """
    import pyarrow as pa

    if len({len(codes) for codes, _ in columns.values()}) != 1:
        raise InvalidArgument("a release needs one or more columns, all with the same number of rows")
    merged = [_merged(name, codes, labels) for name, (codes, labels) in columns.items()]
    found = group([codes for codes, _ in merged], [len(labels) for _, labels in merged])
    tuples, row = found.tuples(), np.repeat(np.arange(found.number), found.counts)
    made = {}
    for place, (name, (_, labels)) in enumerate(zip(columns, merged, strict=True)):
        occurs = np.zeros(len(labels), dtype=np.bool_)
        occurs[tuples[:, place]] = True
        shown = labels.take(pa.array(np.flatnonzero(occurs)))
        cells = np.take((np.cumsum(occurs) - 1).astype(np.int32)[tuples[:, place]], row)
        as_codes = encoded and pa.types.is_string(labels.type) and not shown.null_count
        made[name] = pa.DictionaryArray.from_arrays(cells, shown) if as_codes else shown.take(pa.array(cells))
    return pa.table(made), lambda: np.argsort(found.of_row(), kind="stable")


def _merged(name: str, codes: Codes, labels: Sequence[str] | pa.Array) -> tuple[Codes, pa.Array]:
    """The codes and labels of a column, equal labels as one: the first.

    Raises:
        InvalidArgument: a code has no label.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(labels):
        raise InvalidArgument(f"a code of column {name!r} has no label")
    known = labels if isinstance(labels, pa.Array) else pa.array(list(labels), pa.string())
    once = pc.dictionary_encode(known, null_encoding="encode")
    if len(once.dictionary) == len(known):
        return codes, known
    return np.asarray(once.indices).astype(np.int32)[codes], once.dictionary
