"""Auditing: an event is learned or known, then tested on outputs that nobody has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.accounting import to_approx
from discreet.audit.audit_result import Audit, delta_of
from discreet.audit.learning import Aim, Event, Found, Given, Predicate, from_laws, from_outputs, laws_of
from discreet.audit.outputs import Batch
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, log, probability, to_float
from discreet.privacy import ApproxDP, Loss, PureDP
from discreet.stats import lower_bound, upper_bound

Data: TypeAlias = Any
"""What a mechanism is run on: an integer or a list of them, scores, or whatever a black box takes."""

Draw: TypeAlias = Callable[[Data, int], Any]
"""A number of independent outputs on some data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to audit.

    Args:
        name: in words.
        draw: its outputs.
        loss: what it says of itself; None if it doesn't.
    """

    name: str
    draw: Draw
    loss: Loss | None


def subject_of(mechanism: Any) -> Subject:  # noqa: ANN401 — told apart here
    """Anything that can be audited.

    Args:
        mechanism: one that makes many outputs at once, by `draw(data, count)`; noise, by `release(values)`; a chooser,
            by `choose(scores)`; one that tells a single value, by `choose_all(values)` or `randomise_all(values)`; or a
            callable that makes one output of data.

    Raises:
        InvalidArgument: it is none of these.
    """
    name = getattr(mechanism, "name", None) or _described(mechanism)
    loss = getattr(mechanism, "loss", None)
    for method, how in _WAYS.items():
        if hasattr(mechanism, method):
            return Subject(name, how(getattr(mechanism, method)), loss)
    if callable(mechanism):
        return Subject(name, _repeating(mechanism), loss if isinstance(loss, Loss) else None)
    raise InvalidArgument(
        f"a {type(mechanism).__name__} can't be audited",
        hint="a mechanism, or a function that takes data and gives an output",
    )


def _releasing(release: Callable[[Sequence[int]], Sequence[int]]) -> Draw:
    """Noise on an integer, or on a list of them: each number has its own, so a long list is many draws."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        values = [data] if isinstance(data, int) else list(data)
        noisy = release(values * count)
        wide = not all(-(1 << 63) <= end < 1 << 63 for end in (min(noisy), max(noisy)))
        table = np.array(noisy, dtype=object if wide else np.int64)
        return table if isinstance(data, int) else table.reshape(count, len(values))

    return draw


def _telling(tell_all: Callable[[Any], Any]) -> Draw:
    """What is told of one value, as if as many users held it."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        return tell_all(np.full(count, data))

    return draw


def _repeating(run: Callable[[Data], Any]) -> Draw:
    """One output after another."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — a list
        return [run(data) for _ in range(count)]

    return draw


def _described(mechanism: Any) -> str:  # noqa: ANN401 — anything
    """A mechanism by its name and its loss, a function by its name."""
    loss = getattr(mechanism, "loss", None)
    name = getattr(mechanism, "__name__", type(mechanism).__name__)
    return f"{name}, {loss}" if isinstance(loss, PureDP | ApproxDP) else str(name)


_WAYS: dict[str, Callable[[Any], Draw]] = {
    "randomise_all": _telling,
    "choose_all": _telling,
    "draw": lambda draw: draw,
    "release": _releasing,
    "choose": _repeating,
}
"""How outputs are drawn, by the method that a mechanism has; the first that is there."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What an event proves.

    Args:
        epsilon: the true ε is at least this; 0 or more.
        opposite: whether it's that the event doesn't happen which proves so much.
    """

    epsilon: float
    opposite: bool


