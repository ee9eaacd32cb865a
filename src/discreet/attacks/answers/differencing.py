"""Differencing and trackers: one person's number, as what is left of totals over many.

Differencing takes a total over everyone, minus the same over everyone but one. A rule that refuses sets of fewer than t
rows, or of more than n − t, stops that, and is no defence against a tracker. Take any set T of rows with 2t ≤ |T| ≤ n −
2t, and let C be the rows wanted, however few. For each additive measure q (counts and sums),

    q(all) = q(T) + q(not T)        q(C) = q(C or T) + q(C or not T) − q(all),

because "C or T" and "C or not T" hold the rows of C twice and all others once. None of these four sets is refused, as
long as C has at most t rows: each holds T or its complement, so 2t rows or more, and at most n − 2t + t = n − t.

The same holds where people have several rows, and sets are refused that have rows of fewer than t people, or leave rows
of fewer than t out. Let T have rows of 2t people or more, and leave rows of as many out. Each of the four sets holds T
or its complement, and what it leaves out holds the other one but for rows of C, which are of at most t people. Only
sums of rows are additive then: a person can be in T and out of it, so numbers of people aren't.

Source: Denning, Denning, Schwartz (1979), "The Tracker: A Threat to Statistical Database Security", the
definition of the general tracker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.targets.answering import Answering, Bill, Reply, deviation_of, is_right, sureness


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferencingResult(AttackResult):
    """The value that a difference of two answers gives away.

    Args:
        whole: the answer about everyone; None if it was refused.
        rest: the answer about everyone but one; None if it was refused.
        difference: what is left for that person; None if either was refused.
        deviation: the standard deviation of the noise in the difference, which holds that of both answers; None where
            it is unknown.
        truth: what is true of that person; None if it is unknown.
        error: how far the difference is from the truth; None if either is unknown.
        refused: how many of the two questions were refused.
        epsilon: what the attacker paid.
    """

    whole: float | None
    rest: float | None
    difference: float | None
    deviation: float | None
    truth: float | None
    error: float | None
    refused: int
    epsilon: float


def differencing(  # noqa: PLR0913 — two sets of rows, what is added up, of whom, and the truth
    target: Answering,
    measure: str,
    *,
    without: str,
    among: str = "TRUE",
    who: str = "the one left out",
    truth: float | None = None,
) -> DifferencingResult:
    """Ask for a total with a person and without, and take the difference.

    Neither question is about few rows, so no rule about single questions stops it. Exact answers give the person away
    to the last digit: what the rows of theirs add up to that don't meet the condition. Answers with independent noise
    of standard deviations s and t leave the difference with noise of √(s² + t²), no matter whom it is about.

    Args:
        target: answers the questions.
        measure: `COUNT(*)`, or a sum such as `SUM(income)`.
        without: the condition that all but that person meet, in SQL, such as `name <> 'Karrie Trusslove'`.
        among: a condition for both questions.
        who: the person, in words.
        truth: what is true of them, where it is known.

    Raises:
        QueryError: the questions aren't ones that the target answers.

    Examples:
        >>> from discreet.attacks.targets import Exact
        >>> staff = Exact({"name": ["Ada", "Bob", "Cy"], "pay": [70, 56, 48]}, name="staff")
        >>> differencing(staff, "SUM(pay)", without="name <> 'Bob'", truth=56).difference
        56
    """
    whole = target.aggregate(measure, among)
    rest = target.aggregate(measure, f"({among}) AND ({without})")
    difference = None if whole.value is None or rest.value is None else whole.value - rest.value
    deviation, right = deviation_of([whole, rest]), is_right(difference, truth)
    bill = Bill.of([whole, rest])
    return DifferencingResult(
        attack="differencing",
        against=target.against,
        tried=0 if bill.refused else 1,
        not_tried=f"{bill.refused} of {bill.asked} questions were refused" if bill.refused else None,
        success=None if right is None else float(right),
        baseline=None,
        baseline_is="an attacker without the answers",
        guesses=told(who, measure, difference, [whole, rest], right=right),
        whole=whole.value,
        rest=rest.value,
        difference=difference,
        deviation=deviation,
        truth=truth,
        error=None if truth is None or difference is None else difference - truth,
        refused=bill.refused,
        epsilon=bill.epsilon,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackingResult(AttackResult):
    """The outcome of tracking.

    Args:
        directly: what the target says when asked about the person alone; None if it refuses.
        found: what the tracker makes of four other answers; None if one of them was refused.
        truth: what is true; None if it is unknown.
        refused: how many of the four were refused.
        epsilon: what the four answers cost.
    """

    directly: float | None
    found: float | None
    truth: float | None
    refused: int
    epsilon: float


def tracking(  # noqa: PLR0913 — whom, by what, and what is asked
    target: Answering,
    measure: str,
    *,
    wanted: str,
    by: str,
    who: str = "the one wanted",
    truth: float | None = None,
) -> TrackingResult:
    """Ask about rows that no single question may be about, by way of a tracker.

    Args:
        target: answers the questions.
        measure: `COUNT(*)`, or a sum such as `SUM(income)`.
        wanted: the condition that only the person meets, in SQL.
        by: the tracker: a condition that between 2t and n − 2t rows meet, and that is true or false of each of the
            person's rows.
        who: the person, in words.
        truth: what is true of them, where it is known.

    Raises:
        QueryError: the questions aren't ones that the target answers.

    Examples:
        >>> from discreet.attacks.targets import Restricted
        >>> pay = {"name": list("ABCDEFGH"), "sex": list("MMMMFFFF"), "pay": [70, 56, 48, 61, 50, 52, 90, 44]}
        >>> staff = Restricted(pay, name="staff", smallest=2)
        >>> found = tracking(staff, "SUM(pay)", wanted="name = 'G'", by="sex = 'M'", truth=90)
        >>> found.directly, found.found
        (None, 90)
    """
    directly = target.aggregate(measure, wanted)
    replies = [
        target.aggregate(measure, condition)
        for condition in (f"({wanted}) OR ({by})", f"({wanted}) OR NOT ({by})", by, f"NOT ({by})")
    ]
    values = [reply.value for reply in replies if reply.value is not None]
    found = values[0] + values[1] - values[2] - values[3] if len(values) == len(replies) else None
    right = is_right(found, truth)
    bill = Bill.of(replies)
    return TrackingResult(
        attack="tracker",
        against=target.against,
        tried=0 if bill.refused else 1,
        not_tried=f"{bill.refused} of {bill.asked} questions were refused" if bill.refused else None,
        success=None if right is None else float(right),
        baseline=None,
        baseline_is="an attacker without the answers",
        guesses=told(who, measure, found, replies, right=right),
        directly=directly.value,
        found=found,
        truth=truth,
        refused=bill.refused,
        epsilon=bill.epsilon,
    )


def told(
    who: str, measure: str, value: float | None, replies: Iterable[Reply], *, right: bool | None
) -> tuple[Guess, ...]:
    """The guess that a person's number is this, put together from replies; none if it is unknown."""
    if value is None:
        return ()
    sure = sureness(deviation_of(replies))
    return (Guess(who=who, what=f"{measure} = {value:,.10g}", confidence=sure, right=right),)
