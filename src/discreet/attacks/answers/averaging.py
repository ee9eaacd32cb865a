"""Averaging: one question asked again and again, until the noise cancels out.

How many answers that takes, `exact_recovery.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, islice
from math import isclose, isfinite
from statistics import fmean, median

from discreet.attacks.answers.exact_recovery import Estimator, answers_needed, chance
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.targets.answering import Answering, Bill, Reply
from discreet.attacks.targets.fresh_noise import laplace_deviation
from discreet.errors import InvalidArgument, NotTried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AveragingResult(AttackResult):
    """The result of averaging.

    Args:
        question: what was asked, in the first of its wordings.
        estimator: how the answers are made one.
        estimate: of the exact answer.
        truth: the exact answer; None if it is unknown.
        verdict: what the target did about it, in words.
        asked: how many times.
        fresh: how many answers hadn't been released before; the others tell nothing new.
        reused: how many answers had been released before.
        refused: 1 if the last question was refused.
        leaked: how many answers held noise that wasn't paid for: they cost nothing, and aren't what was released for
            the same words before. 0, or the target has a fault.
        epsilon: what the attacker paid.
        needed: how many fresh answers give the exact one away with 95 % confidence: 1 if there is no noise; None where
            the noise isn't that of a count.
        answers: all of them, in order.
        running: the estimate after each fresh answer.
    """

    question: str
    estimator: str
    estimate: float | None
    truth: int | None
    verdict: str
    asked: int
    fresh: int
    reused: int
    refused: int
    leaked: int
    epsilon: float
    needed: int | None
    answers: tuple[float, ...]
    running: tuple[float, ...]


def averaging(
    target: Answering,
    question: str | Sequence[str],
    *,
    repeats: int,
    truth: int | None = None,
    estimator: Estimator = "median",
) -> AveragingResult:
    """Ask for a count again and again, and make one estimate of the answers.

    Against fresh noise it succeeds after about 63 answers at ε = ½, see `answers_needed`. discreet gives the same
    answer to the same question, so there is nothing to average; and for what it takes to be another question it charges
    again, until the budget refuses. It stops at the first refusal, and at an exact answer: nothing is left to find.

    Args:
        target: answers the questions.
        question: in SQL, with one whole number as its answer; or several wordings of it, which are asked in turn.
        repeats: how many times to ask; 1 or more.
        truth: the exact answer, where it is known.
        estimator: "median", the best there is for discrete Laplace noise; "maximum likelihood", the same; or "mean".

    Raises:
        QueryError: the question isn't one that the target answers.
        InvalidArgument: there is no question, or `repeats` is below 1.
        NotTried: the first time, the question is refused.

    Examples:
        >>> from discreet.attacks.targets import Bare, Exact
        >>> staff = Exact({"pay": [70, 56, 48, 61]}, name="staff")
        >>> found = averaging(Bare(staff, epsilon=2), "SELECT COUNT(*) FROM staff", repeats=80, truth=4)
        >>> round(found.estimate), found.needed, found.epsilon
        (4, 5, 160.0)
    """
    wordings = [question] if isinstance(question, str) else list(question)
    if not wordings or repeats < 1:
        raise InvalidArgument("averaging takes one question or more, and asks once or more")
    replies: list[Reply] = []
    asked = list(islice(cycle(wordings), repeats))
    for wording in asked:
        replies.append(target.ask(wording))
        if replies[-1].refusal or replies[-1].deviation == 0:
            break
    if replies[0].refusal:
        raise NotTried("the question was refused", hint="a larger budget, or a smaller offer")
    fresh = [reply.value for reply in replies if reply.value is not None and not reply.reused]
    answers = tuple(reply.value for reply in replies if reply.value is not None)
    pooled = fmean if estimator == "mean" else median
    running = tuple(pooled(fresh[:count]) for count in range(1, len(fresh) + 1))
    estimate = running[-1] if running else (answers[0] if answers else None)
    right = None if truth is None or estimate is None else round(estimate) == truth
    bill, leaked = Bill.of(replies), _leaked(asked, replies)
    return AveragingResult(
        attack="averaging",
        against=target.against,
        tried=1,
        success=None if right is None else float(right),
        baseline=_sureness(replies[0], 1, "median"),
        baseline_is="one answer alone",
        guesses=_guesses(estimate, _sureness(replies[0], len(fresh), estimator), right=right),
        question=wordings[0],
        estimator=estimator,
        estimate=estimate,
        truth=truth,
        verdict=_verdict(replies, bill, leaked),
        asked=bill.asked,
        fresh=bill.fresh,
        reused=bill.reused,
        refused=bill.refused,
        leaked=leaked,
        epsilon=bill.epsilon,
        needed=_needed(replies[0], estimator),
        answers=answers,
        running=running,
    )


def _epsilon_of(reply: Reply) -> Fraction | None:
    """The ε of a reply, if its noise is that of a count at this ε: discrete Laplace noise of scale 1/ε."""
    if not reply.epsilon or not isfinite(reply.epsilon) or not reply.deviation:
        return None
    is_count = isclose(reply.deviation, laplace_deviation(1 / reply.epsilon), rel_tol=1e-6)
    return Fraction(reply.epsilon) if is_count and reply.epsilon >= 0.01 else None  # noqa: PLR2004 — what `chance` takes


def _needed(reply: Reply, estimator: Estimator) -> int | None:
    """How many answers like this one give the exact one away; None if that is unknown."""
    rate = _epsilon_of(reply)
    return 1 if reply.deviation == 0 else None if rate is None else answers_needed(rate, estimator)


def _sureness(reply: Reply, answers: int, estimator: Estimator) -> float | None:
    """How often as many answers like this one give the exact one away; None if that is unknown."""
    if reply.deviation == 0:
        return 1.0
    rate = _epsilon_of(reply)
    return None if rate is None or not answers else chance(rate, answers, estimator)


def _guesses(estimate: float | None, sure: float | None, *, right: bool | None) -> tuple[Guess, ...]:
    """The one guess, as sure as the answers make it."""
    if estimate is None or sure is None:
        return ()
    return (Guess(who="the exact answer", what=f"{round(estimate):,}", confidence=sure, right=right),)


def _leaked(asked: Sequence[str], replies: Sequence[Reply]) -> int:
    """How many answers hold noise that wasn't paid for."""
    released: dict[str, set[float]] = {}
    leaks = 0
    for wording, reply in zip(asked, replies, strict=False):  # a refusal ends the replies early
        if reply.value is None:
            continue
        before = released.setdefault(wording, set())
        leaks += bool(before) and reply.epsilon == 0 and reply.value not in before
        before.add(reply.value)
    return leaks


def _verdict(replies: Sequence[Reply], bill: Bill, leaked: int) -> str:
    """How the target fared, in words."""
    if leaked:
        return f"a fault: {leaked:,} answers held fresh noise that nobody paid for"
    if replies[-1].deviation == 0:
        return "one question is enough: the answer is exact"
    if bill.refused:
        return f"refused after {bill.fresh:,} fresh answers, when nothing was left to pay with"
    if bill.fresh <= 1 < bill.asked:
        return "nothing gained: each repetition got the answer that was already released"
    if len({reply.value for reply in replies}) == 1 and replies[0].deviation is None:
        return "the same answer each time, so that there is nothing to average"
    return f"{bill.fresh:,} of {bill.asked:,} answers held fresh noise, and nothing stopped the attacker"
