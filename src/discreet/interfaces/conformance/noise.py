"""Whether answers have the noise that they state: many about one fact lie as far apart as they should."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import atanh

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import Target
from discreet.interfaces.conformance.trial import Trial

DRAWS = 64
"""How many answers. Noise a tenth as wide as stated is missed with probability below 1e-9, a sixth as wide below
1e-3.
"""

FALSE_ALARM = 1e-9
"""The probability, at most, that a server whose noise is what it states is called broken."""


def noise(target: Target, trial: Trial) -> None:
    """Questions of one fact in different words: each has noise of its own, as wide as is stated, and charged for."""
    questions = target.questions(DRAWS)
    if len({re.sub(r"\d+", "", each) for each in questions}) > 1:
        raise NotTried("no table has a column for enough different questions about one fact")
    values, said = list[float](), set[tuple[float, float, Fraction]]()
    for question in questions:
        planned = target.plan(question).data
        reply = target.ask(question)
        target.rows(reply)
        values.append(float(reply.data["rows"][0]["n"]))
        said.add((planned["expected"][0]["error"], reply.data["confidence"], _charged(reply.data)))
    trial.tries += DRAWS - 1
    trial.check(len(said) == 1, "questions alike don't state the same error, confidence and cost")
    for radius, confidence, epsilon in said:
        trial.check(
            radius >= least_radius(confidence, epsilon), "the error that is stated is too small for what was charged"
        )
        trial.check(
            not lie_too_near(values, radius, confidence), "answers have less noise than they state: they lie too near"
        )
        trial.check(
            not lie_too_far(values, radius, confidence), "answers have more noise than they state: they lie too far"
        )


def _charged(answer: dict[str, dict[str, dict[str, str]]]) -> Fraction:
    """The charge for an answer in ε.

    Raises:
        NotTried: it has no finite ε, though nothing else was offered.
    """
    cost = answer["cost"]["exact"]["epsilon"]
    if cost is None:
        raise NotTried("a question is charged in something else than ε")
    return Fraction(cost)


def least_radius(confidence: float, epsilon: Fraction) -> float:
    """The least r for which ±r can hold with this confidence, whatever noise hides one person in a count.

    The values within ±r are moved by 2r + 1 at a time into others that nothing else is moved into. Each person changes
    their chance p by at most a factor of e^−ε, so p (1 + 2 e^−x + 2 e^−2x + …) ≤ 1 with x = ε (2r + 1); hence
    p ≤ tanh(x/2).

    Examples:
        >>> round(least_radius(0.95, Fraction(1, 1000)))
        1831
    """
    return atanh(confidence) / float(epsilon) - 0.5


def lie_too_near(values: Sequence[float], radius: float, confidence: float) -> bool:
    """Whether values lie nearer together than noise makes them; wrongly so with a chance of at most 1e-9 / 2.

    Noise that is symmetric, and the logarithm of whose density is concave, as that of all that we add is, is within
    ±x ≤ radius with a chance of at most 1 − (1 − confidence)^(x / radius); and within no other interval as wide
    with a greater one. So of the others no more than that share is expected within so much above any of the values.
    Each of them may be the lowest, for each number of others; so that many tests share the false alarm.

    Args:
        values: of one fact, give or take 1.
        radius: the error that is stated.
        confidence: at which it is.

    Examples:
        >>> lie_too_near([1, 2] * 32, 3000, 0.95), lie_too_near(range(-3200, 3200, 100), 3000, 0.95)
        (True, False)
    """
    from discreet.stats import lower_bound

    ordered, size = sorted(values), len(values)
    surely = 1 - Fraction(FALSE_ALARM) / (2 * size**2)
    for others in range(1, size):
        width = min(last - first for first, last in zip(ordered, ordered[others:], strict=False))
        x = (width + 4) / 2  # for facts that differ by 1, values that were rounded, and the ends of intervals
        expected = 1 - (1 - confidence) ** (x / max(radius - 1, 1))
        if x <= radius - 1 and lower_bound(others, size - 1, surely) > expected:
            return True
    return False


def lie_too_far(values: Sequence[float], radius: float, confidence: float) -> bool:
    """Whether values lie farther apart than the error allows; wrongly so with a chance of at most 1e-9 / 2.

    Two whose errors are both within ±radius differ by at most twice that; and of pairs that share none, a share of at
    most 2 (1 − confidence) differ by more.

    Examples:
        >>> lie_too_far([-9000, 9000] * 32, 3000, 0.95), lie_too_far([-2900, 2900] * 32, 3000, 0.95)
        (True, False)
    """
    from discreet.stats import lower_bound

    pairs = list(zip(values[::2], values[1::2], strict=False))
    apart = sum(abs(first - second) > 2 * radius + 2 for first, second in pairs)
    return lower_bound(apart, len(pairs), 1 - Fraction(FALSE_ALARM) / 2) > 2 * (1 - confidence)