def epsilon_bound(hits: tuple[int, int], draws: int, delta: Fraction, confidence: Fraction) -> Bound:
    """An ε that the mechanism exceeds, or at least reaches, with the stated confidence; rounded down.

    Let an event that was fixed before the draws have the probabilities p and q under two neighbours. If the mechanism
    is (ε, δ)-DP then p ≤ e^ε·q + δ, and 1 − q ≤ e^ε·(1 − p) + δ for the opposite of the event. So ε is at least
    ln((p − δ)/q) and ln((1 − q − δ)/(1 − p)), and both grow with p and fall with q. With probability at least the
    confidence, p is no less than its Clopper–Pearson lower bound and q no more than its upper one, each of which fails
    with half of the doubt; then both hold with these in the place of p and q.

    Args:
        hits: how often the event happened, among draws for either neighbour; the first is meant to be the greater.
        draws: how many there were for each neighbour; 1 or more.
        delta: in [0, 1).
        confidence: in (0, 1).

    Source: Clopper, Pearson (1934), the definition of the limits; Ding, Wang, Wang, Zhang, Kifer (2018), the algorithm
    of the hypothesis test; Bichsel, Steffen, Bogunovic, Vechev (2021), the definition of an attack's power. Own proof.

    Examples:
        >>> round(epsilon_bound((8000, 3000), 10_000, Fraction(0), Fraction(19, 20)).epsilon, 3)
        1.201
        >>> epsilon_bound((50, 50), 100, Fraction(0), Fraction(19, 20))
        Bound(epsilon=0.0, opposite=False)
    """
    level = (1 + confidence) / 2
    p = Fraction(lower_bound(hits[0], draws, level))
    q = Fraction(upper_bound(hits[1], draws, level))
    direct, inverse = _log_ratio(p - delta, q), _log_ratio(1 - q - delta, 1 - p)
    return Bound(inverse, opposite=True) if inverse > direct else Bound(direct, opposite=False)


def _log_ratio(numerator: Fraction, denominator: Fraction) -> float:
    """The logarithm of a ratio, rounded down; 0 where it would be less."""
    if numerator <= denominator:
        return 0.0
    return to_float(log(numerator / denominator, round_up=False), round_up=False)


DRAWS = 100_000
CONFIDENCE = Fraction(999, 1000)
DELTA = Fraction(1, 10**6)
"""At which δ a claim in zCDP is tried, if nothing is said."""

_LEAST_DRAWS = 16
_MOST_LEARNED = 1 << 20
_PIECE = 1 << 20
"""How many outputs are held at a time."""


