"""Differencing: a total over everybody, minus the same over everybody but one."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.attacks.answers.sureness import deviation_of, is_right, told
from discreet.attacks.result import AttackResult
from discreet.attacks.targets.answering import Answering, Bill


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferencingResult(AttackResult):
    """What a difference of two answers gives away.

    Args:
        whole: the answer about everybody; None if it was refused.
        rest: the answer about everybody but one; None if it was refused.
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
    """Ask for a total with somebody and without, and take the difference.

    Neither question is about few rows, so no rule about single questions stops it. Exact answers give the person away
    to the last digit: what the rows of theirs add up to that don't meet the condition. Answers with independent noise
    of standard deviations s and t leave the difference with noise of √(s² + t²), whoever it is about.

    Args:
        target: who is asked.
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
