"""Cells against sets of values, and what becomes of cells that don't occur or look alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.reduce.recoding import Cells, GroupedCells, ListedCells, RangeCells, Recoded, Recoding
from discreet.errors import InvalidArgument


@st.composite
def made(draw: st.DrawFn) -> tuple[Cells, list[set[int]], int]:
    """Cells of any form, the same as sets, and how many values the column has."""
    size = draw(st.integers(1, 7))
    form = draw(st.sampled_from(["grouped", "range", "listed"]))
    if form == "grouped":
        groups = draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))
        used = sorted({group for group in groups if group >= 0})
        codes = np.array([used.index(group) if group >= 0 else -1 for group in groups], np.int32)
        sets = [{code for code in range(size) if codes[code] == cell} for cell in range(len(used))]
        return GroupedCells(name="x", labels=_labels(len(used)), groups=codes), sets, size
    if form == "range":
        ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).map(sorted)
        ranges = draw(st.lists(ends, max_size=4))
        low, high = (np.array([pair[i] for pair in ranges], np.int32) for i in (0, 1))
        sets = [set(range(a, b + 1)) for a, b in ranges]
        return RangeCells(name="x", labels=_labels(len(sets)), low=low, high=high, size=size), sets, size
    sets = draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), max_size=4))
    return ListedCells.of("x", _labels(len(sets)), [sorted(held, reverse=True) for held in sets]), sets, size


def _labels(number: int) -> tuple[str, ...]:
    """Distinct, and not in order."""
    return tuple(f"{(7 * place) % 5}-{place}" for place in range(number))


def agree(cells: Cells, sets: Sequence[set[int]], size: int) -> None:
    """What cells say is what the sets say."""
    weights = np.array([3**code for code in range(size)])
    low, high = cells.ends()
    assert len(cells.labels) == len(sets)
    assert cells.sums(weights).tolist() == [sum(3**code for code in held) for held in sets]
    assert (low.tolist(), high.tolist()) == ([min(held) for held in sets], [max(held) for held in sets])
    for cell, held in enumerate(sets):
        assert cells.covered(cell).tolist() == sorted(held)
    for code in range(size):
        assert cells.covering(code).tolist() == [cell for cell, held in enumerate(sets) if code in held]


@given(made(), st.data())
def test_cells_are_sets_of_values(case: tuple[Cells, list[set[int]], int], data: st.DataObject) -> None:
    """In all three forms, and for any choice of them."""
    cells, sets, size = case
    agree(cells, sets, size)
    chosen = data.draw(st.permutations(range(len(sets)))) if sets else []
    chosen = chosen[: data.draw(st.integers(0, len(chosen)))]
    agree(cells.only(np.array(chosen, np.int64)), [sets[cell] for cell in chosen], size)


@given(made(), st.data())
def test_tidied_cells_occur_in_order_and_look_different(
    case: tuple[Cells, list[set[int]], int], data: st.DataObject
) -> None:
    """What looks alike is one, and stands for the values of both."""
    _, sets, _ = case
    if not sets:
        return
    labels = tuple(data.draw(st.lists(st.sampled_from("abc"), min_size=len(sets), max_size=len(sets))))
    listed = ListedCells.of("x", labels, [sorted(held) for held in sets])
    codes = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=8))
    kept = data.draw(st.lists(st.booleans(), min_size=len(codes), max_size=len(codes)))
    found = Recoded(codes=np.array(codes, np.int32), cells=listed).tidied(np.array(kept))
    shown = [labels[code] for code, keep in zip(codes, kept, strict=True) if keep]
    assert [found.cells.labels[code] for code in found.codes] == shown
    assert list(found.cells.labels) == sorted(set(shown))
    for place, label in enumerate(found.cells.labels):
        alike = {code for code, keep in zip(codes, kept, strict=True) if keep and labels[code] == label}
        assert set(found.cells.covered(place).tolist()) == set().union(*(sets[cell] for cell in alike))


@pytest.mark.parametrize(
    "make",
    [
        lambda: GroupedCells(name="x", labels=("a", "b"), groups=np.array([0, 0], np.int32)),
        lambda: GroupedCells(name="x", labels=("a",), groups=np.array([0, 1], np.int32)),
        lambda: RangeCells(name="x", labels=("a",), low=np.array([2], np.int32), high=np.array([1], np.int32), size=3),
        lambda: RangeCells(name="x", labels=("a",), low=np.array([0], np.int32), high=np.array([3], np.int32), size=3),
        lambda: RangeCells(name="x", labels=(), low=np.array([0], np.int32), high=np.array([0], np.int32), size=3),
        lambda: ListedCells.of("x", ("a",), [[]]),
        lambda: Recoding(columns={}, kept=np.array([True])),
    ],
)
def test_cells_stand_for_something(make: object) -> None:
    """A cell without values, or values without a cell, is an error."""
    assert callable(make)
    with pytest.raises(InvalidArgument):
        make()


def test_a_recoding_counts_what_it_leaves_out() -> None:
    """And all of its columns have its rows."""
    cells = GroupedCells(name="x", labels=("a",), groups=np.array([0], np.int32))
    column = Recoded(codes=np.zeros(3, np.int32), cells=cells)
    assert Recoding(columns={"x": column}, kept=np.array([True, False, False])).suppressed == 2
    with pytest.raises(InvalidArgument, match="as many rows"):
        Recoding(columns={"x": column}, kept=np.array([True]))