def audit(  # noqa: PLR0913 — all but three have a meaning of their own where nothing is said
    mechanism: Any,  # noqa: ANN401 — see `subject_of`
    one: Data,
    other: Data,
    *,
    claim: Loss | None = None,
    delta: Rationalizable = DELTA,
    draws: int = DRAWS,
    confidence: Rationalizable = CONFIDENCE,
    event: Predicate | None = None,
    neighbours: str = "",
) -> Audit:
    """Try to tell two neighbours apart by a mechanism's outputs, and state what ε that proves it to have at the least.

    Guarantee: with the stated confidence the true ε, at the claim's δ, is at least `bound`, whatever the mechanism is
    and however the event was found; provided that outputs are independent of each other, and that `one` and `other`
    are neighbours. So a sound mechanism is rejected with probability at most 1 − confidence.

    Where the mechanism tells its probabilities, by `mass` (on one integer) or `masses`, and they aren't too many, no
    other event of the same probability tells the two apart better (Neyman–Pearson); else the event is learned on one
    half of the draws, by frequencies of what is seen in the outputs and by a classifier, and tested on the other.

    Args:
        mechanism: one of discreet's, or a black box: a callable that takes data and gives an output, or an object with
            `draw(data, count)` that makes many at once.
        one: what the mechanism is run on: an integer or a list of them for noise, scores for choices.
        other: a neighbour of it.
        claim: what the mechanism is said to give away; None for what it says itself.
        delta: at which a claim in zCDP is tried; in (0, 1).
        draws: how many outputs to draw of each neighbour in all; 16 or more.
        confidence: in (0, 1).
        event: what to look for in an output, if you know it.
        neighbours: the two in words.

    Raises:
        InvalidArgument: an argument is out of range, or nothing is claimed.

    Source: Ding, Wang, Wang, Zhang, Kifer (2018), the algorithms that pick an event and test it; Bichsel, Steffen,
    Bogunovic, Vechev (2021), the algorithm DP-Sniper.

    Examples:
        >>> from discreet.mechanisms import Laplace
        >>> from discreet.privacy import Sensitivity
        >>> found = audit(Laplace.calibrate(Sensitivity.scalar(1), epsilon=1), 0, 1, confidence="0.999999999")
        >>> found.rejects, found.bound > 0.8
        (False, True)
    """
    subject = subject_of(mechanism)
    promised = claimed(claim if claim is not None else subject.loss, delta)
    sure = probability(confidence, "confidence")
    if type(draws) is not int or draws < _LEAST_DRAWS:
        raise InvalidArgument(f"draws must be a whole number of at least {_LEAST_DRAWS}")
    laws = laws_of(mechanism, one, other) if event is None else None
    learned = 0 if laws is not None or event is not None else min(draws // 2, _MOST_LEARNED)
    aim = Aim(draws - learned, delta_of(promised), sure)
    if event is not None:
        found = _pointed(Given(event), subject, one, other)
    elif laws is not None:
        found = from_laws(laws, aim)
    else:
        found = from_outputs(Batch.of(subject.draw(one, learned)), Batch.of(subject.draw(other, learned)), aim)
    hits = [_count(found.event, subject, data, aim.draws) for data in (one, other)]
    return tested(
        found,
        aim,
        (hits[0], hits[1]),
        subject=subject.name,
        neighbours=neighbours or f"{_brief(one)} and {_brief(other)}",
        claim=promised,
        learned=learned,
    )


def tested(  # noqa: PLR0913 — what goes into the report
    found: Found,
    aim: Aim,
    hits: tuple[int, int],
    *,
    subject: str,
    neighbours: str,
    claim: PureDP | ApproxDP,
    learned: int,
) -> Audit:
    """The result of a test: by the event or by its opposite, whichever proves more.

    Args:
        found: the event.
        aim: on how many draws it was tested, and how sure the bound is to be.
        hits: how often it happened under the first neighbour and under the second.
        subject: what was audited.
        neighbours: between which data.
        claim: what it is said to give away.
        learned: from how many outputs the event was learned.
    """
    seen = (hits[1], hits[0]) if found.swapped else hits
    bound = epsilon_bound(seen, aim.draws, aim.delta, aim.confidence)
    if bound.opposite:
        seen = aim.draws - seen[1], aim.draws - seen[0]
    return Audit(
        subject=subject,
        neighbours=neighbours,
        claim=claim,
        bound=bound.epsilon,
        confidence=aim.confidence,
        event=f"not: {found.event}" if bound.opposite else str(found.event),
        hits=seen,
        draws=aim.draws,
        learned=learned,
    )


def claimed(loss: Loss | None, delta: Rationalizable) -> PureDP | ApproxDP:
    """The claim in ε and δ."""
    if loss is None:
        raise InvalidArgument("there is no claim to test", hint="claim=PureDP(1)")
    return loss if isinstance(loss, PureDP | ApproxDP) else to_approx(loss, delta)


def _pointed(event: Event, subject: Subject, one: Data, other: Data) -> Found:
    """A given event, and for which neighbour it seems likelier: by a few outputs that are then forgotten."""
    seen = [event.count(subject.draw(data, 1_000)) for data in (one, other)]
    return Found(event, seen[1] > seen[0], 0.0)


def _count(event: Event, subject: Subject, data: Data, draws: int) -> int:
    """In how many fresh outputs the event happens."""
    pieces = [min(_PIECE, draws - start) for start in range(0, draws, _PIECE)]
    return sum(event.count(subject.draw(data, piece)) for piece in pieces)


def _brief(data: Data) -> str:
    """Data in short."""
    text = str(data)
    return text if len(text) <= 40 else f"{text[:39]}…"  # noqa: PLR2004 — what fits a line
