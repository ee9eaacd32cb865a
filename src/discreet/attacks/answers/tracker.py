"""Trackers: how to ask about one person where questions about few rows are refused.

A rule that refuses sets of fewer than t rows, or of more than n − t, is no defence. Take any set T of rows with
2t ≤ |T| ≤ n − 2t, and let C be the rows wanted, however few. For each additive measure q (counts and sums),

    q(all) = q(T) + q(not T)        q(C) = q(C or T) + q(C or not T) − q(all),

because "C or T" and "C or not T" hold the rows of C twice and all others once. Of these four sets none is refused, as
long as C has at most t rows: each holds T or its complement, so 2t rows or more, and at most n − 2t + t = n − t.

The same holds where people have several rows, and sets are refused that have rows of fewer than t people, or leave rows
of fewer than t out. Let T have rows of 2t people or more, and leave rows of as many out. Each of the four sets holds T
or its complement, and what it leaves out holds the other one but for rows of C, which are of at most t people. Only
sums of rows are additive then: a person can be in T and out of it, so numbers of people aren't.

Source: Denning, Denning, Schwartz (1979), "The Tracker: A Threat to Statistical Database Security", the
definition of the general tracker.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.attacks.answers.sureness import is_right, told
from discreet.attacks.result import AttackResult
from discreet.attacks.targets.answering import Answering, Bill


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackingResult(AttackResult):
    """What a tracker found.

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
        target: who is asked.
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
