"""Codes against a loop over cells, however a column is cut into chunks and whatever their dictionaries list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import columns as columns_of_codes
from discreet.anonymity import encode as encoding
from discreet.anonymity import read
from discreet.anonymity.columns import Coded, Value
from discreet.anonymity.encode import encode
from discreet.errors import SourceUnsupported
from support.examples import examples

KINDS: list[tuple[pa.DataType, list[Value]]] = [
    (pa.string(), ["b", "a", "", "ä", "c"]),
    (pa.large_string(), ["x", "y"]),
    (pa.int64(), [3, -1, 2**40]),
    (pa.float64(), [0.0, -0.0, float("nan"), 1.5, -2.0]),
    (pa.bool_(), [True, False]),
]
INDICES = [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]


@dataclass(frozen=True)
class Chunk:
    """A chunk of a column: what its dictionary lists, perhaps a missing value and one twice, and the rows' places."""

    listed: list[Value]
    places: list[int | None]
    skipped: int

    def array(self, values: pa.DataType, indices: pa.DataType) -> pa.DictionaryArray:
        """As Arrow has it; rows that are skipped stay in front of it in memory."""
        places, listed = pa.array(self.places, indices), pa.array(self.listed, values)
        return pa.DictionaryArray.from_arrays(places, listed).slice(self.skipped)

    def cells(self) -> list[Value]:
        """Of each row, its value; NaN is a missing one, and zero has no sign."""
        held = [None if place is None else self.listed[place] for place in self.places[self.skipped :]]
        return [None if isinstance(cell, float) and isnan(cell) else cell for cell in held]


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.DataType, pa.DataType, list[Chunk]]:
    """Chunks with dictionaries of their own, of which some follow one with the same."""
    values, cells = draw(st.sampled_from(KINDS))
    chunks: list[Chunk] = []
    for _ in range(draw(st.integers(1, 4))):
        listed = draw(st.lists(st.sampled_from([*cells, None]), min_size=1, max_size=6))
        if chunks and draw(st.booleans()):
            listed = chunks[-1].listed
        places = draw(st.lists(st.one_of(st.none(), st.integers(0, len(listed) - 1)), max_size=8))
        chunks.append(Chunk(listed=listed, places=places, skipped=draw(st.integers(0, len(places)))))
    return values, draw(st.sampled_from(INDICES)), chunks


def check(column: Coded, cells: Sequence[Value]) -> None:
    """Values, their order, codes and counts are those of the cells."""
    known = sorted({cell for cell in cells if cell is not None}, key=lambda cell: cell)  # type: ignore[type-var, arg-type, return-value]  # of one kind
    labels = (*known, None) if None in cells else tuple(known)
    assert column.labels() == labels
    assert column.has_missing == (None in cells)
    assert column.counts().tolist() == [Counter(cells)[label] for label in labels]
    assert column.rows == len(cells)
    for start in range(len(cells)):
        part = column.stored[start : start + 3]
        assert [labels[code] for code in part.tolist()] == list(cells[start : start + 3])
    assert column.codes.dtype == np.int32
    assert [labels[code] for code in column.codes.tolist()] == list(cells)
    assert column.stored is column.codes


@examples(300)
@given(columns(), st.sampled_from([1, 3, 1 << 16]))
def test_codes_are_those_of_the_cells(column: tuple[pa.DataType, pa.DataType, list[Chunk]], part: int) -> None:
    """As they are stored, and as plain values."""
    values, indices, chunks = column
    cells = [cell for chunk in chunks for cell in chunk.cells()]
    encoded = pa.chunked_array([chunk.array(values, indices) for chunk in chunks])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_PART", part)
        patch.setattr(columns_of_codes, "_RECODED", part)
        check(encode("x", encoded), cells)
        check(encode("x", pa.chunked_array([chunk.cast(values) for chunk in encoded.chunks])), cells)


texts = st.lists(st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=6), min_size=1, max_size=4)


@given(
    texts,
    st.sampled_from([pl.Categorical(), pl.Enum(["", "z", "c", "b", "a"])]),
    st.booleans(),
    st.sampled_from([2, 99]),
)
def test_categories_of_polars(chunks: list[list[str | None]], kind: pl.DataType, other: bool, part: int) -> None:
    """Chunk by chunk, with codes that other columns take part in numbering."""
    if other:
        pl.Series(["other", "c"]).cast(pl.Categorical)
    column, *others = [pl.Series("x", chunk, dtype=pl.String).cast(kind) for chunk in chunks]
    for each in others:
        column.append(each)
    assert column.n_chunks() >= sum(map(bool, chunks))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("discreet.tables.sources.frames"), "_PART", part)
        found = read(column.to_frame().lazy())
    check(found.column("x"), [cell for chunk in chunks for cell in chunk])


