"""Comparing kinds of people with classes of rows: which are near in all columns, or in all but one, and how near.

People who are known alike are of one kind, and rows that look alike of one class, so a kind is compared with a class
once. What is near in all columns but one is found by joining on the others, for each column that may be the one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymity.records.column import Codes, Reals, Whole
from discreet.anonymity.records.grouping import distinct, group
from discreet.anonymity.records.records import Records
from discreet.attacks.rows.linking.compared import Compared
from discreet.attacks.targets.joining import expand, join

_AT_A_TIME = 1 << 21
"""About so many comparisons are held at a time."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pairs:
    """Kinds and classes that are compared, each pair once.

    Args:
        kind: of each pair, ascending.
        of_class: of each pair.
        score: of each pair, how much likelier what is seen is of one person than of two; a logarithm.
    """

    kind: Whole
    of_class: Whole
    score: Reals


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sides:
    """Known people and released rows, side by side.

    Args:
        columns: how each is compared.
        kinds: kinds of people × columns, in lexicographic order.
        of_person: person → kind.
        classes: classes of rows × columns, in lexicographic order.
        of_row: row → class.
        rows: of each class, how many rows it has.
        blocks: the columns that a kind and a class must be near in: all, or all but one.
    """

    columns: Mapping[str, Compared]
    kinds: Codes
    of_person: Whole
    classes: Codes
    of_row: Whole
    rows: Whole
    blocks: tuple[_Block, ...]

    @classmethod
    def of(cls, known: Records, rows: Records, columns: Mapping[str, Compared]) -> Sides:
        """Group both, by the most telling column first."""
        names = sorted(columns, key=lambda name: columns[name].near.breadth)
        people, released = (
            group([table.column(name).codes for name in names], [table.column(name).size for name in names])
            for table in (known, rows)
        )
        of_person, of_row = people.of_row(), released.of_row()
        kinds, classes = people.tuples(), released.tuples()
        sizes = [[table.column(name).size for name in names] for table in (known, rows)]
        places = [range(len(names)), *(combinations(range(len(names)), len(names) - 1) if len(names) > 1 else ())]
        return cls(
            columns={name: columns[name] for name in names},
            kinds=kinds,
            of_person=of_person,
            classes=classes,
            of_row=of_row,
            rows=released.counts,
            blocks=tuple(_Block.of(kinds, classes, sizes, tuple(each)) for each in places),
        )

    def pairs(self, each: float) -> Iterator[Pairs]:
        """Compare all kinds with all classes, some kinds at a time.

        Args:
            each: about how many comparisons a kind takes.
        """
        step = max(int(_AT_A_TIME / max(each, 1.0)), 1)
        for start in range(0, len(self.kinds), step):
            yield self._scored(np.arange(start, min(start + step, len(self.kinds))))

    def number(self, kinds: Whole) -> int:
        """How many comparisons these kinds take: by all blocks together, and so no fewer than there are pairs."""
        return sum(len(block.pairs(kinds, list(self.columns.values()))[0]) for block in self.blocks)

    def _scored(self, kinds: Whole) -> Pairs:
        """Find and score the pairs of some kinds."""
        size, columns = max(len(self.classes), 1), list(self.columns.values())
        found = [block.pairs(kinds, columns) for block in self.blocks]
        kind, of_class = np.divmod(distinct(np.concatenate([ones * size + others for ones, others in found])), size)
        score = np.zeros(len(kind))
        for place, column in enumerate(columns):
            score += column.score(
                self.kinds[kind, place].astype(np.int64), self.classes[of_class, place].astype(np.int64)
            )
        return Pairs(kind=kind, of_class=of_class, score=score)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Block:
    """Columns in which a kind and a class must be near to be compared.

    Args:
        places: of the columns.
        left: the different tuples of kinds in these columns.
        of_kind: kind → its tuple.
        right: the different tuples of classes in these columns.
        starts: right tuples + 1; the classes with each, in `members`.
        members: classes, by tuple.
    """

    places: tuple[int, ...]
    left: Codes
    of_kind: Whole
    right: Codes
    starts: Whole
    members: Whole

    @classmethod
    def of(cls, kinds: Codes, classes: Codes, sizes: Sequence[Sequence[int]], places: tuple[int, ...]) -> _Block:
        """Of some of the columns."""
        left, right = (
            group([tuples[:, place] for place in places], [max(spans[place], 1) for place in places])
            for tuples, spans in zip((kinds, classes), sizes, strict=True)
        )
        of_kind, of_class = left.of_row(), right.of_row()
        return cls(
            places=places,
            left=left.tuples(),
            of_kind=of_kind,
            right=right.tuples(),
            starts=np.concatenate(([0], np.cumsum(right.counts))),
            members=np.argsort(of_class, kind="stable"),
        )

    def pairs(self, kinds: Whole, columns: Sequence[Compared]) -> tuple[Whole, Whole]:
        """These kinds, and the classes that are near to them."""
        wanted = self.of_kind[kinds]
        tuples = distinct(wanted)
        joined = join(self.left[tuples], self.right, [columns[place].near for place in self.places])
        owner, place = expand(joined.starts, np.searchsorted(tuples, wanted))
        pair, member = expand(self.starts, joined.right[place])
        return kinds[owner[pair]], self.members[member]
