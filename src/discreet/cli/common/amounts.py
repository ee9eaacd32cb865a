"""Amounts: of loss, as data and in words; and shares, as they are typed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.exact.rational import rational

if TYPE_CHECKING:
    from discreet.accounting import Charge
    from discreet.privacy import Budget


def amounts(charge: Charge) -> dict[str, object]:
    """A charge as JSON-ready data: decimal numbers for reading, and exact ones for proof; null is infinite.

    Examples:
        >>> from discreet.accounting import Charge
        >>> amounts(Charge(epsilon=Fraction(1, 3), rho=None, delta=Fraction(0)))["exact"]
        {'epsilon': '1/3', 'rho': None, 'delta': '0'}
    """
    exact = charge.to_dict()
    return {**{name: None if one is None else float(Fraction(one)) for name, one in exact.items()}, "exact": exact}


def allowance(budget: Budget) -> dict[str, object]:
    """A budget as JSON-ready data: what it doesn't count is null.

    Examples:
        >>> from discreet.privacy import Budget
        >>> allowance(Budget(epsilon=3, delta="1e-6"))
        {'epsilon': 3.0, 'rho': None, 'delta': 1e-06}
    """
    given = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta}
    return {name: None if amount is None else float(amount) for name, amount in given.items()}


def in_words(charge: Charge, budget: Budget) -> str:
    """A charge in those amounts that the budget counts.

    Examples:
        >>> from discreet.accounting import Charge
        >>> from discreet.privacy import Budget
        >>> in_words(Charge(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(0)), Budget(epsilon=3))
        'ε = 0.5'
    """
    from discreet.ledger.row import in_words as words

    return words(charge, budget)


def price(charge: Charge) -> str:
    """What one question cost, in the amount it was asked at: ε, or ρ where it has no finite ε; and δ if any.

    Examples:
        >>> from discreet.accounting import Charge
        >>> price(Charge(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**9)))
        'ρ = 0.005, δ = 1e-09'
    """
    name, amount = ("ρ", charge.rho) if charge.epsilon is None else ("ε", charge.epsilon)
    shown = f"{name} = {float(amount):.4g}" if amount is not None else f"{name} = ∞"
    return f"{shown}, δ = {float(charge.delta):.3g}" if charge.delta else shown


def share_of(text: str, name: str) -> Fraction:
    """A share, exactly: a number, or one in percent.

    Raises:
        InvalidArgument: it isn't one from 0 to 1.

    Examples:
        >>> share_of("5%", "suppression"), share_of("0.1", "suppression"), share_of("1/3", "t")
        (Fraction(1, 20), Fraction(1, 10), Fraction(1, 3))
    """
    is_percent = text.rstrip().endswith("%")
    number = rational(text.strip().rstrip("%").strip(), name)
    share = number / 100 if is_percent else number
    if not 0 <= share <= 1:
        raise InvalidArgument(f"{name} is a share, from 0 to 1, not {text}", hint="5%, 0.05 or 1/20")
    return share
