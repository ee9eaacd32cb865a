"""A sweep: how much reconstruction finds, against how much noise there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.answers.reconstruction import Method, fitted, share_right, subsets
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.targets.fresh_noise import Noise, laplace, within
from discreet.errors import InvalidArgument
from discreet.noise import uniform


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One kind of noise, and what is found through it.

    Args:
        noise: its label.
        deviation: its standard deviation.
        epsilon: what all answers cost together; None if they aren't private.
        success: the share of bits that are right, over all trials.
        least: in the worst trial.
        most: in the best one.
    """

    noise: str
    deviation: float
    epsilon: float | None
    success: float
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepResult(AttackResult):
    """Reconstruction against noise.

    Args:
        people: in each trial, each with a bit by a fair coin.
        questions: in each trial.
        trials: of each kind of noise.
        method: how the answers were fitted.
        points: one for each kind of noise, in the order in which they were given.
    """

    people: int
    questions: int
    trials: int
    method: str
    points: tuple[Point, ...]


NOISES = (within(0), within(2), within(5), within(10), laplace(1), laplace("0.1"), laplace("0.02"))


def sweep(
    *,
    people: int = 100,
    questions: int = 400,
    trials: int = 1,
    noises: Sequence[Noise] = NOISES,
    method: Method = "least absolute",
) -> SweepResult:
    """Try reconstruction on bits that coins decide, under one kind of noise after another.

    With 100 people and 400 questions, exact answers give everyone away, and so do answers at ε = 1 each. Noise of ±5
    leaves about 83 % right, and ε = 0.1 each 68 %. At ε = 0.02 each, ε = 8 in all, 56 % are: little better than coins.

    Args:
        people: how many; 2 or more.
        questions: how many subset counts; 1 or more.
        trials: of each kind of noise; 1 or more.
        noises: kinds of noise.
        method: as for `reconstruction`.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> found = sweep(people=20, questions=120, noises=[within(0)])
        >>> found.points[0].noise, found.points[0].success
        ('exact', 1.0)
    """
    if people < 2 or questions < 1 or trials < 1 or not noises:  # noqa: PLR2004 — one person is no subset
        raise InvalidArgument("a sweep takes two people or more, and one question, trial and kind of noise or more")
    points = tuple(
        _point(noise, [_trial(people, questions, noise, method) for _ in range(trials)], questions) for noise in noises
    )
    return SweepResult(
        attack="reconstruction",
        against=f"counts of random halves of {people:,} people, under {len(points)} kinds of noise",
        tried=people * trials * len(points),
        success=sum(point.success for point in points) / len(points),
        baseline=0.5,
        baseline_is="a coin toss",
        guesses=(),
        people=people,
        questions=questions,
        trials=trials,
        method=method,
        points=points,
    )


def _trial(people: int, questions: int, noise: Noise, method: Method) -> float:
    """The share of bits that one trial gets right."""
    bits = uniform(2, people).astype(np.bool_)
    sets = subsets(questions, people)
    counts = sets.astype(np.int64) @ bits.astype(np.int64) + noise.draw(questions)
    return share_right(fitted(sets, counts.astype(np.float64), method).estimates, bits)


def _point(noise: Noise, found: Sequence[float], questions: int) -> Point:
    """The trials of one kind of noise."""
    return Point(
        noise=noise.label,
        deviation=noise.deviation,
        epsilon=None if noise.epsilon is None else noise.epsilon * questions,
        success=sum(found) / len(found),
        least=min(found),
        most=max(found),
    )
