"""Record pairs: known people compared with released rows, in spite of errors, and how likely each pair is one person.

People who are known alike are of one kind, and rows that look alike of one class, so a kind is compared with a class
once. Pairs that are near in all columns but one are found by joining on the others, for each column that may be the
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Reals, Whole
from discreet.anonymity.grouping import distinct, group
from discreet.anonymity.records import Records
from discreet.attacks.rows.nearness import Nearness
from discreet.attacks.targets.candidates import Relation, expand, join, parts, summed
from discreet.attacks.targets.compatible import CellsLike, plain, relate
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compared:
    """Two columns, compared.

    Args:
        near: which released values go with a known one: the same, near, or missing on either side.
        same: which released values may be the known one: the same value, or a cell that covers it.
        weights: known code × (same, near, other): how much more likely this is of one person than of two; a logarithm.
        missing: of known codes, and of released ones, which are missing; they weigh nothing.
    """

    near: Relation
    same: Relation
    weights: Reals
    missing: tuple[Reals, Reals]

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 — two columns, and all that says what is near and how rare that is
        cls,
        known: Coded,
        released: Coded,
        how: Nearness,
        wrong: float,
        covered: tuple[CellsLike, Coded] | None = None,
        counts: Reals | None = None,
    ) -> Compared:
        """Compare two columns.

        Args:
            known: of people.
            released: of rows.
            how: what is near.
            wrong: how often what is known isn't even near the truth; in (0, 1).
            covered: what the cells of a generalised column stand for, and the column before; None of one that was
                released as it is. A cell is near if it covers something near.
            counts: how often each released value is met by chance; as often as rows have it, if left out.

        Source: Fellegi, Sunter (1969), "A theory for record linkage", the definition: the weight of an agreement is the
        logarithm of its probability among matches over that among non-matches; here by value, so that rare ones weigh
        more.
        """
        if not 0 <= how.errors < 1 or not 0 < wrong < 1 - how.errors:
            raise InvalidArgument("shares of errors must be in [0, 1), and together below 1")
        gone = [np.zeros(column.size) for column in (known, released)]
        for flags, column in zip(gone, (known, released), strict=True):
            flags[-1:] = column.has_missing
        same, (one, other) = (
            (equal(known, released), how.pairs(known, released))
            if covered is None
            else _within(known, released, how, covered)
        )
        real = (gone[0][one] == 0) & (gone[1][other] == 0) & ~same.holds(one, other)
        one, other = one[real], other[real]
        weights = _weights(released.counts() if counts is None else counts, same, (one, other), (how.errors, wrong))
        weights[gone[0] > 0] = 0.0
        lists = _with_missing((one, other), same, (gone[0], gone[1]))
        return cls(
            near=Relation.paired(lists, known.size, released.size),
            same=same,
            weights=weights,
            missing=(gone[0], gone[1]),
        )

    def score(self, known: Whole, released: Whole) -> Reals:
        """The weight of each pair of codes."""
        level: Whole = np.where(self.same.holds(known, released), 0, np.where(self.near.holds(known, released), 1, 2))
        return np.asarray(np.where(self.missing[1][released] > 0, 0.0, self.weights[known, level]))


def keys_of(one: Coded, other: Coded) -> tuple[Whole, Whole]:
    """Two columns' codes in one list of values, so that rows of either can be compared.

    Examples:
        >>> from discreet.anonymity import read
        >>> a, b = read({"id": [7, 9]}), read({"id": ["9", "3"]})
        >>> [codes.tolist() for codes in keys_of(a.column("id"), b.column("id"))]
        [[0, 1], [1, 2]]
    """
    places: dict[str | None, int] = {}
    maps = [
        np.array([places.setdefault(plain(label), len(places)) for label in column.labels()], dtype=np.int64)
        for column in (one, other)
    ]
    return maps[0][one.codes], maps[1][other.codes]


def equal(known: Coded, released: Coded) -> Relation:
    """Which released value is the known one, whatever it looks like: no text is read as a cell."""
    mine, theirs = keys_of(known, released)
    place = np.full(int(max(mine.max(initial=0), theirs.max(initial=0))) + 1, -1, dtype=np.int64)
    place[theirs] = released.codes
    same = np.full(known.size, -1, dtype=np.int64)
    same[known.codes] = place[mine]
    held = np.flatnonzero(same >= 0)
    return Relation.paired((held, same[held]), known.size, released.size)


def _within(
    known: Coded, released: Coded, how: Nearness, covered: tuple[CellsLike, Coded]
) -> tuple[Relation, tuple[Whole, Whole]]:
    """Which cells cover the known value, and which cover something near: pairs, each once."""
    cells, original = covered
    same, size = relate(known, released, cells=cells, original=original), max(released.size, 1)
    one, value = how.pairs(known, original)
    used = original.recoded(distinct(value).astype(np.int32))
    became = relate(used, released, cells=cells, original=original)
    order, value = np.argsort(one, kind="stable"), np.searchsorted(distinct(value), value)
    one, value = one[order], value[order]
    found = [np.zeros(0, dtype=np.int64)]
    for start, end in parts(np.cumsum(became.numbers()[value])):
        owner, place = expand(became.starts, value[start:end])
        found.append(distinct(one[start:end][owner] * size + became.cells[place]))
    ones, others = np.divmod(distinct(np.concatenate(found)), size)
    return same, (ones, others)


def _weights(counts: Whole | Reals, same: Relation, near: tuple[Whole, Whole], errors: tuple[float, float]) -> Reals:
    """Logarithms of match over chance, by known value: same, near, other. What chance never does has no weight."""
    total, values = max(float(counts.sum()), 1.0), len(same.starts) - 1
    close, wrong = errors
    by_chance = np.zeros((values, 3))
    for level, (one, other) in enumerate((same.pairs(), near)):
        by_chance[:, level] = summed(one, counts[other], values) / total
    by_chance[:, 2] = np.maximum(1 - by_chance[:, 0] - by_chance[:, 1], 0.0)
    matched = np.array([1 - close - wrong, close, wrong])
    usable = (by_chance > 1e-12) & (matched > 0)  # noqa: PLR2004 — below one row of any table
    return np.asarray(np.log(np.where(usable, matched, 1.0)) - np.log(np.where(usable, by_chance, 1.0)))


def _with_missing(near: tuple[Whole, Whole], same: Relation, gone: tuple[Reals, Reals]) -> tuple[Whole, Whole]:
    """Near pairs, equal ones, and all that a missing value might be."""
    equal = same.pairs()
    lacking = np.flatnonzero(gone[0]), np.flatnonzero(gone[1])
    ones = [near[0], equal[0], np.repeat(lacking[0], len(gone[1])), np.tile(np.arange(len(gone[0])), len(lacking[1]))]
    others = [
        near[1],
        equal[1],
        np.tile(np.arange(len(gone[1])), len(lacking[0])),
        np.repeat(lacking[1], len(gone[0])),
    ]
    return np.concatenate(ones), np.concatenate(others)


_AT_A_TIME = 1 << 21
"""About how many comparisons are held at a time."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pairs:
    """Kinds and classes that are compared, each pair once.

    Args:
        kind: for each pair, ascending.
        of_class: of each pair.
        score: for each pair, how much likelier what is seen is of one person than of two; a logarithm.
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
        rows: for each class, how many rows it has.
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
        """The pairs by some of the columns."""
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
