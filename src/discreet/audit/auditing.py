"""Auditing: an event is learned or known, then tested on outputs that nobody has seen; and what that found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.accounting import to_approx
from discreet.audit.events import Aim, Event, Found, from_laws, from_outputs
from discreet.audit.outputs import Batch, Data, Output, Subject, laws_of, subject_of
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import log, to_float
from discreet.privacy import ApproxDP, Loss, PureDP
from discreet.stats import lower_bound, upper_bound

# ── What an audit found ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A lower bound on what a mechanism gives away, from outputs drawn for two neighbours.

    An audit rejects, it never proves: a bound below the claim says only that this event, with so many draws, did not
    tell these neighbours apart any better.

    Args:
        subject: what was audited.
        neighbours: between which data, in words.
        claim: what the mechanism is said to give away at the most.
        bound: with the confidence, the true ε at the claim's δ is at least this.
        confidence: in (0, 1); over the draws that the event was tested on.
        event: what was looked for in an output, in words.
        hits: how often it was found under either neighbour.
        draws: how many outputs it was looked for in, of each neighbour.
        learned: how many other outputs of each neighbour it was learned from; 0 if it was given, or known.

    Examples:
        >>> found = Audit(
        ...     subject="a coin", neighbours="0 and 1", claim=PureDP(1), bound=1.2, confidence=Fraction(999, 1000),
        ...     event="output = 1", hits=(80, 20), draws=100, learned=0,
        ... )
        >>> found.rejects, found.verdict
        (True, 'rejected: it gives away more than ε = 1')
    """

    subject: str
    neighbours: str
    claim: PureDP | ApproxDP
    bound: float
    confidence: Fraction
    event: str
    hits: tuple[int, int]
    draws: int
    learned: int

    @property
    def rejects(self) -> bool:
        """Whether the claim is refuted."""
        return Fraction(self.bound) > self.claim.epsilon

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.rejects:
            return f"rejected: it gives away more than {self.claim}"
        return f"not rejected: nothing here contradicts {self.claim}"

    def __str__(self) -> str:
        p, q = (hits / self.draws for hits in self.hits)
        lines = {
            "audited": self.subject,
            "between": self.neighbours,
            "event": self.event,
            "seen": f"in {p:.3g} and {q:.3g} of {self.draws:,} outputs each",
            "bound": f"ε ≥ {self.bound:.4g} at {_percent(self.confidence)} confidence{self._at_delta}",
            "verdict": self.verdict,
        }
        return "\n".join(f"{name:<10} {text}" for name, text in lines.items())

    def to_dict(self) -> dict[str, object]:
        """The audit as JSON-ready data."""
        return {
            "subject": self.subject,
            "neighbours": self.neighbours,
            "claim": {"epsilon": float(self.claim.epsilon), "delta": float(delta_of(self.claim))},
            "bound": self.bound,
            "confidence": float(self.confidence),
            "event": self.event,
            "hits": list(self.hits),
            "draws": self.draws,
            "learned": self.learned,
            "rejects": self.rejects,
        }

    @property
    def _at_delta(self) -> str:
        """At which δ the bound holds, where there is one."""
        delta = delta_of(self.claim)
        return f", at δ = {float(delta):.3g}" if delta else ""


def delta_of(claim: PureDP | ApproxDP) -> Fraction:
    """The δ of a claim: 0 if it is pure."""
    return claim.delta if isinstance(claim, ApproxDP) else Fraction(0)


def _percent(confidence: Fraction) -> str:
    """A confidence in percent, with as many digits as tell it from 100 %."""
    return f"{float(100 * confidence):.15g} %"


# ── What an event proves ──────────────────────────────────────────────────────────────────────────────────────────────


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


Predicate: TypeAlias = Callable[[Output], bool]
"""An event that is given: whether an output belongs to it."""


@dataclass(frozen=True, slots=True)
class Given:
    """An event that somebody thought of."""

    predicate: Predicate

    def count(self, outputs: Any) -> int:  # noqa: ANN401 — a list or an array
        """Of how many outputs it is so."""
        return sum(bool(self.predicate(output)) for output in outputs)

    def __str__(self) -> str:
        return f"as given: {getattr(self.predicate, '__name__', 'a predicate')}"


# ── The audit ─────────────────────────────────────────────────────────────────────────────────────────────────────────

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
