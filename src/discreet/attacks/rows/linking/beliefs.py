"""Beliefs: of each person, the row and the sensitive value that are theirs most likely, by Bayes' rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Reals, Value, Whole
from discreet.anonymity.records.grouping import group, starts_of
from discreet.anonymity.records.records import Records
from discreet.attacks.rows.linking.pairs import Pairs
from discreet.attacks.rows.linking.sampling import Sample
from discreet.attacks.targets.joining import expand
from discreet.attacks.targets.tally import summed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Beliefs:
    """What is believed of people's sensitive values; it can be scored and guessed from as a tally can.

    Args:
        sensitive: the name of the attribute.
        labels: its values.
        priors: of each label, its share among everybody.
        of_person: person → kind.
        likeliest: of each kind, the value that is believed most.
        sure: of each kind, how much it is.
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
    """Of each person, the row that is theirs most likely.

    Args:
        row: the row; −1 if nothing was compared.
        score: its score.
        ahead: by how much it is ahead of the second; infinite if there is none.
        belief: the probability that it is theirs.
        compared: how many pairs of a person and a row were compared.
        values: what is believed of their sensitive values; None if none is sought.
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
            absent: logarithm of the odds that a person isn't in the release, times its rows.
            sensitive: a column of these to learn; None for none.

        Raises:
            SchemaMismatch: there is no such column.
        """
        sides = sample.sides
        kinds = len(sides.kinds)
        first_row = np.zeros(len(sides.rows), dtype=np.int64)
        first_row[sides.of_row[::-1]] = np.arange(rows.rows)[::-1]
        held = None if sensitive is None else _Held.of(sides.of_row, rows, sensitive)
        people = np.bincount(sides.of_person, minlength=kinds)
        row = np.full(kinds, -1, dtype=np.int64)
        score, ahead, belief = np.full(kinds, -np.inf), np.full(kinds, np.inf), np.zeros(kinds)
        likeliest = np.full(kinds, 0 if held is None else held.commonest, dtype=np.int64)
        sure = np.full(kinds, 0.0 if held is None else held.priors[held.commonest])
        compared = 0
        for pairs in sides.pairs(sample.each):
            many = sides.rows[pairs.of_class]
            compared += int((people[pairs.kind] * many).sum())
            order = np.lexsort((first_row[pairs.of_class], -pairs.score, pairs.kind))
            starts = starts_of(pairs.kind[order])
            if not len(starts):
                continue
            who, top = pairs.kind[order][starts], pairs.score[order][starts]
            row[who], score[who] = first_row[pairs.of_class[order]][starts], top
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
class _Held:
    """The sensitive values that rows hold, by class.

    Args:
        sensitive: the name of the column.
        labels: its values.
        priors: of each value, its share among all rows.
        starts: classes + 1; the entries of class i are those from starts[i] to starts[i + 1].
        values: of each entry.
        counts: of each entry, how many rows of the class have the value.
    """

    sensitive: str
    labels: tuple[Value, ...]
    priors: Reals
    starts: Whole
    values: Whole
    counts: Whole

    @classmethod
    def of(cls, of_row: Whole, rows: Records, sensitive: str) -> _Held:
        """Count them."""
        column = rows.column(sensitive)
        classes = int(of_row.max()) + 1
        held = group([of_row.astype(np.int32), column.codes], [classes, column.size])
        each, values = held.tuples().T.astype(np.int64)
        return cls(
            sensitive=sensitive,
            labels=column.labels(),
            priors=column.counts() / rows.rows,
            starts=np.searchsorted(each, np.arange(classes + 1)),
            values=values,
            counts=held.counts,
        )

    @property
    def commonest(self) -> int:
        """The value that most rows have."""
        return int(self.priors.argmax())

    def believed(self, pairs: Pairs, kinds: Whole, top: Reals, absent: float) -> tuple[Whole, Reals]:
        """The likeliest value of each kind, and how likely it is.

        Of the values that no row compared has, only the commonest of all can be the likeliest.

        Args:
            pairs: of these kinds and classes.
            kinds: that pairs are of, ascending.
            top: of each kind, the logarithm that others are taken relative to, so that none overflows.
            absent: see `Best.of`.
        """
        size, place = len(self.labels), np.searchsorted(kinds, pairs.kind)
        pair, entry = expand(self.starts, pairs.of_class)
        weights = np.exp(pairs.score - top[place])[pair] * self.counts[entry]
        keys = np.concatenate([place[pair] * size + self.values[entry], np.arange(len(kinds)) * size + self.commonest])
        order = np.argsort(keys, kind="stable")
        starts = starts_of(keys[order])
        mass = np.add.reduceat(np.append(weights, np.zeros(len(kinds)))[order], starts)
        kind, value = np.divmod(keys[order][starts], size)
        away = np.exp(absent - top)
        belief = mass + away[kind] * self.priors[value]
        ranked = np.lexsort((-self.priors[value], -belief, kind))
        first = ranked[np.searchsorted(kind, np.arange(len(kinds)))]
        return value[first], belief[first] / (summed(kind, mass, len(kinds)) + away)
