"""Fuzzy linkage: what is known of people has typos and near misses, and finds them still.

Each pair of a person and a row has a score, the logarithm of how much likelier what is seen is if the row is the
person's. With n rows, and a chance π that the person is among them, Bayes' rule gives a row e^score of belief beside
e^score of the other rows and n·(1 − π)/π for not being there. What a person's sensitive value is follows: a value
has the belief of its rows, and of not being there the share that everybody has of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from discreet.anonymity.records.column import Mask, Reals, Whole
from discreet.anonymity.records.grouping import starts_of
from discreet.anonymity.records.records import Records
from discreet.attacks.result import AttackResult, Guess
from discreet.attacks.rows.guessing import Scored, guesses, score, truth_of
from discreet.attacks.rows.linking.compared import Compared
from discreet.attacks.rows.linking.nearness import Nearness
from discreet.attacks.rows.linking.pairs import Pairs
from discreet.attacks.rows.people import Namer, first, keys_of, named
from discreet.attacks.rows.seen import asked_of
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.tally import Tally, summed
from discreet.errors import InvalidArgument

_MOST_BELIEFS = 1 << 26
"""So many beliefs, people × sensitive values, are held at the most."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FuzzyResult(AttackResult):
    """Who was found in spite of errors.

    `success` is about the sensitive value if one was named: share of people for whom the likeliest value is theirs.
    Otherwise it is about the row: share of people who are claimed to be found, and are. None without the truth.

    Args:
        rows: how many rows were published; None of answers, which have none, and so nothing to compare or claim.
        compared: pairs of a person and a row that were compared; all others differ in too many columns.
        claimed: people for whom a row stands out.
        precision: of the claims, which share is right; None without an answer key, or without claims.
        recall: of all people, which share is claimed and right; None without an answer key.
        scores: of each person with candidates the best score, ascending: how many nats more likely that row is theirs
            than a row drawn from all.
        skipped: columns without which too many pairs would have had to be compared.
    """

    rows: int | None
    compared: int | None
    claimed: int | None
    precision: float | None
    recall: float | None
    scores: tuple[float, ...]
    skipped: tuple[str, ...]


def fuzzy(  # noqa: PLR0913 — both tables, what is an error and what is a claim, each by name
    release: object,
    auxiliary: object,
    *,
    on: Mapping[str, Nearness],
    sensitive: str | None = None,
    wrong: float = 0.02,
    present: float = 0.5,
    threshold: float = 0.9,
    gap: float = 1.0,
    truth: str | None = None,
    who: str | None = None,
) -> FuzzyResult:
    """Link people to rows by columns with errors, or learn their sensitive values.

    A pair is compared if all columns are the same or near, or all but one of them, whatever that one is. Each column
    adds a weight: how much more likely what is seen is of one person than of two, so a rare name weighs more than a
    common one. By Bayes' rule that gives the probability that a row is the person's; a row is claimed if that
    reaches the threshold and its score is ahead of the second by the gap. A generalised cell is the same as what it
    covers, and near what is near to that: rows of one class have equal scores, so none of them is ever claimed.

    Against answers, each kind of person is asked for: how many have what is near to all that is known of them, and this
    sensitive value. What isn't even near can't be asked for, and shares of errors aren't used.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`), or `Answers`.
        auxiliary: what is known of people, one row each.
        on: columns that both have → how they are compared: `Same()`, `Typos(most=1)`, `Near(within=3)`.
        sensitive: a released column to learn. If the auxiliary table has it too, it is the truth to score by.
        wrong: how often a known value isn't even near the truth; in (0, 1).
        present: how likely a person is to be in the release at all; in (0, 1).
        threshold: from which probability on a row is claimed; in (0, 1].
        gap: by how many nats it must be ahead of the next; 0 or more.
        truth: a column of both tables that says which row is whose, which isn't used to link.
        who: a column of the auxiliary table that names people in the report.

    Raises:
        InvalidArgument: no columns, a share out of range, answers and no sensitive column, generalised cells without
            the table that they were made of, or more than 2^26 beliefs, people × sensitive values.
        SchemaMismatch: a table lacks a column.

    Source: Fellegi, Sunter (1969), "A theory for record linkage", the definition of weights of agreement and
    disagreement.

    Examples:
        >>> from discreet.attacks.rows.linking.nearness import Near, Typos
        >>> names = ["Meyer", "Smith", "Jones", "Adams", "Brown", "Clark", "Davis", "Evans"]
        >>> rows = {"surname": names, "age": [44, 30, 61, 52, 23, 35, 70, 18]}
        >>> known = {"surname": ["Meier", "Smiht"], "age": [44, 31]}
        >>> found = fuzzy(rows, known, on={"surname": Typos(), "age": Near(within=2)}, present=0.99, who="surname")
        >>> print(*found.guesses)
        Meier: row 1, 98.6 % sure
    """
    from discreet.anonymity.records.read import read

    known = read(auxiliary)
    if not on:
        raise InvalidArgument("name one or more columns by which people are known")
    if not (0 < present < 1 and 0 < threshold <= 1 and gap >= 0):
        raise InvalidArgument("present and threshold are shares, and the gap is at least 0")
    if isinstance(release, Answering):
        return _of_answers(release, known, on, sensitive, who)
    names = named(known, list(on), who)
    published = Rows.of(release)
    rows = published.records
    columns = {
        name: Compared.of(known.column(name), rows.column(name), how, wrong, published.covered(name))
        for name, how in on.items()
    }
    pairs = Pairs.of(known, rows, columns)
    absent = log(rows.rows * (1 - present) / present) if rows.rows else 0.0
    best = _Best.of(pairs, known.rows, absent)
    claimed = (best.belief >= threshold) & (best.ahead >= gap)
    right = _right(known, rows, best.row, truth)
    told = None if right is None else int((claimed & right).sum())
    recall = None if told is None else told / max(known.rows, 1)
    seen = None if sensitive is None else _believed(pairs, known, rows, sensitive, absent)
    scored = (
        Scored(success=recall, baseline=1 / max(rows.rows, 1), right=right)
        if seen is None
        else score(seen, truth_of(known.column(seen.sensitive), seen) if seen.sensitive in known.names else None)
    )
    return FuzzyResult(
        attack="fuzzy linkage",
        against=published.name,
        tried=known.rows,
        success=scored.success,
        baseline=scored.baseline,
        baseline_is="a row drawn from all" if seen is None else "the commonest value",
        guesses=_guesses(best, claimed, right, names) if seen is None else guesses(seen, names, scored.right),
        rows=rows.rows,
        compared=len(pairs.person),
        claimed=int(claimed.sum()),
        precision=None if told is None or not claimed.any() else told / int(claimed.sum()),
        recall=recall,
        scores=tuple(np.sort(best.score[best.row >= 0]).tolist()),
        skipped=pairs.skipped,
    )


