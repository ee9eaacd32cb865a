"""Grouping by packed numbers gives the classes that a dictionary gives, in the order of the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.anonymity import grouping as module
from discreet.anonymity import read
from discreet.anonymity.columns import Codes, Whole
from discreet.anonymity.grouping import Grouping, group, grouped, pack
from support.examples import examples

Row = tuple[int, ...]

tables = st.integers(1, 5).flatmap(
    lambda width: st.tuples(
        st.lists(st.sampled_from([1, 2, 3, 1000, 1 << 20, (1 << 31) - 1]), min_size=width, max_size=width),
        st.lists(st.lists(st.integers(0, 7), min_size=width, max_size=width), max_size=30),
    )
)
limits = st.fixed_dictionaries(
    {
        "_CELLS": st.sampled_from([0, 4]),
        "_TABLE": st.sampled_from([3, 1 << 22]),
        "_CHUNK": st.sampled_from([1, 4, 1 << 22]),
        "_PART": st.sampled_from([1, 5, 1 << 16]),
        "_BITS": st.sampled_from([5, 63]),
    }
)
"""Of rows and cells, so that few rows are counted in every way that many are."""


def spread(raw: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[Row]:
    """Codes all over their range, so that packed numbers outgrow 63 bits and ranks are needed."""
    return [tuple(code * (size - 1) // 7 for code, size in zip(row, sizes, strict=True)) for row in raw]


def columns_of(rows: Sequence[Row], width: int) -> list[Codes]:
    """The rows, column by column."""
    return [np.array([row[place] for row in rows], dtype=np.int32) for place in range(width)]


def asked(found: Grouping, first: str) -> tuple[list[Row], list[int], list[int]]:
    """Tuples, counts, and the class of each row, asked for in one order or the other."""
    of_row: Whole | None = found.of_row() if first == "rows" else None
    classes, counts = [tuple(each) for each in found.tuples().tolist()], found.counts.tolist()
    assert found.number == len(classes)
    return classes, counts, (found.of_row() if of_row is None else of_row).tolist()


@examples(300)
@given(tables, limits, st.sampled_from(["counts", "rows"]))
@example(([1 << 20] * 3, [[0, 0, 0], [7, 7, 7], [0, 0, 0]]), {"_BITS": 63, "_CHUNK": 1}, "rows")
def test_classes_are_those_of_a_dictionary(
    table: tuple[list[int], list[list[int]]], limit: dict[str, int], first: str
) -> None:
    """In lexicographic order, with each row in its class, whatever is asked for first."""
    sizes, raw = table
    rows = spread(raw, sizes)
    expected = Counter(rows)
    with pytest.MonkeyPatch.context() as patch:
        for name, most in limit.items():
            patch.setattr(module, name, most)
        classes, counts, of_row = asked(group(columns_of(rows, len(sizes)), sizes), first)
    assert classes == sorted(expected)
    assert counts == [expected[row] for row in classes]
    assert [classes[place] for place in of_row] == rows


@given(tables, limits, st.sampled_from(["counts", "rows"]), st.data())
def test_rows_can_have_weights(
    table: tuple[list[int], list[list[int]]], limit: dict[str, int], first: str, data: st.DataObject
) -> None:
    """Also a weight of 0."""
    sizes, raw = table
    rows = spread(raw, sizes)
    weights = data.draw(st.lists(st.integers(0, 1 << 40), min_size=len(rows), max_size=len(rows)))
    sums: Counter[Row] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        sums[row] += weight
    with pytest.MonkeyPatch.context() as patch:
        for name, most in limit.items():
            patch.setattr(module, name, most)
        found = group(columns_of(rows, len(sizes)), sizes, np.array(weights, dtype=np.int64))
        classes, counts, of_row = asked(found, first)
    assert dict(zip(classes, counts, strict=True)) == dict(sums)
    assert [classes[place] for place in of_row] == rows


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.sampled_from("ab")), max_size=30))
def test_columns_of_a_table_are_grouped_as_their_codes_are(rows: list[tuple[int, str]]) -> None:
    """Also one that is named twice, and so many that their numbers are ranked."""
    records = read({"x": [x for x, _ in rows], "y": [y for _, y in rows], "z": list(range(len(rows)))})
    for names in (["x"], ["x", "y"], ["x", "y", "z", "z"], ["z", "x"] * 8):
        columns = [records.column(name) for name in names]
        classes, counts, of_row = asked(grouped(columns), "rows")
        keys = list(zip(*(column.codes.tolist() for column in columns), strict=True))
        assert classes == sorted(set(keys))
        assert counts == [keys.count(key) for key in classes]
        assert [classes[place] for place in of_row] == keys


def test_packed_numbers_stay_small_where_the_product_of_sizes_does_not() -> None:
    """Nine columns of 2^31 values fit into 63 bits, in order, and come back."""
    size = (1 << 31) - 1
    columns = [np.array([0, size - 1, 5], dtype=np.int32) for _ in range(9)]
    keys, packing = pack(columns, [size] * 9)
    assert packing.span <= 1 << 62
    assert (np.argsort(keys) == [0, 2, 1]).all()
    assert (packing.unpack(keys) == np.stack(columns, axis=1)).all()


@given(tables, st.integers(0, 30), st.integers(0, 30))
def test_keys_of_a_few_rows_are_those_of_all(table: tuple[list[int], list[list[int]]], start: int, stop: int) -> None:
    """In 32 bits or in 64."""
    sizes, raw = table
    keys, packing = pack(columns_of(spread(raw, sizes), len(sizes)), sizes)
    assert keys.dtype == np.int64
    assert packing.keys(slice(start, stop)).tolist() == keys[start:stop].tolist()
