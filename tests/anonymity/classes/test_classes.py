"""Classes of categories, read where they are stored, against counting rows one by one."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.classes import Classes, classes_of
from discreet.anonymity.columns import Value

cells = st.sampled_from(["a", "b", "c", None])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.tuples(*[cells] * width), max_size=8), min_size=1, max_size=3).map(
        lambda chunks: ([f"q{place}" for place in range(width)], chunks)
    )
)


def sizes(found: Classes) -> dict[tuple[Value, ...], int]:
    """Of each class, its values and how many rows it has."""
    labels = [column.labels() for column in found.columns]
    shown = [tuple(each[code] for each, code in zip(labels, row, strict=True)) for row in found.tuples.tolist()]
    assert len(set(shown)) == len(shown)
    return dict(zip(shown, found.sizes.tolist(), strict=True))


@given(tables, st.sampled_from([pl.Categorical(), pl.Enum(["c", "b", "z", "a"])]))
def test_a_lazy_frame_of_categories(
    table: tuple[list[str], list[list[tuple[str | None, ...]]]], kind: pl.DataType
) -> None:
    """In several chunks, with missing values and with categories that no row has."""
    names, chunks = table
    frames = [pl.DataFrame(chunk, schema=dict.fromkeys(names, pl.String), orient="row") for chunk in chunks]
    whole, *others = [frame.cast(kind) for frame in frames]
    for each in others:
        whole = whole.vstack(each)
    assert sizes(classes_of(read(whole.lazy(), columns=names), names)) == Counter(
        row for chunk in chunks for row in chunk
    )


@given(tables)
def test_chunks_with_dictionaries_of_their_own(table: tuple[list[str], list[list[tuple[str | None, ...]]]]) -> None:
    """The same category has another place in each."""
    names, chunks = table
    encoded = {
        name: pa.chunked_array(
            [pa.array([row[place] for row in chunk], pa.string()).dictionary_encode() for chunk in chunks]
        )
        for place, name in enumerate(names)
    }
    assert sizes(classes_of(read(pa.table(encoded)), names)) == Counter(row for chunk in chunks for row in chunk)
