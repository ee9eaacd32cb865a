"""Small groups: a total over one person is that person, and over two it tells each of them of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, sqrt

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.naming import Namer, first, named
from discreet.attacks.people import refuse_rows
from discreet.attacks.rows.nearness import numbers
from discreet.attacks.targets.answering import Answering, Reply
from discreet.attacks.targets.candidates import summed
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.sql_conditions import where
from discreet.errors import InvalidArgument, NotTried
from discreet.noise import uniform

_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallGroupsResult(AttackResult):
    """Which groups of a table of totals give people away.

    `success` is the share of people whose value is learned to within `p` percent: of a group of one from its total, of
    a group of two by the other one. `baseline` is the share for whom the mean of all is as near. Where a table is read
    by unit, what a unit has in a group is one value, added up over its rows there; it is found if one of them is.

    Args:
        groups: how many groups there are, of people with a value.
        singles: groups of one person.
        pairs: groups of two.
        dominated: groups whose `n` largest values make more than `k` percent of the total.
        p_percent: groups in which the second largest contributor knows the largest to within `p` percent.
        n: see `dominated`.
        k: see `dominated`.
        p: see `p_percent`.
        sizes: size of a group → how many groups are of that size.
    """

    groups: int
    singles: int
    pairs: int
    dominated: int
    p_percent: int
    n: int
    k: float
    p: float
    sizes: tuple[tuple[int, int], ...]


def small_groups(  # noqa: PLR0913 — the grouping, the value and the parameters of three rules, each by name
    release: object,
    *,
    by: Sequence[str],
    value: str,
    people: object | None = None,
    n: int = 1,
    k: float = 75,
    p: float = 10,
    asked: int = 50,
) -> SmallGroupsResult:
    """Look for groups too small, or too dominated by few, to publish a total of.

    Against rows, the totals are those of the rows. Against answers, the number of people and `SUM` of some groups are
    asked for; where the number rounds to 1 the sum is taken for the person's value, where it rounds to 2 each of the
    group takes their own value off.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        by: the columns that make the groups.
        value: a column of numbers, 0 or more; people without a value are in no group.
        people: against answers, the table that is asked, which says who is in which group and what is true; by unit if
            they count units.
        n: dominance rule: how many of the largest values are added up.
        k: dominance rule: which percentage of the total they may not exceed; in (0, 100).
        p: p % rule: how near an estimate of a person's value may not come, in percent of it; above 0.
        asked: against answers, how many groups are asked for, at most: drawn at random.

    Raises:
        InvalidArgument: a value is negative or no number, a parameter is out of range, or answers and no people.
        NotTried: nobody has a value, or the budget doesn't last for one group.
        SchemaMismatch: a table lacks a column.

    Source: Hundepool et al. (2012), "Statistical disclosure control", the definitions: of the dominance rule, under
    which a cell is unsafe if its n largest contributions exceed k % of its total, and of the p % rule, under which it
    is unsafe if the total without the two largest is below p % of the largest.

    Examples:
        >>> staff = {"team": ["a", "a", "a", "b", "b", "c"], "pay": [50, 52, 48, 90, 10, 70]}
        >>> found = small_groups(staff, by=["team"], value="pay")
        >>> found.singles, found.pairs, found.dominated, found.p_percent, found.success
        (1, 1, 2, 2, 0.5)
        >>> print(found.guesses[0])
        team c: pay = 70, 100 % sure, right
    """
    if n < 1 or not 0 < k < 100 or p <= 0:  # noqa: PLR2004 — percent
        raise InvalidArgument("the rules need n ≥ 1, 0 < k < 100 and p > 0")
    if isinstance(release, Answering):
        if people is None:
            raise InvalidArgument("answers don't say who to ask about", hint="people=…, the table that is asked")
        table, name = read(people), release.against
        refuse_rows(release, table)
    else:
        rows = Rows.of(release)
        table, name = rows.records, rows.name
    totals = _Totals.of(table, by, value)
    told = (
        _Told.by(release, _questions(table, by, totals, asked), totals, p)
        if isinstance(release, Answering)
        else _Told.exactly(totals)
    )
    learned = totals.learned(told)
    right = np.abs(learned - totals.values) <= p / 100 * totals.values
    mean = totals.values.mean() if len(totals.values) else 0.0
    near = np.abs(mean - totals.values) <= p / 100 * totals.values
    sizes, counts = np.unique(totals.counts.astype(np.int64), return_counts=True)
    told_of = np.isfinite(told.sums[totals.of_group])
    tried = len(np.unique(totals.owners[told_of]))
    if not tried:
        raise NotTried("there is no group to learn the total of, or the budget doesn't last for one")
    return SmallGroupsResult(
        attack="small groups",
        against=name if isinstance(release, Answering) else f"totals of {name}",
        tried=tried,
        success=len(np.unique(totals.owners[told_of & right])) / tried,
        baseline=len(np.unique(totals.owners[told_of & near])) / tried,
        baseline_is="the mean of all",
        guesses=_guesses(named(table, by, None), totals, told, (learned, right)),
        groups=len(totals.counts),
        singles=int((totals.counts == 1).sum()),
        pairs=int((totals.counts == _PAIR).sum()),
        dominated=int((totals.top(n) > k / 100 * totals.sums).sum()),
        p_percent=int((totals.sums - totals.top(_PAIR) < p / 100 * totals.top(1)).sum()),
        n=n,
        k=float(k),
        p=float(p),
        sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Totals:
    """A table's groups, and the values in them: one of each person in each group that they are in.

    Args:
        rows: for each value, a row that it is from.
        owners: for each value, whose it is.
        of_group: for each value, the group.
        values: what the rows of one person in one group come to.
        counts: of each group.
        sums: of each group.
        value: the name of the column.
    """

    rows: Whole
    owners: Whole
    of_group: Whole
    values: Reals
    counts: Reals
    sums: Reals
    value: str

    @classmethod
    def of(cls, table: Records, by: Sequence[str], value: str) -> _Totals:
        """Add up a column."""
        column = table.column(value)
        worth = numbers(column)
        real = np.ones(column.size, dtype=np.bool_)
        if column.has_missing:
            real[-1] = False
        if not (worth[real] >= 0).all():
            raise InvalidArgument(f"the column {value!r} must hold numbers, 0 or more")
        rows = np.flatnonzero(real[column.codes])
        columns = [table.column(name) for name in by]
        if not columns:
            raise InvalidArgument("name one or more columns that make the groups")
        found = group([each.codes[rows] for each in columns], [each.size for each in columns])
        values, place = worth[column.codes[rows]], found.of_row()
        owners = rows
        if table.units is not None:
            owners = table.units.codes[rows].astype(np.int64)
            keys, firsts, of_row = np.unique(
                place * table.units.number + owners, return_index=True, return_inverse=True
            )
            values, rows = summed(of_row, values, len(keys)), rows[firsts]
            place, owners = np.divmod(keys, table.units.number)
        return cls(
            rows=rows,
            owners=owners,
            of_group=place,
            values=values,
            counts=np.bincount(place, minlength=found.number).astype(np.float64),
            sums=summed(place, values, found.number),
            value=value,
        )

    def top(self, n: int) -> Reals:
        """For each group, the sum of the `n` largest values."""
        order = np.lexsort((-self.values, self.of_group))
        begins = np.concatenate(([0], np.cumsum(self.counts))).astype(np.int64)
        rank = np.arange(len(order)) - begins[self.of_group[order]]
        kept = order[rank < n]
        return summed(self.of_group[kept], self.values[kept], len(self.counts))

    def learned(self, told: _Told) -> Reals:
        """For each person, what an attacker makes of the totals that were told; NaN if nothing."""
        counts, sums = told.counts[self.of_group], told.sums[self.of_group]
        learned = np.full(len(self.values), np.nan)
        counts = np.where(np.isfinite(counts), np.rint(counts), 0)
        learned[counts == 1] = sums[counts == 1]
        insiders = counts == _PAIR
        true = self.counts[self.of_group] == _PAIR  # of another size nobody can take off the other's value
        others = (self.sums[self.of_group] - self.values)[insiders]
        learned[insiders] = np.where(true[insiders], sums[insiders] - others, np.nan)
        return learned


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Told:
    """Counts and sums of groups, as an attacker learns them; NaN where nothing was told.

    Args:
        counts: of each group.
        sums: of each group.
        sure: for each group, the chance that the count is right and the sum near enough.
    """

    counts: Reals
    sums: Reals
    sure: Reals

    @classmethod
    def exactly(cls, totals: _Totals) -> _Told:
        """As they are."""
        return cls(counts=totals.counts, sums=totals.sums, sure=np.ones(len(totals.counts)))

    @classmethod
    def by(cls, answers: Answering, questions: Sequence[tuple[int, str]], totals: _Totals, p: float) -> _Told:
        """Ask for groups; nothing more after the first refusal.

        Args:
            answers: who is asked.
            questions: groups, and their conditions in SQL.
            totals: of the table.
            p: how near is near enough, in percent.
        """
        counts, sums = (np.full(len(totals.counts), np.nan) for _ in range(2))
        sure = np.zeros(len(totals.counts))
        quoted = '"' + totals.value.replace('"', '""') + '"'
        for place, condition in questions:
            count = answers.aggregate(answers.counting, f"{condition} AND {quoted} IS NOT NULL")
            total = answers.aggregate(f"SUM({quoted})", condition)
            if count.value is None or total.value is None:
                break
            counts[place], sums[place] = count.value, total.value
            sure[place] = _within(count, 0.5) * _within(total, p / 100 * abs(total.value))
        return cls(counts=counts, sums=sums, sure=sure)


def _within(reply: Reply, distance: float) -> float:
    """The chance that an answer's noise is below a distance, if it is Laplace noise."""
    return -expm1(-distance * sqrt(2) / reply.deviation) if reply.deviation else 1.0


