"""Background knowledge: an attacker who knows that some values aren't a person's has fewer left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.rows.sensitive_values import guesses, seen_of
from discreet.attacks.targets.candidates import Tally, summed
from discreet.attacks.targets.rows import On
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BackgroundResult(AttackResult):
    """How many values must be excluded before a person's is certain.

    `success` is the share of people whose value is certain after `excluded` exclusions: a class with l values is
    certain after l − 1 of them; `baseline` the same without classes, where the whole table is one. Where someone has
    several values in a class, these are bounds, see `at_most`.

    Args:
        at_most: whether units have several values in some class. How certain people are is then the most that can be:
            nobody is certain after fewer exclusions, nor believed more; it may take more of them, if the values that
            are excluded are the same units'.
        excluded: how many values the attacker can exclude for the person.
        classes: how many classes there are.
        needed: exclusions needed for certainty → how many people need that many.
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
    known = np.diff(tally.starts) > 0  # nothing is certain about a class without people
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
    """For each class, how many exclusions leave one value; 0 of a class without candidates.

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
