"""Attribute disclosure: what classes tell of the sensitive values in them, though nobody is found.

- *Homogeneity.* In a class with one sensitive value everybody has it, however large the class is.
- *Background knowledge.* In one with several, an attacker who knows that some values aren't a person's has fewer left.
- *Skewness and similarity.* A class says more of a value than the table does, or of what values have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole, encode
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.people import first, shown
from discreet.attacks.rows.sensitive_values import Seen, guesses, seen_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import Tally, summed
from discreet.attacks.targets.compatible import plain
from discreet.attacks.targets.rows import On, Rows
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HomogeneityResult(AttackResult):
    """Which classes give their sensitive value away.

    `success` is the share of people whose value is guessed right if each is given its class's commonest value;
    `baseline` that of giving all the commonest value of the table.

    Args:
        classes: how many equivalence classes there are; against answers, kinds of people that were asked for.
        homogeneous_classes: those with a sensitive value that all in them have.
        homogeneous_people: how many people are known to be in them: their value is certain.
        people: in all classes: rows, or, of a table that is read by unit, units by one row of each.
        surest: share of the best value → how many people are guessed that sure.
    """

    classes: int
    homogeneous_classes: int
    homogeneous_people: int
    people: int
    surest: tuple[tuple[float, int], ...]


def homogeneity(
    release: object,
    *,
    on: On,
    sensitive: str,
    people: object | None = None,
    labels: Sequence[Value] | None = None,
) -> HomogeneityResult:
    """Guess each person's sensitive value by their class.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        on: the quasi-identifiers.
        sensitive: the attribute.
        people: against answers, whom to ask for: a table with the quasi-identifiers, and the truth if it has it.
            Against rows, the rows themselves are guessed if it is left out; of a table that is read by unit, each unit
            by one of its rows, drawn at random.
        labels: against answers, the values that the attribute may have; those of `people` if left out.

    Raises:
        InvalidArgument: no quasi-identifiers, or answers and no people.
        SchemaMismatch: a table lacks a column.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), "l-diversity: privacy beyond k-anonymity", the
    homogeneity attack of section 1.

    Examples:
        >>> table = {"zip": ["130**"] * 3 + ["148**"] * 3, "ill": ["flu", "flu", "flu", "flu", "gout", "cold"]}
        >>> found = homogeneity(table, on=["zip"], sensitive="ill")
        >>> found.homogeneous_classes, found.homogeneous_people, round(found.success, 2), round(found.baseline, 2)
        (1, 3, 0.67, 0.67)
    """
    seen = seen_of(release, on=on, sensitive=sensitive, people=people, labels=labels)
    tally = seen.tally
    single = tally.alike()
    numbers = tally.people()
    return HomogeneityResult(
        **seen.outcome("homogeneity"),
        classes=tally.kinds,
        homogeneous_classes=int(single.sum()),
        homogeneous_people=int(numbers[single].sum()),
        people=int(numbers.sum()),
        surest=tally.sureties(),
    )


# ── Background knowledge ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BackgroundResult(AttackResult):
    """How many values must be excluded before a person's is certain.

    `success` is the share of people whose value is certain after `excluded` exclusions: a class with l values is
    certain after l − 1 of them; `baseline` the same without classes, where the whole table is one. Where somebody has
    several values in a class, these are bounds, see `at_most`.

    Args:
        at_most: whether units have several values in some class. How certain people are is then the most that can be:
            nobody is certain after fewer exclusions, nor believed more; it may take more of them, if the values that
            are excluded are the same units'.
        excluded: how many values the attacker can exclude for the person.
        classes: how many classes there are.
        needed: exclusions needed for certainty → how many people need so many.
        certain: share of people who are certain after 0, 1, 2, … exclusions.
        worst: greatest belief of an attacker in a value after 0, 1, 2, … exclusions, in the worst class.
        mean: the same, over all people.
    """

    at_most: bool
    excluded: int
    classes: int
    needed: tuple[tuple[int, int], ...]
    certain: tuple[float, ...]
    worst: tuple[float, ...]
    mean: tuple[float, ...]


def background(  # noqa: PLR0913 — what is attacked and what the attacker knows, each by name
    release: object,
    *,
    on: On,
    sensitive: str,
    excluded: int = 1,
    most: int = 10,
    people: object | None = None,
    labels: Sequence[Value] | None = None,
) -> BackgroundResult:
    """Exclude values, and see what is left.

    The worst case for a person, after m values were excluded that aren't theirs: they have the commonest value of the
    class, and the m next common ones were excluded. Any other choice leaves a smaller belief: it is c / (c + r) for a
    value with count c and r rows neither it nor excluded, and r is least if the m + 1 commonest values are those two.

    Where units have several values, a unit is out as soon as one of its values is, and what is left is certain of a
    value that all who are left have. Of n units, c of which have the value, exclusions of values that units n₁, n₂, …
    have leave at most c with it, and at least n − c − n₁ − n₂ − … without it. So the same formula is a bound, whatever
    values go together; without exclusions it is exact.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        on: the quasi-identifiers.
        sensitive: the attribute.
        excluded: how many values the attacker excludes, in [0, most].
        most: up to how many exclusions are shown.
        people: see `homogeneity`.
        labels: see `homogeneity`.

    Raises:
        InvalidArgument: `excluded` is out of range.
        SchemaMismatch: a table lacks a column.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), the background knowledge attack of section 1;
    Martin, Kifer,
    Machanavajjhala, Gehrke, Halpern (2007), "Worst-case background knowledge for privacy-preserving data publishing",
    whose definition of what an attacker knows includes such exclusions.

    Examples:
        >>> table = {"zip": ["130**"] * 4 + ["148**"] * 2, "ill": ["flu", "flu", "gout", "cold", "flu", "gout"]}
        >>> found = background(table, on=["zip"], sensitive="ill")
        >>> found.needed, [round(share, 2) for share in found.certain[:3]], [round(p, 2) for p in found.worst[:2]]
        (((1, 2), (2, 4)), [0.0, 0.33, 1.0], [0.5, 1.0])
    """
    if not 0 <= excluded <= most:
        raise InvalidArgument(f"excluded must be a whole number from 0 to {most}, see `most`")
    seen = seen_of(release, on=on, sensitive=sensitive, people=people, labels=labels)
    tally = seen.tally
    needed = _needed(tally)
    known = np.diff(tally.starts) > 0  # of nobody's class nothing is certain
    beliefs = _beliefs(tally, most)
    rows = tally.people()
    total = max(int(rows.sum()), 1)
    certain = [float(rows[known & (needed <= m)].sum() / total) for m in range(most + 1)]
    numbers, counts = np.unique(np.repeat(needed, rows), return_counts=True)
    occupied = known & (rows > 0)
    return BackgroundResult(
        attack="background",
        against=seen.name,
        tried=len(tally.of_person),
        success=certain[excluded],
        baseline=float(_needed_of(tally.priors) <= excluded),
        baseline_is="the whole table as one class",
        guesses=guesses(tally, seen.names(), seen.scored().right),
        at_most=tally.overlaps,
        excluded=excluded,
        classes=tally.kinds,
        needed=tuple(zip(numbers.tolist(), counts.tolist(), strict=True)),
        certain=tuple(certain),
        worst=tuple(float(row.max(initial=0.0, where=occupied)) for row in beliefs),
        mean=tuple(float((row * rows).sum() / total) for row in beliefs),
    )


def _needed(tally: Tally) -> Whole:
    """Of each class, how many exclusions leave one value; 0 of a class without candidates.

    Through noise nobody can see that all have one of several values, so then all others must be excluded.
    """
    alone: Whole = np.maximum(np.diff(tally.starts) - 1, 0)
    if not tally.overlaps or tally.noisy:
        return alone
    totals = tally.totals()
    for kind in np.flatnonzero(alone):
        counts = tally.counts[tally.starts[kind] : tally.starts[kind + 1]]
        alone[kind] = _needed_of(counts / totals[kind])
    return alone


def _needed_of(shares: Reals) -> int:
    """The same of a class in which values have these shares; they add up to more than 1 if units have several."""
    falling = np.sort(shares[shares > 0])[::-1]
    return min(int(np.searchsorted(np.cumsum(falling), 1 - 1e-12)), max(len(falling) - 1, 0))  # 1, but for rounding


def _beliefs(tally: Tally, most: int) -> Reals:
    """The worst belief after each number of exclusions: exclusions × classes."""
    kinds = tally.kind_of_entry()
    order = np.lexsort((-tally.counts, kinds))
    rank = np.arange(len(order)) - tally.starts[kinds]
    counts, totals = tally.counts[order], tally.totals()
    top = summed(kinds[rank == 0], counts[rank == 0], tally.kinds)
    rows = []
    for m in range(most + 1):
        gone = (rank > 0) & (rank <= m)
        left = totals - summed(kinds[gone], counts[gone], tally.kinds)
        rows.append(np.where(totals > 0, top / np.maximum(left, 1e-300), 0.0))
    return np.minimum(np.array(rows, dtype=np.float64), 1.0)


# ── Skewness and similarity ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SkewnessResult(AttackResult):
    """By how much classes shift what is believed.

    `success` is the share of people whose value, or whose group of values, is guessed right by the class;
    `baseline` that of guessing the commonest one of all.

    Args:
        classes: how many classes there are.
        worst_ratio: the greatest share of a value in a class, divided by its share in the table.
        least_ratio: the smallest; 0 if some class lacks a value, and that excludes it.
        worst_value: the value with the greatest ratio.
        doubled_people: people in a class where some value is at least twice as common as in the table.
        ratios: people by the greatest ratio of their class: (ratio, people), ratios ascending, at most 100 of them.
        similar_classes: classes with a group of values that all in them have.
        similar_people: people in them.
    """

    classes: int
    worst_ratio: float
    least_ratio: float
    worst_value: str
    doubled_people: int
    ratios: tuple[tuple[float, int], ...]
    similar_classes: int
    similar_people: int


_STEPS = 100
_TWICE = 2 * (1 - 1e-12)  # what is twice but for rounding counts


def skewness(  # noqa: PLR0913 — what is attacked and what values have in common, each by name
    release: object,
    *,
    on: On,
    sensitive: str,
    groups: Mapping[Value, str] | None = None,
    people: object | None = None,
    labels: Sequence[Value] | None = None,
) -> SkewnessResult:
    """Compare what classes say of the sensitive attribute with what the table says.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        on: the quasi-identifiers.
        sensitive: the attribute.
        groups: what values have in common, value → group: the level of a hierarchy of the sensitive attribute, such as
            `stomach ulcer` and `gastritis` → `stomach disease`. A class of one group gives it away though its values
            differ (similarity). Each value is its own group if left out.
        people: see `homogeneity`.
        labels: see `homogeneity`.

    Raises:
        InvalidArgument: a value has no group.
        SchemaMismatch: a table lacks a column.

    Source: Li, Li, Venkatasubramanian (2007), "t-closeness: privacy beyond k-anonymity and l-diversity", the
    examples of the skewness attack and the similarity attack.

    Examples:
        >>> table = {"zip": ["1"] * 2 + ["2"] * 2, "ill": ["ulcer", "gastritis", "flu", "ulcer"]}
        >>> stomach = {"ulcer": "stomach", "gastritis": "stomach", "flu": "lung"}
        >>> found = skewness(table, on=["zip"], sensitive="ill", groups=stomach)
        >>> found.similar_people, found.worst_ratio, found.worst_value
        (2, 2.0, 'lung')
    """
    seen = _seen(release, on, sensitive, groups, people, labels)
    tally, scored = seen.tally, seen.scored()
    people_of = tally.people()
    ratio = tally.shares() / np.maximum(tally.priors[tally.values], 1e-300)
    kinds = tally.kind_of_entry()
    greatest = np.zeros(tally.kinds)
    np.maximum.at(greatest, kinds, ratio)
    lacks = np.diff(tally.starts) < int((tally.priors > 0).sum())
    single = tally.alike()
    top = int(ratio.argmax()) if len(ratio) else 0
    return SkewnessResult(
        attack="skewness" if groups is None else "similarity",
        against=seen.name,
        tried=len(tally.of_person),
        success=scored.success,
        baseline=scored.baseline,
        baseline_is="the commonest value" if groups is None else "the commonest group of values",
        guesses=_guesses(seen),
        classes=tally.kinds,
        worst_ratio=float(ratio.max(initial=0.0)),
        least_ratio=0.0 if lacks.any() else float(ratio.min(initial=np.inf)),
        worst_value=shown(tally.labels[int(tally.values[top])]) if len(ratio) else "",
        doubled_people=int(people_of[greatest >= _TWICE].sum()),
        ratios=_curve(greatest, people_of),
        similar_classes=int(single.sum()),
        similar_people=int(people_of[single].sum()),
    )


class _Groups:
    """What values have in common, in place of the values.

    A person who has several values of a group is in it once, so groups are counted in the table, and not added up.
    """

    def __init__(self, groups: Mapping[Value, str], sensitive: str) -> None:
        """Keep the groups by their values' texts.

        Args:
            groups: value → group.
            sensitive: the column.
        """
        self.texts = {plain(value): group for value, group in groups.items()}
        self.sensitive = sensitive

    def of(self, labels: Sequence[Value]) -> list[str]:
        """Of each of these values, its group.

        Raises:
            InvalidArgument: a value has none.
        """
        lacking = [label for label in labels if plain(label) not in self.texts]
        if lacking:
            raise InvalidArgument(f"{len(lacking)} of {len(labels)} values have no group", hint="groups={value: group}")
        return [self.texts[plain(label)] for label in labels]

    def recoded(self, table: Records) -> Records:
        """A table with groups for values, if it has the column."""
        import pyarrow as pa

        if self.sensitive not in table.names:
            return table
        column = table.column(self.sensitive)
        values = pa.array(self.of(column.labels()), pa.string()).take(pa.array(column.codes))
        return replace(table, columns={**table.columns, self.sensitive: encode(self.sensitive, values)})

    def members(self, labels: Sequence[Value]) -> dict[str, list[Value]]:
        """The groups of these values, and the values of each."""
        found: dict[str, list[Value]] = {}
        for label, group in sorted(zip(labels, self.of(labels), strict=True), key=lambda pair: pair[1]):
            found.setdefault(group, []).append(label)
        return found


def _seen(  # noqa: PLR0913, PLR0917 — what `skewness` is given
    release: object,
    on: On,
    sensitive: str,
    groups: Mapping[Value, str] | None,
    people: object | None,
    labels: Sequence[Value] | None,
) -> Seen:
    """What is seen of values, or of their groups."""
    if groups is None:
        return seen_of(release, on=on, sensitive=sensitive, people=people, labels=labels)
    merged, known = _Groups(groups, sensitive), None if people is None else read(people)
    recoded = None if known is None else merged.recoded(known)
    if not isinstance(release, Answering):
        rows = Rows.of(release)
        return seen_of(replace(rows, records=merged.recoded(rows.records)), on=on, sensitive=sensitive, people=recoded)
    if labels is None and known is not None and sensitive in known.names:
        labels = known.column(sensitive).labels()
    members = merged.members(labels or ())
    return seen_of(
        release,
        on=on,
        sensitive=sensitive,
        people=recoded,
        labels=list(members) or None,
        asked=list(members.values()) or None,
    )


def _curve(greatest: Reals, people: Whole) -> tuple[tuple[float, int], ...]:
    """People by ratio, rounded to so many steps that few points are left."""
    if not len(greatest):
        return ()
    step = max(float(greatest.max()) / _STEPS, 1e-12)
    places, inverse = np.unique(np.floor(greatest / step), return_inverse=True)
    sums = summed(inverse, people, len(places)).astype(np.int64)
    return tuple(zip((places * step).tolist(), sums.tolist(), strict=True))


def _guesses(seen: Seen) -> tuple[Guess, ...]:
    """Those of whom most is believed, beside what the table says."""
    tally, truth = seen.tally, seen.truth
    names, sure, best = seen.names(), tally.surety()[tally.of_person], tally.best()[tally.of_person]
    gain = sure - tally.priors[best]
    right = None if truth is None else truth.right(best)
    return tuple(
        Guess(
            who=names(person),
            what=f"{tally.sensitive} = {shown(tally.labels[best[person]])}",
            confidence=float(min(sure[person], 1.0)),
            right=None if right is None else bool(right[person]),
        )
        for person in first(gain)
    )