def _questions(table: Records, by: Sequence[str], totals: _Totals, most: int) -> list[tuple[int, str]]:
    """Some groups, drawn at random, and the conditions of their rows."""
    columns = [table.column(name) for name in by]
    labels = [column.labels() for column in columns]
    row = np.zeros(len(totals.counts), dtype=np.int64)
    row[totals.of_group] = totals.rows
    keys: Whole = uniform(1 << 62, len(row))
    found = []
    for place in np.argsort(keys)[:most].tolist():
        codes = [int(column.codes[row[place]]) for column in columns]
        found.append((place, where({name: label[code] for name, label, code in zip(by, labels, codes, strict=True)})))
    return found


def _guesses(names: Namer, totals: _Totals, told: _Told, learned: tuple[Reals, Mask]) -> tuple[Guess, ...]:
    """The guesses about people, first about those who are alone."""
    values, right = learned
    order = (
        told.sure[totals.of_group] / totals.counts[totals.of_group]
    )  # a group of one tells everyone, a group of two tells the other
    return tuple(
        Guess(
            who=names(int(totals.rows[person])),
            what=f"{totals.value} = {values[person]:.10g}",
            confidence=float(told.sure[totals.of_group[person]]),
            right=bool(right[person]),
        )
        for person in first(order, np.flatnonzero(np.isfinite(values)))
    )
