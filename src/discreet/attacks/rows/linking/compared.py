"""Two columns compared in spite of errors: what each pair of values says of whether it is one person's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Coded, Reals, Whole
from discreet.anonymity.records.grouping import distinct
from discreet.attacks.rows.linking.nearness import Nearness
from discreet.attacks.rows.people import keys_of
from discreet.attacks.targets.compatible import CellsLike, Relation, relate
from discreet.attacks.targets.joining import expand, parts
from discreet.attacks.targets.tally import summed
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
    """Logarithms of match over chance, by known value: same, near, other. What chance never does isn't weighed."""
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
