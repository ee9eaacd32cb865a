"""Intersection: two releases about the same people, each anonymous, and together not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.naming import named
from discreet.attacks.people import People, refuse_rows
from discreet.attacks.rows.sensitive_values import guesses, score, truth_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import Tally, expand, summed
from discreet.attacks.targets.compatible import plain
from discreet.attacks.targets.rows import On, Rows, paired
from discreet.attacks.targets.tally_of_answers import see
from discreet.errors import NotTried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntersectionResult(AttackResult):
    """The combined evidence of two releases.

    `success` is the share of people whose value is guessed right from both; `baseline` from the better of the two.

    Args:
        candidates: people's smallest number of candidates: in the first release, the second, and both. This many rows,
            or units, can be the same person's in both: the sum over values of the smaller of its two counts. None of
            answers, which have no rows.
        values: people's mean number of possible values: in the first, the second, and both.
        certain: share of people with one possible value: in the first, the second, and both.
        lost: people with no possible value in both: at least one release can't have them.
        left: possible values in both → how many people have that many.
    """

    candidates: tuple[int, int, int] | None
    values: tuple[float, float, float]
    certain: tuple[float, float, float]
    lost: int
    left: tuple[tuple[int, int], ...]


def intersection(  # noqa: PLR0913 — two releases, who is in both, and what is wanted, each by name
    first: object,
    second: object,
    people: object,
    *,
    on: On,
    sensitive: str,
    second_on: On | None = None,
    who: str | None = None,
) -> IntersectionResult:
    """Intersect what two releases say of the same people.

    A person who is in both has a value that their candidates have in the first and in the second. Against answers, each
    release is asked how many have what is known of a person and this value; whom a budget doesn't last for isn't among
    those who were tried.

    Args:
        first: a release: a table, an `Anonymized`, `Rows`, or `Answers`.
        second: another.
        people: those who are in both, one row each, or a table that is read by unit; with quasi-identifiers, and with
            the sensitive attribute if its truth is known.
        on: the quasi-identifiers that are known of people, in both releases.
        sensitive: the attribute, in both releases.
        second_on: those of the second release, if they are others.
        who: a column that names people in the report.

    Raises:
        InvalidArgument: answers are attacked and nothing says which values there are.
        NotTried: nobody is known, or a budget doesn't last for one person.
        SchemaMismatch: a table lacks a column.

    Source: Ganta, Kasiviswanathan, Smith (2008), "Composition attacks and auxiliary information in data privacy", the
    algorithm of the intersection attack.

    Examples:
        >>> east = {"zip": ["130**"] * 3, "ill": ["flu", "gout", "cold"]}
        >>> west = {"zip": ["13*"] * 3, "ill": ["flu", "burn", "rash"]}
        >>> found = intersection(
        ...     east, west, {"zip": ["13053"], "short": ["135"]}, on=["zip"], second_on={"short": "zip"},
        ...     sensitive="ill",
        ... )
        >>> found.certain, found.candidates
        ((0.0, 0.0, 1.0), (3, 3, 1))
        >>> print(found.guesses[0])
        zip 13053: ill = flu, 100 % sure
    """
    wanted = People.of(people)
    known = wanted.known
    if not known.rows:
        raise NotTried("there is no known person to look for", hint="a table of one person or more")
    for each in (first, second):
        if isinstance(each, Answering):
            refuse_rows(each, wanted.every)
    releases = [each if isinstance(each, Answering) else Rows.of(each) for each in (first, second)]
    labels = wanted.every.column(sensitive).labels() if sensitive in wanted.every.names else None
    one = _seen(releases[0], known, on, sensitive, labels)
    other = _seen(releases[1], known, second_on or on, sensitive, labels or one.labels)
    reached = np.flatnonzero((one.of_person >= 0) & (other.of_person >= 0))
    known, one, other = known.take(reached), *(each.of_people(each.of_person[reached]) for each in (one, other))
    both = _Both.of(one, other)
    seen = (one, other, both.tally)
    truths = [truth_of(wanted, each) for each in seen]
    scored = [score(each, None if true is None else true.of(reached)) for each, true in zip(seen, truths, strict=True)]
    values = [np.diff(each.starts)[each.of_person] for each in seen]
    left, of_people = np.unique(values[2], return_counts=True)
    return IntersectionResult(
        attack="intersection",
        against=" beside ".join(each.name if isinstance(each, Rows) else each.against for each in releases),
        tried=known.rows,
        success=scored[2].success,
        baseline=max(each.baseline if each.success is None else each.success for each in scored[:2]),
        baseline_is="the better of the two releases" if scored[2].right is not None else "the commonest value",
        guesses=guesses(both.tally, named(known, list(paired(on)), who), scored[2].right),
        candidates=(_fewest(one), _fewest(other), int(both.common[both.tally.of_person].min()))
        if all(isinstance(each, Rows) for each in releases)
        else None,
        values=_three(values, lambda each: float(each.mean())),
        certain=_three(values, lambda each: float((each == 1).mean())),
        lost=int((values[2] == 0).sum()),
        left=tuple(zip(left.tolist(), of_people.tolist(), strict=True)),
    )


def _seen(release: Rows | Answering, known: Records, on: On, sensitive: str, labels: Sequence[Value] | None) -> Tally:
    """The tally that one release gives for people. Those whom answers don't reach are of kind −1.

    Args:
        release: who is asked, or rows.
        known: of people.
        on: by which columns they are known.
        sensitive: what is wanted.
        labels: its values; None if nothing says which there are.
    """
    if isinstance(release, Rows):
        return release.tally(release.candidates(known, on), sensitive)
    return see(release, known, on, sensitive, labels)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Both:
    """Two tallies of the same people, combined.

    The others in a class are taken to be drawn from everyone. Then a class in which c rows have a value that a share p
    of everyone has is c/p times as likely if the person has it, and for two classes both factors count: belief in the
    value is in proportion to p · (c₁/p) · (c₂/p).

    Args:
        tally: by pair of kinds, the belief in each value that both have.
        common: of each pair of kinds, how many candidates can be the same person's.
    """

    tally: Tally
    common: Reals

    @classmethod
    def of(cls, one: Tally, other: Tally) -> _Both:
        """Intersect them, for pairs of kinds that some person is of."""
        pairs = group(
            [one.of_person.astype(np.int32), other.of_person.astype(np.int32)], [max(one.kinds, 1), max(other.kinds, 1)]
        )
        first, second = pairs.tuples().T.astype(np.int64)
        places = {plain(label): place for place, label in enumerate(one.labels)}
        lost = len(places)
        renamed = np.array([places.get(plain(label), lost) for label in other.labels], dtype=np.int64)
        owner, entry = expand(one.starts, first)
        partner, match = expand(other.starts, second)
        span = lost + 1
        named_too = renamed[other.values[match]] < lost
        partner, match = partner[named_too], match[named_too]
        mine, theirs = owner * span + one.values[entry], partner * span + renamed[other.values[match]]
        keys, left, right = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        kinds, values = np.divmod(keys, span)
        a, b = one.counts[entry[left]], other.counts[match[right]]
        tally = Tally(
            sensitive=one.sensitive,
            labels=one.labels,
            of_person=pairs.of_row(),
            starts=np.searchsorted(kinds, np.arange(pairs.number + 1)),
            values=values,
            counts=a * b / one.priors[values],
            priors=one.priors,
        )
        fewer = np.minimum(one.totals()[first], other.totals()[second])
        return cls(tally=tally, common=np.minimum(summed(kinds, np.minimum(a, b), pairs.number), fewer))


def _fewest(seen: Tally) -> int:
    """The smallest number of candidates of any person."""
    return int(seen.totals()[seen.of_person].min())


def _three(values: Sequence[Whole], figure: Callable[[Whole], float]) -> tuple[float, float, float]:
    """A figure of each release and of both."""
    one, other, both = (figure(each) for each in values)
    return one, other, both
