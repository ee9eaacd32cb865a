"""Shares, as people type them."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InvalidArgument


def share_of(text: str, name: str) -> Fraction:
    """A share, exactly: a number, or one in percent.

    Raises:
        InvalidArgument: it isn't one from 0 to 1.

    Examples:
        >>> share_of("5%", "suppression"), share_of("0.1", "suppression"), share_of("1/3", "t")
        (Fraction(1, 20), Fraction(1, 10), Fraction(1, 3))
    """
    from discreet.exact.rational import rational

    number = text.strip()
    share = rational(number.removesuffix("%").strip(), name) / (100 if number.endswith("%") else 1)
    if not 0 <= share <= 1:
        raise InvalidArgument(f"{name} is a share, from 0 to 1, not {text}", hint="5%, 0.05 or 1/20")
    return share
