"""Studies: some people of a table, of whom marginals are published, exactly, from anonymised rows or with noise.

The attacker knows a person's row, and other rows of the same table, which say how common each cell of a marginal is.
Where people have several rows, a cell counts those with a row in it, and the attacker knows one row of a person, drawn
at random.

*Score.* Let n people be drawn independently, each in cell c of a marginal with probability p_c. Had they been drawn
with a person of cell v among them, the others would be n − 1 such draws. So the counts h are likelier by the factor

    Mult(n − 1; p)(h − e_v) / Mult(n; p)(h) = h_v / (n·p_v)

if the person is a member than if not. The same holds of one cell of people who may be in several: its count is binomial
of n and p_v, or one more than binomial of n − 1 and p_v. Of counts with noise that doesn't depend on the counts, the
factor is the average of this over what h may be, E[h_v | published]/(n·p_v): multiply the ratio above by the
probability of what was published, given h, and add up. The score adds up the logarithms of these factors over all
marginals, as if they told different things, which they don't quite. An approximation of the factor makes the attack
weaker, and no bound wrong.

*What is published is read* as the count of each cell that is to be expected given it. Exact counts are themselves.
Anonymised rows are spread over what people of the reference are like who fit them. Of noise in answers its deviation is
known: it is taken for Laplace noise of that deviation, and the count for binomial, of n and p_v, beforehand. p is taken
from the reference; to it, and to what is expected, one person is added who is in each cell of a marginal with the
probability known before, so that nothing is impossible.

Source: Sankararaman, Obozinski, Jordan, Halperin (2009), "Genomic privacy and limits of individual detection in a
pool", the definition of the LR test, for attributes that are there or not; what it is for marginals is proved above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Whole
from discreet.anonymity.records import Records, read
from discreet.attacks.answers.marginals import Marginals, spread
from discreet.attacks.answers.membership import TracingResult, told_apart
from discreet.attacks.naming import named
from discreet.attacks.people import one_of_each
from discreet.attacks.targets.noisy_answers import Answers
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.sql_conditions import quoted
from discreet.errors import InvalidArgument, NotTried
from discreet.exact.rational import Rationalizable
from discreet.privacy import ADD_REMOVE, Adjacency

_BLOCK = 1 << 20
"""How many possible counts are weighed at a time."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Study:
    """Members, whose marginals are published, as many strangers, and all others, who are the reference.

    People are called by number: of their row, or of their unit where the table is read by unit.

    Args:
        records: the table; marginals of all of its columns are published.
        marginals: of this table.
        members: who is in the study.
        strangers: people who aren't, and who aren't in the reference either.
        reference: the people who are left.
        known: for each person of the table, the row that the attacker knows if they ask about that person.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = read({"sex": list("FMFMFM"), "ill": ["flu", "flu", "cold", "cold", "flu", "gout"]})
        >>> study = Study.of(people, np.arange(6), 1)
        >>> study.traced(study.exact(), against="exact shares").auc
        1.0
    """

    records: Records
    marginals: Marginals
    members: Whole
    strangers: Whole
    reference: Whole
    known: Whole

    @classmethod
    def of(cls, records: Records, order: Whole, people: int) -> Study:
        """A study of the first of a table's people.

        Args:
            records: the table.
            order: its people in a random order, all orders alike, for the bound to hold.
            people: how many members; not more than a third of the people are taken.

        Raises:
            InvalidArgument: there are fewer than three people, or no column has two values.
        """
        size = min(people, records.counted // 3)
        if size < 1:
            rows = "rows" if records.units is None else "units"
            raise InvalidArgument(
                f"tracing takes three {rows} or more: of a member, a stranger and someone else",
                hint="a table of more people",
            )
        return cls(
            records=records,
            marginals=Marginals.of(records),
            members=order[:size],
            strangers=order[size : 2 * size],
            reference=order[2 * size :],
            known=one_of_each(records),
        )

    def counts(self, people: Whole) -> Reals:
        """How many of these people are in each cell: by any row of theirs."""
        owners = None if self.records.units is None else self.records.units.codes
        rows = self.rows(people)
        return self.marginals.counts(rows, owners=None if owners is None else owners[rows])

    def rows(self, people: Whole) -> Whole:
        """All rows of these people."""
        units = self.records.units
        return people if units is None else np.flatnonzero(np.isin(units.codes, people))

    def coded(self, people: Whole) -> Records:
        """All rows of these people as values and ranges by number, in the columns that marginals are of."""
        rows = self.rows(people)
        return replace(read(self.marginals.coded(rows)), units=self.records.take(rows).units)

    def groupings(self) -> list[list[Coded]]:
        """For each marginal, the columns that it is of, as `coded` makes them of the whole table."""
        whole = read(self.marginals.coded(np.arange(self.records.rows)))
        return [[whole.column(name) for name in columns] for columns in self.marginals.columns]

    def common(self) -> Reals:
        """How common each cell is, by the reference and one person more, who is anywhere."""
        sizes = np.diff(self.marginals.starts)
        counts = self.counts(self.reference) + np.repeat(1 / sizes, sizes)
        return np.asarray(counts / (len(self.reference) + 1), dtype=np.float64)

    def exact(self) -> Reals:
        """The count of members in each cell."""
        return self.counts(self.members)

    def anonymised(self, rows: Rows) -> Reals:
        """The expected count of members in each cell, by their anonymised rows.

        Args:
            rows: made of the members' rows.

        Raises:
            SchemaMismatch: they lack a column of the table.
        """
        return spread(rows, self.records, self.marginals, self.rows(self.reference))

    def answered(self, answers: Answers) -> Reals:
        """The expected count of members in each cell, by answers with noise; NaN where the budget didn't last.

        Each marginal is one question: how many people are there of each value, or pair of values?

        Args:
            answers: about the members, in the columns that `coded` makes, with their keys.

        Raises:
            NotTried: not one question was answered.
        """
        found, common = np.full(self.marginals.number, np.nan), self.common()
        starts = self.marginals.starts.tolist()
        for columns, start, end in zip(self.marginals.columns, starts[:-1], starts[1:], strict=True):
            told = answers.histogram([quoted(name) for name in columns])
            if told.refusal:
                break
            keys = product(*(range(self.marginals.sizes[name]) for name in columns))
            noisy = np.array([told.counts[key] for key in keys], dtype=np.float64)
            found[start:end] = expected(noisy, told.deviation or 0.0, len(self.members), common[start:end])
        if np.isnan(found[0]):
            raise NotTried("the budget doesn't last for one marginal", hint="offer less per question")
        return found

    def traced(
        self,
        counts: Reals,
        *,
        against: str,
        on: Sequence[str] | None = None,
        epsilon: Rationalizable | None = None,
        adjacency: Adjacency = ADD_REMOVE,
    ) -> TracingResult:
        """Tell members from strangers.

        Args:
            counts: for each cell, the expected count of members; NaN where nothing was published.
            against: what was published, in words.
            on: the columns that people are called by; all if left out.
            epsilon: with which everything together was published; None if it wasn't privately.
            adjacency: for which neighbours.

        Raises:
            InvalidArgument: ε isn't above 0.
        """
        inside, outside = (self.scores(counts, people) for people in (self.members, self.strangers))
        asked = self.known[np.concatenate([self.members, self.strangers])]
        called = named(self.records, on or self.records.names, None)
        return told_apart(
            inside,
            outside,
            attributes=int((~np.isnan(counts)).sum()),
            against=against,
            epsilon=epsilon,
            adjacency=adjacency,
            called=lambda place: called(int(asked[place])),
        )

    def scores(self, counts: Reals, people: Whole) -> Reals:
        """For each of these people, how much speaks for a member, in nine decimals.

        More would part people of whom the same is known: the same logarithms, added up in another order, differ a bit.

        Args:
            counts: for each cell, the expected count of members; NaN where nothing was published.
            people: whose scores.
        """
        cells = self.marginals.cells(self.known[people])
        return np.asarray(self.log_ratios(counts)[cells].sum(axis=1).round(9), dtype=np.float64)

    def log_ratios(self, counts: Reals) -> Reals:
        """For each cell, the logarithm of the factor by which its people are likelier to be members.

        Args:
            counts: for each cell, the expected count of members; where it is NaN, the factor is 1.
        """
        common = self.common()
        factors = (counts + common) / ((len(self.members) + 1) * common)
        return np.log(np.where(np.isnan(counts), 1.0, factors))


def expected(noisy: Reals, deviation: float, people: int, common: Reals) -> Reals:
    """The counts to be expected, given answers with noise.

    Args:
        noisy: the answers.
        deviation: of their noise, which is taken for Laplace noise; 0 if they are exact.
        people: how many there are in all.
        common: for each count, how probable it is that a person belongs to it; in (0, 1). It is taken for binomial.

    Examples:
        >>> expected(np.array([-20.0, 5.0, 60.0]), 14.1, 100, np.full(3, 0.1)).round(1).tolist()
        [9.1, 9.2, 10.9]
        >>> expected(np.array([7.0]), 0.0, 100, np.full(1, 0.1)).tolist()
        [7.0]
    """
    if not deviation:
        return noisy
    counts = np.arange(people + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log(counts[1:]))))
    ways = logs[-1] - logs - logs[::-1]
    found = np.empty(len(noisy))
    step = max(_BLOCK // (people + 1), 1)
    for start in range(0, len(noisy), step):
        part = slice(start, start + step)
        share, off = common[part, np.newaxis], np.abs(counts - noisy[part, np.newaxis])
        weights = ways + counts * np.log(share) + counts[::-1] * np.log1p(-share) - sqrt(2) / deviation * off
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))  # relative to the likeliest: none vanishes
        found[part] = (weights * counts).sum(axis=1) / weights.sum(axis=1)
    return found
