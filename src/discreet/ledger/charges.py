"""Charges in the columns of an entry: exact, as texts."""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.accounting import Charge
from discreet.errors import LedgerCorrupt
from discreet.ledger.row import Row
from discreet.privacy import Budget

_INFINITE = "inf"
_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,2000})(?:/[1-9][0-9]{0,2000})?", re.ASCII)
_LEGIBLE = 10**15


def to_columns(charge: Charge, prefix: str = "") -> dict[str, str]:
    """A charge as three columns of one row: `"p/q"` texts, `"inf"` for an infinite amount.

    Examples:
        >>> to_columns(Charge(epsilon=Fraction(1, 10), rho=None, delta=Fraction(0)), "spent_")
        {'spent_epsilon': '1/10', 'spent_rho': 'inf', 'spent_delta': '0'}
    """
    return {
        f"{prefix}epsilon": _to_text(charge.epsilon),
        f"{prefix}rho": _to_text(charge.rho),
        f"{prefix}delta": str(charge.delta),
    }


def from_columns(row: Row | None, prefix: str = "") -> Charge:
    """Read a charge from a row; nothing, if there is no row.

    Raises:
        LedgerCorrupt: an amount isn't in the one spelling that `to_columns` has for it.
    """
    if row is None:
        return Charge.zero()
    return charge_from({name: getattr(row, f"{prefix}{name}") for name in ("epsilon", "rho", "delta")}, row)


def charge_from(amounts: object, row: Row) -> Charge:
    """Read a charge that `to_columns` wrote, from the columns or from the body of a row.

    Raises:
        LedgerCorrupt: an amount isn't in the one spelling that there is for it.
    """
    if not isinstance(amounts, dict):
        raise _unreadable(row)
    epsilon, rho, delta = (_from_text(amounts.get(name), row) for name in ("epsilon", "rho", "delta"))
    if delta is None:
        raise _unreadable(row)
    return Charge(epsilon=epsilon, rho=rho, delta=delta)


def in_words(charge: Charge, budget: Budget) -> str:
    """A charge in those amounts that the budget counts.

    Examples:
        >>> in_words(Charge(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(0)), Budget(epsilon=3))
        'ε = 0.5'
    """
    shown = []
    if budget.epsilon is not None and charge.epsilon is not None:
        shown.append(f"ε = {_shown(charge.epsilon)}")
    if not budget.is_pure and charge.rho is not None:
        shown.append(f"ρ = {_shown(charge.rho)}")
    if charge.delta:
        shown.append(f"δ = {_shown(charge.delta)}")
    return ", ".join(shown) or "no finite ε"


def _shown(amount: Fraction) -> str:
    """An amount to six digits, whatever its size."""
    return f"{float(amount):.6g}" if amount < _LEGIBLE else f"over {_LEGIBLE:.0e}"


def _to_text(amount: Fraction | None) -> str:
    """An amount; None is infinite."""
    return _INFINITE if amount is None else str(amount)


def _from_text(text: object, row: Row) -> Fraction | None:
    """An amount in lowest terms and without a sign; None is infinite."""
    if text == _INFINITE:
        return None
    if isinstance(text, str) and _AMOUNT.fullmatch(text):
        amount = Fraction(text)
        if str(amount) == text:
            return amount
    raise _unreadable(row)


def _unreadable(row: Row) -> LedgerCorrupt:
    """The error for an amount that nobody wrote."""
    return LedgerCorrupt(f"an amount in entry {row.seq} can't be read")
