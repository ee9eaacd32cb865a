"""Guessing sensitive values from a tally, and scoring the guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.anonymity.records.column import Mask, Reals, Value, Whole
from discreet.anonymity.records.grouping import distinct
from discreet.attacks.result import Guess
from discreet.attacks.rows.people import Namer, People, first, shown
from discreet.attacks.targets.compatible import plain


class Believed(Protocol):
    """What is believed of people's sensitive values, such as a `Tally`."""

    @property
    def sensitive(self) -> str:
        """The name of the attribute."""

    @property
    def labels(self) -> tuple[Value, ...]:
        """Its values."""

    @property
    def priors(self) -> Reals:
        """Of each label, its share among everybody."""

    @property
    def of_person(self) -> Whole:
        """Person → kind."""

    def best(self) -> Whole:
        """The likeliest value of each kind."""

    def surety(self) -> Reals:
        """How likely it is."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Truth:
    """The true sensitive values of people: one of each, or several of those who have several rows.

    Args:
        owners: of each entry, the person; one without an entry has no value that is known.
        values: of each entry, the place of the value in the labels of what is believed; −1 if it isn't there.
        people: how many people there are.

    Examples:
        >>> truth = Truth(owners=np.array([0, 0, 1]), values=np.array([2, 5, 5]), people=2)
        >>> truth.right(np.array([5, 2])).tolist(), truth.commonest
        ([True, False], 2)
    """

    owners: Whole
    values: Whole
    people: int

    def right(self, guessed: Whole) -> Mask:
        """Whether what is guessed of each person is among their values."""
        found = np.zeros(self.people, dtype=np.bool_)
        found[self.owners[self.values == guessed[self.owners]]] = True
        return found

    @property
    def commonest(self) -> int:
        """How many people have the value that most of them have."""
        there = self.values >= 0
        keys = distinct(self.values[there] * max(self.people, 1) + self.owners[there])
        return int(np.bincount(keys // max(self.people, 1), minlength=1).max())

    def of(self, people: Whole) -> Truth:
        """That of these people, in this order."""
        place = np.full(self.people, -1, dtype=np.int64)
        place[people] = np.arange(len(people))
        kept = place[self.owners] >= 0
        return Truth(owners=place[self.owners[kept]], values=self.values[kept], people=len(people))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scored:
    """How often the best guess is right.

    Args:
        success: share of people whose value is guessed right; None where the truth is unknown.
        baseline: the same if everybody is taken to have the value that is commonest among them; where the truth is
            unknown, the share of the commonest value of all.
        right: of each person; None where the truth is unknown.
    """

    success: float | None
    baseline: float
    right: Mask | None


def score(seen: Believed, truth: Truth | None) -> Scored:
    """Score the best guess for each person.

    Args:
        seen: what is seen of each kind of person.
        truth: what is true of them; None if it is unknown.
    """
    if truth is None:
        return Scored(success=None, baseline=float(seen.priors.max(initial=0.0)), right=None)
    right = truth.right(seen.best()[seen.of_person])
    count = max(truth.people, 1)
    return Scored(success=float(right.sum() / count), baseline=truth.commonest / count, right=right)


def truth_of(people: People, seen: Believed) -> Truth | None:
    """The true values of people, as places in the tally's labels; None if it isn't known which they have.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.attacks.targets.rows import Rows
        >>> people = People.of({"sex": ["F", "M"], "ill": ["flu", "gout"]})
        >>> seen = Rows.of(read({"sex": ["F"], "ill": ["flu"]})).itself(["sex"], "ill")
        >>> truth_of(people, seen).values.tolist()
        [0, -1]
    """
    if seen.sensitive not in people.every.names:
        return None
    column = people.every.column(seen.sensitive)
    places = {plain(label): place for place, label in enumerate(seen.labels)}
    of_label = np.array([places.get(plain(label), -1) for label in column.labels()], dtype=np.int64)
    return Truth(owners=people.of_row, values=of_label[column.codes], people=people.known.rows)


def guesses(seen: Believed, names: Namer, right: Mask | None) -> tuple[Guess, ...]:
    """The surest guesses of values.

    Args:
        seen: what is seen of each kind of person.
        names: how people are called.
        right: of each person, whether the guess is right.
    """
    sure, best = seen.surety()[seen.of_person], seen.best()[seen.of_person]
    return tuple(
        Guess(
            who=names(person),
            what=f"{seen.sensitive} = {shown(seen.labels[best[person]])}",
            confidence=float(min(sure[person], 1.0)),
            right=None if right is None else bool(right[person]),
        )
        for person in first(sure)
    )