def _of_answers(
    answers: Answering, known: Records, on: Mapping[str, Nearness], sensitive: str | None, who: str | None
) -> FuzzyResult:
    """Learn people's values from counts of who is near to what is known of them."""
    near = {name: how.around(known.column(name)) for name, how in on.items()}
    seen = asked_of(answers, known, on=list(on), sensitive=sensitive, near=near, who=who)
    scored = seen.scored()
    return FuzzyResult(
        attack="fuzzy linkage",
        against=seen.name,
        tried=len(seen.rows),
        success=scored.success,
        baseline=scored.baseline,
        baseline_is="the commonest value",
        guesses=seen.guesses(),
        rows=None,
        compared=None,
        claimed=None,
        precision=None,
        recall=None,
        scores=(),
        skipped=(),
    )


def _believed(pairs: Pairs, known: Records, rows: Records, sensitive: str, absent: float) -> Tally:
    """Of each person, how much each sensitive value is believed in.

    Args:
        pairs: scored.
        known: of people.
        rows: that were published.
        sensitive: a column of these.
        absent: see `_Best`.

    Raises:
        InvalidArgument: there are too many people and values.
        SchemaMismatch: there is no such column.
    """
    column = rows.column(sensitive)
    if known.rows * column.size > _MOST_BELIEFS:
        raise InvalidArgument(
            f"{sensitive!r} has too many values to be learned of so many people", hint="look for fewer people at a time"
        )
    top = np.full(known.rows, absent)  # scores are taken from the largest of a person's, so that none overflows
    np.maximum.at(top, pairs.person, pairs.score)
    priors = column.counts() / max(rows.rows, 1)
    cells = pairs.person * column.size + column.codes[pairs.row]
    found = summed(cells, np.exp(pairs.score - top[pairs.person]), known.rows * column.size)
    beliefs = found.reshape(known.rows, column.size) + np.exp(absent - top)[:, np.newaxis] * priors
    person, value = np.nonzero(beliefs)
    return Tally(
        sensitive=sensitive,
        labels=column.labels(),
        of_person=np.arange(known.rows),
        starts=np.searchsorted(person, np.arange(known.rows + 1)),
        values=value,
        counts=beliefs[person, value],
        priors=priors,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Best:
    """Of each person, the row that is theirs most likely.

    Args:
        row: the row; −1 if nothing was compared.
        score: its score.
        ahead: by how much it is ahead of the second; infinite if there is none.
        belief: the probability that it is theirs.
    """

    row: Whole
    score: Reals
    ahead: Reals
    belief: Reals

    @classmethod
    def of(cls, pairs: Pairs, people: int, absent: float) -> _Best:
        """Rank each person's pairs.

        Args:
            pairs: scored.
            people: how many.
            absent: logarithm of the odds that a person isn't in the release, times its rows.
        """
        order = np.lexsort((pairs.row, -pairs.score, pairs.person))
        starts = starts_of(pairs.person[order])
        who = pairs.person[order][starts]
        scores = pairs.score[order]
        row = np.full(people, -1, dtype=np.int64)
        score, ahead, belief = np.full(people, -np.inf), np.full(people, np.inf), np.zeros(people)
        row[who], score[who] = pairs.row[order][starts], scores[starts]
        several = np.diff(np.append(starts, len(order))) > 1
        ahead[who[several]] = scores[starts[several]] - scores[starts[several] + 1]
        if len(starts):
            belief[who] = np.exp(scores[starts] - np.logaddexp(np.logaddexp.reduceat(scores, starts), absent))
        return cls(row=row, score=score, ahead=ahead, belief=np.minimum(belief, 1.0))


def _right(known: Records, rows: Records, row: Whole, truth: str | None) -> Mask | None:
    """Whether each person's best row is theirs."""
    if truth is None:
        return None
    mine, theirs = keys_of(known.column(truth), rows.column(truth))
    return (row >= 0) & (theirs[row] == mine) if len(theirs) else np.zeros(len(mine), dtype=np.bool_)


def _guesses(best: _Best, claimed: Mask, right: Mask | None, names: Namer) -> tuple[Guess, ...]:
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
