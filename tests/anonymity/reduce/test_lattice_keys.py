"""Keys of several columns: they hold what was put in, in order, and roll up to what grouping afresh would find."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.reduce import lattice_keys as module
from discreet.anonymity.reduce import lattice_problem as stores
from discreet.anonymity.reduce.lattice_keys import WORD, Keys, Roller, blocks_of, fields_of
from discreet.anonymity.reduce.lattice_problem import Store
from support.examples import examples


@cache
def ladder(size: int, *steps: int) -> Ladder:
    """Values whose number is divided by ever more."""
    maps = [np.arange(size, dtype=np.int32)]
    maps.extend((np.arange(size) // step).astype(np.int32) for step in steps)
    labels = tuple(tuple(map(str, range(int(groups.max()) + 1))) for groups in maps)
    return Ladder(name="q", maps=tuple(maps), labels=labels)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Ladder], int, list[tuple[int, ...]], list[int], list[int] | None]:
    """Ladders, sensitive values, tuples and their weights; some so wide that keys need several words."""
    number = draw(st.integers(1, 6))
    sizes = [draw(st.sampled_from([2, 3, 9, 700, 9000])) for _ in range(number)]
    if draw(st.booleans()):
        sizes = [9000] * 6
    ladders = [ladder(size, 2, draw(st.sampled_from([4, 20, 9000]))) for size in sizes]
    last = draw(st.sampled_from([0, 0, 1, 4]))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes), *([st.integers(0, last - 1)] if last else []))
    rows = draw(st.lists(row, min_size=1, max_size=30))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    others = None
    if not last and draw(st.booleans()):
        others = draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    return ladders, last, rows, weights, others


def expected(
    ladders: list[Ladder], levels: tuple[int, ...], rows: list[tuple[int, ...]], weights: list[int]
) -> dict[tuple[int, ...], int]:
    """Counted by hand, in order."""
    counted: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        groups = [int(each.maps[level][code]) for each, level, code in zip(ladders, levels, row, strict=False)]
        counted[(*groups, *row[len(ladders) :])] += weight
    return dict(sorted(counted.items()))


def told(keys: Keys, last: int) -> list[tuple[int, ...]]:
    """The tuples of keys."""
    places = [*range(len(keys.levels)), *([len(keys.levels)] if last else [])]
    columns = [keys.codes(place, slice(None)).tolist() for place in places]
    return list(zip(*columns, strict=True))


@examples(150)
@given(tables(), st.data())
def test_rolling_up_is_grouping_afresh(
    case: tuple[list[Ladder], int, list[tuple[int, ...]], list[int], list[int] | None], data: st.DataObject
) -> None:
    """Over any way up, with sensitive values or a population beside the rows, in one word or several."""
    ladders, last, rows, weights, others = case
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    counts = [np.array(weights, np.int64), *([] if others is None else [np.array(others, np.int64)])]
    roller = Roller(ladders, [last] if last else [])
    keys = roller.bottom(columns, counts)
    for _ in range(3):
        held = expected(ladders, keys.levels, rows, weights)
        assert told(keys, last) == list(held)
        assert keys.weights[0].tolist() == list(held.values())
        if others is not None:
            assert keys.weights[1].tolist() == list(expected(ladders, keys.levels, rows, others).values())
        keys = roller.up(keys, tuple(data.draw(st.integers(low, 2)) for low in keys.levels))


@given(st.lists(st.integers(0, 2**31), min_size=1, max_size=12))
def test_fields_fit_into_words_and_do_not_overlap(sizes: list[int]) -> None:
    """Each code has its bits; the first field is the highest of the first word."""
    blocks = blocks_of(sizes)
    fields = fields_of(sizes, blocks)
    assert sum(blocks) == len(sizes)
    assert [size for field in fields for size in field.sizes] == [max(size, 1) for size in sizes]
    for one, other in pairwise(fields):
        assert (one.word, -one.shift) <= (other.word, -other.shift)
        assert one.word < other.word or one.shift == other.shift + other.bits
    for field in fields:
        assert field.shift + field.bits <= WORD
        assert int(np.prod([float(size) for size in field.sizes])) <= 1 << field.bits


def test_a_store_forgets_and_stays_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little it may keep."""
    ladders = [ladder(9, 2, 4), ladder(9, 3, 9)]
    rows = list(product(range(9), range(9)))
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    nodes = list(product(range(3), range(3)))
    for most in (0, 10, 60):
        monkeypatch.setattr(stores, "_MOST_KEYS", most)
        store = Store(Roller(ladders).bottom(columns, [np.ones(81, np.int64)]), Roller(ladders))
        for levels in [*nodes, *reversed(nodes)]:
            assert told(store.at(levels), 0) == list(expected(ladders, levels, rows, [1] * 81))


def test_tables_and_sorting_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way to count is a matter of speed alone."""
    rows = [(i % 7, i % 5) for i in range(60)]
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    weights = [np.arange(1, 61, dtype=np.int64)]
    roller = Roller([ladder(7, 2), ladder(5, 2)])
    quick = roller.bottom(columns, weights)
    monkeypatch.setattr(module, "_CELLS", 0)
    monkeypatch.setattr(module, "_FEW", 0)
    slow, both = roller.bottom(columns, weights), roller.bottom(columns, [*weights, *weights])
    for other in (slow, both):
        assert quick.words[0].tolist() == other.words[0].tolist()
        assert quick.weights[0].tolist() == other.weights[0].tolist()
