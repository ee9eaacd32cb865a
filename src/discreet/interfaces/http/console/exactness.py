"""Exactness: the steps of the slider that asks how exact an answer shall be, each an amount of the budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from discreet.interfaces.http.console.session import Visit
from discreet.interfaces.http.console.standing import Standing, measure_of

_STEPS = tuple(Fraction(part, 1) * Fraction(10) ** power for power in range(-4, 3) for part in (1, 2, 5))
"""All amounts that there are, from the least."""

_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}|/[1-9][0-9]{0,8})?", re.ASCII)
"""Amounts that may be on a step: short ones, as they are typed or as the history has them."""

_FEWEST = 6
"""Steps that a slider has, however little is left."""

_USUAL = 20
"""Of what is left, the slider stands at about so small a part at first."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The steps of the slider for one who asks.

    Args:
        offer: in which way they count: `epsilon` or `rho`.
        amounts: of the budget, from the least.
        usual: where it stands at first.
    """

    offer: str
    amounts: tuple[str, ...]
    usual: int

    def address(self, question: str) -> str:
        """The address that plans a question, where the slider stands at first."""
        return urlencode({"question": question, "offer": self.offer, "amount": self.amounts[self.usual]})

    def place(self, offer: str, amount: str) -> int | None:
        """The step of an offer; None if it is between steps, or another kind."""
        if offer != self.offer or not _AMOUNT.fullmatch(amount):
            return None
        return next((step for step, each in enumerate(self.amounts) if Fraction(each) == Fraction(amount)), None)


def ladder_of(visit: Visit, found: Mapping[str, Any], own: Standing | None) -> Ladder:
    """The steps for one who asks: no more than is left for them, and than one question of theirs may cost.

    Args:
        visit: whose.
        found: the budget, as the service tells it.
        own: what they may spend; None for who has no part of their own.
    """
    measure = measure_of(found)
    most = visit.caller.most_epsilon if measure == "epsilon" else visit.caller.most_rho
    left = Fraction(found["remaining"][measure] or 0) if own is None else Fraction(own.left or 0)
    return steps_to(measure, left if most is None else min(left, most))


def steps_to(offer: str, left: Fraction) -> Ladder:
    """The steps up to an amount.

    Examples:
        >>> steps_to("epsilon", Fraction(3)).amounts[-3:], steps_to("epsilon", Fraction(3)).amounts[0]
        (('0.5', '1', '2'), '0.0005')
        >>> ladder = steps_to("epsilon", Fraction(3))
        >>> ladder.amounts[ladder.usual]
        '0.1'
    """
    last = max(_FEWEST, sum(step <= left for step in _STEPS))
    amounts = _STEPS[max(0, last - 12) : last]
    usual = max(0, sum(step * _USUAL <= left for step in amounts) - 1)
    return Ladder(offer, tuple(f"{float(step):.10g}" for step in amounts), usual)
