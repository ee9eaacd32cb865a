"""Linkage: rows without names, joined with what is known of people by the columns that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.grouping import distinct
from discreet.anonymity.records import Records
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.naming import Namer, first, named
from discreet.attacks.people import People
from discreet.attacks.rows.record_pairs import keys_of
from discreet.attacks.rows.sensitive_values import Seen, Truth, asked_of, guesses, score, truth_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import expand
from discreet.attacks.targets.rows import Candidates, On, Rows, paired
from discreet.errors import InvalidArgument, NotTried

if TYPE_CHECKING:
    from discreet.anonymity.columns import Value, Whole
    from discreet.attacks.targets.candidates import Tally


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkageResult(AttackResult):
    """How many people's rows were found.

    `success` is about the sensitive value if one was named: share of people for whom the commonest value among their
    candidates is theirs. Otherwise it is about the row: share who are named right if one of their candidates is drawn.

    Args:
        rows: how many rows were published; None of answers, which have none, and so no candidates either.
        units: how many units those are of, where a release is read by unit: then they are the candidates.
        unique: people who have exactly one candidate.
        unmatched: people who have none.
        expected: share of people named right if one of their candidates is drawn, provided that everyone with
            candidates is among them.
        unique_right: how many of the unique matches are right; None without an answer key.
        precision: of all pairs of a person and a candidate, which share is right; None without an answer key.
        recall: of all people, which share has a row of their own among the candidates; None without an answer key.
        candidates: how many candidates → how many people have that many.
        values: share of candidates with the best value → how many people have it that sure; empty if none was named.
    """

    rows: int | None
    units: int | None
    unique: int | None
    unmatched: int | None
    expected: float | None
    unique_right: int | None
    precision: float | None
    recall: float | None
    candidates: tuple[tuple[int, int], ...]
    values: tuple[tuple[float, int], ...]


def linkage(  # noqa: PLR0913 — what links, what is wanted, and what is known to be true, each by name
    release: object,
    auxiliary: object,
    *,
    on: On,
    sensitive: str | None = None,
    labels: Sequence[Value] | None = None,
    truth: str | Mapping[str, str] | None = None,
    who: str | None = None,
) -> LinkageResult:
    """Link people to rows, or learn their sensitive values.

    Generalised cells take whatever value may have become them, see `relate`. Against answers, each kind of person is
    asked for: how many have their values and this sensitive value; the value with the largest answer is guessed.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        auxiliary: what is known of people, one row each. In a table that is read by unit, one row of each unit is
            known, drawn at random, and the values of all of its rows are true.
        on: the columns that both have; a mapping if their names differ.
        sensitive: a released column to learn. If the auxiliary table has it too, it is the truth to score by.
        labels: see `homogeneity`.
        truth: a column of both tables that says which row is whose: the answer key, which isn't used to link; or its
            name in what is known → its name in what was released.
        who: a column of the auxiliary table that names people in the report.

    Raises:
        InvalidArgument: no columns to link on, several answer keys, or answers and no sensitive column.
        NotTried: nobody is known, or a budget doesn't last for one person.
        SchemaMismatch: a table lacks a column.

    Source: Sweeney (2002), "k-anonymity: a model for protecting privacy", figure 1: the linking of
    voters' and patients' lists.

    Examples:
        >>> voters = {"name": ["Ann", "Bob"], "age": [25, 31], "zip": ["12345", "12399"]}
        >>> patients = {"age": ["20-29", "30-39", "30-39"], "zip": ["123**"] * 3, "ill": ["flu", "gout", "gout"]}
        >>> found = linkage(patients, voters, on=["age", "zip"], sensitive="ill", who="name")
        >>> found.unique, found.candidates
        (1, ((1, 1), (2, 1)))
        >>> print(found.guesses[1])
        Bob: ill = gout, 100 % sure
    """
    people = People.of(auxiliary)
    known = people.known
    if not known.rows:
        raise NotTried("there is no known person to look for", hint="a table of one person or more")
    if isinstance(release, Answering):
        return _of_answers(asked_of(release, people.every, on=on, sensitive=sensitive, labels=labels, who=who))
    key = _key(truth)
    names = named(known, list(paired(on)), who)
    rows = Rows.of(release)
    found = rows.candidates(known, on)
    numbers = found.numbers()
    matched = _Matched.of(found, known, rows.records, key)
    seen = None if sensitive is None else rows.tally(found, sensitive)
    if seen is None:
        success, baseline = matched.drawn, 1 / max(rows.records.counted, 1)
        told = matched.guesses(found, names)
    else:
        scored = score(seen, _values(people, rows.records, seen, key))
        success, baseline = scored.success, scored.baseline
        told = guesses(seen, names, scored.right)
    return LinkageResult(
        attack="linkage",
        against=rows.name,
        tried=known.rows,
        success=success,
        baseline=baseline,
        baseline_is=f"a {'row' if rows.records.units is None else 'unit'} drawn from all"
        if seen is None
        else "the commonest value",
        guesses=told,
        rows=rows.records.rows,
        units=None if rows.records.units is None else rows.records.counted,
        unique=int((numbers == 1).sum()),
        unmatched=int((numbers == 0).sum()),
        expected=float((1 / numbers[numbers > 0]).sum() / max(known.rows, 1)),
        unique_right=matched.unique_right,
        precision=matched.precision,
        recall=matched.recall,
        candidates=_histogram(numbers),
        values=() if seen is None else seen.sureties(),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Matched:
    """How matches compare with an answer key.

    Args:
        only: for each person, their only candidate; −1 if they have none or several.
        numbers: for each person, how many candidates there are.
        true: for each person, how many of those have a row of their own; None without an answer key.
    """

    only: Whole
    numbers: Whole
    true: Whole | None

    @classmethod
    def of(cls, found: Candidates, known: Records, released: Records, truth: tuple[str, str] | None) -> _Matched:
        """Compare each person's candidates with the key."""
        only, numbers = found.only(), found.numbers()
        if truth is None:
            return cls(only=only, numbers=numbers, true=None)
        person, row = _own(known, released, truth)
        held = found.hold(person, row)
        units = np.arange(released.rows) if released.units is None else released.units.codes.astype(np.int64)
        pairs = distinct(person[held] * max(released.counted, 1) + units[row[held]])
        true = np.bincount(pairs // max(released.counted, 1), minlength=known.rows)
        return cls(only=only, numbers=numbers, true=true)

    @property
    def drawn(self) -> float | None:
        """Share of people named right if one of their candidates is drawn."""
        return None if self.true is None else float((self.true / np.maximum(self.numbers, 1)).sum() / self._people)

    @property
    def unique_right(self) -> int | None:
        """How many unique matches are right."""
        return None if self.true is None else int(((self.only >= 0) & (self.true > 0)).sum())

    @property
    def precision(self) -> float | None:
        """The share of right pairs, among all of a person and a candidate."""
        return None if self.true is None else float(self.true.sum() / max(int(self.numbers.sum()), 1))

    @property
    def recall(self) -> float | None:
        """The share of people who have a row of their own among the candidates."""
        return None if self.true is None else float((self.true > 0).sum() / self._people)

    @property
    def _people(self) -> int:
        """How many people there are; 1 if there are none, so that it can be divided by."""
        return max(len(self.only), 1)

    def guesses(self, found: Candidates, names: Namer) -> tuple[Guess, ...]:
        """The unique matches, as guesses."""
        return tuple(
            Guess(
                who=names(person),
                what=f"row {int(self.only[person]) + 1}",
                confidence=1.0,
                right=None if self.true is None else bool(self.true[person]),
            )
            for person in first(np.ones(len(found.of_person)), np.flatnonzero(self.only >= 0))
        )


def _of_answers(seen: Seen) -> LinkageResult:
    """The tally of people's values, by counts."""
    return LinkageResult(
        **seen.outcome("linkage"),
        rows=None,
        units=None,
        unique=None,
        unmatched=None,
        expected=None,
        unique_right=None,
        precision=None,
        recall=None,
        candidates=(),
        values=seen.tally.sureties(),
    )


def _values(people: People, released: Records, seen: Tally, truth: tuple[str, str] | None) -> Truth | None:
    """The true sensitive values: those of people's own column, or of the rows which the key says are theirs."""
    own = truth_of(people, seen)
    if own is not None or truth is None:
        return own
    person, row = _own(people.known, released, truth)
    values = released.column(seen.sensitive).codes[row].astype(np.int64)
    return Truth(owners=person, values=values, people=people.known.rows)


def _key(truth: str | Mapping[str, str] | None) -> tuple[str, str] | None:
    """The answer key's name in what is known, and in what was released.

    Raises:
        InvalidArgument: several keys are named, or none.
    """
    if truth is None or isinstance(truth, str):
        return None if truth is None else (truth, truth)
    if len(truth) != 1:
        raise InvalidArgument("the answer key is one column", hint='truth={"number": "patient_id"}')
    return next(iter(truth.items()))


def _own(known: Records, released: Records, truth: tuple[str, str]) -> tuple[Whole, Whole]:
    """People and rows that are theirs, by the key: all pairs of them."""
    mine, theirs = keys_of(known.column(truth[0]), released.column(truth[1]))
    order = np.argsort(theirs, kind="stable")
    starts = np.searchsorted(theirs[order], np.arange(max(mine.max(initial=0), theirs.max(initial=0)) + 2))
    person, place = expand(starts, mine)
    return person, order[place]


def _histogram(numbers: Whole) -> tuple[tuple[int, int], ...]:
    """How many people have how many candidates."""
    sizes, counts = np.unique(numbers, return_counts=True)
    return tuple(zip(sizes.tolist(), counts.tolist(), strict=True))
