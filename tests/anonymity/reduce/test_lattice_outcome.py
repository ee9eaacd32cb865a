"""Which rows are left out, however many combinations of groups there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Ladder
from discreet.anonymity.reduce import lattice_table as module
from discreet.anonymity.reduce.lattice_table import Outcome
from support.examples import examples

SIZE = 60
"""Of every column: six of them have 2^35 combinations, eleven more than 2^62."""


def ladder() -> Ladder:
    """Values, and pairs of them."""
    one, two = np.arange(SIZE, dtype=np.int32), (np.arange(SIZE) // 2).astype(np.int32)
    return Ladder(name="q", maps=(one, two), labels=(tuple(map(str, one)), tuple(map(str, two[::2]))))


@examples(60)
@given(st.sampled_from([1, 3, 6, 12]), st.data())
def test_rows_of_classes_that_are_left_out_are(columns: int, data: st.DataObject) -> None:
    """By a small table, a search or ranks, in pieces or at once: the same as row by row."""
    levels = tuple(data.draw(st.integers(0, 1)) for _ in range(columns))
    row = st.tuples(*(st.sampled_from([0, 1, 2, 58, 59]) for _ in range(columns)))
    rows = data.draw(st.lists(row, min_size=1, max_size=20))
    groups = [tuple(code >> level for code, level in zip(each, levels, strict=True)) for each in rows]
    gone = sorted(data.draw(st.sets(st.sampled_from(groups))))
    outcome = Outcome(
        levels=levels,
        ladders=(ladder(),) * columns,
        left_out=np.array(gone, np.int32).reshape(len(gone), columns),
    )
    codes = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", data.draw(st.sampled_from([3, 1 << 16])))
        patch.setattr(module, "_TABLE", data.draw(st.sampled_from([0, 1 << 24])))
        patch.setattr(module, "_SIEVE", data.draw(st.sampled_from([1, 21])))
        assert outcome.kept(codes).tolist() == [group not in gone for group in groups]
