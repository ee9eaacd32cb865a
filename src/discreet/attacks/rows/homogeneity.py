"""Homogeneity: in a class with one sensitive value everyone has it, however large the class is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.anonymity.columns import Value
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.rows.sensitive_values import seen_of
from discreet.attacks.targets.rows import On


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
