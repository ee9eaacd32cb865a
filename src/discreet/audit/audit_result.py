"""The finding of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.privacy import ApproxDP, PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A lower bound on what a mechanism gives away, from outputs drawn for two neighbours.

    An audit rejects, it never proves: a bound below the claim says only that this event, with this many draws, did not
    tell these neighbours apart any better.

    Args:
        subject: what was audited.
        neighbours: between which data, in words.
        claim: what the mechanism is said to give away at most.
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
            "bound": f"ε ≥ {self.bound:.4g} at {float(100 * self.confidence):.15g} % confidence{self._at_delta}",
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
        """The δ at which the bound holds, in words; empty if it is 0."""
        delta = delta_of(self.claim)
        return f", at δ = {float(delta):.3g}" if delta else ""


def delta_of(claim: PureDP | ApproxDP) -> Fraction:
    """The δ of a claim: 0 if it is pure."""
    return claim.delta if isinstance(claim, ApproxDP) else Fraction(0)
