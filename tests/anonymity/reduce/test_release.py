"""A release depends on which rows there are and how labels are ordered, and on nothing else."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.reduce.deidentify import released
from discreet.errors import InvalidArgument

NAMES = "abc"
LABELS = ["10", "9", "é", "10", ""]
"""Not in the order of texts, and two alike."""


def coded(rows: list[tuple[int, ...]]) -> dict[str, tuple[np.ndarray[Any, Any], list[str]]]:
    """Three columns of codes into the labels."""
    return {
        name: (np.array([row[place] for row in rows], np.int32), LABELS[: 2 + place])
        for place, name in enumerate(NAMES)
    }


def serialised(table: pa.Table) -> bytes:
    """The table as bytes: values, types, metadata, chunks."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)), max_size=12)


@given(ROWS, st.booleans())
def test_it_is_the_sorted_rows(rows: list[tuple[int, ...]], encoded: bool) -> None:
    """Against Python's sort, by the places of labels in their list, of which the first counts where two are alike."""
    table = released(coded(rows), encoded=encoded)
    places = sorted(tuple(LABELS.index(LABELS[code]) for code in row) for row in rows)
    assert [tuple(row[name] for name in NAMES) for row in table.to_pylist()] == [
        tuple(LABELS[place] for place in row) for row in places
    ]
    assert table.column_names == list(NAMES)


@given(ROWS.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))), st.booleans())
def test_no_order_is_left(both: tuple[list[tuple[int, ...]], list[tuple[int, ...]]], encoded: bool) -> None:
    """Permuted rows give the same bytes."""
    first, second = (serialised(released(coded(rows), encoded=encoded)) for rows in both)
    assert first == second


def test_labels_that_no_row_has_are_nowhere() -> None:
    """The label of a row that was left out must not stay behind in a dictionary."""
    table = released({"a": (np.array([1, 1], np.int32), ["secret", "shown"])}, encoded=True)
    assert table.column("a").chunk(0).dictionary.to_pylist() == ["shown"]
    assert b"secret" not in serialised(table)


def test_other_kinds_keep_their_type() -> None:
    """Numbers, dates and missing values come out as they were; only texts are ever encoded."""
    codes = np.array([2, 0, 1], np.int32)
    table = released(
        {
            "n": (codes, pa.array([1.5, 2.5, None])),
            "d": (codes, pa.array([date(2020, 1, 1), date(2021, 1, 1), None])),
            "t": (codes, pa.array(["a", "b", None])),
        },
        encoded=True,
    )
    assert table.schema.types == [pa.float64(), pa.date32(), pa.string()]
    assert table.column("n").to_pylist() == [1.5, 2.5, None]
    assert table.column("t").to_pylist() == ["a", "b", None]


def test_many_columns_of_many_values() -> None:
    """More combinations than 64 bits can number."""
    size = 5000
    codes = np.arange(size, dtype=np.int32)
    columns = {f"c{place}": ((codes * (place + 1) + place) % size, pa.array(range(size))) for place in range(7)}
    table = released(columns)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    wanted = sorted(zip(*(codes.tolist() for codes, _ in columns.values()), strict=True))
    assert rows == wanted


def test_what_is_no_table_is_refused() -> None:
    """No columns, columns of different lengths, codes without labels."""
    one, two = np.zeros(1, np.int32), np.zeros(2, np.int32)
    for wrong in ({}, {"a": (one, ["x"]), "b": (two, ["x"])}, {"a": (one, [])}, {"a": (one - 1, ["x"])}):
        with pytest.raises(InvalidArgument):
            released(wrong)
