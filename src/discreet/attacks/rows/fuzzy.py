"""Fuzzy linkage: what is known of people has typos and near misses, and finds them still.

Each pair of a person and a row has a score, the logarithm of how much likelier what is seen is if the row is the
person's. With n rows, or units, and a chance π that the person is among them, Bayes' rule gives a row e^score of belief
beside e^score of the other rows and n·(1 − π)/π for not being there. The beliefs about a person's sensitive value
follow: a value has the belief of its rows, plus its share among everyone times the belief that the person isn't there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import numpy as np

from discreet.anonymity.columns import Mask, Value, Whole
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.naming import Namer, first, named
from discreet.attacks.people import People
from discreet.attacks.rows.beliefs import Beliefs, Best
from discreet.attacks.rows.nearness import Nearness
from discreet.attacks.rows.people_sample import Sample
from discreet.attacks.rows.record_pairs import Compared, keys_of
from discreet.attacks.rows.sensitive_values import Scored, Seen, asked_of, guesses, score, truth_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import summed
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument, NotTried

COMPARISONS = 1 << 24
"""About how many comparisons of a person with a class of rows are made, by default."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FuzzyResult(AttackResult):
    """How many people were found in spite of errors.

    `success` is about the sensitive value if one was named: share of people for whom the likeliest value is theirs.
    Otherwise it is about the row: share of people who are claimed to be found, and are. None without the truth.

    Args:
        rows: how many rows were published; None of answers, which have none, and so nothing to compare or claim.
        units: how many units those are of, where a release is read by unit: then they are what people may be.
        compared: pairs of a person and a row that were compared; all others of those who were tried differ in too many
            columns.
        claimed: people for whom a row stands out.
        precision: of the claims, which share is right; None without an answer key, or without claims.
        recall: of all people, which share is claimed and right; None without an answer key.
        scores: of each person with candidates the best score, ascending: how many nats more likely that row is theirs
            than a row drawn from all.
    """

    rows: int | None
    units: int | None
    compared: int | None
    claimed: int | None
    precision: float | None
    recall: float | None
    scores: tuple[float, ...]


