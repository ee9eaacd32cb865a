"""Guessing sensitive values from a tally, and scoring the guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.anonymity.records.column import Coded, Mask, Reals, Value, Whole
from discreet.attacks.result import Guess
from discreet.attacks.rows.people import Namer, first, shown
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


def score(seen: Believed, truth: Whole | None) -> Scored:
    """Score the best guess for each person.

    Args:
        seen: what is seen of each kind of person.
        truth: of each person, the place of the true value in the tally's labels, −1 for a value that isn't there;
            None if it is unknown.
    """
    if truth is None:
        return Scored(success=None, baseline=float(seen.priors.max(initial=0.0)), right=None)
    right = seen.best()[seen.of_person] == truth
    count = max(len(truth), 1)
    commonest = int(np.bincount(truth[truth >= 0], minlength=1).max())
    return Scored(success=float(right.sum() / count), baseline=commonest / count, right=right)


def truth_of(column: Coded, seen: Believed) -> Whole:
    """Of each row, the place of its value in the tally's labels; −1 for a value that isn't there.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.attacks.targets.rows import Rows
        >>> people = read({"sex": ["F", "M"], "ill": ["flu", "gout"]})
        >>> seen = Rows.of(read({"sex": ["F"], "ill": ["flu"]})).itself(["sex"], "ill")
        >>> truth_of(people.column("ill"), seen).tolist()
        [0, -1]
    """
    places = {plain(label): place for place, label in enumerate(seen.labels)}
    return np.array([places.get(plain(label), -1) for label in column.labels()], dtype=np.int64)[column.codes]


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
