"""Beliefs: the row and the sensitive value that are most likely each person's, by Bayes' rule.

Where rows have units, a unit is what a person may be. Any of its rows may be the one that is known, all alike, so its
score is the logarithm of the mean of e^score over its rows; rows that weren't compared add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.anonymity.grouping import group, starts_of
from discreet.anonymity.records import Records, Units
from discreet.attacks.rows.people_sample import Sample
from discreet.attacks.rows.record_pairs import Pairs
from discreet.attacks.targets.candidates import expand, summed
from discreet.attacks.targets.rows import shares_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Beliefs:
    """Beliefs about people's sensitive values, which can be scored and guessed from as a tally can.

    Args:
        sensitive: the name of the attribute.
        labels: its values.
        priors: for each label, its share among everyone.
        of_person: person → kind.
        likeliest: for each kind, the value that is believed most.
        sure: for each kind, how much it is.
    """

    sensitive: str
    labels: tuple[Value, ...]
    priors: Reals
    of_person: Whole
    likeliest: Whole
    sure: Reals

    def best(self) -> Whole:
        """The value that is believed most, of each kind; of equals the commonest of all."""
        return self.likeliest

    def surety(self) -> Reals:
        """How much it is believed, of each kind."""
        return self.sure


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Best:
    """For each person, the row that is theirs most likely.

    Args:
        row: the row; −1 if nothing was compared.
        score: its score.
        ahead: by how much it is ahead of the second, or of the second unit; infinite if there is none.
        belief: the probability that it is theirs, or that its unit is they.
        compared: how many pairs of a person and a row were compared.
        values: the beliefs about their sensitive values; None if none is sought.
    """

    row: Whole
    score: Reals
    ahead: Reals
    belief: Reals
    compared: int
    values: Beliefs | None

    @classmethod
    def of(cls, sample: Sample, rows: Records, absent: float, sensitive: str | None) -> Best:
        """Compare the people of a sample with all rows.

        Args:
            sample: who, with what.
            rows: that were published; one or more.
            absent: logarithm of the odds that a person isn't in the release, times its units.
            sensitive: a column of these to learn; None for none.

        Raises:
            SchemaMismatch: there is no such column.
        """
        sides = sample.sides
        kinds = len(sides.kinds)
        whose = None if rows.units is None else _Owners.of(sides.of_row, rows.units)
        first_row = np.zeros(len(sides.rows), dtype=np.int64)
        first_row[sides.of_row[::-1]] = np.arange(rows.rows)[::-1]
        held = None if sensitive is None else _Held.of(sides.of_row, rows, sensitive)
        alike = sides.rows if rows.units is None else np.ones(rows.units.number, dtype=np.int64)
        people = np.bincount(sides.of_person, minlength=kinds)
        row = np.full(kinds, -1, dtype=np.int64)
        score, ahead, belief = np.full(kinds, -np.inf), np.full(kinds, np.inf), np.zeros(kinds)
        likeliest = np.full(kinds, 0 if held is None else held.commonest, dtype=np.int64)
        sure = np.full(kinds, 0.0 if held is None else held.priors[held.commonest])
        compared = 0
        for pairs in sides.pairs(sample.each):
            compared += int((people[pairs.kind] * sides.rows[pairs.of_class]).sum())
            theirs = first_row[pairs.of_class]
            if whose is not None:
                pairs, theirs = whose.paired(pairs)  # noqa: PLW2901 — from here on, units are what classes were
            many = alike[pairs.of_class]
            order = np.lexsort((theirs, -pairs.score, pairs.kind))
            starts = starts_of(pairs.kind[order])
            if not len(starts):
                continue
            who, top = pairs.kind[order][starts], pairs.score[order][starts]
            row[who], score[who] = theirs[order][starts], top
            several = np.flatnonzero(np.diff(np.append(starts, len(order))) > 1)
            ahead[who[several]] = top[several] - pairs.score[order][starts[several] + 1]
            ahead[who[many[order][starts] > 1]] = 0.0
            likely = np.logaddexp.reduceat(pairs.score[order] + np.log(many[order]), starts)
            belief[who] = np.exp(top - np.logaddexp(likely, absent))
            if held is not None:
                likeliest[who], sure[who] = held.believed(pairs, who, np.maximum(top, absent), absent)
        values = None
        if held is not None:
            values = Beliefs(
                sensitive=held.sensitive,
                labels=held.labels,
                priors=held.priors,
                of_person=sides.of_person,
                likeliest=likeliest,
                sure=np.minimum(sure, 1.0),
            )
        place = sides.of_person
        return cls(
            row=row[place],
            score=score[place],
            ahead=ahead[place],
            belief=np.minimum(belief, 1.0)[place],
            compared=compared,
            values=values,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Owners:
    """The owners of the rows of each class.

    Args:
        starts: classes + 1; the entries of class i are those from starts[i] to starts[i + 1].
        units: for each entry, a unit.
        shares: for each entry, the logarithm of which share of the unit's rows is in the class.
        rows: for each entry, the first of these rows.
    """

    starts: Whole
    units: Whole
    shares: Reals
    rows: Whole

    @classmethod
    def of(cls, of_row: Whole, whose: Units) -> _Owners:
        """Count them."""
        keys, rows, counts = np.unique(of_row * whose.number + whose.codes, return_index=True, return_counts=True)
        classes, units = np.divmod(keys, whose.number)
        return cls(
            starts=np.searchsorted(classes, np.arange(int(of_row.max()) + 2)),
            units=units,
            shares=np.log(counts / np.bincount(whose.codes)[units]),
            rows=rows,
        )

    def paired(self, pairs: Pairs) -> tuple[Pairs, Whole]:
        """The pairs of a kind and a unit, in place of those of a kind and a class, and the likeliest row of each."""
        pair, entry = expand(self.starts, pairs.of_class)
        kind, unit, score = pairs.kind[pair], self.units[entry], pairs.score[pair]
        order = np.lexsort((self.rows[entry], -score, unit, kind))
        kind, unit = kind[order], unit[order]
        starts = np.flatnonzero(np.append(True, (np.diff(kind) != 0) | (np.diff(unit) != 0))[: len(kind)])
        weights = (score + self.shares[entry])[order]
        mean = np.logaddexp.reduceat(weights, starts) if len(starts) else weights
        return Pairs(kind=kind[starts], of_class=unit[starts], score=mean), self.rows[entry][order][starts]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Held:
    """The sensitive values that rows hold, by class, or by unit where rows have units.

    Args:
        sensitive: the name of the column.
        labels: its values.
        priors: for each value, its share among all units.
        sizes: for each class, how many units are in it.
        starts: classes + 1; the entries of class i are those from starts[i] to starts[i + 1].
        values: of each entry.
        counts: for each entry, how many units of the class have the value.
    """

    sensitive: str
    labels: tuple[Value, ...]
    priors: Reals
    sizes: Whole
    starts: Whole
    values: Whole
    counts: Whole

    @classmethod
    def of(cls, of_row: Whole, rows: Records, sensitive: str) -> _Held:
        """Count them."""
        column = rows.column(sensitive)
        if rows.units is not None:
            of_row = rows.units.codes.astype(np.int64)
        classes = int(of_row.max()) + 1
        held = group([of_row.astype(np.int32), column.codes], [classes, column.size])
        each, values = held.tuples().T.astype(np.int64)
        return cls(
            sensitive=sensitive,
            labels=column.labels(),
            priors=shares_of(rows, sensitive),
            sizes=np.bincount(of_row) if rows.units is None else np.ones(classes, dtype=np.int64),
            starts=np.searchsorted(each, np.arange(classes + 1)),
            values=values,
            counts=held.counts if rows.units is None else np.ones(len(values), dtype=np.int64),
        )

    @property
    def commonest(self) -> int:
        """The value that most units have."""
        return int(self.priors.argmax())

    def believed(self, pairs: Pairs, kinds: Whole, top: Reals, absent: float) -> tuple[Whole, Reals]:
        """The likeliest value of each kind, and how likely it is.

        Among the values that no compared row has, only the commonest of all can be the likeliest.

        Args:
            pairs: of these kinds and classes.
            kinds: that pairs are of, ascending.
            top: for each kind, the logarithm that others are taken relative to, so that none overflows.
            absent: see `Best.of`.
        """
        size, place = len(self.labels), np.searchsorted(kinds, pairs.kind)
        pair, entry = expand(self.starts, pairs.of_class)
        likely = np.exp(pairs.score - top[place])
        weights = likely[pair] * self.counts[entry]
        keys = np.concatenate([place[pair] * size + self.values[entry], np.arange(len(kinds)) * size + self.commonest])
        order = np.argsort(keys, kind="stable")
        starts = starts_of(keys[order])
        mass = np.add.reduceat(np.append(weights, np.zeros(len(kinds)))[order], starts)
        kind, value = np.divmod(keys[order][starts], size)
        away = np.exp(absent - top)
        belief = mass + away[kind] * self.priors[value]
        ranked = np.lexsort((-self.priors[value], -belief, kind))
        first = ranked[np.searchsorted(kind, np.arange(len(kinds)))]
        return value[first], belief[first] / (summed(place, likely * self.sizes[pairs.of_class], len(kinds)) + away)
