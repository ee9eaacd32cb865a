"""What attacks see of people's sensitive values: who is guessed, by what is seen of them, and what is true of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Value, Whole
from discreet.anonymity.records.records import Records
from discreet.attacks.result import Guess
from discreet.attacks.rows.guessing import Scored, Truth, guesses, score, truth_of
from discreet.attacks.rows.people import Namer, People, named, one_of_each, refuse_rows
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.rows import On, Rows, paired
from discreet.attacks.targets.seeing import see
from discreet.attacks.targets.tally import Tally
from discreet.errors import InvalidArgument, NotTried


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Seen:
    """Classes of people as an attacker sees them.

    Args:
        name: what was attacked.
        tally: of each class, how many have which sensitive value.
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

    def guesses(self) -> tuple[Guess, ...]:
        """The surest guesses."""
        return guesses(self.tally, self.names(), self.scored().right)


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
    """What is seen of people's sensitive values.

    Args:
        release: published rows, or answers.
        on: the quasi-identifiers.
        sensitive: the attribute.
        people: who is guessed; the released rows themselves if left out, one of each unit.
        labels: of the attribute, where `people` doesn't have it and answers are attacked.
        asked: what answers are asked for in place of these, see `see`.
        near: what answers are asked for in place of the values that people are known by, see `see`.
        who: the column of `people` that names them.

    Raises:
        InvalidArgument: answers, and nobody to ask for; or answers that count rows, and people with several.
        NotTried: nobody is known, or a budget doesn't last for one person.
    """
    if people is None:
        if isinstance(release, Answering):
            raise InvalidArgument("answers don't say whom to ask for", hint="people=…, a table of whom is known")
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
        raise NotTried("nobody is known whom to look for", hint="a table of one person or more")
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
    near: Mapping[str, Sequence[object]] | None = None,
    who: str | None = None,
) -> Seen:
    """What attacks that link rows can see through answers: values, and no rows. See `seen_of`.

    Raises:
        InvalidArgument: no sensitive attribute is named, so that there is nothing to see.
    """
    if sensitive is None:
        raise InvalidArgument("answers have no rows to link", hint="name the sensitive column to learn from them")
    return seen_of(answers, on=on, sensitive=sensitive, people=people, near=near, who=who)
