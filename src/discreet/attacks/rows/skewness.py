"""Skewness and similarity: a class says more of a value than the table does, or of what values have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.anonymity.encode import encode
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.naming import first, shown
from discreet.attacks.rows.sensitive_values import Seen, seen_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import summed
from discreet.attacks.targets.compatible import plain
from discreet.attacks.targets.rows import On, Rows
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SkewnessResult(AttackResult):
    """How much classes shift an attacker's beliefs.

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
    """Values grouped by what they have in common, in place of the values.

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
        """For each of these values, its group.

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
    """The tally of values, or of their groups."""
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
    """People by ratio, rounded so that few points are left."""
    if not len(greatest):
        return ()
    step = max(float(greatest.max()) / _STEPS, 1e-12)
    places, inverse = np.unique(np.floor(greatest / step), return_inverse=True)
    sums = summed(inverse, people, len(places)).astype(np.int64)
    return tuple(zip((places * step).tolist(), sums.tolist(), strict=True))


def _guesses(seen: Seen) -> tuple[Guess, ...]:
    """The people of whom most is believed, beside what the table says."""
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