def test_what_pandas_writes_into_its_categories_later_is_not_read() -> None:
    """It lends its codes to Arrow."""
    codes = np.array([0, 1, 0], dtype=np.int8)
    frame = pd.DataFrame({"sex": pd.Categorical.from_codes(codes, ["F", "M"])}, copy=False)
    found = read(frame)
    codes[:] = 1 - codes
    assert frame["sex"].tolist() == ["M", "F", "M"]
    assert found.to_arrow()["sex"].to_pylist() == ["F", "M", "F"]


@pytest.mark.parametrize("place", [-1, 2, 3])
def test_a_row_with_a_category_that_is_not_listed_is_refused(place: int) -> None:
    """A file or a library may be wrong; no row is taken for another because of it."""
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, place, 1]), pa.array(["a", "b"]), safe=False)
    with pytest.raises(SourceUnsupported, match="'x' is damaged"):
        encode("x", damaged)


@pytest.mark.parametrize(
    "door",
    [
        lambda frame: frame,
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
        dict,
        lambda frame: pa.Table.from_pandas(frame).slice(0, 4),
    ],
    ids=["frame", "table", "batch", "columns", "slice"],
)
def test_what_is_written_after_reading_is_not_seen(door: Any) -> None:
    """Categories are what they were, whoever lends them: else k would grow, or a row move to another class."""
    frame = pd.DataFrame(
        {"a": [1, 1, 2, 2], "sex": pd.Categorical(["F", "M", "X", None], categories=["F", "M", "X", "Y"])}
    )
    table = read(door(frame), columns=["a", "sex"])
    frame.loc[0, "sex"] = "X"
    frame.loc[1, "sex"] = None
    frame.loc[2, "sex"] = "Y"
    column = table.column("sex")
    assert column.labels() == ("F", "M", "X", None)
    assert column.codes.tolist() == [0, 1, 2, 3]


def test_places_that_numpy_lends_are_copied() -> None:
    """Also where a table was made of them by hand, in 32 bits, which are codes as they are."""
    places = np.array([0, 1, 1], np.int32)
    table = read({"sex": pa.DictionaryArray.from_arrays(pa.array(places), ["F", "M"])})
    places[:] = 1
    assert table.column("sex").codes.tolist() == [0, 1, 1]


def test_a_place_behind_the_list_is_not_a_missing_value() -> None:
    """Beside a missing value, which has that place afterwards."""
    for place in (2, 2**40):
        damaged = pa.DictionaryArray.from_arrays(pa.array([0, place, None], pa.int64()), ["a", "b"], safe=False)
        with pytest.raises(SourceUnsupported, match="can't be read"):
            read({"x": damaged})


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("us"), pa.decimal128(5, 2), pa.float16()])
def test_no_rows_and_no_chunks_are_a_column(kind: pa.DataType) -> None:
    """Of any kind, listed or not."""
    for empty in (pa.nulls(0, kind), pa.chunked_array([], kind), pa.chunked_array([], pa.dictionary(pa.int8(), kind))):
        column = read(pa.table({"x": empty})).column("x")
        assert (column.rows, column.size, column.has_missing) == (0, 0, False)


def test_a_day_is_a_day_before_1970_too() -> None:
    """Dates in milliseconds that aren't midnights, which a cast rounds towards 1970; and short decimals."""
    moments = pa.array([-43_200_000, 0, None, 43_200_000], pa.int64()).view(pa.date64())
    column = read(pa.table({"day": moments})).column("day")
    assert column.labels() == (date(1969, 12, 31), date(1970, 1, 1), None)
    assert column.codes.tolist() == [0, 1, 2, 1]


def test_chunks_of_pandas_own_arrow_kinds_are_read() -> None:
    """With dictionaries that can't be made one, and with no chunk at all."""
    many = [pa.array([f"v{place}" for place in range(start, start + 100)]) for start in (0, 100)]
    chunks = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), each) for each in many])
    for column, rows in ((chunks, 200), (pa.chunked_array([], chunks.type), 0)):
        frame = pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(column))})
        assert read(frame).column("x").size == rows
