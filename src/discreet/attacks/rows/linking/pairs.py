"""The pairs of a person and a row that are worth comparing: those that are near in all columns, or all but one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymity.records.column import Reals, Whole
from discreet.anonymity.records.distinct import distinct
from discreet.anonymity.records.grouping import group
from discreet.anonymity.records.records import Records
from discreet.attacks.rows.linking.compared import Compared
from discreet.attacks.targets.joining import expand, join
from discreet.attacks.targets.tally import summed

_MOST_PAIRS = 1 << 22
"""More pairs than this aren't compared: the columns that remain don't tell people apart."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pairs:
    """The pairs that are compared, each once.

    Args:
        person: of each pair.
        row: of each pair.
        score: of each pair.
        skipped: see the result.
    """

    person: Whole
    row: Whole
    score: Reals
    skipped: tuple[str, ...]

    @classmethod
    def of(cls, known: Records, rows: Records, columns: Mapping[str, Compared]) -> Pairs:
        """Find and score them."""
        keys, skipped = [np.zeros(0, dtype=np.int64)], []
        for names in _blocks(list(columns)):
            found = _together(known, rows, columns, names)
            if found is None:
                skipped.append(", ".join(sorted(set(columns) - set(names))))
            else:
                keys.append(found)
        person, row = np.divmod(distinct(np.concatenate(keys)), max(rows.rows, 1))
        score = np.zeros(len(person))
        for name, column in columns.items():
            one, other = known.column(name).codes[person], rows.column(name).codes[row]
            score += column.score(one.astype(np.int64), other.astype(np.int64))
        return cls(person=person, row=row, score=score, skipped=tuple(skipped))


def _blocks(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All columns, and all but each one."""
    yield tuple(names)
    if len(names) > 1:
        yield from combinations(names, len(names) - 1)


def _together(known: Records, rows: Records, columns: Mapping[str, Compared], names: Sequence[str]) -> Whole | None:
    """The pairs that are near in these columns, as person × rows + row; None if there are too many."""
    sides = []
    for table in (known, rows):
        taken = [table.column(name) for name in names]
        sides.append(group([column.codes for column in taken], [column.size for column in taken]))
    left, right = sides
    if _rough(known, rows, columns, names) > _MOST_PAIRS:
        return None
    joined = join(left.tuples(), right.tuples(), [columns[name].near for name in names])
    kinds = np.repeat(np.arange(left.number), np.diff(joined.starts))
    if int((left.counts[kinds] * right.counts[joined.right]).sum()) > _MOST_PAIRS:
        return None
    orders = [np.argsort(side.of_row(), kind="stable") for side in sides]
    starts = [np.concatenate(([0], np.cumsum(side.counts))) for side in sides]
    pair, person = expand(starts[0], kinds)
    owner, row = expand(starts[1], joined.right[pair])
    return orders[0][person[owner]] * max(rows.rows, 1) + orders[1][row]


def _rough(known: Records, rows: Records, columns: Mapping[str, Compared], names: Sequence[str]) -> float:
    """How many pairs there would be if columns had nothing to do with each other, or 0 if they may have much.

    It only spares a join that is hopeless by a factor of a hundred; the exact number is looked at afterwards.
    """
    share = 1.0
    for name in names:
        mine, theirs = known.column(name).counts(), rows.column(name).counts()
        one, other = columns[name].near.pairs()
        met = summed(one, theirs[other], len(mine))
        share *= float((met * mine).sum()) / max(known.rows * rows.rows, 1)
    return share * known.rows * rows.rows / 100
