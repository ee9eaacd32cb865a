"""Alias tables: each index gets exactly its share of all numbers, and the units of index 0 are numbered in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.noise.alias_table import AliasTable, alias_table


@st.composite
def weights(draw: st.DrawFn) -> NDArray[np.int64]:
    """2^k weights that add up to 2^(k + j), zeros and equal ones among them."""
    count = 2 ** draw(st.integers(0, 5))
    total = count * 2 ** draw(st.integers(0, 6))
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=count - 1, max_size=count - 1)))
    return np.diff(np.array([0, *cuts, total], dtype=np.int64))


def shares(table: AliasTable, *, bits: int, count: int) -> NDArray[np.int64]:
    """How many of all numbers pick each index."""
    return np.bincount(table.pick(np.arange(2**bits)), minlength=count)


@given(weights(), st.integers(0, 2))
def test_every_index_gets_its_share(weights: NDArray[np.int64], more: int) -> None:
    """Of all numbers, with as many bits as there are units or some more, weights[i] units pick i."""
    units = int(weights.sum()).bit_length() - 1
    table = alias_table(weights, units + more)
    assert (shares(table, bits=units + more, count=len(weights)) == weights << more).all()


@given(weights(), st.integers(0, 2))
def test_units_of_index_0_are_numbered(weights: NDArray[np.int64], more: int) -> None:
    """The numbers that pick 0 have the ranks from 0 to weights[0] − 1, each 2^more times."""
    bits = int(weights.sum()).bit_length() - 1 + more
    table = alias_table(weights, bits)
    numbers = np.arange(2**bits)
    ranks = table.ranks(numbers[table.pick(numbers) == 0])
    assert (ranks == np.repeat(np.arange(weights[0]), 2**more)).all()


def test_numbers_of_63_bits_are_picked_from() -> None:
    """The last number of all is picked from as any other: nothing is beyond int64."""
    table = alias_table(np.array([1, 5, 2, 8]), 63)
    assert table.last.max() == 2**63 - 1
    assert table.pick(np.array([2**63 - 1])).tolist() == [3]


def test_a_table_that_is_one_off_is_noticed() -> None:
    """Wrong twins: one border moved by a number, and one alias that is its neighbour."""
    weights = np.array([1, 5, 2, 8])
    right = alias_table(weights, 4)
    last, indices = right.last.copy(), right.indices.copy()
    last[0] += 1
    indices[1] -= 1
    for wrong in (replace(right, last=last), replace(right, indices=indices)):
        assert (shares(wrong, bits=4, count=4) != weights).any()
