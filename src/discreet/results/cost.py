"""The cost of an answer, and what a budget pays for, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

from discreet.exact.rational import rational
from discreet.exact.rounding import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The charge for an answer, in each way of counting; None is infinite.

    Args:
        epsilon: of pure differential privacy.
        rho: of zero-concentrated differential privacy.
        delta: the probability of rare events in which neither need hold.

    Examples:
        >>> print(Cost(epsilon=Fraction(1, 10), rho=Fraction(1, 200)))
        ε = 0.1
        >>> print(Cost(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**6)))
        ρ = 0.005, δ = 1e-06
    """

    epsilon: Fraction | None = Fraction(0)
    rho: Fraction | None = Fraction(0)
    delta: Fraction = Fraction(0)

    def plus(self, other: Cost) -> Cost:
        """The cost of both."""
        epsilon, rho = _sum(self.epsilon, other.epsilon), _sum(self.rho, other.rho)
        return Cost(epsilon=epsilon, rho=rho, delta=self.delta + other.delta)

    def to_json(self) -> dict[str, object]:
        """The cost as JSON-ready data: decimal numbers for reading, and exact ones for proof; null is infinite."""
        amounts = {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta}
        return {
            **{name: None if one is None else float(one) for name, one in amounts.items()},
            "exact": {name: None if one is None else str(one) for name, one in amounts.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` wrote."""
        exact = data["exact"]
        epsilon, rho = (None if exact[name] is None else rational(exact[name], name) for name in ("epsilon", "rho"))
        return cls(epsilon=epsilon, rho=rho, delta=rational(exact["delta"], "delta"))

    def __repr__(self) -> str:
        """The same, in short: the exact amounts are its attributes."""
        return f"Cost({self})"

    def __str__(self) -> str:
        if not self.epsilon and not self.rho:
            return "nothing"
        words = f"ε = {shown(self.epsilon)}" if self.epsilon else f"ρ = {shown(self.rho or Fraction(0))}"
        return f"{words}, δ = {shown(self.delta, 3)}" if self.delta else words


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def prospect(times: int | None, left: object) -> str:
    """Whether a budget pays for a question, how often, and what it leaves; empty for a free question.

    Args:
        times: how many questions of the same cost are paid for; None if it costs nothing.
        left: what a next question may cost once it is paid; prints as amounts, and is empty if that isn't known.

    Examples:
        >>> prospect(0, ""), prospect(1, "")
        ("doesn't pay for it; stored answers are free", 'pays for 1 such question')
        >>> prospect(1200, "ε = 2.9")
        'pays for 1,200 such questions; after one, what is left is ε = 2.9'
    """
    if times is None:
        return ""
    if not times:
        return "doesn't pay for it; stored answers are free"
    words = f"pays for {times:,} such question{'' if times == 1 else 's'}"
    return f"{words}; after one, what is left is {left}" if str(left) else words


def left_in_words(remaining: object, budget: object, own: object = "") -> str:
    """What may still be spent after an answer, by all and by whoever asked.

    Args:
        remaining: what a next question may cost by the budget of all; prints as amounts.
        budget: the whole of it.
        own: the same for whoever asked, by their share, too; empty where they have none.

    Examples:
        >>> left_in_words("ε = 2.9", "ε = 3"), left_in_words("ε = 2", "ε = 3", "ε = 0.4")
        ('ε = 2.9; the budget is ε = 3', 'you: ε = 0.4; all: ε = 2; the budget is ε = 3')
    """
    words = f"{remaining}; the budget is {budget}"
    return words if str(own) in {"", str(remaining)} else f"you: {own}; all: {words}"


def answered_already(entries: Sequence[int]) -> str:
    """The words for a question that is already answered, and so free, with the entries; empty if it isn't.

    Examples:
        >>> answered_already([2, 3])
        'answered already by entries 2 and 3: free'
    """
    return f"answered already by {entries_in_words(entries)}: free" if entries else ""


def state_in_words(state: str, *, is_due: bool | None = None) -> str:
    """The state of a question that was paid for, as people read it.

    Args:
        state: as the ledger has it.
        is_due: whether it would have been answered by now; None if nobody knows.

    Examples:
        >>> state_in_words("committed"), state_in_words("reserved"), state_in_words("reserved", is_due=True)
        ('answered', 'pending or lost', 'lost')
    """
    if state == "reserved":
        return "pending or lost" if is_due is None else "lost" if is_due else "pending"
    return {"committed": "answered"}.get(state, state)


class Note(NamedTuple):
    """One line under an answer.

    Args:
        title: what it is about, in a word.
        words: the sentence about it.
    """

    title: str
    words: str


def entries_in_words(numbers: Sequence[int]) -> str:
    """Entries of a ledger in words.

    Examples:
        >>> entries_in_words([3]), entries_in_words([2, 3])
        ('entry 3', 'entries 2 and 3')
    """
    *most, last = map(str, numbers)
    return f"entries {', '.join(most)} and {last}" if most else f"entry {last}"
