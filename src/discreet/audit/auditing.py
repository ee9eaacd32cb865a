"""Auditing: an event is learned or known, then tested on outputs that nobody has seen."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.accounting import to_approx
from discreet.audit.audit_result import Audit, delta_of
from discreet.audit.bound import Given, Predicate, epsilon_bound
from discreet.audit.events import Aim, Event, Found, from_laws, from_outputs
from discreet.audit.laws import laws_of
from discreet.audit.outputs import Batch
from discreet.audit.subject import Data, Subject, subject_of
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.privacy import ApproxDP, Loss, PureDP

DRAWS = 100_000
CONFIDENCE = Fraction(999, 1000)

DELTA = Fraction(1, 10**6)
"""The δ at which a claim in zCDP is tried by default."""

_LEAST_DRAWS = 16
_MOST_LEARNED = 1 << 20

_PIECE = 1 << 20
"""How many outputs are held at once."""


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
    """Try to tell two neighbours apart by a mechanism's outputs, and state the least ε that this proves it to have.

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
    """The number of fresh outputs in which the event happens."""
    pieces = [min(_PIECE, draws - start) for start in range(0, draws, _PIECE)]
    return sum(event.count(subject.draw(data, piece)) for piece in pieces)


def _brief(data: Data) -> str:
    """Data in short."""
    text = str(data)
    return text if len(text) <= 40 else f"{text[:39]}…"  # noqa: PLR2004 — what fits a line
