"""Missing values as wildcards: among how many units each one hides.

Two rows agree if they have the same value in each column in which neither misses one. Agreeing isn't transitive, so
rows fall into no classes by it; but rows that are equal, missing values included, agree with the same rows. So each
class of equal rows gets what is held by all rows that agree with it. Rows are joined by which columns they miss: for
each two such patterns, on the columns that neither misses. There are few patterns in practice, and no two rows are ever
compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Whole
from discreet.anonymity.grouping import group, starts_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Held:
    """How many rows of each class hold each value: one entry per class and value, ordered by class, then by value.

    Args:
        classes: for each entry, the class.
        values: for each entry, the code of the value.
        counts: for each entry, the rows.
        span: codes of values are below this.
    """

    classes: Whole
    values: Codes
    counts: Whole
    span: int


def hiding_places(columns: Sequence[Coded], tuples: Codes, rows: Whole) -> Whole:
    """For each class, how many rows agree with it, its own included."""
    own = Held(classes=np.arange(len(rows)), values=np.zeros(len(rows), dtype=np.int32), counts=rows, span=1)
    return pooled(columns, tuples, own).counts


def pooled(columns: Sequence[Coded], tuples: Codes, held: Held) -> Held:
    """The entries held by the rows that agree with each class.

    Args:
        columns: the quasi-identifiers.
        tuples: classes × columns, as codes.
        held: by the rows of each class; one entry or more for each.
    """
    parts = list(_joined(columns, tuples, held))
    classes = np.concatenate([part.classes for part in parts]) if parts else held.classes
    values = np.concatenate([part.values for part in parts]) if parts else held.values
    counts = np.concatenate([part.counts for part in parts]) if parts else held.counts
    found = group([classes.astype(np.int32), values], [len(tuples), held.span], counts)
    codes = found.tuples()
    return Held(classes=codes[:, 0].astype(np.int64), values=codes[:, 1].copy(), counts=found.counts, span=held.span)


def _joined(columns: Sequence[Coded], tuples: Codes, held: Held) -> Iterator[Held]:
    """For each two patterns of missing columns: what the classes of the one find among those of the other."""
    patterns, of_class = _patterns(columns, tuples)
    for mine in range(len(patterns)):
        seekers = np.flatnonzero(of_class == mine)
        for other in range(len(patterns)):
            shared = np.flatnonzero(~(patterns[mine] | patterns[other])).tolist()
            found = of_class[held.classes] == other
            part = Held(
                classes=held.classes[found], values=held.values[found], counts=held.counts[found], span=held.span
            )
            yield _join(tuples[:, shared], [columns[place].size for place in shared], seekers, part)


def _patterns(columns: Sequence[Coded], tuples: Codes) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]], Whole]:
    """The sets of columns that some class misses (patterns × columns), and which of them each class has."""
    last = np.array([column.size - 1 if column.has_missing else -1 for column in columns])
    missing = tuples == last
    patterns, of_class = np.unique(missing, axis=0, return_inverse=True)
    return patterns, of_class.reshape(-1).astype(np.int64)


def _join(tuples: Codes, sizes: Sequence[int], seekers: Whole, held: Held) -> Held:
    """Pool, for these classes, the entries that agree with them on all of these columns."""
    alike = np.zeros(len(tuples), dtype=np.int32)
    if sizes:
        alike = group([tuples[:, place] for place in range(len(sizes))], sizes).of_row().astype(np.int32)
    found = group([alike[held.classes], held.values], [len(tuples), held.span], held.counts)
    codes, counts = found.tuples(), found.counts
    starts = starts_of(codes[:, 0])
    present, ends = codes[starts, 0], np.append(starts[1:], len(codes))
    wanted = alike[seekers]
    place = np.searchsorted(present, wanted)
    hit = np.zeros(len(wanted), dtype=np.bool_)
    inside = place < len(present)
    hit[inside] = present[place[inside]] == wanted[inside]
    seekers, place = seekers[hit], place[hit]
    lengths = ends[place] - starts[place]
    begin = np.repeat(starts[place] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    chosen = begin + np.arange(int(lengths.sum()))
    return Held(classes=np.repeat(seekers, lengths), values=codes[chosen, 1], counts=counts[chosen], span=held.span)
