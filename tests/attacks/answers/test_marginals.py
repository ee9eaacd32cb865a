"""Marginals: values, ranges and pairs of them are counted as anybody would by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.attacks.answers.marginals import MOST_RANGES, MOST_VALUES, Marginals, ranges
from discreet.errors import InvalidArgument

ROWS = st.integers(2, 12).flatmap(
    lambda rows: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=rows, max_size=rows), min_size=1, max_size=4
    )
)


@given(columns=ROWS, data=st.data())
def test_marginals_are_counted(columns: list[list[str | None]], data: st.DataObject) -> None:
    """Every value and every pair has the count that going through the people gives it; others don't exist."""
    table = read({f"c{place}": values for place, values in enumerate(columns)})
    kept = [name for name in table.names if table.column(name).size > 1]
    if not kept:
        with pytest.raises(InvalidArgument, match="one value only"):
            Marginals.of(table)
        return
    marginals = Marginals.of(table)
    rows = data.draw(st.lists(st.integers(0, table.rows - 1), max_size=6))
    assert marginals.columns == (*((name,) for name in kept), *combinations(kept, 2))
    counts = marginals.counts(np.array(rows, dtype=np.int64))
    values = {name: columns[int(name[1:])] for name in kept}
    labels = {name: table.column(name).labels() for name in kept}
    by_hand: list[int] = []
    for names in marginals.columns:
        held = Counter(tuple(values[name][row] for name in names) for row in rows)
        by_hand += [held[key] for key in product(*(labels[name] for name in names))]
    assert counts.tolist() == by_hand
    assert marginals.number == len(by_hand)
    weights = np.arange(len(rows), dtype=np.float64)
    alone = sum((marginals.counts(np.array([row])) * weight for row, weight in zip(rows, weights, strict=True)), 0.0)
    assert np.allclose(marginals.counts(np.array(rows, dtype=np.int64), weights), alone)


@given(
    different=st.sets(st.integers(0, 60) | st.none(), min_size=15, max_size=50),
    repeated=st.lists(st.integers(0, 60), max_size=50),
    heavy=st.integers(0, 100),
)
def test_many_values_are_cut(different: set[int | None], repeated: list[int], heavy: int) -> None:
    """A value's range follows from the rank of its middle row; ranges are numbered without gaps, missing ones last."""
    values = [*different, *repeated, *[7] * heavy]
    column = read({"n": values}).column("n")
    found = ranges(column)
    if column.size <= MOST_VALUES:
        assert found.tolist() == list(range(column.size))
        return
    held = sorted(value for value in values if value is not None)
    labels = [label for label in column.labels() if label is not None]
    ranks = [
        (sum(1 for other in held if other < label) + Fraction(held.count(label), 2)) / len(held) for label in labels
    ]
    tenths = [int(rank * MOST_RANGES) for rank in ranks]
    order = sorted(set(tenths))
    assert found.tolist()[: len(labels)] == [order.index(tenth) for tenth in tenths]
    assert len(order) <= MOST_RANGES
    if column.has_missing:
        assert found[-1] == len(order)


def test_codes_go_with_their_keys() -> None:
    """What is handed to others as numbers has all of its values among the keys."""
    people = read({"day": list(range(100)), "sex": ["F", "M"] * 50})
    marginals = Marginals.of(people)
    coded, keys = marginals.coded(np.arange(100)), marginals.keys()
    assert {name: sorted(set(coded[name].to_pylist())) for name in coded.column_names} == {
        name: list(each) for name, each in keys.items()
    }
    assert {name: len(each) for name, each in keys.items()} == {"day": 10, "sex": 2}
