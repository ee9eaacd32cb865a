"""Reconstruction: everyone's secret bit, from many answers that are accurate enough.

The "fundamental law of information recovery": answers to random subset counts whose errors are well below √n give away
nearly all of n bits, no matter who computed them and how. Differential privacy obeys it too, which is why a budget is
needed: with n answers from a budget of ε in all, each holds noise of about n/ε.

Source: Dinur, Nissim (2003), "Revealing Information while Preserving Privacy", the algorithm in polynomial time, a
linear program (there with constraints; here errors are minimised, as in Dwork, McSherry, Talwar 2007).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.answers.least_absolute import least_absolute
from discreet.attacks.attack_result import AttackResult, Guess, surest
from discreet.attacks.targets.answering import Answering, Bill, Reply, sureness
from discreet.attacks.targets.sql_conditions import where
from discreet.errors import InvalidArgument, NotTried
from discreet.noise import uniform

Reals: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Method: TypeAlias = Literal["least absolute", "least squares"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReconstructionResult(AttackResult):
    """The result of reconstruction.

    Args:
        method: how the answers were fitted.
        questions: how many were to be asked.
        answered: how many were; the first refusal ends it.
        deviation: the standard deviation of the noise in an answer; None if it is unknown.
        epsilon: what the attacker paid.
        gap: of the linear program: the error of no other fit is smaller by more. 0 for least squares.
        estimates: for each person, in [0, 1]; above ½ is taken for true.
    """

    method: str
    questions: int
    answered: int
    deviation: float | None
    epsilon: float
    gap: float
    estimates: tuple[float, ...]


def reconstruction(  # noqa: PLR0913 — who, by which key, what is wanted, and how hard to try
    target: Answering,
    secret: str,
    *,
    key: str,
    people: Sequence[Hashable],
    truth: Sequence[bool] | None = None,
    questions: int | None = None,
    method: Method = "least absolute",
) -> ReconstructionResult:
    """Ask how many of a random half of the people have a secret property, many times over, and solve for each person.

    Args:
        target: answers the questions.
        secret: the condition to be found out about everyone, in SQL.
        key: a column that tells people apart, and that the attacker knows.
        people: their values in it, each in one person's rows and in no one else's; two or more.
        truth: for each, whether they meet the condition by any row, where it is known.
        questions: how many to ask; four for each person if left out.
        method: "least absolute" error, a linear program, the better one against Laplace noise; or "least squares", the
            better one against bounded noise.

    Raises:
        QueryError: the questions aren't ones that the target answers.
        InvalidArgument: an argument is out of range.
        NotTried: the first question is refused.

    Examples:
        >>> from discreet.attacks.targets import Exact
        >>> ill = [True, False, False, True, False, True, True, False]
        >>> clinic = Exact({"id": list(range(8)), "ill": ill}, name="clinic")
        >>> reconstruction(clinic, "ill", key="id", people=range(8), truth=ill, questions=60).success
        1.0
    """
    if len(people) < 2 or (truth is not None and len(truth) != len(people)):  # noqa: PLR2004 — a half needs two
        raise InvalidArgument("reconstruction takes two people or more, and one truth for each")
    wanted = 4 * len(people) if questions is None else questions
    sets, replies = subsets(wanted, len(people)), list[Reply]()
    for chosen in sets:
        asked = [person for person, is_in in zip(people, chosen.tolist(), strict=True) if is_in]
        replies.append(target.aggregate(target.counting, f"{where({key: asked})} AND ({secret})"))
        if replies[-1].refusal:
            break
    if replies[0].refusal:
        raise NotTried("the budget doesn't last for one question", hint="offer less per question")
    counts = np.array([reply.value for reply in replies if reply.value is not None], dtype=np.float64)
    fit = fitted(sets[: len(counts)], counts, method)
    bits = None if truth is None else np.asarray(truth, dtype=np.bool_)
    return ReconstructionResult(
        attack="reconstruction",
        against=target.against,
        tried=len(people),
        success=None if bits is None else share_right(fit.estimates, bits),
        baseline=None if bits is None else float(max(bits.mean(), 1 - bits.mean())),
        baseline_is="the commoner value for everyone",
        guesses=_guesses(
            people, secret, fit.estimates, bits, surest_possible(sets[: len(counts)], replies[0].deviation)
        ),
        method=method,
        questions=wanted,
        answered=len(counts),
        deviation=replies[0].deviation,
        epsilon=Bill.of(replies).epsilon,
        gap=fit.gap,
        estimates=tuple(fit.estimates.tolist()),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """A fit of the answers: an estimate for each person.

    Args:
        estimates: in [0, 1].
        gap: see `ReconstructionResult`.
    """

    estimates: Reals
    gap: float


def fitted(sets: Mask, counts: Reals, method: Method) -> Fitted:
    """Fit a number in [0, 1] for each person to the counts of subsets.

    Args:
        sets: questions × people; without questions, everyone is ½.
        counts: the answers.
        method: "least absolute" or "least squares".

    Raises:
        InvalidArgument: there is no such method.
    """
    matrix = sets.astype(np.float64)
    half = np.full(sets.shape[1], 0.5)
    if not len(counts):
        return Fitted(estimates=half, gap=0.0)
    match method:
        case "least absolute":
            found = least_absolute(matrix, counts)
            return Fitted(estimates=found.values, gap=found.gap)
        case "least squares":
            # Around ½, so that what the answers don't say of a person leaves them undecided.
            moved = np.linalg.lstsq(matrix, counts - matrix @ half, rcond=None)[0]
            return Fitted(estimates=np.clip(half + moved, 0.0, 1.0), gap=0.0)
    raise InvalidArgument(f"there is no method {method!r}", hint="'least absolute' or 'least squares'")


def subsets(questions: int, people: int) -> Mask:
    """Random sets of people, each person in each set by a fair coin; never an empty set.

    Raises:
        InvalidArgument: there is no question.
    """
    if questions < 1:
        raise InvalidArgument("reconstruction asks one question or more")
    sets = uniform(2, (questions, people)).astype(np.bool_)
    empty = ~sets.any(axis=1)
    sets[empty, 0] = True
    return sets


def share_right(estimates: Reals, bits: Mask) -> float:
    """The share of people whose bit is right, of estimates that are rounded; ½ is taken for false."""
    return float(np.mean((estimates > 0.5) == bits))  # noqa: PLR2004 — half way between a bit's two values


def _guesses(
    people: Sequence[Hashable], secret: str, estimates: Reals, bits: Mask | None, most: Reals
) -> tuple[Guess, ...]:
    """A guess for each person, as sure as the fit is far from undecided, but no surer than its noise allows."""
    found = estimates > 0.5  # noqa: PLR2004 — as above
    sure = np.minimum(np.maximum(estimates, 1 - estimates), most)
    right = [None] * len(found) if bits is None else (found == bits).tolist()
    return surest(
        Guess(who=str(who), what=secret if yes else f"not {secret}", confidence=float(c), right=r)
        for who, yes, c, r in zip(people, found.tolist(), sure.tolist(), right, strict=True)
    )


def surest_possible(sets: Mask, deviation: float | None) -> Reals:
    """For each person, how often their bit is right if it is rounded from a fit by least squares.

    With noise of standard deviation s in each answer, that fit has the covariance s²·(AᵀA)⁻¹, and a bit is right if it
    is off by less than ½; the noise is taken for normal. People whom the answers don't tell apart are undecided, and so
    is everybody where it is unknown how far answers are off: a fit that is wrong can look as decided as one that isn't.

    Args:
        sets: A: questions × people.
        deviation: s; None if it is unknown; 0 if there is no noise, so that nothing limits how sure one can be.

    Examples:
        >>> alone = np.eye(2, dtype=np.bool_)
        >>> surest_possible(alone, 0.5).round(3).tolist(), surest_possible(alone[:1], 0.5).tolist()
        ([0.841, 0.841], [0.5, 0.5])
    """
    people = sets.shape[1]
    if deviation == 0:
        return np.ones(people)
    matrix = sets.astype(np.float64)
    if deviation is None or np.linalg.matrix_rank(matrix) < people:
        return np.full(people, 0.5)
    spread = deviation * np.sqrt(np.diag(np.linalg.inv(matrix.T @ matrix)))
    return np.array([(1 + sureness(each)) / 2 for each in spread.tolist()])
