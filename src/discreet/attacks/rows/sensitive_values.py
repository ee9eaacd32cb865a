"""Guesses of sensitive values: whose are guessed, from what an attack sees of them, and how often that is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Value, Whole
from discreet.anonymity.grouping import distinct
from discreet.anonymity.records import Records
from discreet.attacks.attack_result import Guess
from discreet.attacks.naming import Namer, first, named, shown
from discreet.attacks.people import People, one_of_each, refuse_rows
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import Tally
from discreet.attacks.targets.compatible import plain
from discreet.attacks.targets.rows import On, Rows, paired
from discreet.attacks.targets.tally_of_answers import see
from discreet.errors import InvalidArgument, NotTried


class Believed(Protocol):
    """Beliefs about people's sensitive values, such as a `Tally`."""

    @property
    def sensitive(self) -> str:
        """The name of the attribute."""

    @property
    def labels(self) -> tuple[Value, ...]:
        """Its values."""

    @property
    def priors(self) -> Reals:
        """For each label, its share among everyone."""

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
        owners: for each entry, the person; one without an entry has no value that is known.
        values: for each entry, the place of the value in the labels of what is believed; −1 if it isn't there.
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
        """The truth about these people, in this order."""
        place = np.full(self.people, -1, dtype=np.int64)
        place[people] = np.arange(len(people))
        kept = place[self.owners] >= 0
        return Truth(owners=place[self.owners[kept]], values=self.values[kept], people=len(people))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scored:
    """How often the best guess is right.

    Args:
        success: share of people whose value is guessed right; None where the truth is unknown.
        baseline: the same if everyone is taken to have the value that is commonest among them; where the truth is
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
        right: for each person, whether the guess is right.
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


class Outcome(TypedDict):
    """The figures of every attack that guesses people's sensitive values by their classes."""

    attack: str
    against: str
    tried: int
    success: float | None
    baseline: float
    baseline_is: str
    guesses: tuple[Guess, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Seen:
    """Classes of people as an attacker sees them.

    Args:
        name: what was attacked.
        tally: for each class, how many have which sensitive value.
        people: who is guessed, one row each.
        rows: of each person in the tally, the row in `people`.
        on: the columns by which they are known.
        truth: what is true of the people in the tally; None if it is unknown.
        who: the column that names people; None if there is none.
    """

    name: str
    tally: Tally
    people: Records
    rows: Whole
    on: tuple[str, ...]
    truth: Truth | None
    who: str | None = None

    def scored(self) -> Scored:
        """How often the commonest value of a class is right."""
        return score(self.tally, self.truth)

    def names(self) -> Namer:
        """How people of the tally are called."""
        inner = named(self.people, self.on, self.who)
        return lambda person: inner(int(self.rows[person]))

    def outcome(self, attack: str) -> Outcome:
        """The result of an attack of this name, if it gives each person the commonest value of their class."""
        scored = self.scored()
        return Outcome(
            attack=attack,
            against=self.name,
            tried=len(self.rows),
            success=scored.success,
            baseline=scored.baseline,
            baseline_is="the commonest value",
            guesses=guesses(self.tally, self.names(), scored.right),
        )


def seen_of(  # noqa: PLR0913 — what is attacked, of whom, by what and for what, each by name
    release: object,
    *,
    on: On,
    sensitive: str,
    people: object | None = None,
    labels: Sequence[Value] | None = None,
    asked: Sequence[object] | None = None,
    near: Mapping[str, Sequence[object]] | None = None,
    who: str | None = None,
) -> Seen:
    """The tally that an attack sees of people's sensitive values.

    Args:
        release: published rows, or answers.
        on: the quasi-identifiers.
        sensitive: the attribute.
        people: who is guessed; the released rows themselves if left out, one of each unit.
        labels: of the attribute, where answers are attacked: those of `people` if left out.
        asked: what answers are asked for in place of these, see `see`.
        near: what answers are asked for in place of the values that people are known by, see `see`.
        who: the column of `people` that names them.

    Raises:
        InvalidArgument: answers, and nobody to ask for; or answers that count rows, and people with several.
        NotTried: nobody is known, or a budget doesn't last for one person.
    """
    if people is None:
        if isinstance(release, Answering):
            raise InvalidArgument(
                "answers don't say who to ask about", hint="people=…, a table of the people who are known"
            )
        rows = Rows.of(release)
        if not rows.records.rows:
            raise NotTried("the release has no rows")
        itself = rows.itself(tuple(paired(on).values()), sensitive)
        drawn = one_of_each(rows.records)
        whose, own = rows.records.units, rows.records.column(sensitive).codes.astype(np.int64)
        owners = np.arange(rows.records.rows) if whose is None else whose.codes.astype(np.int64)
        return Seen(
            name=rows.name,
            tally=itself.of_people(itself.of_person[drawn]),
            people=rows.records,
            rows=drawn,
            on=tuple(paired(on).values()),
            truth=Truth(owners=owners, values=own, people=len(drawn)),
        )
    wanted = People.of(people)
    known = wanted.known
    if not known.rows:
        raise NotTried("there is no known person to look for", hint="a table of one person or more")
    if isinstance(release, Answering):
        refuse_rows(release, wanted.every)
        if labels is None and sensitive in wanted.every.names:
            labels = wanted.every.column(sensitive).labels()
        name, tally = release.against, see(release, known, on, sensitive, labels, asked=asked, near=near)
    else:
        rows = Rows.of(release)
        name, tally = rows.name, rows.tally(rows.candidates(known, on), sensitive)
    reached = np.flatnonzero(tally.of_person >= 0)
    tally = tally.of_people(tally.of_person[reached])
    truth = truth_of(wanted, tally)
    return Seen(
        name=name,
        tally=tally,
        people=known,
        rows=reached,
        on=tuple(paired(on)),
        truth=None if truth is None else truth.of(reached),
        who=who,
    )


def asked_of(  # noqa: PLR0913 — who is asked, about whom, by what and for what, each by name
    answers: Answering,
    people: object,
    *,
    on: On,
    sensitive: str | None,
    labels: Sequence[Value] | None = None,
    near: Mapping[str, Sequence[object]] | None = None,
    who: str | None = None,
) -> Seen:
    """The view of attacks that link rows through answers: values, and no rows. See `seen_of`.

    Raises:
        InvalidArgument: no sensitive attribute is named, so that there is nothing to see.
    """
    if sensitive is None:
        raise InvalidArgument("answers have no rows to link", hint="name the sensitive column to learn from them")
    return seen_of(answers, on=on, sensitive=sensitive, people=people, labels=labels, near=near, who=who)