def fuzzy(  # noqa: PLR0913 — both tables, what is an error and what is a claim, each by name
    release: object,
    auxiliary: object,
    *,
    on: Mapping[str, Nearness],
    sensitive: str | None = None,
    labels: Sequence[Value] | None = None,
    wrong: float = 0.02,
    present: float = 0.5,
    threshold: float = 0.9,
    gap: float = 1.0,
    truth: str | None = None,
    who: str | None = None,
    comparisons: int = COMPARISONS,
) -> FuzzyResult:
    """Link people to rows by columns with errors, or learn their sensitive values.

    A pair is compared if all columns are the same or near, or all but one of them, whatever that one is. Each column
    adds a weight: how much more likely what is seen is of one person than of two, so a rare name weighs more than a
    common one. By Bayes' rule that gives the probability that a row is the person's; a row is claimed if that
    reaches the threshold and its score is ahead of the second by the gap. A generalised cell is the same as what it
    covers, and near what is near to that: rows of one class have equal scores, so none of them is ever claimed.

    Where comparing everyone with all rows would take more comparisons than allowed, or many kinds of people are known,
    it is tried on people drawn at random: as many as the comparisons last for, at most 16,384. Each of them is compared
    with all rows. The figures are then about these people, `success` is an unbiased estimate of what it is of all, and
    `interval` says how well it is known.

    Against answers, each kind of person is asked for: how many have what is near to all that is known of them, and this
    sensitive value. Values that aren't even near can't be asked for, and shares of errors aren't used.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        auxiliary: what is known of people, one row each, or a table that is read by unit, see `linkage`.
        on: columns that both have → how they are compared: `Same()`, `Typos(most=1)`, `Near(within=3)`.
        sensitive: a released column to learn. If the auxiliary table has it too, it is the truth to score by.
        labels: see `homogeneity`.
        wrong: how often a known value isn't even near the truth; in (0, 1).
        present: how likely a person is to be in the release at all; in (0, 1).
        threshold: from which probability on a row is claimed; in (0, 1].
        gap: by how many nats it must be ahead of the next; 0 or more.
        truth: a column of both tables that says which row is whose, which isn't used to link.
        who: a column of the auxiliary table that names people in the report.
        comparisons: about how many comparisons of a person with a class of rows are made, at most; 1 or more.

    Raises:
        InvalidArgument: no columns, a number out of range, answers and no sensitive column, or generalised cells
            without the table that they were made of.
        NotTried: nobody is known, there are no rows, or the comparisons or the budget don't last for one person.
        SchemaMismatch: a table lacks a column.

    Source: Fellegi, Sunter (1969), "A theory for record linkage", the definition of weights of agreement and
    disagreement.

    Examples:
        >>> from discreet.attacks.rows.nearness import Near, Typos
        >>> names = ["Meyer", "Smith", "Jones", "Adams", "Brown", "Clark", "Davis", "Evans"]
        >>> rows = {"surname": names, "age": [44, 30, 61, 52, 23, 35, 70, 18]}
        >>> known = {"surname": ["Meier", "Smiht"], "age": [44, 31]}
        >>> found = fuzzy(rows, known, on={"surname": Typos(), "age": Near(within=2)}, present=0.99, who="surname")
        >>> print(*found.guesses)
        Meier: row 1, 98.6 % sure
    """
    people = People.of(read(auxiliary))
    known = people.known
    if not (on and 0 < present < 1 and 0 < threshold <= 1 and gap >= 0 and comparisons >= 1):
        raise InvalidArgument(
            "fuzzy takes one or more columns, present and threshold as shares, a gap from 0 and comparisons from 1"
        )
    if isinstance(release, Answering):
        near = {name: how.around(people.every.column(name)) for name, how in on.items()}
        asked = asked_of(release, people.every, on=list(on), sensitive=sensitive, labels=labels, near=near, who=who)
        return _of_answers(asked)
    published = Rows.of(release)
    rows = published.records
    if not rows.rows:
        raise NotTried("the release has no rows to compare people with")
    sample = Sample.of(known, rows, list(on), partial(_compared, published, on, wrong), comparisons)
    best = Best.of(sample, rows, log(rows.counted * (1 - present) / present), sensitive)
    told = known.take(sample.people)
    names = named(told, list(on), who)
    claimed = (best.belief >= threshold) & (best.ahead >= gap)
    right = _right(told, rows, best.row, truth)
    found = None if right is None else int((claimed & right).sum())
    recall = None if found is None else found / told.rows
    scored = Scored(success=recall, baseline=1 / rows.counted, right=right)
    if best.values is not None:
        scored = _scored(people, sample, best.values)
    one = "row" if rows.units is None else "unit"
    return FuzzyResult(
        attack="fuzzy linkage",
        against=published.name,
        tried=told.rows,
        drawn_from=known.rows if told.rows < known.rows else None,
        success=scored.success,
        baseline=scored.baseline,
        baseline_is=f"a {one} drawn from all" if best.values is None else "the commonest value",
        guesses=_guesses(best, claimed, right, names)
        if best.values is None
        else guesses(best.values, names, scored.right),
        rows=rows.rows,
        units=None if rows.units is None else rows.counted,
        compared=best.compared,
        claimed=int(claimed.sum()),
        precision=None if found is None or not claimed.any() else found / int(claimed.sum()),
        recall=recall,
        scores=tuple(np.sort(best.score[best.row >= 0]).tolist()),
    )


def _compared(published: Rows, on: Mapping[str, Nearness], wrong: float, people: Records) -> dict[str, Compared]:
    """Compare the columns of some people with those of the release: by chance, with any row of any unit."""
    whose = published.records.units
    compared = {}
    for name, how in on.items():
        column, counts = published.records.column(name), None
        if whose is not None:
            counts = summed(column.codes.astype(np.int64), 1 / np.bincount(whose.codes)[whose.codes], column.size)
        compared[name] = Compared.of(people.column(name), column, how, wrong, published.covered(name), counts)
    return compared


def _scored(people: People, sample: Sample, seen: Beliefs) -> Scored:
    """How often the likeliest value is right of those who were tried, and the commonest value of all who are known."""
    truth = truth_of(people, seen)
    if truth is None:
        return score(seen, None)
    return replace(score(seen, truth.of(sample.people)), baseline=truth.commonest / truth.people)


def _of_answers(seen: Seen) -> FuzzyResult:
    """The beliefs about people's values, by counts of those who are near to what is known of them."""
    return FuzzyResult(
        **seen.outcome("fuzzy linkage"),
        rows=None,
        units=None,
        compared=None,
        claimed=None,
        precision=None,
        recall=None,
        scores=(),
    )


def _right(known: Records, rows: Records, row: Whole, truth: str | None) -> Mask | None:
    """Whether each person's best row is theirs."""
    if truth is None:
        return None
    mine, theirs = keys_of(known.column(truth), rows.column(truth))
    return np.asarray((row >= 0) & (theirs[row] == mine))


def _guesses(best: Best, claimed: Mask, right: Mask | None, names: Namer) -> tuple[Guess, ...]:
    """The claims, the surest first."""
    return tuple(
        Guess(
            who=names(person),
            what=f"row {int(best.row[person]) + 1}",
            confidence=float(best.belief[person]),
            right=None if right is None else bool(right[person]),
        )
        for person in first(best.belief, np.flatnonzero(claimed))
    )
