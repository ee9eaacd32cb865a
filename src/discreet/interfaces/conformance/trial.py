"""Trials: what a family of attacks found, and what of the budget it may have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from threading import Lock

from discreet.errors import NotTried
from discreet.exact import Rationalizable, positive
from discreet.hints import Hint

_MOST_EVIDENCE = 5
_SHARES = 500
_LEAST_CERTAIN = Fraction(1, 1000)


class Verdict(StrEnum):
    """The outcome of a family."""

    HELD = "held"
    """Nothing that was tried worked."""

    BROKEN = "broken"
    """Something that was tried worked; the evidence says what."""

    NOT_TRIED = "not tried"
    """Something it needs wasn't given or doesn't exist. It never counts as held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A line of the table.

    Args:
        family: its name.
        tried: what was tried, in words.
        tries: how many times.
        verdict: what became of it.
        evidence: what broke, or why it wasn't tried; public words alone.
        offered: the most ε that it can have cost.
    """

    family: str
    tried: str
    tries: int
    verdict: Verdict
    evidence: tuple[str, ...]
    offered: Fraction

    def to_dict(self) -> dict[str, object]:
        """The same as JSON-ready data."""
        return {
            "family": self.family,
            "tried": self.tried,
            "tries": self.tries,
            "verdict": str(self.verdict),
            "evidence": list(self.evidence),
            "offered": str(self.offered),
        }


@dataclass(slots=True)
class Trial:
    """The notes of a family while it tries. A family that checked nothing wasn't tried."""

    tries: int = 0
    evidence: list[str] = field(default_factory=list)

    def check(self, holds: bool, otherwise: str) -> None:
        """Count a try; note what it shows if something doesn't hold.

        Args:
            holds: whether the server did what it must.
            otherwise: what it did instead, in public words.
        """
        self.tries += 1
        if not holds and otherwise not in self.evidence and len(self.evidence) < _MOST_EVIDENCE:
            self.evidence.append(otherwise)

    def verdict(self) -> Verdict:
        """The verdict on it."""
        if self.evidence:
            return Verdict.BROKEN
        return Verdict.HELD if self.tries else Verdict.NOT_TRIED


class Purse:
    """The ε that may be spent. Each offer is counted in full before it is made, and never given back.

    So even a server that charges what it should answer for nothing takes no more than was allowed.

    Args:
        limit: the most that may be offered, in ε.

    Raises:
        InvalidArgument: it isn't above 0.

    Examples:
        >>> purse = Purse("0.5")
        >>> purse.offer, purse.left
        (Fraction(1, 1000), Fraction(1, 2))
    """

    def __init__(self, limit: Rationalizable) -> None:
        self.left = positive(limit, "spend")
        self.offer = min(self.left / _SHARES, _LEAST_CERTAIN)
        self._lock = Lock()

    def take(self, amount: Fraction) -> str:
        """Set aside what a question is offered; how it is written.

        Raises:
            NotTried: there isn't as much left.
        """
        with self._lock:
            if amount > self.left:
                raise NotTried("what may be spent isn't enough", hint=Hint.of("{spend}", spend=None))
            self.left -= amount
        return str(amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The findings of all families.

    Args:
        url: of the server.
        findings: a line for each family.
        spent: what the server says that the analysts' accounts were charged, in its own words.
    """

    url: str
    findings: Sequence[Finding]
    spent: str

    @property
    def is_broken(self) -> bool:
        """Whether something broke."""
        return any(each.verdict is Verdict.BROKEN for each in self.findings)

    def to_dict(self) -> dict[str, object]:
        """The same as JSON-ready data."""
        return {
            "url": self.url,
            "families": [each.to_dict() for each in self.findings],
            "offered": str(sum((each.offered for each in self.findings), Fraction())),
            "spent": self.spent,
            "broken": self.is_broken,
        }
